"""The waiting side, with a stand-in for the view: it lets a token in that names a seat, until the token is revoked."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from urllib.parse import parse_qs
from uuid import UUID, uuid4

import orjson
import pytest

from events import log, stream
from events.hub import Hub
from events.log import Entry
from events.models import Event
from events.stream import Answer, Reader, Streams, game_waited_for
from spades_api.bridge import Pool

pytestmark = pytest.mark.django_db(transaction=True)

PLAYED = Entry("card_played", "A", 1, {"card": "4H"})
SEALED = Entry("card_drawn", "A", 1, {}, {"A": {"kept": "QH"}})
FINISHED = Entry("game_finished", None, None, {})
LIMIT = 100
STREAM = "text/event-stream"


class View:
    """Answers as the view of events does."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.revoked = False
        self.ends_in: float | None = None
        self.answered = asyncio.Event()

    async def ask(self, scope) -> Answer:
        answer = await self.pool.run(self.answer, scope)
        self.answered.set()
        return answer

    def answer(self, scope) -> Answer:
        headers = dict(scope["headers"])
        assert b"text/event-stream" not in headers.get(b"accept", b""), "the view speaks JSON"
        seat = headers.get(b"authorization", b"").decode() or None
        query = parse_qs(scope["query_string"].decode())
        if self.revoked:
            return Answer(401, [(b"content-type", b"application/problem+json")], b"{}")
        try:
            after = int(query.get("after", ["0"])[0])
            int(query.get("wait", ["1"])[0])
        except ValueError:
            return Answer(400, [(b"content-type", b"application/problem+json")], b"{}")
        game_id = game_of(scope)
        items = log.page(game_id, after, LIMIT, seat)
        events = Event.objects.filter(game_id=game_id)
        body = log.body(items, after=after, limit=LIMIT, version=events.count())
        finished = events.filter(type="game_finished").exists()
        return Answer(
            200,
            [(b"content-type", b"application/json"), (b"etag", b'"1"'), (b"x-request-id", b"abcdefgh")],
            orjson.dumps(body),
            Reader(game_id, seat, after, LIMIT, finished, ends_in=self.ends_in),
        )


def game_of(scope):
    return UUID(scope["path"].split("/")[3])


def request(game_id, query="", *, seat="A", accept=None, last=None):
    headers = [(b"authorization", seat.encode())]
    if accept:
        headers.append((b"accept", accept.encode()))
    if last is not None:
        headers.append((b"last-event-id", last.encode()))
    return {
        "type": "http",
        "method": "GET",
        "path": f"/v1/games/{game_id}/events",
        "query_string": query.encode(),
        "headers": headers,
    }


class Client:
    """One request to `Streams` and what it is sent."""

    def __init__(self, streams: Streams, scope) -> None:
        self.sent: asyncio.Queue = asyncio.Queue()
        self.inbox: asyncio.Queue = asyncio.Queue()
        self.inbox.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        self.stalled = asyncio.Event()
        self.stalled.set()
        self.task = asyncio.create_task(streams(game_of(scope), scope, self.inbox.get, self._send))

    async def _send(self, message) -> None:
        await self.stalled.wait()
        await self.sent.put(message)

    def leave(self) -> None:
        self.inbox.put_nowait({"type": "http.disconnect"})

    async def start(self):
        async with asyncio.timeout(30):
            return await self.sent.get()

    async def whole(self):
        """The status, the headers and the body of a complete answer."""
        start = await self.start()
        body, more = b"", True
        while more:
            async with asyncio.timeout(30):
                part = await self.sent.get()
            body, more = body + part["body"], part["more_body"]
        await self.task
        return start["status"], dict(start["headers"]), body

    async def until(self, text: bytes) -> bytes:
        """What a stream sends until it has sent `text`."""
        body = b""
        while text not in body:
            async with asyncio.timeout(30):
                part = await self.sent.get()
            body += part.get("body", b"")
            assert part.get("more_body", True) or text in body, body
        return body


class Setting:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.hub = Hub(pool.run)
        self.view = View(pool)
        self.streams = Streams(self.hub, self.view.ask, pool.run)

    def open(self, scope) -> Client:
        return Client(self.streams, scope)


@asynccontextmanager
async def running():
    pool = Pool(2)
    setting = Setting(pool)
    try:
        yield setting
    finally:
        await setting.hub.stop()
        await pool.close()


def ids(text: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb"^id: (\d+)$", text, re.MULTILINE)]


@pytest.mark.parametrize(
    ("method", "path", "query", "accept", "waits"),
    [
        pytest.param("GET", "events", "wait=5", None, True, id="long poll"),
        pytest.param("GET", "events", "", "text/event-stream", True, id="stream"),
        pytest.param("GET", "events", "", "application/json, Text/Event-Stream;q=0.5", True, id="stream among others"),
        pytest.param("GET", "events", "wait=", "*/*", True, id="a wait that the view will refuse"),
        pytest.param("GET", "events", "after=3", "application/json", False, id="page"),
        pytest.param("HEAD", "events", "wait=5", None, False, id="head"),
        pytest.param("POST", "events", "wait=5", "text/event-stream", False, id="post"),
        pytest.param("GET", "deals", "wait=5", None, False, id="another address"),
        pytest.param("GET", "events/", "wait=5", None, False, id="no address"),
    ],
)
def test_only_readers_who_wait_are_kept_on_the_loop(method, path, query, accept, waits):
    game_id = uuid4()
    scope = request(game_id, query, accept=accept)
    scope |= {"method": method, "path": f"/v1/games/{game_id}/{path}"}

    assert game_waited_for(scope) == (game_id if waits else None)


def test_a_long_poll_has_at_once_what_is_there(write_events):
    game_id = uuid4()
    write_events(game_id, PLAYED)

    async def scenario():
        async with running() as setting:
            return await setting.open(request(game_id, "wait=30")).whole()

    status, headers, body = asyncio.run(scenario())

    assert status == 200
    assert [event["number"] for event in orjson.loads(body)["items"]] == [1]
    assert headers[b"content-length"] == str(len(body)).encode()


def test_who_may_read_for_a_time_is_told_nothing_after_it(write_events):
    game_id = uuid4()

    async def scenario():
        async with running() as setting:
            setting.view.ends_in = 0.2
            poll = setting.open(request(game_id, "wait=30"))
            following = setting.open(request(game_id, accept=STREAM))
            answers = await poll.whole(), await following.whole()
            setting.hub.hint(game_id, await setting.pool.run(write_events, game_id, PLAYED))
            return answers

    (status, _, polled), (_, _, streamed) = asyncio.run(scenario())

    assert (status, orjson.loads(polled)["items"]) == (200, [])
    assert streamed.endswith(b": goodbye\n\n")
    assert ids(streamed) == []


@pytest.mark.parametrize("seat", ["A", "B"])
def test_a_long_poll_ends_when_something_happens(write_events, seat):
    game_id = uuid4()

    async def scenario():
        async with running() as setting:
            client = setting.open(request(game_id, "wait=30", seat=seat))
            await setting.view.answered.wait()
            setting.hub.hint(game_id, await setting.pool.run(write_events, game_id, SEALED))
            return await client.whole()

    status, headers, body = asyncio.run(scenario())

    assert status == 200
    assert orjson.loads(body) == {"items": log.page(game_id, 0, 10, seat), "next": None, "version": 1}
    assert b"QH" not in body or seat == "A"
    assert headers == {
        b"content-type": b"application/json",
        b"content-length": str(len(body)).encode(),
        b"x-request-id": b"abcdefgh",
    }


def test_a_long_poll_ends_with_nothing_after_its_time():
    async def scenario():
        async with running() as setting:
            return await setting.open(request(uuid4(), "wait=1")).whole()

    status, _, body = asyncio.run(scenario())

    assert (status, orjson.loads(body)) == (200, {"items": [], "next": None, "version": 0})


@pytest.mark.parametrize("query", ["wait=x", "wait=1&after=x"])
def test_the_view_refuses(query):
    async def scenario():
        async with running() as setting:
            return await setting.open(request(uuid4(), query)).whole()

    assert asyncio.run(scenario())[0] == 400


def test_nobody_waits_for_a_game_that_is_over(write_events):
    game_id = uuid4()
    write_events(game_id, PLAYED, FINISHED)

    async def scenario():
        async with running() as setting:
            return await setting.open(request(game_id, "wait=30&after=2")).whole()

    assert orjson.loads(asyncio.run(scenario())[2]) == {"items": [], "next": None, "version": 2}


def test_a_client_that_leaves_is_forgotten():
    async def scenario():
        async with running() as setting:
            clients = [setting.open(request(uuid4(), "wait=30", accept=accept)) for accept in (None, STREAM)]
            await clients[1].until(b"retry")
            for client in clients:
                client.leave()
            async with asyncio.timeout(20):
                await asyncio.gather(*(client.task for client in clients))
            return setting.hub.games

    assert not asyncio.run(scenario())


def test_a_stream_tells_what_was_and_what_happens(write_events):
    game_id = uuid4()
    write_events(game_id, PLAYED, SEALED)

    async def scenario():
        async with running() as setting:
            client = setting.open(request(game_id, accept=STREAM))
            text = await client.until(b"id: 2\n")
            setting.hub.hint(game_id, await setting.pool.run(write_events, game_id, PLAYED))
            text += await client.until(b"id: 3\n")
            setting.hub.hint(game_id, await setting.pool.run(write_events, game_id, PLAYED, FINISHED))
            start_and_rest = await client.until(b": the game is over\n\n")
            await client.task
            return text + start_and_rest

    text = asyncio.run(scenario()).decode()

    events = log.page(game_id, 0, 10, "A")
    told = "".join(
        f"id: {event['number']}\nevent: {event['type']}\ndata: {orjson.dumps(event).decode()}\n\n" for event in events
    )
    assert text == f"retry: 2000\n\n{told}: the game is over\n\n"


def test_a_stream_has_its_own_headers(write_events):
    game_id = uuid4()
    write_events(game_id, FINISHED)

    async def scenario():
        async with running() as setting:
            return await setting.open(request(game_id, accept=STREAM)).whole()

    status, headers, _ = asyncio.run(scenario())

    assert status == 200
    assert headers == {
        b"content-type": b"text/event-stream; charset=utf-8",
        b"cache-control": b"private, no-cache, no-transform",
        b"x-accel-buffering": b"no",
        b"x-request-id": b"abcdefgh",
    }


def test_a_stream_goes_on_after_the_last_event_that_the_client_had(write_events):
    game_id = uuid4()
    write_events(game_id, *[PLAYED] * 4, FINISHED)

    async def scenario():
        async with running() as setting:
            opened = [
                setting.open(request(game_id, query, accept=STREAM, last=last))
                for query, last in [("", None), ("after=1", None), ("after=1", "3"), ("after=5", None)]
            ]
            return [ids((await client.whole())[2]) for client in opened]

    assert asyncio.run(scenario()) == [[1, 2, 3, 4, 5], [2, 3, 4, 5], [4, 5], []]


def test_a_stream_of_a_long_game_tells_all_of_it(write_events):
    game_id = uuid4()
    write_events(game_id, *[PLAYED] * 549, FINISHED)

    async def scenario():
        async with running() as setting:
            return await setting.open(request(game_id, accept=STREAM)).whole()

    assert ids(asyncio.run(scenario())[2]) == list(range(1, 551))


def test_a_stream_is_refused_like_any_request():
    async def scenario():
        async with running() as setting:
            setting.view.revoked = True
            return await setting.open(request(uuid4(), accept=STREAM)).whole()

    status, headers, body = asyncio.run(scenario())

    assert (status, headers[b"content-type"], body) == (401, b"application/problem+json", b"{}")


def test_a_stream_is_kept_alive_until_the_token_is_revoked(write_events, monkeypatch):
    monkeypatch.setattr(stream, "KEEP_ALIVE_SECONDS", 0.05)
    game_id = uuid4()
    write_events(game_id, PLAYED)

    async def scenario():
        async with running() as setting:
            client = setting.open(request(game_id, accept=STREAM))
            alive = await client.until(b": keep-alive\n\n: keep-alive\n\n")
            setting.view.revoked = True
            end = await client.until(b": goodbye\n\n")
            await client.task
            return alive, end, setting.hub.games

    alive, end, games = asyncio.run(scenario())

    assert ids(alive) == [1]
    assert ids(end) == []
    assert not games


def test_a_doubt_ends_whoever_may_no_longer_read_and_nobody_else(write_events):
    game_id = uuid4()
    write_events(game_id, PLAYED)

    async def scenario():
        async with running() as setting:
            streamed = setting.open(request(game_id, accept=STREAM))
            polled = setting.open(request(game_id, "after=1&wait=30"))
            await streamed.until(b"id: 1\n")
            await setting.view.answered.wait()
            setting.hub.doubt(game_id)
            setting.hub.hint(game_id, await setting.pool.run(write_events, game_id, PLAYED))
            goes_on = await streamed.until(b"id: 2\n"), await polled.whole()

            polled = setting.open(request(game_id, "after=2&wait=30"))
            setting.view.answered.clear()
            await setting.view.answered.wait()
            setting.view.revoked = True
            await setting.pool.run(write_events, game_id, SEALED)
            setting.hub.doubt(game_id)
            setting.hub.hint(game_id, 3)
            ends = await streamed.until(b": goodbye\n\n"), await polled.whole()
            return goes_on, ends

    (told, (status, _, body)), (end, refused) = asyncio.run(scenario())

    assert ids(told) == [2]
    assert (status, orjson.loads(body)["items"]) == (200, log.page(game_id, 1, 1, "A"))
    assert b"QH" not in end
    assert (refused[0], refused[2]) == (401, b"{}")


def test_a_slow_client_is_given_up_and_may_come_back(write_events, monkeypatch):
    monkeypatch.setattr(stream, "SEND_SECONDS", 0.1)
    game_id = uuid4()

    async def scenario():
        async with running() as setting:
            client = setting.open(request(game_id, accept=STREAM))
            await client.until(b"retry")
            client.stalled.clear()
            setting.hub.hint(game_id, await setting.pool.run(write_events, game_id, PLAYED))
            async with asyncio.timeout(30):
                await client.task
            again = setting.open(request(game_id, accept=STREAM, last="0"))
            return await again.until(b"id: 1\n")

    assert ids(asyncio.run(scenario())) == [1]


def test_everybody_is_answered_when_the_service_stops():
    async def scenario():
        async with running() as setting:
            poll = setting.open(request(uuid4(), "wait=30"))
            streamed = setting.open(request(uuid4(), accept=STREAM))
            await streamed.until(b"retry")
            setting.hub.close()
            return await poll.whole(), await streamed.until(b": goodbye\n\n"), await asyncio.shield(streamed.task)

    (status, _, body), _, _ = asyncio.run(scenario())

    assert (status, orjson.loads(body)["items"]) == (200, [])
