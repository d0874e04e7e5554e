"""`manage.py serve`: the service, in one process."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import uvicorn
import uvloop
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils.module_loading import import_string

from spades_api import health
from spades_api.celery import app as celery_app
from spades_api.embedded import EmbeddedWorker
from spades_api.protocol import Protocol

START_SECONDS: Final = 30
GRACE_SECONDS: Final = 15
"""How long requests under way may take after the service was told to stop."""


class Server(uvicorn.Server):
    """Uvicorn, told to stop by the command.

    On its own it takes the signals, and raises them again when it has stopped: that kills the process before the worker
    has done what is queued.
    """

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so once requests are accepted."""
        await super().startup(sockets=sockets)
        if self.started:
            self._announce()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals alone."""
        yield


class Command(BaseCommand):
    help = (
        "Serve the API. Without REDIS_URL and BROKER_URL this process does everything: it migrates its database, "
        "serves, and runs the worker that moves for the bots."
    )
    requires_system_checks: list[str] = []  # they take longer than starting

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", default=8000, type=int, help="port to listen on; 0 takes a free one")
        parser.add_argument("--no-worker", action="store_true", help="only serve: no bot of this service moves")

    def handle(self, *, host: str, port: int, no_worker: bool, **_: Any) -> None:
        os.umask(0o077)  # the database holds cards and seeds: it is for this user alone, like the key
        ensure_secret_key()
        if settings.EMBEDDED:
            call_command("migrate", interactive=False, verbosity=0)
        else:
            refuse_old_database()
        connections.close_all()  # this thread needs none from here on
        worker = EmbeddedWorker(celery_app) if settings.EMBEDDED and not no_worker else None
        if worker is not None:
            worker.start()
            health.CHECKS["worker"] = worker.check
        try:
            self.serve(host, port, worker)
        finally:
            if worker is not None:
                worker.stop()

    def serve(self, host: str, port: int, worker: EmbeddedWorker | None) -> None:
        """Serve until SIGTERM or SIGINT, once the worker is there."""
        application = import_string("spades_api.asgi.application")
        config = uvicorn.Config(
            application,
            host=host,
            port=port,
            loop="uvloop",
            http=Protocol,
            ws="none",
            lifespan="on",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,  # anybody could write anything into them
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        try:
            listener = config.bind_socket()
        except (SystemExit, OverflowError):  # uvicorn leaves, having logged why; there is no such port
            other = "Name another port: --port N, or make serve PORT=N."
            raise CommandError(f"Nothing can be served on {host}, port {port}. {other}") from None
        if worker is not None and not worker.wait_until_ready(START_SECONDS):
            raise CommandError("The worker does not start; the log says why.")
        address, bound_port, *_ = listener.getsockname()
        url = f"http://[{address}]:{bound_port}" if ":" in address else f"http://{address}:{bound_port}"

        def announce() -> None:
            self.stdout.write(f"Listening on {url}")
            self.stdout.flush()

        server = Server(config, announce)

        def stop() -> None:
            server.should_exit = True

        async def run() -> None:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, stop)
            await server.serve(sockets=[listener])

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())


def ensure_secret_key() -> None:
    """Use the key that was given; a service that is one process may make its own.

    Raises:
        CommandError: processes that work together must be given the same key.
    """
    try:
        settings.SECRET_KEY  # noqa: B018 - reading it raises when it is empty
    except ImproperlyConfigured:
        if not settings.EMBEDDED:
            raise CommandError("Set SECRET_KEY, the same for every process of the service.") from None
        settings.SECRET_KEY = make_secret_key(settings.SECRET_KEY_FILE)


def make_secret_key(path: Path) -> str:
    """Make a key, keep it where only this user can read it, and return it; or the one that is already there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=path.parent) as draft:  # made with mode 0600
        draft.write(secrets.token_urlsafe(64) + "\n")
        draft.flush()
        with suppress(FileExistsError):
            os.link(draft.name, path)  # all of it or nothing, and never over another one
    return path.read_text(encoding="ascii").strip()


def refuse_old_database() -> None:
    """Several processes share this database, so that one must be migrated when no old code runs any more.

    Raises:
        CommandError: there are migrations to run.
    """
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise CommandError("The database is not up to date. Run: python manage.py migrate")
