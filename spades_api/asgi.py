"""The one ASGI callable: readers who wait stay on the event loop, everything else is Django in a pool of threads."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished
from django.db import close_old_connections

# An ASGI server imports this module first of all, and models can be imported only after this.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "spades_api.settings")
if not apps.ready:
    django.setup(set_prefix=False)

from events import hints
from events.hub import Hub
from events.stream import Receive, Scope, Send, Streams, game_waited_for
from spades_api.bridge import Bridge, Pool


class Application:
    """The service, to be run by an ASGI server that supports lifespan.

    Raises:
        ImproperlyConfigured: there is no SECRET_KEY.
    """

    def __init__(self) -> None:
        settings.SECRET_KEY  # noqa: B018 - reading it raises when it is empty, and without one nothing starts
        self._handler = WSGIHandler()
        # The pool's threads look after their connections themselves, for a fifth of what these cost; caches have
        # nothing to close.
        request_finished.disconnect(close_old_connections)
        request_finished.disconnect(close_caches)
        self._pool: Pool
        self._bridge: Bridge
        self._hub: Hub
        self._streams: Streams
        self._listening: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Speak ASGI."""
        if scope["type"] == "http":
            game_id = game_waited_for(scope)
            if game_id is None:
                await self._bridge(scope, receive, send)
            else:
                await self._streams(game_id, scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # lifespan.startup
        self._pool = Pool(settings.THREADS)
        self._bridge = Bridge(self._handler, self._pool)
        self._hub = Hub(self._pool.run)
        self._streams = Streams(self._hub, self._bridge.ask, self._pool.run)
        hints.attach(self._hub)
        if settings.REDIS_URL:
            self._listening = asyncio.get_running_loop().create_task(hints.listen(self._hub))
        # What is loaded by now stays: the collector of garbage need not look through it in the middle of requests.
        gc.collect()
        gc.freeze()
        # A server says lifespan.shutdown when no request is left, so those who wait must be answered before.
        with told_to_stop(self._hub.close):
            await send({"type": "lifespan.startup.complete"})
            await receive()  # lifespan.shutdown
        hints.attach(None)
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self._hub.stop()
        await self._pool.close()
        await send({"type": "lifespan.shutdown.complete"})


@contextmanager
def told_to_stop(then: Callable[[], None]) -> Generator[None, None, None]:
    """Call `then` on the running loop when a signal tells the server to stop, beside what the server does about it.

    Only signals that the server has taken are listened to. Whether it took them through its loop, which learns of them
    by the wakeup descriptor of `signal`, or by a handler, which is called from here: it still gets them.
    """
    loop = asyncio.get_running_loop()
    taken: dict[signal.Signals, Callable[[int, FrameType | None], Any]] = {}

    def tell(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(then)
        taken[signal.Signals(number)](number, frame)

    if threading.current_thread() is threading.main_thread():  # no other may set handlers
        for number in (signal.SIGTERM, signal.SIGINT):
            handler = signal.getsignal(number)
            if callable(handler) and handler is not signal.default_int_handler:
                taken[number] = handler
                signal.signal(number, tell)
    try:
        yield
    finally:
        for number, handler in taken.items():
            if signal.getsignal(number) is tell:
                signal.signal(number, handler)


application = Application()
