"""The client that all HTTP tests lean on must itself notice what is wrong."""

from __future__ import annotations

import copy
import json

import pytest

from tests.client import Answer, ApiClient, Contract, contract

HEADERS = {"content-type": "application/json", "x-request-id": "12345678"}
ACCOUNT = {"id": "018f3c5e-7a00-7cc3-98c5-0242ac120002", "name": "Ann", "created_at": "2026-03-01T12:00:00Z"}
PROBLEM = {
    "type": "/problems/unauthenticated",
    "title": "No valid token",
    "status": 401,
    "detail": "No.",
    "reason": "unauthenticated",
    "request_id": "12345678",
}


def get_account():
    return contract().operations["GET", "/v1/accounts/me"]


def answer(status=200, body=ACCOUNT, **headers):
    return Answer(status, {**HEADERS, **headers}, json.dumps(body).encode())


def problem(**changes):
    return answer(
        401, {**PROBLEM, **changes}, **{"content-type": "application/problem+json", "www-authenticate": "Bearer"}
    )


def test_a_true_answer_passes():
    get_account().check_response(answer())
    get_account().check_response(problem())


@pytest.mark.parametrize(
    "wrong",
    [
        answer(201),
        answer(409),
        answer(body={**ACCOUNT, "extra": 1}),
        answer(body={"name": "Ann"}),
        answer(body={**ACCOUNT, "id": "seven"}),
        answer(body={**ACCOUNT, "created_at": "yesterday"}),
        answer(body=[ACCOUNT]),
        answer(**{"content-type": "text/html"}),
        answer(**{"x-request-id": "no"}),
        answer(etag='"1-N"'),
        problem(reason="not_found"),
        problem(status=400),
        problem(extra=1),
        problem(errors=[{"pointer": "/a", "reason": "wrong_type", "detail": "No.", "value": 3}]),
    ],
    ids=str,
)
def test_a_false_answer_is_noticed(wrong):
    with pytest.raises(AssertionError):
        get_account().check_response(wrong)


def test_a_missing_header_is_noticed():
    with pytest.raises(AssertionError, match="X-Request-Id is missing"):
        get_account().check_response(Answer(200, {"content-type": "application/json"}, json.dumps(ACCOUNT).encode()))


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/v1/accounts", {"json": {"nmae": "Ann"}}),
        ("/v1/accounts", {"json": {"name": "Ann"}, "headers": {"If-Match": '"1-N"'}}),
        ("/v1/accounts", {"json": {"name": "Ann"}, "headers": {"Idempotency-Key": "short"}}),
        ("/v1/accounts?x=1", {"json": {"name": "Ann"}}),
        ("/v1/accounts", {}),
        ("/v1/nowhere", {"json": {}}),
    ],
)
def test_a_wrong_request_is_noticed_before_it_is_sent(path, arguments):
    with pytest.raises(AssertionError):
        ApiClient().post(path, **arguments)


def test_an_object_in_a_list_or_an_alternative_is_closed_too():
    document = copy.deepcopy(contract().document)
    inner = {"type": "object", "properties": {"a": {"type": "integer"}}}
    closed = Contract(document)

    for schema, value in [
        ({"type": "array", "items": inner}, [{"a": 1, "b": 2}]),
        ({"oneOf": [{"type": "null"}, inner]}, {"a": 1, "b": 2}),
        ({"allOf": [inner], "properties": {"c": {"type": "integer"}}}, {"a": 1, "b": 2}),
        ({"type": "object", "additionalProperties": inner}, {"x": {"a": 1, "b": 2}}),
    ]:
        assert not closed.validator(schema)().is_valid(value)
    assert closed.validator({"allOf": [inner], "properties": {"c": {"type": "integer"}}})().is_valid({"a": 1, "c": 2})
    assert closed.validator({"type": "object", "additionalProperties": True})().is_valid({"b": 2})
