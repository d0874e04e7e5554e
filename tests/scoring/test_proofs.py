"""Sheets and records: a sheet made from the record of a game, and one that is certified against it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import IdempotencyRecord
from accounts.services import create_account
from contract import limits, records
from events.models import Event
from scoring import proofs
from scoring.boards import Board, Certificate, KeptAdjustment, KeptDeal, Step, fold
from scoring.models import Change, Sheet
from spades import PRESETS, Bid, Deal, Record, Ruleset, Seed
from spades.notation import Action, ActionKind
from spades.terms import terms
from tests.client import Answer, ApiClient
from tests.docs import markdown
from tests.games.conftest import Person, Table
from tests.spades.recording import PAGAT, finished, first_legal, random_game

pytestmark = pytest.mark.django_db

FAST = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
WORKED = dict(markdown.blocks(markdown.read("docs/records.md")))["text record"]
"""One deal: N makes a nil and S 4 with two bags; E and W bid 8 and take 7."""
BY_HAND = {
    "bids": {
        "N": {"kind": "nil"},
        "E": {"kind": "number", "tricks": 4},
        "S": {"kind": "number", "tricks": 4},
        "W": {"kind": "number", "tricks": 4},
    },
    "tricks": {"N": 0, "E": 6, "S": 6, "W": 1},
}


def four(*bids: int) -> dict[str, Any]:
    return {seat: {"kind": "number", "tricks": bid} for seat, bid in zip("NESW", bids, strict=True)}


def made_from(client: ApiClient, record: Any, **more: Any) -> Answer:
    return client.post("/v1/score_sheets", json={"record": record, **more})


def typed(client: ApiClient, ruleset: Any, *deals: Any, dealer: str | None = None) -> str:
    """The address of a sheet that somebody wrote down deal by deal."""
    first = {} if dealer is None else {"dealer": dealer}
    made = client.post("/v1/score_sheets", json={"ruleset": ruleset, **first})
    address: str = made.headers["location"]
    for deal in deals:
        reply = client.post(f"{address}/deals", json=deal)
        assert reply.status == 201, reply.content
    return address


def certify(client: ApiClient, address: str, record: Any, **kwargs: Any) -> Answer:
    return client.post(f"{address}/certify", json={"record": record}, **kwargs)


def differences(reply: Answer) -> list[tuple[Any, ...]]:
    """All but the scores, which have a test of their own."""
    assert (reply.status, reply.body["certified"]) == (200, False)
    return [
        (each["what"], each["deal"], each["seat"] or each["side"], each["sheet"], each["record"])
        for each in reply.body["differences"]
        if each["what"] != "score"
    ]


def flat(ruleset: Ruleset) -> dict[str, Any]:
    return {"preset": ruleset.preset, **ruleset.overrides()}


def game(ruleset: Ruleset, *kinds: str, deals: int = 2) -> Record:
    """A game of so many whole deals in which bids of all these kinds were made."""
    for number in range(1000):
        record, _ = random_game(random.Random(number), ruleset, deals=deals)
        bids = {
            action.bid.to_json()["kind"] for deal in record.deals for action in deal.actions if action.bid is not None
        }
        if len(record.deals) == deals and record.deals[-1].score and record.result is None and bids >= set(kinds):
            return record
    raise AssertionError("there is such a game")


@pytest.fixture
def worked(client: ApiClient) -> str:
    """The address of the sheet that somebody wrote down of the worked game."""
    return typed(client, flat(Record.read(WORKED).ruleset), BY_HAND, dealer="W")


# --- A sheet made from a record --------------------------------------------------------------------------------------


def test_a_sheet_made_from_a_worked_game_is_the_sheet_typed_by_hand(client, worked):
    made = made_from(client, WORKED)

    hand = client.get(worked).body
    same = ("ruleset", "deals", "sides", "game", "adjustments", "next", "note", "certificate")
    assert made.status == 201
    assert {part: made.body[part] for part in same} == {part: hand[part] for part in same}
    assert [side["score"] for side in made.body["sides"]] == [142, -80]
    assert made.body["names"] == {"N": "Ann", "E": "Bo", "S": "Cem", "W": "Dot"}
    assert made.body["version"] == 1


@pytest.mark.parametrize("preset", PRESETS)
def test_a_sheet_made_from_a_game_has_the_scores_of_the_table_line_by_line(client, preset):
    record = game(Ruleset.resolve({"preset": preset}))

    made = made_from(client, record.to_text())

    assert made.status == 201, made.content
    told = [
        {side: (score["delta"], score["score"], score["bags"]) for side, score in deal["answer"]["sides"].items()}
        for deal in made.body["deals"]
    ]
    stated = [
        {side: (one.delta, one.score, one.bags) for side, one in deal.score.items()}
        for deal in record.deals
        if deal.score is not None
    ]
    assert told == stated
    assert [deal["dealer"] for deal in made.body["deals"]] == [deal.dealer for deal in record.deals]
    deals = [{"bids": deal["bids"], "tricks": deal["tricks"]} for deal in made.body["deals"]]
    hand = client.get(typed(client, flat(record.ruleset), *deals, dealer=record.deals[0].dealer)).body
    assert made.body["deals"] == hand["deals"]
    assert made.body["sides"] == hand["sides"]


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({"preset": "pagat", "blind_nil": "any"}, ("nil", "blind_nil")),
        ({"preset": "pagat", "blind_nil": "any", "blind_bid_min": 1}, ("blind", "number")),
        ({"preset": "two_player"}, ("nil", "number")),
        ({"preset": "cutthroat"}, ("nil", "blind_nil")),
        ({"preset": "pagat", "first_hand_bids_itself": True}, ("number",)),
    ],
)
def test_nils_blind_bids_draws_and_three_players_come_onto_a_sheet_and_are_certified(client, options, kinds):
    record = game(Ruleset.resolve(options), *kinds)

    made = made_from(client, record.to_json())
    certified = certify(client, made.headers["location"], record.to_text(compact=True))

    on_sheet = {bid["kind"] for deal in made.body["deals"] for bid in deal["bids"].values()}
    assert on_sheet >= set(kinds)
    assert [deal["flags"] for deal in made.body["deals"]] == [[], []]
    assert certified.body["differences"] == []
    assert certified.body["sheet"]["certificate"]["record_hash"] == record.hash


def test_a_game_played_here_makes_a_sheet_with_the_deals_of_its_table(client):
    rules = {"preset": "two_player", "max_hands": 1, "tie_rule": "shared"}
    people = [{"kind": "human"}, {"kind": "human"}]
    made = client.post("/v1/games", json={"ruleset": rules, "seats": people, "hot_seat": True}).body
    tokens = {seat["seat"]: seat["token"] for seat in made["seats"]}
    ann = Person("Ann", UUID(int=0), client.token)
    table = Table(client, made["game"]["id"], ann, ann, tokens)
    while table.view()["status"] == "active":
        seat, view = table.on_turn()
        assert table.act(seat, view["turn"]["legal"][0]).status == 200
    record = client.get(table.url("record"), token=tokens["A"])
    text = client.get(table.url("record") + "?format=text", token=tokens["A"])

    sheet = made_from(client, record.body)
    certified = certify(client, sheet.headers["location"], text.content.decode())

    [told] = client.get(table.url("deals"), token=tokens["A"]).body["items"]
    [deal] = sheet.body["deals"]
    assert deal["answer"] == told["score"]
    assert {part: deal[part] for part in ("dealer", "bids", "tricks")} == {
        part: told[part] for part in ("dealer", "bids", "tricks")
    }
    assert certified.body["sheet"]["certificate"]["record_hash"] == sha256(text.content).hexdigest()


def test_a_deal_in_progress_is_on_the_sheet_once_its_bids_are_in(client):
    whole = finished()
    actions = whole.deals[0].actions
    bids = [place for place, action in enumerate(actions, start=1) if action.kind is ActionKind.BID]

    def deals(most: int) -> list[Any]:
        body = made_from(client, whole._with_last(actions=actions[:most], score=None).to_text()).body
        return [(deal["bids"], deal["tricks"]) for deal in body["deals"]]

    assert deals(bids[-1] - 1) == []
    assert deals(bids[-1]) == deals(len(actions) - 1) == [(four(3, 3, 3, 3), None)]
    assert deals(len(actions))[0][1] is not None


def test_a_deal_in_which_nobody_bids_is_on_the_sheet_from_its_beginning(client):
    rules = Ruleset.resolve({"preset": "books"})
    record = Record.of(rules).begin(Deal.begin(rules, number=1, attempt=1, dealer="S", seed=Seed(bytes(32))))

    body = made_from(client, record.to_text()).body

    assert [(deal["bids"], deal["tricks"], deal["dealer"]) for deal in body["deals"]] == [({}, None, "S")]


def test_a_record_without_a_deal_makes_an_empty_sheet(client):
    body = made_from(client, Record.of(PAGAT).to_json(), note="to come").body

    assert (body["deals"], body["note"], body["next"]["dealer"]) == ([], "to come", "N")
    assert body["names"] == dict.fromkeys("NESW")


def test_a_game_that_is_over_is_over_on_its_sheet(client):
    record = first_legal(Ruleset.resolve({"preset": "pagat", "max_hands": 2, "target_score": 100}), 2)
    assert record.result is not None

    body = made_from(client, record.to_text()).body

    assert body["game"] == {"over": True, "winners": list(record.result.winners), "reason": record.result.reason}


def test_names_that_are_given_stand_in_place_of_those_of_the_record(client):
    record = replace(Record.read(WORKED), names={"N": "Ann", "E": "B" * 41, "S": "", "W": None})

    made = made_from(client, record.to_text(), names={"E": "Bea", "W": "Will"})
    refused = made_from(client, record.to_text())
    unknown = made_from(client, record.to_text(), names={"E": "Bea", "A": "x"})

    assert made.body["names"] == {"N": "Ann", "E": "Bea", "S": None, "W": "Will"}
    assert [(fault["pointer"], fault["reason"]) for fault in refused.body["errors"]] == [("/record", "wrong_length")]
    assert "seat E" in refused.body["errors"][0]["detail"]
    assert [(fault["pointer"], fault["reason"]) for fault in unknown.body["errors"]] == [("/names/A", "unknown_field")]
    assert Sheet.objects.count() == 1


@pytest.mark.parametrize(("dealer", "status"), [("N", 400), ("E", 400), ("S", 400), ("W", 201)])
def test_a_deal_that_was_set_for_another_dealer_than_comes_next_makes_no_sheet(client, dealer, status):
    record = finished().begin(Deal.begin(PAGAT, number=2, attempt=1, dealer=dealer, seed=Seed(bytes(32))))
    record = record._with_last(scripted=True)
    for seat in terms(PAGAT).table.from_(terms(PAGAT).table.after(dealer)):
        record = record.add(Action.place_bid(seat, Bid.number(3)))

    reply = made_from(client, record.to_text())

    assert record.deals[0].dealer == "S"
    assert reply.status == status
    if status == 400:
        assert [fault["reason"] for fault in reply.body["errors"]] == ["not_allowed_value"]
    assert Sheet.objects.count() == (status == 201)


# --- Records that prove nothing --------------------------------------------------------------------------------------


def broken() -> Record:
    """A game in which the third card of the first trick is one that the second seat played."""
    record = finished()
    actions = list(record.deals[0].actions)
    lead = next(place for place, action in enumerate(actions) if action.kind is ActionKind.PLAY)
    actions[lead + 2] = actions[lead + 1]
    return record._with_last(actions=tuple(actions))


def test_a_record_with_a_breach_is_refused_by_its_place_and_nothing_is_written(client, worked):
    record, headers = broken(), {"Idempotency-Key": "once"}
    seat = terms(PAGAT).table.from_(terms(PAGAT).table.after(record.deals[0].dealer))[2]
    written = Sheet.objects.count(), Change.objects.count(), Event.objects.count()

    refusals = [
        client.post("/v1/score_sheets", json={"record": record.to_text()}, headers=headers),
        certify(client, worked, record.to_json(), headers=headers),
    ]

    for reply in refusals:
        assert (reply.status, reply.reason) == (422, "record_has_breach")
        breach = reply.body["breach"]
        assert (breach["deal"], breach["action"], breach["kind"]) == (1, 7, "play")
        assert (breach["seat"], breach["reason"]) == (seat, "not_in_hand")
        assert reply.body["detail"].startswith(f"Deal 1, action 7, play by {seat}: not_in_hand: ")
    assert (Sheet.objects.count(), Change.objects.count(), Event.objects.count()) == written
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.parametrize(
    ("record", "pointer", "reason"),
    [
        (5, "/record", "wrong_type"),
        (None, "/record", "wrong_type"),
        ("", "/record", "missing_field"),
        ({}, "/record/format", "missing_field"),
        ({**finished().to_json(), "colour": "red"}, "/record/colour", "unknown_field"),
        ({**finished().to_json(), "ruleset": {"preset": "none"}}, "/record/ruleset/preset", "not_allowed_value"),
        ('[Spades 1]\n[Ruleset "none"]\n', "/record", "not_allowed_value"),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(client, worked, record, pointer, reason):
    for reply in (
        client.post("/v1/score_sheets", json={"record": record}, bad=True),
        certify(client, worked, record, bad=True),
    ):
        assert (reply.status, reply.reason) == (400, "malformed")
        assert [(fault["pointer"], fault["reason"]) for fault in reply.body["errors"]][:1] == [(pointer, reason)]
    assert Sheet.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "pointer", "reason"),
    [
        ({}, "", "missing_field"),
        ({"ruleset": {"preset": "pagat"}, "record": WORKED}, "", "missing_field"),
        ({"record": WORKED, "dealer": "W"}, "/dealer", "unknown_field"),
        ({"record": WORKED, "deals": []}, "/deals", "unknown_field"),
        ({"record": WORKED, "names": {"N": None}}, "/names/N", "wrong_type"),
    ],
)
def test_a_sheet_begins_with_a_ruleset_or_with_a_record(client, body, pointer, reason):
    reply = client.post("/v1/score_sheets", json=body, bad=True)

    assert (reply.status, [(fault["pointer"], fault["reason"]) for fault in reply.body["errors"]]) == (
        400,
        [(pointer, reason)],
    )
    assert not Sheet.objects.exists()


@pytest.mark.parametrize("body", [{}, {"record": WORKED, "names": {}}, {"record": WORKED, "mode": "lenient"}])
def test_certifying_takes_a_record_and_nothing_else(client, worked, body):
    reply = client.post(f"{worked}/certify", json=body, bad=True)

    assert (reply.status, reply.reason) == (400, "malformed")
    assert client.get(worked).body["certificate"] is None


# --- Certified -------------------------------------------------------------------------------------------------------


def test_a_sheet_that_says_what_the_record_proves_is_certified_in_either_form(client, worked):
    record = Record.read(WORKED)

    reply = certify(client, worked, record.to_json(), example=True)
    again = certify(client, worked, record.to_text(compact=True))
    undone = client.post(f"{worked}/undo")

    assert (reply.status, reply.body["certified"], reply.body["differences"]) == (200, True, [])
    assert reply.headers["etag"] == '"3-owner"'
    sheet = reply.body["sheet"]
    assert sheet["certificate"] == {"at": sheet["changed_at"], "version": 3, "record_hash": record.hash}
    assert (again.body, again.headers["etag"]) == (reply.body, reply.headers["etag"])  # it is written there already
    assert undone.body["sheet"]["certificate"] is None


def test_a_certification_is_a_change_an_event_and_seen_by_readers(client, worked):
    token = client.post(f"{worked}/share_links", json={}).body["token"]

    certified = certify(client, worked, WORKED).body["sheet"]

    change = client.get(f"{worked}/changes").body["items"][-1]
    assert (change["number"], change["type"], change["mode"]) == (3, "sheet_certified", "strict")
    assert change["data"] == {"record_hash": Record.read(WORKED).hash}
    event = client.get(f"{worked}/events?after=2").body["items"][0]
    assert (event["number"], event["type"], event["deal_number"]) == (3, "sheet_certified", None)
    assert change["at"] == event["at"] == certified["certificate"]["at"]
    assert client.get(worked, token=token).body["certificate"] == certified["certificate"]


def test_a_sheet_whose_game_is_over_is_certified(client):
    record = first_legal(Ruleset.resolve({"preset": "pagat", "max_hands": 2, "target_score": 100}), 2)
    address = made_from(client, record.to_text()).headers["location"]

    reply = certify(client, address, record.to_text())

    assert (reply.status, reply.body["certified"]) == (200, True)
    assert reply.body["sheet"]["game"]["over"] is True


def test_blind_bids_are_the_same_said_either_way(client):
    record = game(Ruleset.resolve({"preset": "pagat", "blind_nil": "any", "blind_bid_min": 1}), "blind", "number")
    made = made_from(client, record.to_text()).body
    table = terms(record.ruleset).table
    deals = []
    for deal in made["deals"]:
        blind = {table.side_of[seat] for seat, bid in deal["bids"].items() if bid["kind"] == "blind"}
        bids = {
            seat: {"kind": "number", "tricks": bid["tricks"]} if bid["kind"] == "blind" else bid
            for seat, bid in deal["bids"].items()
        }
        deals.append({"bids": bids, "tricks": deal["tricks"], "blind_sides": sorted(blind)})

    address = typed(client, flat(record.ruleset), *deals, dealer=record.deals[0].dealer)

    assert any(deal["blind_sides"] for deal in deals)
    assert certify(client, address, record.to_text()).body["differences"] == []


# --- Differences -----------------------------------------------------------------------------------------------------


def test_each_kind_of_difference_is_told_with_what_each_of_the_two_says(client, worked):
    def changed(**change: Any) -> list[tuple[Any, ...]]:
        reply = client.patch(f"{worked}/deals/1", json={"mode": "lenient", **change})
        assert reply.status == 200, reply.content
        found = differences(certify(client, worked, WORKED))
        client.post(f"{worked}/undo")
        return found

    three, nil = {"kind": "number", "tricks": 3}, {"kind": "nil"}

    assert changed(bids={**BY_HAND["bids"], "E": three}) == [("bid", 1, "E", three, BY_HAND["bids"]["E"])]
    assert changed(bids={**BY_HAND["bids"], "N": three, "S": nil}) == [
        ("bid", 1, "N", three, nil),
        ("bid", 1, "S", nil, BY_HAND["bids"]["S"]),
    ]
    assert changed(tricks={"N": 0, "E": 5, "S": 6, "W": 2}) == [("tricks", 1, "E", 5, 6), ("tricks", 1, "W", 2, 1)]
    assert changed(blind_sides=["EW"]) == [
        ("bid", 1, "E", {"kind": "blind", "tricks": 4}, BY_HAND["bids"]["E"]),
        ("bid", 1, "W", {"kind": "blind", "tricks": 4}, BY_HAND["bids"]["W"]),
        ("blind", 1, "EW", True, False),
    ]


def test_a_dealer_an_adjustment_and_a_number_of_deals_are_told(client, worked):
    client.patch(worked, json={"dealer": "N"})
    assert differences(certify(client, worked, WORKED)) == [("dealer", 1, None, "N", "W")]
    client.post(f"{worked}/undo")

    for points in (5, -5):
        client.post(f"{worked}/adjustments", json={"side": "EW", "points": points, "mode": "lenient"})
    assert differences(certify(client, worked, WORKED)) == [
        ("adjustment", 1, "EW", 5, None),
        ("adjustment", 1, "EW", -5, None),
    ]

    empty = typed(client, flat(Record.read(WORKED).ruleset), dealer="W")
    client.post(f"{worked}/undo")
    client.post(f"{worked}/undo")
    client.post(f"{worked}/deals", json={"bids": four(3, 3, 3, 3), "mode": "lenient"})
    assert differences(certify(client, empty, WORKED)) == [("deals", None, None, 0, 1)]
    assert differences(certify(client, worked, WORKED)) == [("deals", None, None, 2, 1)]


def test_other_rules_are_told_option_by_option_and_nothing_else_is_compared(client):
    ruleset = flat(Record.read(WORKED).ruleset)
    address = typed(client, {**ruleset, "target_score": 350, "bag_limit": 0})

    reply = certify(client, address, WORKED)

    ours, theirs = {"bag_limit": 0, "target_score": 350}, {"bag_limit": 10, "target_score": 500}
    assert reply.body == {
        "certified": False,
        "differences": [{"deal": None, "seat": None, "side": None, "what": "ruleset", "sheet": ours, "record": theirs}],
    }


def test_a_record_whose_seeds_do_not_give_its_cards_certifies_nothing(client):
    record = game(PAGAT)
    false = replace(record, deals=(replace(record.deals[0], seed="ab" * 32), *record.deals[1:])).to_json()
    address = made_from(client, record.to_json()).headers["location"]

    refused, agreed = certify(client, address, false), certify(client, address, record.to_json())

    assert [(each["deal"], each["what"], each["sheet"], each["record"]) for each in refused.body["differences"]] == [
        (1, "shuffle", None, what) for what in ("commitment", "shuffle", "dealer")
    ]
    assert (refused.body["certified"], agreed.body["certified"]) == (False, True)


def test_scores_that_differ_are_told_line_by_line_and_nothing_is_written(client, worked):
    client.post(f"{worked}/adjustments", json={"side": "NS", "points": 8, "mode": "lenient"})
    before = client.get(worked).body

    reply = certify(client, worked, WORKED)

    assert reply.headers["etag"] == '"3-owner"'
    [score] = [each for each in reply.body["differences"] if each["what"] == "score"]
    assert (score["deal"], score["side"]) == (1, "NS")
    assert score["sheet"] == before["deals"][0]["answer"]["sides"]["NS"]
    assert (score["sheet"]["score"], score["record"]["score"]) == (150, 142)
    assert [line["what"] for line in score["record"]["lines"]] == ["contract", "bags", "nil"]
    assert client.get(worked).body == before


def test_a_deal_that_one_of_the_two_has_not_played_is_told(client, worked):
    record = Record.read(WORKED)
    unfinished = replace(record._with_last(actions=record.deals[0].actions[:-1], score=None), result=None)

    found = differences(certify(client, worked, unfinished.to_text()))

    assert found == [("tricks", 1, seat, BY_HAND["tricks"][seat], None) for seat in "NESW"]


# --- A certificate that is lost --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "method", "body"),
    [
        ("/deals/1", "PATCH", {"tricks": {"N": 0, "E": 5, "S": 6, "W": 2}}),
        ("/deals/1", "PATCH", {"bids": BY_HAND["bids"] | {"E": {"kind": "number", "tricks": 3}}}),
        ("/adjustments", "POST", {"side": "NS", "points": 0}),
        ("", "PATCH", {"dealer": "N"}),
        ("/deals", "POST", BY_HAND),
    ],
)
def test_a_certificate_is_lost_by_what_changes_what_was_certified_and_undo_brings_it_back(
    client, worked, path, method, body
):
    certificate = certify(client, worked, WORKED).body["sheet"]["certificate"]

    lenient = {"mode": "lenient"} if path else {}
    changed = client.request(method, f"{worked}{path}", json={**body, **lenient})
    undone = client.post(f"{worked}/undo")
    redone = client.post(f"{worked}/redo")

    assert changed.body["sheet"]["certificate"] is None
    assert undone.body["sheet"]["certificate"] == certificate
    assert redone.body["sheet"]["certificate"] is None


def test_a_certificate_stands_while_only_names_and_notes_change(client, worked):
    certificate = certify(client, worked, WORKED).body["sheet"]["certificate"]
    exported = client.get(f"{worked}/export").body

    replies = [
        client.patch(worked, json={"names": {"N": "Anna"}, "note": "rainy", "dealer": "W"}),
        client.patch(f"{worked}/deals/1", json={"note": "slow", "mode": "lenient"}),
        client.post(f"{worked}/import", json={"sheet": exported, "mode": "lenient"}),
    ]

    assert [reply.body["sheet"]["certificate"] for reply in replies] == [certificate] * 3


def test_a_certification_that_is_taken_back_is_none_and_can_be_written_again(client, worked):
    certificate = certify(client, worked, WORKED).body["sheet"]["certificate"]

    undone = client.post(f"{worked}/undo")
    redone = client.post(f"{worked}/redo")

    assert undone.body["sheet"]["certificate"] is None
    assert undone.body["sheet"]["deals"] == redone.body["sheet"]["deals"]
    assert redone.body["sheet"]["certificate"] == certificate


def test_an_export_of_a_certified_sheet_makes_the_same_sheet_without_the_certificate(client, worked):
    before = client.get(f"{worked}/export").body
    certify(client, worked, WORKED)

    exported = client.get(f"{worked}/export").body
    made = client.post("/v1/score_sheets/import", json={"sheet": exported})

    assert exported == before == client.get(f"{made.headers['location']}/export").body
    assert made.body["certificate"] is None


# --- Once, upon what was seen, and who may ---------------------------------------------------------------------------


def test_a_sheet_is_certified_upon_the_version_that_was_seen_or_not_at_all(client, worked):
    stale = certify(client, worked, WORKED, headers={"If-Match": '"1-owner"'})
    fresh = certify(client, worked, WORKED, headers={"If-Match": '"2-owner"'})

    assert (stale.status, stale.reason, stale.body["version"]) == (412, "stale_version", 2)
    assert fresh.body["certified"] is True


def test_a_repeated_request_certifies_once_and_gets_the_same_answer(client, worked):
    headers = {"Idempotency-Key": "once"}

    first = certify(client, worked, WORKED, headers=headers)
    again = certify(client, worked, WORKED, headers=headers)

    assert again.body == first.body
    assert again.headers["idempotency-replayed"] == "true"
    assert Change.objects.count() == 3


def test_only_the_owner_certifies_a_sheet(client, worked):
    link = client.post(f"{worked}/share_links", json={}).body["token"]

    assert certify(client, worked, WORKED, token=create_account("Bob")[1]).status == 404
    assert certify(client, worked, WORKED, token=link).reason == "scope_missing"
    assert certify(client, worked, WORKED, token="").reason == "unauthenticated"
    assert made_from(ApiClient(), WORKED).reason == "unauthenticated"
    assert client.get(worked).body["certificate"] is None


def test_a_full_sheet_is_not_certified(client, worked, monkeypatch):
    monkeypatch.setattr("scoring.services.MOST_CHANGES", 2)

    reply = certify(client, worked, WORKED)

    assert (reply.status, reply.reason) == (409, "too_many")


def test_records_count_for_their_own_limit_and_rulesets_do_not(client, worked, settings):
    settings.RATE_LIMITS = {"records": (2, 3600)}

    replies = [
        made_from(client, WORKED),
        certify(client, worked, WORKED),
        made_from(client, WORKED),
        certify(client, worked, WORKED),
        client.post("/v1/score_sheets", json={"ruleset": {"preset": "standard"}}),
    ]

    assert [reply.status for reply in replies] == [201, 200, 429, 429, 201]
    assert limits.POLICIES["records"].by == "address"


def test_long_records_take_turns_with_those_that_are_checked(client):
    rules = {"preset": "standard", "blind_nil": "off", "target_score": 10_000, "max_hands": 21}
    record = first_legal(Ruleset.resolve(rules), 21)
    text = replace(record, names=dict.fromkeys("NESW")).to_text(compact=True)

    with records._turn:
        refused = made_from(client, text)
    taken = made_from(client, text)
    certified = certify(client, taken.headers["location"], text)

    assert (refused.status, refused.reason, refused.headers["retry-after"]) == (429, "rate_limited", "1")
    assert len(taken.body["deals"]) == 21
    assert certified.body["certified"] is True


# --- Any game --------------------------------------------------------------------------------------------------------


@FAST
@given(st.integers(0, 2**32))
def test_the_sheet_of_any_game_breaks_no_rule_and_agrees_with_its_record(number):
    record, match = random_game(random.Random(number))

    proof = proofs.read(record.to_json())

    assert proofs.differences(proof.board, proof) == []
    assert not any(proof.board.flags)
    assert proof.board.sheet.scores() == match.sheet.scores()
    assert proof.board.over == (record.result is not None and record.result.reason not in ("aborted", "resignation"))


@FAST
@given(st.integers(0, 2**32), st.data())
def test_any_change_of_what_is_scored_is_a_difference_and_takes_a_certificate_away(number, data):
    proof = proofs.read(random_game(random.Random(number))[0].to_json())
    ruleset, content = proof.board.ruleset, proof.board.content
    table = terms(ruleset).table
    one = {"kind": "number", "tricks": 1}
    extra = KeptDeal(dict.fromkeys(table.seats, one), dict.fromkeys(table.seats, 1))
    changes = [
        replace(content, deals=(*content.deals, extra)),
        replace(content, adjustments=(KeptAdjustment(1, table.sides[0], 0),)),
    ]
    for place, deal in enumerate(content.deals):
        seat = data.draw(st.sampled_from(table.seats))
        tricks = deal.tricks or dict.fromkeys(table.seats, 0)
        others = [
            replace(deal, tricks={**tricks, seat: tricks[seat] + 1}),
            replace(deal, bids={**deal.bids, seat: {"kind": "number", "tricks": 54}}),
        ]
        if not any(bid["kind"] == "blind" for bid in deal.bids.values()):
            others.append(replace(deal, blind_sides=(table.side_of[seat],)))
        changes += [
            replace(content, deals=(*content.deals[:place], each, *content.deals[place + 1 :])) for each in others
        ]
    changed = data.draw(st.sampled_from(changes))

    at = datetime(2026, 11, 30, tzinfo=UTC)
    certified = [
        Step("sheet_made", content.to_json(), at),
        Step("sheet_certified", {"record_hash": proof.record.hash}, at),
    ]
    lost = [*certified, Step("sheet_imported", changed.to_json(), at)]

    assert proofs.differences(Board.of(ruleset, changed), proof) != []
    assert fold(certified).content == replace(content, certificate=Certificate(at, 2, proof.record.hash))
    assert fold(lost).content == changed
    assert fold([*lost, Step("change_undone", {}, at)]).content == fold(certified).content
