from __future__ import annotations

import pickle

import orjson
import pytest
from django.test import override_settings
from rest_framework.exceptions import ErrorDetail

from contract import problems
from contract.problems import CATALOGUE, ContractReason, Fault, Problem
from spades import Ruleset
from spades.errors import OptionProblem, Reason, RulesetError
from tests.client import ApiClient

REFUSED = [
    ("problem", 409, "seat_taken"),
    ("violation", 422, "must_follow_suit"),
    ("ruleset", 422, "ruleset_contradiction"),
    ("notation", 400, "malformed"),
    ("gone", 404, "not_found"),
    ("no_row", 404, "not_found"),
    ("forbidden", 403, "scope_missing"),
    ("suspicious", 400, "malformed"),
    ("database", 503, "unavailable"),
    ("connection", 503, "unavailable"),
    ("paused", 503, "unavailable"),
    ("bug", 500, "internal_error"),
    ("drf_auth", 401, "unauthenticated"),
    ("drf_denied", 403, "scope_missing"),
    ("drf_throttled", 429, "rate_limited"),
    ("drf_parse", 400, "malformed"),
    ("drf_found", 404, "not_found"),
]


@pytest.fixture
def failing(client, settings):
    settings.ROOT_URLCONF = "tests.contract.urls"
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize(("name", "status", "reason"), REFUSED, ids=[name for name, *_ in REFUSED])
def test_whatever_is_raised_is_answered_as_a_problem(failing, name, status, reason):
    response = failing.get(f"/v1/raise/{name}")

    body = orjson.loads(response.content)
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["Cache-Control"] == "no-store"
    assert list(body)[:6] == ["type", "title", "status", "detail", "reason", "request_id"]
    assert body["type"] == f"/problems/{reason}"
    assert body["reason"] == reason
    assert body["status"] == status
    assert body["title"] == CATALOGUE[reason].title
    assert body["request_id"] == response.headers["X-Request-Id"]
    assert b"secret" not in response.content


def test_a_problem_has_only_the_fields_that_apply(failing):
    plain = orjson.loads(failing.get("/v1/raise/gone").content)
    taken = orjson.loads(failing.get("/v1/raise/problem").content)
    ruled = orjson.loads(failing.get("/v1/raise/violation").content)

    assert set(plain) == {"type", "title", "status", "detail", "reason", "request_id"}
    assert set(taken) - set(plain) == {"version"}
    assert taken["version"] == 7
    assert set(ruled) - set(plain) == {"rule"}
    assert ruled["rule"] == {"option": "first_lead", "value": "lowest_club", "section": "6"}


def test_no_legal_action_is_an_empty_list_and_not_left_out():
    body = Problem(Reason.NOT_IN_HAND, "No.", legal=[]).body("request-1")

    assert body["legal"] == []


def test_retry_after_is_sent_where_waiting_helps(failing):
    assert failing.get("/v1/raise/database").headers["Retry-After"] == "2"
    assert failing.get("/v1/raise/drf_throttled").headers["Retry-After"] == "4"
    assert "Retry-After" not in failing.get("/v1/raise/bug").headers


def test_401_says_how_to_authenticate(failing):
    assert failing.get("/v1/raise/drf_auth").headers["WWW-Authenticate"] == "Bearer"


def test_an_error_of_ours_is_logged_with_the_request_id(failing, caplog):
    response = failing.get("/v1/raise/bug", headers={"X-Request-Id": "find-me-1234"})

    assert response.headers["X-Request-Id"] == "find-me-1234"
    [record] = [record for record in caplog.records if record.name == "spades.problems"]
    assert record.levelname == "ERROR"
    assert "ZeroDivisionError" in caplog.text or "unhandled_exception" in caplog.text


@pytest.mark.parametrize("debug", [False, True])
def test_an_error_outside_every_endpoint_is_a_problem_too(failing, debug):
    with override_settings(DEBUG=debug):
        missing = failing.get("/nowhere/at/all")

    assert missing.status_code == 404
    assert missing.headers["Content-Type"] == "application/problem+json"
    crashed = failing.get("/v1/crash")
    assert crashed.status_code == 500
    assert orjson.loads(crashed.content)["reason"] == "internal_error"


def test_a_host_that_is_not_served_gets_a_problem(failing, settings):
    settings.ALLOWED_HOSTS = ["localhost"]

    response = failing.get("/v1/raise/gone", headers={"Host": "evil.example"})

    assert response.status_code == 400
    assert orjson.loads(response.content)["reason"] == "malformed"


def test_nested_errors_become_pointers():
    detail = {
        "seats": [{}, {"na/me": [ErrorDetail("Too long.", code="max_length")]}],
        "cards": {2: [ErrorDetail("No card.", code="bad_format")]},
        "tricks": [ErrorDetail("Gone.", code="required")],
        "non_field_errors": [ErrorDetail("As a whole.", code="anything")],
    }

    faults = problems.faults_of(detail)

    assert faults == [
        Fault("/seats/1/na~1me", "wrong_length", "Too long."),
        Fault("/cards/2", "bad_format", "No card."),
        Fault("/tricks", "missing_field", "Gone."),
        Fault("", "bad_format", "As a whole."),
    ]


def test_a_long_list_of_faults_is_cut_but_counted():
    faults = [Fault(f"/{number}", "unknown_field", "No.") for number in range(150)]

    body = problems.malformed(faults).body("request-1")

    assert len(body["errors"]) == 100
    assert body["detail"] == "/0: No. (150 faults in all)"


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (["ruleset_contradiction"], "ruleset_contradiction"),
        (["option_not_supported", "ruleset_contradiction"], "option_not_supported"),
        (["ruleset_contradiction", "wrong_type"], "malformed"),
        (["no_reason_of_ours"], "malformed"),
    ],
)
def test_a_ruleset_with_anything_malformed_in_it_is_malformed(reasons, expected):
    error = RulesetError(tuple(OptionProblem("bag_points", 7, reason, "No.") for reason in reasons))

    problem = Problem.of_ruleset(error, "/rules")

    assert problem.reason == expected
    assert [fault.reason for fault in problem.errors] == reasons
    assert {fault.pointer for fault in problem.errors} == {"/rules/bag_points"}


def test_a_contradiction_names_the_option_and_its_value():
    with pytest.raises(RulesetError) as refused:
        Ruleset.resolve({"teams": "trios", "moon": "bid_all", "moon_success": 200})

    problem = Problem.of_ruleset(refused.value)

    assert [(fault.pointer, fault.detail) for fault in problem.errors] == [
        ("/ruleset/teams", 'teams "trios": trios need six players, not 4'),
        ("/ruleset/moon", "moon_fail null: say what a missed moon costs (because of moon)"),
    ]


def test_a_problem_survives_pickling():
    problem = pickle.loads(pickle.dumps(Problem(ContractReason.STALE_VERSION, "Old.", version=3)))

    assert (problem.reason, problem.detail, problem.version) == (ContractReason.STALE_VERSION, "Old.", 3)


@pytest.mark.parametrize("reason", sorted(CATALOGUE))
def test_every_reason_has_a_page(reason):
    client = ApiClient()

    page = client.get(f"/problems/{reason}", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    document = client.get(f"/problems/{reason}", headers={"Accept": "application/json"})

    assert page.status == document.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f"<code>{reason}</code>" in page.content.decode()
    assert "script" not in page.content.decode()
    assert document.body == {
        "type": f"/problems/{reason}",
        "reason": reason,
        "status": CATALOGUE[reason].status,
        "title": CATALOGUE[reason].title,
        "help": CATALOGUE[reason].help,
    }


def test_the_list_of_pages_links_every_reason():
    client = ApiClient()

    page = client.get("/problems").content.decode()
    listed = client.get("/problems", headers={"Accept": "application/json"}).body

    assert all(f'href="/problems/{reason}"' in page for reason in CATALOGUE)
    assert {item["reason"] for item in listed["items"]} == set(CATALOGUE)


def test_an_unknown_reason_has_no_page():
    answer = ApiClient().get("/problems/no_such_reason")

    assert (answer.status, answer.reason) == (404, "not_found")


@pytest.mark.parametrize("path", ["/problems", "/problems/malformed", "/docs", "/docs/start.js"])
def test_pages_take_no_other_method(path):
    answer = ApiClient().post(path, json={})

    assert (answer.status, answer.reason) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD"
