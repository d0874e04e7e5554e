"""Sandbox tables: deals that were set by whoever made the table, as they are kept, laid out and committed to.

A script is kept as ``{"seed": "<64 hex>"}`` or ``{"deals": [layout, ...]}``, a layout as ``"A:ASKD..."``: dealer and
the pack, top first. It is taken in the order in which commitments are made, so a redeal takes what is next.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contract.problems import ContractReason, Fault
from spades import Card, Ruleset
from spades.ruleset import Redeal
from spades.shuffle import SEED_BYTES, commitment
from spades.terms import terms

__all__ = ["Layout", "faults_of", "layout_of", "promise", "seed_for"]

_PURPOSE = b"spades-sandbox-1\0"


@dataclass(frozen=True, slots=True)
class Layout:
    """How one deal lies: who deals, and the whole pack, top first."""

    dealer: str
    stock: tuple[Card, ...]

    @property
    def text(self) -> str:
        """The form in which it is kept and committed to."""
        return f"{self.dealer}:{''.join(card.code for card in self.stock)}"

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read `text` back."""
        dealer, _, codes = text.partition(":")
        return cls(dealer, tuple(Card.parse(codes[start : start + 2]) for start in range(0, len(codes), 2)))


def seed_for(script: Mapping[str, Any] | None, place: int) -> tuple[bytes, Layout | None]:
    """The seed of a deal to come, and how it lies if that was set.

    Args:
        script: None for a table whose deals nobody set.
        place: how many commitments this table has made before.

    Returns:
        32 secret bytes of chance; or, where the seed was set, the SHA-256 of ``spades-sandbox-1``, NUL, that seed, NUL
        and the count from 1 in digits.
    """
    if script is not None and "seed" in script:
        given = bytes.fromhex(script["seed"])
        return hashlib.sha256(_PURPOSE + given + b"\0" + str(place + 1).encode()).digest(), None
    if script is not None and place < len(script["deals"]):
        return secrets.token_bytes(SEED_BYTES), Layout.parse(script["deals"][place])
    return secrets.token_bytes(SEED_BYTES), None


def promise(seed: bytes, layout: Layout | None) -> str:
    """The commitment to a deal to come: for a layout, the SHA-256 of the seed and the text of the layout.

    There the seed decides nothing. It keeps those who know some of the cards from finding the others by trying.
    """
    return commitment(seed) if layout is None else hashlib.sha256(seed + layout.text.encode()).hexdigest()


def faults_of(ruleset: Ruleset, deals: Sequence[Mapping[str, Any]]) -> list[Fault]:
    """Everything that is wrong with scripted deals under a ruleset, each with its pointer."""
    faults = [fault for place, deal in enumerate(deals) for fault in _faults(ruleset, deal, f"/sandbox/deals/{place}")]
    if ruleset.redeal is not Redeal.NONE:
        detail = (
            "With redeals all deals have the dealer of the first: a redeal takes the next one and keeps the dealer."
        )
        others = [place for place, deal in enumerate(deals) if deal["dealer"] != deals[0]["dealer"]]
        faults += [_wrong(f"/sandbox/deals/{place}/dealer", detail) for place in others]
    return faults


def layout_of(ruleset: Ruleset, deal: Mapping[str, Any]) -> Layout:
    """How a scripted deal lies, in which `faults_of` finds nothing."""
    if "stock" in deal:
        return Layout(deal["dealer"], tuple(deal["stock"]))
    hands, players = deal["hands"], ruleset.players
    order = (*terms(ruleset).table.from_(deal["dealer"])[1:], deal["dealer"])
    dealt = [hands[order[place % players]][place // players] for place in range(ruleset.hand_size * players)]
    left = Counter(card.code for card in terms(ruleset).pack.deck) - Counter(card.code for card in dealt)
    return Layout(deal["dealer"], (*dealt, *(Card.parse(code) for code in left.elements())))


def _faults(ruleset: Ruleset, deal: Mapping[str, Any], pointer: str) -> list[Fault]:
    facts = terms(ruleset)
    seats = facts.table.seats
    faults = []
    if deal["dealer"] not in seats:
        faults.append(_wrong(f"{pointer}/dealer", f"The seats here are {', '.join(seats)}."))
    left = Counter(card.code for card in facts.pack.deck)
    if "stock" in deal:
        faults += _unknown(deal["stock"], left, f"{pointer}/stock")
        if missing := sorted(left.elements()):
            detail = f"The whole pack is needed; missing: {', '.join(missing[:6])}{', ...' * (len(missing) > 6)}."
            faults.append(Fault(f"{pointer}/stock", ContractReason.WRONG_LENGTH, detail))
        return faults
    if facts.drawing:
        faults.append(_wrong(f"{pointer}/hands", "Nobody is dealt a hand at a table that draws: set the stock."))
        return faults
    for seat in sorted({*deal["hands"], *seats}):
        where = f"{pointer}/hands/{seat}"
        if seat not in seats:
            faults.append(Fault(where, ContractReason.UNKNOWN_FIELD, f"The seats here are {', '.join(seats)}."))
        elif seat not in deal["hands"]:
            faults.append(Fault(where, ContractReason.MISSING_FIELD, "Every seat needs a hand."))
        else:
            faults += _unknown(deal["hands"][seat], left, where)
            if len(deal["hands"][seat]) != ruleset.hand_size:
                detail = f"A hand has {ruleset.hand_size} cards here, not {len(deal['hands'][seat])}."
                faults.append(Fault(where, ContractReason.WRONG_LENGTH, detail))
    return faults


def _unknown(cards: Sequence[Card], left: Counter[str], pointer: str) -> list[Fault]:
    """Cards that the pack has not, or not so often; the others are taken out of `left`."""
    faults = []
    for place, card in enumerate(cards):
        if card.code not in left:
            faults.append(_wrong(f"{pointer}/{place}", f"{card.code} is not in this table's pack."))
        elif left[card.code] == 0:
            detail = f"{card.code} was there before, as often as this table's pack has it."
            faults.append(_wrong(f"{pointer}/{place}", detail))
        else:
            left[card.code] -= 1
    return faults


def _wrong(pointer: str, detail: str) -> Fault:
    return Fault(pointer, ContractReason.NOT_ALLOWED_VALUE, detail)
