"""Idempotency keys: reading them, comparing requests, and sealing answers. The rows are in `accounts.idempotency`.

An answer that is kept for a day may hold a token that is shown once. It is therefore encrypted under a key that only
the Idempotency-Key itself yields, and of that no more than a digest is stored: whoever reads the database reads no
answer.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from typing import Any, Final

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from contract.problems import ContractReason, Fault, malformed

__all__ = ["LONGEST", "SHORTEST_UNGUESSABLE", "fingerprint", "key_digest", "key_from", "seal", "unseal"]

LONGEST: Final = 255
SHORTEST_UNGUESSABLE: Final = 22
"""22 characters hold the 128 bits of a UUID in base64. See `key_from`."""

_FORM: Final = re.compile(r"[\x21-\x7e]{1,255}\Z")
_NONCE_BYTES: Final = 12


def key_from(request: Any, *, unguessable: bool = False) -> str | None:
    """Read the Idempotency-Key of a request; None without one.

    Args:
        unguessable: the caller has no token, so that the key alone shows that a repetition comes from whoever sent the
            first request. Callers behind one address share their principal, and with a short key one of them could be
            handed another's answer, new token included.

    Raises:
        Problem: `malformed`; a key is 1 to 255 visible ASCII characters, at least 22 if it must not be guessable.
    """
    key: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None:
        return None
    if not _FORM.match(key):
        raise _refused(ContractReason.BAD_FORMAT, f"The key must be 1 to {LONGEST} visible ASCII characters.")
    if unguessable and len(key) < SHORTEST_UNGUESSABLE:
        raise _refused(
            ContractReason.WRONG_LENGTH,
            f"Without a token the key must have at least {SHORTEST_UNGUESSABLE} characters, best random ones: "
            "whoever knows the key could be given the answer, and the token in it.",
        )
    return key


def _refused(reason: ContractReason, detail: str) -> Exception:
    return malformed([Fault("Idempotency-Key", reason, detail)])


def fingerprint(method: str, path: str, body: Any) -> str:
    """Give 64 hex digits that two requests share if they ask for the same thing.

    The body counts as a value: white space and the order of fields make no difference.
    """
    text = orjson.dumps([method, path, body], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def key_digest(principal: str, key: str) -> str:
    """Give the 64 hex digits under which a key is stored.

    Keyed by the SECRET_KEY, so that a stolen database does not let a short key be found by trying.
    """
    message = f"{principal}\0{key}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), message, hashlib.sha256).hexdigest()


def _cipher(key: str, principal: str) -> AESGCM:
    derive = HKDF(algorithm=SHA256(), length=32, salt=settings.SECRET_KEY.encode(), info=principal.encode())
    return AESGCM(derive.derive(key.encode()))


def seal(key: str, principal: str, answer: bytes) -> bytes:
    """Encrypt an answer so that only the same principal with the same Idempotency-Key can read it again."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + _cipher(key, principal).encrypt(nonce, answer, None)


def unseal(key: str, principal: str, sealed: bytes) -> bytes:
    """Decrypt what `seal` made.

    Raises:
        ValueError: another key or principal, another SECRET_KEY, or altered bytes.
    """
    # Too short a text has no nonce; one of zeros opens nothing.
    nonce, text = sealed[:_NONCE_BYTES].ljust(_NONCE_BYTES, b"\0"), sealed[_NONCE_BYTES:]
    try:
        return _cipher(key, principal).decrypt(nonce, text, None)
    except InvalidTag:
        raise ValueError("the answer was sealed under another key, or is damaged") from None
