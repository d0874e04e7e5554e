"""Scores for apps that play elsewhere."""

from django.apps import AppConfig


class ScoringConfig(AppConfig):
    """Registers the app."""

    name = "scoring"
