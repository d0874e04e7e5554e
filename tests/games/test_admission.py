"""Who may no longer read or act, does not: a seat that changed hands, and watching that ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from django.db import connection, connections, transaction

from accounts import bearer as bearers
from accounts.bearer import Bearer
from accounts.services import create_account
from contract.problems import Problem
from games import store
from games.models import Game, Seat
from games.services import play, tables
from games.services.play import Ask
from games.services.tables import Guest
from tests.client import ApiClient

READ_SECONDS = 30.0


@contextmanager
def stream(url: str, game: str, token: str) -> Iterator[Iterator[str]]:
    """The lines of an event stream."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    with (
        httpx.Client(base_url=url, timeout=READ_SECONDS) as client,
        client.stream("GET", f"/v1/games/{game}/events", headers=headers) as answer,
    ):
        assert answer.status_code == 200
        yield answer.iter_lines()


def table(api: ApiClient, **settings: Any) -> tuple[str, dict[str, str]]:
    """A table that waits for its host, who sits at A, and accounts to come."""
    accounts = {name: api.post("/v1/accounts", json={"name": name}).body["token"] for name in ("host", "first", "next")}
    body = {"ruleset": {"preset": "two_player"}, "seats": [{"kind": "human"}], "start": "by_host", **settings}
    made = api.post("/v1/games", json=body, token=accounts["host"]).body
    return made["game"]["id"], {**accounts, "A": made["seats"][0]["token"]}


def sit(api: ApiClient, game: str, token: str) -> str:
    text: str = api.post(f"/v1/games/{game}/seats", json={"kind": "human"}, token=token).body["token"]
    return text


def test_who_left_a_seat_is_not_told_what_the_next_one_there_is_told(live_service: Any) -> None:
    with ApiClient(live_service.url) as api:
        game, tokens = table(api)
        left = sit(api, game, tokens["first"])
        with stream(live_service.url, game, left) as lines:
            seen = [next(lines)]
            while '"seat_taken"' not in seen[-1] or '"B"' not in seen[-1]:
                seen.append(next(lines))
            assert api.delete(f"/v1/games/{game}/seats/B", token=left).status == 200
            b = sit(api, game, tokens["next"])
            assert api.post(f"/v1/games/{game}/start", token=tokens["host"]).status == 200
            for token in (tokens["A"], b, tokens["A"], b):
                api.post(f"/v1/games/{game}/draws", json={"decision": "keep"}, token=token)
            seen += list(lines)  # the stream ends by itself

        told = [line for line in seen if line.startswith("event: ")]
        assert told[-1] == "event: seat_left"
        assert not any('"kept"' in line for line in seen)
        mine = api.get(f"/v1/games/{game}/events?limit=500", token=b).body["items"]
        assert any("kept" in event["data"] for event in mine)


def test_watching_ends_with_the_start_where_spectators_are_forbidden(live_service: Any) -> None:
    with ApiClient(live_service.url) as api:
        game, tokens = table(api, spectators="forbidden")
        with stream(live_service.url, game, tokens["first"]) as lines:
            seen = [next(lines)]
            sit(api, game, tokens["next"])
            assert api.post(f"/v1/games/{game}/start", token=tokens["host"]).status == 200
            seen += list(lines)

        assert [line for line in seen if line.startswith("event: ")][-1] == "event: game_started"
        assert api.get(f"/v1/games/{game}/events", token=tokens["first"]).reason == "spectators_forbidden"


def test_who_may_go_on_watching_is_told_of_what_comes_after_the_start(live_service: Any) -> None:
    with ApiClient(live_service.url) as api:
        game, tokens = table(api)
        with stream(live_service.url, game, tokens["first"]) as lines:
            seen = [next(lines)]
            sit(api, game, tokens["next"])
            assert api.post(f"/v1/games/{game}/start", token=tokens["host"]).status == 200
            while seen[-1] != "event: deal_started":
                seen.append(next(lines))


def test_a_hosts_seat_token_does_not_make_others_get_up(live_service: Any) -> None:
    with ApiClient(live_service.url) as api:
        game, tokens = table(api)
        sit(api, game, tokens["first"])

        refused = api.delete(f"/v1/games/{game}/seats/B", token=tokens["A"])
        allowed = api.delete(f"/v1/games/{game}/seats/B", token=tokens["host"])

        assert (refused.status, refused.reason) == (403, "not_your_seat")
        assert allowed.status == 200


@pytest.mark.django_db(transaction=True)
def test_a_token_that_died_while_it_waited_for_the_lock_is_dead() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("on SQLite nobody reads a row while another waits to change it")
    host, _ = create_account("host")
    with transaction.atomic():
        made, _ = tables.create_game(
            account_id=host.id,
            account_name="host",
            ruleset={"preset": "two_player"},
            seats=[Guest("human"), Guest("human")][:1],
        )
    old = bearers.digest(made["seats"][0]["token"])
    game = Game.objects.get(id=made["game"]["id"])

    def read() -> Any:
        with transaction.atomic():
            return store.read(Bearer("sps", old), game.id, lock=True)

    assert type(replaced_while_it_waits(game, old, read)) is store.Unauthenticated


@pytest.mark.django_db(transaction=True)
def test_a_token_that_dies_between_what_its_action_reads_and_what_it_writes_does_nothing() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("on SQLite an action has the only writer's place from the beginning")
    host, _ = create_account("host")
    with transaction.atomic():
        made, _ = tables.create_game(
            account_id=host.id,
            account_name="host",
            ruleset={"preset": "two_player"},
            seats=[Guest("human"), Guest("bot", bot="random")],
        )
    old = bearers.digest(made["seats"][0]["token"])
    game = Game.objects.get(id=made["game"]["id"])

    refused = replaced_while_it_waits(
        game, old, lambda: play.resign_game(ask=Ask(Bearer("sps", old), version=game.version), game_id=game.id)
    )

    assert isinstance(refused, Problem)
    assert refused.reason == "unauthenticated"
    game.refresh_from_db()
    assert game.status == "active"
    assert game.version == made["game"]["version"]


def replaced_while_it_waits(game: Game, old: str, work: Callable[[], Any]) -> Any:
    """What work gets, or is refused with, while which somebody replaces the token of seat A, of that digest."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except (store.Unauthenticated, Problem) as refused:
            found.append(refused)
        finally:
            connections.close_all()

    waiter = threading.Thread(target=run)
    with transaction.atomic():
        row = store.read_game(game.id, lock=True)
        assert row is not None
        waiter.start()
        with connections["default"].cursor() as cursor:
            waiting = 0
            while not waiting:  # bounded by the statement timeout of the one that waits
                cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                waiting = cursor.fetchone()[0]
        _, new = bearers.make("sps")
        Seat.objects.filter(game=game, seat="A").update(token_digest=new)
        Game.objects.filter(id=game.id).update(occupants=game.occupants.replace(old, new))
    waiter.join(30)
    (one,) = found
    return one
