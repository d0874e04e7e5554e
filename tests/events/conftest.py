from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import connection

from events import log
from events.models import Event

AT = datetime(2026, 3, 1, 12, 0, 0, 250, tzinfo=UTC)


@pytest.fixture
def write_events():
    """Appends events to a game, as a writer does: `write_events(game_id, entry, ...)` gives the last number."""

    def write(game_id: UUID, *entries: log.Entry, using=connection) -> int:
        number = Event.objects.filter(game_id=game_id).count()
        sql, values = log.insertion(number + 1, entries)
        key = game_id if using.vendor == "postgresql" else game_id.hex
        with using.cursor() as cursor:
            cursor.execute(sql, {**values, "id": key, "at": using.ops.adapt_datetimefield_value(AT)})
        return number + len(entries)

    return write
