"""What a deal could bring: the same scores as afterwards, for every bid and every number of tricks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from spades import (
    Bid,
    NotationError,
    Reason,
    Ruleset,
    RuleViolation,
    ScoreSheet,
    SideBefore,
    TooManyOutcomes,
    score_deal,
    what_if,
)
from spades.bidding import bids_refusal, units
from spades.seats import table
from spades.sheet import game_answer
from tests.spades.deals import deals


def rules(preset: str = "standard", **options: Any) -> Ruleset:
    return Ruleset.resolve({"preset": preset, **options})


def numbers(**bids: int) -> dict[str, Bid]:
    return {seat: Bid.number(tricks) for seat, tricks in bids.items()}


def test_the_bids_of_a_side_are_told_for_each_number_of_tricks() -> None:
    told = what_if(rules(), {"NS": SideBefore(440, 8)}, "NS", numbers(N=4, S=3))

    assert [option["bids"] for option in told["options"]] == [
        {"N": {"kind": "number", "tricks": 4}, "S": {"kind": "number", "tricks": 3}}
    ]
    outcomes = told["options"][0]["outcomes"]
    assert [outcome["tricks"] for outcome in outcomes] == list(range(14))
    assert outcomes[6:10] == [
        {"tricks": 6, "by_seat": None, "delta": -70, "score": 370, "bags": 8, "game": game_answer(None)},
        {
            "tricks": 7,
            "by_seat": None,
            "delta": 70,
            "score": 510,
            "bags": 8,
            "game": {"over": True, "winners": ["NS"], "reason": "target"},
        },
        {
            "tricks": 8,
            "by_seat": None,
            "delta": 71,
            "score": 511,
            "bags": 9,
            "game": {"over": True, "winners": ["NS"], "reason": "target"},
        },
        {"tricks": 9, "by_seat": None, "delta": -28, "score": 412, "bags": 0, "game": game_answer(None)},
    ]
    assert told["needs"] == {"to_win": 60, "to_avoid_loss": None, "bags_to_penalty": 2}


def test_beside_a_nil_it_matters_who_takes_the_tricks() -> None:
    told = what_if(rules(), {}, "NS", {"N": Bid.nil(), "S": Bid.number(4)})

    outcomes = told["options"][0]["outcomes"]
    assert len(outcomes) == 14 * 15 // 2
    assert [(o["by_seat"], o["delta"]) for o in outcomes if o["tricks"] == 4] == [
        ({"N": 0, "S": 4}, 140),
        ({"N": 1, "S": 3}, -139),
        ({"N": 2, "S": 2}, -138),
        ({"N": 3, "S": 1}, -137),
        ({"N": 4, "S": 0}, -136),
    ]


def test_the_seat_that_has_yet_to_bid_gets_every_bid_that_may_stand() -> None:
    before = {"EW": SideBefore(100)}

    told = what_if(rules(min_team_bid=4), before, "NS", numbers(N=2))

    assert [option["bids"]["S"] for option in told["options"]] == [
        {"kind": "number", "tricks": tricks} for tricks in range(2, 14)
    ]
    assert {option["bids"]["N"]["tricks"] for option in told["options"]} == {2}
    free = what_if(rules(), before, "NS", numbers(N=2))
    assert [option["bids"]["S"] for option in free["options"]] == [
        {"kind": "nil"},
        *({"kind": "number", "tricks": tricks} for tricks in range(1, 14)),
        {"kind": "blind_nil"},
    ]


def test_before_anybody_bids_each_contract_is_told_once() -> None:
    told = what_if(rules("joker_joker_deuce_deuce_tournament", max_team_bid=7), {}, "EW")

    assert [[(bid["kind"], bid["tricks"]) for bid in option["bids"].values()] for option in told["options"]] == [
        [("number", 2), ("number", 2)],
        [("number", 3), ("number", 2)],
        [("number", 3), ("number", 3)],
        [("number", 4), ("number", 3)],
        [("blind", 3), ("blind", 3)],
        [("blind", 4), ("blind", 3)],
    ]
    assert [max(o["delta"] for o in option["outcomes"]) for option in told["options"]] == [40, 50, 60, 70, 120, 140]


def test_where_one_partner_has_to_bid_nil_either_may() -> None:
    told = what_if(rules("suicide"), {}, "NS")

    pairs = [{seat: bid["kind"] for seat, bid in option["bids"].items()} for option in told["options"]]
    assert pairs == [{"N": "nil", "S": "number"}] * 13 + [{"N": "number", "S": "nil"}] * 13


def test_where_nobody_bids_there_is_one_option_without_bids() -> None:
    told = what_if(rules("books", target_score=20), {"NS": SideBefore(9)}, "NS")

    assert [option["bids"] for option in told["options"]] == [{}]
    assert [outcome["score"] for outcome in told["options"][0]["outcomes"]] == list(range(9, 23))
    first = what_if(rules(first_hand_bids_itself=True), {}, "NS", deal_number=1)
    assert [outcome["delta"] for outcome in first["options"][0]["outcomes"]] == list(range(0, 140, 10))
    level = what_if(rules(first_hand_bids_itself=True, max_hands=1), {}, "NS", deal_number=1)
    assert [outcome["game"]["winners"] for outcome in level["options"][0]["outcomes"]] == [["EW"]] * 7 + [["NS"]] * 7


def test_the_game_counts_what_the_tricks_left_over_bring_the_other_side() -> None:
    before = {"NS": SideBefore(440), "EW": SideBefore(430)}

    known = what_if(rules(), before, "NS", numbers(N=3, S=3, E=4, W=3))["options"][0]["outcomes"]
    unknown = what_if(rules(), before, "NS", numbers(N=3, S=3, E=4))["options"][0]["outcomes"]

    assert known[5]["game"] == {"over": True, "winners": ["EW"], "reason": "target"}
    assert known[6]["game"] == {"over": False, "winners": [], "reason": None}  # level at 500
    assert unknown[5]["game"] == {"over": False, "winners": [], "reason": None}
    assert unknown[6]["game"] == {"over": True, "winners": ["NS"], "reason": "target"}


@pytest.mark.parametrize(
    ("options", "before", "needs"),
    [
        ({}, {"NS": SideBefore(440, 3)}, {"to_win": 60, "to_avoid_loss": None, "bags_to_penalty": 7}),
        (
            {"losing_score": -200},
            {"NS": SideBefore(-119)},
            {"to_win": 619, "to_avoid_loss": -80, "bags_to_penalty": 10},
        ),
        ({"bag_limit": 0}, {"EW": SideBefore(520)}, {"to_win": 521, "to_avoid_loss": None, "bags_to_penalty": None}),
        (
            {"tie_rule": "shared"},
            {"EW": SideBefore(520)},
            {"to_win": 520, "to_avoid_loss": None, "bags_to_penalty": 10},
        ),
    ],
)
def test_needs_are_the_least_that_will_do(
    options: dict[str, Any], before: dict[str, SideBefore], needs: dict[str, int | None]
) -> None:
    assert what_if(rules(**options), before, "NS", numbers(N=3, S=3))["needs"] == needs


@pytest.mark.parametrize(
    ("bids", "reason"),
    [(numbers(N=14), Reason.BID_OUT_OF_RANGE), ({"E": Bid.parse("blind:6")}, Reason.BLIND_NIL_NOT_ALLOWED)],
)
def test_bids_that_cannot_stand_are_refused(bids: dict[str, Bid], reason: Reason) -> None:
    with pytest.raises(RuleViolation) as caught:
        what_if(rules(), {}, "NS", bids)

    assert caught.value.reason == reason


def test_a_side_or_a_seat_that_the_table_has_not_is_no_notation() -> None:
    with pytest.raises(NotationError, match="the sides are NS, EW"):
        what_if(rules(), {}, "N")
    with pytest.raises(NotationError, match="expected one of N, E, S, W"):
        what_if(rules(), {}, "NS", numbers(A=3))


@pytest.mark.parametrize("options", [{"preset": "books"}, {"preset": "standard", "first_hand_bids_itself": True}])
def test_where_nobody_bids_the_other_sides_tricks_count_for_the_game(options: dict[str, Any]) -> None:
    ruleset = Ruleset.resolve({**options, "target_score": 500})

    told = what_if(ruleset, {"EW": SideBefore(487)}, "NS", deal_number=1)

    (option,) = told["options"]
    over = {outcome["tricks"]: outcome["game"]["winners"] for outcome in option["outcomes"]}
    assert over == {tricks: ["EW"] if worth(ruleset, 13 - tricks) >= 13 else [] for tricks in range(14)}


def worth(ruleset: Ruleset, tricks: int) -> int:
    return tricks if ruleset.score_mode == "books" else 10 * tricks


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(deals())
def test_what_was_foretold_is_what_is_scored(deal: Any) -> None:
    ruleset, before, bids, tricks = deal
    seats = table(ruleset.players, ruleset.teams)
    score = score_deal(ruleset, before, bids, tricks, deal_number=2)
    sheet, _ = ScoreSheet.at(ruleset, before, 2).after(bids, tricks)

    for side in seats.sides:
        told = what_if(ruleset, before, side, bids, deal_number=2)
        (option,) = told["options"]
        total = sum(tricks[seat] for seat in seats.seats_of(side))
        found = [
            outcome
            for outcome in option["outcomes"]
            if outcome["tricks"] == total
            and all(tricks[seat] == count for seat, count in (outcome["by_seat"] or {}).items())
        ]
        assert [(o["delta"], o["score"], o["bags"]) for o in found] == [
            (score.sides[side].delta, score.sides[side].score, score.sides[side].bags)
        ] * len(found)
        assert found
        others = [other for other in seats.sides if other != side]
        joined = {unit for unit in units(ruleset) if set(unit) <= set(seats.seats_of(others[0]))}
        plain = all(
            not bids[seat].is_nil or len(seats.seats_of(others[0])) == 1 for seat in seats.seats_of(others[0]) if bids
        )
        if len(others) == 1 and len(joined) == 1 and plain:
            assert [outcome["game"] for outcome in found] == [game_answer(sheet.ending())]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(deals())
def test_a_bid_that_was_made_is_among_the_options(deal: Any) -> None:
    ruleset, before, bids, _ = deal
    if not bids:
        return
    last = list(bids)[-1]
    known = {seat: bid for seat, bid in bids.items() if seat != last}
    side = table(ruleset.players, ruleset.teams).side_of[last]
    scores = {name: standing.score for name, standing in before.items()}
    assert bids_refusal(ruleset, known, scores) is None

    told = what_if(ruleset, before, side, known, deal_number=2)

    options = [option["bids"][last] for option in told["options"]]
    assert bids[last].to_json() in options
    assert all(bids_refusal(ruleset, {**known, last: Bid.from_json(option)}, scores) is None for option in options)


def test_a_question_with_too_many_outcomes_is_refused_before_they_are_counted_out() -> None:
    ruleset = rules("six_pairs", teams="trios", bid_mode="individual")

    with pytest.raises(TooManyOutcomes):
        what_if(ruleset, {}, "ACE", numbers(A=2, C=2))

    assert len(what_if(ruleset, {}, "ACE", numbers(A=2, C=2, E=2))["options"]) == 1
