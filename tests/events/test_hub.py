from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from django.db import connection, transaction

from events import hub as hub_module
from events import log
from events.hub import Hub
from events.log import Entry
from spades_api.bridge import Pool

pytestmark = pytest.mark.django_db(transaction=True)

PLAYED = Entry("card_played", "A", 1, {"card": "4H"})
SEALED = Entry("card_drawn", "A", 1, {}, {"A": {"kept": "QH"}})
LONG = 30.0


class CountingPool(Pool):
    """A pool that remembers what was read."""

    def __init__(self) -> None:
        super().__init__(2)
        self.read: list[str] = []

    async def run(self, work, *args):
        self.read.append(work.__name__)
        return await super().run(work, *args)


@asynccontextmanager
async def running_hub():
    pool = CountingPool()
    hub = Hub(pool.run)
    try:
        yield hub, pool
    finally:
        await hub.stop()
        await pool.close()


async def told(waiter, count):
    """The numbers that a reader is told, until it has `count`."""
    numbers: list[int] = []
    while len(numbers) < count and not waiter.overflowed:
        await waiter.wait(LONG)
        numbers += [one.number for one in waiter.take()]
    return numbers


def test_a_hint_wakes_a_reader(write_events):
    game_id = uuid4()

    async def scenario():
        async with running_hub() as (hub, pool):
            waiter = hub.register(game_id)
            waiter.place(0, None)
            number = await pool.run(write_events, game_id, PLAYED, PLAYED)
            hub.hint_soon(game_id, number)
            return await told(waiter, 2), pool.read.count("last_numbers")

    assert asyncio.run(scenario()) == ([1, 2], 0)


def test_many_readers_of_a_game_cost_one_read(write_events):
    game_id = uuid4()

    async def scenario():
        async with running_hub() as (hub, pool):
            waiters = [hub.register(game_id) for _ in range(200)]
            for index, waiter in enumerate(waiters):
                waiter.place(0, "AB"[index] if index < 2 else None)
            number = await pool.run(write_events, game_id, SEALED)
            hub.hint(game_id, number)
            for waiter in waiters:
                await waiter.wait(LONG)
            return [waiter.take()[0].event["data"] for waiter in waiters], pool.read.count("rows_after")

    data, reads = asyncio.run(scenario())

    assert data == [{"kept": "QH"}] + [{}] * 199
    assert reads == 1


def test_a_lost_hint_is_found(write_events):
    game_id, other = uuid4(), uuid4()

    async def scenario():
        async with running_hub() as (hub, pool):
            waiter = hub.register(game_id)
            waiter.place(0, None)
            await pool.run(write_events, other, PLAYED)
            await pool.run(write_events, game_id, PLAYED)
            return await told(waiter, 1)

    assert asyncio.run(scenario()) == [1]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
def test_a_lost_hint_is_found_while_a_transaction_elsewhere_stays_open(write_events):
    game_id = uuid4()

    async def scenario():
        async with running_hub() as (hub, pool):
            waiter = hub.register(game_id)
            waiter.place(0, None)
            await pool.run(write_events, game_id, PLAYED)
            return await told(waiter, 1)

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")  # it holds back whatever reads below the oldest transaction
        assert asyncio.run(scenario()) == [1]


def test_nothing_is_lost_between_a_first_read_and_the_wait(write_events):
    game_id = uuid4()
    write_events(game_id, PLAYED)

    async def scenario():
        async with running_hub() as (hub, pool):
            waiter = hub.register(game_id)
            first = await pool.run(log.page, game_id, 0, 10, None)
            hub.hint(game_id, await pool.run(write_events, game_id, PLAYED))
            waiter.place(first[-1]["number"], None)
            return [event["number"] for event in first], await told(waiter, 1)

    assert asyncio.run(scenario()) == ([1], [2])


def test_each_reader_goes_on_from_its_own_place(write_events):
    game_id = uuid4()
    write_events(game_id, *[PLAYED] * 5)

    async def scenario():
        async with running_hub() as (hub, pool):
            waiters = [hub.register(game_id) for _ in range(3)]
            for waiter, after in zip(waiters, (0, 3, 5), strict=True):
                waiter.place(after, None)
            hub.hint(game_id, await pool.run(write_events, game_id, PLAYED))
            return [await told(waiter, count) for waiter, count in zip(waiters, (6, 3, 1), strict=True)]

    assert asyncio.run(scenario()) == [[1, 2, 3, 4, 5, 6], [4, 5, 6], [6]]


def test_a_hint_ahead_of_the_log_does_no_harm(write_events):
    game_id = uuid4()

    async def scenario():
        async with running_hub() as (hub, pool):
            waiter = hub.register(game_id)
            waiter.place(0, None)
            hub.hint(game_id, 99)
            await waiter.wait(0.05)
            before = waiter.take()
            hub.hint(game_id, await pool.run(write_events, game_id, PLAYED))
            return before, await told(waiter, 1)

    assert asyncio.run(scenario()) == ([], [1])


def test_a_hint_that_comes_during_a_read_that_is_too_early_for_it_is_not_lost(write_events, monkeypatch):
    monkeypatch.setattr(hub_module, "TAIL_SECONDS", 3600.0)
    game_id = uuid4()

    async def scenario():
        pool = Pool(2)

        async def run(work, *args):
            rows = await pool.run(work, *args)
            if not waiting.is_set():  # the first read has found nothing, and now something happens
                waiting.set()
                hub.hint(game_id, await pool.run(write_events, game_id, PLAYED))
            return rows

        waiting = asyncio.Event()
        hub = Hub(run)
        waiter = hub.register(game_id)
        waiter.place(0, None)
        hub.read_anew(game_id)
        async with asyncio.timeout(LONG):
            numbers = await told(waiter, 1)
        await hub.stop()
        await pool.close()
        return numbers

    assert asyncio.run(scenario()) == [1]


def test_a_reader_that_takes_nothing_is_given_up(write_events, monkeypatch):
    monkeypatch.setattr(hub_module, "QUEUE_EVENTS", 3)
    game_id = uuid4()

    async def scenario():
        async with running_hub() as (hub, pool):
            slow, fast = hub.register(game_id), hub.register(game_id)
            slow.place(0, None)
            fast.place(0, None)
            numbers = []
            for _ in range(3):
                hub.hint(game_id, await pool.run(write_events, game_id, PLAYED, PLAYED))
                numbers += await told(fast, 2)
            return numbers, fast.overflowed, slow.overflowed, slow.take()

    assert asyncio.run(scenario()) == ([1, 2, 3, 4, 5, 6], False, True, [])


def test_closing_wakes_everybody(write_events):
    async def scenario():
        async with running_hub() as (hub, _):
            waiters = [hub.register(uuid4()) for _ in range(3)]
            for waiter in waiters:
                waiter.place(0, None)
            waits = asyncio.gather(*(waiter.wait(LONG) for waiter in waiters))
            await asyncio.sleep(0)
            hub.close()
            async with asyncio.timeout(LONG / 2):
                await waits
                await hub.register(uuid4()).wait(LONG)  # nobody waits any more
            return hub.closing

    assert asyncio.run(scenario()) is True


def test_a_hint_after_the_loop_has_ended_does_nothing():
    game_id = uuid4()

    async def scenario():
        async with running_hub() as (hub, _):
            hub.register(game_id)
            return hub

    asyncio.run(scenario()).hint_soon(game_id, 1)


def test_a_game_is_forgotten_with_its_last_reader():
    game_id = uuid4()

    async def scenario():
        async with running_hub() as (hub, _):
            first, second = hub.register(game_id), hub.register(game_id)
            first.leave()
            first.leave()
            kept = hub.games
            second.leave()
            return kept, hub.games

    assert asyncio.run(scenario()) == ({game_id}, set())


def test_a_reader_who_comes_while_others_are_read_for_misses_nothing(write_events):
    """It has come less far than those for whom the read was made, so the rows may not be the next ones for it."""
    game_id = uuid4()

    async def scenario():
        pool = Pool(2)

        async def query(work, *args):
            rows = await pool.run(work, *args)
            if work is log.rows_after and late.seen is None:
                late.place(0, None)
            return rows

        hub = Hub(query)
        try:
            early, late = hub.register(game_id), hub.register(game_id)
            number = await pool.run(write_events, game_id, PLAYED, PLAYED, PLAYED)
            early.place(1, None)
            hub.hint(game_id, number)
            numbers = []
            while number not in numbers:
                await late.wait(LONG)
                numbers += [one.number for one in late.take()]
            return await told(early, 2), numbers
        finally:
            await hub.stop()
            await pool.close()

    assert asyncio.run(scenario()) == ([2, 3], [1, 2, 3])
