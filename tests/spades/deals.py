"""Hypothesis strategies for rulesets that differ in how they score, and for deals that such a table may have had."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from spades import PRESETS, Bid, BidKind, Ruleset, RulesetError, SideBefore
from spades.bidding import bids_refusal
from spades.seats import table

SCORED: dict[str, st.SearchStrategy[Any]] = {
    "bid_mode": st.sampled_from(["individual_sum", "partnership", "individual"]),
    "failed_nil_tricks": st.sampled_from(["bags", "help_partner", "bags_no_points", "ignored"]),
    "both_nil": st.sampled_from(["independent", "joint"]),
    "both_nil_success": st.sampled_from([200, 350]),
    "both_nil_fail": st.sampled_from([0, -200]),
    "nil_fail": st.sampled_from([0, -50, -100]),
    "blind_nil": st.sampled_from(["any", "behind"]),
    "blind_bid_min": st.sampled_from([1, 4, 6]),
    "blind_bid_multiplier": st.integers(1, 3),
    "moon": st.just("bid_all"),
    "moon_success": st.sampled_from([200, 250, "win"]),
    "moon_fail": st.sampled_from(["contract_set", "tricks_as_bags"]),
    "ten_for_200": st.sampled_from(["exact", "at_least"]),
    "ten_fail": st.sampled_from([-200, -100]),
    "set_points": st.sampled_from(["minus", "zero"]),
    "bag_points": st.sampled_from([1, 0, -10]),
    "bag_limit": st.sampled_from([0, 5, 7, 10]),
    "bag_carry": st.sampled_from(["remainder", "reset"]),
    "bag_penalty": st.sampled_from([50, 100]),
    "points_per_bid": st.sampled_from([5, 10]),
    "first_hand_bids_itself": st.booleans(),
    "losing_score": st.sampled_from([-200, -500]),
    "max_hands": st.integers(1, 8),
    "set_limit": st.integers(1, 3),
    "tie_rule": st.sampled_from(["play_another", "shared"]),
}


@st.composite
def rulesets(draw: st.DrawFn) -> Ruleset:
    """Any preset, with a few of the options that bear on scores changed."""
    preset = draw(st.sampled_from(sorted(PRESETS)))
    changed = draw(st.lists(st.sampled_from(sorted(SCORED)), max_size=6, unique=True))
    flat = {"preset": preset, **{name: draw(SCORED[name]) for name in changed}}
    if "moon" in flat:
        flat.setdefault("moon_success", 250)
        flat.setdefault("moon_fail", "contract_set")
    try:
        return Ruleset.resolve(flat)
    except RulesetError:
        assume(False)
        raise


@st.composite
def parted(draw: st.DrawFn, total: int, ways: int) -> list[int]:
    """A way to share out so many tricks, often with nothing for some."""
    cuts = sorted(draw(st.lists(st.integers(0, total), min_size=ways - 1, max_size=ways - 1)))
    shares = [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]
    return draw(st.permutations(shares))


@st.composite
def bids_for(draw: st.DrawFn, ruleset: Ruleset) -> dict[str, Bid]:
    """Bids that may have been made at such a table; none where nobody bids."""
    if ruleset.bid_mode == "none":
        return {}
    seats = table(ruleset.players, ruleset.teams)
    nil = ruleset.nil_success is not None
    if ruleset.bid_rule == "mirror":
        counts = draw(parted(ruleset.hand_size, ruleset.players))
        return {seat: Bid.number(n) if n else Bid.nil() for seat, n in zip(seats.seats, counts, strict=True)}
    kinds = [BidKind.NUMBER] * 3 + [BidKind.NIL] * nil + [BidKind.BLIND_NIL] * (nil and ruleset.blind_nil != "off")
    most = ruleset.max_bid or 0
    usual = max(1, ruleset.hand_size // ruleset.players)
    numbers = st.one_of(st.integers(0, usual + 2), st.integers(0, most), st.sampled_from([most, min(most, 10)]))
    bids: dict[str, Bid] = {}
    for side in seats.sides:
        partners = seats.seats_of(side)
        blind = ruleset.blind_bid_min is not None and draw(st.integers(0, 3)) == 0
        lone_nil = draw(st.sampled_from(partners)) if ruleset.bid_rule == "suicide" else None
        if draw(st.integers(0, 3)) == 0:  # a contract that may be special
            total = draw(st.sampled_from([min(10, ruleset.hand_size), ruleset.hand_size]))
            shares = [total] if draw(st.booleans()) else draw(parted(total, len(partners)))
            shares += [0] * (len(partners) - len(shares))
            number = BidKind.BLIND if blind else BidKind.NUMBER
            bids.update({seat: Bid(number, n) if n else Bid.nil() for seat, n in zip(partners, shares, strict=True)})
            continue
        for seat in partners:
            kind = BidKind.BLIND if blind else draw(st.sampled_from(kinds))
            if lone_nil is not None:
                kind = BidKind.NIL if seat == lone_nil else BidKind.NUMBER
            bids[seat] = Bid(kind) if kind in (BidKind.NIL, BidKind.BLIND_NIL) else Bid(kind, draw(numbers))
    return {seat: bids[seat] for seat in seats.seats}


@st.composite
def standings(draw: st.DrawFn, ruleset: Ruleset) -> dict[str, SideBefore]:
    """Where the sides may stand before a deal."""
    limit = ruleset.bag_limit or 20
    side = st.builds(SideBefore, st.integers(-300, 499), st.integers(0, limit - 1), st.integers(0, 3))
    return {name: draw(side) for name in table(ruleset.players, ruleset.teams).sides}


@st.composite
def deals(draw: st.DrawFn) -> tuple[Ruleset, dict[str, SideBefore], dict[str, Bid], dict[str, int]]:
    """A ruleset, a standing, and the bids and tricks of a deal; in the second deal, so that seats bid."""
    ruleset = draw(rulesets())
    before, bids = draw(standings(ruleset)), draw(bids_for(ruleset))
    assume(bids_refusal(ruleset, bids, {side: standing.score for side, standing in before.items()}) is None)
    return ruleset, before, bids, draw(tricks_for(ruleset, bids))


@st.composite
def tricks_for(draw: st.DrawFn, ruleset: Ruleset, bids: dict[str, Bid]) -> dict[str, int]:
    """Tricks of each seat; in every other deal some seats make their bids exactly."""
    seats = table(ruleset.players, ruleset.teams).seats
    tricks, left = dict.fromkeys(seats, 0), ruleset.hand_size
    if draw(st.booleans()):
        for seat in draw(st.permutations(seats)):
            tricks[seat] = min(left, bids[seat].tricks if seat in bids else 0)
            left -= tricks[seat]
    for seat, more in zip(seats, draw(parted(left, len(seats))), strict=True):
        tricks[seat] += more
    return tricks
