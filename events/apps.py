"""The Django app of the event log."""

from __future__ import annotations

from django.apps import AppConfig


class EventsConfig(AppConfig):
    """Events of all games: one table, written once."""

    name = "events"
    default_auto_field = "django.db.models.BigAutoField"
