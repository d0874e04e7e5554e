"""The Celery app: bot turns and sweeps.

A task is a hint that something is due; what is due stands in the tables. So a lost task is found by a sweep, a task
that runs twice does nothing the second time, and sending one may fail without harm.
"""

from __future__ import annotations

import logging.config
import os
from pathlib import Path
from typing import Any

import structlog
from celery import Celery, signals
from django.conf import settings
from django.db import connections

from contract import request_ids
from spades_api import transport

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "spades_api.settings")

transport.register()
app = Celery("spades_api")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect(weak=False)
def keep_logging(**_: Any) -> None:
    """Log as the settings say: with a receiver here, Celery sets up nothing of its own."""
    logging.config.dictConfig(settings.LOGGING)


@signals.before_task_publish.connect(weak=False)
def send_request_id(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """Let a task know for which request it is done."""
    request_id = request_ids.current()
    if headers is not None and request_id is not None:
        headers["request_id"] = request_id


@signals.task_prerun.connect(weak=False)
def bind_to_logs(task_id: str, task: Any, **_: Any) -> None:
    """Put the task and its request into every line that it logs; tasks that it sends belong to that request too."""
    request_ids.resume(task.request.get("request_id"))
    structlog.contextvars.bind_contextvars(task=task.name, task_id=task_id)


@signals.task_postrun.connect(weak=False)
def tidy_up(**_: Any) -> None:
    """Forget the task, and replace a database connection that broke: Celery's own closing of them is switched off."""
    request_ids.forget()
    structlog.contextvars.clear_contextvars()
    for connection in connections.all(initialized_only=True):
        connection.close_if_unusable_or_obsolete()


@signals.beat_init.connect(weak=False)
def keep_heartbeat(**_: Any) -> None:
    """Have the beat touch a file each time it has sent a task, for who looks after it: nobody can ask it anything."""
    if settings.HEARTBEAT_FILE:
        signals.after_task_publish.connect(_touch, weak=False)


def _touch(**_: Any) -> None:
    Path(settings.HEARTBEAT_FILE).touch()
