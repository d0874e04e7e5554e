"""What is wrong with deals as somebody tells them, each fault with a pointer to where it was said.

The library refuses such deals too, by the first thing it finds. Here everything is found: first what this table cannot
have, such as a seat, which makes a request malformed; then what its rules forbid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contract.problems import ContractReason, Fault, Problem, malformed
from spades import Adjustment, Bid, NotationError, Reason, Rule, Ruleset, RuleViolation, SideBefore
from spades.bidding import bids_refusals, nobody_bids, with_blind_sides
from spades.seats import table

__all__ = [
    "Told",
    "before_faults",
    "bid_violations",
    "bidless_violations",
    "misfits",
    "refused",
    "seats_faults",
    "sides_fault",
    "standing",
    "violations",
]


@dataclass(frozen=True, slots=True)
class Told:
    """What a request says of one deal. The fields are arguments of `spades.score_deal`."""

    bids: Mapping[str, Bid]
    tricks: Mapping[str, int]
    blind_sides: tuple[str, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Told:
        """Take the parts of a body that was read."""
        return cls(
            body.get("bids") or {},
            body["tricks"],
            tuple(body.get("blind_sides") or ()),
            tuple(Adjustment(**adjustment) for adjustment in body.get("adjustments") or ()),
        )


_STANDING = (("scores", "score"), ("bags", "bags"), ("sets", "sets"))
"""Names of the parts of a standing: in a body, and in the library."""


def standing(before: Mapping[str, Any]) -> dict[str, SideBefore]:
    """How each side stands before a deal, as a body tells it; a side left out stands at nothing."""
    parts: dict[str, dict[str, int]] = {}
    for name, field in _STANDING:
        for side, value in (before.get(name) or {}).items():
            parts.setdefault(side, {})[field] = value
    return {side: SideBefore(**values) for side, values in parts.items()}


def before_faults(ruleset: Ruleset, before: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults of a standing: sides that this table does not have."""
    for name, _ in _STANDING:
        for side in before.get(name) or {}:
            yield from sides_fault(ruleset, side, f"/before/{name}/{side}", ContractReason.UNKNOWN_FIELD)


def sides_fault(ruleset: Ruleset, side: str, pointer: str, reason: ContractReason) -> Iterator[Fault]:
    """The fault of a side that this table does not have."""
    sides = table(ruleset.players, ruleset.teams).sides
    if side not in sides:
        yield Fault(pointer, reason, f"The sides of this table are {', '.join(sides)}.")


def seats_faults(ruleset: Ruleset, given: Mapping[str, Any], pointer: str, *, whole: bool) -> Iterator[Fault]:
    """The faults of values by seat: seats that this table does not have, and with `whole` those left out."""
    seats = table(ruleset.players, ruleset.teams).seats
    detail = f"The seats of this table are {', '.join(seats)}."
    for seat in given:
        if seat not in seats:
            yield Fault(f"{pointer}/{seat}", ContractReason.UNKNOWN_FIELD, detail)
    for seat in seats:
        if whole and seat not in given:
            left_out = f"Seat {seat} is left out; one value for each of {', '.join(seats)} is needed."
            yield Fault(f"{pointer}/{seat}", ContractReason.MISSING_FIELD, left_out)


def misfits(ruleset: Ruleset, told: Told, *, deal_number: int, pointer: str = "") -> Iterator[Fault]:
    """What a table of this ruleset cannot have, whatever its rules: a wrong seat or side, or a seat left out."""
    bidless = nobody_bids(ruleset, deal_number) is not None
    yield from seats_faults(ruleset, told.bids, f"{pointer}/bids", whole=not bidless)
    yield from seats_faults(ruleset, told.tricks, f"{pointer}/tricks", whole=True)
    for place, side in enumerate(told.blind_sides):
        yield from sides_fault(ruleset, side, f"{pointer}/blind_sides/{place}", ContractReason.NOT_ALLOWED_VALUE)
    for place, adjustment in enumerate(told.adjustments):
        where = f"{pointer}/adjustments/{place}/side"
        yield from sides_fault(ruleset, adjustment.side, where, ContractReason.NOT_ALLOWED_VALUE)


def violations(
    ruleset: Ruleset, told: Told, scores: Mapping[str, int], *, deal_number: int, pointer: str = ""
) -> Iterator[tuple[str, RuleViolation]]:
    """What the rules forbid about a deal without `misfits`, with where it was said.

    Args:
        scores: each side's points before the deal; a side left out has none.
    """
    bidless = nobody_bids(ruleset, deal_number)
    if bidless is not None:
        yield from bidless_violations(told, bidless, deal_number=deal_number, pointer=pointer)
    else:
        yield from bid_violations(ruleset, told.bids, told.blind_sides, scores, pointer=pointer)
    if sum(told.tricks.values()) != ruleset.hand_size:
        detail = f"A deal has {ruleset.hand_size} tricks here, and these are {sum(told.tricks.values())}."
        yield f"{pointer}/tricks", RuleViolation(Reason.TRICKS_DO_NOT_ADD_UP, detail)


def bidless_violations(
    told: Told, rule: Rule, *, deal_number: int, pointer: str = ""
) -> Iterator[tuple[str, RuleViolation]]:
    """What is said of bids in a deal where, by this rule, nobody bids."""
    detail = f"Nobody bids in deal {deal_number} at this table."
    for name in ("bids", "blind_sides"):
        if getattr(told, name):
            yield f"{pointer}/{name}", RuleViolation(Reason.BID_IS_FORCED, detail, rule)


def bid_violations(
    ruleset: Ruleset,
    bids: Mapping[str, Bid],
    blind_sides: Iterable[str],
    scores: Mapping[str, int],
    *,
    pointer: str = "",
) -> Iterator[tuple[str, RuleViolation]]:
    """What the rules forbid about bids in a deal where seats bid, with where it was said."""
    blind = {}
    for place, side in enumerate(blind_sides):
        try:
            with_blind_sides(ruleset, bids, (side,))
        except RuleViolation as why:
            yield f"{pointer}/blind_sides/{place}", why
        else:
            blind[side] = f"{pointer}/blind_sides/{place}"
    side_of = table(ruleset.players, ruleset.teams).side_of
    for seats, violation in bids_refusals(ruleset, with_blind_sides(ruleset, bids, blind), scores):
        where = f"{pointer}/bids/{seats[0]}" if len(seats) == 1 else f"{pointer}/bids"
        if violation.rule is not None and violation.rule.section == "blind":
            where = blind.get(side_of[seats[0]], where)  # blind is what was said there
        yield where, violation


def refused(
    why: RuleViolation | NotationError, misfitting: Iterable[Fault], violating: Iterable[tuple[str, RuleViolation]]
) -> Problem:
    """The answer where the library refused: everything that is wrong with the request.

    Args:
        why: what the library said.
        misfitting: what makes the request malformed.
        violating: what the rules forbid; only asked for when nothing is malformed.
    """
    faults = list(misfitting)
    if faults or isinstance(why, NotationError):
        return malformed(faults or [Fault("", ContractReason.BAD_FORMAT, str(why))])
    told = list(violating)
    first = told[0][1] if told else why
    found = [Fault(where, each.reason, each.detail) for where, each in told]
    return Problem(first.reason, first.detail, errors=found, rule=first.rule)
