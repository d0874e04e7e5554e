"""Accounts over HTTP."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from accounts import idempotency, selectors, services
from accounts.api.serializers import AccountSerializer, CreateAccountSerializer, NewAccountSerializer
from contract import limits
from contract.endpoint import Endpoint, answer
from contract.problems import ContractReason, Problem
from contract.schema import ACCOUNT, operation
from contract.serializers import read_body

__all__ = ["AccountsView", "OwnAccountView"]


def _shown(account: Any) -> dict[str, Any]:
    return {"id": account.id, "name": account.name, "created_at": account.created_at}


class AccountsView(Endpoint):
    """`/v1/accounts`."""

    @operation(
        "create_account",
        summary="Open an account",
        tag="Accounts",
        scope=None,
        tokens=(),
        limit="accounts",
        reasons=[ContractReason.REGISTRATION_CLOSED],
        request=CreateAccountSerializer,
        responses={201: NewAccountSerializer},
    )
    def post(self, request: Request) -> HttpResponse:
        """Open an account and get its API token, which is shown this once.

        The token allows everything but administration. Whoever runs the service may have closed this; accounts are then
        made by a command.
        """
        if not settings.OPEN_REGISTRATION:
            raise Problem(ContractReason.REGISTRATION_CLOSED, "Whoever runs this service makes the accounts.")
        body = read_body(request, CreateAccountSerializer)

        def effect() -> idempotency.Answer:
            account, token = services.create_account(body["name"])
            return idempotency.Answer(
                201, {"account": _shown(account), "token": token}, {"Location": "/v1/accounts/me"}
            )

        return idempotency.answered(request, f"address:{limits.address(request)}", effect, unguessable=True)


class OwnAccountView(Endpoint):
    """`/v1/accounts/me`."""

    @operation(
        "get_account",
        summary="Get your account",
        tag="Accounts",
        scope=None,
        tokens=(ACCOUNT,),
        responses={200: AccountSerializer},
    )
    def get(self, request: Request) -> HttpResponse:
        """Get the account that the token belongs to. Any scope will do."""
        principal = selectors.principal_of(request)
        return answer(_shown(selectors.get_account(principal.account_id)))
