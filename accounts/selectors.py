"""Reads: whose token it is, and what it allows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from accounts import bearer as bearers
from accounts.bearer import Bearer
from accounts.models import Account
from contract.problems import ContractReason, Problem
from contract.scopes import Scope

__all__ = ["Principal", "get_account", "principal_for", "principal_of", "unknown_token"]

_PRINCIPAL: Final = """
    SELECT token.account_id, token.scopes
    FROM accounts_token AS token
    WHERE token.digest = %s AND token.revoked_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Principal:
    """An account that asks, and the scopes of the token by which it does."""

    account_id: UUID
    scopes: frozenset[str]

    @property
    def key(self) -> str:
        """The principal's name in idempotency records."""
        return f"account:{self.account_id}"

    def require(self, scope: Scope) -> None:
        """Refuse what the token does not allow.

        Raises:
            Problem: `scope_missing`.
        """
        if scope not in self.scopes:
            raise Problem(ContractReason.SCOPE_MISSING, f"The token lacks the scope '{scope}'.")


def unknown_token() -> Problem:
    """Make the refusal of a token that does not exist or no longer holds; the two are answered alike."""
    return Problem(ContractReason.UNAUTHENTICATED, "The token is unknown, or it has been revoked or has ended.")


def principal_for(bearer: Bearer, scope: Scope | None = None) -> Principal:
    """Find the account of a token, in one short read, and check that the token allows `scope`.

    Raises:
        Problem: `scope_missing`, for a token of another kind too; `unauthenticated` for one that is unknown or revoked.
    """
    if bearer.kind != bearers.ACCOUNT:
        raise Problem(ContractReason.SCOPE_MISSING, "This operation takes an account's token, which begins with spk_.")
    with connection.cursor() as cursor:
        cursor.execute(_PRINCIPAL, [bearer.digest])
        row = cursor.fetchone()
    if row is None:
        raise unknown_token()
    account_id, scopes = row
    principal = Principal(
        account_id if isinstance(account_id, UUID) else UUID(account_id),  # SQLite has no type for it
        frozenset(scopes.split()),
    )
    if scope is not None:
        principal.require(scope)
    return principal


def principal_of(request: Any, scope: Scope | None = None) -> Principal:
    """Find the account that a request comes from, as `principal_for` does.

    Raises:
        Problem: `unauthenticated` or `scope_missing`.
    """
    return principal_for(bearers.require(request), scope)


@dataclass(frozen=True, slots=True)
class AccountView:
    """What an account may know of itself."""

    id: UUID
    name: str
    created_at: datetime


def get_account(account_id: UUID) -> AccountView:
    """Get an account.

    Raises:
        Account.DoesNotExist: there is none of this id.
    """
    return AccountView(*Account.objects.values_list("id", "name", "created_at").get(id=account_id))
