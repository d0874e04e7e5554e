"""Cards given away: before the bidding, and between a nil bidder and its partner."""

from __future__ import annotations

from typing import Any

from bots.deck import bits, lowest
from bots.drawing import card_value
from bots.reading import Reading

__all__ = ["decide"]

SHORTER = 0.05
"""Tricks that a suit is worth for each card fewer to throw away before it can be trumped."""

GUARD = 0.3
"""The part of a high card's danger to a nil that each low card under it takes away."""


def decide(reading: Reading) -> dict[str, Any]:
    """Choose the cards to give: dangerous ones beside a nil of ours, low ones for a partner's, else the cheapest."""
    request = reading.view["turn"]["legal"][0]
    if reading.me in reading.nils:
        order = sorted(bits(reading.hand), key=lambda card: -_danger(reading, card))
    elif any(seat in reading.nils for seat in reading.partners):
        order = sorted(bits(reading.hand), key=lambda card: _help(reading, card))
    else:
        order = sorted(bits(reading.hand), key=lambda card: _keep(reading, card))
    return {"cards": reading.deck.codes(sum(order[: request["choose"]]))}


def _suit(reading: Reading, card: int) -> int:
    return reading.hand & reading.deck.suit_of[card]


def _danger(reading: Reading, card: int) -> float:
    """How likely a card is to win a trick against its will."""
    theirs = reading.out & reading.deck.suit_of[card]
    below = (theirs & (card - 1)).bit_count() / max(1, theirs.bit_count())
    if card & reading.deck.spades:
        return 1.0 + below
    guards = sum(reading.deck.ranks[lower] < 5 for lower in bits(_suit(reading, card) & (card - 1)))
    return float(below * (1 - GUARD * min(3, guards)))


def _help(reading: Reading, card: int) -> tuple[bool, int, int]:
    """Low cards of side suits first, and of equal ones those of our longest suit."""
    return bool(card & reading.deck.spades), reading.deck.ranks[card], -_suit(reading, card).bit_count()


def _keep(reading: Reading, card: int) -> float:
    """What a card is worth in our hand: little in a short suit, which can be trumped once it is empty."""
    suit = _suit(reading, card)
    stays = 0.0 if card == lowest(suit) else 0.01
    return card_value(reading, card) + stays + SHORTER * suit.bit_count()
