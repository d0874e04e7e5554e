"""Cards: what a trick is to us now, and with that the card.

A player takes tricks until its contract is made and then ducks, because a bag costs more than it brings; unless the
others can still be kept from their contract. A nil is kept by losing every trick, a partner's by winning over its
cards, and another side's is broken by making it win one.
"""

from __future__ import annotations

import random
from typing import Any

from bots import outlook, policy
from bots.reading import Contract, Reading

__all__ = ["decide"]

SPARE = 1
"""Tricks beyond the contract that must be left for an attack on a nil."""

DECISIVE = 500
"""Points that a trick is worth which decides the game."""

OVERTAKES = 0.25
"""How much likelier than a partner's card ours must be to win before it is played over it."""

SECOND_HAND = 0.6
LIKELY = 0.3
"""How likely a card must be to win before it is played with others still to come and no partner among them."""


def decide(reading: Reading, rng: random.Random) -> dict[str, Any]:
    """Choose a card."""
    bits_of = reading.deck.bits_of
    codes = {body["card"] for body in reading.view["turn"]["legal"]}
    legal = sum(bit for code in codes for bit in bits_of[code] if bit & reading.hand)
    card = legal if not legal & (legal - 1) else _card(reading, legal, rng)
    return {"card": reading.deck.code_of[card]}


def _card(reading: Reading, legal: int, rng: random.Random) -> int:
    if reading.me in reading.nils:
        return _lose(reading, legal)
    choice = 0
    if any(seat in reading.nils for seat in reading.partners):
        choice = _cover(reading, legal)
    if not choice and any(not reading.friend(seat) for seat in reading.nils):
        choice = _attack(reading, legal)
    if choice:
        return choice
    return _win(reading, legal) if _takes(reading, rng) else _lose(reading, legal)


# Winning a trick, and losing it.


def _win(reading: Reading, legal: int) -> int:
    deck, hand, out = reading.deck, reading.hand, reading.out
    if not reading.trick:
        if reading.partners:
            return policy.lead_with_partner(deck, hand, legal, out, _voids(reading, friends=False))
        return policy.lead_to_take(deck, hand, legal, out, reading.share)
    best, winner = policy.winning(deck, reading.trick)
    waiting = reading.waiting
    winners = policy.beating(deck, legal, best)
    if not winners:
        return policy.throw(deck, legal, out)
    follows = bool(winners & deck.suit_of[reading.trick[0][1]])
    top = policy.highest(winners) if follows else policy.lowest(winners)
    chance = _holds(reading, top)
    if winner in reading.mine.seats and winner not in reading.nils:
        if not waiting or _holds(reading, best) + OVERTAKES > chance:
            return policy.throw(deck, legal, out)
    elif not waiting:
        return policy.lowest(winners)
    elif follows:
        partner_waits = any(seat in reading.mine.seats and seat not in reading.nils for seat in waiting)
        if chance < (SECOND_HAND if partner_waits else LIKELY):
            return policy.throw(deck, legal, out)
    return policy.equal_to(legal, top, out) if follows else top


def _holds(reading: Reading, card: int) -> float:
    """How likely a card that wins so far is to win against the other sides' seats that are still to play."""
    deck = reading.deck
    foes = [seat for seat in reading.waiting if not reading.friend(seat)]
    above = (reading.out & deck.suit_of[card] & -(card << 1)).bit_count()
    others = len(reading.seats) - 1
    return float((1 - len(foes) / others * reading.share) ** above)


def _lose(reading: Reading, legal: int) -> int:
    deck, out = reading.deck, reading.out
    if not reading.trick:
        if len(reading.seats) > 2:
            return policy.lead_low(deck, legal, out)
        return policy.lead_to_lose(deck, legal, out, reading.share, wanted=_others_want(reading))
    best, _ = policy.winning(deck, reading.trick)
    return policy.follow_to_lose(deck, legal, best, out, last=not reading.waiting)


def _others_want(reading: Reading) -> bool:
    """Whether some other side still has tricks to take."""
    return any(contract.need > 0 for contract in reading.rivals)


def _voids(reading: Reading, *, friends: bool) -> int:
    """The suits in which a partner, or a seat of another side, has just shown to hold nothing."""
    mask = 0
    for seat, void in reading.voids.items():
        if seat != reading.me and reading.friend(seat) == friends:
            mask |= void
    return mask


# Nils of others.


def _cover(reading: Reading, legal: int) -> int:
    """The card that keeps a partner's nil out of a trick; 0 when it needs none."""
    deck, out = reading.deck, reading.out
    nils = [seat for seat in reading.partners if seat in reading.nils]
    if not reading.trick:
        return policy.lead_to_cover(deck, legal, out, _voids(reading, friends=True))
    best, winner = policy.winning(deck, reading.trick)
    winners = policy.beating(deck, legal, best)
    if not winners:
        return 0
    if winner in nils:
        return policy.highest(winners) if reading.waiting else policy.lowest(winners)
    if not any(seat in reading.waiting for seat in nils):
        return 0
    led = deck.suit_of[reading.trick[0][1]]
    if best & ~led or not out & led & -(best << 1):
        return 0  # nothing that must follow can win any more
    if not winners & led:
        return policy.lowest(winners)
    return policy.equal_to(legal, policy.highest(winners), out)


def _attack(reading: Reading, legal: int) -> int:
    """The card that makes another side's nil win a trick; 0 when that cannot be, or our contract needs the trick."""
    deck = reading.deck
    left = reading.hand.bit_count()
    if left - reading.mine.need < SPARE:
        return 0
    nils = [seat for seat in reading.nils if not reading.friend(seat)]
    if not reading.trick:
        return policy.lead_low(deck, legal, reading.out)
    best, winner = policy.winning(deck, reading.trick)
    if winner not in nils and not any(seat in reading.waiting for seat in nils):
        return 0
    losers = legal & ~policy.beating(deck, legal, best)
    if losers:
        return policy.follow_to_lose(deck, legal, best, reading.out, last=not reading.waiting)
    return 0 if winner in nils else policy.lowest(legal)


# Whether a trick is wanted.


def _takes(reading: Reading, rng: random.Random) -> bool:
    """Whether to try to win this trick."""
    mine = reading.mine
    spoiled = reading.bids.get(reading.me, {}).get("kind") in ("nil", "blind_nil") and len(mine.seats) > 1
    if spoiled and reading.options["failed_nil_tricks"] != "help_partner":
        return False  # a trick more would be taken from the partner
    left = reading.hand.bit_count()
    reachable = mine.need <= left
    if reachable and mine.need and mine.need > _sure(reading):
        return True
    if _sets(reading, rng, left, reachable=reachable):
        return True
    return _bag_price(reading, left) >= 0 and (reachable or mine.promised == 0)


def _sure(reading: Reading) -> int:
    """Tricks that the hand takes whatever is played: its spades above all others."""
    spades = reading.deck.spades
    return policy.masters(reading.hand & spades, reading.out & spades).bit_count()


def _sets(reading: Reading, rng: random.Random, left: int, *, reachable: bool) -> bool:
    """Whether to make another side miss its contract, because that is worth more than the bags cost."""
    options, mine = reading.options, reading.mine
    targets = [contract for contract in reading.rivals if 0 < contract.need <= left]
    if not targets:
        return False
    worlds = outlook.outcomes(reading, rng, taking=lambda _: True)
    target = max(targets, key=lambda contract: contract.need)
    chance = sum(sum(world[seat] for seat in target.seats) < target.need for world in worlds) / len(worlds)
    if not chance:
        return False
    gain: int = options["points_per_bid"] * target.promised * (2 if options["set_points"] == "minus" else 1)
    if _decides(reading, target):
        gain = DECISIVE
    ours = sum(sum(world[seat] for seat in mine.seats) for world in worlds) / len(worlds)
    bags = max(0.0, ours - mine.need) if reachable else 0.0
    return chance * gain + bags * _bag_price(reading, left) > 0


def _projected(reading: Reading, contract: Contract) -> int:
    """The score of a side if this contract is made."""
    points: int = reading.options["points_per_bid"] or 0
    return reading.sides[contract.side].score + points * contract.promised


def _decides(reading: Reading, rival: Contract) -> bool:
    """Whether a rival that makes its contract has won the game."""
    theirs = _projected(reading, rival)
    target: int = reading.options["target_score"]
    return target <= theirs > _projected(reading, reading.mine)


def _bag_price(reading: Reading, left: int) -> float:
    """What one more bag is worth: when making the contract wins, what counts is only whether bags can undo that."""
    options, standing = reading.options, reading.standing
    ours, target = _projected(reading, reading.mine), options["target_score"]
    rivals = [_projected(reading, contract) for contract in reading.rivals]
    if options["score_mode"] == "contract" and ours >= target and ours > max(rivals, default=0):
        over = max(0, reading.mine.taken - reading.mine.promised)
        full = options["bag_limit"] and standing.bags + over + left >= options["bag_limit"]
        return float(-DECISIVE) if full else float(options["bag_points"])
    return reading.bag_worth
