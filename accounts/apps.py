"""The app."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Accounts and tokens."""

    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
