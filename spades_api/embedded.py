"""The worker and the beat inside the process that serves, for the embedded default.

Started by the command `serve` and by nothing else. The worker is one thread: bots take turns, and on SQLite there is
one writer anyway.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import structlog
from celery import Celery, beat
from celery.worker import WorkController, state
from django.db import connections

from spades_api.transport import queues

SWEEP: Final = "games.sweep"
DRAIN_SECONDS: Final = 10.0
STOP_SECONDS: Final = 10.0
RESTART_SECONDS: Final = 1.0

logger = structlog.get_logger(__name__)


class EmbeddedWorker:
    """A Celery worker and a beat in threads of this process.

    Args:
        first: name of the task that finds what a process before this one has left undone.
    """

    def __init__(self, app: Celery, first: str = SWEEP) -> None:
        self._app = app
        self._first = first
        self._ready = threading.Event()
        self._stopping = threading.Event()
        self._worker = threading.Thread(target=self._work, name="worker", daemon=True)
        self._beat = threading.Thread(target=self._tick, name="beat", daemon=True)

    def start(self) -> None:
        """Begin to work, first of all on what was left undone."""
        state.should_stop = None
        self._app.send_task(self._first)
        self._worker.start()
        self._beat.start()

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait until the worker takes tasks; False when it does not in time."""
        return self._ready.wait(seconds)

    @property
    def alive(self) -> bool:
        """Whether the worker is there."""
        return self._worker.is_alive()

    def check(self) -> None:
        """Say nothing when the worker takes tasks.

        Raises:
            RuntimeError: it does not.
        """
        if not (self.alive and self._ready.is_set()):
            raise RuntimeError("the worker takes no tasks")

    def stop(self) -> None:
        """Finish the tasks that are queued now, then end both threads.

        Tasks that are queued while those are being finished, such as the next turn of a bot against a bot, are dropped:
        the sweep at the next start finds their games.
        """
        self._stopping.set()
        left = queues.finish(DRAIN_SECONDS) if self._worker.is_alive() else 0
        if left:
            logger.warning("tasks_dropped", tasks=left)
        state.should_stop = 0
        deadline = time.monotonic() + STOP_SECONDS
        while self._worker.is_alive() and time.monotonic() < deadline:
            queues.wake()
            self._worker.join(0.05)
        if self._worker.is_alive():
            logger.warning("worker_left_behind")

    def _work(self) -> None:
        self._app.set_current()
        while not self._stopping.is_set():
            try:
                # The one in celery.apps would install signal handlers, which only the main thread may.
                worker = WorkController(
                    app=self._app,
                    hostname="embedded@localhost",
                    pool_cls="solo",
                    concurrency=1,
                    without_heartbeat=True,
                    without_mingle=True,
                    without_gossip=True,
                    ready_callback=self._is_ready,
                )
                worker.start()
            except Exception:  # no bot moves without a worker, so there is another
                logger.exception("worker_failed")
            self._ready.clear()
            connections.close_all()
            if not self._stopping.wait(RESTART_SECONDS):
                logger.error("worker_started_again")

    def _is_ready(self, _: Any) -> None:
        self._ready.set()

    def _tick(self) -> None:
        schedule = beat.Scheduler(app=self._app)
        while not self._stopping.is_set():
            try:
                pause = schedule.tick()
            except Exception:  # the next tick may do better
                logger.exception("beat_failed")
                pause = 1.0
            self._stopping.wait(min(pause, 60.0))
