from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, connections, transaction

from events import log
from events.log import Entry
from events.models import Event

pytestmark = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)
"""What is written is committed, so that other connections see it."""

PLAYED = Entry("card_played", "N", 1, {"card": "4H"})
DRAWN = Entry("card_drawn", "A", 1, {"discarded": None}, {"A": {"kept": "QH"}, "B": {"seen": "2C"}})


@contextmanager
def open_transaction(work):
    """Another connection in a transaction that has done `work`; it commits when the block ends."""
    done, may_commit = threading.Event(), threading.Event()

    def write() -> None:
        try:
            with transaction.atomic():
                work()
                done.set()
                assert may_commit.wait(30)
        finally:
            connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    assert done.wait(30)
    try:
        yield
    finally:
        may_commit.set()
        writer.join(30)


def read_tail(cursor, count):
    """Follow the tail until it has given `count` rows. Whoever else writes to the cluster delays it."""
    found, deadline = [], time.monotonic() + 60
    while len(found) < count and time.monotonic() < deadline:
        rows, cursor = log.tail(cursor, 5)
        found += rows
    return found, cursor


def test_a_page_is_what_the_reader_may_know(write_events):
    game_id = uuid4()
    write_events(game_id, PLAYED, DRAWN)

    pages = {seat: log.page(game_id, 0, 10, seat) for seat in ("A", "B", "N", None)}

    played = {
        "number": 1,
        "version": 1,
        "at": "2026-03-01T12:00:00.000250Z",
        "type": "card_played",
        "deal_number": 1,
        "seat": "N",
        "data": {"card": "4H"},
    }
    drawn = {**played, "number": 2, "version": 2, "type": "card_drawn", "seat": "A"}
    assert pages == {
        "A": [played, {**drawn, "data": {"discarded": None, "kept": "QH"}}],
        "B": [played, {**drawn, "data": {"discarded": None, "seen": "2C"}}],
        "N": [played, {**drawn, "data": {"discarded": None}}],
        None: [played, {**drawn, "data": {"discarded": None}}],
    }


def test_a_page_holds_events_of_one_game_after_a_number_in_order(write_events):
    game_id, other = uuid4(), uuid4()
    write_events(game_id, PLAYED, PLAYED)
    write_events(other, PLAYED)
    write_events(game_id, PLAYED, PLAYED)

    numbers = {
        (after, limit): [event["number"] for event in log.page(game_id, after, limit, None)]
        for after, limit in [(0, 10), (2, 10), (0, 3), (4, 10)]
    }

    assert numbers == {(0, 10): [1, 2, 3, 4], (2, 10): [3, 4], (0, 3): [1, 2, 3], (4, 10): []}


@pytest.mark.parametrize(
    ("numbers", "after", "limit", "version", "following"),
    [
        pytest.param([], 4, 10, 4, None, id="nothing"),
        pytest.param([5, 6], 4, 10, 6, None, id="all there is"),
        pytest.param([5, 6], 4, 2, 6, None, id="just enough room"),
        pytest.param([5, 6], 4, 2, 9, "6", id="more"),
    ],
)
def test_a_body_names_the_next_page_only_if_there_is_one(numbers, after, limit, version, following):
    items = [{"number": number} for number in numbers]

    body = log.body(items, after=after, limit=limit, version=version)

    assert body == {"items": items, "next": following, "version": version}


def test_an_old_format_is_read_in_todays(write_events, monkeypatch):
    game_id = uuid4()
    write_events(game_id, DRAWN)
    monkeypatch.setattr(log, "FORMAT", 3)
    monkeypatch.setattr(
        log,
        "UPGRADES",
        {
            1: lambda type_, public, own: ({**public, "was": type_}, own),
            2: lambda _, public, own: (public, {seat: {"own": part} for seat, part in own.items()}),
        },
    )

    data = [log.page(game_id, 0, 10, seat)[0]["data"] for seat in ("A", None)]

    assert data == [
        {"discarded": None, "was": "card_drawn", "own": {"kept": "QH"}},
        {"discarded": None, "was": "card_drawn"},
    ]


def test_every_old_format_has_an_upgrade():
    assert sorted(log.UPGRADES) == list(range(1, log.FORMAT))


@pytest.mark.parametrize("change", [Event.objects.all().update, Event.objects.all().delete])
def test_events_cannot_be_changed(write_events, change):
    if connection.vendor != "postgresql":
        pytest.skip("the trigger is PostgreSQL's")
    game_id = uuid4()
    write_events(game_id, PLAYED)

    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        change(**({"type": "lie"} if change.__name__ == "update" else {}))

    assert [event["type"] for event in log.page(game_id, 0, 10, None)] == ["card_played"]


@committed
def test_the_tail_gives_each_event_once_and_in_order(write_events):
    games = [uuid4() for _ in range(3)]
    start = log.now()
    for game_id in games * 2:
        write_events(game_id, PLAYED, DRAWN)

    rows, cursor = read_tail(start, 12)

    found = [(row.game_id, row.number) for row in rows]
    assert found == [(game_id, number) for numbers in ((1, 2), (3, 4)) for game_id in games for number in numbers]
    assert log.tail(cursor, 5) == ([], cursor)


def test_the_last_numbers_of_games_are_asked_for_together(write_events):
    games = [uuid4() for _ in range(3)]
    for game_id in games[:2]:
        write_events(game_id, PLAYED, DRAWN)
    write_events(games[0], PLAYED)

    assert log.last_numbers(games) == {games[0]: 3, games[1]: 2}
    assert log.last_numbers([]) == {}


@committed
def test_a_tail_may_start_behind_what_there_is(write_events):
    game_id = uuid4()
    write_events(game_id, PLAYED)

    start = log.now()
    write_events(game_id, DRAWN)

    assert [(row.game_id, row.number, row.own) for row in read_tail(start, 1)[0]] == [
        (game_id, 2, {"A": {"kept": "QH"}, "B": {"seen": "2C"}})
    ]
    assert [row.number for row in read_tail(log.START, 2)[0]] == [1, 2]


@committed
def test_the_tail_does_not_miss_a_late_commit(write_events):
    """The earlier transaction takes its number first and commits last."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    early, late = uuid4(), uuid4()
    start = log.now()
    with open_transaction(lambda: write_events(early, PLAYED)):
        write_events(late, PLAYED)
        before, cursor = log.tail(start, 10)
    after, cursor = read_tail(cursor, 2)

    assert [row.game_id for row in before] == []
    assert [row.game_id for row in after] == [early, late]
    assert log.tail(cursor, 10) == ([], cursor)


@committed
def test_a_tail_that_starts_during_a_late_commit_has_it(write_events):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    early, late = uuid4(), uuid4()
    with open_transaction(lambda: write_events(early, PLAYED)):
        write_events(late, PLAYED)
        start = log.now()

    assert [row.game_id for row in read_tail(start, 2)[0]] == [early, late]


def test_a_savepoint_has_the_number_of_its_transaction(write_events):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no such numbers")
    game_id = uuid4()

    write_events(game_id, PLAYED)
    with transaction.atomic():
        write_events(game_id, PLAYED)
    Event.objects.create(
        game_id=game_id, number=3, version=3, at="2026-03-01T12:00Z", type="x", public="{}", own="{}", format=1
    )

    numbers = set(Event.objects.filter(game_id=game_id).values_list("xid", flat=True))
    assert len(numbers) == 1
    assert None not in numbers
