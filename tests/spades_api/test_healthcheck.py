from __future__ import annotations

import os
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import pytest

from spades_api import healthcheck
from tests.service import START_SECONDS, Process


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


def test_a_server_that_is_ready_is_healthy(live_service, monkeypatch, capsys):
    monkeypatch.setenv("ALLOWED_HOSTS", "localhost,127.0.0.1")

    assert healthcheck.main(["web", str(urlsplit(live_service.url).port)]) == 0
    assert capsys.readouterr().err == ""


def test_a_server_that_is_not_there_is_not(free_port, capsys):
    assert healthcheck.main(["web", free_port]) == 1
    assert "does not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("allowed", "host"),
    [
        ("", "localhost"),
        ("*", "localhost"),
        ("spades.example.org,x", "spades.example.org"),
        (".example.org", "example.org"),
    ],
)
def test_a_server_that_is_not_ready_is_not_and_is_asked_under_a_name_of_its_own(monkeypatch, capsys, allowed, host):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers["Host"]))
            self.send_error(503, "Not ready: broker.")

        def log_message(self, *args):
            """Say nothing."""

    monkeypatch.setenv("ALLOWED_HOSTS", allowed)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        answering = threading.Thread(target=server.handle_request)
        answering.start()
        status = healthcheck.main(["web", str(server.server_port)])
        answering.join()

    assert (status, asked) == (1, [("/readyz", host)])
    assert "503" in capsys.readouterr().err


def test_a_worker_that_cannot_be_asked_is_not(free_port, monkeypatch, capsys):
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port}/0")
    monkeypatch.delenv("BROKER_URL", raising=False)

    assert healthcheck.main(["worker"]) == 1
    assert "cannot be asked" in capsys.readouterr().err


def test_a_worker_of_another_host_does_not_count(live_service, monkeypatch, capsys):
    if live_service.embedded:
        pytest.skip("the worker is inside the server")
    monkeypatch.setenv("REDIS_URL", live_service.redis_url)
    monkeypatch.delenv("BROKER_URL", raising=False)
    monkeypatch.setattr(healthcheck, "SECONDS", 1.0)

    assert healthcheck.main(["worker"]) == 1
    assert "does not answer" in capsys.readouterr().err


def test_a_beat_is_as_healthy_as_its_file_is_young(tmp_path, monkeypatch, capsys):
    file = tmp_path / "heartbeat"
    monkeypatch.setenv("HEARTBEAT_FILE", str(file))

    statuses = [healthcheck.main(["beat"])]
    for age in (0, 20, 40):
        file.touch()
        os.utime(file, (time.time() - age,) * 2)
        statuses.append(healthcheck.main(["beat"]))

    assert statuses == [1, 0, 0, 1]
    assert capsys.readouterr().err.splitlines() == [
        "The beat has sent no task yet.",
        "The beat has sent no task for 40 s.",
    ]


def test_a_beat_touches_its_file(start_service, tmp_path, monkeypatch):
    service = start_service()
    file = tmp_path / "heartbeat"
    monkeypatch.setenv("HEARTBEAT_FILE", str(file))
    environment = {**service.environment, "HEARTBEAT_FILE": str(file)}
    beat = Process(
        "beat", ["-m", "celery", "-A", "spades_api", "beat"], environment, service.folder / "second-beat.log"
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while healthcheck.main(["beat"]) != 0:
            assert time.monotonic() < deadline, beat.tail()
            assert beat.running, beat.tail()
            time.sleep(0.1)
    finally:
        assert beat.terminate() == 0
