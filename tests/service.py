"""A whole service for tests: the server as a process, and on Redis a worker and a beat, on a database of its own."""

from __future__ import annotations

import ctypes
import itertools
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
STOP_SECONDS = 60

_numbers = itertools.count(1)


class Process:
    """A process whose output goes to a file, and can be waited for line by line."""

    def __init__(self, name: str, arguments: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._popen = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=end_with_the_tests,  # noqa: PLW1509 - it only makes a system call
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def running(self) -> bool:
        return self._popen.poll() is None

    def _read(self) -> None:
        assert self._popen.stdout is not None
        with self.log.open("a", encoding="utf-8") as kept, self._popen.stdout as output:
            for line in output:
                kept.write(line)
                kept.flush()
                self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, pattern: str, seconds: float = START_SECONDS) -> re.Match[str]:
        """Wait until the process writes a line that has `pattern` in it."""
        while True:
            try:
                line = self._lines.get(timeout=seconds)
            except queue.Empty:
                raise AssertionError(f"{self.name} wrote no {pattern!r} in {seconds} s:\n{self.tail()}") from None
            if line is None:
                raise AssertionError(f"{self.name} ended with {self._popen.wait()}:\n{self.tail()}")
            found = re.search(pattern, line)
            if found:
                return found

    def kill(self) -> None:
        """End it as a power cut would."""
        self._popen.kill()
        self._popen.wait(STOP_SECONDS)

    def terminate(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end, and give its exit status."""
        if self.running:
            self._popen.send_signal(number)
        try:
            status = self._popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end in {STOP_SECONDS} s:\n{self.tail()}") from None
        self._reader.join(STOP_SECONDS)
        return status

    def tail(self) -> str:
        """The end of what it wrote."""
        return self.log.read_text(encoding="utf-8")[-4000:] if self.log.exists() else ""


class Service:
    """A running service.

    Args:
        folder: for its database, if that is SQLite, and for what the processes write.
        database_url: of the tests: on PostgreSQL a new database beside it, otherwise a new file.
        redis_url: of the tests: an index of the same server that nobody uses. Empty for the embedded worker.
        settings: further environment variables.
    """

    def __init__(self, folder: Path, database_url: str, redis_url: str, **settings: str) -> None:
        self.folder = folder
        self.number = next(_numbers)
        self._maintenance = database_url if database_url.startswith("postgres") else ""
        self._database = f"spades_live_{os.getpid()}_{self.number}"
        self.redis_url = unused_index(redis_url) if redis_url else ""
        self.database_url = (
            _with_path(database_url, self._database) if self._maintenance else f"sqlite:///{folder / 'live.sqlite3'}"
        )
        self.environment = {
            **{name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}},
            "DJANGO_SETTINGS_MODULE": "spades_api.settings",
            "SECRET_KEY": "a key of no worth, for a service that a test has started",
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "BROKER_URL": "",
            "OPEN_REGISTRATION": "true",
            "RATE_LIMITS": "false",
            "SQLITE_SYNCHRONOUS": "OFF",  # tests kill processes, they do not cut the power
            "PYTHONUNBUFFERED": "1",
            **settings,
        }
        self.worker: Process | None = None
        self.beat: Process | None = None
        self.server: Process
        self.url = ""

    @property
    def embedded(self) -> bool:
        """Whether the worker is inside the server."""
        return not self.redis_url

    def start(self) -> Service:
        """Start everything, and wait until it works."""
        if self._maintenance:
            self._administer(f'CREATE DATABASE "{self._database}"')
        if not self.embedded:
            self.run("migrate", "migrate", "--verbosity", "0")
        self.start_server()
        if not self.embedded:
            self.start_worker()
            self.beat = self._process("beat", ["-m", "celery", "-A", "spades_api", "beat"])
        return self

    def start_server(self, *arguments: str) -> None:
        """Start the server, at another port each time."""
        self.server = self._process("server", ["manage.py", "serve", "--port", "0", *arguments])
        self.url = self.server.wait_for(r"Listening on (\S+)")[1]

    def start_worker(self) -> None:
        """Start a worker process; only where there is a Redis."""
        options = ["-P", "threads", "-c", "4", "--without-mingle", "--without-gossip", "-n", f"{self._database}@test"]
        self.worker = self._process("worker", ["-m", "celery", "-A", "spades_api", "worker", *options])
        self.worker.wait_for(r"ready\.")

    def run(self, name: str, *arguments: str) -> str:
        """Run a management command to its end, and give what it wrote."""
        process = self._process(name, ["manage.py", *arguments])
        status = process._popen.wait(START_SECONDS)
        process._reader.join(START_SECONDS)
        assert status == 0, f"{name} ended with {status}:\n{process.tail()}"
        return process.tail()

    def stop(self) -> None:
        """End what still runs, and remove what it kept."""
        processes = [self.beat, self.worker, getattr(self, "server", None)]
        try:
            for process in processes:
                if process is not None and process.running:
                    process.terminate()
        finally:
            if self._maintenance:
                self._administer(f'DROP DATABASE IF EXISTS "{self._database}" WITH (FORCE)')
            if self.redis_url:
                with redis.Redis.from_url(self.redis_url) as server:
                    server.flushdb()

    def _process(self, name: str, arguments: list[str]) -> Process:
        return Process(name, arguments, self.environment, self.folder / f"{name}.log")

    def _administer(self, statement: str) -> None:
        with psycopg.connect(_with_path(self._maintenance, "postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def end_with_the_tests() -> None:
    """Have this process killed with the test run, should that end without cleaning up."""
    if _libc is not None:
        _libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))


def unused_index(url: str) -> str:
    """An index of the Redis server in which there is nothing, and now a mark."""
    for index in range(15, 1, -1):
        candidate = _with_path(url, str(index))
        with redis.Redis.from_url(candidate) as server:
            if server.set("spades-test", os.getpid(), nx=True, ex=7200):
                if server.dbsize() == 1:
                    return candidate
                server.delete("spades-test")
    raise AssertionError("every index of the Redis server is in use")
