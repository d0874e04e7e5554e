"""Whether one process of the service does its work, as an exit status: what a container engine runs inside a container.

    python -m spades_api.healthcheck web PORT    /readyz answers 200
    python -m spades_api.healthcheck worker      the worker of this host answers a ping over the broker
    python -m spades_api.healthcheck beat        the beat has sent a task within the last half minute

Status 1 and a sentence on standard error otherwise. Django is not started, since that takes longer than to ask.
"""

from __future__ import annotations

import http.client
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from celery import Celery

from spades_api import transport

__all__ = ["main"]

SECONDS: Final = 5.0
"""How long an answer may take."""

BEAT_SECONDS: Final = 30.0
"""How long the beat may be silent; it sweeps every two seconds."""


class Unhealthy(Exception):
    """The process does not do its work."""


def web(port: str) -> None:
    """Ask the server at `port` of this host whether it is ready, under a name by which it may be asked."""
    names = [name.strip().removeprefix(".") for name in os.environ.get("ALLOWED_HOSTS", "").split(",")]
    name = next((name for name in names if name not in {"", "*"}), "localhost")
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=SECONDS)
    try:
        connection.request("GET", "/readyz", headers={"Host": name})
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Unhealthy(f"The server does not answer: {error!r}") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise Unhealthy(f"The server answers {answer.status}: {body.decode(errors='replace')}")


def worker() -> None:
    """Ask the worker of this host, by the name that Celery gives it."""
    transport.register()
    broker = os.environ.get("BROKER_URL") or os.environ.get("REDIS_URL")
    name = f"celery@{socket.gethostname()}"
    try:
        answers = Celery(broker=broker).control.ping(destination=[name], timeout=SECONDS, limit=1)
    except Exception as error:
        raise Unhealthy(f"The broker cannot be asked: {error!r}") from error
    if answers != [{name: {"ok": "pong"}}]:
        raise Unhealthy(f"{name} does not answer.")


def beat() -> None:
    """Look when the beat has last touched its file."""
    path = Path(os.environ["HEARTBEAT_FILE"])
    try:
        age = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        raise Unhealthy("The beat has sent no task yet.") from None
    if age > BEAT_SECONDS:
        raise Unhealthy(f"The beat has sent no task for {age:.0f} s.")


CHECKS: Final[Mapping[str, Callable[..., None]]] = {"web": web, "worker": worker, "beat": beat}


def main(arguments: Sequence[str]) -> int:
    """Run the check that is named; gives the exit status."""
    try:
        CHECKS[arguments[0]](*arguments[1:])
    except Unhealthy as error:
        print(error, file=sys.stderr)  # noqa: T201 - the engine keeps it with the state of the container
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
