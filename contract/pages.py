"""Lists: `{"items": [...], "next": cursor or null}`, in order of (created, id).

A cursor holds the (created, id) of the last item given. Ids are unique, so no row is skipped or repeated, whatever is
inserted meanwhile and however many rows share an instant.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

import orjson
from django.db.models import Model, Q, QuerySet

from contract.problems import ContractReason, Fault, Problem, malformed
from contract.queries import Parameter

__all__ = [
    "CURSOR",
    "DEFAULT_LIMIT",
    "LIMIT",
    "MAX_LIMIT",
    "Place",
    "decode_cursor",
    "encode_cursor",
    "listed",
    "no_cursor",
    "page",
    "rows_behind",
]

T = TypeVar("T")
M = TypeVar("M", bound=Model)

Place = tuple[datetime, UUID]
"""Of a row in its list: when it was created, and its id."""

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200

LIMIT = Parameter(
    "limit",
    kind="integer",
    description="How many items to give at most.",
    minimum=1,
    maximum=MAX_LIMIT,
    default=DEFAULT_LIMIT,
)
CURSOR = Parameter("cursor", kind="string", description="The `next` of the page before; without it the first page.")


def encode_cursor(place: Place) -> str:
    """Write the place of the last item given, as text that means nothing to the caller."""
    created, identity = place
    return base64.urlsafe_b64encode(orjson.dumps([created.isoformat(), identity.hex])).rstrip(b"=").decode()


def decode_cursor(text: str) -> Place:
    """Read a cursor back.

    Raises:
        Problem: `malformed`; this service did not write it.
    """
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        created, identity = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        place = datetime.fromisoformat(created), UUID(hex=identity)
    except (ValueError, TypeError, AttributeError, binascii.Error):
        place = None
    if place is None or place[0].utcoffset() != timedelta(0) or encode_cursor(place) != text:
        raise no_cursor()
    return place


def no_cursor() -> Problem:
    """The refusal of a cursor that cannot be read."""
    return malformed([Fault("?cursor", ContractReason.BAD_FORMAT, "This is no cursor that the service handed out.")])


def page(
    rows: Sequence[T],
    limit: int,
    place: Callable[[T], Place],
    item: Callable[[T], Any] = lambda row: row,
) -> Mapping[str, Any]:
    """Make a page of at most `limit` items from rows read in order with a limit of one more, `limit + 1`."""
    more = len(rows) > limit
    rows = rows[:limit]
    return {"items": [item(row) for row in rows], "next": encode_cursor(place(rows[-1])) if more else None}


def _place(row: Any) -> Place:
    return row.created_at, row.id


def listed(
    query: Mapping[str, Any],
    read: Callable[..., Sequence[T]],
    item: Callable[[T], Any],
    place: Callable[[T], Place] = _place,
) -> Mapping[str, Any]:
    """Make the page that a query asks for, which has a `CURSOR` and a `LIMIT`.

    Args:
        read: gives the rows in order; called with `after`, the place of the last one that the caller has or None, and
            `limit`.

    Raises:
        Problem: `malformed`; the cursor is none of this service.
    """
    limit, cursor = query["limit"], query["cursor"]
    rows = read(after=None if cursor is None else decode_cursor(cursor), limit=limit + 1)
    return page(rows, limit, place, item)


def rows_behind(after: Place | None, rows: QuerySet[M], limit: int, *, newest_first: bool = False) -> list[M]:
    """Read at most `limit` rows in order: those behind a place, or the first ones."""
    sign, behind = ("-", "lt") if newest_first else ("", "gt")
    if after is not None:
        created, identity = after
        same_time = Q((f"id__{behind}", identity), created_at=created)
        rows = rows.filter(Q((f"created_at__{behind}", created)) | same_time)
    return list(rows.order_by(f"{sign}created_at", f"{sign}id")[:limit])
