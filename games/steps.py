"""One step of a match with all that follows from it: the next deal begins in the step that ends one or calls it off.

The same function moves a live game and replays one, so a replay is the game again and not a copy of its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from games import codec
from spades import Match, Ruleset, Seed
from spades.view import Part, parts

__all__ = ["SeedOf", "start", "step"]

SeedOf = Callable[[int, int], tuple[Seed, str]]
"""Of a deal's number and attempt: its seed, and the commitment of the deal after it. Called when the deal begins."""


def start(
    ruleset: Ruleset, first: Seed, seed_of: SeedOf, drawn: Mapping[str, str] | None = None
) -> tuple[Match, list[Part]]:
    """Cut for the deal and begin the first one.

    Args:
        first: the seed of the first deal, which the cut reads too.
        drawn: where seats were drawn, by the seat that somebody took the one that they got.
    """
    match = Match.start(ruleset, first)
    begun, events = _begin_deal(match, seed_of)
    opening = [Part("game_started", None, None, {})]
    if drawn is not None:
        seats = [{"was": was, "seat": seat} for was, seat in drawn.items()]
        opening.append(Part("seats_drawn", None, None, {"seats": seats}))
    return begun, [*opening, *parts(None, match), *events]


def step(match: Match, seat: str | None, action: Mapping[str, Any], seed_of: SeedOf) -> tuple[Match, list[Part]]:
    """Take one action, and begin the next deal when it ended one, or the same one again when a redeal was called.

    Raises:
        RuleViolation: the rules forbid it.
        NotationError: it spells no card or no bid.
    """
    after = codec.apply(match, seat, action)
    events = parts(match, after)
    if not after.needs_deal:
        return after, events
    begun, started = _begin_deal(after, seed_of)
    return begun, events + started


def _begin_deal(match: Match, seed_of: SeedOf) -> tuple[Match, list[Part]]:
    seed, next_commitment = seed_of(match.next_deal_number, match.next_attempt)
    begun = match.begin_deal(seed)
    return begun, parts(match, begun, next_commitment=next_commitment)
