"""Bids: how many tricks the hand takes, and which promise is worth most then."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from math import ceil, erf, sqrt
from typing import Any

from bots import outlook
from bots.drawing import hand_value
from bots.reading import Reading, SideNeed

__all__ = ["decide"]

PLAYED_PART = 0.65
"""How much the deal as played out in the head counts against the sum of the cards' values. Measured against perfect
play of 4,000 drawn deals: played out within 0.64 tricks, by values 0.82, both together 0.57 (standard deviations)."""

ERROR = 0.5
"""Standard deviation of the estimate, in tricks, that a bid allows for. Found in play: 0.8 and more win fewer games;
0.4 to 0.6 do not differ by more than 400 games could show."""

DUCKED = 0.4
"""The part of the tricks beyond a contract that good play gets rid of."""

NIL_AT_MOST = 4.0
"""Tricks up to which a hand is looked at for nil."""

NIL_TRICKS = 2
"""Tricks that a nil which fails usually takes."""

NIL_HOLDS = 0.6
"""How often a nil holds that holds when the deal is played out in the head."""

NEVER = float("-inf")


def decide(reading: Reading, rng: random.Random) -> dict[str, Any]:
    """Choose the bid that is expected to bring most points, or the one that the score asks for."""
    legal = reading.view["turn"]["legal"]
    expected = expected_tricks(reading, rng)
    best = max(legal, key=lambda bid: _worth(reading, rng, bid, expected))
    if best["kind"] == "number":
        wanted = _wanted(reading, expected, best["tricks"])
        best = next((bid for bid in legal if bid == {"kind": "number", "tricks": wanted}), best)
    return dict(best)


def expected_tricks(reading: Reading, rng: random.Random) -> float:
    """The tricks that this hand takes when all try to take as many as they can."""
    players = len(reading.side_of)
    others = hand_value(reading, reading.out) * reading.share / (players - 1)
    by_value = reading.options["hand_size"] / players + hand_value(reading, reading.hand) - others
    worlds = outlook.outcomes(reading, rng, taking=lambda _: True)
    played = sum(world[reading.me] for world in worlds) / len(worlds)
    return float(PLAYED_PART * played + (1 - PLAYED_PART) * by_value)


def _worth(reading: Reading, rng: random.Random, bid: Mapping[str, Any], expected: float) -> float:
    """Points that a bid is expected to bring, bags at what they cost in the end."""
    if bid["kind"] == "nil":
        return _nil_worth(reading, rng) if expected <= NIL_AT_MOST else NEVER
    if bid["kind"] != "number":
        return NEVER  # a blind bid, after the hand was seen
    tricks = bid["tricks"]
    if _is_moon(reading, tricks) and expected < tricks - 0.25:
        return NEVER  # only when it is as good as certain
    return sum(
        chance * _points(reading, tricks, able) for able, chance in _chances(expected, reading.options["hand_size"])
    )


def _chances(expected: float, most: int) -> Iterator[tuple[int, float]]:
    """Each number of tricks that the hand may be able to take, and how likely that is."""
    below = 0.0
    for tricks in range(most + 1):
        upto = 0.5 * (1 + erf((tricks + 0.5 - expected) / ERROR / sqrt(2))) if tricks < most else 1.0
        yield tricks, upto - below
        below = upto


def _is_moon(reading: Reading, tricks: int) -> bool:
    return bool(tricks == reading.options["hand_size"] and reading.options["moon"] == "bid_all")


def _points(reading: Reading, bid: int, able: int) -> float:
    """Points of a number bid with a hand that is able to take so many tricks."""
    options = reading.options
    if _is_moon(reading, bid):
        if able == bid:
            won = options["moon_success"]
            return float(options["target_score"] if won == "win" else won)
        if options["moon_fail"] == "tricks_as_bags":
            return able * reading.bag_worth
    contract = float(options["points_per_bid"] * bid)
    if able < bid:
        return -contract if options["set_points"] == "minus" else 0.0
    return contract + (able - bid) * (1 - DUCKED) * reading.bag_worth


def _nil_worth(reading: Reading, rng: random.Random) -> float:
    """Points that nil is expected to bring: played out in the head it must hold, and even then it is far from sure.

    Against a side that has yet to bid the tricks that we do not take are worth as much as any: it bids for all of them.
    """
    options = reading.options
    worlds = outlook.outcomes(reading, rng, taking=lambda _: False)
    holds = NIL_HOLDS * sum(not world[reading.me] for world in worlds) / len(worlds)
    bags = NIL_TRICKS if options["failed_nil_tricks"] in ("bags", "bags_no_points") else 0
    worth: float = holds * options["nil_success"] + (1 - holds) * (options["nil_fail"] + bags * reading.bag_worth)
    if any(seat["bid"] is None for seat in reading.view["seats"] if reading.side_of[seat["seat"]] != _side(reading)):
        worth -= options["points_per_bid"] * options["hand_size"] / 2
    return worth


def _side(reading: Reading) -> str:
    return reading.side_of[reading.me]


def _wanted(reading: Reading, expected: float, tricks: int) -> int:
    """The number to bid when the score decides: one trick less when that wins, or one more when nothing else may.

    To bid much less than the hand is worth does not pay even then: the tricks beyond it are bags, and a penalty for
    them takes the victory back. Measured in 400 games each: whoever bids no more than suffices, however little that
    is, wins 9 games in 100 fewer, and whoever also stretches without limit 12.
    """
    options, mine = reading.options, reading.my_side
    per_trick, target = options["points_per_bid"], options["target_score"]
    rival = max((side for side in reading.sides.values() if side is not mine), key=lambda side: side.score)
    theirs = rival.score + per_trick * _rival_tricks(reading, rival, expected)
    enough: int = ceil((max(target, theirs + 1) - mine.score) / per_trick)
    limit = options["bag_limit"]
    if enough == tricks - 1 and (not limit or mine.bags + ceil(expected) - enough + 1 < limit):
        return enough
    if enough == tricks + 1 and rival.contract and theirs >= target and not _is_moon(reading, enough):
        return enough
    return tricks


def _rival_tricks(reading: Reading, rival: SideNeed, expected: float) -> int:
    """The tricks that another side bid, or, before it has, those that it can hope for."""
    return rival.contract or ceil(reading.options["hand_size"] - expected)
