"""Committed, seeded, verifiable shuffles: the algorithm ``spades-shuffle-1``.

Every deal has a secret seed of 256 bits of its own. Before any client seed that enters the deal is known, the service
publishes ``commitment(seed)``; after the deal it publishes the seed. Anybody can then repeat the shuffle:

1. *Key.* ``key = SHA-256("spades-shuffle-1" NUL purpose NUL seed then for each client seed, in the order of the seats:
   seat "=" text NUL)``, all text in UTF-8, the seed as its 32 bytes. `purpose` is ``deal``, ``cut``, ``lot`` or
   ``seats``.
2. *Stream.* Block i, from 0, is ``SHA-256(key followed by i as 8 bytes, big end first)``. The blocks, one after the
   other, are read as 32-bit big-endian words.
3. *Number below n.* Take the next word w. If w >= n * floor(2**32 / n), throw it away and take the next, so that no
   remainder is likelier than another. Otherwise the number is w mod n.
4. *Shuffle (Fisher-Yates).* Start from the deck in listed order: suits C D H S, ranks rising, jokers last; with two
   packs the two of a kind side by side. For i from the last place down to 1 take a number j below i + 1 and exchange
   places i and j. Place 0 is the top of the stock.

Source: docs/rules.md#shuffle
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from spades.errors import NotationError

__all__ = ["ALGORITHM", "SEED_BYTES", "Seed", "commitment"]

ALGORITHM = "spades-shuffle-1"
SEED_BYTES = 32

T = TypeVar("T")


def commitment(server_seed: bytes) -> str:
    """The SHA-256 of a seed in hex, published before the deal.

    >>> commitment(bytes(32))
    '66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925'
    """
    return hashlib.sha256(server_seed).hexdigest()


@dataclass(frozen=True, slots=True)
class Seed:
    """All that decides one deal: the secret seed and the clients' own, in the order of the seats."""

    server: bytes
    clients: tuple[tuple[str, str], ...] = ()
    """Pairs of seat and text."""

    def __post_init__(self) -> None:
        if not isinstance(self.server, bytes) or len(self.server) != SEED_BYTES:  # type: ignore[redundant-expr]  # a text
            raise NotationError(f"a seed is {SEED_BYTES} bytes")
        if any("\0" in text for _, text in self.clients):
            raise NotationError("a client seed holds no NUL, which ends it in the key")

    def __repr__(self) -> str:
        return "Seed(secret)"  # a seed in a log line would give the deal away

    @property
    def commitment(self) -> str:
        """What was published before the deal."""
        return commitment(self.server)

    def shuffled(self, deck: Sequence[T], *, purpose: str = "deal") -> tuple[T, ...]:
        """The deck, given in listed order, as it lies after the shuffle; the first is the top of the stock.

        Args:
            purpose: ``deal``; ``cut`` for cards that are turned up to find the first dealer; ``seats``.
        """
        cards = list(deck)
        numbers = _numbers(self._key(purpose))
        for place in range(len(cards) - 1, 0, -1):
            limit = place + 1
            fair = (1 << 32) // limit * limit
            number = next(numbers)
            while number >= fair:  # as in `_below`, whose calls would cost more than they do
                number = next(numbers)
            other = number % limit
            cards[place], cards[other] = cards[other], cards[place]
        return tuple(cards)

    def cut(self, deck: Sequence[T], seats: Sequence[str]) -> Iterator[tuple[str, T]]:
        """Draw for the deal: an endless run of seat and card, each round from the whole pack, no card twice in it."""
        numbers = _numbers(self._key("cut"))
        while True:
            pack = list(deck)
            for seat in seats:
                yield seat, pack.pop(_below(numbers, len(pack)))

    def lot(self, limit: int) -> int:
        """A number from 0 to `limit` - 1, drawn for the first deal where no cards are."""
        return _below(_numbers(self._key("lot")), limit)

    def seating(self, seats: Sequence[str]) -> dict[str, str]:
        """Draw for seats: by the seat that somebody took, the seat that they get.

        The seats, in their order, are shuffled as a deck is; who took the first seat gets the seat that lies first.

        Source: docs/rules.md#shuffle
        """
        return dict(zip(seats, self.shuffled(seats, purpose="seats"), strict=True))

    def _key(self, purpose: str) -> bytes:
        digest = hashlib.sha256(f"{ALGORITHM}\0{purpose}\0".encode())
        digest.update(self.server)
        for seat, text in self.clients:
            digest.update(f"{seat}={text}\0".encode())
        return digest.digest()


_WORDS = struct.Struct(">8I")


def _numbers(key: bytes) -> Iterator[int]:
    """32-bit numbers without end."""
    block = 0
    while True:
        digest = hashlib.sha256(key + block.to_bytes(8, "big")).digest()
        yield from _WORDS.unpack(digest)
        block += 1


def _below(numbers: Iterator[int], limit: int) -> int:
    """A number from 0 to `limit` - 1, each equally likely."""
    fair = (1 << 32) // limit * limit
    for number in numbers:
        if number < fair:
            return number % limit
    raise AssertionError("the stream has no end")
