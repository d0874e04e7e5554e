from __future__ import annotations

import logging

import pytest

from contract import request_ids
from tests.client import ApiClient


@pytest.mark.parametrize("offered", ["abcdefgh", "A.b_c-1234", "x" * 64])
def test_a_well_formed_id_is_taken(offered):
    answer = ApiClient().get("/problems", headers={"X-Request-Id": offered})

    assert answer.headers["x-request-id"] == offered


@pytest.mark.parametrize("offered", ["short", "x" * 65, "with space", "line%0abreak", "quote'quote", "é" * 9, ""])
def test_any_other_id_is_replaced(offered):
    answer = ApiClient().get("/problems", headers={"X-Request-Id": offered})

    assert answer.headers["x-request-id"] != offered
    assert request_ids.usable(answer.headers["x-request-id"]) == answer.headers["x-request-id"]


def test_every_request_has_an_id_of_its_own():
    client = ApiClient()

    ids = {client.get("/problems").headers["x-request-id"] for _ in range(5)}

    assert len(ids) == 5


def test_a_task_can_go_on_under_the_id_of_its_request():
    request_ids.resume("from-a-request")

    assert request_ids.current() == "from-a-request"


@pytest.mark.django_db
def test_the_log_line_tells_what_happened_and_no_secret(caplog, settings):
    settings.OPEN_REGISTRATION = True
    caplog.set_level(logging.INFO, logger="spades.http")
    client = ApiClient()
    key = "secret-key-of-22-characters"

    token = client.post("/v1/accounts", json={"name": "Secretary"}, headers={"Idempotency-Key": key}).body["token"]
    client.get("/v1/accounts/me?secret=1", token=token, bad=True, headers={"X-Request-Id": "find-me-1234"})

    lines = [record.msg for record in caplog.records if record.name == "spades.http"]
    assert len(lines) == 2
    assert {name: lines[1][name] for name in ("method", "route", "status", "reason", "request_id")} == {
        "method": "GET",
        "route": "/v1/accounts/me",
        "status": 400,
        "reason": "malformed",
        "request_id": "find-me-1234",
    }
    text = repr(lines).lower()
    for secret in (token, key, "secretary", "secret"):
        assert secret.lower() not in text
