"""Tricks: who wins one, and when spades are broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spades.cards import Card, Pack
from spades.ruleset import Ruleset

__all__ = ["Trick", "breaks_spades", "winning_place"]


def winning_place(pack: Pack, cards: Sequence[Card]) -> int:
    """The place, from 0, of the winning card: the highest spade, else the highest card of the suit led.

    A card of a third suit never wins. Source: docs/rules.md#following
    """
    suits, strength, spades = pack.suits, pack.strength, pack.spades
    led = suits[cards[0].index]
    best, best_value = 0, -1
    for place, card in enumerate(cards):
        index = card.index
        if spades >> index & 1:
            value = 1000 + strength[index]
        elif suits[index] is led:
            value = strength[index]
        else:
            continue
        if value > best_value:
            best, best_value = place, value
    return best


def breaks_spades(ruleset: Ruleset, pack: Pack, trick: Sequence[Card], card: Card) -> bool:
    """Whether `card`, played to `trick` (its earlier cards), is a spade that breaks spades if they are unbroken.

    A spade on another suit's trick breaks. One that is led, which before the break only a hand of spades may do, breaks
    under `forced_lead_breaks`. Source: docs/rules.md#leading
    """
    if not pack.spades & card.bit:
        return False
    led_by_spade = not trick or bool(pack.spades & trick[0].bit)
    return not led_by_spade or ruleset.forced_lead_breaks


@dataclass(frozen=True, slots=True)
class Trick:
    """The cards of one trick in order of play, each with its seat; `winner` once it is complete."""

    number: int
    leader: str
    cards: tuple[tuple[str, Card], ...]
    winner: str | None = None
