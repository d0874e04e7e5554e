"""Bad input over HTTP: a problem answer, and nothing written."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account, IdempotencyRecord, Token
from tests.client import ApiClient

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _open(settings):
    settings.OPEN_REGISTRATION = True


BAD = [
    (b'{"name": NaN}', 400, "", "not_json"),
    (b'{"name": "\xff\xfe"}', 400, "", "not_json"),
    (b'{"name": "\\ud83d"}', 400, "", "not_json"),
    (b'{"name": ' + b"[" * 1000 + b"]" * 1000 + b"}", 400, "", "too_deep"),
    (b'{"name": "Ann", "name": "Bob"}', 400, "/name", "duplicate_field"),
    (b'{"name": 3}', 400, "/name", "wrong_type"),
    (b'{"name": null}', 400, "/name", "wrong_type"),
    (b'{"name": ["Ann"]}', 400, "/name", "wrong_type"),
    (b"{}", 400, "/name", "missing_field"),
    (b"", 400, "/name", "missing_field"),
    (b"[]", 400, "", "wrong_type"),
    (b'"Ann"', 400, "", "wrong_type"),
    (b'{"name": "   "}', 400, "/name", "wrong_length"),
    (b'{"name": "' + b"x" * 41 + b'"}', 400, "/name", "wrong_length"),
    (b'{"name": "a\\u0000b"}', 400, "/name", "forbidden_character"),
    (b'{"name": "Ann", "scopes": ["admin"]}', 400, "/scopes", "unknown_field"),
    (b'{"name": "' + b"x" * 1_000_000 + b'"}', 413, None, None),
    (b"name=Ann", 400, "", "not_json"),
]


@pytest.mark.parametrize(("raw", "status", "pointer", "reason"), BAD, ids=[str(raw[:24]) for raw, *_ in BAD])
def test_a_bad_body_is_refused_and_nothing_is_written(raw, status, pointer, reason):
    headers = {"Idempotency-Key": "x" * 22}

    answer = ApiClient().post("/v1/accounts", content=raw, headers=headers, bad=True)

    assert answer.status == status
    if status == 400:
        assert [(fault["pointer"], fault["reason"]) for fault in answer.body["errors"]] == [(pointer, reason)]
    assert (Account.objects.count(), Token.objects.count(), IdempotencyRecord.objects.count()) == (0, 0, 0)


@pytest.mark.parametrize("name", ["A", "x" * 40, "Zoë", "李雷", "👩‍🚀", "a:b", 'quo"te', "</script>"])
def test_a_good_name_is_kept_as_it_is(name):
    answer = ApiClient().post("/v1/accounts", json={"name": name})

    assert answer.status == 201
    assert answer.body["account"]["name"] == name
    assert Account.objects.get().name == name


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=60)
    | st.dictionaries(
        st.sampled_from(["name", "Name", "x"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=50)
        | st.lists(st.text(), max_size=2),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_body_brings_the_service_down(raw):
    answer = ApiClient().post("/v1/accounts", content=raw, bad=True)

    assert answer.status in (201, 400)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60))
def test_no_header_brings_the_service_down(text):
    headers = {"Authorization": text, "X-Request-Id": text, "Accept": text, "If-Match": text, "If-None-Match": text}

    answer = ApiClient().get("/v1/accounts/me", headers=headers, bad=True)

    assert answer.status in (401, 406)


@pytest.mark.parametrize(
    "path", ["/v1/accounts/me/", "/v1", "/v1/", "/v1/accounts/%00", "/v1/accounts/%FF", "/v1/ACCOUNTS"]
)
def test_an_unknown_address_is_a_problem(path):
    answer = ApiClient().get(path, bad=True)

    assert (answer.status, answer.reason) == (404, "not_found")
