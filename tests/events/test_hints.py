from __future__ import annotations

import asyncio
import time
from uuid import uuid4

import pytest
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
        hub = Hub(pool.query)
        sender.attach(hub)
        waiter = await hub.register(game_id)
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


def test_a_hint_reaches_other_processes(write_events, transactional_db, monkeypatch):
    if not django_settings.REDIS_URL:
        pytest.skip("hints between processes need REDIS_URL")
    monkeypatch.setattr(hub_module, "TAIL_SECONDS", 3600.0)
    game_id = uuid4()

    async def scenario():
        pool = Pool(2)
        hub = Hub(pool.query)
        listening = asyncio.create_task(hints.listen(hub))
        waiter = await hub.register(game_id)
        waiter.place(0, None)
        for _ in range(2):  # the first may be found by looking after what was said while nobody listened
            number = await pool.run(write_events, game_id, PLAYED)
            async with asyncio.timeout(30):
                while waiter.seen != number:
                    await asyncio.to_thread(Hints().publish, game_id, number)
        told = [one.number for one in waiter.take()]
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await hub.stop()
        await pool.close()
        return told

    assert asyncio.run(scenario()) == [1, 2]


def test_sending_neither_fails_nor_waits_when_redis_is_away(settings):
    settings.REDIS_URL = NOBODY
    sender = Hints()

    started = time.monotonic()
    for number in range(100):
        sender.publish(uuid4(), number)

    assert time.monotonic() - started < 2


@pytest.mark.parametrize("data", [b"", b"game:1", b"\xff:1", f"{uuid4()}:".encode(), f"{uuid4()}:x".encode()])
def test_what_is_no_hint_is_dropped(data):
    async def scenario():
        async def never(*_):
            raise AssertionError("nothing is read")

        hints.take(Hub(never), data)

    asyncio.run(scenario())
