"""What the club keeps: one SQLite file. It holds enough to go on after the app was killed, wherever that was."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

__all__ = ["SEATS", "Book", "PlayTable", "Wish"]

SEATS: Final = ("N", "E", "S", "W")

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS account (
    only INTEGER PRIMARY KEY CHECK (only = 1), url TEXT NOT NULL, token TEXT
);
CREATE TABLE IF NOT EXISTS member (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS evening (id INTEGER PRIMARY KEY, name TEXT NOT NULL, rules TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS play_table (
    id INTEGER PRIMARY KEY,
    evening INTEGER NOT NULL REFERENCES evening,
    number INTEGER NOT NULL,
    sheet TEXT,                      -- the sheet as the service answered it last, JSON
    etag TEXT,                       -- of that answer: what the next change is decided upon
    told INTEGER NOT NULL DEFAULT 0, -- the number of the last event that was told
    share TEXT,                      -- the token of its share link
    UNIQUE (evening, number)
);
CREATE TABLE IF NOT EXISTS seat (
    play_table INTEGER NOT NULL REFERENCES play_table,
    seat TEXT NOT NULL,
    member INTEGER NOT NULL REFERENCES member,
    PRIMARY KEY (play_table, seat)
);
CREATE TABLE IF NOT EXISTS wish (
    id INTEGER PRIMARY KEY,
    operation TEXT NOT NULL,
    play_table INTEGER REFERENCES play_table,
    deal INTEGER,
    body TEXT NOT NULL,
    key TEXT NOT NULL,
    if_match TEXT
);
"""


@dataclass(frozen=True, slots=True)
class PlayTable:
    """A table of the evening, as it was answered last."""

    id: int
    number: int
    names: Mapping[str, str]
    """Who sits where, by seat."""
    sheet: Mapping[str, Any] | None
    """None until the service has made it."""
    etag: str | None
    told: int
    share: str | None

    @property
    def sheet_id(self) -> UUID:
        """The id of its sheet, which must have been made."""
        assert self.sheet is not None
        return UUID(self.sheet["id"])


@dataclass(frozen=True, slots=True)
class Wish:
    """A change that was asked for and whose answer is not in the book yet.

    It is written down before it is sent. So whatever happens in between, it can be sent again with the same key and the
    same tag, and the service does it once.
    """

    id: int
    operation: str
    play_table: int | None
    deal: int | None
    body: Mapping[str, Any]
    key: str
    if_match: str | None


class Book:
    """The file. Every method is one transaction.

    Args:
        path: where it is, or is to be.
    """

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600)  # it holds the club's token
        self._rows = sqlite3.connect(path)
        self._rows.row_factory = sqlite3.Row
        self._rows.execute("PRAGMA foreign_keys = ON")
        self._rows.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    # The account.

    def account(self) -> tuple[str, str | None] | None:
        """The address of the service, and the token once there is one."""
        row = self._rows.execute("SELECT url, token FROM account").fetchone()
        return (row["url"], row["token"]) if row else None

    def begin_account(self, url: str, name: str) -> None:
        """Note the service, and the wish for an account, in place of any that brought no token."""
        with self._rows:
            self._rows.execute("DELETE FROM wish WHERE operation = 'create_account'")
            self._rows.execute("INSERT OR REPLACE INTO account (only, url) VALUES (1, ?)", (url,))
            self._wish("create_account", {"name": name})

    # The evening.

    def begin_evening(self, name: str, rules: Mapping[str, Any], tables: Sequence[Sequence[str]]) -> None:
        """Note an evening with its tables, and the wish for a sheet for each.

        Args:
            rules: a preset and what differs from it.
            tables: who sits at each, in the order of `SEATS`.
        """
        with self._rows:
            evening = self._insert("INSERT INTO evening (name, rules) VALUES (?, ?)", (name, json.dumps(rules)))
            for number, names in enumerate(tables, start=1):
                table = self._insert("INSERT INTO play_table (evening, number) VALUES (?, ?)", (evening, number))
                for seat, member in zip(SEATS, names, strict=True):
                    self._rows.execute("INSERT OR IGNORE INTO member (name) VALUES (?)", (member,))
                    self._rows.execute(
                        "INSERT INTO seat SELECT ?, ?, id FROM member WHERE name = ?", (table, seat, member)
                    )
                body = {"ruleset": rules, "names": dict(zip(SEATS, names, strict=True)), "note": name}
                self._wish("create_sheet", body, play_table=table)

    def tables(self) -> list[PlayTable]:
        """The tables of the last evening, by number."""
        rows = self._rows.execute(
            "SELECT * FROM play_table WHERE evening = (SELECT max(id) FROM evening) ORDER BY number"
        )
        return [self._table(row) for row in rows]

    def table(self, identity: int) -> PlayTable:
        """A table by its id."""
        return self._table(self._rows.execute("SELECT * FROM play_table WHERE id = ?", (identity,)).fetchone())

    def _table(self, row: sqlite3.Row) -> PlayTable:
        seats = self._rows.execute(
            "SELECT seat, name FROM seat JOIN member ON member.id = seat.member WHERE play_table = ?", (row["id"],)
        )
        names = {seat["seat"]: seat["name"] for seat in seats}
        sheet = json.loads(row["sheet"]) if row["sheet"] is not None else None
        return PlayTable(row["id"], row["number"], names, sheet, row["etag"], row["told"], row["share"])

    # Changes.

    def wish(self, operation: str, table: PlayTable, body: Mapping[str, Any], *, deal: int | None = None) -> None:
        """Note a change of a table's sheet, decided upon the sheet as it is in the book."""
        with self._rows:
            self._wish(operation, body, play_table=table.id, deal=deal, if_match=table.etag)

    def wishes(self) -> list[Wish]:
        """What has no answer yet, in the order in which it was asked for."""
        return [
            Wish(**{**row, "body": json.loads(row["body"])})
            for row in map(dict, self._rows.execute("SELECT * FROM wish ORDER BY id"))
        ]

    def drop(self, wish: Wish) -> None:
        """It was refused."""
        with self._rows:
            self._rows.execute("DELETE FROM wish WHERE id = ?", (wish.id,))

    def keep(
        self,
        wish: Wish | None,
        *,
        table: int | None = None,
        sheet: tuple[Mapping[str, Any], str | None] | None = None,
        share: str | None = None,
        token: str | None = None,
    ) -> None:
        """Keep what was answered. With it the wish that was answered goes."""
        with self._rows:
            if sheet is not None:
                values = (json.dumps(sheet[0]), sheet[1], table)
                self._rows.execute("UPDATE play_table SET sheet = ?, etag = ? WHERE id = ?", values)
            if share is not None:
                self._rows.execute("UPDATE play_table SET share = ? WHERE id = ?", (share, table))
            if token is not None:
                self._rows.execute("UPDATE account SET token = ?", (token,))
            if wish is not None:
                self._rows.execute("DELETE FROM wish WHERE id = ?", (wish.id,))

    def told(self, table: PlayTable, number: int) -> None:
        """The events of a table were told as far as this one."""
        with self._rows:
            self._rows.execute("UPDATE play_table SET told = ? WHERE id = ?", (number, table.id))

    def _wish(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        play_table: int | None = None,
        deal: int | None = None,
        if_match: str | None = None,
    ) -> None:
        self._rows.execute(
            "INSERT INTO wish (operation, play_table, deal, body, key, if_match) VALUES (?, ?, ?, ?, ?, ?)",
            (operation, play_table, deal, json.dumps(body), str(uuid4()), if_match),
        )

    def _insert(self, statement: str, values: Iterable[Any]) -> int:
        made = self._rows.execute(statement, tuple(values)).lastrowid
        assert made is not None
        return made
