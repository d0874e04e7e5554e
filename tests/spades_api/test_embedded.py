"""The worker in this process, with an app of its own: the tasks of the service need its database."""

from __future__ import annotations

import threading

import pytest
from celery import Celery

from contract import request_ids
from spades_api.embedded import EmbeddedWorker
from spades_api.transport import queues

FIRST = "local.first"


@pytest.fixture
def local():
    """An app with a first task. It has the tasks of the service too, for those are shared by all apps."""
    queues.clear("celery")
    app = Celery("local", broker="embedded://localhost", set_as_current=False)
    app.conf.update(task_acks_late=True, task_ignore_result=True, worker_enable_remote_control=False)
    app.swept = threading.Event()

    @app.task(name=FIRST, shared=False)
    def sweep() -> None:
        app.swept.set()

    yield app
    queues.clear("celery")
    app.close()


def test_the_worker_sweeps_first(local):
    worker = EmbeddedWorker(local, FIRST)
    worker.start()

    assert local.swept.wait(30)
    worker.check()
    worker.stop()
    assert not worker.alive
    with pytest.raises(RuntimeError):
        worker.check()


def test_a_task_is_done_for_the_request_that_sent_it(local):
    seen = []
    done = threading.Event()

    @local.task(name="look", shared=False)
    def look() -> None:
        seen.append(request_ids.current())
        done.set()

    worker = EmbeddedWorker(local, FIRST)
    worker.start()
    request_ids.resume("request-of-a-test")
    local.send_task("look")
    assert done.wait(30)
    worker.stop()

    assert seen == ["request-of-a-test"]


def test_what_is_queued_is_done_before_the_worker_ends(local):
    done = []
    begun, may_go_on = threading.Event(), threading.Event()

    @local.task(name="work", shared=False)
    def work(number: int) -> None:
        begun.set()
        assert may_go_on.wait(30)
        done.append(number)

    worker = EmbeddedWorker(local, FIRST)
    worker.start()
    for number in range(500):
        local.send_task("work", args=(number,))
    assert begun.wait(30)
    stopping = threading.Thread(target=worker.stop)
    stopping.start()
    may_go_on.set()
    stopping.join(60)

    assert done == list(range(500))
    assert not worker.alive


def test_a_task_that_fails_does_not_end_the_worker(local):
    done = threading.Event()

    @local.task(name="fail", shared=False)
    def fail() -> None:
        raise ValueError("as it must")

    @local.task(name="go on", shared=False)
    def go_on() -> None:
        done.set()

    worker = EmbeddedWorker(local, FIRST)
    worker.start()
    local.send_task("fail")
    local.send_task("go on")

    assert done.wait(30)
    worker.stop()


def test_a_worker_may_follow_another(local):
    for _ in range(2):
        local.swept.clear()
        worker = EmbeddedWorker(local, FIRST)
        worker.start()
        assert local.swept.wait(30)
        worker.stop()


def test_the_beat_sends_what_is_scheduled(local):
    times = threading.Semaphore(0)

    @local.task(name="tick", shared=False)
    def tick() -> None:
        times.release()

    local.conf.beat_schedule = {"tick": {"task": "tick", "schedule": 0.05}}
    worker = EmbeddedWorker(local, FIRST)
    worker.start()

    assert [times.acquire(timeout=30) for _ in range(3)] == [True, True, True]
    worker.stop()
