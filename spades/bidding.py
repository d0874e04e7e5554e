"""Whether the bids of one deal can stand, as far as that can be told without the hands.

At a table each bid is checked when it is made, by `spades.legality`, which knows the hand and who bid before. Whoever
only has the bids, such as an app that asks for a score, gets the same answer from them alone: the rules about one bid,
about the bids of a side and about those of the whole table do not depend on their order once all are in.

Source: docs/rules.md#bids
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from spades.bids import Bid, BidKind
from spades.errors import NotationError, Reason, Rule, RuleViolation
from spades.legality import behind, bid_refusal
from spades.ruleset import BidMode, BidRule, BothNil, DealMethod, Ruleset, Teams, TotalBidRule
from spades.seats import table
from spades.terms import terms

__all__ = ["bids_refusal", "bids_refusals", "nobody_bids", "units", "with_blind_sides"]


@lru_cache(maxsize=1024)
def units(ruleset: Ruleset) -> tuple[tuple[str, ...], ...]:
    """The seats that make each contract together: a side's, or each alone where partners are scored apart.

    >>> units(Ruleset.resolve({"preset": "standard"}))
    (('N', 'S'), ('E', 'W'))
    >>> units(Ruleset.resolve({"preset": "standard", "bid_mode": "individual"}))
    (('N',), ('S',), ('E',), ('W',))
    """
    seats = table(ruleset.players, ruleset.teams)
    sides = [seats.seats_of(side) for side in seats.sides]
    if ruleset.bid_mode is BidMode.INDIVIDUAL:
        return tuple((seat,) for side in sides for seat in side)
    return tuple(sides)


def nobody_bids(ruleset: Ruleset, deal_number: int) -> Rule | None:
    """The rule by which nobody bids in a deal; None where they do."""
    if terms(ruleset).bids_in(deal_number):
        return None
    if ruleset.bid_mode is BidMode.NONE:
        return Rule("bid_mode", "none", "bids")
    return Rule("first_hand_bids_itself", True, "bids")


def with_blind_sides(
    ruleset: Ruleset, bids: Mapping[str, Bid], blind_sides: Iterable[str], *, strict: bool = True
) -> dict[str, Bid]:
    """The bids, with the numbers of each blind side as blind bids: two ways to say the same.

    Raises:
        NotationError: no such side.
        RuleViolation: `blind_side_incomplete`, if `strict`; a side has bid no number that could be blind.
    """
    blind = set(blind_sides)
    if not blind:
        return dict(bids)
    seats = table(ruleset.players, ruleset.teams)
    if not blind <= set(seats.sides):
        raise NotationError(f"the sides are {', '.join(seats.sides)}, got {', '.join(sorted(blind))}")
    for side in seats.sides if bids and strict else ():
        if side in blind and all(bids[seat].is_nil for seat in seats.seats_of(side) if seat in bids):
            rule = Rule("blind_bid_min", ruleset.blind_bid_min, "blind")
            raise RuleViolation(Reason.BLIND_SIDE_INCOMPLETE, f"{side} bid no number that could be blind.", rule)
    return {
        seat: Bid(BidKind.BLIND, bid.tricks) if bid.kind is BidKind.NUMBER and seats.side_of.get(seat) in blind else bid
        for seat, bid in bids.items()
    }


def bids_refusal(ruleset: Ruleset, bids: Mapping[str, Bid], scores: Mapping[str, int]) -> RuleViolation | None:
    """Why these bids cannot stand together; None when they can, with some hands.

    Args:
        bids: by seat. What concerns a whole side, or the table, is told once all of its bids are there.
        scores: each side's points before the deal, for blind bids; a side left out has none.

    >>> rules = Ruleset.resolve({"preset": "standard", "min_team_bid": 4})
    >>> print(bids_refusal(rules, {"N": Bid.nil(), "S": Bid.number(3)}, {}))
    team_minimum: NS bid 3 together, and a side bids at least 4 here.
    """
    return next((refusal for _, refusal in bids_refusals(ruleset, bids, scores)), None)


def bids_refusals(
    ruleset: Ruleset, bids: Mapping[str, Bid], scores: Mapping[str, int]
) -> Iterator[tuple[tuple[str, ...], RuleViolation]]:
    """Everything for which these bids cannot stand together, each with the seats whose bids it is about.

    Args:
        bids: as in `bids_refusal`, which gives the first of these.
        scores: likewise.
    """
    seats = table(ruleset.players, ruleset.teams)
    may_blind_nil = behind(ruleset, scores)
    for seat, bid in bids.items():
        refusal = bid_refusal(ruleset, bid, behind=bool(may_blind_nil >> seats.index(seat) & 1))
        if refusal:
            yield (seat,), refusal
    for unit in units(ruleset) if any(bid.is_blind for bid in bids.values()) else ():
        if bids.keys() >= set(unit):
            for refusal in _blind_refusals(ruleset, "".join(unit), [bids[seat] for seat in unit]):
                yield unit, refusal
    for side in seats.sides:
        partners = seats.seats_of(side)
        if bids.keys() >= set(partners):
            for refusal in _side_refusals(ruleset, side, [bids[seat] for seat in partners]):
                yield partners, refusal
    if bids.keys() >= set(seats.seats):
        for refusal in _table_refusals(ruleset, list(bids.values())):
            yield seats.seats, refusal


def _blind_refusals(ruleset: Ruleset, unit: str, bids: list[Bid]) -> Iterator[RuleViolation]:
    """Blind numbers are bid by everybody who makes the contract together, and their sum reaches the minimum."""
    numbers = [bid.tricks for bid in bids if bid.kind is BidKind.BLIND]
    least = ruleset.blind_bid_min
    if not numbers or least is None:
        return
    rule = Rule("blind_bid_min", least, "blind")
    if any(bid.kind not in (BidKind.BLIND, BidKind.BLIND_NIL) for bid in bids):
        detail = f"Of {unit} all bid blind or none does."
        yield RuleViolation(Reason.BLIND_SIDE_INCOMPLETE, detail, rule)
    if sum(numbers) < least:
        detail = f"{unit} bid {sum(numbers)} blind, and a blind bid is at least {least} here."
        yield RuleViolation(Reason.BID_OUT_OF_RANGE, detail, rule)


def _side_refusals(ruleset: Ruleset, side: str, bids: list[Bid]) -> Iterator[RuleViolation]:
    nils = sum(bid.is_nil for bid in bids)
    if ruleset.bid_rule is BidRule.SUICIDE and nils != 1:
        needed = Reason.SUICIDE_NEEDS_NUMBER if nils else Reason.SUICIDE_NEEDS_NIL
        rule = Rule("bid_rule", ruleset.bid_rule.value, "bids")
        yield RuleViolation(needed, f"Of {side} exactly one bids nil here, not {nils}.", rule)
    if nils > 1 and ruleset.both_nil is BothNil.FORBIDDEN:
        rule = Rule("both_nil", ruleset.both_nil.value, "nil")
        yield RuleViolation(Reason.NIL_NOT_OFFERED, f"Of {side} only one may bid nil here.", rule)
    if ruleset.teams is Teams.NONE or ruleset.bid_mode is BidMode.INDIVIDUAL:
        return
    total = sum(bid.tricks for bid in bids)
    if total < ruleset.min_team_bid:
        detail = f"{side} bid {total} together, and a side bids at least {ruleset.min_team_bid} here."
        yield RuleViolation(Reason.TEAM_MINIMUM, detail, Rule("min_team_bid", ruleset.min_team_bid, "bids"))
    if ruleset.max_team_bid is not None and total > ruleset.max_team_bid:
        detail = f"{side} bid {total} together, and a side bids at most {ruleset.max_team_bid} here."
        yield RuleViolation(Reason.TEAM_MAXIMUM, detail, Rule("max_team_bid", ruleset.max_team_bid, "bids"))


def _table_refusals(ruleset: Ruleset, bids: list[Bid]) -> Iterator[RuleViolation]:
    total = sum(bid.tricks for bid in bids)
    if ruleset.total_bid_rule is TotalBidRule.NOT_EQUAL_TRICKS and total == ruleset.hand_size:
        detail = f"The bids add up to {total}, the number of tricks, which the last bidder has to avoid here."
        rule = Rule("total_bid_rule", ruleset.total_bid_rule.value, "bids")
        yield RuleViolation(Reason.TOTAL_EQUALS_TRICKS, detail, rule)
    if ruleset.bid_rule in (BidRule.MIRROR, BidRule.WHIZ):
        # Every number is a count of spades, and a nil under mirror a count of none.
        spades = terms(ruleset).pack.spades.bit_count()
        all_counted = ruleset.bid_rule is BidRule.MIRROR or not any(bid.is_nil for bid in bids)
        missing = all_counted and ruleset.deal_method is DealMethod.DEAL_ALL and total < spades
        if total > spades or missing:
            detail = f"Each number is the number of spades held, and the deck has {spades}; these bids say {total}."
            rule = Rule("bid_rule", ruleset.bid_rule.value, "bids")
            yield RuleViolation(Reason.BID_IS_FORCED, detail, rule)
