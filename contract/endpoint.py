"""The base of every endpoint: strict JSON in, JSON out, a problem for every refusal, and little else on the way.

DRF's authentication, permissions, throttles and versioning are not run: they cost as much as the work itself. Who may
do what is decided by the services, in the query that reads the state anyway; limits are counted in `contract.limits`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from contract.limits import charge
from contract.problems import ContractReason, Fault, Problem, escape, handler, malformed
from contract.queries import read_query

__all__ = ["JSON", "Endpoint", "JSONRenderer", "StrictJSONParser", "answer", "dump", "no_content", "not_modified"]

JSON: Final = "application/json"
MOST_BYTES: Final = 65_536
"""Of a body."""
MOST_BYTES_OF_A_FILE: Final = 1_048_576
"""Of a body that holds what an export gave."""
DEEPEST: Final = 20


class StrictJSONParser(BaseParser):
    """Reads one JSON text and refuses everything that readers of JSON disagree about."""

    media_type = JSON

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Read the body.

        Raises:
            Problem: `payload_too_large` beyond what the operation takes, of which nothing is read; `malformed` for NaN,
                bytes that are no UTF-8, half surrogate pairs, a field given twice, or nesting deeper than 20.
        """
        most = (parser_context or {}).get("most_bytes", MOST_BYTES)
        raw = stream.read(most + 1)
        if len(raw) > most:
            raise _too_large(most)
        return read_json(raw)


_PARSER: Final = StrictJSONParser()
_UNREAD: Final = object()


class JSONRequest(Request):
    """A request whose body is JSON or nothing: what is left of DRF's choosing among parsers, at a third of its cost."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._json: Any = _UNREAD
        self.most_bytes = MOST_BYTES

    @property
    def data(self) -> Any:
        """The body, read once; `{}` when there is none.

        Raises:
            Problem: `unsupported_media_type`, and what `StrictJSONParser` raises.
        """
        if self._json is _UNREAD:
            self._json = self._read()
        return self._json

    def _read(self) -> Any:
        meta = self._request.META
        length = meta.get("CONTENT_LENGTH") or "0"
        if length == "0":
            return {}
        media_type, _, parameters = meta.get("CONTENT_TYPE", "").partition(";")
        charset = parameters.strip().lower().removeprefix("charset=").strip('"')
        if (
            media_type.strip().lower() != JSON
            or charset not in ("", "utf-8", "utf8")
            or meta.get("HTTP_CONTENT_ENCODING", "identity") not in ("", "identity")
        ):
            raise Problem(
                ContractReason.UNSUPPORTED_MEDIA_TYPE,
                "A body needs Content-Type: application/json, in UTF-8 and not compressed.",
            )
        if len(length) > 12 or int(length) > self.most_bytes:
            raise _too_large(self.most_bytes)
        return _PARSER.parse(self._request, parser_context={"most_bytes": self.most_bytes})


def read_json(raw: bytes) -> Any:
    """Read one JSON text from bytes, as `StrictJSONParser` does."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as exc:
        raise malformed([_unreadable(raw, exc)]) from None
    # Neither check walks a body that cannot fail it: counting bytes is some hundred times cheaper than a walk.
    if raw.count(b"{") + raw.count(b"[") > DEEPEST and _depth(value) > DEEPEST:
        raise malformed([Fault("", ContractReason.TOO_DEEP, f"Objects and arrays may be nested {DEEPEST} deep.")])
    if raw.count(b":") != _count_fields(value):  # a colon inside a text looks like one more field
        faults = _duplicates(json.loads(raw, object_pairs_hook=_Pairs), "")
        if faults:
            raise malformed(faults)
    return value


def _unreadable(raw: bytes, exc: orjson.JSONDecodeError) -> Fault:
    try:
        raw.decode()
    except UnicodeDecodeError as wrong:
        return Fault("", ContractReason.NOT_JSON, f"The body is not UTF-8: byte {wrong.start} starts no character.")
    if "depth limit" in exc.msg:
        return Fault("", ContractReason.TOO_DEEP, f"Objects and arrays may be nested {DEEPEST} deep.")
    return Fault("", ContractReason.NOT_JSON, f"The body is not JSON: {exc}.")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [inner for inner in level if type(inner) in (dict, list)]:
        depth += 1
        level = [child for inner in level for child in (inner.values() if type(inner) is dict else inner)]
    return depth


def _count_fields(value: Any) -> int:
    if type(value) is dict:
        return len(value) + sum(_count_fields(inner) for inner in value.values() if type(inner) in (dict, list))
    if type(value) is list:
        return sum(_count_fields(inner) for inner in value if type(inner) in (dict, list))
    return 0


class _Pairs(dict[str, Any]):
    """An object that remembers which of its fields came twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.twice = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]


def _duplicates(value: Any, pointer: str) -> list[Fault]:
    faults: list[Fault] = []
    if isinstance(value, _Pairs):
        faults += [
            Fault(f"{pointer}/{escape(key)}", ContractReason.DUPLICATE_FIELD, "The field is given more than once.")
            for key in value.twice
        ]
        for key, inner in value.items():
            faults += _duplicates(inner, f"{pointer}/{escape(key)}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            faults += _duplicates(inner, f"{pointer}/{index}")
    return faults


def _too_large(most: int) -> Problem:
    return Problem(ContractReason.PAYLOAD_TOO_LARGE, f"A body may have {most:,} bytes here.")


class JSONRenderer(BaseRenderer):
    """Writes a DRF `Response` with orjson; an `orjson.Fragment` inside passes as it is. `answer` is the cheaper way."""

    media_type = JSON
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """Write `data` as JSON; None is an empty body."""
        return b"" if data is None else dump(data)


def accepts(header: str, offered: tuple[str, ...]) -> bool:
    """Tell whether an `Accept` header allows any of the types offered; the most specific range wins (RFC 9110)."""
    if not header.strip():
        return True
    ranges: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = [piece.strip().lower() for piece in part.split(";")]
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        ranges[name] = max(quality, ranges.get(name, 0.0))
    for media_type in offered:
        family = media_type.partition("/")[0]
        for candidate in (media_type, f"{family}/*", "*/*"):
            if candidate in ranges:
                if ranges[candidate] > 0:
                    return True
                break
    return False


def dump(body: Any) -> bytes:
    """Write JSON as every answer has it: ids as text, times in RFC 3339 with `Z`, an `orjson.Fragment` as it is."""
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Make a JSON answer, the way every endpoint should: DRF's `Response` costs five times as much.

    Args:
        body: JSON-ready; bytes are taken as JSON text already written.
    """
    return HttpResponse(body if type(body) is bytes else dump(body), content_type=JSON, status=status, headers=headers)


def not_modified(tag: str) -> HttpResponse:
    """Answer 304: the caller has this representation already."""
    response = HttpResponse(status=304, headers={"ETag": tag})
    del response["Content-Type"]
    return response


def no_content() -> HttpResponse:
    """Answer 204: it is done, and there is nothing to say."""
    response = HttpResponse(status=204)
    del response["Content-Type"]
    return response


_PLAIN: Final = frozenset({"*/*", JSON})  # what nearly every client sends


class Endpoint(APIView):
    """One address of the API. Its methods are decorated with `contract.schema.operation`.

    While a request is answered, `self.operation` is what was declared for its method and `self.query` holds its query
    parameters by name, read as declared. A handler returns `answer(...)`, `not_modified(...)`, any Django response, or
    a DRF `Response`; it refuses by raising.
    """

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    parser_classes = (StrictJSONParser,)
    renderer_classes = (JSONRenderer,)
    http_method_names = ["get", "post", "put", "patch", "delete", "head", "options"]

    operation: Any
    query: Mapping[str, Any]

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Check the request as far as that needs no body, let the method answer, and finish the answer."""
        self.args, self.kwargs = args, kwargs
        self.headers = {}
        wrapped = self.request = JSONRequest(request)
        try:
            self.initial(wrapped, *args, **kwargs)
            response = getattr(self, (request.method or "").lower())(wrapped, *args, **kwargs)
        except Exception as exc:  # noqa: BLE001  (whatever it is, it is answered, and logged if nobody foresaw it)
            response = handler(exc)
        return self.finish(wrapped, response)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what the method, `Accept` or the query already make impossible.

        Raises:
            Problem: `method_not_allowed`, `not_acceptable`, `malformed` or `rate_limited`.
        """
        method = (request.method or "").lower()
        found = getattr(self, method, None) if method in self.http_method_names else None
        if found is None:
            raise Problem(
                ContractReason.METHOD_NOT_ALLOWED,
                f"This address takes {', '.join(self.allowed_methods)}.",
                headers={"Allow": ", ".join(self.allowed_methods)},
            )
        operation = getattr(found, "operation", None)
        if operation is None:  # OPTIONS
            self.query = {}
            return
        self.operation = operation
        request.most_bytes = operation.most_bytes  # type: ignore[attr-defined]  # it is a JSONRequest
        accept = request.META.get("HTTP_ACCEPT")
        if accept is not None and accept not in _PLAIN and not accepts(accept, operation.produces):
            raise Problem(
                ContractReason.NOT_ACCEPTABLE, f"This address answers with {' or '.join(operation.produces)}."
            )
        if method != "get" and not operation.versioned and "HTTP_IF_MATCH" in request.META:
            detail = "This operation changes no state that has a version, so it is done upon none: leave If-Match out."
            raise malformed([Fault("If-Match", ContractReason.UNKNOWN_FIELD, detail)])
        self.query = read_query(request, operation.query) if request.META.get("QUERY_STRING") else operation.defaults
        if operation.limit is not None:
            charge(request, operation.limit)

    def finish(self, request: Request, response: Any) -> HttpResponseBase:
        """Put on every answer what caches must know, and let a DRF `Response` render itself."""
        if isinstance(response, Response):
            response.accepted_renderer = JSONRenderer()
            response.accepted_media_type = JSON
            response.renderer_context = {}  # type: ignore[attr-defined]
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-cache"
        if response.has_header("Vary"):
            patch_vary_headers(response, ("Authorization", "X-Seat"))
        else:
            response["Vary"] = "Authorization, X-Seat"
        result: HttpResponseBase = response
        return result

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Say which methods the address takes."""
        response = HttpResponse(status=204, headers={"Allow": ", ".join(self.allowed_methods)})
        del response["Content-Type"]
        return response
