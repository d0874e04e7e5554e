from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
import redis
from django.conf import settings as django_settings

from events import hints
from events import hub as hub_module
from events.hints import Hints
from events.hub import Hub
from events.log import Entry
from spades_api.bridge import Pool

PLAYED = Entry("card_played", "A", 1, {"card": "4H"})
NOBODY = "redis://127.0.0.1:1/0"


def test_a_hint_reaches_the_hub_of_its_own_process(write_events, transactional_db, settings):
    settings.REDIS_URL = ""
    game_id = uuid4()
    sender = Hints()

    async def scenario():
        pool = Pool(2)
        hub = Hub(pool.run)
        sender.attach(hub)
        waiter = hub.register(game_id)
        waiter.place(0, None)

        def play() -> None:
            sender.publish(game_id, write_events(game_id, PLAYED))

        await pool.run(play)
        await waiter.wait(30)
        told = [one.number for one in waiter.take()]
        await hub.stop()
        await pool.close()
        return told

    assert asyncio.run(scenario()) == [1]


needs_redis = pytest.mark.skipif(not django_settings.REDIS_URL, reason="hints between processes need REDIS_URL")


@asynccontextmanager
async def listening_hub(*, listen=True):
    pool = Pool(2)
    hub = Hub(pool.run)
    listening = [asyncio.create_task(hints.listen(hub))] if listen else []
    try:
        yield hub, pool
    finally:
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
        await hub.stop()
        await pool.close()


async def next_number(waiter):
    """The number of the next event that a reader is told, which is one."""
    async with asyncio.timeout(30):
        while not (told := waiter.take()):
            await waiter.wait(30)
    (one,) = told
    return one.number


@needs_redis
def test_a_hint_reaches_other_processes(write_events, transactional_db, monkeypatch):
    monkeypatch.setattr(hub_module, "TAIL_SECONDS", 3600.0)
    game_id = uuid4()

    async def scenario():
        async with listening_hub() as (hub, pool):
            waiter = hub.register(game_id)
            waiter.place(0, None)
            heard = []
            for _ in range(2):  # the first may be found by looking after what was said while nobody listened
                number = await pool.run(write_events, game_id, PLAYED)
                await asyncio.to_thread(Hints().publish, game_id, number)
                heard.append(await next_number(waiter))
            return heard

    assert asyncio.run(scenario()) == [1, 2]


@needs_redis
def test_what_was_said_before_a_game_was_listened_to_is_looked_for(write_events, transactional_db, monkeypatch):
    monkeypatch.setattr(hub_module, "TAIL_SECONDS", 3600.0)
    game_id = uuid4()

    async def scenario():
        async with listening_hub(listen=False) as (hub, pool):
            waiter = hub.register(game_id)
            waiter.place(0, None)
            await pool.run(write_events, game_id, PLAYED)  # and nobody says so
            listening = asyncio.create_task(hints.listen(hub))
            try:
                return await next_number(waiter)
            finally:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)

    assert asyncio.run(scenario()) == 1


@needs_redis
def test_a_connection_that_redis_has_closed_costs_no_hint(write_events, transactional_db, monkeypatch):
    monkeypatch.setattr(hub_module, "TAIL_SECONDS", 3600.0)
    monkeypatch.setattr(hints, "IDLE_SECONDS", 0.0)
    game_id, sender = uuid4(), Hints()

    async def scenario():
        async with listening_hub() as (hub, pool):
            waiter = hub.register(game_id)
            waiter.place(0, None)
            number = await pool.run(write_events, game_id, PLAYED)
            await asyncio.to_thread(sender.publish, game_id, number)
            heard = [await next_number(waiter)]

            def disconnect():
                with redis.Redis.from_url(django_settings.REDIS_URL) as server:
                    server.client_kill_filter(_id=None, skipme=True, _type="normal", addr=address(sender))

            await asyncio.to_thread(disconnect)
            number = await pool.run(write_events, game_id, PLAYED)
            await asyncio.to_thread(sender.publish, game_id, number)
            return [*heard, await next_number(waiter)]

    assert asyncio.run(scenario()) == [1, 2]


def address(sender):
    """Where the sender's connection comes from, as Redis knows it."""
    host, port = sender._abroad._connection._sock.getsockname()[:2]
    return f"{host}:{port}"


@pytest.mark.parametrize("abroad", [False, pytest.param(True, marks=needs_redis)])
def test_a_doubt_reaches_whoever_waits_on_the_game(abroad, transactional_db, settings):
    game_id, sender = uuid4(), Hints()
    if not abroad:
        settings.REDIS_URL = ""

    async def scenario():
        async with listening_hub(listen=abroad) as (hub, _):
            if not abroad:
                sender.attach(hub)
            waiter, other = hub.register(game_id), hub.register(uuid4())
            waiter.place(0, None)
            async with asyncio.timeout(30):
                while not waiter.doubted:  # said again until it is heard: nobody may have listened yet
                    await asyncio.to_thread(sender.doubt, game_id)
                    await waiter.wait(0.05)
            return waiter.doubted, other.doubted

    assert asyncio.run(scenario()) == (True, False)


def test_sending_neither_fails_nor_waits_when_redis_is_away(settings):
    settings.REDIS_URL = NOBODY
    sender = Hints()

    started = time.monotonic()
    for number in range(100):
        sender.publish(uuid4(), number)

    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("channel", "data"),
    [
        (b"spades.events", b"1"),
        (b"spades.events.game", b"1"),
        (b"spades.events.\xff", b"1"),
        (b"spades.events.019ad2b4-6c1f-7a52-9c0e-5d1f0a6b7c8d", b""),
        (b"spades.events.019ad2b4-6c1f-7a52-9c0e-5d1f0a6b7c8d", b"x"),
    ],
)
def test_what_is_no_hint_is_dropped(channel, data):
    async def scenario():
        async def never(*_):
            raise AssertionError("nothing is read")

        hints.take(Hub(never), {"type": "message", "channel": channel, "data": data})

    asyncio.run(scenario())
