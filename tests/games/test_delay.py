"""Watchers who are told late see the table as it was, in whatever way they ask, and nothing of what came after."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.client import Answer, ApiClient
from tests.games.conftest import Person
from tests.games.live import Lobby
from tests.games.test_admission import stream

TWO = {"ruleset": {"preset": "two_player"}}
DELAY = 60
MakePerson = Callable[..., Person]


class Clock:
    """The service's time, which passes only when a test says so: a look at many things takes time on a busy machine."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def pass_(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(timezone.now())
    monkeypatch.setattr(timezone, "now", made.now)
    return made


@pytest.fixture
def lobby(live_service: Any) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


class Watched:
    """A table of two people whose host has no seat and sees at once what others see late."""

    def __init__(self, api: ApiClient, person: MakePerson, clock: Clock, **settings: Any) -> None:
        self.api, self.clock = api, clock
        self.host, self.wes = person("Host"), person("Wes")
        body = {**TWO, "start": "by_host", "spectator_delay": DELAY, **settings}
        made = api.post("/v1/games", json=body, token=self.host.token)
        assert made.status == 201, made.content
        self.id = made.body["game"]["id"]
        self.url = f"/v1/games/{self.id}"
        self.link = api.post(f"{self.url}/watch_links", json={}, token=self.host.token).body["token"]
        self.tokens: dict[str, str] = {}
        self.seen: list[tuple[datetime, dict[str, Any]]] = []
        """What the host saw, and since when."""
        for name in ("Ann", "Bea"):
            joined = api.post(f"{self.url}/seats", json={"kind": "human"}, token=person(name).token).body
            self.tokens[joined["seat"]] = joined["token"]
        self.note()

    def note(self) -> dict[str, Any]:
        view: dict[str, Any] = self.api.get(self.url, token=self.host.token).body
        self.seen.append((self.clock.now(), view))
        return view

    def start(self) -> None:
        self.clock.pass_(1)  # nobody sits down in the instant in which the game starts
        assert self.api.post(f"{self.url}/start", token=self.host.token).status == 200
        self.note()

    def act(self) -> dict[str, Any]:
        """The first thing that is legal, by whoever is on turn."""
        seat = self.seen[-1][1]["turn"]["seat"]
        turn = self.api.get(self.url, token=self.tokens[seat]).body["turn"]
        path = {"draw": "draws", "bid": "bids", "play": "plays"}[turn["action"]]
        body = turn["legal"][3 if path == "bids" else 0]
        assert self.api.post(f"{self.url}/{path}", json=body, token=self.tokens[seat]).status == 200
        return self.note()

    def due(self) -> dict[str, Any]:
        """What somebody who watches is to see now."""
        started = [view for at, view in self.seen if at <= self.clock.now() - timedelta(seconds=DELAY)]
        return started[-1] if started else self.seen[0][1]


def public(view: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in view.items() if key != "viewer"}


def check(game: Watched) -> None:
    """Everything that a watcher may ask shows the moment that is due."""
    due, version = game.due(), game.due()["version"]
    events = game.api.get(f"{game.url}/events?limit=500", token=game.host.token).body["items"]
    scored = {event["deal_number"] for event in events[:version] if event["type"] == "deal_scored"}
    began = [event["deal_number"] for event in events[:version] if event["type"] == "deal_started"]
    for token in (game.wes.token, game.link):
        view = game.api.get(game.url, token=token)
        assert public(view.body) == public(due)
        assert view.body["viewer"] == {"role": "watcher", "seat": None}
        assert view.headers["etag"] == f'"{version}-watcher"'
        assert game.api.get(game.url, token=token, headers={"If-None-Match": view.headers["etag"]}).status == 304
        page = game.api.get(f"{game.url}/events?limit=500", token=token).body
        assert page == {"items": events[:version], "next": None, "version": version}
        beyond = game.api.get(f"{game.url}/events?after={version + 1}", token=token)
        assert (beyond.status, beyond.reason) == (400, "malformed")
        deals = game.api.get(f"{game.url}/deals", token=token).body["items"]
        assert [deal["number"] for deal in deals] == began
        assert {deal["number"] for deal in deals if deal["score"] is not None} == scored
        assert game.api.get(f"{game.url}/deals/{len(began) + 1}", token=token).status == 404
        record = game.api.get(f"{game.url}/record", token=token).body
        told = {event["deal_number"] for event in events[:version] if event["type"] == "deal_revealed"}
        assert {deal["number"] for deal in record["deals"]} == told
        assert record["result"] == (due["result"] and {**due["result"], "seat": "A"})  # who resigned
        fair = game.api.get(f"{game.url}/fairness", token=token).body["deals"]
        assert {deal["number"] for deal in fair if deal["server_seed"] is not None} == told
        promised = [event["data"]["next_commitment"] for event in events[:version] if event["type"] == "deal_started"]
        commitments = [events[0]["data"]["commitment"], *promised]
        assert [deal["commitment"] for deal in fair] == commitments[: len(fair)]
        assert len(fair) == len(commitments) - (due["result"] is not None)
        for seat in due["seats"]:
            assert game.api.get(f"{game.url}/seats/{seat['seat']}", token=token).body["name"] == seat["name"]
    listed = game.api.get("/v1/games", token=game.wes.token).body["items"]
    assert [(row["version"], row["status"], row["result"]) for row in listed] == [
        (version, due["status"], due["result"])
    ]
    for status in ("waiting", "active", "finished", "aborted"):
        rows = game.api.get(f"/v1/games?status={status}", token=game.wes.token).body["items"]
        assert rows == (listed if status == due["status"] else [])
    refusals = [
        game.api.post(f"{game.url}/draws", json={"decision": "keep"}, token=game.wes.token),
        game.api.post(f"{game.url}/draws?dry_run=true", json={"decision": "keep"}, token=game.wes.token),
        game.api.delete(f"{game.url}/seats/A", token=game.wes.token, headers={"If-Match": '"1"'}),
    ]
    assert {(answer.status, answer.reason) for answer in refusals} == {(403, "not_your_seat")}
    assert all("version" not in answer.body for answer in refusals if due is not game.seen[0][1])
    if len(game.seen) > 1:
        over = due["result"] is not None
        late = game.api.post(f"{game.url}/seats", json={"kind": "human"}, token=game.wes.token)
        assert (late.status, late.reason) == (409, "game_over" if over else "wrong_phase")
        assert "version" not in late.body


@pytest.mark.django_db
def test_who_watches_late_sees_each_moment_of_a_game_when_it_is_due(
    api: ApiClient, person: MakePerson, clock: Clock
) -> None:
    game = Watched(api, person, clock)
    check(game)
    game.start()
    check(game)
    step = 0
    while game.seen[-1][1]["deal"]["number"] == 1:
        clock.pass_(7)
        game.act()
        step += 1
        if step % 9 == 0:
            check(game)
    for _ in range(12):  # the end of the deal comes into sight
        clock.pass_(7)
        check(game)
    resigned = game.api.post(f"{game.url}/resignations", token=game.tokens["A"])
    assert resigned.status == 200
    game.note()
    check(game)
    clock.pass_(DELAY - 1)
    check(game)
    assert game.due()["result"] is None
    clock.pass_(2)
    check(game)
    assert game.due()["result"]["winners"] == ["B"]


@pytest.mark.django_db
def test_a_table_that_waits_is_seen_as_it_is(api: ApiClient, person: MakePerson, clock: Clock) -> None:
    game = Watched(api, person, clock)

    left = api.delete(f"{game.url}/seats/B", token=game.tokens["B"])

    for token in (game.wes.token, game.link):
        view = api.get(game.url, token=token).body
        assert public(view) == public(api.get(game.url, token=game.host.token).body)
        assert view["seats"][1]["kind"] == "open"
        assert view["spectator_delay"] == DELAY
    assert left.status == 200


@pytest.mark.django_db
def test_seats_and_host_are_told_at_once(api: ApiClient, person: MakePerson, clock: Clock) -> None:
    game = Watched(api, person, clock)
    game.start()

    version = game.act()["version"]

    for token in (*game.tokens.values(), game.host.token):
        assert api.get(game.url, token=token).body["version"] == version
        assert api.get(f"{game.url}/events", token=token).body["version"] == version
    mine = api.get("/v1/games?mine=true", token=game.host.token).body["items"]
    assert [(row["version"], row["status"]) for row in mine] == [(version, "active")]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "asked",
    [
        {"spectator_delay": -1},
        {"spectator_delay": 3601},
        {"spectator_delay": 1.5},
        {"spectator_delay": 60, "spectators": "forbidden"},
    ],
)
def test_a_delay_that_makes_no_sense_is_refused(api: ApiClient, person: MakePerson, asked: dict[str, Any]) -> None:
    answer = api.post("/v1/games", json={**TWO, **asked}, token=person("Ann").token, bad=True)

    assert (answer.status, answer.reason) == (400, "malformed")
    assert [error["pointer"] for error in answer.body["errors"]] == ["/spectator_delay"]


# Waiting.


def late_table(lobby: Lobby, seconds: int) -> tuple[Any, str]:
    """A table of two people, started, and a watcher's token."""
    host = lobby.account("Host")
    made = host.post("/v1/games", json={**TWO, "spectator_delay": seconds, "seats": [{"kind": "human"}]})
    table = lobby.people()
    table.id, table.host = made.body["game"]["id"], host
    table.seats = {"A": lobby.client(made.body["seats"][0]["token"])}
    joined = lobby.account("Bea").post(table.url("seats"), json={"kind": "human"})
    table.seats["B"] = lobby.client(joined.body["token"])
    return table, lobby.account("Wes").token or ""


def age(at: str) -> float:
    """Seconds since an event happened, by the clock of this machine, which is the service's too."""
    return time.time() - datetime.fromisoformat(at).timestamp()


def test_a_long_poll_and_a_stream_tell_each_event_when_it_is_due(lobby: Lobby, live_service: Any) -> None:
    delay = 2
    table, wes = late_table(lobby, delay)
    client = lobby.client(wes)
    heard: list[tuple[int, float]] = []

    with stream(live_service.url, table.id, wes) as lines:
        for _ in range(3):
            seat, _, match = table.turn()
            assert table.act(table.seats[seat], {"decision": "keep"}, headers=match).status == 200
        last = table.look()[0]["version"]
        log = {event["number"]: event for event in table.events()}
        while not heard or heard[-1][0] < last:
            line = next(lines)
            if line.startswith("id: "):
                number = int(line.removeprefix("id: "))
                heard.append((number, age(log[number]["at"])))
            assert '"kept"' not in line

        after = 0
        while after < last:
            answer: Answer = client.get(table.url("events") + f"?after={after}&wait=20")
            assert answer.status == 200
            after = answer.body["items"][-1]["number"]
        seat, _, match = table.turn()
        assert table.act(table.seats[seat], {"decision": "keep"}, headers=match).status == 200
        news = client.get(table.url("events") + f"?after={last}&wait=20").body["items"]
        waited = age(news[-1]["at"])
        assert client.get(table.url("events") + f"?after={last + 1}&wait=1").body["items"] == []
        while next(lines) != f"id: {last + 1}":
            pass
        assert table.seats["A"].post(table.url("resignations")).status == 200
        rest = list(lines)  # ends when the end of the game is due

    assert [number for number, _ in heard] == list(range(1, last + 1))
    started = next(number for number, event in log.items() if event["type"] == "game_started")
    assert all(late >= delay for number, late in heard if number >= started)
    assert [(event["number"], event["type"]) for event in news] == [(last + 1, "card_drawn")]
    assert delay <= waited < delay + 10
    assert rest[-2:] == [": the game is over", ""]


def test_who_waits_at_a_late_table_that_has_not_started_is_told_at_once(lobby: Lobby, live_service: Any) -> None:
    host = lobby.account("Host")
    made = host.post("/v1/games", json={**TWO, "spectator_delay": 3600, "start": "by_host"})
    game = made.body["game"]["id"]
    wes = lobby.account("Wes")

    with stream(live_service.url, game, wes.token or "") as lines:
        while next(lines) != "event: game_created":
            pass
        for _ in "AB":
            assert host.post(f"/v1/games/{game}/seats", json={"kind": "bot", "bot": "steady"}).status == 201
            while next(lines) != "event: seat_taken":
                pass
        assert host.post(f"/v1/games/{game}/start").status == 200
        seen = wes.get(f"/v1/games/{game}/events?wait=1&after=3").body

    assert seen == {"items": [], "next": None, "version": 3}
