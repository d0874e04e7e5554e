"""Bids: a number of tricks, nil, blind nil, or a number bid blind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from spades.errors import NotationError

__all__ = ["Bid", "BidKind"]


class BidKind(Enum):
    """The kind of a bid, named as in JSON."""

    NIL = "nil"
    NUMBER = "number"
    BLIND_NIL = "blind_nil"
    BLIND = "blind"

    __hash__ = object.__hash__  # there is one of each; the hash of a name would cost a call


_NAMES = {kind: kind.value for kind in BidKind}


@dataclass(frozen=True, slots=True)
class Bid:
    """What one seat promises. The text form is the number, ``nil``, ``blind_nil`` or ``blind:6``.

    >>> Bid.number(4).to_json(), str(Bid.nil())
    ({'kind': 'number', 'tricks': 4}, 'nil')
    >>> Bid.parse("blind:6") == Bid.blind(6), Bid.blind_nil()
    (True, Bid.parse('blind_nil'))
    """

    kind: BidKind
    tricks: int = 0
    """Tricks promised; 0 for both nils. A plain zero is a number bid of 0."""

    @classmethod
    def number(cls, tricks: int) -> Bid:
        """The bid of that many tricks.

        Raises:
            NotationError: not a number from 0.
        """
        return cls(BidKind.NUMBER, _tricks(tricks))

    @classmethod
    def nil(cls) -> Bid:
        """The promise of no trick."""
        return cls(BidKind.NIL)

    @classmethod
    def blind(cls, tricks: int) -> Bid:
        """The bid of that many tricks, made before the hand was seen.

        Raises:
            NotationError: not a number from 0.
        """
        return cls(BidKind.BLIND, _tricks(tricks))

    @classmethod
    def blind_nil(cls) -> Bid:
        """The promise of no trick, made before the hand was seen."""
        return cls(BidKind.BLIND_NIL)

    @classmethod
    def from_json(cls, body: Any) -> Bid:
        """Read the JSON form.

        Raises:
            NotationError: not the form of a bid.
        """
        if isinstance(body, dict):
            kind, tricks = body.get("kind"), body.get("tricks")
            if kind in ("nil", "blind_nil") and body.keys() == {"kind"}:
                return cls(BidKind(kind))
            if kind in ("number", "blind") and body.keys() == {"kind", "tricks"} and type(tricks) is int:
                return cls(BidKind(kind), tricks)
        raise NotationError(f"expected a bid such as {{'kind': 'number', 'tricks': 4}}, got {body!r}")

    def to_json(self) -> dict[str, Any]:
        """The JSON form, inverse of `from_json`."""
        if self.is_nil:
            return {"kind": _NAMES[self.kind]}
        return {"kind": _NAMES[self.kind], "tricks": self.tricks}

    @classmethod
    def parse(cls, text: str) -> Bid:
        """Read the text form.

        Raises:
            NotationError: `text` spells no bid.
        """
        if text in ("nil", "blind_nil"):
            return cls(BidKind(text))
        kind, number = (BidKind.BLIND, text[6:]) if text.startswith("blind:") else (BidKind.NUMBER, text)
        if not (number.isascii() and number.isdigit()) or str(int(number)) != number:
            raise NotationError(f"expected a bid such as '4' or 'nil', got {text!r}")
        return cls(kind, int(number))

    @property
    def is_nil(self) -> bool:
        """Whether this is nil or blind nil."""
        return self.kind is BidKind.NIL or self.kind is BidKind.BLIND_NIL

    @property
    def is_blind(self) -> bool:
        """Whether this is a blind nil or a blind number."""
        return self.kind is BidKind.BLIND_NIL or self.kind is BidKind.BLIND

    def __str__(self) -> str:
        if self.is_nil:
            return self.kind.value
        return f"blind:{self.tricks}" if self.kind is BidKind.BLIND else str(self.tricks)

    def __repr__(self) -> str:
        return f"Bid.parse({str(self)!r})"


def _tricks(tricks: int) -> int:
    if type(tricks) is not int or tricks < 0:
        raise NotationError(f"a bid is of so many tricks, a number from 0, got {tricks!r}")
    return tricks
