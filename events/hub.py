"""Readers of this process that wait for something to happen in a game.

Everything in a `Hub` runs on its event loop; only `hint_soon` may be called from elsewhere. A hint says that a game
has reached some number. It leads to one read of that game for all who wait on it, each of whom gets what it may know.
A hint may get lost: while anybody waits, the hub also asks once a second how far the games have come.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson
import structlog

from events import log

InPool = Callable[..., Awaitable[Any]]
"""Runs a function with its arguments where it may talk to the database, and gives its result."""

TAIL_SECONDS: Final = 1.0
"""How long a lost hint delays a reader, at most."""

READ_ROWS: Final = 256
ASK_GAMES: Final = 1000
"""How many games are asked after in one statement."""

UNKNOWN: Final = 2**31 - 1
"""Stands for the last number of a game that may have moved on unnoticed: the next read finds out."""

QUEUE_EVENTS: Final = 512
"""What a reader may leave unread. A deal of thirteen tricks makes about a hundred events."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """One event as one kind of reader sees it: the object, and its JSON made once for all of them."""

    number: int
    type: str
    event: dict[str, Any]
    json: bytes

    @classmethod
    def of(cls, event: dict[str, Any]) -> Told:
        """Take an event in the API's form."""
        return cls(event["number"], event["type"], event, orjson.dumps(event))


class Waiter:
    """One reader of one game, registered from before its first read until it leaves.

    Until `place` it is only known to be coming. From then on the events after that place arrive in `take`, each once
    and in order.
    """

    __slots__ = ("_game", "_hub", "_told", "_wake", "doubted", "halted", "overflowed", "seat", "seen")

    def __init__(self, hub: Hub, game: _Game) -> None:
        self._hub = hub
        self._game = game
        self._told: deque[Told] = deque()
        self._wake = asyncio.Event()
        self.seat: str | None = None
        self.seen: int | None = None
        self.overflowed = False
        self.halted = False
        """Whether something happened that may have changed who may read; nothing after it is told before `go_on`."""
        self.doubted = False
        """Whether the right to read may have ended without an event; whoever tells this reader asks again first."""

    def place(self, after: int, seat: str | None) -> None:
        """Ask for the events after number `after`, as `seat` may see them."""
        self.seen, self.seat = after, seat
        self._hub.look(self._game)

    def go_on(self) -> None:
        """Tell what came after the event that halted this reader, who may still read."""
        self.halted = False
        self._hub.look(self._game)

    async def wait(self, seconds: float) -> None:
        """Return when there is something to take, when the reader was woken or is doubted, or after `seconds`."""
        if self._told or self.overflowed or self.doubted or self._hub.closing:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    def wake(self) -> None:
        """End a `wait` although nothing happened."""
        self._wake.set()

    def doubt(self) -> None:
        """Have it asked again whether this reader may read."""
        self.doubted = True
        self._wake.set()

    def take(self, limit: int = QUEUE_EVENTS) -> list[Told]:
        """The events that have arrived, at most `limit`, oldest first."""
        return [self._told.popleft() for _ in range(min(limit, len(self._told)))]

    def leave(self) -> None:
        """Forget this reader. May be called twice."""
        self._hub.forget(self, self._game)

    def deliver(self, rows: Sequence[log.Row], rendered: dict[tuple[int, str | None], Told]) -> None:
        """Queue those of the rows that this reader has not seen; what others of its kind were told is told again."""
        for row in rows:
            if self.seen is None or row.number <= self.seen:
                continue
            if self.halted:
                break
            if row.number > self.seen + 1:
                break  # It was placed while these were read, behind where they begin: the next read is for it.
            if len(self._told) >= QUEUE_EVENTS:
                # It reads too slowly. It is told so, and may come back with the last number that it got.
                self._told.clear()
                self.seen, self.overflowed = None, True
                break
            # Almost nobody has a part of its own: all who have none share one text.
            audience = self.seat if self.seat in row.own else None
            told = rendered.get((row.number, audience))
            if told is None:
                told = rendered[row.number, audience] = Told.of(row.seen_by(audience))
            self._told.append(told)
            self.seen = row.number
            self.halted = row.type in log.ADMISSIONS
        if self._told or self.overflowed:
            self._wake.set()


class _Game:
    """A game that somebody here waits on: who, how far it is known to have come, and the read under way."""

    __slots__ = ("hinted", "hints", "id", "reading", "waiters")

    def __init__(self, game_id: UUID) -> None:
        self.id = game_id
        self.waiters: set[Waiter] = set()
        self.hinted = 0
        self.hints = 0
        """How many hints came: by it a read knows that one came while it was under way."""
        self.reading: asyncio.Task[None] | None = None

    def behind(self) -> int | None:
        """The lowest number that a placed reader has come to, of those who miss something; None when none does."""
        missing = (w.seen for w in self.waiters if not w.halted and w.seen is not None and w.seen < self.hinted)
        return min(missing, default=None)


class Hub:
    """All readers of this process that wait.

    Args:
        in_pool: runs the reads.
    """

    def __init__(self, in_pool: InPool) -> None:
        self._loop = asyncio.get_running_loop()
        self._in_pool = in_pool
        self._games: dict[UUID, _Game] = {}
        self._tail: asyncio.Task[None] | None = None
        self._nudge = asyncio.Event()
        self.changed = asyncio.Event()
        """Set when the first reader of a game comes or its last one leaves. Whoever waits for it clears it."""
        self.closing = False

    @property
    def games(self) -> frozenset[UUID]:
        """The games that have readers who wait here."""
        return frozenset(self._games)

    def register(self, game_id: UUID) -> Waiter:
        """Announce a reader before it reads, so that nothing falls between its read and its wait."""
        game = self._games.get(game_id)
        if game is None:
            game = self._games[game_id] = _Game(game_id)
            self.changed.set()
        if self._tail is None:
            self._tail = self._loop.create_task(self._follow())
        waiter = Waiter(self, game)
        game.waiters.add(waiter)
        return waiter

    def forget(self, waiter: Waiter, game: _Game) -> None:
        """Drop a reader, and its game with the last one."""
        game.waiters.discard(waiter)
        if not game.waiters and self._games.get(game.id) is game:
            del self._games[game.id]
            self.changed.set()

    def hint(self, game_id: UUID, number: int) -> None:
        """Take note that the game has reached `number`."""
        game = self._games.get(game_id)
        if game is None:
            return
        game.hints += 1
        if number > game.hinted:
            game.hinted = number
            self.look(game)

    def doubt(self, game_id: UUID) -> None:
        """Take note that somebody may no longer read the game, although nothing happened in it."""
        game = self._games.get(game_id)
        if game is not None:
            for waiter in game.waiters:
                waiter.doubt()

    def hint_soon(self, game_id: UUID, number: int) -> None:
        """The same as `hint`, from any thread, at any time: after the loop has ended it does nothing.

        Call it after the commit. Whoever is not registered by then begins to read after it, and needs no hint.
        """
        self._soon(self.hint, game_id, number)

    def doubt_soon(self, game_id: UUID) -> None:
        """The same as `doubt`, from any thread, at any time."""
        self._soon(self.doubt, game_id)

    def _soon(self, call: Callable[..., None], game_id: UUID, *args: Any) -> None:
        if game_id not in self._games:
            return
        try:
            self._loop.call_soon_threadsafe(call, game_id, *args)
        except RuntimeError:
            logger.debug("hint_after_close", game_id=str(game_id))

    def look(self, game: _Game) -> None:
        """Read the game if a reader misses something of it and no read is under way."""
        if game.reading is None and game.behind() is not None:
            game.reading = self._loop.create_task(self._read(game))

    def read_anew(self, game_id: UUID) -> None:
        """Read the game once more for its readers: a hint of it may have been lost."""
        self.hint(game_id, UNKNOWN)

    def nudge(self) -> None:
        """Ask now how far the games have come: hints may have been lost."""
        self._nudge.set()

    def close(self) -> None:
        """Wake everybody to say goodbye; from now on nobody waits."""
        self.closing = True
        for game in self._games.values():
            for waiter in game.waiters:
                waiter.wake()

    async def stop(self) -> None:
        """Close, and end the reads under way."""
        self.close()
        tasks = [game.reading for game in self._games.values() if game.reading is not None]
        if self._tail is not None:
            tasks.append(self._tail)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, game: _Game) -> None:
        try:
            while (after := game.behind()) is not None:
                hints = game.hints
                rows = await self._in_pool(log.rows_after, game.id, after, READ_ROWS)
                if not rows:
                    if game.hints != hints:
                        continue  # what the newer hint is about may have been too late for this read
                    # The hint was ahead of what this process can see, or wrong, or there was a doubt only.
                    game.hinted = after
                    return
                rendered: dict[tuple[int, str | None], Told] = {}
                for waiter in list(game.waiters):
                    waiter.deliver(rows, rendered)
                game.hinted = max(game.hinted, rows[-1].number)
        except Exception:  # whatever it was, it is tried again in a second
            logger.warning("read_failed", game_id=str(game.id), exc_info=True)
        finally:
            game.reading = None

    async def _follow(self) -> None:
        """While anybody waits, find what no hint has told."""
        while self._games:
            try:
                async with asyncio.timeout(TAIL_SECONDS):
                    await self._nudge.wait()
            except TimeoutError:
                pass
            self._nudge.clear()
            try:
                await self._catch_up()
            except Exception:  # the database is away
                logger.warning("tail_failed", exc_info=True)
        self._tail = None

    async def _catch_up(self) -> None:
        waited_for = list(self._games)
        for start in range(0, len(waited_for), ASK_GAMES):
            numbers = await self._in_pool(log.last_numbers, waited_for[start : start + ASK_GAMES])
            for game_id, number in numbers.items():
                self.hint(game_id, number)
        for game in list(self._games.values()):
            self.look(game)  # a read that failed is made again
