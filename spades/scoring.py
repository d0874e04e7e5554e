"""The score of one deal: bids and tricks in, points line by line out.

The order is fixed: contract, bag points, nil, special bids, bags added, penalty, total. Each line names its rule.
Nothing is ever read back from a total: bags are counted on their own.

Source: docs/rules.md#scoring
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spades.bids import Bid
from spades.errors import NotationError, Reason, RuleViolation
from spades.legality import bid_refusal
from spades.ruleset import Ruleset, require_supported
from spades.seats import table

__all__ = ["DealScore", "Line", "SideBefore", "SideScore", "score_deal"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a score: what it is for, its points, and the section of docs/rules.md that says so."""

    what: str
    points: int
    rule: str


@dataclass(frozen=True, slots=True)
class SideBefore:
    """A side's standing before a deal: points, bags carried (0 to `bag_limit` - 1 where there is a limit), sets."""

    score: int = 0
    bags: int = 0
    sets: int = 0


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

    def to_json(self) -> dict[str, Any]:
        """The side's part of the scoring answer."""
        return {
            "contract": self.contract,
            "bag_points": self.bag_points,
            "bag_penalty": self.bag_penalty,
            "nil_points": self.nil_points,
            "special_points": self.special_points,
            "delta": self.delta,
            "score": self.score,
            "bags": self.bags,
            "set": self.set,
            "lines": [{"what": line.what, "points": line.points, "rule": line.rule} for line in self.lines],
        }


@dataclass(frozen=True, slots=True)
class DealScore:
    """The result of one deal, by side, and the seats whose bid was closest to their tricks (a report, no points)."""

    sides: Mapping[str, SideScore]
    closest_bidders: tuple[str, ...]


def score_deal(
    ruleset: Ruleset, before: Mapping[str, SideBefore], bids: Mapping[str, Bid], tricks: Mapping[str, int]
) -> DealScore:
    """Score one deal.

    Args:
        before: each side's standing before the deal; a side left out stands at nothing.
        bids: each seat's bid.
        tricks: tricks each seat took; together exactly as many as there are.

    Raises:
        NotationError: a seat or a side that the table does not have, or one of its seats left out.
        RuleViolation: `tricks_do_not_add_up`, or a bid that the ruleset forbids.
        RulesetError: the ruleset has options that this engine does not score yet.

    >>> rules = Ruleset.resolve({"preset": "two_player"})
    >>> score = score_deal(rules, {}, {"A": Bid.number(6), "B": Bid.nil()}, {"A": 8, "B": 5})
    >>> [(line.what, line.points) for line in score.sides["A"].lines], score.sides["B"].delta
    ([('contract', 60), ('bags', 2)], 5)
    """
    require_supported(ruleset)
    seats = table(ruleset.players, ruleset.teams)
    _check(ruleset, before, bids, tricks)
    sides = {
        side: _score_side(
            ruleset,
            before.get(side, SideBefore()),
            [(bids[seat], tricks[seat]) for seat in seats.seats_of(side)],
        )
        for side in seats.sides
    }
    distance = {seat: abs(bids[seat].tricks - tricks[seat]) for seat in seats.seats}
    closest = min(distance.values())
    return DealScore(sides, tuple(seat for seat in seats.seats if distance[seat] == closest))


def _check(
    ruleset: Ruleset, before: Mapping[str, SideBefore], bids: Mapping[str, Bid], tricks: Mapping[str, int]
) -> None:
    seats = table(ruleset.players, ruleset.teams)
    for name, given in (("bids", bids), ("tricks", tricks)):
        if set(given) != set(seats.seats):
            raise NotationError(f"{name} has one entry for each of {', '.join(seats.seats)}, got {', '.join(given)}")
    if not set(before) <= set(seats.sides):
        raise NotationError(f"the sides are {', '.join(seats.sides)}, got {', '.join(before)}")
    for bid in bids.values():
        refusal = bid_refusal(ruleset, bid)
        if refusal:
            raise refusal
    total = sum(tricks.values())
    if total != ruleset.hand_size or min(tricks.values()) < 0:
        counts = ", ".join(str(count) for count in tricks.values())
        detail = f"A deal has {ruleset.hand_size} tricks, each taken by one seat; {counts} is not a way to share them."
        raise RuleViolation(Reason.TRICKS_DO_NOT_ADD_UP, detail)


def _score_side(ruleset: Ruleset, before: SideBefore, bid_tricks: list[tuple[Bid, int]]) -> SideScore:
    numbers = [(bid.tricks, taken) for bid, taken in bid_tricks if not bid.is_nil]
    nils = [taken for bid, taken in bid_tricks if bid.is_nil]
    promised, taken = sum(n for n, _ in numbers), sum(t for _, t in numbers)
    lines: list[Line] = []
    bags = sum(nils)  # the tricks of a failed nil are bags
    is_set: bool | None = None
    special = 0
    if numbers:
        is_set = taken < promised
        if ruleset.moon == "bid_all" and promised == ruleset.hand_size:
            if is_set:
                bags += taken
            elif isinstance(ruleset.moon_success, int):
                special = ruleset.moon_success
                lines.append(Line("moon", special, "moon"))
        else:
            points = (ruleset.points_per_bid or 0) * promised
            lines.append(Line("contract", -points if is_set else points, "contract"))
            bags += 0 if is_set else taken - promised
    contract = sum(line.points for line in lines if line.what == "contract")
    bag_points = bags * ruleset.bag_points
    if bags:
        lines.append(Line("bags", bag_points, "bags"))
    nil_lines = [
        Line("nil", (ruleset.nil_fail if nil_taken else ruleset.nil_success) or 0, "nil") for nil_taken in nils
    ]
    lines += nil_lines
    carried, penalty = _carry_bags(ruleset, before.bags + bags)
    if penalty:
        lines.append(Line("bag_penalty", penalty, "bags"))
    delta = sum(line.points for line in lines)
    return SideScore(
        contract=contract,
        bag_points=bag_points,
        bag_penalty=penalty,
        nil_points=sum(line.points for line in nil_lines),
        special_points=special,
        delta=delta,
        score=before.score + delta,
        bags=carried,
        set=is_set,
        sets=before.sets + bool(is_set),
        lines=tuple(lines),
    )


def _carry_bags(ruleset: Ruleset, bags: int) -> tuple[int, int]:
    """Bags to carry on, and the penalty (zero or negative): once for every full limit.

    Source: docs/rules.md#bags
    """
    if not ruleset.bag_limit:
        return bags, 0
    full, rest = divmod(bags, ruleset.bag_limit)
    return rest, -full * ruleset.bag_penalty
