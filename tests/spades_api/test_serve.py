from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from spades_api.management.commands.serve import make_secret_key
from tests.service import ROOT


def serve(port: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command where it must refuse to start."""
    return subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", str(port)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_running_service_answers(live_service):
    checks = {"database": "ok", "broker": "ok", "bot_turns": "ok"} | ({"worker": "ok"} if live_service.embedded else {})
    assert httpx.get(f"{live_service.url}/readyz", timeout=30).json() == {"status": "ready", "checks": checks}
    assert httpx.get(f"{live_service.url}/nowhere", timeout=30).json()["reason"] == "not_found"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_that_is_told_to_stop_ends_well(start_service, number):
    service = start_service()
    with httpx.Client(timeout=30) as idle:
        idle.get(f"{service.url}/healthz")

        status = service.server.terminate(number)

    assert status == 0, service.server.tail()
    assert "Traceback" not in service.server.tail()


def test_a_service_of_several_processes_needs_a_key(tmp_path):
    result = serve(REDIS_URL="redis://127.0.0.1:1/0", DATABASE_URL=f"sqlite:///{tmp_path / 'x.sqlite3'}")

    assert result.returncode != 0
    assert "SECRET_KEY" in result.stderr


def test_a_service_of_several_processes_does_not_migrate(tmp_path):
    database = tmp_path / "x.sqlite3"
    result = serve(SECRET_KEY="x", REDIS_URL="redis://127.0.0.1:1/0", DATABASE_URL=f"sqlite:///{database}")

    assert result.returncode != 0
    assert "manage.py migrate" in result.stderr


def test_a_key_is_made_once_and_kept_for_its_owner_alone(tmp_path):
    path = tmp_path / "var" / "secret_key"

    made = make_secret_key(path)

    assert len(made) >= 64
    assert make_secret_key(path) == made
    assert path.read_text().strip() == made
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_port_that_is_taken_is_named_with_a_way_out(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = serve(port, SECRET_KEY="x", DATABASE_URL=f"sqlite:///{tmp_path / 'x.sqlite3'}")

    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        f"CommandError: Nothing can be served on 127.0.0.1, port {port}. "
        "Name another port: --port N, or make serve PORT=N."
    )


def test_a_port_that_there_is_not_is_named_too(tmp_path):
    result = serve(70000, SECRET_KEY="x", DATABASE_URL=f"sqlite:///{tmp_path / 'x.sqlite3'}")

    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("CommandError: Nothing can be served on 127.0.0.1, port 70000.")
