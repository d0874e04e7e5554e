"""The waiting side of `GET /v1/games/{id}/events`: long polls and event streams, on the event loop.

A reader who waits is let in by the ordinary request, made once without waiting through the same code as all others.
Its view answers who may read, in which seat and from where, and attaches that to the response as `response.reader`.
From then on the reader holds a coroutine and a place in the hub, and no thread and no connection.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

import orjson
import structlog
from django.db import Error as DatabaseError

from events import log
from events.hub import Hub, InPool, Told, Waiter

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

LONGEST_WAIT: Final = 30
"""Seconds that `wait` may ask for. The view refuses other values."""

KEEP_ALIVE_SECONDS: Final = 15.0
RETRY_MILLISECONDS: Final = 2000
SEND_SECONDS: Final = 20.0
"""How long a reader's connection may take nothing before it is given up."""

PAGE: Final = 200

_PATH: Final = re.compile(
    r"/v1/(?:games|score_sheets)/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/events"
)
_NOT_OF_A_STREAM: Final = frozenset({b"content-type", b"content-length", b"etag", b"cache-control"})
_NOT_OF_A_NEW_BODY: Final = frozenset({b"content-length", b"etag"})

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Late:
    """Of a reader who is told late: how far the game really is, and when there will be something to tell."""

    known: int
    """The game's version; whatever follows it is news."""
    due_in: float | None
    """Seconds until the first event that the reader has not been told is due; None when there is none."""
    delay: float
    """Seconds after which news is due."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who the view let in: what it may read, from which number on, how much at a time, and whether more can come."""

    game_id: UUID
    seat: str | None
    after: int
    limit: int
    finished: bool
    late: Late | None = None
    """None for a reader who is told at once."""
    ends_in: float | None = None
    """Seconds until it may read no longer, where that is known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response to an ordinary request. Names of headers are in lower case."""

    status: int
    headers: Headers
    body: bytes
    reader: Reader | None = None


Ask = Callable[[Scope], Awaitable[Answer]]
"""Makes an ordinary request without a body of this scope."""


def game_waited_for(scope: Scope) -> UUID | None:
    """The game, or the sheet, whose events this request wants to wait for; None when it is a request like any other."""
    if scope["method"] != "GET":
        return None
    match = _PATH.fullmatch(scope["path"])
    if match is None or not (_wants_stream(scope) or _query_value(scope, "wait") is not None):
        return None
    return UUID(match[1])


class Streams:
    """Answers readers who wait.

    Args:
        ask: makes the ordinary request.
        in_pool: runs functions that read the database.
    """

    def __init__(self, hub: Hub, ask: Ask, in_pool: InPool) -> None:
        self._hub = hub
        self._ask = ask
        self._in_pool = in_pool

    async def __call__(self, game_id: UUID, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request for which `game_waited_for` gave `game_id`."""
        async with _until_gone(receive) as gone:
            with self._registered(game_id, gone) as waiter:
                if _wants_stream(scope):
                    await self._stream(scope, send, waiter, gone)
                else:
                    await self._long_poll(scope, send, waiter, gone)

    @contextmanager
    def _registered(self, game_id: UUID, gone: asyncio.Task[None]) -> Iterator[Waiter]:
        """A place in the hub."""
        waiter = self._hub.register(game_id)
        gone.add_done_callback(lambda _: waiter.wake())
        try:
            yield waiter
        finally:
            waiter.leave()

    async def _long_poll(self, scope: Scope, send: Send, waiter: Waiter, gone: asyncio.Task[None]) -> None:
        deadline = asyncio.get_running_loop().time() + _seconds(_query_value(scope, "wait"))
        answer = await self._ask(scope)
        reader = _admitted(answer)
        if reader is None or reader.finished or _page(answer)["items"]:
            await _send_whole(send, answer.status, answer.headers, answer.body)
            return
        if reader.late is not None:
            answer = await self._long_poll_late(scope, waiter, gone, answer, reader.late, deadline)
            if not gone.done():
                await _send_whole(send, answer.status, answer.headers, answer.body)
            return
        if reader.ends_in is not None:
            deadline = min(deadline, asyncio.get_running_loop().time() + reader.ends_in)
        waiter.place(reader.after, reader.seat)
        told: list[Told] = []
        while not (told or gone.done() or self._hub.closing or waiter.overflowed):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await waiter.wait(left)
            if waiter.doubted:
                waiter.doubted = False
                answer = await self._ask(scope)
                again = _admitted(answer)
                if again is None or again.seat != reader.seat or _page(answer)["items"]:
                    break
            told = waiter.take(reader.limit)
        if gone.done():
            return
        if not told:
            await _send_whole(send, answer.status, answer.headers, answer.body)
            return
        items = [one.event for one in told]
        version = max(waiter.seen or 0, told[-1].number)
        body = orjson.dumps(log.body(items, after=reader.after, limit=reader.limit, version=version))
        await _send_whole(send, HTTPStatus.OK, _without(answer.headers, _NOT_OF_A_NEW_BODY), body)

    async def _long_poll_late(
        self, scope: Scope, waiter: Waiter, gone: asyncio.Task[None], answer: Answer, late: Late, deadline: float
    ) -> Answer:
        """The answer to a reader who is told late: asked for again whenever something is due, until there is something.

        What the hub tells only says when: the ordinary request decides what is old enough.
        """
        clock = _Clock(waiter, late)
        while not (gone.done() or self._hub.closing or waiter.overflowed):
            if asyncio.get_running_loop().time() >= deadline:
                break
            if not await clock.wait(deadline):
                continue
            answer = await self._ask(scope)
            reader = _admitted(answer)
            if reader is None or reader.late is None or reader.finished or _page(answer)["items"]:
                break
            clock.set(reader.late)
        return answer

    async def _stream(self, scope: Scope, send: Send, waiter: Waiter, gone: asyncio.Task[None]) -> None:
        first = await self._ask(_asking_json(scope, _header(scope, b"last-event-id")))
        reader = _admitted(first)
        if reader is None:
            await _send_whole(send, first.status, first.headers, first.body)
            return
        try:
            await self._send_stream(scope, send, waiter, gone, first, reader)
        except TimeoutError:
            logger.info("reader_too_slow", game_id=str(reader.game_id))
        except DatabaseError as error:
            logger.warning("stream_ended", game_id=str(reader.game_id), error=repr(error))
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_stream(
        self, scope: Scope, send: Send, waiter: Waiter, gone: asyncio.Task[None], first: Answer, reader: Reader
    ) -> None:
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": _stream_headers(first.headers)})
        await _send_part(send, b"retry: %d\n\n" % RETRY_MILLISECONDS)
        ends = math.inf if reader.ends_in is None else asyncio.get_running_loop().time() + reader.ends_in
        page = _page(first)
        told = [Told.of(event) for event in page["items"]]
        seen, over = reader.after, reader.finished
        while True:
            if told:
                await _send_part(send, b"".join(map(_event, told)))
                seen, over = told[-1].number, over or told[-1].type in log.ENDS
            if seen >= page["version"] or gone.done() or self._hub.closing:
                break
            events = await self._in_pool(log.page, reader.game_id, seen, PAGE, reader.seat)
            # What came later may no longer be for this reader: it is told as news, which asks again where it must.
            events = [event for event in events if event["number"] <= page["version"]]
            if not events:
                break
            told = [Told.of(event) for event in events]
        if not over and reader.late is not None:
            over = await self._send_late(scope, send, waiter, gone, reader.late, seen)
        elif not over:
            waiter.place(seen, reader.seat)
            over = await self._send_news(scope, send, waiter, gone, reader, ends)
        if not gone.done():
            goodbye = b": the game is over\n\n" if over else b": goodbye\n\n"
            await _send_part(send, goodbye, more=False)

    async def _send_news(
        self, scope: Scope, send: Send, waiter: Waiter, gone: asyncio.Task[None], reader: Reader, ends: float
    ) -> bool:
        """Send what happens until the game ends, the reader leaves or may no longer read. True when the game ended.

        Args:
            ends: the time on the loop's clock at which it may read no longer.
        """
        loop = asyncio.get_running_loop()
        alive = loop.time() + KEEP_ALIVE_SECONDS
        while not (gone.done() or self._hub.closing or waiter.overflowed):
            await waiter.wait(min(alive, ends) - loop.time())
            if loop.time() >= ends:
                return False
            if waiter.doubted:
                waiter.doubted = False
                if not await self._may_still_read(scope, waiter, reader):
                    return False
            told = waiter.take()
            if told:
                await _send_part(send, b"".join(map(_event, told)))
                if told[-1].type in log.ENDS:
                    return True
            if waiter.halted and told:
                if not await self._may_still_read(scope, waiter, reader):
                    return False
                waiter.go_on()
            if loop.time() >= alive:
                if not await self._may_still_read(scope, waiter, reader):
                    return False
                await _send_part(send, b": keep-alive\n\n")
                alive = loop.time() + KEEP_ALIVE_SECONDS
        return False

    async def _send_late(
        self, scope: Scope, send: Send, waiter: Waiter, gone: asyncio.Task[None], late: Late, seen: int
    ) -> bool:
        """The same for a reader who is told late. Each time that something is due the ordinary request gives it."""
        loop = asyncio.get_running_loop()
        clock, alive = _Clock(waiter, late), loop.time() + KEEP_ALIVE_SECONDS
        while not (gone.done() or self._hub.closing or waiter.overflowed):
            if not await clock.wait(alive) and loop.time() < alive:
                continue
            again = await self._ask(_asking_json(scope, str(seen).encode()))
            reader = _admitted(again)
            if reader is None or reader.late is None:
                return False
            told = [Told.of(event) for event in _page(again)["items"]]
            if told:
                await _send_part(send, b"".join(map(_event, told)))
                seen = told[-1].number
                if told[-1].type in log.ENDS:
                    return True
            clock.set(reader.late, more=len(told) >= reader.limit)
            if loop.time() >= alive:
                await _send_part(send, b": keep-alive\n\n")
                alive = loop.time() + KEEP_ALIVE_SECONDS
        return False

    async def _may_still_read(self, scope: Scope, waiter: Waiter, reader: Reader) -> bool:
        again = _admitted(await self._ask(_asking_json(scope, str(waiter.seen or reader.after).encode())))
        if again is None or (again.late is None) != (reader.late is None):
            return False
        waiter.seat = again.seat  # by lot, it may have got another one
        return True


class _Clock:
    """When there is something to tell a reader who is told late. The hub wakes it for news and says no more."""

    def __init__(self, waiter: Waiter, late: Late) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiter = waiter
        self.set(late)
        waiter.place(late.known, None)

    def set(self, late: Late, *, more: bool = False) -> None:
        """Take note of what the last request said; `more` when its page was full, so the rest is due now."""
        due_in = 0.0 if more else late.due_in
        self._delay = late.delay
        self._due = None if due_in is None else self._loop.time() + due_in

    async def wait(self, until: float) -> bool:
        """Wait for the first of: something is due or doubted (True), news, the time `until`."""
        waiter = self._waiter
        await waiter.wait(min(until, until if self._due is None else self._due) - self._loop.time())
        if waiter.take() and self._due is None:
            self._due = self._loop.time() + self._delay
        if waiter.halted:
            waiter.go_on()
        if waiter.doubted:
            waiter.doubted = False
            return True
        return self._due is not None and self._loop.time() >= self._due


@asynccontextmanager
async def _until_gone(receive: Receive) -> AsyncIterator[asyncio.Task[None]]:
    """A task that is done when the client has left."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    task = asyncio.get_running_loop().create_task(watch())
    try:
        yield task
    finally:
        task.cancel()


async def _send_whole(send: Send, status: int, headers: Headers, body: bytes) -> None:
    length = (b"content-length", b"%d" % len(body))
    if status not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
        headers = [*_without(headers, {b"content-length"}), length]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _send_part(send: Send, part: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(SEND_SECONDS):
        await send({"type": "http.response.body", "body": part, "more_body": more})


def _event(told: Told) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (told.number, told.type.encode(), told.json)


def _admitted(answer: Answer) -> Reader | None:
    """The reader that the view let in, if it did."""
    return answer.reader if answer.status == HTTPStatus.OK else None


def _page(answer: Answer) -> dict[str, Any]:
    page: dict[str, Any] = orjson.loads(answer.body)
    return page


def _stream_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [
        *_without(headers, _NOT_OF_A_STREAM),
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"private, no-cache, no-transform"),
        (b"x-accel-buffering", b"no"),
    ]


def _without(headers: Headers, names: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.lower() not in names]


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    return next((value for name, value in scope["headers"] if name == wanted), None)


def _wants_stream(scope: Scope) -> bool:
    return any(name == b"accept" and b"text/event-stream" in value.lower() for name, value in scope["headers"])


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, encoding="latin-1")


def _query_value(scope: Scope, wanted: str) -> str | None:
    return dict(_query(scope)).get(wanted)  # the last one, as Django has it


def _seconds(wait: str | None) -> float:
    """The seconds of a `wait` that the view has let pass; none of another."""
    if wait is None or not wait.isascii() or not wait.isdigit():
        return 0
    return min(int(wait), LONGEST_WAIT)


def _asking_json(scope: Scope, after: bytes | None) -> Scope:
    """The same request for a page of JSON, from `after` on if it is given."""
    changed = dict(scope)
    changed["headers"] = [(name, value) for name, value in scope["headers"] if name != b"accept"]
    changed["headers"].append((b"accept", b"application/json"))
    if after:
        query = [(name, value) for name, value in _query(scope) if name != "after"]
        query.append(("after", after.decode("latin-1")))
        changed["query_string"] = urlencode(query, encoding="latin-1").encode("ascii")
    return changed
