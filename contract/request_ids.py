"""One id and one log line for every request."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from typing import Any, Final

import structlog
from django.http import HttpRequest, HttpResponseBase

from contract.ids import uuid7

__all__ = ["HEADER", "RequestIdMiddleware", "add_to_log", "current", "forget", "resume", "usable"]

HEADER: Final = "X-Request-Id"

_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}\Z")
_current: ContextVar[str | None] = ContextVar("request_id", default=None)
_log = structlog.get_logger("spades.http")
_stdlib_log = logging.getLogger("spades.http")


def current() -> str | None:
    """Give the id of the request (or of the task made by one) that this thread is working on."""
    return _current.get()


def usable(offered: str | None) -> str:
    """Take the caller's id if it is 8 to 64 letters, digits, dots, underscores or hyphens; make one otherwise."""
    if offered is not None and _WELL_FORMED.match(offered):
        return offered
    return uuid7().hex


def resume(request_id: str | None) -> str:
    """Work under `request_id` from here on: what this thread logs carries it. For tasks and for the event loop."""
    request_id = usable(request_id)
    _current.set(request_id)
    return request_id


def forget() -> None:
    """Work for no request any more."""
    _current.set(None)


def add_to_log(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put the id into a line that is logged; a processor of structlog."""
    request_id = _current.get()
    if request_id is not None:
        event.setdefault("request_id", request_id)
    return event


class RequestIdMiddleware:
    """Give each request an id, put it on the answer, and write one line when the answer is ready.

    The line has method, route (the pattern, so no id), status, reason of a problem and milliseconds. It never has a
    token, a body, a query or an address beyond its route: whoever reads logs learns no secret and no card.

    To be the outermost middleware. Errors inside become answers before they arrive here.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        request_id = resume(request.META.get("HTTP_X_REQUEST_ID"))
        response = self.get_response(request)
        response[HEADER] = request_id
        if _stdlib_log.isEnabledFor(logging.INFO):
            match = request.resolver_match
            reason = getattr(response, "reason", None)
            _log.info(
                "request",
                method=request.method,
                route=f"/{match.route}" if match is not None else None,
                status=response.status_code,
                ms=round((time.perf_counter() - started) * 1000, 2),
                **({"reason": reason} if reason is not None else {}),
            )
        forget()
        return response
