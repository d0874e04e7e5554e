"""The hot path: one read, locked or not, and one write. The only hand-written SQL of the app.

`read` finds out who is asking and locks the table, if asked to, in one statement. Everything that decides about an
action (who sits where, the match, the version) stands in the one row that is locked: on PostgreSQL a statement that
waited for a lock sees the newest version of the locked row only, and an older one of every other row that it joined.

`write` puts the new row, the action and its events into one statement on PostgreSQL, and into three on SQLite, which
has no statement of that kind and whose writers take turns anyway. `write_unlocked`, on PostgreSQL alone, does the same
for a row that was read without a lock, if it has not changed since: then nothing needs a transaction around the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import connection

from accounts.bearer import Bearer
from accounts.models import Token
from events import log
from events.log import Entry
from games.models import Action, Deal, Game, Seat, WatchLink

__all__ = ["WRITES_UNLOCKED", "DealRow", "GameRow", "Occupant", "Outcome", "Reading", "Unauthenticated", "Unknown"]

_POSTGRESQL: Final = connection.vendor == "postgresql"
WRITES_UNLOCKED: Final = _POSTGRESQL
"""Whether there is `write_unlocked`."""

_GAME, _SEAT, _DEAL, _ACTION, _WATCH_LINK, _TOKEN = (
    model._meta.db_table for model in (Game, Seat, Deal, Action, WatchLink, Token)
)

_GAME_COLUMNS = (
    "id",
    "created_at",
    "version",
    "status",
    "host_id",
    "visibility",
    "spectators",
    "spectator_delay",
    "start",
    "seating",
    "hot_seat",
    "sandbox",
    "rematch_of_id",
    "preset",
    "ruleset",
    "ruleset_hash",
    "engine",
    "occupants",
    "open_seats",
    "state",
    "turn_seat",
    "bot_due_at",
    "deadline",
    "result",
    "started_at",
    "finished_at",
)
_TIMES = ("created_at", "bot_due_at", "deadline", "started_at", "finished_at")
# Times as text: those that stay are then read once, not for every action of a game.
_AS_TEXT = "::text" if _POSTGRESQL else ""
_SELECT_GAME = ", ".join(f"g.{name}{_AS_TEXT}" if name in _TIMES else f"g.{name}" for name in _GAME_COLUMNS)
_BY_SEAT_TOKEN = (
    f"SELECT {_SELECT_GAME}, s.seat, s.account_id, NULL FROM {_SEAT} s JOIN {_GAME} g ON g.id = s.game_id "
    "WHERE s.token_digest = %s AND g.id = %s"
)
_BY_ACCOUNT_TOKEN = (
    f"SELECT {_SELECT_GAME}, NULL, t.account_id, t.scopes FROM {_TOKEN} t CROSS JOIN {_GAME} g "
    "WHERE t.digest = %s AND t.revoked_at IS NULL AND g.id = %s"
)
_BY_WATCH_LINK = (
    f"SELECT {_SELECT_GAME}, NULL, NULL, NULL FROM {_WATCH_LINK} w JOIN {_GAME} g ON g.id = w.game_id "
    "WHERE w.token_digest = %s AND (w.expires_at IS NULL OR w.expires_at > %s) AND g.id = %s"
)
_BY_ID = f"SELECT {_SELECT_GAME} FROM {_GAME} g WHERE g.id = %s"
_BY_TOKEN = {"sps": _BY_SEAT_TOKEN, "spk": _BY_ACCOUNT_TOKEN, "spw": _BY_WATCH_LINK}
_TOKEN_EXISTS = {
    "sps": f"SELECT 1 FROM {_SEAT} WHERE token_digest = %s",
    "spk": f"SELECT 1 FROM {_TOKEN} WHERE digest = %s AND revoked_at IS NULL",
    "spw": f"SELECT 1 FROM {_WATCH_LINK} WHERE token_digest = %s AND (expires_at IS NULL OR expires_at > %s)",
}
_SELECT_DEALS = (
    f"SELECT number, attempt, seed, commitment, client_seeds, dealer, layout FROM {_DEAL} WHERE game_id = %s"
)
_ACTION_COLUMNS = ("game_id", "version", "deal_number", "seat", "input", "at")
# Named, since a value that stands in several places is sent once.
_INSERT_ACTION_ROW = f"INSERT INTO {_ACTION} ({', '.join(_ACTION_COLUMNS)})"
_ACTION_VALUES = "%(id)s, %(version)s, %(deal_number)s, %(seat)s, %(input)s, %(at)s"
_INSERT_ACTION = f"{_INSERT_ACTION_ROW} VALUES ({_ACTION_VALUES})"
_INSERT_ACTION_IF_CHANGED = f"{_INSERT_ACTION_ROW} SELECT {_ACTION_VALUES} FROM changed"


class Unauthenticated(Exception):
    """No token in force has this digest."""


class Unknown(Exception):
    """There is no such game, or the token is a seat's at another one."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """Who sits in one seat: `kind` is ``open``, ``human`` or ``bot``."""

    seat: str
    kind: str = "open"
    name: str | None = None
    account_id: UUID | None = None
    bot: str | None = None
    token_digest: str | None = None
    """Of the token that acts for the seat. It stands here, in the row that is locked, as well as in `Seat`."""

    def to_row(self) -> dict[str, Any]:
        """The form in the column `occupants`."""
        account = self.account_id.hex if self.account_id else None
        return {
            "seat": self.seat,
            "kind": self.kind,
            "name": self.name,
            "account": account,
            "bot": self.bot,
            "token": self.token_digest,
        }


@dataclass(frozen=True, slots=True)
class GameRow:
    """A game as its row has it, texts not yet read."""

    id: UUID
    created_at: datetime
    version: int
    status: str
    host_id: UUID
    visibility: str
    spectators: str
    spectator_delay: int
    start: str
    seating: str
    hot_seat: bool
    sandbox: bool
    rematch_of_id: UUID | None
    preset: str
    ruleset: str
    ruleset_hash: str
    engine: int
    occupants: tuple[Occupant, ...]
    open_seats: int
    state: str
    turn_seat: str | None
    bot_due_at: datetime | None
    deadline: datetime | None
    result: str | None
    started_at: datetime | None
    finished_at: datetime | None

    def occupant(self, seat: str) -> Occupant | None:
        """Who sits in a seat; None when the table has no such seat."""
        return next((occupant for occupant in self.occupants if occupant.seat == seat), None)


@dataclass(frozen=True, slots=True)
class Reading:
    """A game, and who read it: the account behind the token, its scopes, and the seat if the token is a seat's.

    By a watch link it is nobody: all three are None.
    """

    game: GameRow
    account_id: UUID | None
    scopes: frozenset[str] | None
    """None for a seat's token, which may do what its seat may, and for a watch link."""
    token_seat: str | None

    @property
    def by_link(self) -> bool:
        """Whether a watch link was shown."""
        return self.token_seat is None and self.scopes is None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action did at a table, to be written as one."""

    at: datetime
    action: Mapping[str, Any]
    """What was asked, as it is kept."""
    seat: str | None
    deal_number: int | None
    """The deal in which it was asked, which may have ended by it."""
    entries: Sequence[Entry]
    changes: Mapping[str, Any]
    """By field of the game its new value. The version follows from the events."""


@dataclass(frozen=True, slots=True)
class DealRow:
    """What decides a deal: its secret seed and the client seeds, which are None until it starts."""

    number: int
    attempt: int
    seed: str
    commitment: str
    client_seeds: tuple[tuple[str, str], ...] | None
    dealer: str | None
    layout: str | None
    """How it lies, as `games.scripts` has it, where somebody set that."""


def read(bearer: Bearer, game_id: UUID, *, lock: bool) -> Reading:
    """The game, and what the token may be at it; the game's row stays locked until the transaction ends if `lock`.

    Raises:
        Unauthenticated: no token in force has this digest.
        Unknown: no such game, or a seat token of another one.
    """
    if bearer.kind not in _TOKEN_EXISTS:
        raise Unauthenticated
    with connection.cursor() as cursor:
        cursor.execute(_BY_TOKEN[bearer.kind] + _locking(lock), (*_shown(bearer), _key(game_id)))
        row = cursor.fetchone()
    if row is None:
        raise Unknown if is_known(bearer) else Unauthenticated
    seat, account_id, scopes = row[-3:]
    game = _game_row(row)
    if seat is not None:
        # The row of the seat may be older than the lock: while this waited for it, somebody else may have sat down, or
        # seats may have been drawn.
        seat = next((one.seat for one in game.occupants if one.token_digest == bearer.digest), None)
        if seat is None:
            raise Unauthenticated
    return Reading(game, _uuid(account_id), scopes and _scopes(scopes), seat)


def is_known(bearer: Bearer) -> bool:
    """Whether some token in force has this digest, at whatever table."""
    if bearer.kind not in _TOKEN_EXISTS:
        return False
    with connection.cursor() as cursor:
        cursor.execute(_TOKEN_EXISTS[bearer.kind], _shown(bearer))
        return cursor.fetchone() is not None


def _shown(bearer: Bearer) -> tuple[Any, ...]:
    """What a statement that looks for a token takes."""
    return (bearer.digest, _value(datetime.now(UTC))) if bearer.kind == "spw" else (bearer.digest,)


def read_game(game_id: UUID, *, lock: bool) -> GameRow | None:
    """The game, for the service itself; None when there is none."""
    with connection.cursor() as cursor:
        cursor.execute(_BY_ID + _locking(lock), (_key(game_id),))
        row = cursor.fetchone()
    return row and _game_row(row)


def write(game: GameRow, outcome: Outcome) -> GameRow:
    """Write what an action did: the changed columns of the game, the action, its events.

    Returns:
        The game as it is then; its version is the number of the last event.
    """
    after, columns, values = _written(game, outcome)
    update = _update(columns)
    insert_events, event_values = log.insertion(game.version + 1, outcome.entries)
    values |= event_values
    with connection.cursor() as cursor:
        if _POSTGRESQL:
            cursor.execute(f"WITH changed AS ({update}), kept AS ({_INSERT_ACTION}) {insert_events}", values)
        else:
            for sql in (update, _INSERT_ACTION, insert_events):
                cursor.execute(sql, values)
    return after


def write_unlocked(game: GameRow, outcome: Outcome) -> GameRow | None:
    """Do what `write` does if the row is still as it was read, with the same version and the same tokens.

    Returns:
        As `write`; None if the table changed since, and then nothing was written.
    """
    after, columns, values = _written(game, outcome)
    update = f"{_update(columns)} AND version = %(old_version)s AND occupants = %(old_occupants)s RETURNING id"
    values |= {"old_version": game.version, "old_occupants": dump_occupants(game.occupants)}
    insert_events, event_values = log.insertion(game.version + 1, outcome.entries, for_each="changed")
    values |= event_values
    with connection.cursor() as cursor:
        cursor.execute(f"WITH changed AS ({update}), kept AS ({_INSERT_ACTION_IF_CHANGED}) {insert_events}", values)
        return after if cursor.rowcount else None


def _written(game: GameRow, outcome: Outcome) -> tuple[GameRow, tuple[str, ...], dict[str, Any]]:
    """The game afterwards, its columns that change, and the values of these and of the action's row."""
    version = game.version + len(outcome.entries)
    columns = {"version": version, **outcome.changes}
    after = replace(game, **columns)
    if "occupants" in columns:
        columns["occupants"] = dump_occupants(after.occupants)
    values = {f"new_{name}": _value(value) for name, value in columns.items()}
    values |= {"id": _key(game.id), "version": version, "deal_number": outcome.deal_number, "seat": outcome.seat}
    values |= {"input": orjson.dumps(outcome.action).decode(), "at": _value(outcome.at)}
    return after, tuple(columns), values


@lru_cache(maxsize=32)
def _update(names: tuple[str, ...]) -> str:
    return f"UPDATE {_GAME} SET {', '.join(f'{name} = %(new_{name})s' for name in names)} WHERE id = %(id)s"


def write_occupants(game: GameRow) -> None:
    """Write who sits where, and by which tokens, without an action. The caller holds the game's lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {_GAME} SET occupants = %s WHERE id = %s", (dump_occupants(game.occupants), _key(game.id))
        )


def move_seats(game: GameRow, drawn: Mapping[str, str]) -> GameRow:
    """Let everybody sit in the seat that they drew, with their token and their own seed. The caller holds the lock.

    Args:
        drawn: by the seat that somebody has, the one that they get.

    Returns:
        The row with the occupants in their new seats, which is yet to be written.
    """
    rows = list(Seat.objects.filter(game_id=game.id))
    Seat.objects.filter(game_id=game.id).delete()  # a token stands once, so they cannot change places one by one
    for row in rows:
        row.pk, row.seat = None, drawn[row.seat]
    Seat.objects.bulk_create(rows)
    moved = {drawn[one.seat]: replace(one, seat=drawn[one.seat]) for one in game.occupants}
    occupants = tuple(moved[one.seat] for one in game.occupants)
    return replace(game, occupants=occupants)


def dump_occupants(occupants: Iterable[Occupant]) -> str:
    """The form of the column `occupants`."""
    return orjson.dumps([occupant.to_row() for occupant in occupants]).decode()


def occupant_of(row: Mapping[str, Any]) -> Occupant:
    """What `Occupant.to_row` made, read back."""
    account = row["account"]
    return Occupant(row["seat"], row["kind"], row["name"], UUID(account) if account else None, row["bot"], row["token"])


def seated(occupants: Iterable[Occupant], seat: str, **values: Any) -> tuple[Occupant, ...]:
    """The occupants with other values for the one in `seat`."""
    return tuple(replace(one, **values) if one.seat == seat else one for one in occupants)


def read_deal(game_id: UUID, number: int, attempt: int = 1) -> DealRow:
    """The seed of a deal that was committed to. The caller holds the game's lock."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_SELECT_DEALS} AND number = %s AND attempt = %s", (_key(game_id), number, attempt))
        return _deal_row(cursor.fetchone())


def read_deals(game_id: UUID) -> list[DealRow]:
    """The seeds of all deals of a game in order, for replaying it."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_SELECT_DEALS} ORDER BY number, attempt", (_key(game_id),))
        return [_deal_row(row) for row in cursor.fetchall()]


def read_actions(game_id: UUID, until: int) -> list[tuple[int, str | None, dict[str, Any]]]:
    """The actions of a game up to a version, in order: (version after it, seat, what was asked)."""
    sql = f"SELECT version, seat, input FROM {_ACTION} WHERE game_id = %s AND version <= %s ORDER BY version"
    with connection.cursor() as cursor:
        cursor.execute(sql, (_key(game_id), until))
        return [(version, seat, orjson.loads(text)) for version, seat, text in cursor.fetchall()]


def read_deal_actions(game_id: UUID, version: int) -> list[tuple[int, int | None, str | None, dict[str, Any]]]:
    """The actions of one deal up to the one with that version, in order: (version, deal, seat, what was asked).

    The start of a game belongs to no deal and comes alone.
    """
    sql = (
        f"SELECT a.version, a.deal_number, a.seat, a.input FROM {_ACTION} a JOIN {_ACTION} t "
        "ON t.game_id = a.game_id AND (a.version = t.version OR a.deal_number = t.deal_number) "
        "WHERE t.game_id = %s AND t.version = %s AND a.version <= t.version ORDER BY a.version"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, (_key(game_id), version))
        return [(at, number, seat, orjson.loads(text)) for at, number, seat, text in cursor.fetchall()]


def read_scores(game_id: UUID, before: int) -> list[dict[str, Any]]:
    """The scoring answers of the deals before one, in order."""
    sql = f"SELECT score FROM {_DEAL} WHERE game_id = %s AND number < %s ORDER BY number, attempt"
    with connection.cursor() as cursor:
        cursor.execute(sql, (_key(game_id), before))
        return [orjson.loads(text) for (text,) in cursor.fetchall() if text]


def read_client_seeds(game_id: UUID) -> dict[str, str]:
    """The client seeds given at a table, by seat."""
    sql = f"SELECT seat, client_seed FROM {_SEAT} WHERE game_id = %s AND client_seed <> ''"
    with connection.cursor() as cursor:
        cursor.execute(sql, (_key(game_id),))
        return dict(cursor.fetchall())


def commit_deal(game_id: UUID, number: int, *, seed: str, commitment: str, algorithm: str, layout: str | None) -> None:
    """Keep the seed of a deal to come, and how it lies if that was set; its commitment may be published now."""
    sql = (
        f"INSERT INTO {_DEAL} (game_id, number, attempt, seed, commitment, algorithm, layout) "
        "VALUES (%s, %s, 1, %s, %s, %s, %s)"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, (_key(game_id), number, seed, commitment, algorithm, layout))


def count_deals(game_id: UUID) -> int:
    """How many deals of a game have been committed to, played or not."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {_DEAL} WHERE game_id = %s", (_key(game_id),))
        number: int = cursor.fetchone()[0]
        return number


def promote_deal(game_id: UUID, promised: int, number: int, attempt: int) -> None:
    """Let the deal that was promised next be another attempt at an earlier one. It has not started."""
    sql = f"UPDATE {_DEAL} SET number = %s, attempt = %s WHERE game_id = %s AND number = %s AND attempt = 1"
    with connection.cursor() as cursor:
        cursor.execute(sql, (number, attempt, _key(game_id), promised))


def start_deal(
    game_id: UUID, number: int, attempt: int, *, dealer: str, client_seeds: Iterable[tuple[str, str]], at: datetime
) -> None:
    """Note that a deal has started, with which client seeds."""
    sql = (
        f"UPDATE {_DEAL} SET dealer = %s, client_seeds = %s, started_at = %s "
        "WHERE game_id = %s AND number = %s AND attempt = %s"
    )
    seeds = orjson.dumps(list(client_seeds)).decode()
    with connection.cursor() as cursor:
        cursor.execute(sql, (dealer, seeds, _value(at), _key(game_id), number, attempt))


def score_deal(
    game_id: UUID,
    number: int,
    attempt: int,
    *,
    bids: Mapping[str, Any],
    tricks: Mapping[str, int],
    score: Mapping[str, Any],
    at: datetime,
) -> None:
    """Keep the score of a finished deal."""
    sql = (
        f"UPDATE {_DEAL} SET bids = %s, tricks = %s, score = %s, finished_at = %s "
        "WHERE game_id = %s AND number = %s AND attempt = %s"
    )
    texts = [orjson.dumps(value).decode() for value in (bids, tricks, score)]
    with connection.cursor() as cursor:
        cursor.execute(sql, (*texts, _value(at), _key(game_id), number, attempt))


def bots_due(before: datetime, limit: int) -> list[tuple[UUID, int]]:
    """Games in which a bot has been on turn since before a time: (game, version), the longest waiting first."""
    sql = f"SELECT id, version FROM {_GAME} WHERE bot_due_at < %s ORDER BY bot_due_at LIMIT %s"
    with connection.cursor() as cursor:
        cursor.execute(sql, (_value(before), limit))
        return [(UUID(str(game_id)), version) for game_id, version in cursor.fetchall()]


def _locking(lock: bool) -> str:
    # SQLite's writing transactions take the one lock there is when they begin. On PostgreSQL this is the lock that an
    # UPDATE takes. FOR UPDATE would also shut out the check of a foreign key, which others make when they commit: who
    # sits down at a rematch would wait for the game that it follows, held by somebody who waits for the rematch.
    return " FOR NO KEY UPDATE OF g" if lock and _POSTGRESQL else ""


def _game_row(row: Sequence[Any]) -> GameRow:
    values = dict(zip(_GAME_COLUMNS, row, strict=False))
    if not _POSTGRESQL:
        for name in ("id", "host_id", "rematch_of_id"):
            values[name] = _uuid(values[name])
    for name in _TIMES:
        if values[name] is not None:
            values[name] = _time(values[name])
    values["occupants"] = _occupants(values["occupants"])
    return GameRow(**values)


@lru_cache(maxsize=1024)
def _occupants(text: str) -> tuple[Occupant, ...]:
    """Who sits at a table; the same for every action of a game, so it is read once."""
    return tuple([occupant_of(one) for one in orjson.loads(text)])


def _deal_row(row: Sequence[Any]) -> DealRow:
    number, attempt, seed, commitment, seeds, dealer, layout = row
    clients = None if seeds is None else tuple((seat, text) for seat, text in orjson.loads(seeds))
    return DealRow(number, attempt, seed, commitment, clients, dealer, layout)


def _scopes(value: Any) -> frozenset[str]:
    return frozenset(value if isinstance(value, list) else value.split())


def _key(value: UUID) -> Any:
    return value if _POSTGRESQL else value.hex


def _uuid(value: Any) -> UUID | None:
    return value if value is None or isinstance(value, UUID) else UUID(value)


def _value(value: Any) -> Any:
    if _POSTGRESQL:
        return value  # psycopg takes times and ids as they are
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return _key(value) if isinstance(value, UUID) else value


@lru_cache(maxsize=1024)
def _time(value: str | datetime) -> datetime:
    """A time as PostgreSQL writes it in UTC, or as SQLite's driver reads it, which knows no zone."""
    read = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read.replace(tzinfo=UTC)
