from __future__ import annotations

import json
import logging
from typing import Any

import psycopg.errors
import structlog
from django.conf import settings
from django.db import IntegrityError

REFUSED = """new row for relation "games_game" violates check constraint "game_version"
DETAIL:  Failing row contains (7, {"hands": {"A": ["QH"]}}, 945045fc8a499c4c)."""


def written(**record: Any) -> dict[str, Any]:
    """A record of the standard library's logging as the service writes it."""
    options = settings.LOGGING["formatters"]["json"]
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=options["processors"], foreign_pre_chain=options["foreign_pre_chain"]
    )
    given = {"name": "celery.worker", "level": logging.ERROR, "pathname": "", "lineno": 1, "args": (), **record}
    line: dict[str, Any] = json.loads(formatter.format(logging.LogRecord(**given)))
    return line


def test_a_row_that_the_database_refused_is_not_logged():
    error = IntegrityError(REFUSED)
    error.__cause__ = psycopg.errors.CheckViolation(REFUSED)

    line = written(msg="task failed", exc_info=(type(error), error, None))

    text = json.dumps(line)
    assert line["exception"].count("DETAIL: left out") == 2
    assert "game_version" in text
    assert "QH" not in text
    assert "945045fc8a499c4c" not in text
