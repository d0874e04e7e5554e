"""Make an account from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rest_framework.exceptions import ValidationError

from accounts.api.serializers import CreateAccountSerializer
from accounts.services import create_account
from contract.scopes import DEFAULT_SCOPES, Scope


class Command(BaseCommand):
    help = "Make an account and print its API token, which is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="1 to 40 characters; what other players see")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[str(scope) for scope in Scope],
            dest="scopes",
            help=f"what the token allows; may be given several times (default: {', '.join(DEFAULT_SCOPES)})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            body = CreateAccountSerializer().run_validation({"name": options["name"]})
        except ValidationError as exc:
            raise CommandError("; ".join(str(detail) for detail in exc.detail["name"])) from None  # type: ignore[call-overload]
        _, token = create_account(body["name"], options["scopes"] or DEFAULT_SCOPES)
        self.stdout.write(token)
