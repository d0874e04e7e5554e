"""Ids that sort by the time they were made (UUID version 7, RFC 9562)."""

from __future__ import annotations

from uuid import UUID

from uuid_utils import compat

__all__ = ["uuid7"]


def uuid7() -> UUID:
    """Make an id: 48 bits of Unix milliseconds, then a counter and random bits.

    Ids of several processes have no order within a millisecond; so lists sort by (created, id), never by id alone.
    """
    return compat.uuid7()
