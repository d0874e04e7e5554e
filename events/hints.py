"""Hints that a game has new events, sent after the commit that wrote them.

They carry no content and prove nothing: whoever hears one reads the log. A lost hint costs a reader at most
`events.hub.TAIL_SECONDS`, so sending never fails and never holds up the sender for long. Each game has a Redis channel
of its own, and a process listens to those of the games that somebody waits for there: where nobody waits, a hint costs
nothing but its sending.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any, Final
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
"""The Redis channel that every listening process hears. With a full stop and a game's id: that game's, whose messages
are the number of its last event, in ASCII, or `DOUBT`."""

DOUBT: Final = 0
"""No event has this number: in place of one it says that somebody's right to read the game has ended."""

SEND_SECONDS: Final = 0.25
QUIET_SECONDS: Final = 2.0
"""After a failure nothing is sent for this long, so that plays do not all wait for a Redis that is away."""

IDLE_SECONDS: Final = 1.0
"""A connection that has sent nothing for this long is looked at before it is used: a server may have closed it."""

LINGER_SECONDS: Final = 30.0
"""A game's channel is heard this long after its last reader left, who usually is back at once."""

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
        self._abroad: _Sender | None = None

    def attach(self, hub: Hub | None) -> None:
        """Name the hub of this process, or None when it has stopped."""
        self._hub = hub

    def publish(self, game_id: UUID, number: int) -> None:
        """Tell whoever waits that the game has reached event `number`. Call it after the commit, from any thread."""
        hub = self._hub
        if hub is not None:
            hub.hint_soon(game_id, number)
        self._send_abroad(game_id, number)

    def doubt(self, game_id: UUID) -> None:
        """Have all who wait on the game asked again whether they may read. Call it as `publish`.

        For what is no event of the game: a token that was replaced, a link that was deleted. If the message gets lost
        between two processes, the next keep-alive asks.
        """
        hub = self._hub
        if hub is not None:
            hub.doubt_soon(game_id)
        self._send_abroad(game_id, DOUBT)

    def _send_abroad(self, game_id: UUID, number: int) -> None:
        url = settings.REDIS_URL
        if url:
            if self._abroad is None:
                self._abroad = _Sender(url)
            self._abroad.send(game_id, number)


class _Sender:
    """Sends hints over one connection to Redis, which is told not to answer: nobody waits for it after a play."""

    def __init__(self, url: str) -> None:
        self._pool = redis.ConnectionPool.from_url(
            url, socket_connect_timeout=SEND_SECONDS, socket_timeout=SEND_SECONDS, retry=_NO_RETRY
        )
        self._connection: Any = None
        self._lock = threading.Lock()
        self._quiet_until = 0.0
        self._sent_at = 0.0

    def send(self, game_id: UUID, number: int) -> None:
        """Send one hint. Never raises."""
        if time.monotonic() < self._quiet_until:
            return
        with self._lock:
            now = time.monotonic()
            if now < self._quiet_until:  # found out while this waited
                return
            try:
                if self._connection is None or (now - self._sent_at > IDLE_SECONDS and self._was_closed()):
                    self._connection = self._connect()
                self._connection.send_command("PUBLISH", f"{CHANNEL}.{game_id}", number, check_health=False)
                self._sent_at = now
            except Exception as error:  # noqa: BLE001 - no hint is worth failing a play that is committed
                self._quiet_until = time.monotonic() + QUIET_SECONDS
                self._connection = None
                logger.warning("hint_not_sent", game_id=str(game_id), number=number, error=repr(error))

    def _connect(self) -> Any:
        connection = self._pool.make_connection()
        connection.connect()
        connection.send_command("CLIENT", "REPLY", "OFF", check_health=False)
        return connection

    def _was_closed(self) -> bool:
        """Whether Redis has ended the connection: it says nothing, so all there can be to read is the end."""
        try:
            return bool(self._connection.can_read(timeout=0))
        except redis.RedisError:
            return True


_hints = Hints()
attach = _hints.attach
publish = _hints.publish
doubt = _hints.doubt


async def listen(hub: Hub) -> None:
    """Pass the hints of all processes on to `hub`, over one connection, until cancelled."""
    failures = 0
    while True:
        # Without its own retries: it would connect again in silence, and what was said meanwhile must be looked for.
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2.0, retry=_NO_ASYNC_RETRY)
        try:
            async with client, client.pubsub() as channels:
                await channels.subscribe(CHANNEL)
                failures = 0
                await _hear(hub, channels)
        except (redis.RedisError, OSError) as error:
            wait = RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)]
            failures += 1
            logger.warning("hints_lost", error=repr(error), retry_in=wait)
            await asyncio.sleep(wait)


async def _hear(hub: Hub, channels: redis.asyncio.client.PubSub) -> None:
    """Listen until the connection fails."""
    passing_on = asyncio.create_task(_pass_on(hub, channels))
    subscribing = asyncio.create_task(_subscribe(hub, channels))
    try:
        await asyncio.wait({passing_on, subscribing}, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        passing_on.cancel()
        subscribing.cancel()
        failed = await asyncio.gather(passing_on, subscribing, return_exceptions=True)
    for error in failed:
        if isinstance(error, Exception):
            raise error


async def _subscribe(hub: Hub, channels: redis.asyncio.client.PubSub) -> None:
    """Keep subscribed to the games that are waited for."""
    heard: dict[UUID, float] = {}  # with the time at which somebody was last known to wait
    while True:
        hub.changed.clear()
        now, games = time.monotonic(), hub.games
        new = games - heard.keys()
        heard |= dict.fromkeys(games, now)
        old = [game_id for game_id, then in heard.items() if then < now - LINGER_SECONDS]
        if new:
            await channels.subscribe(*map(_channel, new))
        if old:
            await channels.unsubscribe(*map(_channel, old))
            for game_id in old:
                del heard[game_id]
        try:
            async with asyncio.timeout(LINGER_SECONDS if heard else None):
                await hub.changed.wait()
        except TimeoutError:
            pass


async def _pass_on(hub: Hub, channels: redis.asyncio.client.PubSub) -> None:
    asked = False
    while True:
        message = await channels.get_message(timeout=PING_SECONDS)
        if message is not None:
            asked = False
            take(hub, message)
        elif asked:
            raise redis.TimeoutError("the subscription does not answer")
        else:
            asked = True
            await channels.ping()


def take(hub: Hub, message: dict[str, Any]) -> None:
    """Pass one message on; what is no hint is dropped."""
    if message["type"] not in {"message", "subscribe"} or message["channel"] == CHANNEL.encode():
        return
    try:
        game_id = UUID(message["channel"].decode("ascii").removeprefix(f"{CHANNEL}."))
        number = None if message["type"] == "subscribe" else int(message["data"].decode("ascii"))
    except ValueError:
        logger.warning("not_a_hint", channel=message["channel"][:80], data=str(message["data"])[:80])
        return
    if number is None:
        hub.read_anew(game_id)  # what was said before this could not be heard
    elif number == DOUBT:
        hub.doubt(game_id)
    else:
        hub.hint(game_id, number)


def _channel(game_id: UUID) -> str:
    return f"{CHANNEL}.{game_id}"
