"""Whether the process is alive, and whether it can do its work."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import structlog
from celery import current_app
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from contract.endpoint import answer
from contract.problems import ContractReason, Problem
from games import store

logger = structlog.get_logger(__name__)

STALE: Final = timedelta(seconds=60)
"""How long a bot may be on turn: a move takes milliseconds, and the sweep looks after lost wakes every two seconds."""

Check = Callable[[], None]
"""Raises when something is wrong; the exception goes to the log, not to the client."""


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _broker() -> None:
    if settings.EMBEDDED:
        return  # in this process, and as alive as it
    with current_app.connection_for_write(transport_options=settings.CELERY_BROKER_TRANSPORT_OPTIONS) as broker:
        broker.ensure_connection(max_retries=0, timeout=1)


def _bot_turns() -> None:
    if store.bots_due(timezone.now() - STALE, 1):
        raise RuntimeError(f"a bot has been on turn for more than {STALE.total_seconds():.0f} s: is there a worker?")


CHECKS: Final[dict[str, Check]] = {"database": _database, "broker": _broker, "bot_turns": _bot_turns}
"""What `/readyz` tries, by the name under which the answer tells of it."""


def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return answer({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """Everything that a game needs can be reached. 503 otherwise, so that a load balancer asks elsewhere."""
    failed = []
    for name, check in CHECKS.items():
        try:
            check()
        except Exception as error:  # noqa: BLE001 - whatever it is, the service is not ready
            logger.warning("not_ready", check=name, error=repr(error))
            failed.append(name)
    if failed:
        return Problem(ContractReason.UNAVAILABLE, f"Not ready: {', '.join(failed)}.").response()
    return answer({"status": "ready", "checks": dict.fromkeys(CHECKS, "ok")})
