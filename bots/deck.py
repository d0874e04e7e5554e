"""Cards as bits in an order that makes tricks easy: sets of cards are integers, and a winner is a comparison.

A table's cards are numbered suit by suit, weaker ones first and spades last. So of two cards of one suit the larger
bit wins, any spade is larger than any other card, and ``card > best`` asks for a winner once third suits are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from spades.cards import Suit, pack

__all__ = ["Deck", "bits", "deck_of", "highest", "lowest"]


class Deck:
    """The cards of one table. Made by `deck_of`, once for each pack."""

    __slots__ = ("all", "bit_of", "code_of", "ranks", "side_suits", "spades", "suit_of")

    def __init__(self, jokers: int, removed: tuple[str, ...], high_trumps: tuple[str, ...]) -> None:
        cards = pack(jokers, removed, high_trumps)
        suits = list(Suit)
        order = sorted(cards.deck, key=lambda c: (suits.index(cards.suits[c.index]), cards.strength[c.index]))
        self.bit_of: dict[str, int] = {card.code: 1 << place for place, card in enumerate(order)}
        """From a card's text to its bit."""
        self.code_of: dict[int, str] = {bit: code for code, bit in self.bit_of.items()}
        self.all = (1 << len(order)) - 1
        masks = dict.fromkeys(suits, 0)
        for card in order:
            masks[cards.suits[card.index]] |= self.bit_of[card.code]
        self.spades = masks[Suit.SPADES]
        self.side_suits: tuple[int, ...] = tuple(mask for suit, mask in masks.items() if suit is not Suit.SPADES)
        """The three suits that are not trumps, as masks."""
        self.suit_of: dict[int, int] = {bit: mask for mask in masks.values() for bit in bits(mask)}
        """From a card's bit to the mask of the suit that it follows."""
        self.ranks: dict[int, int] = {
            bit: 12 - place for mask in masks.values() for place, bit in enumerate(reversed(list(bits(mask))))
        }
        """From a card's bit to its rank in its suit: 12 for the highest, then down (below 0 past thirteen cards)."""

    def mask(self, codes: list[str]) -> int:
        """The set of these cards."""
        bit_of, mask = self.bit_of, 0
        for code in codes:
            mask |= bit_of[code]
        return mask


def deck_of(options: Mapping[str, Any]) -> Deck:
    """The deck of a ruleset, given as its flat options.

    >>> deck = deck_of({"jokers": 0, "removed_cards": [], "high_trumps": []})
    >>> deck.bit_of["2S"] > deck.bit_of["AH"], deck.ranks[deck.bit_of["AH"]]
    (True, 12)
    """
    return _deck(options["jokers"], tuple(options["removed_cards"]), tuple(options["high_trumps"]))


@lru_cache(maxsize=64)
def _deck(jokers: int, removed: tuple[str, ...], high_trumps: tuple[str, ...]) -> Deck:
    return Deck(jokers, removed, high_trumps)


def lowest(mask: int) -> int:
    """The lowest card of a set that is not empty."""
    return mask & -mask


def highest(mask: int) -> int:
    """The highest card of a set that is not empty."""
    return 1 << (mask.bit_length() - 1)


def bits(mask: int) -> Iterator[int]:
    """The cards of a set, lowest first."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low
