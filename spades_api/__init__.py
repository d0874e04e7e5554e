"""The project: settings, the server, the worker. Imports everything, imported by nobody."""

from spades_api.celery import app as celery_app

__all__ = ["celery_app"]
