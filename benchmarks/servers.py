"""The servers that are measured, each with a database of its own that is dropped afterwards."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis
from psycopg import sql

__all__ = ["ROOT", "SERVERS", "Running", "new_database", "product", "serve", "unused_redis"]

ROOT: Final = Path(__file__).resolve().parent.parent
THREADS: Final = 4
START_SECONDS: Final = 60
STOP_SECONDS: Final = 30
_TICKS: Final = os.sysconf("SC_CLK_TCK")

SERVERS: Final[Mapping[str, tuple[str, ...]]] = {
    "uvicorn": (
        *("-m", "uvicorn", "spades_api.asgi:application", "--host", "127.0.0.1", "--loop", "uvloop"),
        *("--http", "httptools", "--ws", "none", "--lifespan", "on", "--no-access-log", "--log-level", "warning"),
        *("--no-proxy-headers", "--no-server-header"),
    ),
    "granian": (
        *("-m", "granian", "spades_api.asgi:application", "--interface", "asgi", "--host", "127.0.0.1", "--http", "1"),
        *("--no-ws", "--loop", "uvloop", "--log-level", "warning"),
    ),
    "serve": ("manage.py", "serve"),
}
"""Ways to run the service: a server and its arguments. `serve` is one process, whatever number is asked for."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server: its address, and the process that it or its workers descend from."""

    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """The processor time of the process and of all that it started, so far; 0 where there is no /proc."""
        if not Path("/proc/self/stat").exists():
            return 0.0
        children: dict[int, list[int]] = {}
        spent: dict[int, float] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                text = stat.read_text(encoding="utf-8", errors="replace")
            except OSError:  # it has ended
                continue
            fields = text.rpartition(")")[2].split()  # the name before it may hold anything
            pid = int(stat.parent.name)
            children.setdefault(int(fields[1]), []).append(pid)
            spent[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
        total, family = 0.0, [self.pid]
        while family:
            pid = family.pop()
            total += spent.get(pid, 0.0)
            family += children.get(pid, [])
        return total


def _with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))


@contextmanager
def new_database(maintenance_url: str, name: str) -> Iterator[str]:
    """An empty PostgreSQL database; gives its address.

    Args:
        maintenance_url: of any database of the cluster.
    """
    name = f"spades_bench_{name}_{os.getpid()}"
    with psycopg.connect(maintenance_url, autocommit=True) as maintenance:
        maintenance.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield _with_path(maintenance_url, name)
        finally:
            maintenance.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def unused_redis(url: str) -> Iterator[str]:
    """An index of a Redis server in which there is nothing; gives its address.

    Raises:
        RuntimeError: every index is in use.
    """
    for index in range(15, 0, -1):
        candidate = _with_path(url, str(index))
        with redis.Redis.from_url(candidate) as server:
            if server.set("spades-bench", os.getpid(), nx=True, ex=7200):
                if server.dbsize() == 1:
                    try:
                        yield candidate
                    finally:
                        server.flushdb()
                    return
                server.delete("spades-bench")
    raise RuntimeError(f"every index of {url} is in use")


@contextmanager
def serve(arguments: tuple[str, ...], settings: Mapping[str, str], path: str) -> Iterator[Running]:
    """Run a server; gives it once it answers.

    Args:
        arguments: of Python; the port is added.
        settings: environment variables.
        path: of a GET that it answers in whatever way once it is up.

    Raises:
        RuntimeError: it does not start.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [sys.executable, *arguments, "--port", str(port)],
            cwd=ROOT,
            env={**kept, **settings},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_up(process, port, path)
            yield Running(f"http://127.0.0.1:{port}", process.pid)
        except Exception as error:
            said.seek(0)
            error.add_note(said.read()[-4000:])
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], port: int, path: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise RuntimeError(f"the server did not start within {START_SECONDS} seconds")


@contextmanager
def product(server: str, processes: int, database_url: str, redis_url: str) -> Iterator[Running]:
    """Run the service on a new database and an unused index of Redis.

    Args:
        server: one of `SERVERS`.
    """
    with ExitStack() as stack:
        settings = {
            "DJANGO_SETTINGS_MODULE": "spades_api.settings",
            "SECRET_KEY": "a key of no worth, for a service that a benchmark has started",
            "DATABASE_URL": stack.enter_context(new_database(database_url, "product")),
            "REDIS_URL": stack.enter_context(unused_redis(redis_url)),
            "OPEN_REGISTRATION": "true",
            "RATE_LIMITS": "false",
            "LOG_LEVEL": "WARNING",
            "THREADS": str(THREADS),
        }
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **settings},
            check=True,
        )
        arguments = SERVERS[server] if server == "serve" else (*SERVERS[server], "--workers", str(processes))
        yield stack.enter_context(serve(arguments, settings, "/healthz"))
