"""Tokens: how they look, how they are made, and which one a request carries.

A token is a kind (`spk` an account, `sps` a seat, `spw` a watch link, `spi` an invitation), an underscore, and 43
characters that hold 256 random bits. It is shown once; everything that is stored or compared is its SHA-256 digest.
With so many random bits a digest needs no salt and no slow hash: there is nothing to guess.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Any, Final

from contract.problems import ContractReason, Problem

__all__ = ["ACCOUNT", "INVITATION", "SEAT", "WATCHER", "Bearer", "digest", "invitation", "make", "read", "require"]

ACCOUNT: Final = "spk"
SEAT: Final = "sps"
WATCHER: Final = "spw"
INVITATION: Final = "spi"

_BYTES: Final = 32
_INVITATION: Final = re.compile(r"spi_[A-Za-z0-9_-]{43}\Z")
_HEADER: Final = re.compile(r"bearer +((spk|sps|spw)_[A-Za-z0-9_-]{43}) *\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bearer:
    """The token of a request: its kind, and its digest, 64 hex digits. Nothing has looked yet whether it exists."""

    kind: str
    digest: str


def digest(text: str) -> str:
    """Give the digest under which a token is stored, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def make(kind: str) -> tuple[str, str]:
    """Make a token of a kind; give it and its digest."""
    bits = base64.urlsafe_b64encode(secrets.token_bytes(_BYTES)).rstrip(b"=").decode()
    text = f"{kind}_{bits}"
    return text, digest(text)


def invitation(text: str) -> str:
    """Read an invitation as the body of a request has it, and give its digest.

    Raises:
        ValueError: it has not the form of one. The text is not repeated.
    """
    if not _INVITATION.match(text):
        raise ValueError("no invitation")
    return digest(text)


def read(request: Any) -> Bearer | None:
    """Read the `Authorization` header; None without one.

    Raises:
        Problem: `unauthenticated`; the header holds no token that could be sent there. What it holds is not repeated in
            the answer or the log.
    """
    given = request.META.get("HTTP_AUTHORIZATION")
    if given is None:
        return None
    match = _HEADER.match(given)
    if match is None or match[2] != match[2].lower():
        raise Problem(
            ContractReason.UNAUTHENTICATED,
            "Expected `Authorization: Bearer TOKEN` with a token that begins with spk_, sps_ or spw_.",
        )
    return Bearer(match[2], digest(match[1]))


def require(request: Any) -> Bearer:
    """Read the `Authorization` header of a request that needs one.

    Raises:
        Problem: `unauthenticated`.
    """
    bearer = read(request)
    if bearer is None:
        raise Problem(ContractReason.UNAUTHENTICATED, "This operation needs a token: `Authorization: Bearer TOKEN`.")
    return bearer
