"""Stateless questions about scores over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import IdempotencyRecord
from accounts.services import create_account
from spades import (
    PRESETS,
    Adjustment,
    Bid,
    BidKind,
    DealRefused,
    DealResult,
    Ruleset,
    RuleViolation,
    ScoreSheet,
    SideBefore,
    what_if,
)
from spades.bidding import nobody_bids
from spades.seats import table
from spades.sheet import answer, game_answer, score_game

pytestmark = pytest.mark.django_db

CASES = json.loads((Path(__file__).parent.parent / "golden" / "scoring.json").read_text())


def number(tricks: int) -> dict[str, Any]:
    return {"kind": "number", "tricks": tricks}


def blind(tricks: int) -> dict[str, Any]:
    return {"kind": "blind", "tricks": tricks}


NIL = {"kind": "nil"}


def four(n: Any, e: Any, s: Any, w: Any) -> dict[str, Any]:
    """Values by seat; a number is a number bid."""
    return {
        seat: number(value) if isinstance(value, int) else value
        for seat, value in zip("NESW", (n, e, s, w), strict=True)
    }


def taken(n: int, e: int, s: int, w: int) -> dict[str, int]:
    return {"N": n, "E": e, "S": s, "W": w}


def deal(ruleset: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A deal that scores, and what is changed in it; None leaves a field out."""
    body = {
        "ruleset": {"preset": "standard", **(ruleset or {})},
        "bids": four(4, 4, 3, 2),
        "tricks": taken(4, 4, 3, 2),
        **changes,
    }
    return {name: value for name, value in body.items() if value is not None}


def told(reply: Any) -> list[tuple[str, str]]:
    return [(fault["pointer"], fault["reason"]) for fault in reply.body["errors"]]


def body_of(case: dict[str, Any]) -> dict[str, Any]:
    tricks = case["hands"]["tricks"]
    moon = sum(tricks.values())
    before = dict(case["before"])
    if "hand_no" in before:
        before["deal_number"] = before.pop("hand_no")
    bids = {
        seat: number(moon) if bid == "moon" else number(bid) if isinstance(bid, int) else {"kind": bid}
        for seat, bid in case["hands"]["bids"].items()
        if bid is not None
    }
    overrides = {name: value for name, value in case["options_overrides"].items() if name != "hand_size"}
    body = {"ruleset": {"preset": case["preset"], **overrides}, "before": before, "bids": bids, "tricks": tricks}
    return {**body, **{name: case["hands"][name] for name in ("blind_sides",) if name in case["hands"]}}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_deal_is_answered_as_worked(ask, case):
    reply = ask("deals", body_of(case))

    assert reply.status == 200, reply.content
    for side, expected in case["expected"].items():
        found = reply.body["sides"][side]
        assert {name: found[name] for name in expected} == expected
    over = case["game"]["over"]
    winners = [case["game"]["winner"]] if over else []
    assert reply.body["game"] == {"over": over, "winners": winners, "reason": case["game"]["reason"]}
    if "round_winners" in case:
        assert reply.body["closest_bidders"] == case["round_winners"]
    if "set_seats" in case:
        parts = {seat: part for side in reply.body["sides"].values() for seat, part in side["seats"].items()}
        assert [seat for seat, part in parts.items() if part["set"]] == case["set_seats"]


# --- The endpoint is the library -------------------------------------------------------------------------------------

CHANGES: list[dict[str, Any]] = [
    {},
    {"bag_points": -10},
    {"failed_nil_tricks": "help_partner"},
    {"bid_mode": "individual"},
    {"blind_nil": "any"},
    {"max_hands": 3},
    {"set_limit": 2},
    {"losing_score": -200},
    {"first_hand_bids_itself": True},
    {"blind_bid_min": 6, "blind_bid_multiplier": 2},
    {"ten_for_200": "at_least"},
    {"min_team_bid": 4},
]


def _ruleset(preset: str, changes: dict[str, Any]) -> Ruleset:
    try:
        return Ruleset.resolve({"preset": preset, **changes})
    except ValueError:
        return Ruleset.resolve({"preset": preset})


rulesets = st.builds(_ruleset, st.sampled_from(sorted(PRESETS)), st.sampled_from(CHANGES))


@st.composite
def tricks_of(draw, ruleset: Ruleset) -> dict[str, int]:
    seats = table(ruleset.players, ruleset.teams).seats
    cuts = sorted(draw(st.integers(0, ruleset.hand_size)) for _ in seats[1:])
    counts = [high - low for low, high in zip([0, *cuts], [*cuts, ruleset.hand_size], strict=True)]
    return dict(zip(seats, counts, strict=True))


@st.composite
def bids_of(draw, ruleset: Ruleset) -> dict[str, Bid]:
    seats = table(ruleset.players, ruleset.teams).seats
    share = ruleset.hand_size // len(seats)
    usual = st.integers(max(share - 2, 0), share + 2).map(Bid.number)
    rare = st.sampled_from([Bid.nil(), Bid(BidKind.BLIND_NIL), Bid(BidKind.BLIND, 4), Bid.number(ruleset.hand_size)])
    return {seat: draw(st.one_of(usual, usual, usual, rare)) for seat in seats}


@st.composite
def standings_of(draw, ruleset: Ruleset) -> dict[str, SideBefore]:
    sides = table(ruleset.players, ruleset.teams).sides
    told = draw(st.sets(st.sampled_from(sides)))
    one = st.builds(SideBefore, st.integers(-300, 600), st.integers(0, 12), st.integers(0, 2))
    return {side: draw(one) for side in sorted(told)}


def before_of(standing: dict[str, SideBefore], **more: Any) -> dict[str, Any]:
    return {
        "scores": {side: each.score for side, each in standing.items()},
        "bags": {side: each.bags for side, each in standing.items()},
        "sets": {side: each.sets for side, each in standing.items()},
        **more,
    }


def flat(ruleset: Ruleset) -> dict[str, Any]:
    return {"preset": ruleset.preset, **ruleset.overrides()}


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_deal_is_answered_as_the_library_scores_it(ask, data):
    ruleset = data.draw(rulesets)
    number = data.draw(st.integers(1, 4))
    bids = {} if nobody_bids(ruleset, number) else data.draw(bids_of(ruleset))
    tricks, standing = data.draw(tricks_of(ruleset)), data.draw(standings_of(ruleset))
    sides = table(ruleset.players, ruleset.teams).sides
    adjustments = data.draw(st.lists(st.builds(Adjustment, st.sampled_from(sides), st.integers(-50, 50)), max_size=2))
    blind_sides = data.draw(st.one_of(st.just([]), st.just([]), st.sampled_from([[side] for side in sides])))
    try:
        sheet, score = ScoreSheet.at(ruleset, standing, number).after(
            bids, tricks, blind_sides=blind_sides, adjustments=adjustments
        )
        expected: Any = answer(score, sheet.ending())
    except RuleViolation as violation:
        expected = violation

    reply = ask(
        "deals",
        {
            "ruleset": flat(ruleset),
            "before": before_of(standing, deal_number=number),
            "bids": {seat: bid.to_json() for seat, bid in bids.items()},
            "tricks": tricks,
            "blind_sides": blind_sides,
            "adjustments": [{"side": each.side, "points": each.points} for each in adjustments],
        },
    )

    if isinstance(expected, RuleViolation):
        assert (reply.status, reply.reason, reply.body["detail"]) == (422, expected.reason, expected.detail)
        assert reply.reason in [reason for _, reason in told(reply)]
    else:
        assert (reply.status, reply.body) == (200, expected)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_game_is_answered_as_the_library_scores_it(ask, data):
    ruleset = data.draw(rulesets)
    results = [
        DealResult({} if nobody_bids(ruleset, n) else data.draw(bids_of(ruleset)), data.draw(tricks_of(ruleset)))
        for n in range(1, data.draw(st.integers(0, 5)) + 1)
    ]

    reply = ask(
        "games",
        {
            "ruleset": flat(ruleset),
            "deals": [
                {"bids": {seat: bid.to_json() for seat, bid in each.bids.items()}, "tricks": each.tricks}
                for each in results
            ],
        },
    )

    try:
        answers, ending = score_game(ruleset, results)
    except DealRefused as refused:
        refusal = refused
    else:
        assert (reply.status, reply.body) == (200, {"deals": answers, "game": game_answer(ending)})
        return
    assert isinstance(refusal.why, RuleViolation)
    assert reply.reason == refusal.why.reason
    assert all(pointer.startswith(f"/deals/{refusal.number - 1}") for pointer, _ in told(reply))


@pytest.mark.parametrize(
    ("ruleset", "side", "bids"),
    [
        ({"preset": "standard"}, "NS", {}),
        ({"preset": "standard"}, "EW", {"E": NIL}),
        ({"preset": "standard"}, "NS", {"N": number(4), "S": number(3), "E": number(3), "W": number(2)}),
        ({"preset": "standard", "bid_mode": "individual"}, "NS", {"N": number(4), "S": number(3)}),
        ({"preset": "two_player"}, "B", {}),
        ({"preset": "cutthroat"}, "C", {"A": number(5)}),
        ({"preset": "six_pairs"}, "AD", {"A": number(5)}),
        ({"preset": "books"}, "NS", {}),
    ],
)
def test_what_if_is_answered_as_the_library_does(ask, ruleset, side, bids):
    standing = {side: SideBefore(430, 8)}

    reply = ask("what_if", {"ruleset": ruleset, "before": before_of(standing), "side": side, "bids": bids})

    known = {seat: Bid.from_json(bid) for seat, bid in bids.items()}
    assert (reply.status, reply.body) == (200, what_if(Ruleset.resolve(ruleset), standing, side, known))


# --- Parts of a question ---------------------------------------------------------------------------------------------


def test_a_side_left_out_stands_at_nothing(ask):
    whole = {"scores": {"NS": 0, "EW": 95}, "bags": {"NS": 9, "EW": 0}, "sets": {"NS": 0, "EW": 1}}
    part = {"scores": {"EW": 95}, "bags": {"NS": 9}, "sets": {"EW": 1}}

    assert ask("deals", deal(before=part)).body == ask("deals", deal(before=whole)).body
    assert ask("deals", deal()).body == ask("deals", deal(before={})).body


def test_two_blind_bids_are_two_numbers_of_a_blind_side(ask):
    rules = {"preset": "joker_joker_deuce_deuce_tournament"}
    before = {"scores": {"NS": 0, "EW": 100}}

    spoken = ask("deals", deal(rules, before=before, bids=four(blind(3), 3, blind(3), 4), tricks=taken(3, 3, 3, 4)))
    named = ask(
        "deals",
        deal(rules, before=before, bids=four(3, 3, 3, 4), tricks=taken(3, 3, 3, 4), blind_sides=["NS"]),
        example=True,
    )

    assert spoken.status == 200
    assert named.body == spoken.body
    assert [line["what"] for line in named.body["sides"]["NS"]["lines"]] == ["contract", "blind"]


def test_partners_who_are_scored_apart_have_scores_of_their_own(ask):
    reply = ask("deals", deal({"bid_mode": "individual"}, tricks=taken(6, 4, 1, 2)))

    north, south = (reply.body["sides"]["NS"]["seats"][seat] for seat in "NS")
    assert (north["contract"], north["bags"], north["set"], south["contract"], south["set"]) == (
        40,
        2,
        False,
        -30,
        True,
    )
    assert reply.body["sides"]["NS"]["delta"] == 12
    assert reply.body["sides"]["NS"]["set"] is True


def test_an_adjustment_is_a_line_of_the_deal(ask):
    reply = ask(
        "deals",
        deal(
            before={"scores": {"NS": 440}},
            adjustments=[
                {"side": "NS", "points": -10, "why": "a late bid"},
                {"side": "EW", "points": 5},
            ],
        ),
    )

    assert reply.body["sides"]["NS"]["lines"][-1] == {"what": "adjustment", "points": -10, "rule": "adjustments"}
    assert (reply.body["sides"]["NS"]["score"], reply.body["sides"]["EW"]["score"]) == (500, 65)
    assert reply.body["game"] == {"over": True, "winners": ["NS"], "reason": "target"}


def test_the_number_of_the_deal_decides_whether_anybody_bids(ask):
    rules = {"first_hand_bids_itself": True}

    first = ask("deals", deal(rules, bids=None))
    later = ask("deals", deal(rules))
    refused = ask("deals", deal(rules, before={"deal_number": 1}))

    assert [line["what"] for line in first.body["sides"]["NS"]["lines"]] == ["contract"]
    assert (first.body["sides"]["NS"]["set"], later.body["sides"]["NS"]["set"]) == (None, False)
    assert (refused.status, refused.reason, told(refused)) == (422, "bid_is_forced", [("/bids", "bid_is_forced")])


@pytest.mark.parametrize(
    ("preset", "bids", "tricks"),
    [
        ("two_player", {"A": number(6), "B": NIL}, {"A": 13, "B": 0}),
        ("cutthroat", {"A": number(5), "B": number(6), "C": number(5)}, {"A": 5, "B": 7, "C": 5}),
        ("six_solo", {seat: number(1) for seat in "ABCDEF"}, {"A": 3, "B": 1, "C": 1, "D": 1, "E": 1, "F": 1}),
        ("six_pairs", {seat: number(3) for seat in "ABCDEF"}, {**dict.fromkeys("ABCDEF", 3), "F": 2}),
    ],
)
def test_tables_of_every_size_are_scored(ask, preset, bids, tricks):
    reply = ask("deals", {"ruleset": {"preset": preset}, "bids": bids, "tricks": tricks})

    assert reply.status == 200
    ruleset = PRESETS[preset].ruleset
    assert list(reply.body["sides"]) == list(table(ruleset.players, ruleset.teams).sides)


def test_a_game_carries_bags_sets_and_scores(ask):
    one = {"bids": four(3, 3, 3, 2), "tricks": taken(6, 3, 4, 0)}

    reply = ask("games", {"ruleset": {"preset": "standard"}, "deals": [one, one, one]}, example=True)

    sides = [each["sides"]["NS"] for each in reply.body["deals"]]
    assert [(side["bags"], side["bag_penalty"], side["score"]) for side in sides] == [
        (4, 0, 64),
        (8, 0, 128),
        (2, -100, 92),
    ]
    assert reply.body["game"] == {"over": False, "winners": [], "reason": None}


def test_a_game_without_a_deal_has_no_scores(ask):
    reply = ask("games", {"ruleset": {"preset": "standard"}, "deals": []})

    assert reply.body == {"deals": [], "game": {"over": False, "winners": [], "reason": None}}


def test_a_deal_after_the_end_of_the_game_is_refused(ask):
    one = {"bids": four(3, 3, 3, 3), "tricks": taken(4, 3, 3, 3)}

    reply = ask("games", {"ruleset": {"preset": "standard", "target_score": 60}, "deals": [one, one]})

    assert (reply.status, reply.reason, told(reply)) == (409, "game_over", [("/deals/1", "game_over")])


# --- What no table could have is malformed ---------------------------------------------------------------------------

MALFORMED: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("a float", deal(tricks={**taken(4, 4, 3, 2), "N": 4.0}), [("/tricks/N", "wrong_type")]),
    ("a text", deal(tricks={**taken(4, 4, 3, 2), "N": "4"}), [("/tricks/N", "wrong_type")]),
    ("a boolean", deal(bids=four({"kind": "number", "tricks": True}, 4, 3, 2)), [("/bids/N/tricks", "wrong_type")]),
    ("null", deal(bids=four(None, 4, 3, 2)), [("/bids/N", "wrong_type")]),
    ("below 0", deal(tricks={**taken(4, 4, 3, 2), "N": -1}), [("/tricks/N", "out_of_range")]),
    ("above 54", deal(bids=four(55, 4, 3, 2)), [("/bids/N/tricks", "out_of_range")]),
    ("an unknown field", deal(bid=3), [("/bid", "unknown_field")]),
    ("an unknown field of a bid", deal(bids=four({**NIL, "x": 1}, 4, 3, 2)), [("/bids/N/x", "unknown_field")]),
    ("a nil with tricks", deal(bids=four({**NIL, "tricks": 0}, 4, 3, 2)), [("/bids/N/tricks", "unknown_field")]),
    ("a number without", deal(bids=four({"kind": "number"}, 4, 3, 2)), [("/bids/N/tricks", "missing_field")]),
    ("an unknown kind", deal(bids=four({"kind": "moon"}, 4, 3, 2)), [("/bids/N/kind", "not_allowed_value")]),
    ("no kind", deal(bids=four({}, 4, 3, 2)), [("/bids/N/kind", "missing_field")]),
    ("a seat of no table", deal(tricks={**taken(4, 4, 3, 2), "Q": 0}), [("/tricks/Q", "unknown_field")]),
    ("a seat of another table", deal(tricks={**taken(4, 4, 3, 2), "A": 0}), [("/tricks/A", "unknown_field")]),
    ("a seat left out", deal(tricks={"N": 4, "E": 4, "S": 5}), [("/tricks/W", "missing_field")]),
    ("a bid left out", deal(bids={"N": number(4)}), [(f"/bids/{seat}", "missing_field") for seat in "ESW"]),
    ("no bids", deal(bids=None), [(f"/bids/{seat}", "missing_field") for seat in "NESW"]),
    ("no tricks", deal(tricks=None), [("/tricks", "missing_field")]),
    ("no ruleset", {"bids": {}, "tricks": {}}, [("/ruleset", "missing_field")]),
    ("bids as a list", deal(bids=[4, 4, 3, 2]), [("/bids", "wrong_type")]),
    ("a side of no table", deal(before={"scores": {"SN": 0}}), [("/before/scores/SN", "unknown_field")]),
    ("a side of another", deal(before={"bags": {"A": 0}}), [("/before/bags/A", "unknown_field")]),
    ("bags below 0", deal(before={"bags": {"NS": -1}}), [("/before/bags/NS", "out_of_range")]),
    ("sets as a list", deal(before={"sets": []}), [("/before/sets", "wrong_type")]),
    ("a score as a text", deal(before={"scores": {"NS": "0"}}), [("/before/scores/NS", "wrong_type")]),
    ("a score too high", deal(before={"scores": {"NS": 1_000_001}}), [("/before/scores/NS", "out_of_range")]),
    ("deal 0", deal(before={"deal_number": 0}), [("/before/deal_number", "out_of_range")]),
    ("an unknown field before", deal(before={"hand_no": 2}), [("/before/hand_no", "unknown_field")]),
    ("a blind side of no table", deal(blind_sides=["N", "XY"]), [("/blind_sides/1", "bad_format")]),
    ("a blind side of another", deal(blind_sides=["N"]), [("/blind_sides/0", "not_allowed_value")]),
    ("a blind side twice", deal(blind_sides=["NS", "NS"]), [("/blind_sides/1", "not_allowed_value")]),
    (
        "an adjustment of another",
        deal(adjustments=[{"side": "A", "points": 1}]),
        [("/adjustments/0/side", "not_allowed_value")],
    ),
    (
        "an adjustment of half",
        deal(adjustments=[{"side": "NS", "points": 0.5}]),
        [("/adjustments/0/points", "wrong_type")],
    ),
    ("an adjustment of nobody", deal(adjustments=[{"points": 5}]), [("/adjustments/0/side", "missing_field")]),
    ("an unknown option", deal({"bag_limt": 5}), [("/ruleset/bag_limt", "unknown_field")]),
    ("an option of a wrong type", deal({"bag_limit": "5"}), [("/ruleset/bag_limit", "wrong_type")]),
    ("an unknown preset", deal({"preset": "bridge"}), [("/ruleset/preset", "not_allowed_value")]),
    ("what is answered only", deal({"hand_size": 13}), [("/ruleset/hand_size", "not_allowed_value")]),
    ("a ruleset as a text", deal() | {"ruleset": "standard"}, [("/ruleset", "wrong_type")]),
    (
        "several things",
        deal(bids=four(55, NIL | {"tricks": 1}, 3, 2), tricks={**taken(4, 4, 3, 2), "Q": -1}, x=1),
        [
            ("/bids/N/tricks", "out_of_range"),
            ("/bids/E/tricks", "unknown_field"),
            ("/tricks/Q", "unknown_field"),
            ("/x", "unknown_field"),
        ],
    ),
]


@pytest.mark.parametrize(("body", "faults"), [pytest.param(body, faults, id=name) for name, body, faults in MALFORMED])
def test_what_no_table_could_have_is_malformed(ask, body, faults):
    reply = ask("deals", body, bad=True)

    assert (reply.status, reply.reason) == (400, "malformed")
    assert sorted(told(reply)) == sorted(faults)


def test_a_game_is_malformed_where_one_of_its_deals_is(ask):
    good = {"bids": four(3, 3, 3, 3), "tricks": taken(4, 3, 3, 3)}
    bad = {"bids": {**good["bids"], "A": NIL}, "tricks": {"N": 13}}

    reply = ask("games", {"ruleset": {"preset": "standard"}, "deals": [good, bad, good | {"tricks": {}}]})

    assert reply.status == 400
    wrong = [("/deals/1/bids/A", "unknown_field"), *((f"/deals/1/tricks/{seat}", "missing_field") for seat in "ESW")]
    assert told(reply) == [*wrong, *((f"/deals/2/tricks/{seat}", "missing_field") for seat in "NESW")]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"side": "SN"}, [("/side", "bad_format")]),
        ({"side": "A"}, [("/side", "not_allowed_value")]),
        ({"side": None}, [("/side", "missing_field")]),
        ({"bids": {"A": NIL}}, [("/bids/A", "unknown_field")]),
        ({"before": {"scores": {"A": 1}}}, [("/before/scores/A", "unknown_field")]),
        ({"tricks": {}}, [("/tricks", "unknown_field")]),
    ],
)
def test_a_question_about_no_side_is_malformed(ask, change, faults):
    body = {"ruleset": {"preset": "standard"}, "side": "NS", "bids": {}, **change}

    reply = ask("what_if", {name: value for name, value in body.items() if value is not None}, bad=True)

    assert (reply.status, told(reply)) == (400, faults)


def test_a_question_with_too_many_answers_asks_for_more_bids(ask):
    rules = {"preset": "six_pairs", "teams": "trios", "bid_mode": "individual"}
    bids = {seat: number(2) for seat in "ACE"}

    wide = ask("what_if", {"ruleset": rules, "side": "ACE", "bids": {}})
    narrow = ask("what_if", {"ruleset": rules, "side": "ACE", "bids": bids})

    assert (wide.status, told(wide)) == (400, [("/bids", "missing_field")])
    assert (narrow.status, len(narrow.body["options"])) == (200, 1)


# --- What the rules forbid -------------------------------------------------------------------------------------------

BLIND = {"blind_nil": "behind", "blind_nil_deficit": 100}
FORBIDDEN: list[tuple[str, dict[str, Any], str, list[tuple[str, str]], str | None]] = [
    ("14 tricks", deal(tricks=taken(5, 4, 3, 2)), "tricks_do_not_add_up", [("/tricks", "tricks_do_not_add_up")], None),
    ("a bid of 14", deal(bids=four(14, 4, 3, 2)), "bid_out_of_range", [("/bids/N", "bid_out_of_range")], "max_bid"),
    ("a plain zero", deal(bids=four(0, 4, 3, 2)), "bid_out_of_range", [("/bids/N", "bid_out_of_range")], "zero_bid"),
    (
        "no nil here",
        deal({"preset": "bicycle"}, bids=four(NIL, 4, 3, 2)),
        "nil_not_offered",
        [("/bids/N", "nil_not_offered")],
        "nil_success",
    ),
    (
        "one nil a side",
        deal({"both_nil": "forbidden"}, bids=four(NIL, 4, NIL, 2)),
        "nil_not_offered",
        [("/bids", "nil_not_offered")],
        "both_nil",
    ),
    (
        "a blind nil where it is off",
        deal({"blind_nil": "off"}, bids=four({"kind": "blind_nil"}, 4, 3, 2)),
        "blind_nil_not_allowed",
        [("/bids/N", "blind_nil_not_allowed")],
        "blind_nil",
    ),
    (
        "a blind nil too soon",
        deal(BLIND, bids=four({"kind": "blind_nil"}, 4, 3, 2), before={"scores": {"EW": 99}}),
        "blind_not_behind",
        [("/bids/N", "blind_not_behind")],
        "blind_nil_deficit",
    ),
    (
        "one blind of two",
        deal({"preset": "joker_joker_deuce_deuce_tournament"}, bids=four(blind(6), 4, 3, 3)),
        "blind_side_incomplete",
        [("/bids", "blind_side_incomplete")],
        "blind_bid_min",
    ),
    (
        "a blind side without a number",
        deal({"blind_bid_min": 6, "blind_bid_multiplier": 2}, bids=four(NIL, 4, NIL, 3), blind_sides=["NS"]),
        "blind_side_incomplete",
        [("/blind_sides/0", "blind_side_incomplete")],
        "blind_bid_min",
    ),
    (
        "blind sides where nobody bids blind",
        deal(blind_sides=["NS"]),
        "blind_nil_not_allowed",
        [("/blind_sides/0", "blind_nil_not_allowed")] * 2,
        "blind_bid_min",
    ),
    (
        "a side under its minimum",
        deal({"min_team_bid": 4}, bids=four(2, 4, 1, 2)),
        "team_minimum",
        [("/bids", "team_minimum")],
        "min_team_bid",
    ),
    (
        "a side over its maximum",
        deal({"max_team_bid": 13}, bids=four(7, 4, 7, 2)),
        "team_maximum",
        [("/bids", "team_maximum")],
        "max_team_bid",
    ),
    (
        "the total to avoid",
        deal({"total_bid_rule": "not_equal_tricks"}, bids=four(4, 4, 3, 2)),
        "total_equals_tricks",
        [("/bids", "total_equals_tricks")],
        "total_bid_rule",
    ),
    (
        "a suicide without a nil",
        deal({"preset": "suicide"}, bids=four(4, NIL, 3, 4)),
        "suicide_needs_nil",
        [("/bids", "suicide_needs_nil")],
        "bid_rule",
    ),
    (
        "a suicide of two",
        deal({"preset": "suicide"}, bids=four(NIL, NIL, NIL, 4)),
        "suicide_needs_number",
        [("/bids", "suicide_needs_number")],
        "bid_rule",
    ),
    (
        "spades that are not there",
        deal({"preset": "mirror"}, bids=four(4, 4, 4, 2)),
        "bid_is_forced",
        [("/bids", "bid_is_forced")],
        "bid_rule",
    ),
    ("a bid in books", deal({"preset": "books"}), "bid_is_forced", [("/bids", "bid_is_forced")], "bid_mode"),
    (
        "everything at once",
        deal(
            {"min_team_bid": 4, "blind_nil": "off"},
            bids=four(1, 14, {"kind": "blind_nil"}, 2),
            tricks=taken(13, 13, 0, 0),
        ),
        "bid_out_of_range",
        [
            ("/bids/E", "bid_out_of_range"),
            ("/bids/S", "blind_nil_not_allowed"),
            ("/bids", "team_minimum"),
            ("/tricks", "tricks_do_not_add_up"),
        ],
        "max_bid",
    ),
]


@pytest.mark.parametrize(
    ("body", "reason", "faults", "option"), [pytest.param(*case, id=name) for name, *case in FORBIDDEN]
)
def test_what_the_rules_forbid_is_refused_with_a_pointer_and_the_rule(ask, body, reason, faults, option):
    reply = ask("deals", body)

    assert (reply.status, reply.reason, told(reply)) == (422, reason, faults)
    assert reply.body.get("rule", {}).get("option") == option


def test_every_contradiction_of_a_ruleset_is_listed(ask):
    wrong = {"teams": "trios", "moon": "bid_all", "moon_success": 200}

    for what, more in (("deals", {}), ("games", {"deals": []}), ("what_if", {"side": "NS"})):
        body = {**deal(), **more} if what == "deals" else more
        reply = ask(what, {**body, "ruleset": {"preset": "standard", **wrong}})

        assert (reply.status, reply.reason) == (422, "ruleset_contradiction")
        assert [pointer for pointer, _ in told(reply)] == ["/ruleset/teams", "/ruleset/moon"]


def test_a_game_is_refused_at_the_deal_that_the_rules_forbid(ask):
    first = {"bids": four(3, 5, 3, 5), "tricks": taken(0, 5, 3, 5)}
    second = {"bids": four({"kind": "blind_nil"}, 4, 3, 3), "tricks": taken(0, 5, 3, 4)}

    reply = ask("games", {"ruleset": {"preset": "standard", **BLIND}, "deals": [first, second]})
    behind = ask("games", {"ruleset": {"preset": "standard", **BLIND}, "deals": [second]})

    assert (reply.status, told(reply)) == (422, [("/deals/1/tricks", "tricks_do_not_add_up")])
    assert (behind.reason, told(behind)[0]) == ("blind_not_behind", ("/deals/0/bids/N", "blind_not_behind"))


# --- What every operation keeps to -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("deals", deal()),
        (
            "games",
            {"ruleset": {"preset": "standard"}, "deals": [{"bids": four(4, 4, 3, 2), "tricks": taken(4, 4, 3, 2)}]},
        ),
        (
            "what_if",
            {
                "ruleset": {"preset": "two_player"},
                "before": {"scores": {"A": 420}},
                "side": "A",
                "bids": {"A": number(5)},
            },
        ),
    ],
)
def test_a_question_keeps_nothing_and_asks_the_database_once(ask, django_assert_num_queries, what, body):
    with django_assert_num_queries(1):
        first = ask(what, body, headers={"Idempotency-Key": "the-same"}, example=what == "what_if")
    again = ask(what, {**body, "x": 1}, headers={"Idempotency-Key": "the-same"}, bad=True)

    assert first.status == 200
    assert "idempotency-replayed" not in first.headers
    assert again.status == 400
    assert again.reason == "malformed"
    assert IdempotencyRecord.objects.count() == 0


def test_a_key_that_is_none_is_malformed(ask):
    reply = ask("deals", deal(), headers={"Idempotency-Key": "with a blank"}, bad=True)

    assert (reply.status, told(reply)) == (400, [("Idempotency-Key", "bad_format")])


def test_a_question_needs_the_scope(ask):
    _, games_only = create_account("Bob", ["games"])

    reply = ask("deals", deal(), token=games_only)

    assert (reply.status, reply.reason) == (403, "scope_missing")
