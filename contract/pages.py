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

from contract.problems import ContractReason, Fault, malformed
from contract.queries import Parameter

__all__ = ["CURSOR", "DEFAULT_LIMIT", "LIMIT", "MAX_LIMIT", "decode_cursor", "encode_cursor", "page"]

T = TypeVar("T")

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


def encode_cursor(place: tuple[datetime, UUID]) -> str:
    """Write the place of the last item given, as text that means nothing to the caller."""
    created, identity = place
    return base64.urlsafe_b64encode(orjson.dumps([created.isoformat(), identity.hex])).rstrip(b"=").decode()


def decode_cursor(text: str) -> tuple[datetime, UUID]:
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
        raise malformed([Fault("?cursor", ContractReason.BAD_FORMAT, "This is no cursor that the service handed out.")])
    return place


def page(
    rows: Sequence[T],
    limit: int,
    place: Callable[[T], tuple[datetime, UUID]],
    item: Callable[[T], Any] = lambda row: row,
) -> Mapping[str, Any]:
    """Make a page of at most `limit` items from rows read in order with a limit of one more, `limit + 1`."""
    more = len(rows) > limit
    rows = rows[:limit]
    return {"items": [item(row) for row in rows], "next": encode_cursor(place(rows[-1])) if more else None}
