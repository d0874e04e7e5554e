"""Requests that were answered: `claim` before the effect, `keep` after it, both in the effect's transaction.

Key, fingerprint and effect commit together, so a repetition finds either both or neither. While the first request runs,
PostgreSQL holds an advisory lock of its transaction on the key, and a second one is told so at once (409) instead of
waiting; a lock, and not a row, because it ends with its connection however the process dies. On SQLite a write
transaction begins by taking the only writer's place, so a second request with the same key waits for the first one and
then finds its record.

Only successes are kept: a refusal has written nothing and is decided anew.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import connection, transaction
from django.http import HttpResponse
from django.utils import timezone

from contract import endpoint
from contract.idempotency import fingerprint as fingerprint_of
from contract.idempotency import key_digest, key_from, seal, unseal
from contract.problems import ContractReason, Problem

__all__ = ["COLUMNS", "KEPT_FOR", "REPLAYED", "Answer", "Kept", "answered", "claim", "keep", "purge"]

KEPT_FOR: Final = timedelta(hours=24)
REPLAYED: Final = "Idempotency-Replayed"
TABLE: Final = "accounts_idempotencyrecord"
COLUMNS: Final = ("digest", "fingerprint", "status", "answer", "game_id", "version", "seat", "created_at")

_FIND: Final = f"""
    SELECT fingerprint, status, answer, game_id, version, seat, created_at
    FROM {TABLE}
    WHERE digest = %s
"""
# One row, whether there is a record or not. The lock is asked for in the statement that reads: a statement of its own
# would cost each request a round trip. What only that would notice, a first request that commits after this statement
# began and before it gets the lock, is noticed by the primary key when `keep` inserts.
_LOCK_AND_FIND: Final = f"""
    SELECT pg_try_advisory_xact_lock(%s), record.fingerprint, record.status, record.answer, record.game_id,
           record.version, record.seat, record.created_at
    FROM (SELECT 1) AS one LEFT JOIN {TABLE} AS record ON record.digest = %s
"""
_KEEP: Final = f"""
    INSERT INTO {TABLE} ({", ".join(COLUMNS)}) VALUES ({", ".join(["%s"] * len(COLUMNS))})
    ON CONFLICT (digest) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])}
    WHERE {TABLE}.created_at < %s
"""
"""Parameters: those of `row`. It overwrites an old record of the key that is not purged yet, and no other."""
_PURGE: Final = f"DELETE FROM {TABLE} WHERE created_at < %s"


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of the first request: its status, and its sealed answer or where to rebuild it from."""

    status: int
    answer: bytes | None
    game_id: UUID | None
    version: int | None
    seat: str | None


def _oldest() -> datetime:
    return timezone.now() - KEPT_FOR


def _adapt(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)


def _moment(value: Any) -> datetime:
    """Read a time as the database gives it; SQLite gives the text that Django wrote, in UTC."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def claim(principal: str, key: str, fingerprint: str) -> Kept | None:
    """Look, inside a transaction, whether this principal's key was used before; hold it until the transaction ends.

    Args:
        principal: whose key it is, such as `account:<id>` or `seat:<id>`; equal keys of two principals are two keys.
        fingerprint: of the request, see `contract.idempotency.fingerprint`.

    Returns:
        The first request, if it was the same and succeeded within 24 hours; None if this one is the first.

    Raises:
        Problem: `idempotency_mismatch`, if the first request was another; `idempotency_in_progress`, if it is running.
    """
    digest = key_digest(principal, key)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_LOCK_AND_FIND, [_lock_number(digest), digest])
            locked, *found = cursor.fetchone()
            if not locked:
                raise in_progress()
            record = found if found[0] is not None else None
        else:
            cursor.execute(_FIND, [digest])
            record = cursor.fetchone()
    if record is None:
        return None
    known, status, answer, game_id, version, seat, created_at = record
    if _moment(created_at) < _oldest():
        return None
    if known != fingerprint:
        raise Problem(
            ContractReason.IDEMPOTENCY_MISMATCH,
            "This Idempotency-Key came with another request before. A new request needs a new key.",
        )
    if game_id is not None and not isinstance(game_id, UUID):
        game_id = UUID(game_id)
    return Kept(status, bytes(answer) if answer is not None else None, game_id, version, seat)


def _lock_number(digest: str) -> int:
    """Give the 64-bit number, signed as PostgreSQL wants it, by which the key is locked."""
    return int.from_bytes(bytes.fromhex(digest[:16]), "big", signed=True)


def in_progress() -> Problem:
    """Make the refusal of a request whose first one has not ended."""
    return Problem(
        ContractReason.IDEMPOTENCY_IN_PROGRESS,
        "A request with this Idempotency-Key is still running. Send it again in a second.",
        retry_after=1,
    )


def keep(
    principal: str,
    key: str,
    fingerprint: str,
    *,
    status: int,
    answer: bytes | None,
    game_id: UUID | None = None,
    version: int | None = None,
    seat: str | None = None,
) -> None:
    """Record, in the transaction of the effect and after `claim`, that the request was answered.

    Args:
        answer: sealed (`contract.idempotency.seal`), or None if it is rebuilt from game, version and seat.

    Raises:
        Problem: `idempotency_in_progress`; an equal request committed after this one's `claim` had looked. The
            transaction must not commit.
    """
    identity: Any = game_id
    if game_id is not None and not connection.features.has_native_uuid_field:
        identity = game_id.hex
    now = timezone.now()
    record = [key_digest(principal, key), fingerprint, status, answer, identity, version, seat, _adapt(now)]
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, [*record, _adapt(now - KEPT_FOR)])
        if cursor.rowcount == 0:
            raise in_progress()


def purge() -> int:
    """Delete the records that are older than 24 hours; tell how many there were."""
    with connection.cursor() as cursor:
        cursor.execute(_PURGE, [_adapt(_oldest())])
        return max(0, cursor.rowcount)


@dataclass(frozen=True, slots=True)
class Answer:
    """A success, as an effect gives it: status, body and the headers that belong to it."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


def answered(request: Any, principal: str, effect: Callable[[], Answer], *, unguessable: bool = False) -> HttpResponse:
    """Run an effect in one transaction and answer with what it gives, or with what it gave before.

    With an `Idempotency-Key` the answer is kept in the same transaction, sealed; the same request under the same key
    then gets the same status, body and headers, and `Idempotency-Replayed: true`. The body must have been read, so
    that a malformed one was refused before.

    Args:
        request: as an endpoint gets it.
        principal: whose key it is.
        effect: does the work by database writes alone, and raises to refuse; then nothing is written or kept.
        unguessable: the principal is not known by a token; see `contract.idempotency.key_from`.

    Raises:
        Problem: for the key; and whatever `effect` raises.
    """
    key = key_from(request, unguessable=unguessable)
    if key is None:
        with transaction.atomic():
            result = effect()
        return endpoint.answer(result.body, result.status, result.headers)
    fingerprint = fingerprint_of(request.method, request.path, request.data)
    with transaction.atomic():
        kept = claim(principal, key, fingerprint)
        if kept is not None and kept.answer is not None:
            whole = unseal(key, principal, kept.answer)
            if not whole.startswith(b"["):  # as those of an older version do
                whole = zlib.decompress(whole)
            status, headers, text = orjson.loads(whole)
            return endpoint.answer(text.encode(), status, {**headers, REPLAYED: "true"})
        result = effect()
        body = endpoint.dump(result.body)
        whole = orjson.dumps([result.status, dict(result.headers), body.decode()])
        sealed = seal(key, principal, zlib.compress(whole, 1))  # a sheet of 200 deals is a thirtieth of itself then
        keep(principal, key, fingerprint, status=result.status, answer=sealed)
    return endpoint.answer(body, result.status, result.headers)
