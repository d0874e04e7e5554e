"""kombu's transport for Redis, for workers that outlive their connection to it.

With kombu 5.7 a worker that holds tasks while Redis goes away ends with "Unrecoverable error": the channel that is
closed wants to give back what it held, tasks that end later are acknowledged to it, and both then look for the address
of a connection that is no more. Nothing needs to be given back by hand: after the visibility timeout Redis has it for
another worker, and the sweep wakes the games concerned before that.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis
from redis.exceptions import ConnectionError as RedisConnectionError


class QoS(redis.QoS):
    """Fails for a channel that is closed as it does for a connection that broke, which workers are ready for."""

    def ack(self, delivery_tag: str) -> None:
        """The work is done.

        Raises:
            redis.exceptions.ConnectionError: the channel is closed. Somebody else gets the task, and finds it done.
        """
        self._require_open()
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """The work is refused. Raises as `ack`."""
        self._require_open()
        super().reject(delivery_tag, requeue=requeue)

    def _require_open(self) -> None:
        connection = self.channel.connection
        if connection is None or connection.client is None:
            raise RedisConnectionError("the channel is closed")


class Channel(redis.Channel):
    """A channel that leaves what it has taken and not acknowledged to the visibility timeout."""

    QoS: Any = QoS
    do_restore = False


class Transport(redis.Transport):
    """The same with these channels."""

    Channel: Any = Channel
