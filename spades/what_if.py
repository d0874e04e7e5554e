"""What a deal could bring a side: the score of each of its bids for each number of tricks, and what it needs.

Source: docs/rules.md#what-if
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import comb
from typing import Any

from spades.bidding import bids_refusal, nobody_bids, units
from spades.bids import Bid, BidKind
from spades.errors import NotationError, Reason, RuleViolation
from spades.ruleset import BidMode, BidRule, Ruleset, TieRule
from spades.scoring import SideBefore, SideScore, score_side
from spades.seats import table
from spades.sheet import ScoreSheet, game_answer

__all__ = ["MOST_OUTCOMES", "TooManyOutcomes", "what_if"]

MOST_OUTCOMES = 5000
"""So many outcomes are answered at most: enough for every question but those about three partners scored apart."""


class TooManyOutcomes(ValueError):
    """A question with more than `MOST_OUTCOMES` outcomes. The more bids of the side are named, the fewer there are."""


def what_if(
    ruleset: Ruleset,
    before: Mapping[str, SideBefore],
    side: str,
    bids: Mapping[str, Bid] | None = None,
    *,
    deal_number: int | None = None,
) -> dict[str, Any]:
    """Answer what each bid of a side would score.

    Args:
        before: each side's standing before the deal; a side left out stands at nothing.
        bids: bids that are known, of any seats. Where one seat of the side is missing, each of its bids is an option.
            Where several are, each sum of number bids is one, shared out evenly; whoever considers nil names it here.
            Where exactly one partner bids nil by the rules, each of the two may, with each number of the other.
        deal_number: the number of this deal, from 1. Unknown, it is taken for one in which seats bid.

    Returns:
        ``options``: each with the side's ``bids`` and its ``outcomes``, one for each number of ``tricks`` that the side
        may take. Where it matters who takes them (beside a nil, or when partners are scored apart) there is one for
        each way to share them, and ``by_seat`` has the tricks of each seat whose own count; it is null elsewhere.
        ``game`` is the game after the deal. What the other side scores is part of it where there is one, its bids
        are known, or nobody bids, and its score follows from that and the tricks left over; else the others stay at
        the score they have.

        ``needs``: ``to_win`` and ``to_avoid_loss``, the points that this deal must bring at least to reach the target
        ahead of every other side's present score, and to stay above the losing score (null where there is none);
        ``bags_to_penalty``, how many more bags bring the penalty (null where there is none).

    Raises:
        NotationError: no such seat or side, or no such standing.
        RuleViolation: the bids named cannot stand.
        TooManyOutcomes: more bids of the side must be named.

    >>> rules = Ruleset.resolve({"preset": "standard"})
    >>> told = what_if(rules, {"NS": SideBefore(420, 8)}, "NS", {"N": Bid.number(4), "S": Bid.number(3)})
    >>> told["needs"], [(o["tricks"], o["delta"]) for o in told["options"][0]["outcomes"]][6:10]
    ({'to_win': 80, 'to_avoid_loss': None, 'bags_to_penalty': 2}, [(6, -70), (7, 70), (8, 71), (9, -28)])
    """
    if deal_number is None:
        deal_number = 2 if ruleset.first_hand_bids_itself else 1
    sheet = ScoreSheet.at(ruleset, before, deal_number)
    seats = table(ruleset.players, ruleset.teams)
    known = dict(bids or {})
    if side not in seats.sides:
        raise NotationError(f"the sides are {', '.join(seats.sides)}, got {side!r}")
    for seat in known:
        seats.index(seat)
    bidless = nobody_bids(ruleset, deal_number)
    if bidless and known:
        raise RuleViolation(Reason.BID_IS_FORCED, f"Nobody bids in deal {deal_number} at this table.", bidless)
    refusal = bids_refusal(ruleset, known, sheet.scores())
    if refusal:
        raise refusal
    partners = seats.seats_of(side)
    own = {seat: known[seat] for seat in partners if seat in known}
    options: list[dict[str, Bid]] = [{}]
    if not bidless:
        options = [
            option
            for option in _options(ruleset, partners, own)
            if bids_refusal(ruleset, {**known, **option}, sheet.scores()) is None
        ]
    size = ruleset.hand_size
    outcomes = sum(comb(size + len(groups), size) for groups in (_groups(ruleset, partners, o) for o in options))
    if outcomes > MOST_OUTCOMES:
        raise TooManyOutcomes(f"this question has {outcomes:,} outcomes, and {MOST_OUTCOMES:,} are answered at most")
    return {
        "options": [
            {
                "bids": {seat: bid.to_json() for seat, bid in option.items()},
                "outcomes": list(_outcomes(sheet, side, option, known)),
            }
            for option in options
        ],
        "needs": _needs(sheet, side),
    }


def _options(ruleset: Ruleset, partners: tuple[str, ...], own: Mapping[str, Bid]) -> Iterator[dict[str, Bid]]:
    """The bids of a side that are looked at, some of them perhaps forbidden, in the order of lists of bids."""
    missing = [seat for seat in partners if seat not in own]
    most = ruleset.max_bid or ruleset.hand_size
    if not missing:
        yield dict(own)
    elif len(missing) == 1:
        singles = [
            Bid.nil(),
            *(Bid.number(tricks) for tricks in range(most + 1)),
            Bid(BidKind.BLIND_NIL),
            *(Bid(BidKind.BLIND, tricks) for tricks in range(most + 1)),
        ]
        for bid in singles:
            yield _seated(partners, {**own, missing[0]: bid})
    elif ruleset.bid_rule is BidRule.SUICIDE and len(missing) == 2:  # one of the two bids nil
        for nil in missing:
            for tricks in range(1, most + 1):
                bids = {seat: Bid.nil() if seat == nil else Bid.number(tricks) for seat in missing}
                yield _seated(partners, {**own, **bids})
    else:
        for kind in (BidKind.NUMBER, BidKind.BLIND):
            for total in range(len(missing) * most + 1):
                share, rest = divmod(total, len(missing))
                shares = {seat: Bid(kind, share + (place < rest)) for place, seat in enumerate(missing)}
                yield _seated(partners, {**own, **shares})


def _seated(partners: tuple[str, ...], bids: Mapping[str, Bid]) -> dict[str, Bid]:
    return {seat: bids[seat] for seat in partners}


def _outcomes(
    sheet: ScoreSheet, side: str, option: Mapping[str, Bid], known: Mapping[str, Bid]
) -> Iterator[dict[str, Any]]:
    ruleset = sheet.ruleset
    seats = table(ruleset.players, ruleset.teams)
    partners = seats.seats_of(side)
    others = [other for other in seats.sides if other != side]
    rest = _follows(sheet, seats.seats_of(others[0]), known) if len(others) == 1 else None
    groups = _groups(ruleset, partners, option)
    shares = list(_shares(ruleset.hand_size, len(groups)))
    for counts in sorted(shares, key=lambda counts: (sum(counts), counts)):
        tricks = dict.fromkeys(partners, 0)
        for group, count in zip(groups, counts, strict=True):
            tricks[group[0]] = count
        score = _side_score(sheet, side, option, tricks)
        standings = dict(sheet.sides)
        standings[side] = _standing(score)
        if rest is not None:
            left = dict.fromkeys(seats.seats_of(others[0]), 0)
            left[seats.seats_of(others[0])[0]] = ruleset.hand_size - sum(counts)
            standings[others[0]] = _standing(_side_score(sheet, others[0], rest, left))
        after = replace(sheet, sides=standings, deals=sheet.deals + 1, moon=side if score.won else None)
        yield {
            "tricks": sum(counts),
            "by_seat": {group[0]: tricks[group[0]] for group in groups if len(group) == 1} if len(groups) > 1 else None,
            "delta": score.delta,
            "score": score.score,
            "bags": score.bags,
            "game": game_answer(after.ending()),
        }


def _groups(ruleset: Ruleset, partners: tuple[str, ...], option: Mapping[str, Bid]) -> list[tuple[str, ...]]:
    """Seats of a side of which only the tricks together matter; a nil, or one scored apart, stands alone.

    The nils come first, so that the outcome in which they hold is the first of its number of tricks.
    """
    if ruleset.bid_mode is BidMode.INDIVIDUAL:
        return [(seat,) for seat in partners]
    nils: list[tuple[str, ...]] = [(seat,) for seat in partners if seat in option and option[seat].is_nil]
    numbers = tuple(seat for seat in partners if (seat,) not in nils)
    return [*nils, numbers] if numbers else nils


def _shares(total: int, groups: int) -> Iterator[tuple[int, ...]]:
    """Every way in which so many groups can take no more than `total` tricks."""
    if not groups:
        yield ()
        return
    for first in range(total + 1):
        for others in _shares(total - first, groups - 1):
            yield (first, *others)


def _follows(sheet: ScoreSheet, partners: tuple[str, ...], known: Mapping[str, Bid]) -> dict[str, Bid] | None:
    """The bids of the only other side, if its score follows from them and its tricks together."""
    bids = {seat: known[seat] for seat in partners if seat in known}
    all_known = len(bids) == len(partners) or nobody_bids(sheet.ruleset, sheet.deals + 1)
    return bids if all_known and len(_groups(sheet.ruleset, partners, bids)) == 1 else None


def _side_score(sheet: ScoreSheet, side: str, bids: Mapping[str, Bid], tricks: Mapping[str, int]) -> SideScore:
    parts = [unit for unit in units(sheet.ruleset) if unit[0] in tricks]
    return score_side(sheet.ruleset, sheet.sides[side], parts, bids, tricks)


def _standing(score: SideScore) -> SideBefore:
    return SideBefore(score.score, score.bags, score.sets)


def _needs(sheet: ScoreSheet, side: str) -> dict[str, int | None]:
    rules, own = sheet.ruleset, sheet.sides[side]
    best = max(standing.score for name, standing in sheet.sides.items() if name != side)
    ahead = best if rules.tie_rule is TieRule.SHARED else best + 1
    return {
        "to_win": max(rules.target_score, ahead) - own.score,
        "to_avoid_loss": None if rules.losing_score is None else rules.losing_score + 1 - own.score,
        "bags_to_penalty": rules.bag_limit - own.bags % rules.bag_limit if rules.bag_limit else None,
    }
