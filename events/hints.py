"""Hints that a game has new events, sent after the commit that wrote them.

They carry no content and prove nothing: whoever hears one reads the log. A lost hint costs a reader at most
`events.hub.TAIL_SECONDS`, so sending never fails and never holds up the sender for long.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final
from uuid import UUID

import redis
import redis.asyncio
import structlog
from django.conf import settings
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from events.hub import Hub

CHANNEL: Final = "spades.events"
"""The Redis channel of all processes. A message is `game_id:number` in ASCII."""

SEND_SECONDS: Final = 0.25
QUIET_SECONDS: Final = 2.0
"""After a failure nothing is sent for this long, so that plays do not all wait for a Redis that is away."""

RETRY_SECONDS: Final = (0.1, 0.5, 1.0, 2.0, 5.0)
PING_SECONDS: Final = 15.0
"""How long a subscription may be silent before it is tried, and how long it may then take to answer."""

_NO_RETRY: Final = Retry(NoBackoff(), 0)
_NO_ASYNC_RETRY: Final = AsyncRetry(NoBackoff(), 0)

logger = structlog.get_logger(__name__)


class Hints:
    """Where this process sends hints: to its own hub, if it has one, and to other processes, if there is a Redis."""

    def __init__(self) -> None:
        self._hub: Hub | None = None
        self._redis: redis.Redis | None = None
        self._quiet_until = 0.0

    def attach(self, hub: Hub | None) -> None:
        """Name the hub of this process, or None when it has stopped."""
        self._hub = hub

    def publish(self, game_id: UUID, number: int) -> None:
        """Tell whoever waits that the game has reached event `number`. Call it after the commit, from any thread."""
        hub = self._hub
        if hub is not None:
            hub.hint_soon(game_id, number)
        if settings.REDIS_URL and time.monotonic() >= self._quiet_until:
            self._publish_abroad(game_id, number)

    def _publish_abroad(self, game_id: UUID, number: int) -> None:
        try:
            if self._redis is None:
                self._redis = redis.Redis.from_url(
                    settings.REDIS_URL,
                    socket_connect_timeout=SEND_SECONDS,
                    socket_timeout=SEND_SECONDS,
                    retry=_NO_RETRY,
                )
            self._redis.publish(CHANNEL, f"{game_id}:{number}")
        except Exception as error:  # noqa: BLE001 - no hint is worth failing a play that is committed
            self._quiet_until = time.monotonic() + QUIET_SECONDS
            logger.warning("hint_not_sent", game_id=str(game_id), number=number, error=repr(error))


_hints = Hints()
attach = _hints.attach
publish = _hints.publish


async def listen(hub: Hub) -> None:
    """Pass the hints of all processes on to `hub`, over one connection, until cancelled."""
    failures = 0
    while True:
        # Without its own retries: it would connect again in silence, and what was said meanwhile must be looked for.
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2.0, retry=_NO_ASYNC_RETRY)
        try:
            async with client, client.pubsub(ignore_subscribe_messages=True) as channel:
                await channel.subscribe(CHANNEL)
                failures = 0
                hub.nudge()
                await _pass_on(hub, channel)
        except (redis.RedisError, OSError) as error:
            wait = RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)]
            failures += 1
            logger.warning("hints_lost", error=repr(error), retry_in=wait)
            await asyncio.sleep(wait)


async def _pass_on(hub: Hub, channel: redis.asyncio.client.PubSub) -> None:
    asked = False
    while True:
        message = await channel.get_message(timeout=PING_SECONDS)
        if message is not None:
            asked = False
            if message["type"] == "message":
                take(hub, message["data"])
        elif asked:
            raise redis.TimeoutError("the subscription does not answer")
        else:
            asked = True
            await channel.ping()


def take(hub: Hub, data: bytes) -> None:
    """Pass one message on; what is no hint is dropped."""
    try:
        game_id, _, number = data.decode("ascii").partition(":")
        hub.hint(UUID(game_id), int(number))
    except ValueError:
        logger.warning("not_a_hint", data=data[:80])
