"""The load: a few connections that each send a request when the last one was answered, and take the time.

Bare sockets on one event loop: a request costs this process some 30 microseconds, the same for all that is measured.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Final, Protocol, cast
from urllib.parse import urlsplit

import uvloop

__all__ = ["Broken", "Fixed", "Source", "Tally", "drive", "request", "run"]

LONGEST_SECONDS: Final = 60.0


class Broken(Exception):
    """An answer that no measurement may count."""


class Source(Protocol):
    """What one connection sends."""

    def next(self) -> bytes:
        """The next request, whole."""

    def take(self, status: int, body: bytes) -> str:
        """Take the answer to it, and say under which name its time is kept.

        Raises:
            Broken: it is not the answer that was to come.
        """


@dataclass(slots=True)
class Fixed:
    """The same request again and again."""

    raw: bytes
    name: str

    def next(self) -> bytes:
        """The request."""
        return self.raw

    def take(self, status: int, body: bytes) -> str:
        """Take the answer: 200."""
        if status != 200:
            raise Broken(f"{status}: {body[:400]!r}")
        return self.name


def request(method: str, path: str, token: str | None, body: bytes = b"", **headers: str) -> bytes:
    """A request as bytes; `If_Match="..."` is the header If-Match."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Accept: application/json"]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    if method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass(slots=True)
class Tally:
    """What was measured: seconds of each answer by name, and how long all of it took."""

    seconds: float = 0.0
    times: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Tally:
        """Several as one."""
        whole = cls()
        for tally in tallies:
            whole.seconds += tally.seconds
            for name, times in tally.times.items():
                whole.times.setdefault(name, []).extend(times)
        return whole

    @property
    def count(self) -> int:
        """How many answers."""
        return sum(map(len, self.times.values()))

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.count / self.seconds

    def percentile(self, percent: float, name: str | None = None) -> float:
        """Milliseconds within which so many in a hundred answers came: those of one name, or all."""
        times = sorted(self.times[name] if name is not None else chain.from_iterable(self.times.values()))
        return 1000 * times[min(len(times) - 1, int(len(times) * percent / 100))]


class Connection(asyncio.Protocol):
    """One connection that is kept open."""

    def __init__(self, source: Source, tally: Tally, pause: float) -> None:
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = loop.create_future()
        self._source, self._tally, self._pause = source, tally, pause
        self._buffer = b""
        self._whole = -1  # bytes of the answer, once its head is read
        self._head = 0
        self._stopping = False
        self._sent = 0.0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own transports are none by name
        self._send()

    def stop(self) -> None:
        """Send nothing after the answer that is on its way."""
        self._stopping = True

    def _send(self) -> None:
        if self._stopping:
            self._transport.close()
            return
        raw = self._source.next()
        self._sent = time.perf_counter()
        self._transport.write(raw)

    def data_received(self, data: bytes) -> None:
        """Take a piece of an answer."""
        self._buffer += data
        if self._whole < 0:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            self._head = end + 4
            lower = self._buffer[:end].lower()
            place = lower.find(b"\r\ncontent-length:")
            if place < 0:
                self._fail(Broken(f"an answer without a length: {self._buffer[:400]!r}"))
                return
            self._whole = self._head + int(lower[place + 17 :].partition(b"\r\n")[0])
        if len(self._buffer) < self._whole:
            return
        took = time.perf_counter() - self._sent
        status, body = int(self._buffer[9:12]), self._buffer[self._head : self._whole]
        self._buffer, self._whole = b"", -1
        try:
            name = self._source.take(status, body)
        except Exception as error:  # noqa: BLE001 -- whoever waits for `done` raises it
            self._fail(error)
            return
        self._tally.times.setdefault(name, []).append(took)
        if self._stopping:
            self._transport.close()
        elif self._pause:
            asyncio.get_running_loop().call_later(self._pause, self._send)
        else:
            self._send()

    def _fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)
        self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End: well only if it was to."""
        if not self.done.done():
            if self._stopping:
                self.done.set_result(None)
            else:
                self.done.set_exception(Broken(f"the server closed the connection: {exc!r}"))


def _same(connection: Connection) -> Connection:
    return connection


async def drive(url: str, sources: Sequence[Source], seconds: float, pause: float = 0.0) -> Tally:
    """Send what the sources say for so long, one connection each.

    Args:
        pause: seconds between an answer and the next request.

    Raises:
        Broken: by a source, or because a connection ended.
    """
    loop = asyncio.get_running_loop()
    parts = urlsplit(url)
    tally = Tally()
    began = loop.time()
    connections = [Connection(source, tally, pause) for source in sources]
    for connection in connections:
        await loop.create_connection(partial(_same, connection), parts.hostname or "", parts.port or 80)
    ends = asyncio.gather(*(connection.done for connection in connections))
    try:
        await asyncio.wait_for(asyncio.shield(ends), seconds)
    except TimeoutError:
        for connection in connections:
            connection.stop()
        await asyncio.wait_for(ends, LONGEST_SECONDS)
    tally.seconds = loop.time() - began
    return tally


def run(url: str, sources: Sequence[Source], seconds: float, pause: float = 0.0) -> Tally:
    """`drive` on a loop of its own."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(drive(url, sources, seconds, pause))
