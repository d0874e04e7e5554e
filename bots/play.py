"""Cards: what a trick is to us now, and with that the card.

A player takes tricks until its contract is made and then ducks, because a bag costs more than it brings; unless the
others can still be kept from their contract. A nil is kept by losing every trick, and another's nil is broken by making
it win one.
"""

from __future__ import annotations

import random
from typing import Any

from bots import outlook, policy
from bots.reading import Reading

__all__ = ["decide"]

SPARE = 1
"""Tricks beyond the contract that must be left for an attack on a nil."""


def decide(reading: Reading, rng: random.Random) -> dict[str, Any]:
    """Choose a card."""
    deck = reading.deck
    legal = deck.mask([body["card"] for body in reading.view["turn"]["legal"]])
    if not legal & (legal - 1):
        return {"card": deck.code_of[legal]}
    return {"card": deck.code_of[_card(reading, legal, take=_takes(reading, rng))]}


def _card(reading: Reading, legal: int, *, take: bool) -> int:
    deck, hand, out = reading.deck, reading.hand, reading.out
    if not reading.trick:
        if take:
            return policy.lead_to_take(deck, hand, legal, out, reading.share)
        return policy.lead_to_lose(deck, legal, out, reading.share, wanted=_others_want(reading))
    best, winner = reading.trick[0][1], reading.trick[0][0]
    for seat, card in reading.trick[1:]:
        if policy.beating(deck, card, best):
            best, winner = card, seat
    last = len(reading.trick) == len(reading.side_of) - 1
    ours = reading.side_of[winner] == reading.side_of[reading.me] and winner not in reading.nils
    if take and not (last and ours):
        return policy.follow_to_take(deck, hand, legal, best, out, last=last)
    return policy.follow_to_lose(deck, legal, best, out, last=last)


def _others_want(reading: Reading) -> bool:
    """Whether some other side still has tricks to take."""
    return any(side.need > 0 for side in reading.sides.values() if side is not reading.my_side)


def _takes(reading: Reading, rng: random.Random) -> bool:
    """Whether to try to win this trick."""
    if reading.me in reading.nils:
        return False
    mine = reading.my_side
    left = reading.hand.bit_count()
    reachable = mine.need <= left
    if reachable and mine.need:
        if _breaks_nil(reading, left):
            return False
        if mine.need > _sure(reading):
            return True
    if _sets(reading, rng, left, reachable=reachable):
        return True
    return reading.bag_worth >= 0 and (reachable or mine.contract == 0)


def _sure(reading: Reading) -> int:
    """Tricks that the hand takes whatever is played: its spades above all others."""
    spades = reading.deck.spades
    return policy.masters(reading.hand & spades, reading.out & spades).bit_count()


def _breaks_nil(reading: Reading, left: int) -> bool:
    """Whether another side's nil can be attacked by losing this trick, with enough tricks left for our contract."""
    opposed = any(reading.side_of[seat] != reading.side_of[reading.me] for seat in reading.nils)
    return opposed and left - reading.my_side.need >= SPARE


def _sets(reading: Reading, rng: random.Random, left: int, *, reachable: bool) -> bool:
    """Whether to make another side miss its contract, because that is worth more than the bags cost."""
    options, mine = reading.options, reading.my_side
    targets = [
        (left - side.need + 1, side.contract)
        for side in reading.sides.values()
        if side is not mine and 0 < side.need <= left
    ]
    if not targets:
        return False
    wanted, contract = min(targets)
    if wanted > left:
        return False
    ours = [seat for seat, side in reading.side_of.items() if side == reading.side_of[reading.me]]
    worlds = outlook.outcomes(reading, rng, taking=lambda _: True)
    chance = sum(sum(world[seat] for seat in ours) >= wanted for world in worlds) / len(worlds)
    gain = options["points_per_bid"] * contract * (2 if options["set_points"] == "minus" else 1)
    bags = max(0, wanted - mine.need) if reachable else 0
    return chance * gain + bags * reading.bag_worth > 0 and chance > 0
