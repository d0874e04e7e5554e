from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import connection

from events import log
from events.models import Event

INSERT = (
    f"INSERT INTO {Event._meta.db_table} ({', '.join(log.COLUMNS)}) VALUES ({', '.join(['%s'] * len(log.COLUMNS))})"
)
AT = datetime(2026, 3, 1, 12, 0, 0, 250, tzinfo=UTC)


@pytest.fixture
def write_events():
    """Appends events to a game, as a writer does: `write_events(game_id, entry, ...)` gives the last number."""

    def write(game_id: UUID, *entries: log.Entry, using=connection) -> int:
        number = Event.objects.filter(game_id=game_id).count()
        rows = log.insert_rows(game_id, number + 1, AT, entries)
        with using.cursor() as cursor:
            cursor.executemany(INSERT, rows)
        return number + len(entries)

    return write
