"""From ASGI to Django's WSGI handler in a fixed pool of threads.

Django under ASGI starts a thread for each request that touches the database and plays half as many cards a second as
under WSGI. Here the event loop reads and writes the sockets, and a few threads, each with a database connection that
stays open, run Django as a WSGI server would.
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from typing import Any, Final, TypeVar
from urllib.parse import unquote_to_bytes

import structlog
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections
from django.http import HttpResponse
from django.urls import set_script_prefix

from contract.endpoint import MOST_BYTES, MOST_BYTES_OF_A_FILE
from events.stream import Answer, Headers, Receive, Scope, Send

_Result = TypeVar("_Result")
_Job = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[..., Any], tuple[Any, ...]]

_FILES: Final = re.compile(r"/v1/score_sheets/(?:[^/]+/)?import")
"""Where a body may hold what an export gave. Of what is too large Django gets one byte more, and so can tell."""

DISCARD_BYTES: Final = 8 * 1024 * 1024
"""How much of a body is read and thrown away, so that a client that sends first and reads then finds its answer."""

CLOSE_SECONDS: Final = 5.0

_NO_LENGTH: Final = frozenset({204, 304})

logger = structlog.get_logger(__name__)


class ClientGone(Exception):
    """The client left before it had sent its request."""


class Pool:
    """A fixed number of threads that run Django, each with database connections of its own that stay open.

    After each piece of work a connection that broke is replaced. Leaner than an executor: a request crosses to a thread
    and back, and that is half of what an empty one costs. Of threads that have nothing to do the one that stopped last
    is taken, since its caches are warm and those of its database connection; in turn they would all be cold.
    """

    def __init__(self, threads: int) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[_Job] = deque()
        self._idle: list[_Worker] = []
        self._closing = False
        self._workers = [_Worker(self._next, f"django-{number}") for number in range(threads)]
        for worker in self._workers:
            worker.thread.start()

    async def run(self, work: Callable[..., _Result], *args: Any) -> _Result:
        """Run `work` in one of the threads."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()
        job: _Job = (loop, future, work, args)
        with self._lock:
            worker = self._idle.pop() if self._idle else None
            if worker is None:
                self._waiting.append(job)
        if worker is not None:
            worker.take(job)
        return await future

    async def close(self) -> None:
        """End the threads and their connections when they have done what waits; one that hangs is left behind."""
        with self._lock:
            self._closing = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.take(None)
        for worker in self._workers:
            await asyncio.to_thread(worker.thread.join, CLOSE_SECONDS)
            if worker.thread.is_alive():
                logger.warning("thread_left_behind", thread=worker.thread.name)

    def _next(self, worker: _Worker) -> _Job | None:
        """What a worker is to do next, for which it waits if need be; None to end."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if self._closing:
                return None
            self._idle.append(worker)
        return worker.wait()


class _Worker:
    """A thread of a pool, and the place where it gets its work."""

    def __init__(self, next_job: Callable[[_Worker], _Job | None], name: str) -> None:
        self._next = next_job
        self._job: _Job | None = None
        self._called = threading.Lock()
        self._called.acquire()
        self.thread = threading.Thread(target=self._serve, name=name, daemon=True)

    def take(self, job: _Job | None) -> None:
        """Give an idle worker something to do, or None to end."""
        self._job = job
        self._called.release()

    def wait(self) -> _Job | None:
        """Wait until something is given."""
        self._called.acquire()
        job, self._job = self._job, None
        return job

    def _serve(self) -> None:
        mine = [connections[alias] for alias in connections]  # those of this thread, for as long as it lives
        try:
            while (job := self._next(self)) is not None:
                loop, future, work, args = job
                try:
                    result = work(*args)
                except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits for the result
                    _tell(loop, future, future.set_exception, error)
                else:
                    _tell(loop, future, future.set_result, result)
                for connection in mine:
                    if connection.errors_occurred or not connection.autocommit:
                        connection.close_if_unusable_or_obsolete()
        finally:
            connections.close_all()


class Bridge:
    """Answers HTTP requests of an ASGI server by Django's WSGI handler in `pool`."""

    def __init__(self, handler: WSGIHandler, pool: Pool) -> None:
        self._handler = handler
        self._pool = pool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            body, complete = await _read(scope["path"], receive)
        except ClientGone:
            return
        answer = await self._pool.run(self._run, _environ(scope, body))
        headers = answer.headers if complete else [*answer.headers, (b"connection", b"close")]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        content = b"" if scope["method"] == "HEAD" else answer.body
        await send({"type": "http.response.body", "body": content, "more_body": False})

    async def ask(self, scope: Scope) -> Answer:
        """Make the request of this scope, without a body, and give the answer instead of sending it."""
        return await self._pool.run(self._run, _environ(scope, b""))

    def _run(self, environ: dict[str, Any]) -> Answer:
        """What Django answers, without the detour by the strings of PEP 3333 and back."""
        set_script_prefix("/")
        response = self._handler.get_response(self._handler.request_class(environ))
        try:
            body = response.content if isinstance(response, HttpResponse) else b"".join(response)
        finally:
            response.close()
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
        status = response.status_code
        return Answer(status, _with_length(headers, status, len(body)), body, getattr(response, "reader", None))


async def _read(path: str, receive: Receive) -> tuple[bytes, bool]:
    """The body of a request, cut off behind the first byte too many, and whether the client was heard to its end.

    Raises:
        ClientGone: it left before.
    """
    most = MOST_BYTES_OF_A_FILE if _FILES.fullmatch(path) else MOST_BYTES
    kept = bytearray()
    total = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        total += len(chunk)
        kept += chunk[: most + 1 - len(kept)]
        if not message.get("more_body", False):
            return bytes(kept), True
        if total > DISCARD_BYTES:
            return bytes(kept), False


def _environ(scope: Scope, body: bytes) -> dict[str, Any]:
    """The request as PEP 3333 has it."""
    client, server = scope.get("client"), scope.get("server")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": _path(scope),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0] if server else "localhost",
        "SERVER_PORT": str((server[1] if server else None) or 0),
        "REMOTE_ADDR": client[0] if client else "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    _add_headers(environ, scope["headers"])
    environ["CONTENT_LENGTH"] = str(len(body)) if body else ""
    return environ


def _path(scope: Scope) -> str:
    """The path as bytes in a string: what was percent-encoded need not be UTF-8, and Django decides about that."""
    raw: bytes | None = scope.get("raw_path")
    return (scope["path"].encode() if raw is None else unquote_to_bytes(raw)).decode("latin-1")


def _add_headers(environ: MutableMapping[str, Any], headers: Headers) -> None:
    for raw_name, raw_value in headers:
        if b"_" in raw_name:
            continue  # X_Request_Id would pass for X-Request-Id
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        key = name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"
        value = raw_value.decode("latin-1")
        if key in environ:
            separator = "; " if key == "HTTP_COOKIE" else ","
            value = f"{environ[key]}{separator}{value}"
        environ[key] = value


def _with_length(headers: Iterable[tuple[bytes, bytes]], status: int, length: int) -> list[tuple[bytes, bytes]]:
    """The headers with the length of the body, and without one where no body may follow."""
    kept = [(name, value) for name, value in headers if name != b"content-length"]
    if status not in _NO_LENGTH:
        kept.append((b"content-length", b"%d" % length))
    return kept


def _tell(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], tell: Callable[[Any], None], what: Any) -> None:
    """Finish the future on its loop, unless nobody waits for it any more."""

    def finish() -> None:
        if not future.done():
            tell(what)

    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(finish)
