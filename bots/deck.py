"""Cards as bits in an order that makes tricks easy: sets of cards are integers, and a winner is a comparison.

A table's cards are numbered suit by suit, weaker ones first and spades last. So of two cards of one suit the larger
bit wins, any spade is larger than any other card, and ``card > best`` asks for a winner once third suits are left out.
With two packs each card has two bits side by side; which of them stands for which copy, whoever reads cards says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from spades.cards import Suit, pack

__all__ = ["Deck", "bits", "deck_of", "highest", "lowest"]


class Deck:
    """The cards of one table. Made by `deck_of`, once for each pack."""

    __slots__ = ("all", "bits_of", "code_of", "ranks", "side_suits", "spades", "suit_of")

    def __init__(self, decks: int, jokers: int, removed: tuple[str, ...], high_trumps: tuple[str, ...]) -> None:
        cards = pack(jokers, (), high_trumps)
        suits = list(Suit)
        order = sorted(cards.deck, key=lambda c: (suits.index(cards.suits[c.index]), cards.strength[c.index]))
        self.bits_of: dict[str, tuple[int, ...]] = {}
        """From a card's text to its bits, one for each copy, rising."""
        self.code_of: dict[int, str] = {}
        """From a card's bit to its text."""
        masks = dict.fromkeys(suits, 0)
        bit = 1
        for card in order:
            copies = []
            for _ in range(decks - removed.count(card.code)):
                copies.append(bit)
                self.code_of[bit] = card.code
                masks[cards.suits[card.index]] |= bit
                bit <<= 1
            self.bits_of[card.code] = tuple(copies)
        self.all = bit - 1
        self.spades = masks[Suit.SPADES]
        self.side_suits: tuple[int, ...] = tuple(mask for suit, mask in masks.items() if suit is not Suit.SPADES)
        """The three suits that are not trumps, as masks."""
        self.suit_of: dict[int, int] = {bit: mask for mask in masks.values() for bit in bits(mask)}
        """From a card's bit to the mask of the suit that it follows."""
        self.ranks: dict[int, int] = {}
        """From a card's bit to its rank in its suit: 12 for the highest, then down (below 0 past thirteen ranks)."""
        for mask in masks.values():
            falling = list(dict.fromkeys(self.code_of[bit] for bit in reversed(list(bits(mask)))))
            self.ranks.update({bit: 12 - falling.index(self.code_of[bit]) for bit in bits(mask)})

    def codes(self, mask: int) -> list[str]:
        """The texts of a set of cards, lowest first."""
        return [self.code_of[bit] for bit in bits(mask)]


def deck_of(options: Mapping[str, Any]) -> Deck:
    """The deck of a ruleset, given as its flat options.

    >>> deck = deck_of({"decks": 1, "jokers": 0, "removed_cards": [], "high_trumps": []})
    >>> deck.bits_of["2S"] > deck.bits_of["AH"], deck.ranks[deck.bits_of["AH"][0]]
    (True, 12)
    """
    removed, high = tuple(options["removed_cards"]), tuple(options["high_trumps"])
    return _deck(options["decks"], options["jokers"], removed, high)


@lru_cache(maxsize=64)
def _deck(decks: int, jokers: int, removed: tuple[str, ...], high_trumps: tuple[str, ...]) -> Deck:
    return Deck(decks, jokers, removed, high_trumps)


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
