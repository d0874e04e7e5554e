"""The project as a Django app, for its management commands."""

from __future__ import annotations

from django.apps import AppConfig


class SpadesApiConfig(AppConfig):
    """Commands of the service."""

    name = "spades_api"
