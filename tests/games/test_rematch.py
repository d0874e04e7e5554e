"""Playing again with the same people, and several people at one account."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F

from accounts.bearer import Bearer, digest
from contract.problems import Problem
from games import selectors
from games.models import Game
from games.services import tables
from games.services.tables import Guest
from tests.client import Answer, ApiClient
from tests.games.conftest import Person, Table
from tests.games.live import PATIENCE_SECONDS, Lobby, at_once
from tests.games.rebuilding import assert_rebuilds, assert_seated_by_actions

TWO = {"ruleset": {"preset": "two_player"}}
Make = Callable[..., Table]
MakePerson = Callable[..., Person]


@pytest.fixture
def lobby(live_service: Any) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.reason


def over(game: Table) -> Table:
    assert game.api.post(game.url("resignations"), token=game.tokens["A"]).status == 200
    return game


# Again.


@pytest.mark.django_db
def test_a_rematch_seats_the_same_people_where_they_sat(table: Make) -> None:
    game = over(table(target_score=250))
    api = game.api
    last = api.get(game.url(), token=game.host.token)

    first = api.post(game.url("rematch"), token=game.guest.token, example=True)
    offered = api.get(game.url(), token=game.host.token, headers={"If-None-Match": last.headers["etag"]})
    second = api.post(game.url("rematch"), token=game.host.token)

    new = first.body["game"]["id"]
    assert (first.status, second.status) == (201, 201)
    assert new == second.body["game"]["id"] != game.id
    assert first.headers["location"] == second.headers["location"] == f"/v1/games/{new}"
    assert [row["seat"] for row in first.body["seats"]] == ["B"]
    assert [row["seat"] for row in second.body["seats"]] == ["A"]
    assert (last.body["rematch"], offered.status, offered.body["rematch"]) == (None, 200, new)
    assert first.body["game"]["status"] == "waiting"
    assert [(row["kind"], row["name"]) for row in first.body["game"]["seats"]] == [("open", None), ("human", "Bea")]
    view = second.body["game"]
    assert (view["status"], view["rematch_of"]) == ("active", game.id)
    assert view["ruleset"] == last.body["ruleset"]
    assert [row["name"] for row in view["seats"]] == ["Ann", "Bea"]
    for answer, seat in ((first, "B"), (second, "A")):
        token = answer.body["seats"][0]["token"]
        assert api.get(f"/v1/games/{new}", token=token).body["viewer"] == {"role": "seat", "seat": seat}
    created = api.get(f"/v1/games/{new}/events?limit=1", token=game.guest.token).body["items"][0]
    assert created["data"]["rematch_of"] == game.id
    assert_rebuilds(UUID(new))


@pytest.mark.django_db
def test_asking_for_a_rematch_again_gives_the_same_game_and_no_second_seat(table: Make) -> None:
    game = over(table())
    api, key = game.api, {"Idempotency-Key": "again"}

    first = api.post(game.url("rematch"), token=game.host.token, headers=key)
    repeated = api.post(game.url("rematch"), token=game.host.token, headers=key)
    plain = api.post(game.url("rematch"), token=game.host.token, example=True)

    assert repeated.content == first.content
    assert repeated.headers["location"] == first.headers["location"]
    assert (plain.status, plain.body["seats"]) == (200, [])
    assert plain.body["game"]["id"] == first.body["game"]["id"]
    assert plain.headers["etag"] == first.headers["etag"]
    assert Game.objects.filter(rematch_of=game.id).count() == 1


@pytest.mark.django_db
def test_after_a_rematch_was_aborted_whoever_asks_makes_another_one(table: Make) -> None:
    game = over(table())
    api = game.api
    first = api.post(game.url("rematch"), token=game.guest.token).body["game"]["id"]
    offered = api.get(game.url(), token=game.host.token)
    assert api.post(f"/v1/games/{first}/abort", token=game.guest.token).status == 200
    none = api.get(game.url(), token=game.host.token, headers={"If-None-Match": offered.headers["etag"]})

    second = api.post(game.url("rematch"), token=game.host.token)
    same = api.post(game.url("rematch"), token=game.guest.token)

    assert (offered.body["rematch"], none.status, none.body["rematch"]) == (first, 200, None)
    assert (second.status, second.body["game"]["status"]) == (201, "waiting")
    assert [row["seat"] for row in second.body["seats"]] == ["A"]
    new = second.body["game"]["id"]
    assert (same.status, same.body["game"]["id"], same.body["game"]["status"]) == (201, new, "active")
    shown = api.get(game.url(), token=game.host.token, headers={"If-None-Match": offered.headers["etag"]})
    assert (shown.status, shown.body["rematch"]) == (200, new)
    with pytest.raises(IntegrityError), transaction.atomic():
        Game.objects.filter(id=first).update(status="waiting", finished_at=None)


@pytest.mark.django_db
def test_a_rematch_does_not_tell_strangers_early_that_the_game_before_is_over(
    api: ApiClient, person: MakePerson
) -> None:
    ann, bea, wes = person("Ann"), person("Bea"), person("Wes")
    body = {**TWO, "seats": [{"kind": "human"}], "spectator_delay": 60}
    old = api.post("/v1/games", json=body, token=ann.token).body["game"]["id"]
    joined = api.post(f"/v1/games/{old}/seats", json={"kind": "human"}, token=bea.token).body
    assert api.post(f"/v1/games/{old}/resignations", token=joined["token"]).status == 200
    new = api.post(f"/v1/games/{old}/rematch", token=ann.token).body["game"]["id"]
    url = f"/v1/games/{new}"

    def told(who: Person) -> tuple[Any, ...]:
        listed = {row["id"]: row for row in api.get("/v1/games", token=who.token).body["items"]}
        created = api.get(f"{url}/events?limit=1", token=who.token).body["items"][0]
        return (
            api.get(url, token=who.token).body["rematch_of"],
            listed[new]["rematch_of"],
            created["data"]["rematch_of"],
        )

    early = api.get(url, token=wes.token)
    assert api.get(f"/v1/games/{old}", token=wes.token).body["status"] != "finished"
    assert told(wes) == (None, None, None)
    assert told(ann) == (old, old, old)
    Game.objects.filter(id=new).update(created_at=F("created_at") - timedelta(seconds=61))
    assert told(wes) == (old, old, None)
    late = api.get(url, token=wes.token, headers={"If-None-Match": early.headers["etag"]})
    assert (late.status, late.body["rematch_of"]) == (200, old)


@pytest.mark.django_db
def test_a_rematch_is_for_who_sat_there_and_for_nobody_else(api: ApiClient, person: MakePerson, table: Make) -> None:
    game = table()
    wes = person("Wes")
    early = api.post(game.url("rematch"), token=game.host.token)
    over(game)
    hidden = api.post("/v1/games", json={**TWO, "visibility": "private"}, token=game.host.token).body["game"]["id"]
    assert api.post(f"/v1/games/{hidden}/abort", token=game.host.token).status == 200

    watcher = api.post(game.url("rematch"), token=wes.token)
    seat_token = api.post(game.url("rematch"), token=game.tokens["A"])
    unknown = api.post(f"/v1/games/{hidden}/rematch", token=wes.token)
    new = api.post(game.url("rematch"), token=game.host.token).body["game"]["id"]
    stranger = api.post(f"/v1/games/{new}/seats", json={"kind": "human"}, token=wes.token)
    astray = api.post(f"/v1/games/{new}/seats", json={"kind": "human"}, token=game.guest.token)
    invited = api.post(f"/v1/games/{new}/invitations", json={}, token=game.host.token).body["token"]
    let_in = api.post(f"/v1/games/{new}/seats", json={"kind": "human", "invitation": invited}, token=wes.token)
    late = api.post(game.url("rematch"), token=game.guest.token)

    assert refused(early) == (409, "game_not_over")
    assert refused(watcher) == (403, "not_your_seat")
    assert refused(seat_token) == (403, "scope_missing")
    assert refused(unknown) == (404, "not_found")
    assert refused(stranger) == refused(astray) == (403, "invitation_required")
    assert "rematch" not in stranger.body["detail"]
    assert f"POST /v1/games/{game.id}/rematch" in astray.body["detail"]
    assert let_in.status == 201
    assert refused(late) == (409, "wrong_phase")


@pytest.mark.django_db
def test_a_seat_that_the_host_gave_away_is_taken(api: ApiClient, person: MakePerson, table: Make) -> None:
    game = table()
    made = api.post("/v1/games", json={**TWO, "start": "by_host", "seats": [{"kind": "human"}]}, token=game.host.token)
    url = f"/v1/games/{made.body['game']['id']}"
    assert api.post(f"{url}/seats", json={"kind": "human"}, token=game.guest.token).status == 201
    assert api.post(f"{url}/abort", token=game.host.token).status == 200
    new = api.post(f"{url}/rematch", token=game.host.token).body["game"]["id"]

    bot = api.post(f"/v1/games/{new}/seats", json={"kind": "bot", "bot": "steady"}, token=game.host.token)
    late = api.post(f"{url}/rematch", token=game.guest.token)

    assert bot.status == 201
    assert refused(late) == (409, "seat_taken")
    assert_seated_by_actions(UUID(new))


@pytest.mark.django_db
def test_bots_sit_again_and_a_host_without_a_seat_watches_again(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")
    settings = {"start": "by_host", "visibility": "unlisted", "spectator_delay": 30, "seating": "by_draw"}
    seats = [{"kind": "bot", "bot": "steady", "name": "Robo"}, {"kind": "bot", "bot": "random"}]
    old = api.post("/v1/games", json={**TWO, **settings, "seats": seats}, token=ann.token).body["game"]
    assert api.post(f"/v1/games/{old['id']}/abort", token=ann.token).status == 200

    made = api.post(f"/v1/games/{old['id']}/rematch", token=ann.token)
    again = api.post(f"/v1/games/{old['id']}/rematch", token=ann.token)

    game = made.body["game"]
    assert (made.status, made.body["seats"], game["viewer"]) == (201, [], {"role": "host", "seat": None})
    assert {name: game[name] for name in settings} == settings
    assert [(row["name"], row["bot"]) for row in game["seats"]] == [("Robo", "steady"), ("Random", "random")]
    assert (again.status, again.body["seats"], again.body["game"]["id"]) == (200, [], game["id"])


def test_of_many_who_ask_for_a_rematch_at_once_all_get_the_same_game(lobby: Lobby) -> None:
    for _ in range(4):
        host, guest = lobby.account("Host"), lobby.account("Cat")
        made = host.post("/v1/games", json={**TWO, "seats": [{"kind": "human"}]}).body
        url = f"/v1/games/{made['game']['id']}"
        assert guest.post(f"{url}/seats", json={"kind": "human"}).status == 201
        assert lobby.client(made["seats"][0]["token"]).post(f"{url}/resignations").status == 200
        crowd = lobby.crowd(4, host.token) + lobby.crowd(4, guest.token)

        answers = at_once([partial(client.post, f"{url}/rematch") for client in crowd])

        assert Counter(answer.status for answer in answers) == {201: 2, 200: 6}
        assert len({answer.body["game"]["id"] for answer in answers}) == 1
        seats = [row["seat"] for answer in answers for row in answer.body["seats"]]
        assert sorted(seats) == ["A", "B"]
        view = guest.get(f"/v1/games/{answers[0].body['game']['id']}").body
        assert (view["status"], [row["name"] for row in view["seats"]]) == ("active", ["Host", "Cat"])


@pytest.mark.django_db(transaction=True)
def test_sitting_down_at_a_rematch_while_another_asks_for_it_ends_well_for_both(
    api: ApiClient, person: MakePerson, table: Make
) -> None:
    """The one holds the rematch and at its commit asks for the old game; the other has that and wants the rematch."""
    if connection.vendor != "postgresql":
        pytest.skip("on SQLite writers take turns from the beginning of their transactions")
    game = over(table())
    wes = person("Wes")
    new = UUID(api.post(game.url("rematch"), token=game.guest.token).body["game"]["id"])
    invited = api.post(f"/v1/games/{new}/invitations", json={}, token=game.guest.token).body["token"]
    seated, wanted = threading.Event(), threading.Event()
    locks: list[str] = []

    def ask() -> str:
        def watch(execute: Any, sql: str, params: Any, *rest: Any) -> Any:
            locks.extend([sql] if "UPDATE OF g" in sql else [])
            if len(locks) == 2:
                wanted.set()
            return execute(sql, params, *rest)

        assert seated.wait(PATIENCE_SECONDS)
        try:
            with connection.execute_wrapper(watch), transaction.atomic():
                reading = selectors.read(Bearer("spk", digest(game.host.token)), UUID(game.id), lock=True)
                tables.play_again(reading=reading, account_name="Ann")
        except Problem as problem:
            return problem.reason
        finally:
            wanted.set()
            connection.close()
        return "seated"

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask)
        with transaction.atomic():
            tables.take_seat(
                reading=selectors.read(Bearer("spk", digest(wes.token)), new, lock=True),
                guest=Guest("human"),
                account_name="Wes",
                seat=None,
                invitation=digest(invited),
            )
            seated.set()
            assert wanted.wait(PATIENCE_SECONDS)

    assert asked.result() == "wrong_phase"
    view = api.get(f"/v1/games/{new}", token=wes.token).body
    assert (view["status"], [row["name"] for row in view["seats"]]) == ("active", ["Wes", "Bea"])


# One account, several seats.


@pytest.mark.django_db
def test_one_account_holds_several_seats_where_the_table_says_so(api: ApiClient, person: MakePerson) -> None:
    ann, wes = person("Ann"), person("Wes")
    seats = [{"kind": "human", "name": "Ann"}, {"kind": "human", "name": "Bob"}]

    cold = api.post("/v1/games", json={**TWO, "seats": seats}, token=ann.token)
    made = api.post("/v1/games", json={**TWO, "seats": seats, "hot_seat": True}, token=ann.token)

    assert refused(cold) == (400, "malformed")
    assert cold.body["errors"][0]["pointer"] == "/seats/1/kind"
    game, url = made.body["game"], f"/v1/games/{made.body['game']['id']}"
    assert [row["seat"] for row in made.body["seats"]] == ["A", "B"]
    assert (game["status"], game["hot_seat"], game["viewer"]["seat"]) == ("active", True, "A")
    assert api.get(url, token=wes.token).body["hot_seat"] is True
    assert [row["hot_seat"] for row in api.get("/v1/games", token=wes.token).body["items"]] == [True]

    ambiguous = [
        api.get(url, token=ann.token),
        api.get(f"{url}/events", token=ann.token),
        api.post(f"{url}/draws", json={"decision": "keep"}, token=ann.token),
    ]
    assert {refused(answer) for answer in ambiguous} == {(409, "seat_ambiguous")}
    seat = game["turn"]["seat"]
    other = "B" if seat == "A" else "A"
    views = {name: api.get(url, token=ann.token, headers={"X-Seat": name}) for name in "AB"}
    assert views[seat].body["turn"]["legal"] != [] == views[other].body["turn"]["legal"]
    assert views["A"].headers["etag"] != views["B"].headers["etag"]
    wrong = api.post(f"{url}/draws", json={"decision": "keep"}, token=ann.token, headers={"X-Seat": other})
    right = api.post(f"{url}/draws", json={"decision": "keep"}, token=ann.token, headers={"X-Seat": seat})
    assert refused(wrong) == (409, "not_your_turn")
    assert (right.status, right.body["viewer"]["seat"]) == (200, seat)
    foreign = api.get(url, token=wes.token, headers={"X-Seat": "A"})
    assert refused(foreign) == (403, "not_your_seat")
    kept = {
        name: [
            event["seat"]
            for event in api.get(f"{url}/events", token=ann.token, headers={"X-Seat": name}).body["items"]
            if "kept" in event["data"]
        ]
        for name in "AB"
    }
    assert kept == {seat: [seat], other: []}
    assert api.post(f"{url}/seats/B/token", token=ann.token).body["game"]["viewer"]["seat"] == "B"
    assert api.post(f"{url}/abort", token=ann.token).status == 200
    again = api.post(f"{url}/rematch", token=ann.token)
    assert [row["seat"] for row in again.body["seats"]] == ["A", "B"]
    assert [row["name"] for row in again.body["game"]["seats"]] == ["Ann", "Bob"]


@pytest.mark.django_db
def test_at_a_hot_seat_table_an_account_sits_down_and_gets_up_seat_by_seat(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    made = api.post("/v1/games", json={**TWO, "start": "by_host", "hot_seat": True}, token=ann.token)
    url = f"/v1/games/{made.body['game']['id']}"

    sits = [api.post(f"{url}/seats", json={"kind": "human", "name": name}, token=bea.token) for name in ("Bea", "Cy")]
    left = api.delete(f"{url}/seats/A", token=bea.token)

    assert [(answer.body["seat"], answer.body["game"]["viewer"]["seat"]) for answer in sits] == [("A", "A"), ("B", "B")]
    assert (left.status, left.body["viewer"]["seat"]) == (200, "B")
    assert [row["name"] for row in left.body["seats"]] == [None, "Cy"]
    last = api.get(f"{url}/events", token=bea.token).body["items"][-1]
    assert (last["type"], last["seat"], last["data"]) == ("seat_left", "A", {"by_host": False})
    assert api.delete(f"{url}/seats/B", token=ann.token).status == 200
    assert_seated_by_actions(UUID(made.body["game"]["id"]))
