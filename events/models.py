"""The log's one table."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler


class WritingTransaction(models.Func):
    """The number of the transaction that writes the row: 64 bits on PostgreSQL, null on SQLite.

    SQLite has one writer at a time, so there the order of ids is the order of commits.
    """

    template = "NULL"
    arity = 0
    output_field = models.BigIntegerField()

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[Any]]:
        """Ask for the number of the outermost transaction, the same in each of its savepoints."""
        sql, params = self.as_sql(compiler, connection, template="pg_current_xact_id()::text::bigint", **extra)
        return sql, list(params)


class Event(models.Model):
    """One thing that happened in one game, with what each reader may know of it. Never changed once written.

    `public` and `own` are JSON texts: an object for everybody, and an object of objects by seat, of which a reader
    gets the one of its own seat on top. `format` says how to read them, see `events.log.UPGRADES`. There is no foreign
    key to the game, because this app lies below the games. On PostgreSQL a trigger refuses to change or delete a row.
    """

    id = models.BigAutoField(primary_key=True)
    game_id = models.UUIDField()
    number = models.PositiveIntegerField()
    version = models.PositiveIntegerField()
    at = models.DateTimeField()
    type = models.CharField(max_length=40)
    deal_number = models.PositiveIntegerField(null=True)
    seat = models.CharField(max_length=1, null=True)
    public = models.TextField()
    own = models.TextField()
    format = models.PositiveSmallIntegerField()
    xid = models.BigIntegerField(null=True, editable=False, db_default=WritingTransaction())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["game_id", "number"], name="event_number_once_a_game")]
        indexes = [
            # Empty on SQLite, where the tail goes by id.
            models.Index(fields=["xid", "id"], name="event_tail", condition=models.Q(xid__isnull=False)),
        ]
