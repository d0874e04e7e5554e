"""Kept score sheets over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import IdempotencyRecord
from accounts.services import create_account
from events.models import Event
from events.stream import game_waited_for
from scoring import services
from scoring.models import Change, ShareLink, Sheet
from tests.client import Answer, ApiClient
from tests.scoring.test_questions import CASES, body_of

pytestmark = pytest.mark.django_db

UNKNOWN = "018f3c5e-7a00-7cc3-98c5-0242ac120002"
NIL = {"kind": "nil"}
BLIND_NIL = {"kind": "blind_nil"}


def four(n: Any, e: Any, s: Any, w: Any) -> dict[str, Any]:
    bids = zip("NESW", (n, e, s, w), strict=True)
    return {seat: {"kind": "number", "tricks": bid} if isinstance(bid, int) else bid for seat, bid in bids}


def taken(*counts: int) -> dict[str, int]:
    return dict(zip("NESW", counts, strict=True))


MADE = {"bids": four(4, 3, 3, 3), "tricks": taken(4, 3, 3, 3)}
"""A deal in which both sides make what they bid: 70 and 60."""


@dataclass
class Kept:
    """A sheet over HTTP."""

    api: ApiClient
    id: str
    token: str

    def url(self, *parts: object) -> str:
        return "/".join(["/v1/score_sheets", self.id, *map(str, parts)])

    def get(self, *parts: object, query: str = "", **kwargs: Any) -> Answer:
        return self.api.get(self.url(*parts) + query, **{"token": self.token, **kwargs})

    def post(self, *parts: object, json: Any = None, **kwargs: Any) -> Answer:
        return self.api.post(self.url(*parts), json=json, **{"token": self.token, **kwargs})

    def patch(self, *parts: object, json: Any, **kwargs: Any) -> Answer:
        return self.api.patch(self.url(*parts), json=json, **{"token": self.token, **kwargs})

    def write(self, *deals: dict[str, Any]) -> Kept:
        for deal in deals:
            reply = self.post("deals", json=deal)
            assert reply.status == 201, reply.content
        return self

    def scores(self) -> list[int]:
        return [side["score"] for side in self.get().body["sides"]]


@pytest.fixture
def sheet(client: ApiClient) -> Callable[..., Kept]:
    """Begins a sheet: `sheet(target_score=100)`."""

    def begin(preset: str = "standard", **options: Any) -> Kept:
        reply = client.post("/v1/score_sheets", json={"ruleset": {"preset": preset, **options}})
        assert reply.status == 201, reply.content
        return Kept(client, reply.body["id"], client.token or "")

    return begin


def told(reply: Answer) -> list[tuple[str, str]]:
    return [(fault["pointer"], fault["reason"]) for fault in reply.body["errors"]]


# --- A sheet, deal by deal -------------------------------------------------------------------------------------------


def test_a_sheet_begins_empty_and_has_an_address(client):
    reply = client.post(
        "/v1/score_sheets",
        json={"ruleset": {"preset": "pagat"}, "names": {"N": "Ann", "E": "Bea"}, "dealer": "E", "note": "At the club"},
        example=True,
    )
    found = client.get(reply.headers["location"])

    assert reply.status == 201
    assert found.body == reply.body
    assert found.headers["etag"] == reply.headers["etag"] == '"1-owner"'
    assert reply.body["names"] == {"N": "Ann", "E": "Bea", "S": None, "W": None}
    assert reply.body["sides"] == [{"side": side, "score": 0, "bags": 0, "sets": 0} for side in ("NS", "EW")]
    assert reply.body["next"] == {"number": 1, "dealer": "E", "first_bidder": "S"}
    assert (reply.body["deals"], reply.body["game"]["over"], reply.body["version"]) == ([], False, 1)


def test_a_deal_is_bid_first_and_scored_when_its_tricks_are_told(sheet):
    kept = sheet()

    bid = kept.post("deals", json={"bids": MADE["bids"], "note": "slow"}, example=True)
    early = kept.post("deals", json=MADE)
    scored = kept.patch("deals", 1, json={"tricks": MADE["tricks"]}, example=True)

    assert bid.status == 201
    assert bid.headers["location"] == kept.url("deals", 1)
    assert (bid.body["sheet"]["deals"][0]["answer"], bid.body["changed"]) == (None, [])
    assert (early.status, early.reason) == (409, "wrong_phase")
    assert scored.status == 200
    assert [(line["side"], line["before"], line["after"]["delta"]) for line in scored.body["changed"]] == [
        ("NS", None, 70),
        ("EW", None, 60),
    ]
    assert [side["score"] for side in scored.body["sheet"]["sides"]] == [70, 60]
    assert kept.get("deals", 1, example=True).body == scored.body["sheet"]["deals"][0]
    assert kept.get("deals", 2).status == 404


def test_the_deal_and_the_first_bid_go_round_with_the_numbers(sheet):
    kept = sheet("hoyle_partners").write(MADE, MADE, MADE, MADE, MADE)

    deals = kept.get().body["deals"]

    assert [deal["dealer"] for deal in deals] == ["N", "E", "S", "W", "N"]
    assert [deal["first_bidder"] for deal in deals] == ["E", "S", "W", "N", "E"]


def test_a_table_of_every_kind_keeps_its_score(sheet):
    two = sheet("two_player").write(
        {"bids": {"A": {"kind": "number", "tricks": 6}, "B": NIL}, "tricks": {"A": 13, "B": 0}}
    )
    books = sheet("books").write({"tricks": taken(5, 3, 3, 2)})

    assert two.scores() == [67, 100]
    assert books.scores() == [8, 5]
    assert books.get().body["next"] == {"number": 2, "dealer": "E", "first_bidder": None}


def test_a_game_that_was_begun_elsewhere_goes_on_from_where_the_sides_stood(client):
    ruleset = {"preset": "standard", "first_hand_bids_itself": True, "max_hands": 6}
    before = {"scores": {"NS": 180, "EW": -20}, "bags": {"NS": 9}, "deal_number": 5}
    reply = client.post("/v1/score_sheets", json={"ruleset": ruleset, "before": before, "dealer": "S"})
    kept = Kept(client, reply.body["id"], client.token)

    assert reply.body["before"] == before
    assert reply.body["sides"] == [
        {"side": "NS", "score": 180, "bags": 9, "sets": 0},
        {"side": "EW", "score": -20, "bags": 0, "sets": 0},
    ]
    assert reply.body["next"] == {"number": 1, "dealer": "S", "first_bidder": "W"}  # deal 5, which does not bid itself
    kept.write({"bids": four(4, 3, 3, 2), "tricks": taken(5, 3, 3, 2)})
    assert kept.scores() == [151, 30]
    corrected = kept.patch(json={"before": {**before, "bags": {}}})
    assert corrected.body["sheet"]["before"] == {**before, "bags": {}}
    assert [(line["deal"], line["before"]["score"], line["after"]["score"]) for line in corrected.body["changed"]] == [
        (1, 151, 251)
    ]
    assert kept.post("undo").body["changed"][0]["after"]["score"] == 151
    kept.write(MADE)
    assert kept.get().body["game"] == {"over": True, "winners": ["NS"], "reason": "max_hands"}
    assert kept.patch(json={"before": None}).reason == "game_over"
    assert kept.patch(json={"before": None, "mode": "lenient"}).status == 200
    assert kept.patch(json={"names": {"N": "Ann"}}).status == 200


def test_a_standing_is_one_of_this_tables_sides(client, sheet):
    body = {"ruleset": {"preset": "standard"}, "before": {"scores": {"A": 10}, "bags": {"NS": 1}}}
    kept = sheet()

    for reply in (
        client.post("/v1/score_sheets", json=body),
        kept.patch(json={"before": body["before"]}),
    ):
        assert (reply.status, told(reply)) == (400, [("/before/scores/A", "unknown_field")])
    assert kept.get().body["version"] == 1


def test_a_deal_that_bid_itself_stays_the_first_of_its_game(sheet):
    kept = sheet(first_hand_bids_itself=True).write({"tricks": taken(4, 3, 3, 3)})

    reply = kept.patch(json={"before": {"deal_number": 2}, "mode": "lenient"})

    assert (reply.status, told(reply)) == (400, [("/before", "not_allowed_value")])
    assert kept.patch(json={"before": {"scores": {"NS": 10}}}).body["sheet"]["sides"][0]["score"] == 80


def test_a_correction_of_the_standing_after_which_a_deal_is_forbidden_is_refused(client):
    ruleset = {"preset": "standard", "blind_nil": "behind"}
    body = {"ruleset": ruleset, "before": {"scores": {"NS": 0, "EW": 150}}}
    kept = Kept(client, client.post("/v1/score_sheets", json=body).body["id"], client.token)
    kept.write({"bids": four(BLIND_NIL, 4, 4, 4), "tricks": taken(0, 4, 5, 4)})

    reply = kept.patch(json={"before": {"scores": {"EW": 50}}})

    assert (reply.status, reply.reason, reply.body["detail"][:7]) == (422, "blind_not_behind", "Deal 1:")
    assert kept.get().body["before"] == body["before"]
    assert kept.patch(json={"before": {"scores": {"EW": 50}}, "mode": "lenient"}).status == 200
    assert [flag["reason"] for flag in kept.get("deals", 1).body["flags"]] == ["blind_not_behind"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_deal_scores_on_a_sheet_as_it_does_alone(client, ask, case):
    body = body_of(case)
    before = {"deal_number": 2 if body["bids"] else 1, **body["before"]}
    begun = client.post("/v1/score_sheets", json={"ruleset": body["ruleset"], "before": before})
    kept = Kept(client, begun.body["id"], client.token)
    deal = {name: value for name, value in body.items() if name not in ("ruleset", "before")}

    kept.write(deal)

    assert kept.get("deals", 1).body["answer"] == ask("deals", body).body


def test_a_correction_reaches_every_later_line(sheet):
    bags = {"bids": four(3, 3, 3, 3), "tricks": taken(5, 3, 2, 3)}
    kept = sheet(bag_limit=5).write(*[bags] * 6)
    before = kept.get().body

    reply = kept.patch("deals", 2, json={"tricks": taken(3, 4, 3, 3)})

    after = reply.body["sheet"]
    assert [deal["answer"]["sides"]["NS"]["bag_penalty"] for deal in before["deals"]] == [0, 0, 0, 0, -100, 0]
    assert [deal["answer"]["sides"]["NS"]["bag_penalty"] for deal in after["deals"]] == [0, 0, 0, 0, 0, -100]
    lines = [(line["deal"], line["side"]) for line in reply.body["changed"]]
    assert lines == [(deal, side) for deal in range(2, 7) for side in ("NS", "EW")]
    for line in reply.body["changed"]:
        assert line["before"] == before["deals"][line["deal"] - 1]["answer"]["sides"][line["side"]]
        assert line["after"] == after["deals"][line["deal"] - 1]["answer"]["sides"][line["side"]]


def test_what_a_correction_does_not_touch_is_not_told_as_changed(sheet):
    kept = sheet().write(MADE, MADE)

    note = kept.patch("deals", 1, json={"note": "We counted twice."})
    swapped = kept.patch("deals", 1, json={"tricks": taken(3, 3, 4, 3)})

    assert (note.body["changed"], note.body["sheet"]["deals"][0]["note"]) == ([], "We counted twice.")
    assert swapped.body["changed"] == []
    assert kept.patch("deals", 3, json={"note": "x"}).status == 404


def test_an_adjustment_is_a_line_of_the_last_deal_and_waits_for_the_first(sheet):
    kept = sheet()

    early = kept.post("adjustments", json={"side": "EW", "points": 20})
    kept.write(MADE)
    late = kept.post("adjustments", json={"side": "NS", "points": -15, "why": "talked"}, example=True)

    assert [side["score"] for side in early.body["sheet"]["sides"]] == [0, 0]
    assert [side["score"] for side in late.body["sheet"]["sides"]] == [55, 80]
    assert late.body["sheet"]["adjustments"] == [
        {"deal": 1, "side": "EW", "points": 20, "why": None},
        {"deal": 1, "side": "NS", "points": -15, "why": "talked"},
    ]
    lines = late.body["sheet"]["deals"][0]["answer"]["sides"]["NS"]["lines"]
    assert lines[-1] == {"what": "adjustment", "points": -15, "rule": "adjustments"}
    assert told(kept.post("adjustments", json={"side": "A", "points": 1})) == [("/side", "not_allowed_value")]


def test_names_the_note_and_the_first_dealer_are_changed_and_the_rest_stays(sheet):
    kept = sheet().write(MADE)

    reply = kept.patch(json={"names": {"S": "Sue"}, "dealer": "W", "note": "rainy"}, example=True)
    again = kept.patch(json={"names": {"N": "Ann"}, "note": None})

    assert reply.body["sheet"]["deals"][0]["dealer"] == "W"
    assert again.body["sheet"]["names"] == {"N": "Ann", "E": None, "S": "Sue", "W": None}
    assert (again.body["sheet"]["note"], again.body["changed"]) == (None, [])
    wrong = kept.patch(json={"names": {"A": "x"}, "dealer": "B"})
    assert sorted(told(wrong)) == [("/dealer", "not_allowed_value"), ("/names/A", "unknown_field")]


# --- What the rules forbid -------------------------------------------------------------------------------------------

FORBIDDEN = {
    "tricks that do not add up": (
        {"bids": MADE["bids"], "tricks": taken(4, 3, 3, 4)},
        [("/tricks", "tricks_do_not_add_up")],
    ),
    "a bid that is not offered": (
        {"bids": four(14, 3, 3, 3), "tricks": MADE["tricks"]},
        [("/bids/N", "bid_out_of_range")],
    ),
    "a blind nil without the deficit": (
        {"bids": four(BLIND_NIL, 3, 3, 3), "tricks": taken(0, 5, 3, 5)},
        [("/bids/N", "blind_not_behind")],
    ),
    "two at once, before the tricks": (
        {"bids": four(BLIND_NIL, 3, 3, 14)},
        [("/bids/N", "blind_not_behind"), ("/bids/W", "bid_out_of_range")],
    ),
}


@pytest.mark.parametrize(("deal", "faults"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_the_rules_forbid_is_refused_or_written_down_and_flagged(sheet, deal, faults):
    kept = sheet(blind_nil="behind")

    refused = kept.post("deals", json=deal)
    empty = kept.get().body
    accepted = kept.post("deals", json={**deal, "mode": "lenient"})

    assert (refused.status, refused.reason, told(refused)) == (422, faults[0][1], faults)
    assert (empty["deals"], empty["version"]) == ([], 1)
    assert accepted.status == 201
    flags = accepted.body["sheet"]["deals"][0]["flags"]
    assert [(flag["pointer"], flag["reason"]) for flag in flags] == faults


def test_what_is_flagged_already_refuses_no_later_change(sheet):
    kept = sheet()
    assert kept.post("deals", json={**FORBIDDEN["a bid that is not offered"][0], "mode": "lenient"}).status == 201

    kept.write(MADE)

    assert [len(deal["flags"]) for deal in kept.get().body["deals"]] == [1, 0]
    assert kept.scores() == [70 - 170, 120]


def test_a_note_is_written_on_a_deal_of_a_finished_sheet(sheet):
    kept = sheet(target_score=60).write(MADE)

    assert kept.patch("deals", 1, json={"note": "well played"}).status == 200
    assert kept.patch("deals", 1, json={"note": "?", "tricks": taken(3, 3, 3, 4)}).reason == "game_over"
    assert kept.get().body["deals"][0]["note"] == "well played"


def test_what_changes_nothing_is_no_change(sheet):
    kept = sheet().write(MADE)
    before = kept.get()

    for reply in (
        kept.patch(json={}),
        kept.patch(json={"note": None, "dealer": "N"}),
        kept.patch("deals", 1, json=MADE),
        kept.post("import", json={"sheet": kept.get("export").body}),
    ):
        assert (reply.status, reply.body["changed"]) == (200, [])
        assert reply.headers["etag"] == before.headers["etag"]
        assert reply.body["sheet"] == before.body


def test_a_sheet_refuses_with_the_rule_that_decided(sheet, ask):
    options = {"min_team_bid": 4}
    deal = {"bids": four(1, 4, 2, 4), "tricks": taken(4, 3, 3, 3)}

    written = sheet(**options).post("deals", json=deal)
    alone = ask("deals", {"ruleset": {"preset": "standard", **options}, **deal})

    parts = ("reason", "detail", "rule", "errors")
    assert {part: written.body[part] for part in parts} == {part: alone.body[part] for part in parts}
    assert written.body["rule"] == {"option": "min_team_bid", "value": 4, "section": "bids"}


@pytest.mark.parametrize("before", [{"scores": {"NS": 600}}, {"deal_number": 8}])
def test_a_game_that_was_over_before_the_sheet_takes_no_deal(client, before):
    body = {"ruleset": {"preset": "standard", "max_hands": 6, "tie_rule": "shared"}, "before": before}
    kept = Kept(client, (made := client.post("/v1/score_sheets", json=body)).body["id"], client.token)

    refused = kept.post("deals", json=MADE)
    added = kept.post("deals", json={**MADE, "mode": "lenient"})

    assert (made.body["game"]["over"], made.body["next"]) == (True, None)
    assert refused.reason == "game_over"
    [flag] = added.body["sheet"]["deals"][0]["flags"]
    assert flag["detail"] == "The game was over before the first deal of this sheet."


def test_a_finished_sheet_is_changed_only_leniently(sheet):
    kept = sheet(target_score=60).write(MADE)
    over = kept.get().body

    refusals = [
        kept.post("deals", json=MADE),
        kept.patch("deals", 1, json={"tricks": taken(3, 3, 3, 4)}),
        kept.post("adjustments", json={"side": "EW", "points": 5}),
    ]
    added = kept.post("deals", json={**MADE, "mode": "lenient"})
    reopened = kept.patch("deals", 1, json={"tricks": taken(3, 3, 3, 4), "mode": "lenient"})

    assert (over["game"], over["next"]) == ({"over": True, "winners": ["NS"], "reason": "target"}, None)
    assert [(reply.status, reply.reason, told(reply)) for reply in refusals] == [
        (409, "game_over", [("", "game_over")])
    ] * 3
    assert [flag["reason"] for flag in added.body["sheet"]["deals"][1]["flags"]] == ["game_over"]
    assert added.body["sheet"]["game"]["winners"] == ["NS"]
    assert reopened.body["sheet"]["game"] == {"over": True, "winners": ["EW"], "reason": "target"}


def test_a_correction_that_makes_a_later_deal_wrong_is_refused_with_that_deal(sheet):
    behind = {"bids": four(3, 5, 3, 5), "tricks": taken(0, 6, 0, 7)}
    blind = {"bids": four(BLIND_NIL, 4, 4, 4), "tricks": taken(0, 4, 4, 5)}
    kept = sheet(blind_nil="behind", blind_nil_deficit=100).write(behind, blind)

    refused = kept.patch("deals", 1, json={"tricks": taken(4, 3, 2, 4)})
    accepted = kept.patch("deals", 1, json={"tricks": taken(4, 3, 2, 4), "mode": "lenient"})

    assert (refused.status, refused.reason, told(refused)) == (422, "blind_not_behind", [("", "blind_not_behind")])
    assert refused.body["detail"].startswith("Deal 2: ")
    assert [len(deal["flags"]) for deal in accepted.body["sheet"]["deals"]] == [0, 1]


def test_a_correction_that_ends_the_game_earlier_is_refused(sheet):
    kept = sheet(target_score=200).write(MADE, MADE)

    refused = kept.patch("deals", 1, json={"bids": four(10, 0, 3, NIL), "tricks": taken(10, 0, 3, 0)}, bad=True)
    ended = kept.patch("deals", 1, json={"bids": four(NIL, 4, NIL, 3), "tricks": taken(0, 6, 0, 7)})

    assert (refused.status, refused.reason) == (422, "bid_out_of_range")
    assert (ended.status, ended.reason, told(ended)) == (409, "game_over", [("", "game_over")])


@pytest.mark.parametrize(
    ("deal", "faults"),
    [
        ({"bids": {**MADE["bids"], "A": NIL}}, [("/bids/A", "unknown_field")]),
        ({"bids": {"N": NIL}}, [(f"/bids/{seat}", "missing_field") for seat in "ESW"]),
        ({}, [(f"/bids/{seat}", "missing_field") for seat in "NESW"]),
        ({**MADE, "tricks": {"N": 13}}, [(f"/tricks/{seat}", "missing_field") for seat in "ESW"]),
        ({**MADE, "tricks": None}, [("/tricks", "wrong_type")]),
        ({**MADE, "tricks": taken(4.0, 3, 3, 3)}, [("/tricks/N", "wrong_type")]),
        ({**MADE, "blind_sides": ["N"]}, [("/blind_sides/0", "not_allowed_value")]),
        ({**MADE, "mode": "loose"}, [("/mode", "not_allowed_value")]),
        ({**MADE, "number": 1}, [("/number", "unknown_field")]),
        ({**MADE, "note": "a\u0000b"}, [("/note", "forbidden_character")]),
    ],
)
def test_what_this_table_does_not_have_is_malformed_and_nothing_is_written(sheet, deal, faults):
    kept = sheet()

    reply = kept.post("deals", json=deal, bad=True, headers={"Idempotency-Key": "once"})
    lenient = kept.post("deals", json={"mode": "lenient", **deal}, bad=True)

    assert (reply.status, told(reply)) == (400, faults)
    assert lenient.status == 400
    assert Change.objects.count() == Event.objects.count() == 1
    assert not IdempotencyRecord.objects.exists()


def test_a_ruleset_that_contradicts_itself_keeps_no_sheet(client):
    reply = client.post("/v1/score_sheets", json={"ruleset": {"preset": "standard", "teams": "trios"}})

    assert (reply.status, told(reply)) == (422, [("/ruleset/teams", "ruleset_contradiction")])
    assert not Sheet.objects.exists()


# --- Taking back -----------------------------------------------------------------------------------------------------


def test_what_is_taken_back_was_never_done_and_can_be_written_again(sheet):
    kept = sheet().write(MADE)
    one = kept.get().body
    kept.write(MADE)
    two = kept.get().body

    undone = kept.post("undo", example=True)
    redone = kept.post("redo", example=True)

    same = ("names", "deals", "sides", "game", "adjustments", "next", "undo")
    assert {part: undone.body["sheet"][part] for part in same} == {part: one[part] for part in same}
    assert {part: redone.body["sheet"][part] for part in same} == {part: two[part] for part in same}
    assert [line["after"] for line in undone.body["changed"]] == [None, None]
    assert (undone.body["sheet"]["redo"], redone.body["sheet"]["redo"], redone.body["sheet"]["version"]) == (1, 0, 5)


def test_nothing_more_can_be_taken_back_than_was_written(sheet):
    kept = sheet()

    empty = kept.post("undo")
    kept.write(MADE)
    kept.post("undo")
    kept.write({"bids": four(3, 3, 3, 3), "tricks": taken(4, 3, 3, 3)})

    assert (empty.status, empty.reason) == (409, "nothing_to_undo")
    assert (kept.post("redo").status, kept.post("redo").reason) == (409, "nothing_to_redo")


def test_every_change_stays_in_the_history(sheet):
    kept = sheet().write(MADE)
    kept.post("adjustments", json={"side": "NS", "points": 5, "why": "lent"})
    kept.post("undo")
    kept.post("redo")
    kept.patch("deals", 1, json={"tricks": taken(4, 3, 3, 4), "mode": "lenient"})

    first = kept.get("changes", query="?limit=4", example=True).body
    rest = kept.get("changes", query=f"?limit=4&cursor={first['next']}").body

    changes = first["items"] + rest["items"]
    assert [(change["number"], change["type"], change["mode"]) for change in changes] == [
        (1, "sheet_made", "strict"),
        (2, "deal_added", "strict"),
        (3, "sheet_adjusted", "strict"),
        (4, "change_undone", "strict"),
        (5, "change_redone", "strict"),
        (6, "deal_changed", "lenient"),
    ]
    assert changes[5]["data"] == {"deal": 1, "change": {"tricks": taken(4, 3, 3, 4)}}
    assert rest["next"] is None


# --- Once, and upon what was seen ------------------------------------------------------------------------------------


def test_a_change_that_was_decided_upon_an_old_version_is_refused(sheet):
    kept = sheet().write(MADE)
    stale = {"If-Match": '"1-owner"'}

    refusals = [
        kept.post("deals", json=MADE, headers=stale),
        kept.patch("deals", 1, json={"note": "x"}, headers=stale),
        kept.patch(json={"note": "x"}, headers=stale),
        kept.post("adjustments", json={"side": "NS", "points": 1}, headers=stale),
        kept.post("undo", headers=stale),
        kept.api.delete(kept.url(), headers=stale),
    ]
    fresh = kept.post("deals", json=MADE, headers={"If-Match": kept.get().headers["etag"]})

    assert [(reply.status, reply.reason, reply.body["version"]) for reply in refusals] == [
        (412, "stale_version", 2)
    ] * 6
    assert (fresh.status, fresh.headers["etag"]) == (201, '"3-owner"')


def test_a_sheet_is_told_again_only_when_it_has_changed(sheet):
    kept = sheet().write(MADE)
    tag = kept.get().headers["etag"]

    same = kept.get(headers={"If-None-Match": tag})
    kept.write(MADE)

    assert same.status == 304
    assert kept.get("deals", 1, headers={"If-None-Match": tag}).status == 200


def test_a_repeated_request_writes_once_and_gets_the_same_answer(sheet):
    kept = sheet()
    key = {"Idempotency-Key": "deal-1"}

    first = kept.post("deals", json=MADE, headers=key)
    again = kept.post("deals", json=MADE, headers=key)
    other = kept.post("deals", json={"bids": MADE["bids"]}, headers=key)

    assert (again.status, again.body, again.headers["etag"]) == (201, first.body, first.headers["etag"])
    assert again.headers["idempotency-replayed"] == "true"
    assert (other.status, other.reason) == (422, "idempotency_mismatch")
    assert kept.get().body["version"] == 2


# --- Who may ---------------------------------------------------------------------------------------------------------


def test_a_sheet_is_its_owners_alone(sheet):
    kept = sheet().write(MADE)
    _, other = create_account("Bob")

    for method, path, body in (
        ("GET", (), None),
        ("GET", ("changes",), None),
        ("GET", ("events",), None),
        ("GET", ("export",), None),
        ("GET", ("share_links",), None),
        ("POST", ("deals",), MADE),
        ("PATCH", ("deals", 1), {"note": "x"}),
        ("PATCH", (), {"note": "x"}),
        ("POST", ("undo",), None),
        ("POST", ("share_links",), {}),
        ("DELETE", (), None),
    ):
        reply = kept.api.request(method, kept.url(*path), json=body, token=other)
        assert (reply.status, reply.reason) == (404, "not_found"), (method, path)
    assert kept.get().body["version"] == 2


def test_a_share_link_reads_one_sheet_and_writes_nothing(sheet):
    kept, another = sheet().write(MADE), sheet()
    given = kept.post("share_links", json={"name": "for the club"}, example=True)
    token = given.body["token"]

    read = kept.get(token=token)

    assert given.status == 201
    assert re.fullmatch(r"spw_[A-Za-z0-9_-]{43}", token)
    assert ShareLink.objects.get().token_digest != token
    assert read.body == {**kept.get().body, "viewer": {"role": "reader"}}
    assert read.headers["etag"] == '"2-reader"'
    for path in ("deals/1", "changes", "events", "export", "export?format=csv"):
        assert kept.api.get(kept.url(path), token=token).status == 200
    assert another.get(token=token).status == 404
    for method, path, body in (
        ("POST", "deals", MADE),
        ("PATCH", "deals/1", {"note": "x"}),
        ("POST", "undo", None),
        ("GET", "share_links", None),
    ):
        reply = kept.api.request(method, kept.url(path), json=body, token=token)
        assert (reply.status, reply.reason) == (403, "scope_missing")


def test_a_share_link_ends_when_it_is_deleted_or_its_time_is_over(sheet):
    kept = sheet()
    links = [kept.post("share_links", json=body).body for body in ({}, {"expires_in": 60})]
    ShareLink.objects.filter(id=links[1]["share_link"]["id"]).update(expires_at=timezone.now() - timedelta(seconds=1))

    listed = kept.get("share_links", example=True).body["items"]
    one = kept.get("share_links", links[0]["share_link"]["id"], example=True)
    deleted = kept.api.delete(kept.url("share_links", links[0]["share_link"]["id"]))

    assert [link["id"] for link in listed] == [link["share_link"]["id"] for link in links]
    assert one.body == links[0]["share_link"]
    assert (deleted.status, kept.get("share_links", links[0]["share_link"]["id"]).status) == (204, 404)
    assert [kept.get(token=link["token"]).status for link in links] == [401, 401]


def test_a_sheet_has_so_many_share_links_and_no_more(sheet, monkeypatch):
    monkeypatch.setattr("scoring.services.MOST_LINKS", 2)
    kept = sheet()

    replies = [kept.post("share_links", json={}) for _ in range(3)]

    assert [reply.status for reply in replies] == [201, 201, 409]
    assert replies[2].reason == "too_many"


def test_a_sheet_takes_so_many_changes_and_no_more(sheet, monkeypatch):
    monkeypatch.setattr("scoring.services.MOST_CHANGES", 2)
    kept = sheet().write(MADE)

    reply = kept.post("deals", json=MADE)

    assert (reply.status, reply.reason) == (409, "too_many")


def test_what_was_ever_written_costs_a_reader_nothing(sheet):
    kept = sheet().write(MADE)
    token = kept.post("share_links", json={}).body["token"]

    for path in ((), ("deals", 1), ("export",), ("events",)):
        for who in (kept.token, token):
            with CaptureQueriesContext(connection) as queries:
                assert kept.get(*path, token=who).status == 200
            assert [query["sql"] for query in queries if "scoring_change" in query["sql"]] == []


def test_a_full_history_takes_no_more_and_a_full_sheet_neither(sheet, monkeypatch):
    kept = sheet().write(MADE)
    monkeypatch.setattr(services, "MOST_CONTENT", 600)
    long = kept.patch("deals", 1, json={"note": "x" * 500})
    monkeypatch.setattr(services, "MOST_WRITTEN", 100)
    many = kept.patch("deals", 1, json={"note": "x"})

    assert [reply.reason for reply in (long, many)] == ["too_many"] * 2
    assert kept.get().body["version"] == 2


def test_the_longest_sheet_is_read_back_from_its_files(sheet):
    kept, other, third = (sheet(target_score=100_000) for _ in range(3))
    whole = kept.get("export").body
    deals = [{**MADE, "blind_sides": [], "note": "Ünicode " * 60}] * 200

    filled = kept.post("import", json={"sheet": {**whole, "deals": deals}, "mode": "lenient"})
    text = kept.get("export", query="?format=csv").content.decode()
    again = other.post("import", json={"sheet": kept.get("export").body})
    from_csv = third.post("import", json={"csv": text})

    assert len(text.encode()) > 100_000
    assert [reply.status for reply in (filled, again, from_csv)] == [200] * 3
    assert [each.body["sheet"]["deals"] for each in (again, from_csv)] == [filled.body["sheet"]["deals"]] * 2
    assert kept.post("import", json={"csv": "x" * 1_100_000}).reason == "payload_too_large"


@pytest.mark.parametrize(
    ("change", "told_first"),
    [
        ({"before": {"deal_number": 199}, "deals": [MADE] * 3}, "/sheet/before/deal_number"),
    ],
)
def test_a_sheet_holds_a_game_and_no_more(sheet, change, told_first):
    kept = sheet()

    reply = kept.post("import", json={"sheet": {**kept.get("export").body, **change}, "mode": "lenient"})

    assert (reply.status, told(reply)[0][0]) == (400, told_first)


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (["deal,{n},4,3,3,3,4,3,3,3,,,,,"] * 201, "/csv"),
        (["adjustment,1,,,,,,,,,,,NS,1,"] * 1001, "/csv"),
        (["deal,1,4,3,3,3,55,3,3,3,,,,,"], "/csv"),
        (["adjustment,1,,,,,,,,,,,NS,1000001,"], "/csv"),
        (["adjustment,1,,,,,,,,,,,NS,-1000001,"], "/csv"),
    ],
)
def test_a_csv_holds_what_a_sheet_does_and_no_more(sheet, rows, where):
    kept = sheet()
    header = kept.get("export", query="?format=csv").content.decode().split("\r\n")[0].partition(",dealer")[0]
    text = "\r\n".join([header, *(row.format(n=number) for number, row in enumerate(rows, start=1))])

    reply = kept.post("import", json={"csv": text, "mode": "lenient"})

    assert (reply.status, told(reply)[0][0]) == (400, where)
    assert kept.get().body["version"] == 1


def test_a_large_body_is_read_for_who_may_send_it_and_answered_briefly(sheet):
    kept = sheet()
    names = {"sheet": {"names": dict.fromkeys(map(str, range(60_000)), 1)}}

    stranger = kept.api.post("/v1/score_sheets/import", json=names, token="", bad=True)
    known = kept.api.post("/v1/score_sheets/import", json=names, token=kept.token, bad=True)
    wide = kept.post("import", json={"csv": "a," * 500_000})
    long = kept.post("import", json={"csv": "x\n" * 250_000})

    assert (stranger.status, known.status, wide.status, long.status) == (401, 400, 400, 400)
    assert max(len(reply.content) for reply in (known, wide, long)) < 50_000
    assert long.body["errors"][0]["detail"] == "A sheet has 1,200 rows at most."


def test_what_changes_nothing_is_none_on_a_finished_sheet_too(sheet):
    kept = sheet(target_score=60).write(MADE)

    for reply in (
        kept.patch("deals", 1, json={}),
        kept.patch("deals", 1, json=MADE),
        kept.patch(json={"before": None}),
    ):
        assert (reply.status, reply.body["sheet"]["version"]) == (200, 2)


def test_what_was_written_last_is_taken_back_from_a_full_sheet(sheet, monkeypatch):
    kept = sheet().write(MADE)
    monkeypatch.setattr(services, "MOST_WRITTEN", 10)

    full = kept.patch(json={"note": "x"})
    back = kept.post("undo")

    assert (full.reason, back.status) == ("too_many", 200)
    assert kept.post("redo").reason == "too_many"


def test_each_line_of_a_csv_is_told_its_own_faults(sheet):
    kept = sheet().write(MADE, MADE)
    text = kept.get("export", query="?format=csv").content.decode().replace("deal,1,4", "deal,1,zz")

    reply = kept.post("import", json={"csv": text})

    assert [fault["detail"][:7] for fault in reply.body["errors"]] == ["Line 2:"]


def test_a_sheet_that_goes_on_stays_within_the_longest_game(sheet):
    kept = sheet().write(MADE, MADE, MADE)

    reply = kept.patch(json={"before": {"deal_number": 199}, "mode": "lenient"})

    assert (reply.status, told(reply)) == (400, [("/before/deal_number", "out_of_range")])


def test_what_is_flagged_excuses_nothing_that_is_said_anew(sheet):
    kept = sheet().write({"bids": four(14, 3, 3, 3), "tricks": taken(12, 0, 0, 0), "mode": "lenient"})

    assert kept.patch("deals", 1, json={"tricks": taken(54, 0, 0, 0)}).reason == "tricks_do_not_add_up"
    assert kept.patch("deals", 1, json={"tricks": taken(13, 0, 0, 0)}).status == 200
    assert kept.patch("deals", 1, json={"bids": four(15, 3, 3, 3)}).reason == "bid_out_of_range"
    assert kept.post("import", json={"sheet": kept.get("export").body | {"note": "x"}}).reason == "bid_out_of_range"


def test_an_answer_that_is_kept_for_a_repetition_is_small(sheet):
    kept = sheet()
    kept.post("import", json={"sheet": {**kept.get("export").body, "deals": [MADE] * 50}, "mode": "lenient"})

    reply = kept.post("undo", headers={"Idempotency-Key": "back"})
    redone = kept.post("redo", headers={"Idempotency-Key": "forth"})
    again = kept.post("redo", headers={"Idempotency-Key": "forth"})

    assert again.body == redone.body
    assert reply.status == 200
    assert max(len(record.answer) for record in IdempotencyRecord.objects.all()) < len(redone.content) / 10


def test_own_sheets_are_listed_newest_first_and_none_twice(client, sheet, django_assert_num_queries):
    kept = [sheet() for _ in range(3)]
    kept[0].write(MADE)

    with django_assert_num_queries(2):
        first = client.get("/v1/score_sheets?limit=2", example=True).body
    rest = client.get(f"/v1/score_sheets?limit=2&cursor={first['next']}").body

    items = first["items"] + rest["items"]
    assert [item["id"] for item in items] == [each.id for each in reversed(kept)]
    assert [item["deals"] for item in items] == [0, 0, 1]
    assert items[2]["sides"] == kept[0].get().body["sides"]
    assert rest["next"] is None
    assert client.get("/v1/score_sheets", token=create_account("Bob")[1]).body["items"] == []


def test_a_deleted_sheet_is_gone_with_all_that_was_on_it(sheet):
    kept = sheet().write(MADE)
    kept.post("share_links", json={})

    reply = kept.api.delete(kept.url())

    assert reply.status == 204
    assert kept.get().status == 404
    assert (Sheet.objects.count(), Change.objects.count(), ShareLink.objects.count()) == (0, 0, 0)


# --- Files -----------------------------------------------------------------------------------------------------------


def test_an_export_makes_the_same_sheet_again(client, sheet):
    kept = sheet(bag_limit=5, blind_nil="any").write(MADE, {**MADE, "note": "=SUM(A1)"})
    kept.post("adjustments", json={"side": "EW", "points": -5, "why": "'+1"})
    kept.write({"bids": four(BLIND_NIL, 3, 3, 3)})
    kept.patch(json={"names": {"N": "Ann"}, "dealer": "S", "note": "rainy"})
    exported = kept.get("export", example=True).body

    made = client.post("/v1/score_sheets/import", json={"sheet": exported}, example=True)
    again = client.get(f"{made.headers['location']}/export").body

    assert made.status == 201
    assert again == exported
    same = ("names", "note", "deals", "sides", "game", "adjustments", "next", "ruleset")
    assert {part: made.body[part] for part in same} == {part: kept.get().body[part] for part in same}


def test_a_csv_brings_the_same_deals_back(sheet):
    kept, other = (sheet(blind_nil="any") for _ in range(2))
    kept.write(MADE, {**MADE, "note": "-1, \"so\" 'they' say"})
    kept.post("adjustments", json={"side": "EW", "points": -5, "why": "=1+1"})
    kept.write({"bids": four(BLIND_NIL, 3, {"kind": "number", "tricks": 0}, 3), "mode": "lenient"})
    text = kept.get("export", query="?format=csv").content.decode()

    reply = other.post("import", json={"csv": text, "mode": "lenient"}, example=True)
    undone = other.post("undo")

    assert reply.status == 200
    assert reply.body["sheet"]["deals"] == kept.get().body["deals"]
    assert reply.body["sheet"]["adjustments"] == kept.get().body["adjustments"]
    assert "'=1+1" in text
    assert ',"\'-1, ""so""' in text
    assert undone.body["sheet"]["deals"] == []


@pytest.mark.parametrize("mark", ["", "\N{BYTE ORDER MARK}"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_a_csv_is_read_as_spreadsheets_write_it(sheet, mark, between):
    kept, other = sheet().write(MADE, MADE), sheet()
    text = kept.get("export", query="?format=csv").content.decode().replace(",", between)

    reply = other.post("import", json={"csv": f"{mark}{text}\r\n{between * 3}\r\n"})

    assert reply.body["sheet"]["deals"] == kept.get().body["deals"]


def test_what_is_wrong_in_a_csv_is_told_in_its_words(sheet):
    kept = sheet().write(MADE)
    text = kept.get("export", query="?format=csv").content.decode()

    columns = kept.post("import", json={"csv": text.replace("tricks_N", "TricksN", 1)}).body["errors"]
    tricks = kept.post("import", json={"csv": text.replace(",4,3,3,3,4,3,3,3,", ",4,3,3,3,5,3,3,3,", 1)}).body["errors"]

    assert columns[0]["detail"].endswith("tricks_N is missing; there is no 'TricksN'.")
    assert tricks[0]["detail"] == "Deal 1, tricks: A deal has 13 tricks here, and these are 14."


def test_an_export_is_put_in_place_of_what_was_written(sheet):
    kept, other = sheet().write(MADE, MADE), sheet().write(MADE)

    reply = other.post("import", json={"sheet": kept.get("export").body})

    assert reply.body["sheet"]["deals"] == kept.get().body["deals"]
    assert [(line["deal"], line["before"]) for line in reply.body["changed"]] == [(2, None), (2, None)]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"format": 2}, [("/sheet/format", "out_of_range")]),
        ({"ruleset": {"preset": "pagat"}}, [("/sheet/ruleset", "not_allowed_value")]),
        ({"ruleset": {"preset": "bridge"}}, [("/sheet/ruleset/preset", "not_allowed_value")]),
        ({"ruleset_hash": "0" * 64}, [("/sheet/ruleset_hash", "not_allowed_value")]),
        ({"dealer": "A"}, [("/sheet/dealer", "not_allowed_value")]),
        ({"names": {"A": "x"}}, [("/sheet/names/A", "unknown_field")]),
        ({"deals": [{"bids": MADE["bids"]}, MADE]}, [("/sheet/deals/0/tricks", "missing_field")]),
        ({"deals": [{**MADE, "tricks": {}}]}, [(f"/sheet/deals/0/tricks/{seat}", "missing_field") for seat in "NESW"]),
        ({"deals": [{**MADE, "tricks": taken(9, 3, 3, 3)}]}, [("/sheet/deals/0/tricks", "tricks_do_not_add_up")]),
        (
            {"adjustments": [{"deal": 9, "side": "NS", "points": 1}]},
            [("/sheet/adjustments/0/deal", "not_allowed_value")],
        ),
    ],
)
def test_an_export_that_cannot_be_is_refused_and_nothing_is_written(sheet, change, faults):
    kept = sheet().write(MADE)
    exported = {**kept.get("export").body, **change}

    reply = kept.post("import", json={"sheet": exported}, bad=True)

    assert reply.status in (400, 422)
    assert told(reply) == faults
    assert kept.get().body["version"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\r\n1,2\r\n",
        '"',
        "{header}\r\ndeal,1\r\n",
        "{header}\r\ndeal,2,4,3,3,3,4,3,3,3,,,,,\r\n",
        "{header}\r\ndeal,1,x,3,3,3,4,3,3,3,,,,,\r\n",
        "{header}\r\ndeal,1,4,3,3,3,4.0,3,3,3,,,,,\r\n",
        "{header}\r\ndeal,1,99,3,3,3,4,3,3,3,,,,,\r\n",
        "{header}\r\ndeal,1,4,3,3,3,4,3,3,3,,a\u0007b,,,\r\n",
        "{header}\r\nline,1,4,3,3,3,4,3,3,3,,,,,\r\n",
        "{header}\r\nadjustment,1,,,,,,,,,,,NS,1.5,\r\n",
    ],
)
def test_a_csv_that_cannot_be_read_is_refused_with_its_line(sheet, text):
    header = "row,deal,bid_N,bid_E,bid_S,bid_W,tricks_N,tricks_E,tricks_S,tricks_W,blind_sides,note,side,points,why"
    kept = sheet()

    reply = kept.post("import", json={"csv": text.replace("{header}", header)})

    assert (reply.status, told(reply)) == (400, [("/csv", "bad_format")])


def test_a_csv_needs_no_columns_with_scores(sheet):
    header = "row,deal,bid_N,bid_E,bid_S,bid_W,tricks_N,tricks_E,tricks_S,tricks_W,blind_sides,note,side,points,why"
    text = f"{header}\ndeal,1,4,3,3,3,4,3,3,3,,,,,\nadjustment,1,,,,,,,,,,,EW,-7,late\n"

    assert [side["score"] for side in sheet().post("import", json={"csv": text}).body["sheet"]["sides"]] == [70, 53]


def test_either_a_sheet_or_a_csv_is_imported(sheet):
    kept = sheet()

    assert told(kept.post("import", json={}, bad=True)) == [("", "missing_field")]
    assert told(kept.post("import", json={"csv": "", "sheet": kept.get("export").body}, bad=True)) == [
        ("", "missing_field")
    ]


# --- Events ----------------------------------------------------------------------------------------------------------


def test_every_change_is_an_event_that_says_where_the_sheet_stands(sheet):
    kept = sheet(target_score=60).write({"bids": MADE["bids"]})
    kept.patch("deals", 1, json={"tricks": MADE["tricks"]})
    kept.post("undo")

    page = kept.get("events", query="?after=1", example=True).body

    assert [(event["number"], event["type"], event["deal_number"]) for event in page["items"]] == [
        (2, "deal_added", 1),
        (3, "deal_changed", 1),
        (4, "change_undone", None),
    ]
    assert [event["data"]["game"]["over"] for event in page["items"]] == [False, True, False]
    assert [event["data"]["sides"][0]["score"] for event in page["items"]] == [0, 70, 0]
    assert (page["version"], page["next"]) == (4, None)
    assert told(kept.get("events", query="?after=5")) == [("?after", "out_of_range")]


@pytest.mark.parametrize(("path", "waits"), [("score_sheets", True), ("games", True), ("sheets", False)])
def test_the_events_of_a_sheet_can_be_waited_for(path, waits):
    scope = {"method": "GET", "path": f"/v1/{path}/{UNKNOWN}/events", "query_string": b"wait=5", "headers": []}

    assert (game_waited_for(scope) is not None) is waits
