"""The rules as a service."""

from django.apps import AppConfig


class RulesConfig(AppConfig):
    """Registers the app, which has no models."""

    name = "rules"
