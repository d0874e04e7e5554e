"""The score of one deal: cases worked by hand, what is refused, and what holds for every deal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spades import (
    Adjustment,
    Bid,
    BidKind,
    NotationError,
    Reason,
    Ruleset,
    RuleViolation,
    SideBefore,
    score_deal,
)
from spades.bidding import bids_refusal, bids_refusals, with_blind_sides
from spades.scoring import DealScore, Line
from spades.seats import table
from tests.spades.deals import deals
from tests.spades.plain_scores import plain_deal


def rules(preset: str = "standard", **options: Any) -> Ruleset:
    return Ruleset.resolve({"preset": preset, **options})


def read(*texts: str | int) -> dict[str, Bid]:
    """The bids of N E S W, or of as many other seats as there are texts."""
    seats = "NESW" if len(texts) == 4 else "ABCDEF"
    return {seat: Bid.parse(str(text)) for seat, text in zip(seats, texts, strict=False)}


def took(*counts: int) -> dict[str, int]:
    return dict(zip("NESW" if len(counts) == 4 else "ABCDEF", counts, strict=False))


def lines(score: DealScore, side: str) -> list[tuple[str, int, str]]:
    return [(line.what, line.points, line.rule) for line in score.sides[side].lines]


# Worked by hand.


def test_partners_scored_apart_are_told_seat_by_seat_and_carry_bags_together() -> None:
    ruleset = rules("bicycle", teams="pairs", set_points="minus")
    before = {"NS": SideBefore(100, 9)}

    side = score_deal(ruleset, before, read(3, 3, 4, 3), took(5, 3, 2, 3)).sides["NS"].to_json()

    assert side == {
        "contract": -10,
        "bag_points": 2,
        "bag_penalty": -100,
        "nil_points": 0,
        "special_points": 0,
        "delta": -108,
        "score": -8,
        "bags": 1,
        "set": True,
        "lines": [
            {"what": "contract", "points": 30, "rule": "contract"},
            {"what": "contract", "points": -40, "rule": "contract"},
            {"what": "bags", "points": 2, "rule": "bags"},
            {"what": "bag_penalty", "points": -100, "rule": "bags"},
        ],
        "seats": {
            "N": {
                "contract": 30,
                "bag_points": 2,
                "bag_penalty": 0,
                "nil_points": 0,
                "special_points": 0,
                "delta": 32,
                "score": None,
                "bags": 2,
                "set": False,
                "lines": [
                    {"what": "contract", "points": 30, "rule": "contract"},
                    {"what": "bags", "points": 2, "rule": "bags"},
                ],
            },
            "S": {
                "contract": -40,
                "bag_points": 0,
                "bag_penalty": 0,
                "nil_points": 0,
                "special_points": 0,
                "delta": -40,
                "score": None,
                "bags": 0,
                "set": True,
                "lines": [{"what": "contract", "points": -40, "rule": "contract"}],
            },
        },
    }


@pytest.mark.parametrize("options", [{}, {"teams": "none", "bid_mode": "individual"}])
def test_seats_are_told_only_where_partners_are_scored_apart(options: dict[str, Any]) -> None:
    score = score_deal(rules(**options), {}, read(3, 3, 4, 3), took(4, 3, 3, 3))

    assert ["seats" in side.to_json() for side in score.sides.values()] == [False] * len(score.sides)


@pytest.mark.parametrize(
    ("reading", "expected", "bags"),
    [
        ("bags", [("contract", -50, "contract"), ("bags", 1, "bags"), ("nil", -100, "nil")], 1),
        ("help_partner", [("contract", 50, "contract"), ("nil", -100, "nil")], 0),
        ("bags_no_points", [("contract", -50, "contract"), ("bags", 0, "bags"), ("nil", -100, "nil")], 1),
        ("ignored", [("contract", -50, "contract"), ("nil", -100, "nil")], 0),
    ],
)
def test_the_trick_of_a_failed_nil_is_read_in_four_ways(
    reading: str, expected: list[tuple[str, int, str]], bags: int
) -> None:
    score = score_deal(rules(failed_nil_tricks=reading), {}, read("nil", 4, 5, 4), took(1, 4, 4, 4))

    assert lines(score, "NS") == expected
    assert score.sides["NS"].bags == bags


def test_a_nil_scored_apart_from_its_partner_helps_nobody() -> None:
    ruleset = rules(bid_mode="individual", failed_nil_tricks="help_partner")

    score = score_deal(ruleset, {}, read("nil", 4, 5, 4), took(1, 4, 4, 4))

    assert lines(score, "NS") == [("contract", -50, "contract"), ("bags", 1, "bags"), ("nil", -100, "nil")]


BLIND = rules("joker_joker_deuce_deuce_tournament", bag_points=1)


@pytest.mark.parametrize(
    ("tricks", "expected"),
    [
        ((4, 3, 3, 3), [("contract", 60, "contract"), ("blind", 60, "blind"), ("bags", 1, "bags")]),
        ((3, 4, 2, 4), [("contract", -60, "contract"), ("blind", -60, "blind")]),
    ],
)
def test_a_blind_number_counts_double_won_or_lost_and_its_bags_once(
    tricks: tuple[int, ...], expected: list[tuple[str, int, str]]
) -> None:
    told_twice = score_deal(BLIND, {}, read("blind:3", 3, "blind:3", 3), took(*tricks))

    assert lines(told_twice, "NS") == expected
    assert told_twice == score_deal(BLIND, {}, read(3, 3, 3, 3), took(*tricks), blind_sides=["NS"])


def test_a_blind_ten_is_a_ten_and_doubled() -> None:
    score = score_deal(BLIND, {}, read("blind:6", 2, "blind:4", 2), took(6, 1, 4, 2))

    assert lines(score, "NS") == [("ten", 200, "ten"), ("blind", 200, "blind")]
    assert score.sides["NS"].contract == 400


@pytest.mark.parametrize(
    ("options", "tricks", "expected", "outright"),
    [
        ({"moon_success": 250, "moon_fail": "contract_set"}, (7, 0, 6, 0), [("moon", 250, "moon")], None),
        ({"moon_success": 250, "moon_fail": "contract_set"}, (7, 1, 5, 0), [("contract", -130, "contract")], None),
        ({"moon_success": 250, "moon_fail": "tricks_as_bags"}, (7, 1, 5, 0), [("bags", 12, "bags")], None),
        ({"moon_success": "win", "moon_fail": "contract_set"}, (7, 0, 6, 0), [("contract", 130, "contract")], "NS"),
        ({"moon_success": "win", "moon_fail": "contract_set"}, (7, 1, 5, 0), [("contract", -130, "contract")], None),
    ],
)
def test_a_moon_is_the_sum_of_the_bids(
    options: dict[str, Any], tricks: tuple[int, ...], expected: list[tuple[str, int, str]], outright: str | None
) -> None:
    score = score_deal(rules(moon="bid_all", bag_limit=0, **options), {}, read(7, 1, 6, 1), took(*tricks))

    assert lines(score, "NS") == expected
    assert score.moon == outright
    special, contract = (points := expected[0][1]) * (expected[0][0] == "moon"), points * (expected[0][0] == "contract")
    assert (score.sides["NS"].special_points, score.sides["NS"].contract) == (special, contract)


def test_the_lines_come_in_the_order_of_the_reckoning() -> None:
    ruleset = rules(moon="bid_all", moon_success=250, moon_fail="contract_set")
    adjustments = [Adjustment("NS", -25, "late"), Adjustment("EW", 5)]

    score = score_deal(
        ruleset, {"EW": SideBefore(0, 9)}, read(13, "nil", "nil", 1), took(12, 1, 0, 0), adjustments=adjustments
    )

    assert lines(score, "NS") == [
        ("contract", -130, "contract"),
        ("nil", 100, "nil"),
        ("adjustment", -25, "adjustments"),
    ]
    assert lines(score, "EW") == [
        ("contract", -10, "contract"),
        ("bags", 1, "bags"),
        ("nil", -100, "nil"),
        ("bag_penalty", -100, "bags"),
        ("adjustment", 5, "adjustments"),
    ]
    assert [side.score for side in score.sides.values()] == [-55, -204]


def test_a_first_hand_that_bids_itself_scores_every_trick_and_has_no_bags_or_set() -> None:
    ruleset = rules(first_hand_bids_itself=True, moon="bid_all", moon_success="win", moon_fail="contract_set")

    first = score_deal(ruleset, {"NS": SideBefore(0, 4)}, {}, took(7, 0, 6, 0), deal_number=1)
    later = score_deal(ruleset, {}, read(4, 3, 3, 3), took(4, 3, 3, 3), deal_number=2)

    assert lines(first, "NS") == [("contract", 130, "contract")]
    assert (first.sides["NS"].bags, first.sides["NS"].set, first.moon) == (4, None, None)
    assert first.closest_bidders == ()
    assert lines(later, "NS") == [("contract", 70, "contract")]
    assert score_deal(ruleset, {"NS": SideBefore(0, 4)}, {}, took(7, 0, 6, 0)) == first
    assert score_deal(ruleset, {}, read(4, 3, 3, 3), took(4, 3, 3, 3)) == later
    with pytest.raises(RuleViolation, match=r"^bid_is_forced: Nobody bids in deal 1 at this table\.$"):
        score_deal(ruleset, {}, read(4, 3, 3, 3), took(4, 3, 3, 3), deal_number=1)


def test_bags_that_were_paid_for_are_not_paid_for_again() -> None:
    score = score_deal(rules(), {"NS": SideBefore(0, 19)}, read(3, 3, 3, 3), took(4, 3, 3, 3))

    assert (score.sides["NS"].bags, score.sides["NS"].bag_penalty) == (0, -100)


def test_the_closest_bidders_share_the_report() -> None:
    score = score_deal(rules("cutthroat"), {}, read(5, "nil", 6), took(7, 2, 8))

    assert score.closest_bidders == ("A", "B", "C")


# Refused.


@pytest.mark.parametrize(
    ("ruleset", "bids", "reason", "option"),
    [
        (rules(), read(14, 1, 1, 1), Reason.BID_OUT_OF_RANGE, "max_bid"),
        (rules(min_bid=2), read(1, 2, 2, 2), Reason.BID_OUT_OF_RANGE, "min_bid"),
        (rules(), read(0, 1, 1, 1), Reason.BID_OUT_OF_RANGE, "zero_bid"),
        (rules("sandbag_deduction"), read("nil", 1, 1, 1), Reason.NIL_NOT_OFFERED, "nil_success"),
        (rules(both_nil="forbidden"), read("nil", 1, "nil", 1), Reason.NIL_NOT_OFFERED, "both_nil"),
        (rules(blind_nil="off"), read("blind_nil", 1, 1, 1), Reason.BLIND_NIL_NOT_ALLOWED, "blind_nil"),
        (rules(), read("blind:4", 1, "blind:4", 1), Reason.BLIND_NIL_NOT_ALLOWED, "blind_bid_min"),
        (rules("whiz", blind_bid_min=4), read("blind:4", 1, 1, 1), Reason.BLIND_NIL_NOT_ALLOWED, "bid_rule"),
        (rules("two_player", blind_nil="any"), read("blind_nil", 1), Reason.BLIND_NIL_NOT_ALLOWED, "deal_method"),
        (rules(), read("blind_nil", 4, 4, 4), Reason.BLIND_NOT_BEHIND, "blind_nil_deficit"),
        (BLIND, read("blind:6", 3, 3, 3), Reason.BLIND_SIDE_INCOMPLETE, "blind_bid_min"),
        (BLIND, read("blind:3", 3, "blind:2", 3), Reason.BID_OUT_OF_RANGE, "blind_bid_min"),
        (rules(min_team_bid=4), read("nil", 4, 3, 4), Reason.TEAM_MINIMUM, "min_team_bid"),
        (rules("openspiel"), read(7, 4, 7, 4), Reason.TEAM_MAXIMUM, "max_team_bid"),
        (rules("suicide"), read(3, "nil", 4, 4), Reason.SUICIDE_NEEDS_NIL, "bid_rule"),
        (rules("suicide"), read("nil", "nil", "nil", 4), Reason.SUICIDE_NEEDS_NUMBER, "bid_rule"),
        (rules(total_bid_rule="not_equal_tricks"), read(3, 3, 4, 3), Reason.TOTAL_EQUALS_TRICKS, "total_bid_rule"),
        (rules("mirror"), read(3, 3, 3, 3), Reason.BID_IS_FORCED, "bid_rule"),
        (rules("whiz"), read(5, 4, 3, 2), Reason.BID_IS_FORCED, "bid_rule"),
        (rules("whiz"), read(3, 3, 3, 3), Reason.BID_IS_FORCED, "bid_rule"),
        (rules("books"), read(3, 3, 3, 3), Reason.BID_IS_FORCED, "bid_mode"),
    ],
)
def test_bids_that_cannot_stand_are_refused_by_reason(
    ruleset: Ruleset, bids: dict[str, Bid], reason: Reason, option: str
) -> None:
    seats = table(ruleset.players, ruleset.teams).seats
    tricks = dict.fromkeys(seats, 0) | {seats[0]: ruleset.hand_size}

    with pytest.raises(RuleViolation) as caught:
        score_deal(ruleset, {}, bids, tricks, deal_number=1)

    rule = caught.value.rule
    assert rule is not None
    assert (caught.value.reason, rule.option) == (reason, option)
    assert rule.value == ruleset.options()[option]


@pytest.mark.parametrize(("score", "allowed"), [(100, True), (99, False)])
def test_a_blind_nil_is_open_from_exactly_the_deficit(score: int, allowed: bool) -> None:
    bids = read("blind_nil", 4, 4, 4)

    refusal = bids_refusal(rules(), bids, {"EW": score})

    assert (refusal is None) == allowed


def test_whiz_counts_the_jokers_and_the_high_trumps_of_the_deck() -> None:
    deck = {"jokers": 2, "removed_cards": ["2H", "2C"], "high_trumps": ["BJ", "LJ", "2D", "2S"]}
    bids = read(4, 4, 4, 4)

    assert bids_refusal(rules("mirror", **deck), bids, {}) is None
    assert bids_refusal(rules("mirror"), bids, {}) is not None


def test_what_concerns_a_side_or_the_table_waits_for_all_its_bids() -> None:
    ruleset = rules(min_team_bid=4, total_bid_rule="not_equal_tricks")

    assert bids_refusal(ruleset, {"N": Bid.number(1), "E": Bid.number(6), "W": Bid.number(6)}, {}) is None
    assert bids_refusal(ruleset, read(1, 6, 2, 6), {}) is not None


@pytest.mark.parametrize("counts", [(4, 3, 3, 4), (14, -1, 0, 0), (0, 0, 0, 0)])
def test_tricks_that_do_not_add_up_are_refused(counts: tuple[int, ...]) -> None:
    with pytest.raises(RuleViolation) as caught:
        score_deal(rules(), {}, read(3, 3, 3, 3), took(*counts))

    assert caught.value.reason == Reason.TRICKS_DO_NOT_ADD_UP
    told = ", ".join(map(str, counts))
    assert caught.value.detail == f"A deal has 13 tricks, each taken by one seat; {told} is not a way to share them."


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"bids": {"N": Bid.number(3), "E": Bid.nil()}}, "bids has one entry for each of N, E, S, W, got N, E"),
        ({"tricks": {"A": 6, "B": 7}}, "tricks has one entry for each of N, E, S, W, got A, B"),
        ({"bids": {**read(3, 3, 3, 3), "N": 3}}, r"bids are of the class Bid, such as Bid\.number\(4\)"),
        ({"tricks": {**took(4, 3, 3, 3), "N": "4"}}, "tricks are counts, from 0"),
        ({"tricks": {**took(4, 3, 3, 3), "N": 4.0}}, "tricks are counts, from 0"),
        ({"before": {"W": SideBefore(), "N": SideBefore()}}, "the sides are NS, EW, got N, W"),
        ({"before": {"NS": SideBefore(0, -1)}}, "bags and sets are counts, from 0"),
        ({"before": {"NS": SideBefore(0, 0, -1)}}, "bags and sets are counts, from 0"),
        ({"blind_sides": ["AB"]}, "the sides are NS, EW, got AB"),
        ({"adjustments": [Adjustment("N", 5)]}, "the sides are NS, EW, got N"),
    ],
)
def test_seats_and_sides_that_the_table_has_not_are_no_notation(change: dict[str, Any], told: str) -> None:
    arguments = {"before": {}, "bids": read(3, 3, 3, 3), "tricks": took(4, 3, 3, 3), **change}

    with pytest.raises(NotationError, match=f"^{told}$"):
        score_deal(rules(), **arguments)


# What holds for every deal.


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(deals())
def test_scores_are_those_of_a_second_reckoning(deal: Any) -> None:
    ruleset, before, bids, tricks = deal

    score = score_deal(ruleset, before, bids, tricks, deal_number=2)

    plain = plain_deal(
        ruleset.options(),
        {side: (standing.score, standing.bags) for side, standing in before.items()},
        {seat: str(bid) for seat, bid in bids.items()},
        tricks,
    )
    for side, told in score.sides.items():
        assert {name: getattr(told, name) for name in plain[side]} == plain[side]
        assert told.delta == told.score - before[side].score == sum(line.points for line in told.lines)
        assert told.sets == before[side].sets + (told.set is True)
        if told.seats is not None:
            parts = [part.to_json() for part in told.seats.values()]
            assert sum(part["delta"] for part in parts) == told.delta - told.bag_penalty
            assert (True in [part["set"] for part in parts]) == (told.set is True)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(deals(), st.integers(-10_000, 10_000))
def test_bags_never_depend_on_a_score(deal: Any, shift: int) -> None:
    ruleset, before, bids, tricks = deal
    moved = {side: replace(standing, score=standing.score + shift) for side, standing in before.items()}

    here = score_deal(ruleset, before, bids, tricks, deal_number=2)
    there = score_deal(ruleset, moved, bids, tricks, deal_number=2)

    assert {side: score.lines for side, score in here.sides.items()} == {
        side: score.lines for side, score in there.sides.items()
    }
    assert [score.bags for score in here.sides.values()] == [score.bags for score in there.sides.values()]
    assert [score.score + shift for score in here.sides.values()] == [score.score for score in there.sides.values()]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(deals(), st.integers(-100, 100))
def test_an_adjustment_is_a_line_and_nothing_else(deal: Any, points: int) -> None:
    ruleset, before, bids, tricks = deal
    side = table(ruleset.players, ruleset.teams).sides[0]

    plain = score_deal(ruleset, before, bids, tricks, deal_number=2).sides[side]
    adjusted = score_deal(ruleset, before, bids, tricks, deal_number=2, adjustments=[Adjustment(side, points)]).sides[
        side
    ]

    assert adjusted == replace(
        plain,
        lines=(*plain.lines, Line("adjustment", points, "adjustments")),
        delta=plain.delta + points,
        score=plain.score + points,
    )


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(deals())
def test_blind_bids_and_blind_sides_say_the_same(deal: Any) -> None:
    ruleset, _, bids, _ = deal
    seats = table(ruleset.players, ruleset.teams)
    blind = [
        side for side in seats.sides if bids and all(bids[seat].kind is BidKind.BLIND for seat in seats.seats_of(side))
    ]
    seen = {seat: Bid.number(bid.tricks) if seats.side_of[seat] in blind else bid for seat, bid in bids.items()}

    assert with_blind_sides(ruleset, seen, blind) == bids


def test_a_blind_side_has_a_number_that_is_blind() -> None:
    ruleset = rules(blind_bid_min=6, blind_bid_multiplier=2)

    with pytest.raises(RuleViolation) as caught:
        score_deal(ruleset, {}, read("nil", 4, "nil", 4), took(0, 4, 0, 9), blind_sides=["NS"])

    assert caught.value.reason is Reason.BLIND_SIDE_INCOMPLETE


def test_where_nobody_bids_no_side_is_blind() -> None:
    with pytest.raises(RuleViolation) as caught:
        score_deal(rules("books"), {}, {}, took(4, 4, 4, 1), blind_sides=["NS"])

    assert caught.value.reason is Reason.BID_IS_FORCED


def test_a_bid_of_a_seat_that_is_not_there_is_no_bid() -> None:
    with pytest.raises(NotationError):
        score_deal(rules(), {}, {**read(4, 4, 3, 2), "A": Bid.number(1)}, took(4, 4, 3, 2))


def test_all_that_is_wrong_with_bids_is_told_with_the_seats_it_is_about() -> None:
    ruleset = rules(min_team_bid=4, blind_nil="off")

    found = list(bids_refusals(ruleset, read(1, 14, "blind_nil", 2), {}))

    assert [(seats, refusal.reason) for seats, refusal in found] == [
        (("E",), Reason.BID_OUT_OF_RANGE),
        (("S",), Reason.BLIND_NIL_NOT_ALLOWED),
        (("N", "S"), Reason.TEAM_MINIMUM),
    ]


def test_what_the_rules_forbid_is_scored_as_it_stands_for_who_only_keeps_the_score() -> None:
    bids, tricks = read("blind_nil", 14, 4, 3), took(0, 9, 5, 2)

    with pytest.raises(RuleViolation):
        score_deal(rules(blind_nil="behind"), {}, bids, tricks)
    score = score_deal(rules(blind_nil="behind"), {}, bids, tricks, strict=False)

    assert lines(score, "NS") == [("contract", 40, "contract"), ("bags", 1, "bags"), ("blind_nil", 200, "blind")]
    assert lines(score, "EW") == [("contract", -170, "contract")]
    with pytest.raises(NotationError, match=r"^tricks are counts, from 0$"):
        score_deal(rules(), {}, bids, took(0, -1, 5, 9), strict=False)
    with pytest.raises(NotationError):
        score_deal(rules(), {}, {"N": Bid.nil()}, tricks, strict=False)


@pytest.mark.parametrize("multiplier", [None, 1])
def test_a_blind_bid_that_the_table_gives_no_multiple_for_counts_once(multiplier: int | None) -> None:
    bids, tricks = read("blind:3", 3, "blind:3", 3), took(4, 3, 3, 3)

    told = score_deal(rules(blind_bid_multiplier=multiplier), {}, bids, tricks, strict=False)

    assert lines(told, "NS") == [("contract", 60, "contract"), ("bags", 1, "bags")]


def test_a_side_that_bid_nils_may_be_called_blind_where_nobody_asks_the_rules() -> None:
    bids, tricks = read("nil", 4, "nil", 4), took(0, 4, 0, 9)

    told = score_deal(rules(), {}, bids, tricks, blind_sides=["NS"], strict=False)

    assert told == score_deal(rules(), {}, bids, tricks)


def test_a_blind_bid_counts_as_often_as_the_table_says() -> None:
    ruleset = rules(blind_bid_min=6, blind_bid_multiplier=3)

    told = score_deal(ruleset, {}, read("blind:3", 3, "blind:3", 3), took(4, 3, 3, 3))

    assert told.sides["NS"].to_json()["lines"][1] == {"what": "blind", "points": 120, "rule": "blind"}
    assert isinstance(told.sides["NS"].delta, int)


def test_a_line_names_the_section_that_it_comes_from() -> None:
    books = score_deal(rules("books"), {}, {}, took(4, 4, 4, 1))
    joint = rules(both_nil="joint", both_nil_success=250, both_nil_fail=-250)

    assert lines(books, "NS") == [("books", 8, "scoring")]
    for tricks, points in ((took(0, 6, 0, 7), 250), (took(1, 6, 0, 6), -250)):
        assert ("both_nil", points, "nil") in lines(score_deal(joint, {}, read("nil", 6, "nil", 6), tricks), "NS")


def test_only_a_moon_wins_outright() -> None:
    apart = rules("bicycle", teams="pairs", set_points="minus")

    score = score_deal(apart, {}, read(3, 3, 4, 3), took(5, 3, 2, 3))

    assert score.sides["NS"].won is False
    assert score.sides["NS"].seats is not None
    assert [seat.won for seat in score.sides["NS"].seats.values()] == [False, False]


@pytest.mark.parametrize("tricks", ["4", -1, True, 4.0])
def test_a_bid_is_of_a_number_of_tricks(tricks: Any) -> None:
    for made in (Bid.number, Bid.blind):
        with pytest.raises(NotationError, match="a number from 0, got"):
            made(tricks)
