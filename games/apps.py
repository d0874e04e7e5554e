"""The tables where people and bots play."""

from django.apps import AppConfig


class GamesConfig(AppConfig):
    """Registers the app."""

    name = "games"
