"""The score of one deal: bids and tricks in, points line by line out.

The order is fixed: contract, points for bags, nils, the bonus of a moon; then the bags are added to those carried, the
penalty is taken, adjustments are made and the total follows. Each line names its rule. Nothing is ever read back from a
total: bags are counted on their own.

Source: docs/rules.md#scoring
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spades.bidding import bids_refusal, nobody_bids, units, with_blind_sides
from spades.bids import Bid, BidKind
from spades.errors import NotationError, Reason, RuleViolation
from spades.ruleset import (
    BagCarry,
    BothNil,
    FailedNilTricks,
    Moon,
    MoonFail,
    Ruleset,
    ScoreMode,
    SetPoints,
    TenFor200,
)
from spades.seats import table

__all__ = ["Adjustment", "DealScore", "Line", "SeatScore", "SideBefore", "SideScore", "score_deal", "score_side"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a score: what it is for, its points, and the section of docs/rules.md that says so.

    `what` is one of contract, ten, books, blind, bags, nil, blind_nil, both_nil, moon, bag_penalty, adjustment.
    """

    what: str
    points: int
    rule: str

    def to_json(self) -> dict[str, Any]:
        """The line of the scoring answer."""
        return {"what": self.what, "points": self.points, "rule": self.rule}


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Points that a person gives or takes, for whatever `why` says; the rules know nothing of them."""

    side: str
    points: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class SideBefore:
    """A side's standing before a deal: points, bags carried (0 to `bag_limit` - 1 where there is a limit), sets."""

    score: int = 0
    bags: int = 0
    sets: int = 0


@dataclass(frozen=True, slots=True)
class SeatScore:
    """What the seats that make one contract together brought their side in one deal: a whole side, or one partner."""

    set: bool | None
    """Whether the contract failed; None when there was none."""
    bags: int
    """Bags of this deal alone, a count."""
    lines: tuple[Line, ...]
    won: bool = False
    """Whether this is a moon that wins the game."""

    def to_json(self) -> dict[str, Any]:
        """The seat's part of the scoring answer, in the fields of a side.

        The running score and the penalty are the side's: `score` is null here and `bag_penalty` 0. `bags` are those
        that the seat took in this deal.
        """
        points = {**_points(self.lines), "bag_penalty": 0, "score": None}
        return {**points, "bags": self.bags, "set": self.set, "lines": [line.to_json() for line in self.lines]}


@dataclass(frozen=True, slots=True)
class SideScore:
    """One side's result of one deal, in points unless said."""

    contract: int
    bag_points: int
    bag_penalty: int
    """Zero or negative."""
    nil_points: int
    special_points: int
    """The bonus of a moon that was made; the contract is 0 then."""
    delta: int
    """The sum of the lines."""
    score: int
    """The running total after the deal."""
    bags: int
    """Bags carried after the deal, a count."""
    set: bool | None
    """Whether a number bid of the side failed; None when it made none."""
    sets: int
    """Sets so far, this deal's included, a count."""
    lines: tuple[Line, ...]
    won: bool = False
    """Whether the side won the game outright, by a moon."""
    seats: Mapping[str, SeatScore] | None = None
    """By seat, where partners are scored apart."""

    def to_json(self) -> dict[str, Any]:
        """The side's part of the scoring answer; `seats` in it only where partners are scored apart."""
        answer: dict[str, Any] = {
            "contract": self.contract,
            "bag_points": self.bag_points,
            "bag_penalty": self.bag_penalty,
            "nil_points": self.nil_points,
            "special_points": self.special_points,
            "delta": self.delta,
            "score": self.score,
            "bags": self.bags,
            "set": self.set,
            "lines": [line.to_json() for line in self.lines],
        }
        if self.seats is not None:
            answer["seats"] = {seat: score.to_json() for seat, score in self.seats.items()}
        return answer


@dataclass(frozen=True, slots=True)
class DealScore:
    """The result of one deal, by side, and the seats whose bid was closest to their tricks (a report, no points)."""

    sides: Mapping[str, SideScore]
    closest_bidders: tuple[str, ...]
    """Empty where nobody bid."""
    moon: str | None = None
    """The side that won the game outright, by a moon."""


def score_deal(
    ruleset: Ruleset,
    before: Mapping[str, SideBefore],
    bids: Mapping[str, Bid],
    tricks: Mapping[str, int],
    *,
    deal_number: int | None = None,
    blind_sides: Iterable[str] = (),
    adjustments: Sequence[Adjustment] = (),
    strict: bool = True,
) -> DealScore:
    """Score one deal.

    Args:
        before: each side's standing before the deal; a side left out stands at nothing.
        bids: each seat's bid; empty in a deal where nobody bids.
        tricks: tricks each seat took; together exactly as many as there are.
        deal_number: the number of this deal, from 1. Unknown, it is the first one if that alone explains the bids.
        blind_sides: sides whose number bids were made blind; the same as bids of the kind `blind`.
        adjustments: what else changes a side's points in this deal.
        strict: False scores what the rules forbid as it stands, for whoever keeps the score of what was done.

    Raises:
        NotationError: a seat or a side that the table does not have, one of its seats left out, or bags below zero.
        RuleViolation: `tricks_do_not_add_up`, or bids that the ruleset forbids, as far as that shows without the hands.

    >>> rules = Ruleset.resolve({"preset": "standard"})
    >>> bids = {"N": Bid.number(4), "E": Bid.number(4), "S": Bid.nil(), "W": Bid.number(4)}
    >>> score = score_deal(rules, {}, bids, {"N": 3, "E": 4, "S": 2, "W": 4})
    >>> [(line.what, line.points) for line in score.sides["NS"].lines], score.sides["NS"].delta
    ([('contract', -40), ('bags', 2), ('nil', -100)], -138)
    """
    seats = table(ruleset.players, ruleset.teams)
    blind_sides = tuple(blind_sides)
    if deal_number is None:
        deal_number = 2 if bids else 1
    _check_table(ruleset, before, bids, tricks, deal_number, adjustments)
    bids = with_blind_sides(ruleset, bids, blind_sides, strict=strict)
    if strict:
        _check_rules(ruleset, before, bids, tricks, deal_number, blind=bool(blind_sides))
    elif min(tricks.values()) < 0:
        raise NotationError("tricks are counts, from 0")
    made = units(ruleset)
    sides = {
        side: score_side(
            ruleset,
            before.get(side, SideBefore()),
            [unit for unit in made if seats.side_of[unit[0]] == side],
            bids,
            tricks,
            [adjustment.points for adjustment in adjustments if adjustment.side == side],
        )
        for side in seats.sides
    }
    distance = {seat: abs(bids[seat].tricks - tricks[seat]) for seat in seats.seats if seat in bids}
    least = min(distance.values(), default=0)
    closest = tuple(seat for seat, away in distance.items() if away == least)
    moon = next((side for side, score in sides.items() if score.won), None)
    return DealScore(sides, closest, moon)


def score_side(
    ruleset: Ruleset,
    before: SideBefore,
    contracts: Sequence[Sequence[str]],
    bids: Mapping[str, Bid],
    tricks: Mapping[str, int],
    adjustments: Iterable[int] = (),
) -> SideScore:
    """Score one side of a deal. Nothing is checked: `score_deal` does that, and scores whole deals.

    Args:
        contracts: the seats of the side, those together that make a contract together.
        bids: at least those of the side, blind ones as such; empty in a deal where nobody bids.
        tricks: at least those of the side's seats.
    """
    parts = [_score_unit(ruleset, [(bids.get(seat), tricks[seat]) for seat in seats]) for seats in contracts]
    sets = [part.set for part in parts if part.set is not None]
    carried, penalty = _carry_bags(ruleset, before.bags, sum(part.bags for part in parts))
    after = [Line("bag_penalty", penalty, "bags")] if penalty else []
    after += [Line("adjustment", points, "adjustments") for points in adjustments]
    lines = _in_order([*(line for part in parts for line in part.lines), *after])
    points, failed = _points(lines), any(sets) if sets else None
    return SideScore(
        **points,
        bag_penalty=penalty,
        score=before.score + points["delta"],
        bags=carried,
        set=failed,
        sets=before.sets + bool(failed),
        lines=lines,
        won=any(part.won for part in parts),
        seats={seats[0]: part for seats, part in zip(contracts, parts, strict=True)} if len(parts) > 1 else None,
    )


def _check_table(
    ruleset: Ruleset,
    before: Mapping[str, SideBefore],
    bids: Mapping[str, Bid],
    tricks: Mapping[str, int],
    deal_number: int,
    adjustments: Sequence[Adjustment],
) -> None:
    """Refuse what this table does not have, whatever its rules."""
    seats = table(ruleset.players, ruleset.teams)
    for name, given in (("bids", bids), ("tricks", tricks)):
        some = name == "bids" and nobody_bids(ruleset, deal_number) is not None
        if not (given.keys() <= set(seats.seats) if some else given.keys() == set(seats.seats)):
            raise NotationError(f"{name} has one entry for each of {', '.join(seats.seats)}, got {', '.join(given)}")
    if not all(isinstance(bid, Bid) for bid in bids.values()):
        raise NotationError("bids are of the class Bid, such as Bid.number(4)")
    if any(type(count) is not int for count in tricks.values()):
        raise NotationError("tricks are counts, from 0")
    named = {*before, *(adjustment.side for adjustment in adjustments)}
    if not named <= set(seats.sides):
        raise NotationError(f"the sides are {', '.join(seats.sides)}, got {', '.join(sorted(named))}")
    if any(side.bags < 0 or side.sets < 0 for side in before.values()):
        raise NotationError("bags and sets are counts, from 0")


def _check_rules(
    ruleset: Ruleset,
    before: Mapping[str, SideBefore],
    bids: Mapping[str, Bid],
    tricks: Mapping[str, int],
    deal_number: int,
    *,
    blind: bool,
) -> None:
    bidless = nobody_bids(ruleset, deal_number)
    if bidless and (bids or blind):
        raise RuleViolation(Reason.BID_IS_FORCED, f"Nobody bids in deal {deal_number} at this table.", bidless)
    refusal = bids_refusal(ruleset, bids, {side: standing.score for side, standing in before.items()})
    if refusal:
        raise refusal
    total = sum(tricks.values())
    if total != ruleset.hand_size or min(tricks.values()) < 0:
        counts = ", ".join(str(count) for count in tricks.values())
        detail = f"A deal has {ruleset.hand_size} tricks, each taken by one seat; {counts} is not a way to share them."
        raise RuleViolation(Reason.TRICKS_DO_NOT_ADD_UP, detail)


def _score_unit(ruleset: Ruleset, hands: Sequence[tuple[Bid | None, int]]) -> SeatScore:
    """Score the bids and tricks of the seats that make one contract together; no bids where nobody bids."""
    taken = sum(tricks for _, tricks in hands)
    if ruleset.score_mode is ScoreMode.BOOKS:
        return SeatScore(None, 0, (Line("books", taken, "scoring"),))
    numbers = [(bid, tricks) for bid, tricks in hands if bid is not None and not bid.is_nil]
    nils = [(bid, tricks) for bid, tricks in hands if bid is not None and bid.is_nil]
    if not numbers and not nils:  # the first hand, which bids itself
        return SeatScore(None, 0, (Line("contract", (ruleset.points_per_bid or 0) * taken, "contract"),))
    failed = sum(tricks for _, tricks in nils)
    helping = failed if ruleset.failed_nil_tricks is FailedNilTricks.HELP_PARTNER else 0
    if numbers:
        contract = _score_contract(ruleset, [bid for bid, _ in numbers], taken - failed + helping)
    else:
        contract = SeatScore(None, helping, ())
    paid = contract.bags + (failed if ruleset.failed_nil_tricks is FailedNilTricks.BAGS else 0)
    bags = paid + (failed if ruleset.failed_nil_tricks is FailedNilTricks.BAGS_NO_POINTS else 0)
    bag_lines = [Line("bags", paid * ruleset.bag_points, "bags")] if bags else []
    lines = _in_order([*contract.lines, *bag_lines, *_nil_lines(ruleset, nils, joint=len(nils) == 2 == len(hands))])
    return SeatScore(contract.set, bags, lines, contract.won)


def _score_contract(ruleset: Ruleset, bids: Sequence[Bid], taken: int) -> SeatScore:
    """Score number bids that are added up, apart from any nil beside them; the bags without their points.

    Args:
        taken: the tricks that count towards them.

    Source: docs/rules.md#contract, docs/rules.md#moon and docs/rules.md#ten
    """
    promised = sum(bid.tricks for bid in bids)
    made = taken >= promised
    bags = taken - promised if made else 0
    if ruleset.moon is Moon.BID_ALL and promised == ruleset.hand_size:
        if made and isinstance(ruleset.moon_success, int):
            return SeatScore(set=False, bags=bags, lines=(Line("moon", ruleset.moon_success, "moon"),))
        if not made and ruleset.moon_fail is MoonFail.TRICKS_AS_BAGS:
            return SeatScore(set=True, bags=taken, lines=())
        won = made
    else:
        won = False
    if ruleset.ten_for_200 is not TenFor200.OFF and promised == 10:
        if ruleset.ten_for_200 is TenFor200.EXACT:
            made, bags = taken == promised, 0
        line = Line("ten", ruleset.ten_success if made else ruleset.ten_fail, "ten")
    else:
        points = (ruleset.points_per_bid or 0) * promised
        lost = -points if ruleset.set_points is SetPoints.MINUS else 0
        line = Line("contract", points if made else lost, "contract")
    lines = [line]
    multiplier = ruleset.blind_bid_multiplier or 1
    if any(bid.kind is BidKind.BLIND for bid in bids) and multiplier > 1:
        lines.append(Line("blind", line.points * (multiplier - 1), "blind"))
    return SeatScore(not made, bags, tuple(lines), won)


def _nil_lines(ruleset: Ruleset, nils: Sequence[tuple[Bid, int]], *, joint: bool) -> list[Line]:
    """A line for each nil, or one for both of a side that are scored jointly.

    Source: docs/rules.md#nil
    """
    if joint and ruleset.both_nil is BothNil.JOINT:
        held = not any(tricks for _, tricks in nils)
        return [Line("both_nil", ruleset.both_nil_success if held else ruleset.both_nil_fail, "nil")]
    lines = []
    for bid, tricks in nils:
        if bid.kind is BidKind.BLIND_NIL:
            lines.append(Line("blind_nil", ruleset.blind_nil_fail if tricks else ruleset.blind_nil_success, "blind"))
        else:
            lines.append(Line("nil", (ruleset.nil_fail if tricks else ruleset.nil_success) or 0, "nil"))
    return lines


_CONTRACT = ("contract", "ten", "books", "blind")
_NILS = ("nil", "blind_nil", "both_nil")
_ORDER = {what: place for place, what in enumerate((*_CONTRACT, "bags", *_NILS, "moon", "bag_penalty", "adjustment"))}
_FIELDS = {
    **dict.fromkeys(_CONTRACT, "contract"),
    "bags": "bag_points",
    **dict.fromkeys(_NILS, "nil_points"),
    "moon": "special_points",
}
"""By what a line is for, the field of the answer that it counts for, if it counts for one."""


def _in_order(lines: Iterable[Line]) -> tuple[Line, ...]:
    return tuple(sorted(lines, key=lambda line: _ORDER[line.what]))


def _points(lines: Iterable[Line]) -> dict[str, int]:
    """The points of lines by field of the answer."""
    found = {"contract": 0, "bag_points": 0, "nil_points": 0, "special_points": 0, "delta": 0}
    for line in lines:
        found["delta"] += line.points
        if line.what in _FIELDS:
            found[_FIELDS[line.what]] += line.points
    return found


def _carry_bags(ruleset: Ruleset, carried: int, new: int) -> tuple[int, int]:
    """Bags to carry on, and the penalty (zero or negative): once for every full limit that the new bags complete.

    Source: docs/rules.md#bags
    """
    if not ruleset.bag_limit:
        return carried + new, 0
    full, rest = divmod(carried % ruleset.bag_limit + new, ruleset.bag_limit)
    if full and ruleset.bag_carry is BagCarry.RESET:
        rest = 0
    return rest, -full * ruleset.bag_penalty
