from __future__ import annotations

import re

import jsonschema_rs
import pytest
import yaml
from django.urls import get_resolver
from django.urls.resolvers import URLPattern
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema

from accounts.api.serializers import CreateAccountSerializer
from contract.endpoint import Endpoint
from contract.limits import POLICIES
from contract.reasons import CATALOGUE
from contract.schema import NO_SCOPE, OPERATIONS, TAGS, TOKENS, operation
from contract.scopes import Scope
from spades.errors import Reason
from tests.client import SCHEMA, ApiClient, contract

DOCUMENT = contract().document
ENTRIES = [
    pytest.param(path, method, entry, id=entry["operationId"])
    for path, item in DOCUMENT["paths"].items()
    for method, entry in item.items()
]
every_operation = pytest.mark.parametrize(("path", "method", "entry"), ENTRIES)


@pytest.fixture(scope="module")
def generated():
    return SchemaGenerator().get_schema(request=None, public=True)


def routes(patterns, prefix=""):
    for pattern in patterns:
        text = prefix + str(pattern.pattern)
        if not isinstance(pattern, URLPattern):
            yield from routes(pattern.url_patterns, text)
        elif text.startswith("v1/"):
            path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", text)
            view = getattr(pattern.callback, "cls", None)
            assert view is not None, f"{path} is no Endpoint"
            assert issubclass(view, Endpoint), f"{path} is no Endpoint"
            for method in view.http_method_names:
                if hasattr(view, method) and method not in ("head", "options"):
                    yield path, method, view


def test_the_committed_schema_is_current(generated):
    assert SCHEMA.read_bytes() == OpenApiYamlRenderer().render(generated, renderer_context={}), "run make schema"


def test_the_schema_is_valid_openapi(generated):
    validate_schema(generated)

    assert generated["openapi"] == "3.1.0"


def test_every_route_is_an_operation_and_every_operation_a_route():
    found = {(path, method) for path, method, _ in routes(get_resolver().url_patterns)}
    listed = {(path, method) for path, item in DOCUMENT["paths"].items() for method in item}

    assert found == listed


def test_every_method_is_declared():
    for path, method, view in routes(get_resolver().url_patterns):
        declared = getattr(getattr(view, method), "operation", None)
        assert declared is not None, f"{method} {path} has no @operation"
        assert OPERATIONS[declared.id] is declared


@every_operation
def test_an_operation_says_what_it_is(path, method, entry):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", entry["operationId"])
    assert entry["summary"]
    assert not entry["summary"].endswith(".")
    assert entry["description"].endswith(".")
    assert len(entry["tags"]) == 1
    assert entry["tags"][0] in TAGS


@every_operation
def test_an_operation_lists_its_errors_with_their_reasons(path, method, entry):
    statuses = {int(status) for status in entry["responses"]}
    successes = {status for status in statuses if status < 300}

    assert successes
    assert statuses >= {400, 406, 429, 500, 503}
    if entry["x-tokens"]:
        assert statuses >= {401, 403}
    if "{" in path:
        assert 404 in statuses
    if "requestBody" in entry:
        assert statuses >= {413, 415}
    for status in statuses - successes - {304}:
        response = contract().resolve(entry["responses"][str(status)])
        [content] = response["content"].values()
        assert list(response["content"]) == ["application/problem+json"]
        reasons = contract().resolve(content["schema"])["allOf"][1]["properties"]["reason"]["enum"]
        assert reasons
        for reason in reasons:
            assert CATALOGUE[reason].status == status
            assert f"`{reason}`" in response["description"]


@every_operation
def test_an_operation_names_scope_tokens_and_limit(path, method, entry):
    assert entry["x-scope"] in {NO_SCOPE, *map(str, Scope)}
    assert set(entry["x-tokens"]) <= set(TOKENS)
    assert entry["security"] == ([{"bearer": []}] if entry["x-tokens"] else [])
    assert entry["x-limit"]
    for limit in entry["x-limit"]:
        policy = POLICIES[limit["name"]]
        assert (limit["requests"], limit["seconds"], limit["by"]) == (policy.quota, policy.window, policy.by)


@every_operation
def test_an_operation_has_examples_that_are_true(path, method, entry):
    """Examples are recorded by the tests: RECORD_EXAMPLES=1 make test, then make schema."""
    if "requestBody" in entry:
        content = entry["requestBody"]["content"]["application/json"]
        assert content.get("examples"), "no example of the request"
        for example in content["examples"].values():
            check(content["schema"], example["value"])
    for status, response in entry["responses"].items():
        content = contract().resolve(response).get("content", {}).get("application/json")
        if status.startswith("2") and content is not None and entry["operationId"] != "get_schema":
            assert content.get("examples"), f"no example of {status}"
            for example in content["examples"].values():
                check(content["schema"], example["value"])


def check(schema, value):
    jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(value)


@every_operation
def test_a_post_takes_an_idempotency_key(path, method, entry):
    headers = {parameter["name"] for parameter in entry.get("parameters", []) if parameter["in"] == "header"}

    assert ("Idempotency-Key" in headers) == (method == "post")
    assert "X-Request-Id" in headers


@every_operation
def test_what_is_made_has_an_address(path, method, entry):
    if "201" in entry["responses"]:
        assert "Location" in entry["responses"]["201"]["headers"]


def test_operation_ids_are_unique():
    ids = [entry["operationId"] for item in DOCUMENT["paths"].values() for entry in item.values()]

    assert len(ids) == len(set(ids))


def components_below(part, found):
    """The names of all components that `part` leads to."""
    if isinstance(part, dict):
        name = str(part.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in DOCUMENT["components"]["schemas"] and name not in found:
            found.add(name)
            components_below(DOCUMENT["components"]["schemas"][name], found)
        for inner in part.values():
            components_below(inner, found)
    elif isinstance(part, list):
        for inner in part:
            components_below(inner, found)
    return found


def test_what_is_accepted_is_closed_and_what_is_answered_is_open():
    accepted, answered = set(), set()
    for item in DOCUMENT["paths"].values():
        for entry in item.values():
            components_below(entry.get("requestBody", {}), accepted)
            for response in entry["responses"].values():
                components_below(contract().resolve(response).get("content", {}), answered)

    with_fields = {name: part for name, part in DOCUMENT["components"]["schemas"].items() if "properties" in part}
    assert {
        name for name in accepted & set(with_fields) if with_fields[name].get("additionalProperties") is not False
    } == set()
    assert {
        name for name in answered & set(with_fields) if with_fields[name].get("additionalProperties") is False
    } == set()


def test_two_operations_of_one_name_are_refused():
    declare = operation("get_account", summary="Other", tag="Service", scope=None, responses={200: None})

    def get(self, request):
        """Other."""

    with pytest.raises(ValueError, match="two operations are called 'get_account'"):
        declare(get)


@pytest.mark.parametrize(
    ("declared", "path", "more"),
    [
        ({}, "/v1/things", set()),
        ({}, "/v1/things/{thing_id}", {"not_found"}),
        ({"tokens": ["spk"]}, "/v1/things", {"unauthenticated", "scope_missing"}),
        ({"request": CreateAccountSerializer}, "/v1/things", {"payload_too_large", "unsupported_media_type"}),
        ({"seat": True}, "/v1/things", {"seat_ambiguous"}),
        ({"versioned": True}, "/v1/things", {"stale_version"}),
        ({"action": True}, "/v1/things", {"stale_version", "seat_ambiguous"}),
        ({"keeps": True}, "/v1/things", {"idempotency_in_progress", "idempotency_mismatch"}),
        ({"reasons": [Reason.NOT_IN_HAND]}, "/v1/things", {"not_in_hand"}),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_what_an_operation_declares_decides_what_it_can_refuse_with(declared, path, more):
    def post(self, request):
        """Make."""

    arguments = {"scope": None, "tokens": (), "keeps": False, "responses": {200: None}, **declared}
    operation("make_thing_for_tests", summary="Make", tag="Service", **arguments)(post)
    made = OPERATIONS.pop("make_thing_for_tests")

    found = {reason for reasons in made.problems(path).values() for reason in reasons}

    assert (
        found
        == {"malformed", "not_acceptable", "headers_too_large", "rate_limited", "internal_error", "unavailable"} | more
    )
    assert all(CATALOGUE[reason].status == status for status, names in made.problems(path).items() for reason in names)


@pytest.mark.parametrize("wrong", [{"tag": "Nonsense"}, {"tokens": ["spx"]}])
def test_an_unknown_tag_or_kind_of_token_is_refused(wrong):
    arguments = {"summary": "X", "tag": "Service", "scope": None, "responses": {200: None}, **wrong}

    with pytest.raises(ValueError, match="there is no"):
        operation("some_operation", **arguments)


def test_the_schema_is_served_as_json_and_as_yaml():
    client = ApiClient()

    as_json = client.get("/v1/schema")
    as_yaml = client.get("/v1/schema?format=yaml")
    asked = client.get("/v1/schema", headers={"Accept": "application/yaml"})

    assert as_json.body == DOCUMENT
    assert as_yaml.content == asked.content == SCHEMA.read_bytes()
    assert yaml.safe_load(as_yaml.content) == as_json.body
    known = client.get("/v1/schema", headers={"If-None-Match": as_json.headers["etag"]})
    assert (known.status, known.content) == (304, b"")
    assert client.get("/v1/schema?format=yaml", headers={"If-None-Match": as_json.headers["etag"]}).status == 200


def test_the_docs_come_from_this_service_alone():
    client = ApiClient()

    page = client.get("/docs")
    text = page.content.decode()

    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    links = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert links
    assert not [link for link in links if not link.startswith("/")]
    for link in links:
        assert client.get(link).status == 200
    assert b"validatorUrl: null" in client.get("/docs/start.js").content
    assert client.get("/docs/other.js").status == 404
