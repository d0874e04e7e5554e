"""What breaks underneath a running service: killed processes, a broker and a database that go away and come back."""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import redis

from bots.player import bot
from tests.client import Answer, ApiClient
from tests.games.live import PATIENCE_SECONDS, LiveTable, Lobby, assert_rebuilds, assert_sound
from tests.service import Process, Service

THREADS = 4
QUICK_SECONDS = 2.0
"""A play is answered in this time even while the broker is away."""


@pytest.fixture(scope="module")
def service(start_service: Callable[..., Service]) -> Iterator[Service]:
    """A service for these tests alone. Each of them leaves it running, though it may be at another address."""
    service = start_service()
    yield service
    for process in (service.beat, service.worker, service.server):
        if process is not None:
            process.terminate()


@pytest.fixture
def lobby(service: Service) -> Iterator[Lobby]:
    with Lobby(service.url) as lobby:
        yield lobby


def moved(lobby: Lobby, service: Service, table: LiveTable) -> LiveTable:
    """The same table at the service's new address."""
    lobby.url = service.url
    seats = {seat: lobby.client(client.token) for seat, client in table.seats.items()}
    return LiveTable(table.id, lobby.client(table.host.token), seats)


class Person(threading.Thread):
    """Plays in seat A against a bot, through whatever happens to the service, as a careful client does.

    A request that was not answered is sent again, with its key, to wherever the service is by then.
    """

    def __init__(self, lobby: Lobby, service: Service) -> None:
        super().__init__(daemon=True)
        self.table = lobby.table({"kind": "human"}, {"kind": "bot", "bot": "steady"}, target_score=150)
        self.acknowledged: list[tuple[dict[str, Any], int]] = []
        """What was answered with 200, and the version that it was decided upon."""
        self.repeated = 0
        self.unanswered = 0
        self.failure: BaseException | None = None
        self._service = service
        self._client: ApiClient | None = None
        self._token = self.table.seats["A"].token

    def run(self) -> None:
        try:
            self._play()
        except BaseException as failure:  # noqa: BLE001 -- told by `finish`
            self.failure = failure
        finally:
            if self._client is not None:
                self._client.close()

    def finish(self) -> None:
        """Wait until the game is over."""
        self.join(PATIENCE_SECONDS * 3)
        if self.failure is not None:
            raise self.failure
        assert not self.is_alive()

    def _play(self) -> None:
        player, rng = bot("steady"), random.Random(3)
        while True:
            seen = self._send(lambda client: client.get(self.table.url()))
            view = seen.body
            if view["result"] is not None:
                return
            if view["turn"]["seat"] != "A":
                path = self.table.url("events") + f"?after={view['version']}&wait=5"
                self._send(lambda client, path=path: client.get(path))
                continue
            body = player.choose(view, rng)
            headers = {"If-Match": seen.headers["etag"], "Idempotency-Key": f"{view['version']}-{self.table.id}"}
            done = self._send(lambda client, b=body, h=headers: self.table.act(client, b, headers=h))
            self.acknowledged.append((body, view["version"]))
            self.repeated += "idempotency-replayed" in done.headers

    def _send(self, send: Callable[[ApiClient], Answer]) -> Answer:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            if self._client is None:
                self._client = ApiClient(self._service.url, token=self._token)
            try:
                answer = send(self._client)
            except httpx.TransportError:
                self.unanswered += 1
                self._client.close()
                self._client = None
                time.sleep(0.05)  # as a client would, before it tries again
            else:
                if answer.status == 503:
                    time.sleep(0.05)
                    continue
                assert answer.status == 200, answer.content
                return answer
            assert time.monotonic() < deadline

    def assert_nothing_lost(self, events: list[dict[str, Any]]) -> None:
        """Each move that was acknowledged is in the log, where it belongs, and there is no other of this seat."""
        kinds = {"card_drawn": "decision", "bid_placed": "bid", "card_played": "card"}
        own = [event for event in events if event["seat"] == "A" and event["type"] in kinds]
        logged = [(event["data"][kinds[event["type"]]], event["number"]) for event in own]
        sent = [(body.get("decision") or body.get("card") or body, version + 1) for body, version in self.acknowledged]
        assert logged == sent


def test_killed_processes_lose_no_move_and_make_none_twice(service: Service) -> None:
    with Lobby(service.url) as lobby:
        table = lobby.bots("steady", "steady")
        people = [Person(lobby, service) for _ in range(2)]
        for person in people:
            person.start()
        for kill, number in enumerate((40, 120, 200)):
            table.follow_to(number)
            if service.embedded or kill == 0:
                service.server.kill()
            if not service.embedded:
                service.worker.kill()
            if service.embedded or kill == 0:
                service.start_server()
            if not service.embedded:
                service.start_worker()
            table = moved(lobby, service, table)
        events = list(table.follow())
        for person in people:
            person.finish()

        assert_sound(events)
        for person in people:
            log = moved(lobby, service, person.table).events()
            assert_sound(log)
            person.assert_nothing_lost(log)
            assert person.unanswered > 0
        assert_rebuilds(service, table, *(person.table for person in people))


def test_sigterm_answers_who_waits_and_finishes_what_is_queued(service: Service) -> None:
    with Lobby(service.url) as lobby, ThreadPoolExecutor() as pool:
        quiet = lobby.people()
        version = quiet.look()[0]["version"]
        path = quiet.url("events") + f"?after={version}&wait=30"
        readers = [lobby.client(client.token, timeout=60) for client in (quiet.host, *quiet.seats.values())]
        polls = [pool.submit(reader.get, path) for reader in readers]
        streams = [pool.submit(read_stream, service.url + quiet.url("events"), quiet.host.token) for _ in range(2)]
        busy = [lobby.bots("steady", "random", target_score=50) for _ in range(5)]
        for table in busy:
            table.follow_to(40)
        seen = [table.look()[0]["version"] for table in busy]

        begun = time.monotonic()
        statuses = [process.terminate() for process in (service.beat, service.server, service.worker) if process]

        assert set(statuses) == {0}
        assert time.monotonic() - begun < 15
        for poll in polls:
            answer = poll.result(PATIENCE_SECONDS)
            assert (answer.status, answer.body) == (200, {"items": [], "next": None, "version": version})
        for stream in streams:
            assert stream.result(PATIENCE_SECONDS).endswith(b": goodbye\n\n")
        for name in ("server", "worker"):
            log = service.folder / f"{name}.log"
            assert not re.findall(r"tasks_dropped|left_behind|worker_ended", log.read_text() if log.exists() else "")

        service.start_server()
        if not service.embedded:
            service.start_worker()
            service.beat = service._process("beat", ["-m", "celery", "-A", "spades_api", "beat"])
        for table, before in zip(busy, seen, strict=True):
            again = moved(lobby, service, table)
            assert again.look()[0]["version"] >= before
            assert_sound(list(again.follow()))
        assert_rebuilds(service, *busy)


def read_stream(url: str, token: str | None) -> bytes:
    """Everything that an event stream sends until it ends."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    with httpx.stream("GET", url, headers=headers, timeout=60, verify=False) as response:
        assert response.status_code == 200
        return b"".join(response.iter_raw())


@contextmanager
def broken_redis(*, silent: bool) -> Iterator[str]:
    """The address of a Redis that refuses connections, or of one that takes them and never says a word."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if silent:
            held.listen()
        yield f"redis://127.0.0.1:{held.getsockname()[1]}/0"


@pytest.mark.parametrize("silent", [False, True], ids=["refusing", "silent"])
def test_a_play_is_acknowledged_while_the_broker_is_away(service: Service, *, silent: bool) -> None:
    with broken_redis(silent=silent) as redis_url, Lobby(service.url) as lobby:
        environment = {**service.environment, "REDIS_URL": redis_url}
        log = service.folder / "cut_off.log"
        server = Process("cut off", ["manage.py", "serve", "--port", "0"], environment, log)
        try:
            url = server.wait_for(r"Listening on (\S+)")[1]
            _play_cut_off(lobby, url, silent=silent)
        finally:
            assert server.terminate() == 0
        assert "wake_lost" in log.read_text()


def _play_cut_off(lobby: Lobby, url: str, *, silent: bool) -> None:
    """Play at a server that can wake nobody; the sweep of a whole service on its database finds the bot's turns."""
    table = lobby.table({"kind": "human"}, {"kind": "bot", "bot": "steady"})
    token = table.seats["A"].token
    cut_off = Lobby(url)
    with cut_off:
        there = LiveTable(table.id, cut_off.client(table.host.token), {"A": cut_off.client(token)})
        moves = 0
        while moves < 3:
            view, match = there.look(there.seats["A"])
            if view["turn"]["seat"] != "A":
                waiting = there.host.get(there.url("events") + f"?after={view['version']}&wait=20")
                assert waiting.body["items"]
                continue
            begun = time.monotonic()
            answer = there.act(there.seats["A"], view["turn"]["legal"][0], headers=match)
            assert time.monotonic() - begun < QUICK_SECONDS
            assert answer.status == 200
            assert table.look()[0]["version"] >= answer.body["version"]
            moves += 1
        if not silent:
            ready = there.host.get("/readyz")
            assert (ready.status, ready.reason) == (503, "unavailable")
            assert int(ready.headers["retry-after"]) > 0
            assert there.host.get("/healthz").status == 200
    assert_sound(table.events(), whole=False)


class OwnRedis:
    """A Redis server of this test's own, to be killed."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = ["--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            ["redis-server", *arguments, "--dir", str(self._folder)], stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE_SECONDS
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                    return
                except redis.ConnectionError:
                    assert time.monotonic() < deadline
                    time.sleep(0.02)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def test_a_broker_that_was_away_is_used_again(start_service: Callable[..., Service], tmp_path: Path) -> None:
    if not os.environ.get("REDIS_URL") or shutil.which("redis-server") is None:
        pytest.skip("there is no Redis here, or none that a test may kill")
    own = OwnRedis(tmp_path)
    own.start()
    service = start_service(REDIS_URL=own.url)
    try:
        with Lobby(service.url) as lobby:
            table = lobby.bots("steady", "steady", target_score=200)
            people = lobby.people()
            person = Person(lobby, service)
            person.start()
            table.follow_to(100)

            own.kill()
            for _ in range(4):
                seat, view, match = people.turn()
                begun = time.monotonic()
                answer = people.act(people.seats[seat], view["turn"]["legal"][0], headers=match)
                assert time.monotonic() - begun < QUICK_SECONDS
                assert answer.status == 200
            own.start()

            assert_sound(list(table.follow()))
            person.finish()
            events = person.table.events()
            assert_sound(events)
            person.assert_nothing_lost(events)
            assert person.unanswered == 0
            assert_rebuilds(service, table, person.table)
    finally:
        statuses = [process.terminate() for process in (service.beat, service.worker, service.server) if process]
        own.kill()
    assert statuses == [0, 0, 0]


# The database.


def end_connections(service: Service) -> None:
    """End every connection of the service to its database, as a restart of the database does."""
    with psycopg.connect(service.database_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def allow_connections(service: Service, allowed: bool) -> None:
    """Let the service's database take connections or refuse all new ones."""
    url, _, name = service.database_url.rpartition("/")
    with psycopg.connect(f"{url}/postgres", autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS {allowed}'.encode())


def assert_unavailable(answer: Answer) -> None:
    assert (answer.status, answer.reason) == (503, "unavailable"), answer.content
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) > 0


def patiently(send: Callable[[], Answer]) -> Answer:
    """The answer once the database is back: each of the server's threads may find its own connection broken, once."""
    for _ in range(THREADS):
        answer = send()
        if answer.status != 503:
            return answer
        assert_unavailable(answer)
    return send()


def needs_postgres(service: Service) -> None:
    if not service.database_url.startswith("postgres"):
        pytest.skip("SQLite has no connections to lose")


def test_broken_database_connections_are_replaced(service: Service, lobby: Lobby) -> None:
    needs_postgres(service)
    table = lobby.bots("steady", "steady", target_score=200)
    people = lobby.people()
    person = Person(lobby, service)
    person.start()
    heard: Counter[int] = Counter()

    for _ in range(5):
        seat, view, match = people.turn()
        end_connections(service)
        answers = [people.act(people.seats[seat], view["turn"]["legal"][0], headers=match) for _ in range(8)]
        for answer in answers:
            if answer.status == 503:
                assert_unavailable(answer)
        statuses = [answer.status for answer in answers]
        heard.update(statuses)
        assert statuses.count(503) <= THREADS
        assert [status for status in statuses if status != 503] == [200] + [412] * (7 - statuses.count(503))
        assert patiently(partial(people.host.get, people.url())).body["version"] == view["version"] + 1

    assert heard[200] == 5
    assert heard[503] > 0
    assert_sound(list(table.follow()))
    person.finish()
    events = person.table.events()
    assert_sound(events)
    person.assert_nothing_lost(events)
    assert_rebuilds(service, table, person.table)


def test_without_a_database_all_is_a_problem_and_afterwards_all_goes_on(service: Service, lobby: Lobby) -> None:
    needs_postgres(service)
    table = lobby.bots("steady", "steady", target_score=200)
    people = lobby.people()
    seat, view, match = people.turn()
    client = people.seats[seat]
    waiting = ThreadPoolExecutor()
    reader = lobby.client(people.host.token, timeout=60)
    poll = waiting.submit(reader.get, people.url("events") + f"?after={view['version']}&wait=25")
    table.follow_to(60)

    allow_connections(service, False)
    try:
        end_connections_of_a_closed_database(service)
        for _ in range(2):
            assert_unavailable(client.get(people.url()))
            assert_unavailable(people.act(client, {"decision": "keep"}, headers={**match, "Idempotency-Key": "lost"}))
            assert_unavailable(client.get(people.url("events") + f"?after={view['version']}&wait=1"))
            assert_unavailable(people.host.get("/v1/games"))
            body = {"ruleset": {"preset": "two_player"}}
            assert_unavailable(people.host.post("/v1/games", json=body, headers={"Idempotency-Key": "lost"}))
            assert_unavailable(lobby.client().post("/v1/accounts", json={"name": "Cal"}))
            assert_unavailable(client.get("/readyz"))
            assert client.get("/healthz").status == 200
            assert client.get(people.url(), token="").status == 401
    finally:
        allow_connections(service, True)

    answer = patiently(lambda: people.act(client, {"decision": "keep"}, headers={**match, "Idempotency-Key": "lost"}))
    assert answer.status == 200
    assert answer.body["version"] == view["version"] + 1
    assert [event["type"] for event in poll.result(PATIENCE_SECONDS).body["items"]] == ["card_drawn"]
    waiting.shutdown()
    assert patiently(partial(client.get, "/readyz")).status == 200
    assert_sound(list(table.follow()))
    assert_rebuilds(service, table)


def end_connections_of_a_closed_database(service: Service) -> None:
    url, _, name = service.database_url.rpartition("/")
    with psycopg.connect(f"{url}/postgres", autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [name])
