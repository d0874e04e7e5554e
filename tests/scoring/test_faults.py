"""Faults of scores that were reported of comparable systems; docs/faults.md names these tests."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.django_db

NIL = {"kind": "nil"}


def bid(tricks: int) -> dict[str, Any]:
    return {"kind": "number", "tricks": tricks}


def four(*bids: Any) -> dict[str, Any]:
    return {seat: bid(each) if isinstance(each, int) else each for seat, each in zip("NESW", bids, strict=True)}


def taken(*counts: int) -> dict[str, int]:
    return dict(zip("NESW", counts, strict=True))


@pytest.fixture
def score(ask):
    """Scores a deal and gives the side NS: `score(bids, tricks, before, option=...)`."""

    def send(bids: Any, tricks: Any, before: Any = None, side: str = "NS", **options: Any) -> dict[str, Any]:
        ruleset = {"preset": "standard", **options}
        reply = ask("deals", {"ruleset": ruleset, "before": before or {}, "bids": bids, "tricks": tricks})
        assert reply.status == 200, reply.content
        return {**reply.body["sides"][side], "game": reply.body["game"]}

    return send


@pytest.mark.parametrize(
    ("carried", "new", "penalty", "left"), [(9, 1, -100, 0), (9, 11, -200, 0), (0, 12, -100, 2), (8, 1, 0, 9)]
)
def test_a_deal_that_passes_two_limits_pays_twice(score, carried, new, penalty, left):
    side = score(four(1, 1, NIL, NIL), taken(1 + new, 12 - new, 0, 0), {"bags": {"NS": carried}})

    assert (side["bag_penalty"], side["bags"], side["bag_points"]) == (penalty, left, new)


def test_a_deal_scores_the_same_asked_alone_in_a_game_and_on_a_sheet(client, ask):
    deals = [{"bids": four(3, 3, 3, 3), "tricks": taken(5, 2, 4, 2)}] * 4
    ruleset = {"preset": "standard"}
    address = client.post("/v1/score_sheets", json={"ruleset": ruleset}).headers["location"]
    scores, bags = {}, {}
    alone = []
    for deal in deals:
        alone.append(ask("deals", {"ruleset": ruleset, "before": {"scores": scores, "bags": bags}, **deal}).body)
        scores, bags = ({side: each[part] for side, each in alone[-1]["sides"].items()} for part in ("score", "bags"))
        client.post(f"{address}/deals", json=deal)

    game = ask("games", {"ruleset": ruleset, "deals": deals}).body["deals"]
    sheet = [deal["answer"] for deal in client.get(address).body["deals"]]

    assert alone == game == sheet
    assert [each["sides"]["NS"]["bag_penalty"] for each in game] == [0, 0, 0, -100]


def test_bags_are_carried_through_every_deal_and_for_lone_seats(ask):
    two = {"bids": {"A": bid(3), "B": bid(3)}, "tricks": {"A": 6, "B": 7}}

    reply = ask("games", {"ruleset": {"preset": "two_player"}, "deals": [two, two, two]})

    assert [each["sides"]["A"]["bags"] for each in reply.body["deals"]] == [3, 6, 9]
    assert [each["sides"]["B"]["bags"] for each in reply.body["deals"]] == [4, 8, 2]


def test_bags_of_a_negative_score_are_counted_and_not_read_from_it(score):
    side = score(four(3, 3, 3, 3), taken(5, 3, 3, 2), {"scores": {"NS": -247}, "bags": {"NS": 1}})

    assert (side["score"], side["bags"]) == (-247 + 62, 3)


@pytest.mark.parametrize(
    ("reading", "lines"),
    [
        ("bags", [("contract", -50), ("bags", 2), ("nil", -100)]),
        ("help_partner", [("contract", 50), ("bags", 1), ("nil", -100)]),
        ("bags_no_points", [("contract", -50), ("bags", 0), ("nil", -100)]),
        ("ignored", [("contract", -50), ("nil", -100)]),
    ],
)
def test_each_reading_of_a_failed_nil_shows_in_the_lines(score, reading, lines):
    side = score(four(5, 3, NIL, 3), taken(4, 4, 2, 3), failed_nil_tricks=reading)

    assert [(line["what"], line["points"]) for line in side["lines"]] == lines


@pytest.mark.parametrize(
    ("bids", "tricks", "delta"),
    [
        (four(NIL, 6, NIL, 7), taken(0, 6, 0, 7), 200),
        (four(NIL, 6, NIL, 7), taken(1, 6, 2, 4), -197),
        (four(NIL, 6, {"kind": "blind_nil"}, 7), taken(0, 6, 0, 7), 300),
        (four(NIL, 6, 0, 7), taken(0, 6, 0, 7), 100),
    ],
)
def test_two_nils_and_a_nil_beside_a_zero_have_whole_scores(score, bids, tricks, delta):
    side = score(bids, tricks, zero_bid="both", blind_nil="any", failed_nil_tricks="bags", both_nil="independent")

    assert (side["delta"], type(side["delta"]), type(side["bags"])) == (delta, int, int)


def test_a_plain_zero_is_no_nil(score):
    zero = score(four(4, 3, 0, 3), taken(4, 5, 0, 4), zero_bid="both")
    nil = score(four(4, 3, NIL, 3), taken(4, 5, 0, 4), zero_bid="both")

    assert (zero["delta"], zero["nil_points"], nil["delta"], nil["nil_points"]) == (40, 0, 140, 100)


def test_a_total_is_the_sum_of_its_lines(ask):
    deals = [{"bids": four(4, 3, NIL, 3), "tricks": taken(count, 13 - count, 0, 0)} for count in (4, 6, 3, 13)]

    answers = ask("games", {"ruleset": {"preset": "standard"}, "deals": deals}).body["deals"]

    for side in ("NS", "EW"):
        lines = [line["points"] for each in answers for line in each["sides"][side]["lines"]]
        assert answers[-1]["sides"][side]["score"] == sum(lines)


@pytest.mark.parametrize(
    ("before", "options", "game"),
    [
        ({"NS": 440, "EW": 450}, {}, {"over": True, "winners": ["EW"], "reason": "target"}),
        ({"NS": 440, "EW": 430}, {}, {"over": False, "winners": [], "reason": None}),
        ({"NS": 440, "EW": 430}, {"tie_rule": "shared"}, {"over": True, "winners": ["NS", "EW"], "reason": "target"}),
        (
            {"NS": -400, "EW": -390},
            {"losing_score": -200},
            {"over": True, "winners": ["EW"], "reason": "losing_score"},
        ),
    ],
)
def test_of_two_sides_beyond_the_target_or_the_floor_the_higher_wins(score, before, options, game):
    side = score(four(3, 3, 3, 4), taken(3, 3, 3, 4), {"scores": before}, **options)

    assert side["game"] == game


def test_a_nil_that_fails_is_a_line_like_one_that_holds(score):
    held = score(four(4, 3, NIL, 3), taken(4, 5, 0, 4))
    failed = score(four(4, 3, NIL, 3), taken(4, 5, 1, 3))

    assert [(line["what"], line["points"]) for line in held["lines"]][-1] == ("nil", 100)
    assert [(line["what"], line["points"]) for line in failed["lines"]][-1] == ("nil", -100)


def test_every_house_rule_scores_and_an_unknown_one_is_refused_by_name(score, ask):
    ten = score(four(6, 2, 4, 1), taken(6, 2, 4, 1), ten_for_200="exact", ten_success=200, ten_fail=-200)
    unbagged = score(four(3, 3, 3, 3), taken(5, 3, 3, 2), bag_points=0, bag_limit=0)
    twice = score(four(4, 3, 4, 3), taken(4, 3, 3, 3), {"sets": {"NS": 1}}, set_limit=2)
    first = score({}, taken(4, 3, 3, 3), {"deal_number": 1}, first_hand_bids_itself=True)
    unknown = ask(
        "deals",
        {"ruleset": {"preset": "standard", "wheels": True}, "bids": four(3, 3, 3, 3), "tricks": taken(4, 3, 3, 3)},
        bad=True,
    )
    short = ask(
        "deals",
        {"ruleset": {"preset": "standard", "min_team_bid": 4}, "bids": four(2, 3, 1, 3), "tricks": taken(4, 3, 3, 3)},
    )

    assert (ten["delta"], unbagged["delta"], first["delta"]) == (200, 60, 70)
    assert twice["game"] == {"over": True, "winners": ["EW"], "reason": "set_limit"}
    assert [fault["pointer"] for fault in unknown.body["errors"]] == ["/ruleset/wheels"]
    assert (short.status, short.reason) == (422, "team_minimum")
