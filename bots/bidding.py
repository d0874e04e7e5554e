"""Bids: how many tricks the hand takes, and which promise is worth most then."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from math import ceil, erf, sqrt
from typing import Any

from bots import outlook
from bots.drawing import hand_value
from bots.reading import Contract, Reading

__all__ = ["decide", "look"]

PLAYED_PART = 0.65
"""How much the deal as played out in the head counts against the sum of the cards' values. Measured against perfect
play of 4,000 drawn deals: played out within 0.64 tricks, by values 0.82, both together 0.57 (standard deviations)."""

WORLDS = 6, 24
"""Worlds in which a bid is played out: for two players, and for more, who know less of each other."""

ERROR = 0.5, 0.6
"""Standard deviation of the estimate, in tricks, that a bid allows for: for two players, and for more. Found in play:
for two, 0.8 and more win fewer games; 0.4 to 0.6 do not differ by more than 400 games could show."""

PARTNER_ERROR, PARTNER_MORE = 0.6, 0.6
"""What a partner who has bid takes: so many more tricks than it bid, give or take."""

HAND_MORE = 0.0, 0.3
"""What a hand takes beyond the estimate, for two players, and for more."""

LEFT_OVER, BID_MORE = 0.35, 0.6
"""How much the tricks that the others leave over weigh against our own estimate once all of them have bid, if each
takes so many more than it bid."""

DUCKED = 0.4
"""The part of the tricks beyond a contract that good play gets rid of."""

NIL_AT_MOST = 4.0
"""Tricks up to which a hand is looked at for nil."""

NIL_TRICKS = 2
"""Tricks that a nil which fails usually takes."""

NIL_HOLDS = 0.6, 0.8
"""How often a nil holds that holds when the deal is played out in the head: alone, and covered by a partner."""

SUICIDE = 60
"""What a nil saves besides where one of two partners must bid it: the other's would fail two times in three."""

DESPERATE = 100
"""Points below the target from which a side may end the game in one deal."""

NEVER = float("-inf")


def look(reading: Reading) -> dict[str, Any]:
    """Look at the hand, unless a blind nil is the last hope: the best side is about to win, and we are far behind.

    A hand that nobody has seen is a nil one time in five or so, so it costs more than it brings at any other time.
    """
    legal, options = reading.view["turn"]["legal"], reading.options
    if {"look": True} not in legal:
        return _forced_blind(reading)
    best = max(reading.sides[contract.side].score for contract in reading.rivals)
    nils = any("tricks" not in bid for seat, bid in reading.bids.items() if reading.friend(seat))
    hopeless = best - reading.standing.score >= options["blind_nil_success"]
    if {"kind": "blind_nil"} in legal and not nils and hopeless and best >= options["target_score"] - DESPERATE:
        return {"kind": "blind_nil"}
    return {"look": True}


def _forced_blind(reading: Reading) -> dict[str, Any]:
    """The number nearest to a fair share of the tricks, or a blind nil when nothing else is left."""
    share = reading.options["hand_size"] / len(reading.seats)
    legal = reading.view["turn"]["legal"]
    bid: dict[str, Any] = min(legal, key=lambda bid: abs(bid["tricks"] - share) if "tricks" in bid else 99)
    return dict(bid)


def decide(reading: Reading, rng: random.Random) -> dict[str, Any]:
    """Choose the bid that is expected to bring most points, or the one that the score asks for."""
    legal = [bid for bid in reading.view["turn"]["legal"] if bid.get("kind") in ("number", "nil")]
    if not legal:
        return look(reading)
    if len(legal) == 1:
        return dict(legal[0])
    expected = expected_tricks(reading, rng)
    worth = {place: _worth(reading, rng, bid, expected) for place, bid in enumerate(legal)}
    best = legal[max(worth, key=lambda place: worth[place])]
    if best["kind"] == "number":
        wanted = _wanted(reading, expected, best["tricks"])
        best = next((bid for bid in legal if bid == {"kind": "number", "tricks": wanted}), best)
    return dict(best)


def expected_tricks(reading: Reading, rng: random.Random) -> float:
    """The tricks that this hand takes when all try to take as many as they can."""
    worlds = outlook.outcomes(reading, rng, taking=lambda _: True, worlds=_of(reading, WORLDS))
    played = sum(world[reading.me] for world in worlds) / len(worlds)
    if len(reading.seats) > 2:
        return played
    others = _rival_value(reading, rng)
    by_value = reading.options["hand_size"] / 2 + hand_value(reading, reading.hand) - others
    return float(PLAYED_PART * played + (1 - PLAYED_PART) * by_value)


def _rival_value(reading: Reading, rng: random.Random) -> float:
    """What the hand of the only other player is worth, on average of some that it may be."""
    if reading.out.bit_count() <= reading.held:
        return hand_value(reading, reading.out)
    place = 1 - reading.seats.index(reading.me)
    worlds = WORLDS[0]
    return sum(hand_value(reading, outlook.world(reading, rng)[place]) for _ in range(worlds)) / worlds


def _of(reading: Reading, pair: tuple[Any, Any]) -> Any:
    """The value for two players, or for more."""
    return pair[len(reading.seats) > 2]


def _worth(reading: Reading, rng: random.Random, bid: Mapping[str, Any], expected: float) -> float:
    """Points that a bid is expected to bring, bags at what they cost in the end."""
    if bid["kind"] == "nil":
        return _nil_worth(reading, rng, expected) if expected <= NIL_AT_MOST else NEVER
    before = reading.mine.promised
    partners = [seat for seat in reading.mine.seats if seat in reading.bids and "tricks" in reading.bids[seat]]
    promised = before + bid["tricks"]
    hand = expected + _of(reading, HAND_MORE)
    if len(reading.seats) > 2:
        known = sum(seat in reading.bids for seat in reading.seats if seat != reading.me) / (len(reading.seats) - 1)
        hand += known * LEFT_OVER * (_left_over(reading) - hand)
    able = hand + before + PARTNER_MORE * len(partners)
    if _is_moon(reading, promised) and able < promised - 0.25:
        return NEVER  # only when it is as good as certain
    error = sqrt(_of(reading, ERROR) ** 2 + len(partners) * PARTNER_ERROR**2)
    chances = _chances(able, error, reading.options["hand_size"])
    return sum(chance * _points(reading, promised, tricks) for tricks, chance in chances)


def _left_over(reading: Reading) -> float:
    """The tricks that the other seats leave to us if each takes somewhat more than it bid."""
    players, tricks = len(reading.seats), reading.options["hand_size"]
    left = float(tricks)
    for seat in reading.seats:
        if seat == reading.me:
            continue
        bid = reading.bids.get(seat)
        left -= tricks / players if bid is None else bid["tricks"] + BID_MORE if "tricks" in bid else 0.0
    return left


def _chances(expected: float, error: float, most: int) -> Iterator[tuple[int, float]]:
    """Each number of tricks that we may be able to take, and how likely that is."""
    below = 0.0
    for tricks in range(most + 1):
        upto = 0.5 * (1 + erf((tricks + 0.5 - expected) / error / sqrt(2))) if tricks < most else 1.0
        yield tricks, upto - below
        below = upto


def _is_moon(reading: Reading, tricks: int) -> bool:
    return bool(tricks == reading.options["hand_size"] and reading.options["moon"] == "bid_all")


def _points(reading: Reading, promised: int, able: int) -> float:
    """Points of a contract for those who are able to take so many tricks."""
    options = reading.options
    bags = (able - promised) * (1 - DUCKED) * reading.bag_worth
    if _is_moon(reading, promised):
        if able == promised:
            won = options["moon_success"]
            return float(options["target_score"] if won == "win" else won)
        if options["moon_fail"] == "tricks_as_bags":
            return able * reading.bag_worth
    if promised == 10 and options["ten_for_200"] != "off":
        if able < promised:
            return float(options["ten_fail"])
        return float(options["ten_success"]) + (bags if options["ten_for_200"] == "at_least" else 0.0)
    contract = float(options["points_per_bid"] * promised)
    if able < promised:
        return -contract if options["set_points"] == "minus" else 0.0
    return contract + bags


def _nil_worth(reading: Reading, rng: random.Random, expected: float) -> float:
    """Points that nil is expected to bring: played out in the head it must hold, and even then it is far from sure.

    Two players: against a side that has yet to bid the tricks that we do not take are worth as much as any, for it bids
    for all of them. With a partner: what it bid for us both to make, it has to make alone.
    """
    options = reading.options
    worlds = outlook.outcomes(
        reading, rng, taking=lambda seat: seat != reading.me if reading.partners else False, worlds=_of(reading, WORLDS)
    )
    sure = NIL_HOLDS[bool(reading.partners)]
    holds = sure * sum(not world[reading.me] for world in worlds) / len(worlds)
    bags = NIL_TRICKS if options["failed_nil_tricks"] in ("bags", "bags_no_points") else 0
    worth: float = holds * options["nil_success"] + (1 - holds) * (options["nil_fail"] + bags * reading.bag_worth)
    if len(reading.seats) == 2 and not all(contract.known for contract in reading.rivals):
        worth -= options["points_per_bid"] * options["hand_size"] / 2
    before = reading.mine.promised
    if options["bid_rule"] == "suicide":
        worth += SUICIDE
    if before:
        chances = _chances(before + PARTNER_MORE - expected / 4, PARTNER_ERROR, options["hand_size"])
        worth += sum(chance * _points(reading, before, tricks) for tricks, chance in chances)
    return worth


def _wanted(reading: Reading, expected: float, tricks: int) -> int:
    """The number to bid when the score decides: one trick less when that wins, or one more when nothing else may.

    To bid much less than the hand is worth does not pay even then: the tricks beyond it are bags, and a penalty for
    them takes the victory back. Measured in 400 games each: whoever bids no more than suffices, however little that
    is, wins 9 games in 100 fewer, and whoever also stretches without limit 12.
    """
    options, mine = reading.options, reading.mine
    per_trick, target = options["points_per_bid"], options["target_score"]
    if any(seat not in reading.bids for seat in mine.seats if seat != reading.me):
        return tricks  # a partner has yet to bid, who will know better
    rival = max(reading.rivals, key=lambda contract: reading.sides[contract.side].score)
    theirs = reading.sides[rival.side].score + per_trick * _rival_tricks(reading, rival, expected)
    enough: int = ceil((max(target, theirs + 1) - reading.standing.score) / per_trick) - mine.promised
    limit = options["bag_limit"]
    carried = reading.standing.bags
    if enough == tricks - 1 and (not limit or carried + ceil(expected) - enough + 1 < limit):
        return enough
    if enough == tricks + 1 and rival.promised and theirs >= target and not _is_moon(reading, mine.promised + enough):
        return enough
    return tricks


def _rival_tricks(reading: Reading, rival: Contract, expected: float) -> int:
    """The tricks that another side bid, or, before it has, those that it can hope for."""
    if rival.promised and rival.known:
        return rival.promised
    tricks: float = reading.options["hand_size"]
    return ceil((tricks - expected - reading.mine.promised) / len(reading.rivals))
