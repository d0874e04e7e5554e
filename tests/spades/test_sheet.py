"""Running scores and the end of a game."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spades import (
    Adjustment,
    Bid,
    DealRefused,
    DealResult,
    Ending,
    NotationError,
    Reason,
    Ruleset,
    RuleViolation,
    ScoreSheet,
    SideBefore,
    score_game,
)
from spades.sheet import DEAL_CAP, answer
from tests.spades.deals import deals, rulesets, standings
from tests.spades.playing import opening, play_on, random_ruleset


def rules(preset: str = "standard", **options: Any) -> Ruleset:
    return Ruleset.resolve({"preset": preset, **options})


def standing(ruleset: Ruleset, *sides: SideBefore, deals: int = 1, moon: str | None = None) -> ScoreSheet:
    names = ScoreSheet.start(ruleset).sides
    return ScoreSheet(ruleset, dict(zip(names, sides, strict=True)), deals, moon)


def scores(*points: int) -> tuple[SideBefore, ...]:
    return tuple(SideBefore(score) for score in points)


LOSING, SETS, HANDS = {"losing_score": -200}, {"set_limit": 2}, {"max_hands": 4}


@pytest.mark.parametrize(
    ("options", "sides", "deals", "ending"),
    [
        ({}, scores(499, -900), 1, None),
        ({}, scores(500, 0), 1, Ending(("NS",), "target")),
        ({}, scores(510, 520), 1, Ending(("EW",), "target")),
        ({}, scores(520, 520), 1, None),
        ({"tie_rule": "shared"}, scores(520, 520), 1, Ending(("NS", "EW"), "target")),
        (LOSING, scores(-199, 0), 1, None),
        (LOSING, scores(-200, 0), 1, Ending(("EW",), "losing_score")),
        (LOSING, scores(-210, -260), 1, Ending(("NS",), "losing_score")),
        (LOSING, scores(-210, -210), 1, None),
        ({**LOSING, "tie_rule": "shared"}, scores(-210, -210), 1, Ending(("NS", "EW"), "losing_score")),
        (LOSING, scores(500, -200), 1, Ending(("NS",), "target")),
        (HANDS, scores(250, 240), 3, None),
        (HANDS, scores(250, 240), 4, Ending(("NS",), "max_hands")),
        (HANDS, scores(250, 250), 4, None),
        (HANDS, scores(250, 260), 5, Ending(("EW",), "max_hands")),
        ({**HANDS, "tie_rule": "shared"}, scores(250, 250), 4, Ending(("NS", "EW"), "max_hands")),
        (SETS, (SideBefore(400, 0, 1), SideBefore(0, 0, 1)), 1, None),
        (SETS, (SideBefore(400, 0, 2), SideBefore(0, 0, 1)), 1, Ending(("EW",), "set_limit")),
        (SETS, (SideBefore(400, 0, 2), SideBefore(0, 0, 2)), 1, Ending(("NS",), "set_limit")),
        (SETS, (SideBefore(0, 0, 2), SideBefore(0, 0, 2)), 1, None),
        (SETS, (SideBefore(600, 0, 2), SideBefore(500)), 1, Ending(("EW",), "set_limit")),
        ({}, scores(20, 10), DEAL_CAP - 1, None),
        ({}, scores(20, 10), DEAL_CAP, Ending(("NS",), "deal_cap")),
        ({}, scores(10, 10), DEAL_CAP, Ending(("NS", "EW"), "deal_cap")),
        ({}, scores(500, 500), DEAL_CAP, Ending(("NS", "EW"), "deal_cap")),
        ({}, scores(500, 10), DEAL_CAP, Ending(("NS",), "target")),
    ],
)
def test_a_game_ends_by_the_first_ending_that_applies(
    options: dict[str, Any], sides: tuple[SideBefore, ...], deals: int, ending: Ending | None
) -> None:
    assert standing(rules(**options), *sides, deals=deals).ending() == ending


@pytest.mark.parametrize(
    ("points", "ending"),
    [
        ((80, -220, 70), Ending(("A",), "losing_score")),
        ((80, -220, 80), None),
        ((520, 500, 520), None),
        ((520, 530, 520), Ending(("B",), "target")),
    ],
)
def test_of_more_than_two_sides_the_highest_wins(points: tuple[int, ...], ending: Ending | None) -> None:
    assert standing(rules("cutthroat", losing_score=-200), *scores(*points)).ending() == ending


def test_of_three_sides_the_highest_of_those_not_set_too_often_wins() -> None:
    sheet = standing(rules("cutthroat", set_limit=2), SideBefore(300, 0, 2), SideBefore(100, 0, 1), SideBefore(50))

    assert sheet.ending() == Ending(("B",), "set_limit")


def test_a_moon_wins_before_anything_else_is_looked_at() -> None:
    ruleset = rules("joker_joker_deuce_deuce_tournament")
    sheet = ScoreSheet.at(ruleset, {"NS": SideBefore(-90, 0, 3), "EW": SideBefore(499)})
    bids = {seat: Bid.number(number) for seat, number in zip("NESW", (7, 2, 6, 2), strict=True)}

    after, _ = sheet.after(bids, {"N": 13, "E": 0, "S": 0, "W": 0})
    later, _ = after.after(bids, {"N": 3, "E": 4, "S": 3, "W": 3})

    assert after.ending() == Ending(("NS",), "moon")
    assert later.ending() == Ending(("EW",), "set_limit")


def test_a_sheet_carries_scores_bags_and_sets_from_deal_to_deal() -> None:
    bids = {"A": Bid.number(6), "B": Bid.nil()}
    sheet = ScoreSheet.start(rules("two_player"))

    for tricks in ({"A": 5, "B": 8}, {"A": 13, "B": 0}):
        sheet, _ = sheet.after(bids, tricks)

    assert (dict(sheet.sides), sheet.deals) == ({"A": SideBefore(7, 7, 1), "B": SideBefore(108, 8, 0)}, 2)


def test_a_sheet_stands_only_on_sides_and_deals_that_there_are() -> None:
    with pytest.raises(NotationError, match=r"^the sides are NS, EW, got E, N$"):
        ScoreSheet.at(rules(), {"N": SideBefore(), "E": SideBefore()})
    with pytest.raises(NotationError, match="from 1"):
        ScoreSheet.at(rules(), {}, 0)


def test_a_sheet_that_only_keeps_the_score_takes_what_the_rules_forbid() -> None:
    bids, tricks = {**FOURS, "N": Bid.number(14)}, {"N": 3, "E": 3, "S": 4, "W": 4}

    with pytest.raises(RuleViolation):
        ScoreSheet.start(rules()).after(bids, tricks)
    sheet, score = ScoreSheet.start(rules()).after(bids, tricks, strict=False)

    assert sheet.scores() == {"NS": -180, "EW": 61}
    assert score.sides["EW"].bags == 1


FOURS = {"N": Bid.number(3), "E": Bid.number(3), "S": Bid.number(4), "W": Bid.number(3)}
MADE = {"N": 3, "E": 3, "S": 4, "W": 3}


def test_a_game_is_scored_deal_by_deal_to_its_end() -> None:
    deal = DealResult(FOURS, MADE, adjustments=(Adjustment("EW", 5, "in time"),))

    answers, ending = score_game(rules(target_score=140), [deal, deal])

    assert [answer["sides"]["NS"]["score"] for answer in answers] == [70, 140]
    assert [answer["sides"]["EW"]["score"] for answer in answers] == [65, 130]
    assert [answer["game"] for answer in answers] == [
        {"over": False, "winners": [], "reason": None},
        {"over": True, "winners": ["NS"], "reason": "target"},
    ]
    assert ending == Ending(("NS",), "target")
    assert score_game(rules(), []) == ([], None)


def test_the_first_hand_of_a_game_may_bid_itself_and_no_other() -> None:
    ruleset = rules(first_hand_bids_itself=True)

    answers, _ = score_game(ruleset, [DealResult({}, MADE), DealResult(FOURS, MADE)])

    assert [answer["sides"]["NS"]["score"] for answer in answers] == [70, 140]
    with pytest.raises(DealRefused) as caught:
        score_game(ruleset, [DealResult({}, MADE), DealResult({}, MADE)])
    assert caught.value.number == 2
    assert isinstance(caught.value.why, NotationError)


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (DealResult(FOURS, {**MADE, "N": 4}), Reason.TRICKS_DO_NOT_ADD_UP),
        (DealResult(FOURS, MADE, blind_sides=("NS",)), Reason.BLIND_NIL_NOT_ALLOWED),
    ],
)
def test_the_deal_that_cannot_be_scored_is_named(second: DealResult, reason: Reason) -> None:
    with pytest.raises(DealRefused) as caught:
        score_game(rules(), [DealResult(FOURS, MADE), second])

    assert isinstance(caught.value.why, RuleViolation)
    assert (caught.value.number, caught.value.why.reason) == (2, reason)
    assert str(caught.value).startswith(f"deal 2: {reason}")


def test_no_deal_comes_after_the_end() -> None:
    with pytest.raises(DealRefused) as caught:
        score_game(rules(target_score=70), [DealResult(FOURS, MADE)] * 2)

    assert isinstance(caught.value.why, RuleViolation)
    assert (caught.value.number, caught.value.why.reason) == (2, Reason.GAME_OVER)


def test_a_refused_deal_says_its_number_and_why_wherever_it_travels() -> None:
    ruleset = Ruleset.resolve({"preset": "two_player", "target_score": 100})
    deal = DealResult({"A": Bid.number(6), "B": Bid.number(7)}, {"A": 6, "B": 7})

    with pytest.raises(DealRefused) as caught:
        score_game(ruleset, [deal] * 3)

    for told in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert told.args == (told.number, told.why)
        assert (told.number, str(told)) == (3, "deal 3: game_over: The game was over after deal 2.")
        assert (told.why.reason, told.why.detail, told.why.rule) == (
            Reason.GAME_OVER,
            "The game was over after deal 2.",
            None,
        )


def test_the_answer_is_what_an_app_gets() -> None:
    sheet, score = ScoreSheet.at(rules(), {"NS": SideBefore(430, 9)}).after(FOURS, {**MADE, "N": 4, "E": 2})

    assert answer(score, sheet.ending()) == {
        "sides": {
            "NS": {
                "contract": 70,
                "bag_points": 1,
                "bag_penalty": -100,
                "nil_points": 0,
                "special_points": 0,
                "delta": -29,
                "score": 401,
                "bags": 0,
                "set": False,
                "lines": [
                    {"what": "contract", "points": 70, "rule": "contract"},
                    {"what": "bags", "points": 1, "rule": "bags"},
                    {"what": "bag_penalty", "points": -100, "rule": "bags"},
                ],
            },
            "EW": {
                "contract": -60,
                "bag_points": 0,
                "bag_penalty": 0,
                "nil_points": 0,
                "special_points": 0,
                "delta": -60,
                "score": -60,
                "bags": 0,
                "set": True,
                "lines": [{"what": "contract", "points": -60, "rule": "contract"}],
            },
        },
        "game": {"over": False, "winners": [], "reason": None},
        "closest_bidders": ["S", "W"],
    }


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(deals(), st.integers(2, DEAL_CAP))
def test_who_wins_is_among_the_highest_and_the_cap_ends_everything(deal: Any, number: int) -> None:
    ruleset, before, bids, tricks = deal

    sheet, score = ScoreSheet.at(ruleset, before, number).after(bids, tricks)
    ending = sheet.ending()

    assert sheet.deals == number
    assert sheet.scores() == {side: told.score for side, told in score.sides.items()}
    assert ending is not None or number < DEAL_CAP
    if ending is not None and ending.reason not in ("moon", "set_limit"):
        best = max(sheet.scores().values())
        assert ending.winners == tuple(side for side, points in sheet.scores().items() if points == best)
        assert len(ending.winners) == 1 or ending.reason == "deal_cap" or ruleset.tie_rule == "shared"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(rulesets().flatmap(lambda ruleset: st.tuples(st.just(ruleset), standings(ruleset))), st.integers(1, 500))
def test_who_wins_by_points_does_not_depend_on_the_names_of_the_sides(chosen: Any, number: int) -> None:
    ruleset, before = chosen
    sheet = ScoreSheet.at(ruleset, before, number)
    names = list(before)
    turned = dict(zip(names, [*names[1:], names[0]], strict=True))

    ending = sheet.ending()
    moved = replace(sheet, sides={turned[name]: side for name, side in sheet.sides.items()}).ending()

    assert (ending is None) == (moved is None)
    if ending is not None and moved is not None:
        assert ({turned[name] for name in ending.winners}, ending.reason) == (set(moved.winners), moved.reason)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_the_rules_let_seats_bid_and_play_is_scored(number: int) -> None:
    rng = random.Random(number)
    begun = opening(random_ruleset(rng), rng)
    *_, match = play_on(begun, rng)
    deal = match.deal
    assert deal is not None

    sheet, score = match.sheet.after(deal.bids_by_seat(), deal.tricks_by_seat())

    assert sheet.deals == match.sheet.deals + 1
    assert {side: told.score - told.delta for side, told in score.sides.items()} == match.sheet.scores()
