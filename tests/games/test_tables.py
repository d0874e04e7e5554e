"""Making a table, finding it, sitting down, getting up, starting, aborting and resigning, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from spades.ruleset import SUPPORTED
from tests.client import ApiClient
from tests.games.conftest import Person, Table
from tests.games.rebuilding import assert_rebuilds, rows_of

pytestmark = pytest.mark.django_db

TWO = {"ruleset": {"preset": "two_player"}}
Make = Callable[..., Table]
MakePerson = Callable[..., Person]


def create(api: ApiClient, who: Person, **settings: Any) -> dict[str, Any]:
    made = api.post("/v1/games", json={**TWO, **settings}, token=who.token)
    assert made.status == 201
    body: dict[str, Any] = made.body
    return body


def test_a_table_with_an_open_seat_waits(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")

    made = api.post(
        "/v1/games",
        json={"ruleset": {"preset": "two_player", "target_score": 300}, "seats": [{"kind": "human"}]},
        token=ann.token,
        example=True,
    )
    game = made.body["game"]

    assert made.headers["location"] == f"/v1/games/{game['id']}"
    assert made.headers["etag"] == f'"{game["version"]}-A"'
    assert api.get(made.headers["location"], token=ann.token).body == game
    assert (game["status"], game["deal"], game["turn"], game["result"]) == ("waiting", None, None, None)
    assert game["viewer"] == {"role": "seat", "seat": "A"}
    assert [(seat["seat"], seat["kind"], seat["name"]) for seat in game["seats"]] == [
        ("A", "human", "Ann"),
        ("B", "open", None),
    ]
    assert game["ruleset"]["target_score"] == 300
    assert game["ruleset"]["preset"] == "two_player"
    assert [seat["seat"] for seat in made.body["seats"]] == ["A"]
    assert made.body["seats"][0]["token"].startswith("sps_")


def test_a_full_table_starts_by_itself_and_deals(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")

    body = create(api, ann, seats=[{"kind": "human", "name": "Anna"}, {"kind": "bot", "bot": "steady"}])
    game = body["game"]

    assert game["status"] == "active"
    assert game["deal"]["number"] == 1
    assert game["deal"]["phase"] == "drawing"
    assert game["turn"]["seat"] != game["deal"]["dealer"]
    events = api.get(f"/v1/games/{game['id']}/events", token=ann.token, example=True).body["items"]
    assert [event["type"] for event in events] == [
        "game_created",
        "seat_taken",
        "seat_taken",
        "game_started",
        "dealer_cut",
        "deal_started",
    ]
    assert [event["number"] for event in events] == [1, 2, 3, 4, 5, 6] == [event["version"] for event in events]
    assert events[0]["data"]["commitment"] == events[5]["data"]["commitment"]


def test_a_host_without_a_seat_watches_two_bots(api: ApiClient, person: MakePerson) -> None:
    ann, watcher = person("Ann"), person("Wes")

    body = create(api, ann, seats=[{"kind": "bot", "bot": "steady"}, {"kind": "bot", "bot": "random", "name": "Robo"}])
    game = body["game"]

    assert body["seats"] == []
    assert game["viewer"] == {"role": "host", "seat": None}
    assert [seat["name"] for seat in game["seats"]] == ["Steady", "Robo"]
    assert game["deal"]["hand"] is None
    watched = api.get(f"/v1/games/{game['id']}", token=watcher.token)
    assert watched.body["viewer"] == {"role": "watcher", "seat": None}
    assert watched.headers["etag"].endswith('-watcher"')


def test_joining_the_last_seat_starts_the_game(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    game = create(api, ann, seats=[{"kind": "human"}])["game"]

    joined = api.post(
        f"/v1/games/{game['id']}/seats", json={"kind": "human", "client_seed": "my luck"}, token=bea.token, example=True
    )

    assert joined.status == 201
    assert joined.headers["location"] == f"/v1/games/{game['id']}/seats/B"
    assert joined.body["seat"] == "B"
    assert joined.body["game"]["status"] == "active"
    assert joined.body["game"]["viewer"] == {"role": "seat", "seat": "B"}
    assert api.get(joined.headers["location"], token=bea.token).body == {
        "seat": "B",
        "kind": "human",
        "name": "Bea",
        "bot": None,
    }
    assert api.get(f"/v1/games/{game['id']}", token=joined.body["token"]).body == joined.body["game"]


def test_the_host_fills_a_seat_with_a_bot_and_nobody_else_may(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    game = create(api, ann, seats=[{"kind": "human"}])["game"]
    url = f"/v1/games/{game['id']}/seats"

    refused = api.post(url, json={"kind": "bot", "bot": "steady"}, token=bea.token)
    seated = api.post(url, json={"kind": "bot", "bot": "steady"}, token=ann.token)

    assert (refused.status, refused.reason) == (403, "not_host")
    assert seated.status == 201
    assert seated.body["token"] is None
    assert seated.body["game"]["viewer"] == {"role": "seat", "seat": "A"}


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"kind": "human", "seat": "A"}, 409, "seat_taken"),
        ({"kind": "human", "seat": "N"}, 400, "malformed"),
        ({"kind": "human", "seat": "AB"}, 400, "malformed"),
        ({"kind": "open"}, 400, "malformed"),
        ({"kind": "bot"}, 400, "malformed"),
        ({"kind": "human", "bot": "steady"}, 400, "malformed"),
        ({"kind": "human", "name": ""}, 400, "malformed"),
        ({"kind": "human", "name": "x" * 41}, 400, "malformed"),
        ({"kind": "human", "client_seed": "a\x00b"}, 400, "malformed"),
        ({}, 400, "malformed"),
    ],
)
def test_a_wrong_join_is_refused_and_writes_nothing(
    api: ApiClient, person: MakePerson, body: dict[str, Any], status: int, reason: str
) -> None:
    game = create(api, person("Ann"), seats=[{"kind": "human"}])["game"]
    before = rows_of(game["id"])

    answer = api.post(f"/v1/games/{game['id']}/seats", json=body, token=person("Bea").token, bad=True)

    assert (answer.status, answer.reason) == (status, reason)
    assert rows_of(game["id"]) == before


def test_one_account_sits_once_at_a_table(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")
    game = create(api, ann, seats=[{"kind": "human"}])["game"]

    again = api.post(f"/v1/games/{game['id']}/seats", json={"kind": "human"}, token=ann.token)

    assert (again.status, again.reason) == (409, "already_seated")


def test_getting_up_frees_the_seat_and_kills_its_token(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    body = create(api, ann, seats=[{"kind": "human"}])
    game, token = body["game"], body["seats"][0]["token"]

    left = api.delete(f"/v1/games/{game['id']}/seats/A", token=token)

    assert left.status == 200
    assert left.body["seats"][0]["kind"] == "open"
    assert api.get(f"/v1/games/{game['id']}", token=token).status == 401
    joined = api.post(f"/v1/games/{game['id']}/seats", json={"kind": "human"}, token=bea.token)
    assert (joined.status, joined.body["seat"]) == (201, "A")
    assert (
        api.post(f"/v1/games/{game['id']}/seats", json={"kind": "bot", "bot": "random"}, token=ann.token).status == 201
    )
    assert_rebuilds(UUID(game["id"]))


def test_only_the_host_makes_others_get_up_and_only_before_the_start(
    api: ApiClient, person: MakePerson, table: Make
) -> None:
    ann, bea, cat = person("Ann"), person("Bea"), person("Cat")
    game = create(api, ann)["game"]
    url = f"/v1/games/{game['id']}/seats"
    assert api.post(url, json={"kind": "human", "seat": "B"}, token=bea.token).status == 201

    foreign = api.delete(f"{url}/B", token=cat.token)
    by_host = api.delete(f"{url}/B", token=ann.token)
    empty = api.delete(f"{url}/B", token=ann.token)
    started = table()
    late = api.delete(started.url("seats", "A"), token=started.tokens["A"])

    assert (foreign.status, foreign.reason) == (403, "not_your_seat")
    assert by_host.status == 200
    assert by_host.body["viewer"] == {"role": "host", "seat": None}
    assert empty.status == 404
    assert (late.status, late.reason) == (409, "wrong_phase")


def test_a_table_that_waits_for_its_host_starts_when_told(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    game = create(api, ann, start="by_host", seats=[{"kind": "human"}])["game"]
    url = f"/v1/games/{game['id']}"

    early = api.post(f"{url}/start", token=ann.token)
    joined = api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token)
    foreign = api.post(f"{url}/start", token=bea.token)
    with_seat = api.post(f"{url}/start", token=joined.body["token"])
    dry = api.post(f"{url}/start?dry_run=true", token=ann.token)
    unchanged = api.get(url, token=ann.token).body
    key = {"Idempotency-Key": "start-it"}
    started = api.post(f"{url}/start", token=ann.token, headers=key, example=True)
    repeated = api.post(f"{url}/start", token=ann.token, headers=key)
    again = api.post(f"{url}/start", token=ann.token)

    assert (early.status, early.reason) == (409, "game_not_full")
    assert joined.body["game"]["status"] == "waiting"
    assert (foreign.status, foreign.reason) == (403, "not_host")
    assert (with_seat.status, with_seat.reason) == (403, "not_host")
    assert dry.body["allowed"] is True
    assert unchanged["status"] == "waiting"
    assert started.body["status"] == "active"
    assert repeated.content == started.content
    assert repeated.headers["idempotency-replayed"] == "true"
    assert (again.status, again.reason) == (409, "wrong_phase")


def test_the_host_aborts_before_the_start_or_alone_and_never_over_others(
    api: ApiClient, person: MakePerson, table: Make
) -> None:
    ann, bea = person("Ann"), person("Bea")
    waiting = create(api, ann, seats=[{"kind": "human"}])["game"]
    alone = create(api, ann, seats=[{"kind": "human"}, {"kind": "bot", "bot": "steady"}])["game"]
    shared = table()
    key = {"Idempotency-Key": "stop"}

    foreign = api.post(f"/v1/games/{waiting['id']}/abort", token=bea.token)
    first = api.post(f"/v1/games/{waiting['id']}/abort", token=ann.token, headers=key, example=True)
    repeated = api.post(f"/v1/games/{waiting['id']}/abort", token=ann.token, headers=key)
    second = api.post(f"/v1/games/{alone['id']}/abort", token=ann.token)
    refused = api.post(shared.url("abort"), token=shared.host.token)
    over = api.post(f"/v1/games/{alone['id']}/abort", token=ann.token)

    assert (foreign.status, foreign.reason) == (403, "not_host")
    for answer in (first, second):
        assert answer.status == 200
        assert answer.body["status"] == "aborted"
        assert answer.body["result"] == {"winners": [], "reason": "aborted", "scores": {"A": 0, "B": 0}}
        assert answer.body["turn"] is None
    assert repeated.content == first.content
    assert (refused.status, refused.reason) == (409, "abort_not_allowed")
    assert (over.status, over.reason) == (409, "game_over")
    for game, last in ((waiting, "game_aborted"), (alone, "game_aborted")):
        events = api.get(f"/v1/games/{game['id']}/events", token=ann.token).body["items"]
        assert events[-1]["type"] == last
    assert [event["type"] for event in events][-2:] == ["deal_revealed", "game_aborted"]


@pytest.mark.parametrize("phase", ["drawing", "bidding", "playing"])
def test_resigning_is_a_way_out_in_every_phase(table: Make, phase: str) -> None:
    game = table()
    game.play_to(phase)
    seat, _ = game.on_turn()
    other = "B" if seat == "A" else "A"

    dry = game.api.post(game.url("resignations") + "?dry_run=true", token=game.tokens[other])
    answer = game.api.post(game.url("resignations"), token=game.tokens[other], example=True)
    again = game.api.post(game.url("resignations"), token=game.tokens[other])
    late = game.act(seat, {"decision": "keep"})

    assert dry.status == 200
    assert answer.body["status"] == "finished"
    assert answer.body["result"]["winners"] == [seat]
    assert answer.body["result"]["reason"] == "resignation"
    assert (again.status, again.reason) == (409, "game_over")
    assert (late.status, late.reason) == (409, "game_over")


def test_before_the_start_there_is_no_action(api: ApiClient, person: MakePerson) -> None:
    body = create(api, person("Ann"), seats=[{"kind": "human"}])
    token, url = body["seats"][0]["token"], f"/v1/games/{body['game']['id']}"

    for path, action in (
        ("draws", {"decision": "keep"}),
        ("bids", {"kind": "nil"}),
        ("plays", {"card": "AS"}),
        ("resignations", None),
    ):
        answer = api.post(f"{url}/{path}", json=action, token=token)
        assert (answer.status, answer.reason) == (409, "wrong_phase")


# Who may know of a table.


def test_a_private_table_is_unknown_to_others(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    game = create(api, ann, visibility="private", seats=[{"kind": "human"}])["game"]
    url = f"/v1/games/{game['id']}"

    answers = [
        api.get(url, token=bea.token),
        api.get(f"{url}/events", token=bea.token),
        api.get(f"{url}/deals", token=bea.token),
        api.get(f"{url}/seats/A", token=bea.token),
        api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token),
        api.post(f"{url}/plays", json={"card": "AS"}, token=bea.token),
        api.post(f"{url}/abort", token=bea.token),
        api.delete(f"{url}/seats/A", token=bea.token),
    ]
    unknown = api.get("/v1/games/01a229d3-3d01-7166-a840-8fc6880586c4", token=bea.token)

    assert {(answer.status, answer.reason) for answer in answers} == {(404, "not_found")}
    assert {answer.body["detail"] for answer in answers} == {unknown.body["detail"]}
    assert game["id"] not in [item["id"] for item in api.get("/v1/games", token=bea.token).body["items"]]
    assert api.get(url, token=ann.token).status == 200


def test_an_unlisted_table_may_be_watched_and_not_joined(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    game = create(api, ann, visibility="unlisted", seats=[{"kind": "human"}])["game"]
    url = f"/v1/games/{game['id']}"

    joined = api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token)

    assert api.get(url, token=bea.token).status == 200
    assert (joined.status, joined.reason) == (403, "invitation_required")
    assert api.get("/v1/games", token=bea.token).body["items"] == []
    assert [item["id"] for item in api.get("/v1/games", token=ann.token).body["items"]] == [game["id"]]


def test_spectators_can_be_forbidden(api: ApiClient, person: MakePerson) -> None:
    ann, bea, wes = person("Ann"), person("Bea"), person("Wes")
    game = create(api, ann, spectators="forbidden", seats=[{"kind": "human"}])["game"]
    url = f"/v1/games/{game['id']}"

    waiting = api.get(url, token=wes.token)
    assert api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token).status == 201
    for path in (url, f"{url}/events", f"{url}/deals", f"{url}/deals/1", f"{url}/seats/A"):
        answer = api.get(path, token=wes.token)
        assert (answer.status, answer.reason) == (403, "spectators_forbidden")

    assert waiting.status == 200
    assert api.get(url, token=bea.token).status == 200


def test_tokens_open_what_they_are_for(api: ApiClient, person: MakePerson, table: Make) -> None:
    first, second = table(), table()
    narrow = person("Narrow", scopes=("scoring",))

    missing = api.get(first.url(), token="", bad=True)
    unknown = api.get(first.url(), token="spk_" + "x" * 43)
    elsewhere = api.get(second.url(), token=first.tokens["A"])
    scope = api.get(first.url(), token=narrow.token)
    seat_token_makes_no_table = api.post("/v1/games", json=TWO, token=first.tokens["A"])
    named = api.get(first.url(), token=first.tokens["A"], headers={"X-Seat": "B"})
    own = api.get(first.url(), token=first.tokens["A"], headers={"X-Seat": "A"})
    garbled = api.get(first.url(), token="", headers={"Authorization": "Basic abc"}, bad=True)

    assert (missing.status, missing.reason) == (401, "unauthenticated")
    assert (unknown.status, unknown.reason) == (401, "unauthenticated")
    assert (elsewhere.status, elsewhere.reason) == (404, "not_found")
    assert (scope.status, scope.reason) == (403, "scope_missing")
    assert (seat_token_makes_no_table.status, seat_token_makes_no_table.reason) == (403, "scope_missing")
    assert (named.status, named.reason) == (403, "not_your_seat")
    assert own.status == 200
    assert garbled.status == 401


# Rulesets that are refused.


@pytest.mark.parametrize(
    ("ruleset", "status", "reason", "pointer"),
    [
        ({"preset": "two_player", "losing_score": 600}, 422, "ruleset_contradiction", "/ruleset/losing_score"),
        ({"preset": "two_player", "no_such": 1}, 400, "malformed", "/ruleset/no_such"),
        ({"preset": "nobody"}, 400, "malformed", "/ruleset/preset"),
        ({"preset": "two_player", "target_score": "500"}, 400, "malformed", "/ruleset/target_score"),
        ({"preset": "two_player", "target_score": 500.0}, 400, "malformed", "/ruleset/target_score"),
        ({"preset": "two_player", "hand_size": 13}, 400, "malformed", "/ruleset/hand_size"),
        ([], 400, "malformed", "/ruleset"),
    ],
)
def test_a_ruleset_that_is_none_is_refused_by_name(
    api: ApiClient, person: MakePerson, ruleset: Any, status: int, reason: str, pointer: str
) -> None:
    answer = api.post("/v1/games", json={"ruleset": ruleset}, token=person("Ann").token, bad=True)

    assert (answer.status, answer.reason) == (status, reason)
    assert pointer in [error["pointer"] for error in answer.body["errors"]]
    for error in answer.body["errors"]:
        assert api.get(f"/problems/{error['reason']}").status == 200


def test_a_ruleset_that_is_not_played_yet_is_refused_by_name(
    api: ApiClient, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spades.ruleset.SUPPORTED", {**SUPPORTED, "must_trump": frozenset((False,))})
    # A ruleset is read once, and what is played changes with the service only: no other test may ask for this one.
    body = {"ruleset": {"preset": "two_player", "must_trump": True, "target_score": 489}}

    answer = api.post("/v1/games", json=body, token=person("Ann").token)

    assert (answer.status, answer.reason) == (422, "option_not_supported")
    assert [error["pointer"] for error in answer.body["errors"]] == ["/ruleset/must_trump"]


@pytest.mark.parametrize(
    ("extra", "pointer"),
    [
        ({"seats": [{"kind": "human"}, {"kind": "human"}]}, "/seats/1/kind"),
        ({"seats": [{"kind": "open"}] * 3}, "/seats"),
        ({"seats": [{"kind": "bot", "bot": "nobody"}]}, "/seats/0/bot"),
        ({"seats": [{"kind": "open", "name": "Ann"}]}, "/seats/0/name"),
        ({"seats": [{"kind": "human", "client_seed": "x"}]}, "/seats/0/client_seed"),
        ({"seats": {}}, "/seats"),
        ({"visibility": "secret"}, "/visibility"),
        ({"hot_seat": "yes"}, "/hot_seat"),
        ({"seating": "by_lot"}, "/seating"),
        ({"start": None}, "/start"),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_its_place(
    api: ApiClient, person: MakePerson, extra: dict[str, Any], pointer: str
) -> None:
    answer = api.post("/v1/games", json={**TWO, **extra}, token=person("Ann").token, bad=True)

    assert (answer.status, answer.reason) == (400, "malformed")
    assert [error["pointer"] for error in answer.body["errors"]] == [pointer]


# Lists.


def test_games_are_listed_newest_first_in_pages_without_gap_or_repeat(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")
    made = [create(api, ann)["game"]["id"] for _ in range(5)]

    seen, cursor = [], ""
    while True:
        page = api.get(f"/v1/games?limit=2{cursor}", token=ann.token, example=True).body
        seen += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"

    assert seen == made[::-1]
    wrong = api.get("/v1/games?cursor=abc", token=ann.token)
    assert (wrong.status, wrong.reason) == (400, "malformed")


def test_lists_are_filtered(api: ApiClient, person: MakePerson, table: Make) -> None:
    started = table()
    ann = person("Ann")
    waiting = create(api, ann, seats=[{"kind": "human"}])["game"]["id"]

    def listed(query: str, token: str) -> list[str]:
        return [item["id"] for item in api.get(f"/v1/games?{query}", token=token).body["items"]]

    assert listed("status=waiting", ann.token) == [waiting]
    assert listed("status=active", ann.token) == [started.id]
    assert listed("mine=true", ann.token) == [waiting]
    assert listed("mine=true", started.guest.token) == [started.id]
    assert listed("mine=false", ann.token) == [started.id]
    assert listed("open=true", ann.token) == [waiting]
    assert listed("open=false", ann.token) == [started.id]
    assert listed("preset=standard", ann.token) == []
    assert listed("preset=two_player", ann.token) == [waiting, started.id]


@pytest.mark.parametrize("rows", [1, 3])
def test_a_list_costs_two_statements_whatever_its_length(
    api: ApiClient, person: MakePerson, rows: int, django_assert_num_queries: Any
) -> None:
    ann = person("Ann")
    for _ in range(rows):
        create(api, ann, seats=[{"kind": "human"}])

    with django_assert_num_queries(2):
        page = api.get("/v1/games", token=ann.token).body

    assert len(page["items"]) == rows


def test_deals_are_the_score_sheet(table: Make) -> None:
    game = table()
    game.play_to("drawing", deal=3)

    page = game.api.get(game.url("deals") + "?limit=2", token=game.tokens["A"], example=True).body
    rest = game.api.get(game.url("deals") + f"?limit=2&cursor={page['next']}", token=game.tokens["A"]).body
    one = game.api.get(game.url("deals", 1), token=game.tokens["B"], example=True).body
    none = game.api.get(game.url("deals", 4), token=game.tokens["A"])
    wrong = game.api.get(game.url("deals") + "?cursor=x", token=game.tokens["A"])
    view = game.view()

    assert [deal["number"] for deal in page["items"] + rest["items"]] == [1, 2, 3]
    assert rest["next"] is None
    assert one == page["items"][0]
    assert one["bids"] == {"A": {"kind": "number", "tricks": 3}, "B": {"kind": "number", "tricks": 3}}
    assert sum(one["tricks"].values()) == 13
    assert (rest["items"][0]["score"], rest["items"][0]["bids"]) == (None, None)
    assert none.status == 404
    assert wrong.status == 400
    second = page["items"][1]["score"]["sides"]
    assert {side["side"]: side["score"] for side in view["sides"]} == {
        side: row["score"] for side, row in second.items()
    }
    assert {side["side"]: side["bags"] for side in view["sides"]} == {side: row["bags"] for side, row in second.items()}
