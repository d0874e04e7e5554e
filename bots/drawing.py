"""The value of cards, and with it the draw: keep the card looked at, or take the next one unseen."""

from __future__ import annotations

from typing import Any

from bots.deck import bits
from bots.reading import Reading

__all__ = ["card_value", "decide", "hand_value"]

# Tricks that a card is worth more than a low card of a side suit, from the two to the ace. Measured: a linear fit to
# 8,000 drawn two-player deals, each played out perfectly by both sides; it explains the tricks to within 0.82 (one
# standard deviation). A hand with fewer spades loses more than one with fewer aces: the two of spades is worth more
# than a king.
SIDE_VALUES = (0.0, 0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.11, 0.14, 0.17, 0.26, 0.4, 0.67)
SPADE_VALUES = (0.52, 0.52, 0.52, 0.53, 0.54, 0.57, 0.62, 0.71, 0.83, 0.94, 1.05, 1.14, 1.27)


def decide(reading: Reading) -> dict[str, Any]:
    """Keep the card looked at if it is worth at least what the next one is worth on average.

    Whoever declines takes the next card unseen, and that is any card not seen yet, so what was discarded counts. A card
    that is kept costs nothing else: the one behind it goes to the pile whatever it is. Weighing suits that are still
    empty or short, or asking for more or less than the average, made no difference that 400 deals could show.
    """
    deck = reading.deck
    card = deck.bits_of[reading.view["deal"]["draw"]["looked_at"]][0]
    unseen = reading.out & ~card
    keep = not unseen or card_value(reading, card) * unseen.bit_count() >= hand_value(reading, unseen)
    return {"decision": "keep" if keep else "decline"}


def hand_value(reading: Reading, cards: int) -> float:
    """What a set of cards is worth, in tricks above as many low cards."""
    return sum(card_value(reading, card) for card in bits(cards))


def card_value(reading: Reading, card: int) -> float:
    """What a card is worth, in tricks above a low card."""
    deck = reading.deck
    rank = max(0, deck.ranks[card])
    return SPADE_VALUES[rank] if card & deck.spades else SIDE_VALUES[rank]
