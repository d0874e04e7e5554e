"""Writes: making accounts and tokens, and revoking tokens."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts import bearer
from accounts.models import Account, Token
from contract.scopes import DEFAULT_SCOPES, Scope

__all__ = ["create_account", "create_token", "revoke_token"]


@transaction.atomic
def create_account(name: str, scopes: Iterable[Scope | str] = DEFAULT_SCOPES) -> tuple[Account, str]:
    """Make an account and its first token.

    Args:
        name: 1 to 40 characters; it is what other players see.

    Returns:
        The account, and the token, which cannot be read again later.

    Raises:
        ValueError: an unknown scope.
    """
    account = Account.objects.create(name=name)
    return account, create_token(account.id, scopes)


def create_token(account_id: UUID, scopes: Iterable[Scope | str] = DEFAULT_SCOPES) -> str:
    """Make one more token of an account, and give it; it cannot be read again later.

    Raises:
        ValueError: an unknown scope.
    """
    allowed = {Scope(scope) for scope in scopes}
    text, digest = bearer.make(bearer.ACCOUNT)
    Token.objects.create(
        account_id=account_id, digest=digest, scopes=" ".join(scope for scope in Scope if scope in allowed)
    )
    return text


def revoke_token(digest: str) -> bool:
    """Make the token with this digest invalid from the next request on; tell whether it was valid until now."""
    return bool(Token.objects.filter(digest=digest, revoked_at=None).update(revoked_at=timezone.now()))
