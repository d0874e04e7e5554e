"""Readers who wait when a server is told to stop: by each server that runs the service, on each loop."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvloop

from spades_api.asgi import told_to_stop
from tests.service import Process


@contextmanager
def granian(service) -> Iterator[tuple[Process, str]]:
    """One more server on the same database."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = ["-m", "granian", "--interface", "asgi", "--host", "127.0.0.1", "--port", str(port), "--workers", "2"]
    process = Process(
        "granian",
        [*arguments, "--workers-kill-timeout", "20", "spades_api.asgi:application"],
        service.environment,
        service.folder / "granian.log",
    )
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()


@contextmanager
def serve(service) -> Iterator[tuple[Process, str]]:
    """The server that there is."""
    yield service.server, service.url


@pytest.mark.parametrize("server", [serve, granian])
def test_who_waits_is_told_goodbye_and_the_server_ends_well(start_service, server):
    answers = []
    transport = httpx.HTTPTransport(retries=8)  # granian does not say when it is there
    with (
        server(start_service()) as (process, url),
        httpx.Client(base_url=url, transport=transport, timeout=60) as client,
    ):
        account = client.post("/v1/accounts", json={"name": "Ann"}).json()["token"]
        body = {"ruleset": {"preset": "two_player"}, "seats": [{"kind": "human"}]}
        made = client.post("/v1/games", json=body, headers={"Authorization": f"Bearer {account}"}).json()
        address, version = f"/v1/games/{made['game']['id']}/events", made["game"]["version"]
        headers = {"Authorization": f"Bearer {made['seats'][0]['token']}"}

        def wait_for_news() -> None:
            answers.append(client.get(address, params={"after": version, "wait": 30}, headers=headers).json())

        polling = threading.Thread(target=wait_for_news)
        polling.start()
        process.wait_for(r'"route":"/v1/games/<uuid:game_id>/events"')
        with client.stream("GET", address, headers={**headers, "Accept": "text/event-stream"}) as stream:
            told = stream.iter_text()
            assert next(told).startswith("retry: ")

            status = process.terminate()

            assert "".join(told).endswith(": goodbye\n\n")
        polling.join()
        assert answers == [{"items": [], "next": None, "version": version}]
        assert status == 0, process.tail()
        assert "Killing" not in process.tail()
        assert "Traceback" not in process.tail()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("takes", ["loop", "handler"])
@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_server_still_gets_the_signal_that_it_has_taken(new_loop, takes, number):
    async def serve():
        loop, heard, closed = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        if takes == "loop":
            loop.add_signal_handler(number, heard.set)
        else:
            signal.signal(number, lambda *_: heard.set())
        taken = signal.getsignal(number)
        with told_to_stop(closed.set):
            signal.raise_signal(number)
            await asyncio.wait_for(asyncio.gather(heard.wait(), closed.wait()), 20)
        assert signal.getsignal(number) is taken

    before = signal.getsignal(number)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(serve())
    finally:
        signal.signal(number, before)


def test_a_signal_that_no_server_has_taken_is_left_alone():
    async def serve():
        with told_to_stop(lambda: None):
            return signal.getsignal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        assert asyncio.run(serve()) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
