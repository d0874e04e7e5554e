"""The OpenAPI schema: what an operation declares about itself, and what is added to all of them.

`operation` decorates a method of an `Endpoint`. From one declaration come the entry in the schema and what the endpoint
needs while it runs: the query parameters it reads and the media types it can answer with. `complete` then adds what
operations have in common: the problems that each can give, security, headers, limits, and examples recorded by tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema

from contract import queries
from contract.endpoint import JSON, MOST_BYTES
from contract.limits import POLICIES
from contract.problems import MEDIA_TYPE
from contract.queries import Parameter
from contract.reasons import CATALOGUE, ContractReason
from contract.scopes import Scope
from spades.errors import Reason

__all__ = ["ACCOUNT", "OPERATIONS", "SEAT", "TAGS", "WATCHER", "Operation", "complete", "operation"]

F = TypeVar("F", bound=Callable[..., Any])

ACCOUNT: Final = "spk"
SEAT: Final = "sps"
WATCHER: Final = "spw"
TOKENS: Final[Mapping[str, str]] = {
    ACCOUNT: "an account's API token",
    SEAT: "one seat at one table",
    WATCHER: "a watch link, which shows one table to whoever has it",
}
NO_SCOPE: Final = "none"

TAGS: Final[Mapping[str, str]] = {
    "Accounts": "Who is asking: accounts and their tokens.",
    "Rulesets": "The rules that can be played: presets, their options, and what an own choice of options amounts to.",
    "Rules": "Single questions about the rules, the situation told with each: who may do what, who won, who leads.",
    "Tables": "Open a table, find one, sit down, watch, start, leave and give up.",
    "Play": "What a seat does in its turn: draw, look, bid and play.",
    "Scoring": "Scores for apps that play elsewhere: of a deal, of a game, and of what might be. Nothing is kept.",
    "Score sheets": "Score sheets that are kept: written deal by deal, corrected, shared, exported.",
    "Events": "What happened at a table, in order, as far as the reader may know it; waiting for what happens next.",
    "Records": "Deals and games that are over.",
    "Service": "About the service itself.",
}

DRY_RUN: Final = Parameter(
    "dry_run",
    kind="boolean",
    description="Only ask whether the action is allowed: nothing is changed or kept.",
    default=False,
)

OPERATIONS: Final[dict[str, Operation]] = {}
"""Every decorated operation, by id."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation declares. See `operation` for the meaning of each part."""

    id: str
    method: str
    tag: str
    scope: Scope | None
    tokens: tuple[str, ...]
    reasons: tuple[str, ...]
    has_body: bool
    query: tuple[Parameter, ...]
    produces: tuple[str, ...]
    limit: str | None
    action: bool
    conditional: bool
    versioned: bool
    tagged: bool
    seat: bool
    keeps: bool
    most_bytes: int
    headers: tuple[tuple[str, str], ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def problems(self, path: str) -> dict[int, list[str]]:
        """List every reason that the operation can give at `path`, by status, both in rising order."""
        found = {str(reason) for reason in self.reasons}
        found |= {"malformed", "not_acceptable", "headers_too_large", "rate_limited", "internal_error", "unavailable"}
        if self.tokens:
            found |= {"unauthenticated", "scope_missing"}
        if "{" in path:
            found.add("not_found")
        if self.has_body:
            found |= {"payload_too_large", "unsupported_media_type"}
        if self.seat:
            found.add("seat_ambiguous")
        if self.versioned:
            found.add("stale_version")
        if self.method == "POST" and self.keeps:
            found |= {"idempotency_in_progress", "idempotency_mismatch"}
        by_status: dict[int, list[str]] = {}
        for reason in sorted(found):
            by_status.setdefault(CATALOGUE[reason].status, []).append(reason)
        return dict(sorted(by_status.items()))


def operation(
    operation_id: str,
    *,
    summary: str,
    tag: str,
    scope: Scope | None,
    responses: Mapping[Any, Any],
    tokens: Sequence[str] = (ACCOUNT, SEAT),
    reasons: Sequence[Reason | ContractReason] = (),
    request: Any = None,
    parameters: Sequence[Parameter] = (),
    examples: Sequence[OpenApiExample] = (),
    limit: str | None = None,
    action: bool = False,
    conditional: bool = False,
    versioned: bool = False,
    tagged: bool = False,
    seat: bool = False,
    keeps: bool = True,
    most_bytes: int = MOST_BYTES,
    headers: Mapping[str, str] | None = None,
    produces: Sequence[str] = (JSON,),
) -> Callable[[F], F]:
    """Declare a method of an endpoint as an operation. Its docstring is the description.

    Args:
        operation_id: the verb that service and event have too, such as `play_card`.
        tag: one of `TAGS`.
        scope: what an account's token must allow; None where any token will do, or none is needed.
        tokens: the kinds of token that the operation takes; none for an operation open to everybody.
        reasons: what it refuses with, beyond what every operation can (see `Operation.problems`).
        request: the serializer class of the body, if it takes one.
        responses: successes only: status -> serializer class or JSON Schema, or (status, media type) -> ...
        parameters: the query; anything else in the address is refused.
        examples: of request and response; better record them (see tests/client.py), so that they stay true.
        limit: an address limit of `contract.limits.POLICIES` that it counts for, on top of the general one.
        action: it acts in a game: takes `?dry_run`, and is `versioned`, `tagged` and `seat` too.
        conditional: its answer has an `ETag`, and `If-None-Match` is answered with 304.
        versioned: it takes `If-Match`, and can be too late (412).
        tagged: its answer may have an `ETag`.
        seat: it takes `X-Seat`.
        keeps: for a POST: the answer is kept under the `Idempotency-Key`. A stateless POST takes the header and keeps
            nothing.
        most_bytes: how large its body may be.
        headers: more headers that it takes, with what each is for.
        produces: the media types that it can answer with.
    """
    if tag not in TAGS:
        raise ValueError(f"{operation_id}: there is no tag {tag!r}")
    if unknown := set(tokens) - set(TOKENS):
        raise ValueError(f"{operation_id}: there is no kind of token {unknown}")
    query = (*parameters, DRY_RUN) if action else tuple(parameters)

    def decorate(method: F) -> F:
        declared = Operation(
            id=operation_id,
            method=method.__name__.upper(),
            tag=tag,
            scope=scope,
            tokens=tuple(tokens),
            reasons=tuple(str(reason) for reason in reasons),
            has_body=request is not None,
            query=query,
            produces=tuple(produces),
            limit=limit,
            action=action,
            conditional=conditional,
            versioned=versioned or action,
            tagged=tagged or versioned or action,
            seat=seat or action,
            keeps=keeps,
            most_bytes=most_bytes,
            headers=tuple((headers or {}).items()),
            defaults=queries.defaults(query),
        )
        other = OPERATIONS.get(operation_id)
        if other is not None and other != declared:
            raise ValueError(f"two operations are called {operation_id!r}")
        OPERATIONS[operation_id] = declared
        method.operation = declared  # type: ignore[attr-defined]
        decorated: F = extend_schema(
            operation_id=operation_id,
            summary=summary,
            tags=[tag],
            request=request,
            responses=dict(responses),
            parameters=_parameters(declared),
            examples=list(examples),
            filters=False,
        )(method)
        return decorated

    return decorate


def _parameters(declared: Operation) -> list[OpenApiParameter]:
    def header(name: str, description: str, pattern: str) -> OpenApiParameter:
        schema = {"type": "string", "pattern": pattern}
        return OpenApiParameter(name, schema, OpenApiParameter.HEADER, description=description)

    found = [
        OpenApiParameter(query.name, query.schema(), OpenApiParameter.QUERY, description=query.description)
        for query in declared.query
    ]
    found.append(
        header("X-Request-Id", "An id of yours for this request; one that is not well formed is replaced.", "^.*$")
    )
    if declared.method == "POST":
        kept = "The same request under the same key gets the same answer for 24 hours, if that was a success."
        stateless = "Accepted as on every POST; this one changes nothing, so nothing is kept."
        at_least = (
            "" if declared.tokens else " At least 22 characters, since without a token the key alone tells who asks."
        )
        least = 1 if declared.tokens else 22
        found.append(
            header(
                "Idempotency-Key",
                kept + at_least if declared.keeps else stateless,
                f"^[\\x21-\\x7e]{{{least if declared.keeps else 1},255}}$",
            )
        )
    if declared.versioned:
        found.append(
            header(
                "If-Match",
                "The tag of the view that you decided upon; if the game has moved on since, the answer is 412.",
                r'^(\*|(W/)?"[0-9]+(-[^"]*)?")$',
            )
        )
    if declared.conditional:
        found.append(
            header("If-None-Match", "Tags that you have; if the answer would carry one of them, it is 304.", "^.+$")
        )
    if declared.seat:
        found.append(header("X-Seat", "Which of your seats at this table, if your account holds several.", "^[A-Z]$"))
    found += [header(name, description, "^.*$") for name, description in declared.headers]
    return found


class _ParsedFieldExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = "contract.serializers.ParsedField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        """Describe the text by its pattern."""
        return {"type": "string", "pattern": self.target.pattern}


class _MapFieldExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = "contract.fields.MapField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        """Describe the values by their field, and the keys by their pattern."""
        value = auto_schema._map_serializer_field(self.target.child, direction)  # noqa: SLF001
        return {
            "type": "object",
            "additionalProperties": value,
            "propertyNames": {"pattern": self.target.pattern},
        }


PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457). `reason` is for programs, `detail` for people.",
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "The page of the reason: `/problems/{reason}`.",
        },
        "title": {"type": "string", "description": "What the reason means, in a few words."},
        "status": {"type": "integer", "description": "The HTTP status of the answer."},
        "detail": {"type": "string", "description": "What was wrong this time, in a sentence."},
        "reason": {"type": "string", "description": "Stable; values are added, never renamed."},
        "request_id": {"type": "string", "description": "The id under which the service's log has this request."},
        "errors": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Fault"},
            "description": "Every fault found.",
        },
        "version": {"type": "integer", "description": "The version of the game when it refused."},
        "legal": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": True},
            "description": "What you could do instead: request bodies, as in `turn.legal` of the view.",
        },
        "rule": {"$ref": "#/components/schemas/DecidingRule"},
        "breach": {"$ref": "#/components/schemas/RecordBreach"},
    },
    "required": ["type", "title", "status", "detail", "reason", "request_id"],
}
FAULT: Final[dict[str, Any]] = {
    "type": "object",
    "description": "One thing wrong with a request.",
    "properties": {
        "pointer": {
            "type": "string",
            "description": "Where: a JSON Pointer (RFC 6901) into the body, `?name` of the query, or a header's name.",
        },
        "reason": {"type": "string", "description": "Stable, with a page of its own, as a problem's reason has."},
        "detail": {"type": "string", "description": "What is wrong there, in a sentence."},
    },
    "required": ["pointer", "reason", "detail"],
}
RULE: Final[dict[str, Any]] = {
    "type": "object",
    "description": "The option of the table's ruleset that decided.",
    "properties": {
        "option": {"type": "string"},
        "value": {"description": "The option's value at this table."},
        "section": {"type": "string", "description": "The section of the rules that explains it."},
    },
    "required": ["option", "value", "section"],
}


def _header(description: str, pattern: str | None = None, *, required: bool = False) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if pattern is not None:
        schema["pattern"] = pattern
    return {"description": description, "required": required, "schema": schema}


HEADERS: Final[dict[str, dict[str, Any]]] = {
    "X-Request-Id": _header(
        "The id of this request, in the service's log too.", "^[A-Za-z0-9._-]{8,64}$", required=True
    ),
    "RateLimit-Policy": _header("The limits that this request counted for: quota `q` in each window of `w` seconds."),
    "RateLimit": _header("What is left of each limit (`r`), and the seconds until it is full again (`t`)."),
    "Retry-After": _header("Seconds to wait before the same request may succeed.", "^[0-9]+$", required=True),
    "WWW-Authenticate": _header("How to authenticate: `Bearer`.", required=True),
    "Location": _header("The address of what was made.", "^/", required=True),
    "ETag": _header('The version of the game and the viewer whose view it is: `"17-N"`.', '^".+"$', required=True),
    "Idempotency-Replayed": _header("`true` on an answer that was given before under the same key.", "^true$"),
}
COMMON_HEADERS: Final = ("X-Request-Id", "RateLimit-Policy", "RateLimit")


def complete(result: dict[str, Any], generator: Any, request: Any, public: Any) -> dict[str, Any]:
    """Add to the generated schema what all operations have in common (a drf-spectacular postprocessing hook)."""
    components = result.setdefault("components", {})
    schemas: dict[str, Any] = components.setdefault("schemas", {})
    _close_requests(schemas)
    schemas |= {"Problem": PROBLEM, "Fault": FAULT, "DecidingRule": RULE}
    components["headers"] = HEADERS
    components["securitySchemes"] = {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "; ".join(f"`{kind}_...`: {text}" for kind, text in TOKENS.items()) + ".",
        }
    }
    for path, item in result["paths"].items():
        for entry in item.values():
            declared = OPERATIONS.get(entry["operationId"])
            if declared is not None:
                _complete_operation(path, entry, declared, components)
    used = {tag for item in result["paths"].values() for entry in item.values() for tag in entry.get("tags", ())}
    result["tags"] = [{"name": name, "description": text} for name, text in TAGS.items() if name in used]
    description = Path(settings.BASE_DIR) / "openapi" / "description.md"
    if description.exists():
        result["info"]["description"] = description.read_text(encoding="utf-8")
    _drop_enum_ids(result)
    for kind in ("schemas", "responses"):
        components[kind] = dict(sorted(components.get(kind, {}).items()))
    return result


def _drop_enum_ids(part: Any) -> None:
    # drf-spectacular marks enumerations for its own hook, which is not used here.
    if isinstance(part, dict):
        part.pop("x-spec-enum-id", None)
        for inner in part.values():
            _drop_enum_ids(inner)
    elif isinstance(part, list):
        for inner in part:
            _drop_enum_ids(inner)


def _close_requests(schemas: dict[str, Any]) -> None:
    # What is accepted is exactly what is declared: read_body refuses every other field.
    for name, schema in schemas.items():
        if name.endswith("Request") and schema.get("type") == "object":
            schema.setdefault("additionalProperties", False)


def _complete_operation(path: str, entry: dict[str, Any], declared: Operation, components: dict[str, Any]) -> None:
    entry["security"] = [{"bearer": []}] if declared.tokens else []
    entry["x-scope"] = str(declared.scope) if declared.scope is not None else NO_SCOPE
    entry["x-tokens"] = list(declared.tokens)
    names = ["token"] if declared.tokens else []
    names += ["address"] if not declared.tokens else []
    names += [declared.limit] if declared.limit else []
    entry["x-limit"] = [
        {"name": policy.name, "requests": policy.quota, "seconds": policy.window, "by": policy.by}
        for policy in (POLICIES[name] for name in names)
    ]
    for status, response in entry["responses"].items():
        headers = [*COMMON_HEADERS]
        if status == "201":
            headers.append("Location")
        if declared.conditional:
            headers.append("ETag")
        if declared.method == "POST" and declared.keeps:
            headers.append("Idempotency-Replayed")
        response["headers"] = {**_refs(headers), **response.get("headers", {})}
        if declared.tagged and not declared.conditional:
            response["headers"]["ETag"] = {**HEADERS["ETag"], "required": False}
        if not response.get("description") or response["description"] == "No response body":
            response["description"] = {"201": "Made.", "204": "Done."}.get(status, "As asked.")
    if declared.conditional:
        entry["responses"]["304"] = {
            "description": "You have this already: nothing changed since the tag in `If-None-Match`.",
            "headers": _refs(["X-Request-Id", "RateLimit-Policy", "RateLimit", "ETag"]),
        }
    for status, reasons in declared.problems(path).items():
        entry["responses"][str(status)] = _problem_response(declared.id, status, reasons, components)
    entry["responses"] = dict(sorted(entry["responses"].items()))
    _add_recorded_example(entry, declared.id)


def _refs(names: Sequence[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _problem_response(operation_id: str, status: int, reasons: list[str], components: dict[str, Any]) -> dict[str, Any]:
    """Describe a refusal by a schema whose `reason` is an enumeration; all operations share one of a single reason."""
    single = len(reasons) == 1
    name = f"{_camel(reasons[0])}Problem" if single else f"{_camel(operation_id)}Problem{status}"
    components["schemas"][name] = {
        "allOf": [
            {"$ref": "#/components/schemas/Problem"},
            {
                "type": "object",
                "properties": {
                    "status": {"type": "integer", "enum": [status]},
                    "reason": {"type": "string", "enum": reasons},
                },
                "required": ["status", "reason"],
            },
        ]
    }
    headers = [*COMMON_HEADERS]
    if status in (429, 503):
        headers.append("Retry-After")
    if status == 401:
        headers.append("WWW-Authenticate")
    response: dict[str, Any] = {
        "description": "\n".join(f"* `{reason}`: {CATALOGUE[reason].title}." for reason in reasons),
        "headers": _refs(headers),
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{name}"}}},
    }
    if "idempotency_in_progress" in reasons:
        # Only this one of the reasons of the status has it.
        response["headers"]["Retry-After"] = {**HEADERS["Retry-After"], "required": False}
    if not single:
        return response
    components.setdefault("responses", {})[_camel(reasons[0])] = response
    return {"$ref": f"#/components/responses/{_camel(reasons[0])}"}


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _add_recorded_example(entry: dict[str, Any], operation_id: str) -> None:
    """Show what tests recorded: openapi/examples/{operation_id}.json, written by tests/client.py.

    Where an operation that makes something may find it made, the answer to that is in {operation_id}_200.json.
    """
    for name in (operation_id, f"{operation_id}_200"):
        path = Path(settings.BASE_DIR) / "openapi" / "examples" / f"{name}.json"
        if path.exists():
            _add_example(entry, json.loads(path.read_text(encoding="utf-8")))


def _add_example(entry: dict[str, Any], recorded: Mapping[str, Any]) -> None:
    if recorded.get("request") is not None and "requestBody" in entry:
        entry["requestBody"]["content"][JSON].setdefault("examples", {})["recorded"] = {"value": recorded["request"]}
    response = entry["responses"].get(str(recorded["status"]), {})
    if recorded.get("response") is not None and JSON in response.get("content", {}):
        response["content"][JSON].setdefault("examples", {})["recorded"] = {"value": recorded["response"]}
