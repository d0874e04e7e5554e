"""The client of every test that speaks HTTP: it holds each request and each answer against openapi/schema.yaml.

`ApiClient()` talks to Django's test client, `ApiClient("http://127.0.0.1:8000")` to a running server; the two are used
alike. An answer that the schema does not describe fails the test that got it: an undeclared status, a reason that the
operation does not list, a field too many, a header missing. So does a request that is wrong, unless it is sent with
`bad=True`.

With RECORD_EXAMPLES=1 in the environment each operation's first success, or the one sent with `example=True`, is
written to openapi/examples/, from where the schema takes it. Of an answer of many pages a part is shown: `example` is
then the function that takes it out.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import httpx
import jsonschema_rs
import yaml
from django.test import Client

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "openapi" / "schema.yaml"
EXAMPLES = ROOT / "openapi" / "examples"

EXERCISED: Counter[tuple[str, int]] = Counter()
"""How often each (operation id, status) was answered in this run."""

# Headers that are part of the contract: one that is sent or answered must be declared.
REQUEST_HEADERS = {"idempotency-key", "if-match", "if-none-match", "x-seat", "x-request-id", "last-event-id"}
RESPONSE_HEADERS = {
    "etag",
    "idempotency-replayed",
    "location",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "www-authenticate",
    "x-request-id",
}
TOKEN = re.compile(r"\b(sp[kswi])_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Answer:
    """What came back. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        """The JSON of the answer."""
        return json.loads(self.content)

    @property
    def reason(self) -> str:
        """The reason of a problem."""
        return str(self.body["reason"])


class Operation:
    """One operation of the schema, with its validators."""

    def __init__(self, contract: Contract, path: str, method: str, entry: dict[str, Any]) -> None:
        self.id: str = entry["operationId"]
        self.path = path
        self.method = method
        self.entry = entry
        self._contract = contract
        self._parameters: dict[tuple[str, str], tuple[dict[str, Any], Callable[[], Any]]] = {}
        for parameter in entry.get("parameters", []):
            name = parameter["name"].lower() if parameter["in"] == "header" else parameter["name"]
            self._parameters[parameter["in"], name] = parameter, contract.validator(parameter["schema"])
        self._body: Callable[[], Any] | None = None
        self._body_required = False
        if "requestBody" in entry:
            self._body_required = entry["requestBody"].get("required", False)
            self._body = contract.validator(entry["requestBody"]["content"]["application/json"]["schema"])
        self.responses = {int(status): contract.resolve(response) for status, response in entry["responses"].items()}
        self._contents = {
            (status, media_type): contract.validator(content["schema"])
            for status, response in self.responses.items()
            for media_type, content in response.get("content", {}).items()
        }

    def check_request(self, path_values: Mapping[str, str], query: str, headers: Mapping[str, str], body: Any) -> None:
        """Hold a request against the declaration."""
        for name, text in path_values.items():
            self._check_parameter("path", name, text)
        for name, text in parse_qsl(query, keep_blank_values=True):
            self._check_parameter("query", name, text)
        for name, text in headers.items():
            if name.lower() in REQUEST_HEADERS:
                self._check_parameter("header", name.lower(), text)
        if self._body is None:
            assert body is None, f"{self.id} takes no body"
        elif body is None:
            assert not self._body_required, f"{self.id} needs a body"
        else:
            _validate(self._body(), body, f"request of {self.id}")

    def _check_parameter(self, place: str, name: str, text: str) -> None:
        assert (place, name) in self._parameters, f"{self.id} declares no {place} parameter {name}"
        parameter, validator = self._parameters[place, name]
        kind = parameter["schema"].get("type")
        value: Any = text
        if kind == "integer":
            value = int(text)
        elif kind == "boolean":
            value = {"true": True, "false": False}[text]
        _validate(validator(), value, f"{place} parameter {name} of {self.id}")

    def check_response(self, answer: Answer) -> None:
        """Hold an answer against the declaration."""
        where = f"{answer.status} of {self.id}"
        assert answer.status in self.responses, f"{where} is not declared: {answer.content[:500]!r}"
        response = self.responses[answer.status]
        self._contract.check_headers(response.get("headers", {}), answer, where)
        contents = response.get("content", {})
        if not contents:
            assert answer.content == b"", f"{where} has a body"
            return
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        assert media_type in contents, f"{where} is {media_type!r}, declared are {list(contents)}"
        if media_type.endswith("json"):
            _validate(self._contents[answer.status, media_type](), answer.body, where)


class Contract:
    """The schema, read once, with its objects closed: an answer may not have what the schema does not describe."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._schemas: dict[str, Any] = document["components"]["schemas"]
        self._closed = {name: self._close(schema) for name, schema in self._schemas.items()}
        self._validators: dict[str, Any] = {}
        self._problem = self.validator({"$ref": "#/components/schemas/Problem"})
        self.operations = {
            (method.upper(), path): Operation(self, path, method.upper(), entry)
            for path, item in document["paths"].items()
            for method, entry in item.items()
        }
        paths = sorted(document["paths"], key=lambda path: path.count("{"))  # accounts/me before accounts/{id}
        self._paths = [(path, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + r"\Z")) for path in paths]

    def find(self, method: str, path: str) -> tuple[Operation | None, dict[str, str], bool]:
        """Find the operation of a request, the values in its path, and whether the path is one of the schema's."""
        for template, pattern in self._paths:
            match = pattern.match(path)
            if match is not None:
                return self.operations.get((method, template)), match.groupdict(), True
        return None, {}, False

    def resolve(self, part: dict[str, Any]) -> dict[str, Any]:
        """Follow a reference within the document."""
        while "$ref" in part:
            found: Any = self.document
            for key in part["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            part = found
        return part

    def validator(self, schema: Any) -> Callable[[], Any]:
        """Give a schema, closed, to be compiled when something is first held against it.

        All of the schemas together are thousands of variants, gigabytes of them, and a run needs a few.
        """
        text = json.dumps(self._close(schema), sort_keys=True)
        return partial(self._compiled, text)

    def _compiled(self, text: str) -> Any:
        found = self._validators.get(text)
        if found is None:
            whole = {**json.loads(text), "components": {"schemas": self._closed}}
            found = self._validators[text] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        return found

    def check_unrouted(self, answer: Answer, *, known_path: bool) -> None:
        """Check an answer to what is no operation: 404 for an unknown path, 405 for an unknown method."""
        where = f"{answer.status} of no operation"
        if known_path:
            assert answer.status == 405, where
            assert answer.headers.get("allow"), "a 405 lists the methods that are allowed"
        else:
            assert answer.status == 404, where
        assert answer.headers["content-type"] == "application/problem+json", where
        _validate(self._problem(), answer.body, where)
        headers = self.document["components"]["headers"]
        self.check_headers(
            {name: headers[name] for name in ("X-Request-Id", "RateLimit", "RateLimit-Policy")}, answer, where
        )

    def check_headers(self, declared: Mapping[str, Any], answer: Answer, where: str) -> None:
        """Hold the headers of an answer against those declared."""
        names = {name.lower() for name in declared}
        assert not (RESPONSE_HEADERS & set(answer.headers)) - names, f"{where}: undeclared header"
        for name, reference in declared.items():
            header = self.resolve(reference)
            text = answer.headers.get(name.lower())
            if text is None:
                assert not header.get("required"), f"{where}: header {name} is missing"
            else:
                _validate(_header_validator(json.dumps(header["schema"])), text, f"{where}: header {name}")

    def _close(self, schema: Any) -> Any:
        """Give the schema with every object closed that does not say itself whether it is open."""
        if isinstance(schema, list):
            return [self._close(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        if "allOf" in schema:
            merged = self._merge(schema)
            if merged is not None:
                schema = merged
        closed: dict[str, Any] = {}
        for key, value in schema.items():
            if key == "properties":
                closed[key] = {name: self._close(inner) for name, inner in value.items()}
            elif key in ("items", "additionalProperties", "allOf", "anyOf", "oneOf", "prefixItems", "not"):
                closed[key] = self._close(value)
            elif key != "examples":
                closed[key] = value
        if "properties" in closed:
            closed.setdefault("additionalProperties", False)
        return closed

    def _merge(self, schema: dict[str, Any]) -> dict[str, Any] | None:
        """Make one object of the objects of `allOf`, which closed one by one would refuse each other's fields."""
        parts = [self.resolve(part) for part in schema["allOf"]]
        parts.append({key: value for key, value in schema.items() if key != "allOf"})
        parts = [(self._merge(part) or part) if "allOf" in part else part for part in parts]
        if not any("properties" in part for part in parts):
            return None
        properties: dict[str, Any] = {}
        required: list[str] = []
        for part in parts:
            for name, inner in part.get("properties", {}).items():
                properties[name] = {"allOf": [properties[name], inner]} if name in properties else inner
            required += part.get("required", [])
        return {"type": "object", "properties": properties, "required": sorted(set(required))}


@lru_cache(maxsize=256)
def _header_validator(schema: str) -> Any:
    return jsonschema_rs.Draft202012Validator(json.loads(schema))


def _validate(validator: Any, value: Any, where: str) -> None:
    if validator.is_valid(value):
        return
    faults = "; ".join(
        f"/{'/'.join(map(str, error.instance_path))}: {error.message}" for error in validator.iter_errors(value)
    )
    raise AssertionError(f"{where} does not match the schema: {faults[:2000]}\n{json.dumps(value)[:2000]}")


@lru_cache(maxsize=1)
def contract() -> Contract:
    """Give the contract of the committed schema."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return Contract(yaml.load(SCHEMA.read_bytes(), Loader=loader))


class ApiClient:
    """Speaks to the API, in this process or over a network.

    Args:
        base_url: of a running server; None for Django's test client.
        token: sent with every request that names no other one.
        timeout: seconds, over a network.
    """

    def __init__(self, base_url: str | None = None, *, token: str | None = None, timeout: float = 30) -> None:
        self.token = token
        # Nothing here speaks TLS, and to read the certificates of the authorities takes longer than a request.
        self._http = httpx.Client(base_url=base_url, timeout=timeout, verify=False) if base_url is not None else None
        self._django = Client(raise_request_exception=False) if base_url is None else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._http is not None:
            self._http.close()

    def get(self, path: str, **kwargs: Any) -> Answer:
        """Get; see `request`."""
        return self.request("GET", path, **kwargs)

    def post(self, path: str, **kwargs: Any) -> Answer:
        """Post; see `request`."""
        return self.request("POST", path, **kwargs)

    def patch(self, path: str, **kwargs: Any) -> Answer:
        """Patch; see `request`."""
        return self.request("PATCH", path, **kwargs)

    def delete(self, path: str, **kwargs: Any) -> Answer:
        """Delete; see `request`."""
        return self.request("DELETE", path, **kwargs)

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        bad: bool = False,
        example: bool | Callable[[Any], Any] = False,
    ) -> Answer:
        """Send a request and check it and its answer.

        Args:
            path: with the query, if any.
            json: the body; `content` is a body in bytes instead.
            token: instead of the client's own; "" for none.
            bad: the request is meant to be wrong, so only the answer is checked.
            example: show this exchange in the schema, if examples are being recorded; or what makes the answer short
                enough to be shown.
        """
        sent = dict(headers or {})
        chosen = self.token if token is None else token
        if chosen:
            sent["Authorization"] = f"Bearer {chosen}"
        body = json
        if json is not None:
            content = _dump(json)
        elif content is not None and not bad:
            body = _load(content)
        if content is not None and "Content-Type" not in sent:
            sent["Content-Type"] = "application/json"
        split = urlsplit(path)
        operation, values, known_path = contract().find(method, split.path)
        checked = split.path.startswith("/v1/") and method not in ("HEAD", "OPTIONS")
        if checked and not bad:
            assert operation is not None, f"{method} {split.path} is not in the schema"
            operation.check_request(values, split.query, sent, body)
        answer = self._send(method, path, sent, content)
        if checked:
            if operation is None:
                contract().check_unrouted(answer, known_path=known_path)
            else:
                operation.check_response(answer)
                EXERCISED[operation.id, answer.status] += 1
                _record(operation, body, answer, example=example)
        return answer

    def _send(self, method: str, path: str, headers: dict[str, str], content: bytes | None) -> Answer:
        if self._http is not None:
            response = self._http.request(method, path, headers=headers, content=content)
            return Answer(response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.content)
        assert self._django is not None
        content_type = headers.pop("Content-Type", "")
        got = self._django.generic(method, path, content or b"", content_type, headers=headers)
        return Answer(got.status_code, {k.lower(): v for k, v in got.headers.items()}, b"".join(got))


def _dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def _load(content: bytes) -> Any:
    return json.loads(content)


_recorded: set[str] = set()
_recording = threading.Lock()


def _record(operation: Operation, body: Any, answer: Answer, *, example: bool | Callable[[Any], Any]) -> None:
    if not os.environ.get("RECORD_EXAMPLES") or not 200 <= answer.status < 300:
        return
    with _recording:
        # An answer that nothing was made is shown beside that of what was.
        name = f"{operation.id}_200" if answer.status == 200 and 201 in operation.responses else operation.id
        if name in _recorded and not example:
            return
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        shorten = example if callable(example) else lambda whole: whole
        shown = {
            "status": answer.status,
            "request": body,
            "response": shorten(answer.body) if is_json and operation.id != "get_schema" else None,
        }
        text = TOKEN.sub(r"\1_" + "0" * 43, json.dumps(shown, indent=2, ensure_ascii=False))
        EXAMPLES.mkdir(parents=True, exist_ok=True)
        (EXAMPLES / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        _recorded.add(name)
