from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts import idempotency, tasks
from accounts.models import Account, IdempotencyRecord
from contract.ids import uuid7
from contract.problems import Problem
from tests.client import ApiClient

FINGERPRINT = "f" * 64
KEY = "0123456789-0123456789-"


def keep(key, **changes):
    arguments = {"status": 200, "answer": None, "game_id": None, "version": None, "seat": None, **changes}
    idempotency.keep("account:1", key, FINGERPRINT, **arguments)


@pytest.mark.django_db
def test_the_first_request_finds_nothing_and_the_second_what_was_kept():
    game_id = uuid7()

    first = idempotency.claim("account:1", "k", FINGERPRINT)
    keep("k", status=200, game_id=game_id, version=17, seat="N")
    second = idempotency.claim("account:1", "k", FINGERPRINT)

    assert first is None
    assert second == idempotency.Kept(200, None, game_id, 17, "N")


@pytest.mark.django_db
def test_bytes_come_back_as_they_were():
    keep("k", status=201, answer=bytes(range(256)))

    assert idempotency.claim("account:1", "k", FINGERPRINT) == idempotency.Kept(
        201, bytes(range(256)), None, None, None
    )


@pytest.mark.django_db
def test_another_fingerprint_is_a_mismatch():
    keep("k")

    with pytest.raises(Problem) as refused:
        idempotency.claim("account:1", "k", "e" * 64)

    assert (refused.value.reason, refused.value.status) == ("idempotency_mismatch", 422)


@pytest.mark.django_db
def test_another_principals_key_is_another_key():
    keep("k")

    assert idempotency.claim("account:2", "k", FINGERPRINT) is None


@pytest.mark.django_db
def test_a_record_is_not_written_twice():
    keep("k", version=1)

    with pytest.raises(Problem) as refused:
        keep("k", version=2)

    assert refused.value.reason == "idempotency_in_progress"
    assert IdempotencyRecord.objects.get().version == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("age", "known"), [(timedelta(hours=23, minutes=59), True), (timedelta(hours=24, minutes=1), False)]
)
def test_a_key_is_remembered_for_24_hours(age, known):
    keep("k", version=1)
    IdempotencyRecord.objects.update(created_at=timezone.now() - age)

    assert (idempotency.claim("account:1", "k", FINGERPRINT) is not None) is known


@pytest.mark.django_db
def test_an_old_record_makes_way_for_a_new_one():
    keep("k", version=1)
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=25))

    keep("k", version=2)

    assert idempotency.claim("account:1", "k", FINGERPRINT).version == 2


@pytest.mark.django_db
def test_old_records_are_purged_and_no_others():
    for number in range(3):
        keep(f"old-{number}")
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=25))
    keep("new")

    assert tasks.purge() == 3
    assert tasks.purge() == 0
    assert idempotency.claim("account:1", "new", FINGERPRINT) is not None


@pytest.mark.django_db(transaction=True)
def test_a_request_that_is_undone_leaves_the_key_free():
    with transaction.atomic():
        idempotency.claim("account:1", "k", FINGERPRINT)
        keep("k")
        transaction.set_rollback(True)

    with transaction.atomic():
        assert idempotency.claim("account:1", "k", FINGERPRINT) is None


@pytest.mark.django_db(transaction=True)
def test_a_second_request_meets_the_first_while_that_runs():
    """PostgreSQL says so at once; SQLite lets the second wait until the first has ended."""
    claimed, ended = threading.Event(), threading.Event()

    def first():
        try:
            with transaction.atomic():
                idempotency.claim("account:1", "k", FINGERPRINT)
                claimed.set()
                if connection.vendor == "postgresql":
                    ended.wait(10)
                keep("k", version=17)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(first)
        claimed.wait(10)
        if connection.vendor == "postgresql":
            with pytest.raises(Problem) as refused, transaction.atomic():
                idempotency.claim("account:1", "k", FINGERPRINT)
            assert (refused.value.reason, refused.value.retry_after) == ("idempotency_in_progress", 1)
            with transaction.atomic():
                assert idempotency.claim("account:1", "other", FINGERPRINT) is None
        ended.set()
        with transaction.atomic():
            running.result(10)
            assert idempotency.claim("account:1", "k", FINGERPRINT).version == 17


@pytest.mark.django_db(transaction=True)
def test_the_same_request_20_times_at_once_has_one_effect_and_one_answer():
    start = threading.Barrier(20)

    def send(_):
        client = ApiClient()
        start.wait(10)
        try:
            for _ in range(200):
                answer = client.post("/v1/accounts", json={"name": "Ann"}, headers={"Idempotency-Key": KEY})
                if answer.status != 409:
                    return answer
                assert answer.reason == "idempotency_in_progress"
                assert answer.headers["retry-after"] == "1"
            return answer
        finally:
            connections.close_all()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(send, range(20)))

    assert {answer.status for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotency-replayed" not in answer.headers for answer in answers) == 1
    assert Account.objects.count() == 1


def test_the_columns_are_those_of_the_table():
    assert tuple(field.column for field in IdempotencyRecord._meta.fields) == idempotency.COLUMNS
    assert IdempotencyRecord._meta.db_table == idempotency.TABLE
