"""A kombu transport for one process: `embedded://`.

Queues live in this process's memory. Whoever sends wakes the consumer at once: kombu's own in-process transport looks
once a second. What is in the queues is lost with the process, so nothing here is a record of work to do; the games'
tables are, and a sweep at the start finds what was lost.
"""

from __future__ import annotations

import threading
from collections import deque
from queue import Empty
from typing import Any, Final

from kombu.transport import TRANSPORT_ALIASES, base, virtual


class Queues:
    """Named first-in-first-out queues, the messages taken from them but not done with, and a way to wait for either."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, deque[dict[str, Any]]] = {}
        self._taken: set[str] = set()
        self._awaited: set[str] = set()
        self._pulse = 0

    @property
    def pulse(self) -> int:
        """A number that grows with everything that a consumer would want to know."""
        return self._pulse

    def put(self, queue: str, message: dict[str, Any], *, first: bool = False) -> None:
        """Add a message at the end, or give one back to the front, and wake the consumers."""
        with self._changed:
            self._taken.discard(_tag(message))
            waiting = self._waiting.setdefault(queue, deque())
            if first:
                waiting.appendleft(message)
            else:
                waiting.append(message)
            self._beat()

    def get(self, queue: str) -> dict[str, Any]:
        """Take the oldest message; it counts as being worked on until `done`.

        Raises:
            Empty: there is none.
        """
        with self._changed:
            waiting = self._waiting.get(queue)
            if not waiting:
                raise Empty
            message = waiting.popleft()
            self._taken.add(_tag(message))
            return message

    def done(self, tag: str) -> None:
        """A message that was taken needs no more work."""
        with self._changed:
            self._taken.discard(tag)
            self._awaited.discard(tag)
            self._beat()

    def wait(self, seen: int, seconds: float | None) -> bool:
        """Wait until `pulse` is another than `seen`; False when `seconds` pass first."""
        with self._changed:
            return self._changed.wait_for(lambda: self._pulse != seen, seconds)

    def wake(self) -> None:
        """End every `wait`."""
        with self._changed:
            self._beat()

    def size(self, queue: str) -> int:
        """How many messages wait in a queue."""
        return len(self._waiting.get(queue, ()))

    def clear(self, queue: str) -> int:
        """Drop what waits in a queue, and say how much that was."""
        with self._changed:
            dropped = self._waiting.pop(queue, ())
            self._awaited.difference_update(map(_tag, dropped))
            self._beat()
            return len(dropped)

    def finish(self, seconds: float) -> int:
        """Wait until all that is here now is done, not what is added meanwhile. Returns how much of it is left."""
        with self._changed:
            self._awaited = {_tag(message) for waiting in self._waiting.values() for message in waiting} | self._taken
            self._changed.wait_for(lambda: not self._awaited, seconds)
            return len(self._awaited)

    def _beat(self) -> None:
        self._pulse += 1
        self._changed.notify_all()


queues: Final = Queues()
"""The queues of this process."""


def _tag(message: dict[str, Any]) -> str:
    tag: str = message["properties"]["delivery_tag"]
    return tag


class QoS(virtual.QoS):
    """Tells the queues when a message is done with."""

    def ack(self, delivery_tag: str) -> None:
        """The work is done."""
        super().ack(delivery_tag)
        queues.done(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """The work is refused, for good or to be given to another."""
        super().reject(delivery_tag, requeue=requeue)
        if not requeue:
            queues.done(delivery_tag)


class Channel(virtual.Channel):
    """A channel of one thread; what it has taken and not acknowledged goes back to the front when it closes."""

    QoS = QoS
    do_restore = True
    supports_fanout = False

    def _has_queue(self, queue: str, **_: Any) -> bool:
        return True

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        queues.put(queue, message)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        return queues.get(queue)

    def _size(self, queue: str) -> int:
        return queues.size(queue)

    def _purge(self, queue: str) -> int:
        return queues.clear(queue)

    def _restore(self, message: virtual.Message) -> None:
        payload = message.serializable()
        payload["redelivered"] = True
        info = message.delivery_info
        for queue in self._lookup(info["exchange"], info["routing_key"]):
            queues.put(queue, payload, first=True)


class Transport(virtual.Transport):
    """All connections of the process share exchanges, bindings and queues."""

    Channel = Channel
    state = virtual.BrokerState()
    implements = base.Transport.implements.extend(
        asynchronous=False, exchange_type=frozenset({"direct"}), heartbeats=False
    )
    driver_type = driver_name = "embedded"
    cycle: Any

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        self.state = Transport.state

    def driver_version(self) -> str:
        return "1"

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Deliver one message, as soon as there is one.

        Raises:
            TimeoutError: none came in `timeout` seconds, or something else changed that the caller may want to see.
        """
        woken = False
        while True:
            seen = queues.pulse
            try:
                self.cycle.get(self._deliver, timeout=timeout)
                return
            except Empty:
                if (woken and timeout is not None) or not queues.wait(seen, timeout):
                    raise TimeoutError from None
                woken = True


def register() -> None:
    """Let kombu know what `embedded://` is, and that `redis://` is the one whose workers outlive their connection."""
    TRANSPORT_ALIASES["embedded"] = f"{__name__}:{Transport.__name__}"
    TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "spades_api.redis_transport:Transport"
