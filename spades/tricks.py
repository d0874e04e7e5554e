"""Tricks: who leads the first one, who wins one, and when spades are broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spades.bids import Bid
from spades.cards import Card, Pack
from spades.ruleset import DuplicateWinner, FirstLeader, Ruleset
from spades.terms import Terms

__all__ = ["Trick", "breaks_spades", "first_leader", "winning_place"]


def winning_place(pack: Pack, cards: Sequence[Card], duplicate_winner: DuplicateWinner | None = None) -> int:
    """The place, from 0, of the winning card: the highest spade, else the highest card of the suit led.

    A card of a third suit never wins. Of two identical cards the first wins, or the last under
    `DuplicateWinner.LAST`. Source: docs/rules.md#following
    """
    worth = pack.worth[cards[0].index]
    values = [worth[card.index] for card in cards]
    best = max(values)
    if duplicate_winner is DuplicateWinner.LAST:
        return len(values) - 1 - values[::-1].index(best)
    return values.index(best)


def breaks_spades(ruleset: Ruleset, pack: Pack, trick: Sequence[Card], card: Card) -> bool:
    """Whether `card`, played to `trick` (its earlier cards), is a spade that breaks spades if they are unbroken.

    A spade on another suit's trick breaks. One that is led, which before the break only a hand of spades may do, breaks
    under `forced_lead_breaks`. Source: docs/rules.md#leading
    """
    if not pack.spades & card.bit:
        return False
    led_by_spade = not trick or bool(pack.spades & trick[0].bit)
    return not led_by_spade or ruleset.forced_lead_breaks


def first_leader(facts: Terms, dealer: int, *, bids: Sequence[Bid | None], holders: Sequence[int]) -> int:
    """The place of the seat that leads to the first trick.

    Args:
        dealer: its place.
        bids: by place; None for a seat that did not bid, which counts as nothing, as a nil does.
        holders: the places that hold the lowest club of the deck, where it leads; two of them with two packs.

    Source: docs/rules.md#leading
    """
    players, ruleset = facts.ruleset.players, facts.ruleset
    from_left = [(dealer + step) % players for step in range(1, players + 1)]
    if facts.club_lead:
        return next(place for place in from_left if place in holders)
    if ruleset.first_leader is FirstLeader.DEALER:
        return dealer
    if ruleset.first_leader is FirstLeader.HIGH_BIDDER:
        return max(from_left, key=lambda place: bid.tricks if (bid := bids[place]) else 0)  # the first of equal ones
    return from_left[0]


@dataclass(frozen=True, slots=True)
class Trick:
    """The cards of one trick in order of play, each with its seat; `winner` once it is complete."""

    number: int
    leader: str
    cards: tuple[tuple[str, Card], ...]
    winner: str | None = None
