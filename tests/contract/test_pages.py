from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Account
from contract.ids import uuid7
from contract.pages import decode_cursor, encode_cursor, page, rows_behind
from contract.problems import Problem

NOW = datetime(2026, 3, 1, 12, 30, 0, 123456, tzinfo=UTC)


@given(st.datetimes(timezones=st.just(UTC)), st.uuids())
def test_a_cursor_round_trips(created, identity):
    assert decode_cursor(encode_cursor((created, identity))) == (created, identity)


def bad(text):
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "é",
        "====",
        bad(b"{}"),
        bad(b"[1,2]"),
        bad(b'["2026-03-01T12:30:00","018f3c5e7a007cc398c50242ac120002"]'),
        bad(b'["2026-03-01T12:30:00+00:00","x"]'),
        bad(b"\xff\xff"),
        encode_cursor((NOW, UUID(int=1))) + "A",
    ],
)
def test_text_that_is_no_cursor_of_ours_is_malformed(text):
    with pytest.raises(Problem) as refused:
        decode_cursor(text)

    [fault] = refused.value.errors
    assert fault.pointer == "?cursor"


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7])
def test_pages_give_every_row_once_though_all_share_an_instant(count):
    rows = sorted((NOW - timedelta(seconds=number // 3), uuid7()) for number in range(count))
    seen: list[tuple[datetime, UUID]] = []
    cursor = None

    for _ in range(10):
        after = decode_cursor(cursor) if cursor else (datetime.min.replace(tzinfo=UTC), UUID(int=0))
        answer = page([row for row in rows if row > after][:4], 3, lambda row: row)
        seen += answer["items"]
        cursor = answer["next"]
        if cursor is None:
            break

    assert seen == rows


@pytest.mark.django_db
@pytest.mark.parametrize("newest_first", [False, True])
def test_every_row_of_a_table_is_read_once_though_some_share_an_instant(newest_first):
    for number in range(7):
        Account.objects.create(name="Ann", created_at=NOW + timedelta(seconds=number // 3))
    rows = sorted(((one.created_at, one.id) for one in Account.objects.all()), reverse=newest_first)
    seen: list[tuple[datetime, UUID]] = []

    for _ in range(5):
        found = rows_behind(seen[-1] if seen else None, Account.objects.all(), 2, newest_first=newest_first)
        seen += [(one.created_at, one.id) for one in found]

    assert seen == rows


def test_an_id_tells_when_it_was_made():
    early, late = uuid7(), uuid7()

    assert early.version == late.version == 7
    assert early.variant == UUID(int=0x8000_0000_0000_0000).variant
    assert early.int >> 80 <= late.int >> 80
    assert early != late


@pytest.mark.parametrize("created", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_cursor_at_the_edge_of_time_is_refused(created):
    text = base64.urlsafe_b64encode(orjson.dumps([created, "0" * 32])).rstrip(b"=").decode()

    with pytest.raises(Problem):
        decode_cursor(text)
