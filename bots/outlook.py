"""What a hand is likely to take: the rest of a deal played out in the head, with the cards that the others may hold.

Where every card is known, as at the end of a draw with all discards face up, there is one such world. Else some are
drawn by lot from the cards that are not accounted for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bots import drawing, policy
from bots.deck import Deck, bits
from bots.reading import Reading

__all__ = ["outcomes", "world"]

WORLDS = 6
"""How many worlds are looked at when the cards are not all known."""


def outcomes(
    reading: Reading, rng: random.Random, *, taking: Callable[[str], bool], worlds: int = WORLDS
) -> list[dict[str, int]]:
    """The tricks that each seat still takes, once for each world.

    Args:
        taking: whether a seat tries to win its tricks; else it tries to lose them.
    """
    seats = reading.seats
    known = len(seats) == 2 and reading.out.bit_count() <= reading.held
    aims = [taking(seat) for seat in seats]
    results = []
    for _ in range(1 if known else worlds):
        hands = (
            [reading.hand if seat == reading.me else reading.out for seat in seats] if known else world(reading, rng)
        )
        results.append(dict(zip(seats, _play_out(reading, seats, hands, aims), strict=True)))
    return results


def world(reading: Reading, rng: random.Random) -> list[int]:
    """Hands that may be, by place: ours, and the others' by lot from what is left, as far as voids allow it."""
    cards = list(bits(reading.out))
    rng.shuffle(cards)
    if reading.options["deal_method"] == "draw":
        cards = _drawn(reading, cards)
    room = {seat: count for seat, count in reading.counts.items() if seat != reading.me}
    hands = dict.fromkeys(reading.seats, 0)
    hands[reading.me] = reading.hand
    voids = reading.voids
    if any(voids[seat] for seat in room):  # cards that few may hold are given first
        barred = {card: sum(bool(voids[seat] & card) for seat in room) for card in cards}
        cards.sort(key=lambda card: -barred[card])
        spare = len(cards) - reading.held
        for card in cards:
            seats = [seat for seat, left in room.items() if left and not voids[seat] & card]
            if not seats or (spare and rng.random() * len(cards) < spare):
                continue
            seat = seats[0] if len(seats) == 1 else max(seats, key=lambda seat: room[seat] * rng.random())
            hands[seat] |= card
            room[seat] -= 1
        cards = [card for card in cards if not any(hand & card for hand in hands.values())]
    for seat, count in room.items():
        hands[seat] += sum(cards[:count])
        del cards[:count]
    return [hands[seat] for seat in reading.seats]


def _drawn(reading: Reading, cards: list[int]) -> list[int]:
    """Cards that nobody has accounted for, those first that a player who draws them two by two is likely to keep."""
    mean = drawing.hand_value(reading, reading.out) / max(1, len(cards))
    kept, thrown = [], []
    for first, second in zip(cards[::2], cards[1::2], strict=False):
        keep = drawing.card_value(reading, first) >= mean
        kept.append(first if keep else second)
        thrown.append(second if keep else first)
    return kept + thrown + cards[2 * len(kept) :]


def _play_out(  # noqa: PLR0912 -- the inner loop of every bid: calls would cost more than it does
    reading: Reading, seats: Sequence[str], hands: list[int], aims: Sequence[bool]
) -> list[int]:
    deck, options, players = reading.deck, reading.options, len(seats)
    suit_of, spades = deck.suit_of, deck.spades
    broken = reading.broken
    taken = [0] * players
    trick = [card for _, card in reading.trick]
    leader = seats.index(reading.leader)
    wanted = any(aims)
    size = max(hand.bit_count() for hand in hands)
    first = size == options["hand_size"]
    while True:
        best = 0
        winner = leader
        for place, card in enumerate(trick):
            if not best or policy.beating(deck, card, best):
                best, winner = card, (leader + place) % players
        for place in range(len(trick), players):
            turn = (leader + place) % players
            hand = hands[turn]
            if not hand:
                return taken
            out = sum(hands) - hand
            if best:
                legal = hand & suit_of[trick[0]] or hand
                last = place == players - 1
                if aims[turn]:
                    card = policy.follow_to_take(deck, hand, legal, best, out, last=last)
                else:
                    card = policy.follow_to_lose(deck, legal, best, out, last=last)
            else:
                legal = leads(deck, options, hand, broken=broken, first=first)
                if aims[turn]:
                    card = policy.lead_to_take(deck, hand, legal, out, 1.0)
                else:
                    card = policy.lead_to_lose(deck, legal, out, 1.0, wanted=wanted)
            hands[turn] = hand ^ card
            trick.append(card)
            if card > best and (not best or card & (suit_of[best] | spades)):
                best, winner = card, turn
            if card & spades:
                broken = True
        taken[winner] += 1
        leader, trick, first = winner, [], False


def leads(deck: Deck, options: Mapping[str, Any], hand: int, *, broken: bool, first: bool) -> int:
    """The cards of a hand that may be led under these options."""
    others = hand & ~deck.spades
    if not others:
        return hand
    if first and options["first_lead"] == "no_spade":
        return others
    rule = options["spade_lead"]
    held_back = not broken if rule == "when_broken" else first and rule == "after_first_trick"
    return others if held_back else hand
