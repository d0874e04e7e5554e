"""The log of events: rows to write, and pages of it as one reader may see them.

Redaction happens when an event is written. A reader gets the public part of each event and the part of its own seat,
for ever the same; nothing here decides who may know what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.db import connection

from events.models import Event

Part = dict[str, Any]

FORMAT: Final = 1
"""How the parts of new rows are written. Raised together with an entry in `UPGRADES`."""

UPGRADES: Final[Mapping[int, Callable[[str, Part, dict[str, Part]], tuple[Part, dict[str, Part]]]]] = MappingProxyType(
    {}
)
"""For each old format, a function of (type, public, own) to both parts in the next one. Rows stay as they are."""

COLUMNS: Final = (
    "game_id",
    "number",
    "version",
    "at",
    "type",
    "deal_number",
    "seat",
    "public",
    "own",
    "format",
)
"""The columns that a writer fills. The database gives `id` and `xid`."""

_KINDS: Final = dict(
    zip(
        COLUMNS,
        ("uuid", "integer", "integer", "timestamptz", "varchar", "integer", "varchar", "text", "text", "integer"),
        strict=True,
    )
)
"""Of each column its type on PostgreSQL, or one that fits it."""

ENDS: Final = frozenset({"game_finished", "game_aborted"})
"""Types of event after which a game has no other."""

ADMISSIONS: Final = frozenset({"seat_left", "game_started"})
"""Types of event after which who might read before perhaps may not: the seat is another's, or watching is over."""

_TABLE: Final = Event._meta.db_table
_READ: Final = ("id", "xid", *COLUMNS)
_SELECT: Final = f"SELECT {', '.join(_READ)} FROM {_TABLE}"
_PAGE: Final = f"{_SELECT} WHERE game_id = %s AND number > %s ORDER BY number LIMIT %s"

# The index by number is read from its end, so this costs as much as what happened after that time.
_VERSION_AT: Final = f"SELECT max(number) FROM {_TABLE} WHERE game_id = %s AND at <= %s"

# A row is handed out only when every transaction that began before its own has ended: then none with a smaller number
# can still appear, and the cursor may pass it.
_SETTLED: Final = "(xid, id) > (%s, %s) AND xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
_TAIL: Final = MappingProxyType(
    {
        "postgresql": f"{_SELECT} WHERE {_SETTLED} ORDER BY xid, id LIMIT %s",
        "sqlite": f"{_SELECT} WHERE %s = 0 AND id > %s ORDER BY id LIMIT %s",
    }
)
# One probe of an index for each game, however long the game is.
_LAST: Final = f"(SELECT max(number) FROM {_TABLE} WHERE game_id = asked.value)"
_LAST_NUMBERS: Final = MappingProxyType(
    {
        "postgresql": f"SELECT asked.value, {_LAST} FROM unnest(%s::uuid[]) AS asked (value)",
        "sqlite": f"SELECT asked.value, {_LAST} FROM json_each(%s) AS asked",
    }
)
_NOW: Final = MappingProxyType(
    {
        "postgresql": "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0",
        "sqlite": f"SELECT 0, coalesce(max(id), 0) FROM {_TABLE}",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event about to be written: `own` holds, by seat, what that seat learns beyond `public`."""

    type: str
    seat: str | None
    deal_number: int | None
    public: Mapping[str, Any]
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """An event as it is stored, its parts in today's format. `at` is RFC 3339 in UTC."""

    game_id: UUID
    number: int
    version: int
    at: str
    type: str
    deal_number: int | None
    seat: str | None
    public: Part
    own: dict[str, Part]

    def seen_by(self, seat: str | None) -> dict[str, Any]:
        """The event in the API's form for `seat`, or for somebody without one."""
        own = self.own.get(seat) if seat is not None else None
        return {
            "number": self.number,
            "version": self.version,
            "at": self.at,
            "type": self.type,
            "deal_number": self.deal_number,
            "seat": self.seat,
            "data": {**self.public, **own} if own else self.public,
        }


class Cursor(NamedTuple):
    """How far a reader of all games has come: transaction (0 on SQLite) and id of the last row that it got."""

    xid: int
    id: int


START: Final = Cursor(0, 0)
"""Before the first event there ever was."""


def insertion(
    first_number: int, entries: Sequence[Entry], *, for_each: str | None = None
) -> tuple[str, dict[str, Any]]:
    """The statement that inserts consecutive events, and its values but two that the caller has anyway.

    These are `id`, the game's, and `at`, the time; as the driver takes them.

    Args:
        first_number: number of the first of them, one more than the game's version.
        for_each: a table of one row or none, in which case no event is inserted. On PostgreSQL only.
    """
    values: dict[str, Any] = {"format": FORMAT}
    for place, entry in enumerate(entries):
        values[f"number_{place}"] = first_number + place
        values[f"type_{place}"] = entry.type
        values[f"deal_{place}"] = entry.deal_number
        values[f"seat_{place}"] = entry.seat
        values[f"public_{place}"] = orjson.dumps(entry.public).decode()
        values[f"own_{place}"] = orjson.dumps(entry.own).decode() if entry.own else "{}"
    return _insert(len(entries), for_each), values


@lru_cache(maxsize=64)
def _insert(rows: int, for_each: str | None) -> str:
    insert = f"INSERT INTO {_TABLE} ({', '.join(COLUMNS)})"
    row = (
        "(%(id)s, %(number_{0})s, %(number_{0})s, %(at)s, %(type_{0})s, %(deal_{0})s, %(seat_{0})s, "
        "%(public_{0})s, %(own_{0})s, %(format)s)"
    )
    values = ", ".join([row.format(number) for number in range(rows)])
    if for_each is None:
        return f"{insert} VALUES {values}"
    # The rows of a join take no types from the table that they go to.
    typed = ", ".join([f"new.{name}::{kind}" for name, kind in _KINDS.items()])
    return f"{insert} SELECT {typed} FROM {for_each} CROSS JOIN (VALUES {values}) AS new ({', '.join(COLUMNS)})"


def rows_after(game_id: UUID, after: int, limit: int) -> list[Row]:
    """The events of a game that follow number `after`, oldest first, at most `limit`."""
    with connection.cursor() as cursor:
        cursor.execute(_PAGE, (_key(game_id), after, limit))
        return [_row(values) for values in cursor.fetchall()]


def page(game_id: UUID, after: int, limit: int, seat: str | None) -> list[dict[str, Any]]:
    """The same as `rows_after`, each event as `seat` may see it."""
    return [row.seen_by(seat) for row in rows_after(game_id, after, limit)]


def version_at(game_id: UUID, at: datetime) -> int:
    """The number of a game's last event that happened no later than `at`; 0 before the first."""
    moment = connection.ops.adapt_datetimefield_value(at)
    with connection.cursor() as cursor:
        cursor.execute(_VERSION_AT, (_key(game_id), moment))
        return cursor.fetchone()[0] or 0


def versions_at(moments: Mapping[UUID, datetime]) -> dict[UUID, int]:
    """The same for several games, each at a time of its own, in one statement."""
    if not moments:
        return {}
    games = list(moments)
    sql = " UNION ALL ".join(f"SELECT {place}, {_VERSION_AT.removeprefix('SELECT ')}" for place in range(len(games)))
    values = [(_key(game_id), connection.ops.adapt_datetimefield_value(moments[game_id])) for game_id in games]
    with connection.cursor() as cursor:
        cursor.execute(sql, [value for pair in values for value in pair])
        return {games[place]: number or 0 for place, number in cursor.fetchall()}


def time_of(game_id: UUID, number: int) -> datetime | None:
    """When an event of a game happened; None when there is none of that number."""
    return Event.objects.filter(game_id=game_id, number=number).values_list("at", flat=True).first()


def body(items: Sequence[Mapping[str, Any]], *, after: int, limit: int, version: int) -> dict[str, Any]:
    """The answer to somebody who asked for at most `limit` events after number `after`.

    Args:
        version: the game's version when the items were read.

    Returns:
        `next` is the number to ask after for what this page had no room for, as text, or None when the page ends where
        the game stands now.
    """
    last = items[-1]["number"] if items else after
    return {"items": items, "next": str(last) if len(items) >= limit and last < version else None, "version": version}


def tail(cursor: Cursor, limit: int) -> tuple[list[Row], Cursor]:
    """The events of all games that follow `cursor`, each exactly once, at most `limit`, and the cursor behind them.

    On PostgreSQL numbers of transactions and ids are given out before a commit, so a row may appear behind others that
    are larger. Rows are therefore read in the order of (transaction, id) and only below the oldest transaction still
    running: a late commit delays the tail, and is never missed. SQLite commits in the order of ids.

    Numbers of transactions mean something within one cluster only. After restoring a dump into another one, start the
    readers anew from `now()` once its transactions have passed the largest `xid` in the table.
    """
    with connection.cursor() as db:
        db.execute(_TAIL[connection.vendor], (*cursor, limit))
        found = db.fetchall()
    if found:
        cursor = Cursor(found[-1][1] or 0, found[-1][0])
    return [_row(values) for values in found], cursor


def last_numbers(game_ids: Sequence[UUID]) -> dict[UUID, int]:
    """The number of the last event of each of these games that has any."""
    keys: Any = [_key(game_id) for game_id in game_ids]
    if connection.vendor == "sqlite":
        keys = orjson.dumps(keys).decode()
    with connection.cursor() as db:
        db.execute(_LAST_NUMBERS[connection.vendor], (keys,))
        return {_uuid(game_id): number for game_id, number in db.fetchall() if number is not None}


def now() -> Cursor:
    """A cursor behind everything that a reader starting now can already see."""
    with connection.cursor() as db:
        db.execute(_NOW[connection.vendor])
        xid, last = db.fetchone()
    # No row that is yet to be settled has a smaller transaction than the oldest running one.
    return Cursor(xid, last)


def _row(values: Sequence[Any]) -> Row:
    _, _, game_id, number, version, at, type_, deal_number, seat, public_text, own_text, format_ = values
    public, own = orjson.loads(public_text), orjson.loads(own_text)
    while format_ < FORMAT:
        public, own = UPGRADES[format_](type_, public, own)
        format_ += 1
    return Row(_uuid(game_id), number, version, _time(at), type_, deal_number, seat, public, own)


def _key(game_id: UUID) -> Any:
    """A game's id as the driver takes it."""
    return game_id if connection.features.has_native_uuid_field else game_id.hex


def _uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def _time(value: datetime | str) -> str:
    """A time as read by the driver, an object or SQLite's text in UTC, written as RFC 3339 has it."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value).replace(tzinfo=UTC)
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
