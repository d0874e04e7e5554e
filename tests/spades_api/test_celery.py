from __future__ import annotations

import time

import pytest
from celery import Celery
from django.conf import settings as django_settings
from kombu.exceptions import OperationalError

from spades_api import settings as settings_module
from spades_api.celery import app


def test_every_scheduled_task_is_there():
    app.loader.import_default_modules()

    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)


def test_a_scheduled_task_that_comes_too_late_is_dropped():
    for name, entry in app.conf.beat_schedule.items():
        assert entry["options"]["expires"] <= entry["schedule"], name


def test_tasks_are_acknowledged_when_they_are_done_and_leave_nothing_behind():
    task = app.tasks["games.sweep"]

    assert (task.acks_late, task.reject_on_worker_lost, task.ignore_result) == (True, True, True)
    assert app.conf.result_backend is None
    assert app.conf.accept_content == ["json"]


def test_sending_fails_soon_when_the_broker_is_away():
    alone = Celery("alone", broker="redis://127.0.0.1:1/0", set_as_current=False)
    alone.conf.update(
        broker_transport_options=settings_module.REMOTE_BROKER,
        task_publish_retry=django_settings.CELERY_TASK_PUBLISH_RETRY,
        broker_connection_timeout=django_settings.CELERY_BROKER_CONNECTION_TIMEOUT,
    )

    started = time.monotonic()
    for _ in range(3):
        with pytest.raises(OperationalError):
            alone.send_task("games.sweep")

    assert time.monotonic() - started < 3
    alone.close()
