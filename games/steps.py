"""One step of a match with all that follows from it: the next deal begins in the step that ends one or calls it off.

The same function moves a live game and replays one, so a replay is the game again and not a copy of its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from games import codec
from games.scripts import Layout, promise
from spades import Deal, Match, Ruleset, Seed
from spades.view import Part, parts

__all__ = ["Drawn", "SeedOf", "lay_out", "start", "step"]


class Drawn(NamedTuple):
    """What decides a deal that begins: its seed, the commitment of the next one, and how it lies if that was set."""

    seed: Seed
    next_commitment: str
    layout: Layout | None = None


SeedOf = Callable[[int, int], Drawn]
"""By a deal's number and attempt. Called when the deal begins."""


def start(
    ruleset: Ruleset,
    first: Seed,
    seed_of: SeedOf,
    drawn: Mapping[str, str] | None = None,
    layout: Layout | None = None,
) -> tuple[Match, list[Part]]:
    """Cut for the deal and begin the first one.

    Args:
        first: the seed of the first deal, which the cut reads too.
        drawn: where seats were drawn, by the seat that somebody took the one that they got.
        layout: how the first deal lies, if that was set; then its dealer was too, and nothing is cut for.
    """
    match = Match.start(ruleset, first)
    if layout is not None:
        match = replace(match, dealer=layout.dealer, cut=())
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


def lay_out(match: Match, seed: Seed, layout: Layout | None) -> Match:
    """Begin the next deal, from its seed or as it was set."""
    if layout is None:
        return match.begin_deal(seed)
    begun = replace(match, dealer=layout.dealer).begin_deal(seed)
    if begun.deal is None:
        raise ValueError("no deal began")
    deal = begun.deal
    return replace(
        begun,
        deal=Deal.restore(
            deal.ruleset,
            number=deal.number,
            attempt=deal.attempt,
            dealer=deal.dealer,
            seed=seed,
            stock=layout.stock,
            behind=deal.behind,
        ),
    )


def _begin_deal(match: Match, seed_of: SeedOf) -> tuple[Match, list[Part]]:
    drawn = seed_of(match.next_deal_number, match.next_attempt)
    begun = lay_out(match, drawn.seed, drawn.layout)
    started = parts(match, begun, next_commitment=drawn.next_commitment)
    if drawn.layout is not None:
        # Whoever holds the commitment against a shuffle must know that there was none.
        told = {"scripted": True, "commitment": promise(drawn.seed.server, drawn.layout)}
        first, *others = started
        started = [replace(first, public={**first.public, **told}), *others]
    return begun, started
