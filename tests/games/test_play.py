"""Drawing, bidding and playing over HTTP: what is allowed, what is refused and how, and what a client can rely on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from spades.cards import PACK
from tests.client import ApiClient
from tests.games.conftest import Table
from tests.games.rebuilding import assert_rebuilds, rows_of

pytestmark = pytest.mark.django_db

Make = Callable[..., Table]
BODIES: dict[str, dict[str, Any]] = {
    "draw": {"decision": "keep"},
    "bid": {"kind": "number", "tricks": 4},
    "play": {"card": "AS"},
}


def other(seat: str) -> str:
    return "B" if seat == "A" else "A"


def test_a_draw_turn_shows_its_card_to_the_drawer_alone(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    looked_at = view["deal"]["draw"]["looked_at"]

    after = game.act(seat, {"decision": "keep"}, example=True).body
    across = game.view(other(seat))

    assert looked_at
    assert view["turn"]["legal"] == [{"decision": "keep"}, {"decision": "decline"}]
    assert after["deal"]["hand"] == [looked_at]
    assert after["deal"]["draw"]["stock_count"] == 50
    (discard,) = after["deal"]["draw"]["discards"]
    assert (discard["seat"], discard["decision"], discard["face"]) == (seat, "keep", "up")
    assert across["deal"]["hand"] == []
    assert across["deal"]["draw"]["discards"] == [discard]
    assert across["deal"]["draw"]["looked_at"] not in (None, looked_at)
    assert after["deal"]["draw"]["looked_at"] is None
    mine = game.api.get(game.url("events") + f"?after={view['version']}", token=game.tokens[seat]).body["items"]
    theirs = game.api.get(game.url("events") + f"?after={view['version']}", token=game.tokens[other(seat)]).body[
        "items"
    ]
    assert mine[0]["data"]["kept"] == looked_at
    assert "kept" not in theirs[0]["data"]
    assert {**mine[0]["data"], "kept": 0} == {**theirs[0]["data"], "kept": 0}


def test_a_declined_card_lies_open_and_the_next_is_kept(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    declined = view["deal"]["draw"]["looked_at"]

    after = game.act(seat, {"decision": "decline"}).body

    assert after["deal"]["draw"]["discards"][0]["card"] == declined
    assert len(after["deal"]["hand"]) == 1
    assert after["deal"]["hand"] != [declined]


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        ("keep_both", "one_card_per_turn"),
        ("decline_second", "second_card_is_forced"),
        ("take_discard", "discard_pile_closed"),
        ("peek_second", "decide_first"),
    ],
)
def test_a_wrong_draw_is_refused_with_its_rule(table: Make, decision: str, reason: str) -> None:
    game = table()
    seat, view = game.on_turn()
    before = rows_of(game.id)

    answer = game.act(seat, {"decision": decision})

    assert (answer.status, answer.reason) == (422, reason)
    assert answer.body["rule"] == {"option": "deal_method", "value": "draw", "section": "draw"}
    assert answer.body["legal"] == view["turn"]["legal"]
    assert answer.body["version"] == view["version"]
    assert answer.body["type"] == f"/problems/{reason}"
    assert rows_of(game.id) == before


@pytest.mark.parametrize("phase", ["drawing", "bidding", "playing"])
def test_turn_and_phase_are_asked_for_first(table: Make, phase: str) -> None:
    game = table()
    game.play_to(phase)
    seat, view = game.on_turn()
    before = rows_of(game.id)

    for action, body in BODIES.items():
        waiting = game.act(other(seat), body, action=action)
        assert (waiting.status, waiting.reason) == (409, "not_your_turn")
        assert waiting.body["legal"] == []
        if action != view["turn"]["action"]:
            wrong = game.act(seat, body, action=action)
            assert (wrong.status, wrong.reason) == (409, "wrong_phase")
            assert wrong.body["legal"] == view["turn"]["legal"]

    assert rows_of(game.id) == before


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"kind": "number", "tricks": 0}, 422, "bid_out_of_range"),
        ({"kind": "number", "tricks": 14}, 422, "bid_out_of_range"),
        ({"kind": "number", "tricks": 54}, 422, "bid_out_of_range"),
        ({"kind": "blind_nil"}, 422, "blind_nil_not_allowed"),
        ({"kind": "blind", "tricks": 6}, 422, "blind_nil_not_allowed"),
        ({"kind": "number", "tricks": 55}, 400, "malformed"),
        ({"kind": "number", "tricks": -1}, 400, "malformed"),
        ({"kind": "number", "tricks": "3"}, 400, "malformed"),
        ({"kind": "number", "tricks": 3.0}, 400, "malformed"),
        ({"kind": "number", "tricks": True}, 400, "malformed"),
        ({"kind": "number", "tricks": None}, 400, "malformed"),
        ({"kind": "number"}, 400, "malformed"),
        ({"kind": "nil", "tricks": 0}, 400, "malformed"),
        ({"kind": "pass"}, 400, "malformed"),
        ({"kind": "nil", "seat": "A"}, 400, "malformed"),
        ([], 400, "malformed"),
        ("nil", 400, "malformed"),
        (None, 400, "malformed"),
    ],
)
def test_a_wrong_bid_is_refused_and_writes_nothing(table: Make, body: Any, status: int, reason: str) -> None:
    game = table()
    game.play_to("bidding")
    seat, view = game.on_turn()
    before = rows_of(game.id)

    answer = game.api.post(game.url("bids"), json=body, token=game.tokens[seat], bad=True)

    assert (answer.status, answer.reason) == (status, reason)
    if status == 422:
        assert answer.body["legal"] == view["turn"]["legal"]
        assert "section" in answer.body["rule"]
    else:
        assert answer.body["errors"]
    assert rows_of(game.id) == before


def test_where_nil_is_not_offered_it_is_refused_by_name(table: Make) -> None:
    game = table()
    game.play_to("bidding")
    seat, view = game.on_turn()

    assert {"kind": "nil"} in view["turn"]["legal"]
    placed = game.act(seat, {"kind": "nil"}, example=True).body
    assert next(row for row in placed["seats"] if row["seat"] == seat)["bid"] == {"kind": "nil"}
    again = game.act(seat, {"kind": "nil"})
    assert (again.status, again.reason) == (409, "already_bid")


def test_every_card_of_the_pack_is_legal_or_refused_and_a_missing_one_alike_wherever_it_is(table: Make) -> None:
    game = table()
    game.play_to("playing")
    seat, view = game.on_turn()
    hand, legal = view["deal"]["hand"], [entry["card"] for entry in view["turn"]["legal"]]
    details = set()

    for card in PACK:
        answer = game.act(seat, {"card": card.code}, query="?dry_run=true")
        if card.code in legal:
            assert answer.status == 200
            assert answer.body == {"allowed": True, "legal": view["turn"]["legal"]}
        elif card.code in hand:
            assert (answer.status, answer.reason) == (422, "first_lead_spade")
            assert answer.body["rule"]["option"] == "first_lead"
        else:
            assert (answer.status, answer.reason) == (422, "not_in_hand")
            details.add(answer.body["detail"].replace(card.code, "X"))
            assert set(answer.body) - {"request_id"} == {
                "type",
                "title",
                "status",
                "detail",
                "reason",
                "version",
                "legal",
            }

    assert len(details) == 1
    assert game.view(seat) == view


@pytest.mark.parametrize("card", ["1S", "as", "ASX", "", "🂡", 7, None, ["AS"]])
def test_a_text_that_is_no_card_is_malformed(table: Make, card: Any) -> None:
    game = table()
    game.play_to("playing")
    seat, _ = game.on_turn()
    before = rows_of(game.id)

    answer = game.api.post(game.url("plays"), json={"card": card}, token=game.tokens[seat], bad=True)

    assert (answer.status, answer.reason) == (400, "malformed")
    assert answer.body["errors"][0]["pointer"] == "/card"
    assert rows_of(game.id) == before


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [
        (b'{"card": "AS', 400, "malformed"),
        (b'{"card": NaN}', 400, "malformed"),
        (b'{"card": "\xff"}', 400, "malformed"),
        (b'{"card": "AS", "card": "KS"}', 400, "malformed"),
        (b'{"card": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400, "malformed"),
        (b'{"card": "' + b"A" * 1_000_000 + b'"}', 413, "payload_too_large"),
    ],
)
def test_a_broken_body_is_refused_and_writes_nothing(table: Make, content: bytes, status: int, reason: str) -> None:
    game = table()
    before = rows_of(game.id)

    for path in ("draws", "bids", "plays", "resignations"):
        answer = game.api.post(game.url(path), content=content, token=game.tokens["A"], bad=True)
        assert (answer.status, answer.reason) == (status, reason)

    assert rows_of(game.id) == before


def test_following_suit_and_breaking_spades_are_refused_with_their_reasons(table: Make) -> None:
    """Plays whole games by the rules, and asks for every card of every hand on the way."""
    game = table(target_score=40)
    seen = set()
    while game.view()["status"] == "active" and len(seen) < 3:
        seat, view = game.on_turn()
        legal = view["turn"]["legal"]
        if view["turn"]["action"] == "play":
            allowed = [entry["card"] for entry in legal]
            for card in view["deal"]["hand"]:
                answer = game.act(seat, {"card": card}, query="?dry_run=true")
                assert (answer.status == 200) == (card in allowed)
                if answer.status != 200:
                    seen.add(answer.reason)
        assert game.act(seat, legal[0]).status == 200

    assert seen == {"must_follow_suit", "first_lead_spade", "spades_not_broken"}


def test_if_match_stops_an_action_decided_on_an_old_view(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    tag = game.api.get(game.url(), token=game.tokens[seat]).headers["etag"]
    assert tag == f'"{view["version"]}-{seat}"'

    done = game.act(seat, {"decision": "keep"}, headers={"If-Match": tag})
    late = game.act(other(seat), {"decision": "keep"}, headers={"If-Match": tag})
    any_version = game.act(other(seat), {"decision": "keep"}, headers={"If-Match": "*"})

    assert done.headers["etag"] == f'"{view["version"] + 1}-{seat}"'
    assert (late.status, late.reason) == (412, "stale_version")
    assert late.body["version"] == view["version"] + 1
    assert any_version.status == 200
    wrong = game.act(seat, {"decision": "keep"}, headers={"If-Match": "17"}, bad=True)
    assert wrong.status == 400


def test_a_view_that_has_not_changed_is_not_sent_again(table: Make) -> None:
    game = table()
    first = game.api.get(game.url(), token=game.tokens["A"])

    same = game.api.get(game.url(), token=game.tokens["A"], headers={"If-None-Match": first.headers["etag"]})
    across = game.api.get(game.url(), token=game.tokens["B"], headers={"If-None-Match": first.headers["etag"]})

    assert (same.status, same.content) == (304, b"")
    assert same.headers["etag"] == first.headers["etag"]
    assert across.status == 200
    assert first.headers["cache-control"] == "private, no-cache"
    assert first.headers["vary"] == "Authorization, X-Seat"


def test_a_repeated_request_has_one_effect_and_one_answer_for_ever(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    key = {"Idempotency-Key": "first-draw", "If-Match": f'"{view["version"]}"'}
    first = game.act(seat, {"decision": "keep"}, headers=key)

    game.play_to("drawing", deal=2)
    again = game.act(seat, {"decision": "keep"}, headers=key)
    different = game.act(seat, {"decision": "decline"}, headers=key)
    across = game.act(other(seat), {"decision": "decline"}, headers={"Idempotency-Key": "first-draw"})

    assert again.status == 200
    assert again.content == first.content
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["idempotency-replayed"] == "true"
    assert (different.status, different.reason) == (422, "idempotency_mismatch")
    assert across.status in (200, 409)  # another seat's keys are another's
    assert "idempotency-replayed" not in across.headers


def test_a_refusal_is_not_kept(table: Make) -> None:
    game = table()
    seat, _ = game.on_turn()
    key = {"Idempotency-Key": "too-early"}

    early = game.act(other(seat), {"decision": "keep"}, headers=key)
    assert game.act(seat, {"decision": "keep"}).status == 200
    now = game.act(other(seat), {"decision": "keep"}, headers=key)

    assert early.status == 409
    assert now.status == 200


def test_a_dry_run_keeps_nothing(table: Make) -> None:
    game = table()
    seat, _ = game.on_turn()
    before = rows_of(game.id)
    key = {"Idempotency-Key": "dry"}

    dry = game.act(seat, {"decision": "keep"}, query="?dry_run=true", headers=key)
    refused = game.act(other(seat), {"decision": "keep"}, query="?dry_run=true")
    stale = game.act(seat, {"decision": "keep"}, query="?dry_run=true", headers={"If-Match": '"1"'})

    assert dry.body == {"allowed": True, "legal": [{"decision": "keep"}, {"decision": "decline"}]}
    assert (refused.status, refused.reason) == (409, "not_your_turn")
    assert (stale.status, stale.reason) == (412, "stale_version")
    assert rows_of(game.id) == before
    assert game.act(seat, {"decision": "decline"}, headers=key).status == 200


def test_the_last_card_of_a_deal_scores_it_and_begins_the_next_in_one_step(table: Make) -> None:
    game = table()
    game.play_to("playing")
    while True:
        seat, view = game.on_turn()
        if view["deal"]["trick"]["number"] == 13 and len(view["deal"]["trick"]["cards"]) == 1:
            break
        game.act(seat, view["turn"]["legal"][0])

    after = game.act(seat, view["turn"]["legal"][0], example=True).body
    events = game.api.get(game.url("events") + f"?after={view['version']}", token=game.tokens[seat]).body

    assert [event["type"] for event in events["items"]] == [
        "card_played",
        "trick_taken",
        "deal_scored",
        "deal_revealed",
        "deal_started",
    ]
    assert after["version"] == view["version"] + 5 == events["version"]
    assert (after["deal"]["number"], after["deal"]["phase"]) == (2, "drawing")
    assert after["deal"]["dealer"] != view["deal"]["dealer"]
    assert_rebuilds_still(game)


def assert_rebuilds_still(game: Table) -> None:
    assert_rebuilds(UUID(game.id))


def test_a_game_played_by_two_people_ends_with_a_winner(table: Make) -> None:
    game = table(target_score=100, bag_penalty=0, bag_limit=0)
    while (view := game.view())["status"] == "active":
        seat, mine = game.on_turn()
        legal = mine["turn"]["legal"]
        assert game.act(seat, legal[min(3, len(legal) - 1)]).status == 200

    assert view["turn"] is None
    assert view["deal"]["phase"] == "finished"
    assert view["deal"]["last_trick"]["winner"] in ("A", "B")
    scores = {side["side"]: side["score"] for side in view["sides"]}
    assert view["result"] == {
        "winners": [max(scores, key=lambda side: scores[side])],
        "reason": "target",
        "scores": scores,
    }
    assert_rebuilds_still(game)


# Events.


def test_events_are_read_in_pages(table: Make) -> None:
    game = table()
    game.play_to("bidding")
    version = game.view()["version"]
    url, token = game.url("events"), game.tokens["A"]

    everything = game.api.get(f"{url}?limit=500", token=token).body
    pages, after = [], "0"
    while after is not None:
        page = game.api.get(f"{url}?limit=7&after={after}", token=token).body
        pages += page["items"]
        after = page["next"]

    assert pages == everything["items"]
    assert [event["number"] for event in pages] == list(range(1, version + 1))
    assert everything["next"] is None
    assert everything["version"] == version
    assert game.api.get(f"{url}?after={version}", token=token).body["items"] == []


@pytest.mark.parametrize(
    "query",
    [
        "after=-1",
        "after=x",
        "after=1000",
        "limit=0",
        "limit=501",
        "wait=0",
        "wait=31",
        "wait=x",
        "since=1",
        "after=1&after=2",
    ],
)
def test_a_cursor_that_cannot_be_is_answered(table: Make, query: str) -> None:
    game = table()

    answer = game.api.get(f"{game.url('events')}?{query}", token=game.tokens["A"], bad=True)

    assert (answer.status, answer.reason) == (400, "malformed")
    assert answer.body["errors"][0]["pointer"] == "?" + query.partition("=")[0]


def test_what_a_reader_sees_of_an_event_never_changes(table: Make) -> None:
    game = table()
    game.play_to("playing")
    url = game.url("events") + "?limit=500"
    before = {seat: game.api.get(url, token=token).body["items"] for seat, token in game.tokens.items()}

    game.play_to("drawing", deal=2)

    for seat, token in game.tokens.items():
        assert game.api.get(url, token=token).body["items"][: len(before[seat])] == before[seat]


def test_reading_a_view_takes_one_statement(table: Make, django_assert_num_queries: Any) -> None:
    game = table()

    with django_assert_num_queries(1):
        assert game.api.get(game.url(), token=game.tokens["A"]).status == 200
    with django_assert_num_queries(1):
        assert game.api.get(game.url(), token=game.host.token).status == 200
    with django_assert_num_queries(2):
        assert game.api.get(game.url("events"), token=game.tokens["A"]).status == 200


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks and writes in several statements")
def test_an_action_by_a_seats_token_takes_two_statements(table: Make, django_assert_num_queries: Any) -> None:
    game = table()
    seat = game.api.get(game.url(), token=game.tokens["A"]).body["turn"]["seat"]

    with django_assert_num_queries(2):
        drawn = game.api.post(game.url("draws"), json={"decision": "keep"}, token=game.tokens[seat])

    assert drawn.status == 200


def test_watchers_cannot_act(table: Make, api: ApiClient, person: Callable[..., Any]) -> None:
    game, wes = table(), person("Wes")

    for path, body in (("draws", {"decision": "keep"}), ("bids", {"kind": "nil"}), ("plays", {"card": "AS"})):
        answer = api.post(game.url(path), json=body, token=wes.token)
        assert (answer.status, answer.reason) == (403, "not_your_seat")
    answer = api.post(game.url("resignations"), token=wes.token)
    assert (answer.status, answer.reason) == (403, "not_your_seat")


def test_an_account_acts_with_its_own_token_too(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    account = game.host if seat == "A" else game.guest

    answer = game.api.post(game.url("draws"), json={"decision": "keep"}, token=account.token)

    assert answer.status == 200
    assert answer.body["viewer"] == {"role": "seat", "seat": seat}
    assert answer.body["deal"]["hand"] == [view["deal"]["draw"]["looked_at"]]
