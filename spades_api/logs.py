"""Logs: one JSON object a line on standard error, for structlog's loggers and for everybody else's."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any, Final

import orjson
import structlog

from contract import request_ids

_DETAIL: Final = re.compile(r"^DETAIL: .*$", re.MULTILINE)


def leave_out_rows(logger: Any, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Leave out of a traceback what PostgreSQL says in detail: the row that it refused, hands and seeds included."""
    if "exception" in event:
        event["exception"] = _DETAIL.sub("DETAIL: left out", str(event["exception"]))
    return event


_SHARED: Final[list[Any]] = [
    structlog.contextvars.merge_contextvars,
    request_ids.add_to_log,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    structlog.processors.format_exc_info,
    leave_out_rows,
]

QUIET: Final = {
    # A line for each task and each refused request would cost more than the work.
    "celery.app.trace": "WARNING",
    "celery.worker.strategy": "WARNING",
    "celery.beat": "WARNING",
    # Its lines hold the whole address with the query; `spades.http` and `spades.problems` log the same without.
    "django.request": "CRITICAL",
    "django.security": "CRITICAL",
    "uvicorn.error": "WARNING",
}


def configure(level: str) -> dict[str, Any]:
    """Set structlog up, and return Django's LOGGING for the rest."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.JSONRenderer(serializer=_dumps),
                ],
            },
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            **{name: {"level": quiet} for name, quiet in QUIET.items()},
        },
    }


def _dumps(event: dict[str, Any], **_: Any) -> str:
    return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
