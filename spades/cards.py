"""Suits, ranks, cards, hands and packs.

People handle `Card` values; a `Hand` is one integer inside, a bit a card, so that filtering a hand by suit is one
`&`. The bit of a card is its place in `PACK`: suits clubs, diamonds, hearts, spades, ranks rising, then the jokers.
That place is also the order in which cards are listed everywhere.

Where two packs are shuffled together each card has a twin with the same text, whose bit is 54 places higher. The two
are worth the same, so nobody but a mask tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from spades.errors import NotationError

__all__ = ["PACK", "Card", "Hand", "Pack", "Rank", "Suit", "cards_of", "codes_of", "each_its_own", "pack"]


class Suit(Enum):
    """A suit, named by its letter."""

    CLUBS = "C"
    DIAMONDS = "D"
    HEARTS = "H"
    SPADES = "S"

    __hash__ = object.__hash__  # there is one of each; the hash of a name would cost a call


class Rank(Enum):
    """A rank, named by its letter. ``T`` is the ten; the jokers are ``L`` (little) and ``B`` (big)."""

    TWO = "2"
    THREE = "3"
    FOUR = "4"
    FIVE = "5"
    SIX = "6"
    SEVEN = "7"
    EIGHT = "8"
    NINE = "9"
    TEN = "T"
    JACK = "J"
    QUEEN = "Q"
    KING = "K"
    ACE = "A"
    LITTLE = "L"
    BIG = "B"


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """One card, written rank first; the jokers are ``LJ`` and ``BJ``.

    Cards are interned: there is one object for each, which `parse`, copying and unpickling all give, so comparing and
    hashing are those of the object.

    >>> card = Card.parse("TD")
    >>> card.rank, card.suit
    (<Rank.TEN: 'T'>, <Suit.DIAMONDS: 'D'>)
    >>> str(card)
    'TD'
    """

    rank: Rank
    suit: Suit
    code: str
    """The text form, such as ``"TD"``."""
    index: int
    """The place in `PACK`, 0 to 53, and so the bit in a `Hand`; 54 more for the twin of a second pack."""
    bit: int
    """The card as a one-card mask."""

    @classmethod
    def parse(cls, text: str) -> Card:
        """Read a card such as ``"AS"``.

        Raises:
            NotationError: `text` spells no card.
        """
        try:
            return _BY_CODE[text]
        except (KeyError, TypeError):
            raise NotationError(f"expected a card such as 'AS', or 'TS' for the ten, got {text!r}") from None

    @property
    def first(self) -> Card:
        """This card of the first pack."""
        return PACK[self.index % SECOND]

    @property
    def twin(self) -> Card:
        """The same card of the other pack."""
        return _EVERY[(self.index + SECOND) % len(_EVERY)]

    def __str__(self) -> str:
        return self.code

    def __repr__(self) -> str:
        return f"Card.parse({self.code!r})"

    def __lt__(self, other: Card) -> bool:
        return (self.index % SECOND, self.index) < (other.index % SECOND, other.index)

    def __reduce__(self) -> tuple[Callable[[int], Card], tuple[int]]:
        return _at, (self.index,)


def _pack() -> tuple[Card, ...]:
    ranks = [rank for rank in Rank if rank not in (Rank.LITTLE, Rank.BIG)]
    plain = [(rank, suit, rank.value + suit.value) for suit in Suit for rank in ranks]
    jokers = [(Rank.LITTLE, Suit.SPADES, "LJ"), (Rank.BIG, Suit.SPADES, "BJ")]
    return tuple(Card(rank, suit, code, index, 1 << index) for index, (rank, suit, code) in enumerate(plain + jokers))


PACK: tuple[Card, ...] = _pack()
"""The 52 cards in order, then the little and the big joker. A table without jokers uses the first 52."""

SECOND = len(PACK)
"""How many places above a card its twin of a second pack has its bit."""

_EVERY = PACK + tuple(Card(card.rank, card.suit, card.code, card.index + SECOND, card.bit << SECOND) for card in PACK)
_BY_CODE = {card.code: card for card in PACK}


def _at(index: int) -> Card:
    return _EVERY[index]


SUIT_MASK: dict[Suit, int] = {
    suit: sum(card.bit for card in PACK if card.suit is suit and card.index < 52) for suit in Suit
}
"""The thirteen plain cards of each suit as a mask; which further cards count as spades is the ruleset's to say."""


@dataclass(frozen=True, slots=True)
class Hand:
    """A set of cards, held as one mask.

    >>> hand = Hand.of("AS", "2C", "TD")
    >>> str(hand)
    '2C TD AS'
    >>> Card.parse("2C") in hand, len(hand)
    (True, 3)
    """

    mask: int = 0

    @classmethod
    def of(cls, *codes: str) -> Hand:
        """The hand of these cards, given as text.

        Raises:
            NotationError: a text spells no card, or a card is named twice.
        """
        return cls.from_cards(Card.parse(code) for code in codes)

    @classmethod
    def from_cards(cls, cards: Iterable[Card]) -> Hand:
        """The hand of these cards.

        Raises:
            NotationError: a card is named twice.
        """
        mask = 0
        for card in cards:
            if mask >> card.index & 1:
                raise NotationError(f"{card} is named twice")
            mask |= card.bit
        return cls(mask)

    def cards(self) -> tuple[Card, ...]:
        """The cards in order."""
        return cards_of(self.mask)

    def __iter__(self) -> Iterator[Card]:
        return iter(cards_of(self.mask))

    def __len__(self) -> int:
        return self.mask.bit_count()

    def __contains__(self, card: Card) -> bool:
        return bool(self.mask >> card.index & 1)

    def __str__(self) -> str:
        return " ".join(codes_of(self.mask))


@lru_cache(maxsize=1 << 14)
def cards_of(mask: int) -> tuple[Card, ...]:
    """The cards of a mask, in order."""
    cards, rest = [], mask
    while rest:
        low = rest & -rest
        cards.append(_EVERY[low.bit_length() - 1])
        rest ^= low
    return tuple(sorted(cards) if mask >> SECOND else cards)


def codes_of(mask: int) -> list[str]:
    """The texts of a mask's cards, in order; a card that is there twice comes twice."""
    if mask >> SECOND:
        return [card.code for card in cards_of(mask)]
    codes = []
    while mask:
        low = mask & -mask
        codes.append(PACK[low.bit_length() - 1].code)
        mask ^= low
    return codes


def each_its_own(cards: Iterable[Card], decks: int) -> tuple[Card, ...]:
    """The cards in the same order; with two packs a card that comes a second time becomes its twin.

    Raises:
        NotationError: a card comes more often than there are packs.

    >>> [card.index for card in each_its_own([Card.parse("2C"), Card.parse("2C")], decks=2)]
    [0, 54]
    """
    seen, own = 0, []
    for named in cards:
        card = named.first
        one = card.twin if decks > 1 and seen & card.bit else card
        if seen & one.bit:
            raise NotationError(f"{card} is named {'twice' if decks == 1 else 'too often'}")
        seen |= one.bit
        own.append(one)
    return tuple(own)


def held(hand: int, card: Card) -> Card:
    """Of a card and its twin the one that a hand holds, the first pack's if both; the card itself if neither."""
    first = card.first
    if hand & first.bit:
        return first
    return first.twin if hand & first.twin.bit else card


def both(mask: int) -> int:
    """The cards of a mask with all their twins."""
    folded = (mask | mask >> SECOND) & (1 << SECOND) - 1
    return folded | folded << SECOND


class Pack:
    """The cards of one table, what counts as a spade there, and which card is the stronger.

    Made by `pack`, once for each set of values. Source: docs/rules.md#deck
    """

    __slots__ = ("deck", "following", "lowest_club", "mask", "spades", "strength", "suit_masks", "suits", "worth")

    def __init__(self, jokers: int, removed: tuple[str, ...], high_trumps: tuple[str, ...], decks: int = 1) -> None:
        joker_codes = {0: (), 1: ("BJ",), 2: ("LJ", "BJ")}[jokers]
        plain = [card.code for card in PACK[:52]]
        found = [Card.parse(code) for code in [*plain, *joker_codes]]
        counts = [(card, decks - removed.count(card.code)) for card in found]
        self.deck: tuple[Card, ...] = tuple(one for card, count in counts for one in (card, card.twin)[: max(0, count)])
        """The cards in listed order, as a shuffle takes them; twins side by side."""
        self.mask = sum(card.bit for card in self.deck)
        high = {Card.parse(code).index: place for place, code in enumerate(reversed(high_trumps))}
        self.suits: list[Suit] = [Suit.SPADES if card.index % SECOND in high else card.suit for card in _EVERY]
        """The suit that each card, by its index, follows here: a high trump is a spade."""
        self.strength: list[int] = [
            SECOND + high[place] if (place := card.index % SECOND) in high else place for card in _EVERY
        ]
        """Compares cards of one suit: the larger wins. Twins are equal."""
        self.suit_masks = {suit: sum(c.bit for c in self.deck if self.suits[c.index] is suit) for suit in Suit}
        self.spades = self.suit_masks[Suit.SPADES]
        self.following = [self.suit_masks[suit] for suit in self.suits]
        """By the index of a card that is led, the cards that follow it, as a mask."""
        worth = {suit: self._worth(suit) for suit in Suit}
        self.worth = [worth[suit] for suit in self.suits]
        """By the index of a card that is led, what each card by its index is worth in the trick: the highest wins."""
        self.lowest_club = self.lowest(self.suit_masks[Suit.CLUBS])
        """The lowest club there is, as a mask; 0 where there is none."""

    def _worth(self, led: Suit) -> list[int]:
        beat = {led: 0, Suit.SPADES: 2 * SECOND}  # above the strength of whatever is led
        return [
            strength + beat[suit] if suit in beat else -1
            for suit, strength in zip(self.suits, self.strength, strict=True)
        ]

    def lowest(self, mask: int) -> int:
        """Of cards of one suit, not spades, the lowest, with its twin if that is among them."""
        folded = (mask | mask >> SECOND) & (1 << SECOND) - 1
        return mask & both(folded & -folded)


@lru_cache(maxsize=256)
def pack(jokers: int, removed: tuple[str, ...], high_trumps: tuple[str, ...], decks: int = 1) -> Pack:
    """The pack with these jokers and high trumps (strongest first) and without the removed cards.

    >>> len(pack(0, (), ()).deck), len(pack(2, ("2C", "2C"), ("BJ", "LJ"), 2).deck)
    (52, 106)
    """
    return Pack(jokers, removed, high_trumps, decks)
