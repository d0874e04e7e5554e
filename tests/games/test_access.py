"""Who may come to a table and act there: tokens that are replaced, given out and taken back, over HTTP."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.client import Answer, ApiClient
from tests.games.conftest import Person, Table
from tests.games.live import PATIENCE_SECONDS, Lobby, at_once
from tests.games.rebuilding import assert_rebuilds, assert_seated_by_actions, rows_of
from tests.games.test_admission import stream

TWO = {"ruleset": {"preset": "two_player"}}
Make = Callable[..., Table]
MakePerson = Callable[..., Person]


@pytest.fixture
def lobby(live_service: Any) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


def create(api: ApiClient, who: Person, **settings: Any) -> dict[str, Any]:
    made = api.post("/v1/games", json={**TWO, **settings}, token=who.token)
    assert made.status == 201, made.content
    body: dict[str, Any] = made.body
    return body


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.reason


class Waiting(threading.Thread):
    """A long poll under way; `answer()` is what came in the end."""

    def __init__(self, client: ApiClient, path: str) -> None:
        super().__init__(daemon=True)
        self._client, self._path = client, path
        self._answer: Answer | None = None
        self.start()

    def run(self) -> None:
        self._answer = self._client.get(self._path)

    def answer(self) -> Answer:
        self.join(PATIENCE_SECONDS)
        assert self._answer is not None
        return self._answer


# A seat's token, replaced.


@pytest.mark.django_db
def test_a_reissued_token_acts_and_the_old_one_is_dead_at_once(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    owner = {"A": game.host, "B": game.guest}[seat]
    old = game.tokens[seat]

    made = game.api.post(game.url("seats", seat, "token"), token=owner.token, example=True)

    assert made.status == 200
    assert made.body["seat"] == seat
    assert made.body["game"] == view
    assert made.headers["etag"] == f'"{view["version"]}-{seat}"'
    new = made.body["token"]
    assert new != old
    for refusal in (
        game.api.get(game.url(), token=old),
        game.api.get(game.url("events"), token=old),
        game.act(seat, {"decision": "keep"}),
    ):
        assert refused(refusal) == (401, "unauthenticated")
    assert game.api.get(game.url(), token=new).body == view
    game.tokens[seat] = new
    assert game.act(seat, {"decision": "keep"}).status == 200
    assert_rebuilds(UUID(game.id))


@pytest.mark.django_db
def test_a_reissue_is_no_event_so_nobody_elses_decision_becomes_stale(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    other = game.guest if seat == "A" else game.host
    before = rows_of(game.id)

    made = game.api.post(game.url("seats", "B" if seat == "A" else "A", "token"), token=other.token)
    moved = game.act(seat, {"decision": "keep"}, headers={"If-Match": f'"{view["version"]}-{seat}"'})

    assert made.status == moved.status == 200
    after = rows_of(game.id)
    assert after["events"][:-1] == before["events"]
    assert after["actions"][:-1] == before["actions"]


@pytest.mark.django_db
def test_nobody_but_the_holder_gets_a_token_for_a_seat(api: ApiClient, person: MakePerson) -> None:
    """The host does not: it would see the hand."""
    ann, bea, wes = person("Ann"), person("Bea"), person("Wes")
    body = create(api, ann, seats=[{"kind": "human"}], start="by_host")
    url = f"/v1/games/{body['game']['id']}"
    taken = api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token).body["token"]
    hidden = create(api, ann, seats=[{"kind": "human"}], visibility="private")["game"]["id"]
    closed = create(api, ann, seats=[{"kind": "human"}], spectators="forbidden")["game"]["id"]
    before = rows_of(body["game"]["id"])

    answers = {
        "host": api.post(f"{url}/seats/B/token", token=ann.token),
        "other seat": api.post(f"{url}/seats/A/token", token=bea.token),
        "watcher": api.post(f"{url}/seats/B/token", token=wes.token),
        "the seat's own token": api.post(f"{url}/seats/B/token", token=taken),
        "no such seat": api.post(f"{url}/seats/N/token", token=bea.token),
        "private table": api.post(f"/v1/games/{hidden}/seats/A/token", token=wes.token),
        "table to be joined": api.post(f"/v1/games/{closed}/seats/A/token", token=wes.token),
    }

    assert {name: refused(answer) for name, answer in answers.items()} == {
        "host": (403, "not_your_seat"),
        "other seat": (403, "not_your_seat"),
        "watcher": (403, "not_your_seat"),
        "the seat's own token": (403, "scope_missing"),
        "no such seat": (404, "not_found"),
        "private table": (404, "not_found"),
        "table to be joined": (403, "not_your_seat"),
    }
    assert rows_of(body["game"]["id"]) == before
    assert api.get(url, token=taken).status == 200


@pytest.mark.django_db
def test_a_reissue_is_kept_for_the_host_and_the_holder_to_see(api: ApiClient, person: MakePerson) -> None:
    ann, bea, cat, wes = person("Ann"), person("Bea"), person("Cat"), person("Wes")
    body = create(api, ann, start="by_host")
    url = f"/v1/games/{body['game']['id']}"
    for who in (bea, cat):
        assert api.post(f"{url}/seats", json={"kind": "human"}, token=who.token).status == 201

    for seat, who in (("A", bea), ("B", cat), ("B", cat)):
        assert api.post(f"{url}/seats/{seat}/token", token=who.token).status == 200

    def seen(who: Person) -> list[tuple[str, str]]:
        items = api.get(f"{url}/audit", token=who.token, example=True).body["items"]
        return [(item["act"], item["seat"]) for item in items]

    assert seen(ann) == [("token_reissued", "A"), ("token_reissued", "B"), ("token_reissued", "B")]
    assert seen(bea) == [("token_reissued", "A")]
    assert seen(cat) == [("token_reissued", "B"), ("token_reissued", "B")]
    assert refused(api.get(f"{url}/audit", token=wes.token)) == (403, "not_host")
    first = api.get(f"{url}/audit?limit=2", token=ann.token).body
    rest = api.get(f"{url}/audit?limit=2&cursor={first['next']}", token=ann.token).body
    whole = api.get(f"{url}/audit", token=ann.token)
    assert first["items"] + rest["items"] == whole.body["items"]
    assert rest["next"] is None
    assert b"sps_" not in whole.content


@pytest.mark.django_db
def test_asking_again_with_the_same_key_gives_the_same_token(table: Make) -> None:
    game = table()
    key = {"Idempotency-Key": "a-new-one"}

    first = game.api.post(game.url("seats", "A", "token"), token=game.host.token, headers=key)
    again = game.api.post(game.url("seats", "A", "token"), token=game.host.token, headers=key)

    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert game.api.get(game.url(), token=first.body["token"]).status == 200
    assert len(game.api.get(game.url("audit"), token=game.host.token).body["items"]) == 1


@pytest.mark.django_db
def test_a_reissued_token_dies_with_its_seat_and_the_next_ones_lives(api: ApiClient, person: MakePerson) -> None:
    ann, bea, cat = person("Ann"), person("Bea"), person("Cat")
    game = create(api, ann, start="by_host", seats=[{"kind": "human"}])["game"]
    url = f"/v1/games/{game['id']}"
    api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token)
    new = api.post(f"{url}/seats/B/token", token=bea.token).body["token"]

    assert api.delete(f"{url}/seats/B", token=new).status == 200
    joined = api.post(f"{url}/seats", json={"kind": "human"}, token=cat.token)

    assert refused(api.get(url, token=new)) == (401, "unauthenticated")
    assert api.get(url, token=joined.body["token"]).body["viewer"]["seat"] == "B"
    assert_seated_by_actions(UUID(game["id"]))


def test_whoever_waits_by_a_replaced_token_is_cut_off(lobby: Lobby, live_service: Any) -> None:
    """Streams and long polls by the old token end; those by the account go on."""
    table = lobby.people()
    host, old = table.host.token or "", table.seats["A"].token or ""
    version = table.look()[0]["version"]

    with (
        stream(live_service.url, table.id, old) as by_token,
        stream(live_service.url, table.id, host) as by_account,
    ):
        for lines in (by_token, by_account):
            while next(lines) != f"id: {version}":
                pass
        waiting = Waiting(lobby.client(old), table.url("events") + f"?after={version}&wait=30")
        made = table.host.post(table.url("seats", "A", "token"))
        assert made.status == 200
        table.seats["A"] = lobby.client(made.body["token"])

        seat, _, match = table.turn()
        assert table.act(table.seats[seat], {"decision": "keep"}, headers=match).status == 200

        assert not [line for line in by_token if line.startswith("id: ")]  # the stream ends by itself
        assert refused(waiting.answer()) == (401, "unauthenticated")
        while next(by_account) != f"id: {version + 1}":
            pass


def test_of_many_reissues_at_once_one_token_is_left(lobby: Lobby) -> None:
    table = lobby.people()
    clients = lobby.crowd(8, table.host.token)

    answers = at_once([partial(client.post, table.url("seats", "A", "token")) for client in clients])

    assert Counter(answer.status for answer in answers) == {200: 8}
    tokens = [answer.body["token"] for answer in answers]
    assert len(set(tokens)) == 8
    alive = [token for token in tokens if lobby.client(token).get(table.url()).status == 200]
    assert len(alive) == 1
    assert table.seats["A"].get(table.url()).status == 401
    assert len(table.host.get(table.url("audit")).body["items"]) == 8
