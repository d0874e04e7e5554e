"""Entity tags: `"<version>-<viewer>"`, so that a tag of one viewer never matches the other's representation.

An action compares only the version part of `If-Match`: it says "I decided upon this state", and the state has one
version whoever looks at it. A game's version is the number of its last event.
"""

from __future__ import annotations

import re
from typing import Any, Final

from contract.problems import ContractReason, Fault, Problem, malformed

__all__ = ["etag", "if_match_version", "matches_none", "require_version"]

_TAG: Final = re.compile(r'(?:W/)?"(\d{1,18})(?:-[^"]*)?"\Z')


def etag(version: int, viewer: str) -> str:
    """Write the tag, quotes included, of what `viewer` (a seat, `public`, ...) sees at `version`."""
    return f'"{version}-{viewer}"'


def if_match_version(request: Any) -> int | None:
    """Read the version that the caller decided upon; None without `If-Match`, or with `*`.

    A weak tag is taken like a strong one, since proxies that compress make it weak. Several tags are refused: an action
    is decided upon one state.

    Raises:
        Problem: `malformed`.
    """
    given = request.META.get("HTTP_IF_MATCH")
    if given is None or given.strip() == "*":
        return None
    match = _TAG.match(given.strip())
    if match is None:
        raise malformed(
            [Fault("If-Match", ContractReason.BAD_FORMAT, 'If-Match takes one tag, such as "17-N", in quotes.')]
        )
    return int(match[1])


def require_version(expected: int | None, version: int) -> None:
    """Refuse an action that was decided upon another version than the present one.

    Raises:
        Problem: `stale_version`, with the present version.
    """
    if expected is not None and expected != version:
        raise Problem(
            ContractReason.STALE_VERSION,
            f"You decided on version {expected}, and this is at version {version} now.",
            version=version,
        )


def matches_none(request: Any, tag: str) -> bool:
    """Tell whether `If-None-Match` names `tag`, so that the caller has this representation already (answer 304)."""
    given = request.META.get("HTTP_IF_NONE_MATCH")
    if given is None:
        return False
    if given == tag:
        return True
    return any(offered.strip().removeprefix("W/") in (tag, "*") for offered in given.split(","))
