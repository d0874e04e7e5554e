"""Every error is answered as a problem (RFC 9457), with a reason for programs and a sentence for people.

`Problem` is raised by whoever refuses; `handler` turns it, and whatever else may be raised while a request is
answered, into `application/problem+json`; the functions named like Django's own error views do the same for errors that
never reach an endpoint. What a reason means is in `contract.reasons`, and on the page `/problems/{reason}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from rest_framework import exceptions as drf

from contract import request_ids
from contract.reasons import CATALOGUE, ContractReason, Entry
from spades.errors import NotationError, OptionProblem, Reason, Rule, RulesetError, RuleViolation

__all__ = [
    "CATALOGUE",
    "MEDIA_TYPE",
    "ContractReason",
    "Entry",
    "Fault",
    "Problem",
    "bad_request",
    "handler",
    "page_not_found",
    "permission_denied",
    "server_error",
]

MEDIA_TYPE: Final = "application/problem+json"
MOST_FAULTS: Final = 100
"""An answer lists so many faults at most; a hostile body of 64 kB could hold 10,000."""
RETRY_SECONDS: Final = 2
"""What `Retry-After` says when nothing better is known: a database usually is back, or less busy, by then."""

_RULESET_FAULTS: Final[Mapping[str, str]] = {
    "unknown_option": ContractReason.UNKNOWN_FIELD,
    "not_allowed": ContractReason.NOT_ALLOWED_VALUE,
}
"""Faults of a ruleset that have another name, and a page, where they are faults of a body."""

_log = structlog.get_logger("spades.problems")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a request.

    `pointer` is a JSON Pointer (RFC 6901) into the body, `?name` for a query parameter, or the name of a header.
    """

    pointer: str
    reason: str
    detail: str


class Problem(Exception):
    """A request is refused. Raise it anywhere below an endpoint; it carries everything that its answer says.

    Args:
        reason: a `ContractReason` or a `spades.Reason`; it decides status and title.
        detail: one sentence for a person. It must hold nothing that this caller may not know.
        errors: the faults of a malformed request or a refused ruleset, one by one.
        legal: the caller's own legal actions, as request bodies; None where they do not apply.
        version: the game's version at the time of the refusal.
        rule: the option of the ruleset that decided, its value and its section in docs/rules.md.
        breach: the first thing in a record that its rules do not allow, as `Breach.to_json` has it.
        retry_after: seconds after which the same request may succeed; sent as `Retry-After`.
        headers: more headers of the answer.
    """

    def __init__(
        self,
        reason: ContractReason | Reason,
        detail: str,
        *,
        errors: Iterable[Fault] = (),
        legal: Sequence[Any] | None = None,
        version: int | None = None,
        rule: Rule | Mapping[str, Any] | None = None,
        breach: Mapping[str, Any] | None = None,
        retry_after: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason, detail)
        self.reason: ContractReason | Reason = reason
        self.detail = detail
        self.errors = tuple(errors)
        self.legal = legal
        self.version = version
        self.rule = rule
        self.breach = breach
        self.retry_after = retry_after
        self.headers = headers or {}

    @property
    def entry(self) -> Entry:
        """The catalogue's entry of the reason."""
        return CATALOGUE[self.reason]

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return self.entry.status

    @classmethod
    def of_violation(
        cls, violation: RuleViolation, *, legal: Sequence[Any] | None = None, version: int | None = None
    ) -> Problem:
        """Answer a refusal by the rules, with what the caller may do instead."""
        return cls(violation.reason, violation.detail, rule=violation.rule, legal=legal, version=version)

    @classmethod
    def of_ruleset(cls, error: RulesetError, pointer: str = "/ruleset") -> Problem:
        """Answer a refused ruleset that stands at `pointer` in the body; every fault is listed.

        A fault points at the option that is wrong, or at what was sent that makes it so.
        The reason is `malformed` if anything in it could be no ruleset at all (an unknown option, a wrong type), else
        that of the first problem.
        """
        faults = tuple(
            Fault(
                pointer + _pointer(p),
                _RULESET_FAULTS.get(p.reason, p.reason),
                str(p) if p.reason == Reason.RULESET_CONTRADICTION else p.detail,  # with the value, as the others have
            )
            for p in error.problems
        )
        known = [CATALOGUE.get(fault.reason) for fault in faults]
        refused = next((entry for entry in known if entry is not None and entry.status != 400), None)
        if refused is None or any(entry is None or entry.status == 400 for entry in known):
            return malformed(faults)
        return cls(Reason(refused.reason), _summary(faults), errors=faults)

    def body(self, request_id: str) -> dict[str, Any]:
        """Give the problem document; keys in the order in which the contract lists them."""
        entry = self.entry
        body: dict[str, Any] = {
            "type": f"/problems/{entry.reason}",
            "title": entry.title,
            "status": entry.status,
            "detail": self.detail,
            "reason": entry.reason,
            "request_id": request_id,
        }
        if self.errors:
            body["errors"] = [
                {"pointer": fault.pointer, "reason": fault.reason, "detail": fault.detail}
                for fault in self.errors[:MOST_FAULTS]
            ]
        if self.version is not None:
            body["version"] = self.version
        if self.legal is not None:
            body["legal"] = self.legal
        if self.rule is not None:
            rule = self.rule
            body["rule"] = (
                {"option": rule.option, "value": rule.value, "section": rule.section}
                if isinstance(rule, Rule)
                else rule
            )
        if self.breach is not None:
            body["breach"] = self.breach
        return body

    def response(self) -> HttpResponse:
        """Make the answer. It is never to be cached: another moment or another caller gets another one."""
        request_id = request_ids.current() or request_ids.resume(None)
        response = HttpResponse(
            orjson.dumps(self.body(request_id)), content_type=MEDIA_TYPE, status=self.status, headers=self.headers
        )
        response["Cache-Control"] = "no-store"
        response[request_ids.HEADER] = request_id
        if self.status == 401:
            response["WWW-Authenticate"] = "Bearer"
        retry_after = self.retry_after
        if retry_after is None and self.status == 503:
            retry_after = RETRY_SECONDS
        if retry_after is not None:
            response["Retry-After"] = str(retry_after)
        response.reason = str(self.reason)  # type: ignore[attr-defined]  # for the log line of the request
        return response


def malformed(faults: Iterable[Fault]) -> Problem:
    """Make the problem for a request with these faults, of which there is at least one."""
    faults = tuple(faults)
    return Problem(ContractReason.MALFORMED, _summary(faults), errors=faults)


def escape(key: str) -> str:
    """Write a key as one reference token of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _pointer(problem: OptionProblem) -> str:
    """Where in a ruleset its sender finds what is wrong."""
    at = problem.causes[0] if problem.causes else problem.option
    item = f"/{problem.place}" if problem.place is not None and at == problem.option else ""
    return f"/{escape(at)}{item}"


def _summary(faults: Sequence[Fault]) -> str:
    first = faults[0]
    where = f"{first.pointer[:80]}: " if first.pointer else ""
    more = f" ({len(faults)} faults in all)" if len(faults) > 1 else ""
    return f"{where}{first.detail}{more}"


# What DRF calls its failures, in the contract's words. A code that is a reason already stays what it is.
_CODES: Final[Mapping[str, ContractReason]] = {
    "required": ContractReason.MISSING_FIELD,
    "null": ContractReason.WRONG_TYPE,
    "not_a_list": ContractReason.WRONG_TYPE,
    "not_a_dict": ContractReason.WRONG_TYPE,
    "invalid_choice": ContractReason.NOT_ALLOWED_VALUE,
    "min_value": ContractReason.OUT_OF_RANGE,
    "max_value": ContractReason.OUT_OF_RANGE,
    "blank": ContractReason.WRONG_LENGTH,
    "empty": ContractReason.WRONG_LENGTH,
    "min_length": ContractReason.WRONG_LENGTH,
    "max_length": ContractReason.WRONG_LENGTH,
    "null_characters_not_allowed": ContractReason.FORBIDDEN_CHARACTER,
    "surrogate_characters_not_allowed": ContractReason.FORBIDDEN_CHARACTER,
}
_WHOLE: Final = "non_field_errors"


def faults_of(detail: Any, pointer: str = "") -> list[Fault]:
    """Flatten the nested detail of a DRF `ValidationError` into faults with pointers.

    Args:
        detail: lists of `ErrorDetail`, under dicts by field name or index, or under lists with a place for each item.
    """
    if isinstance(detail, dict):
        found: list[Fault] = []
        for key, inner in detail.items():
            found += faults_of(inner, pointer if key == _WHOLE else f"{pointer}/{escape(str(key))}")
        return found
    if isinstance(detail, (list, tuple)):
        found = []
        for index, inner in enumerate(detail):
            found += faults_of(inner, f"{pointer}/{index}" if isinstance(inner, (dict, list)) else pointer)
        return found
    code = str(getattr(detail, "code", ""))
    entry = CATALOGUE.get(code)
    reason = entry.reason if entry is not None else str(_CODES.get(code, ContractReason.BAD_FORMAT))
    return [Fault(pointer, reason, str(detail))]


# What others raise, in the contract's words. Their own messages are not repeated: they are not meant for callers.
_MEANT: Final[Sequence[tuple[tuple[type[BaseException], ...], ContractReason, str]]] = (
    (
        (Http404, ObjectDoesNotExist, drf.NotFound),
        ContractReason.NOT_FOUND,
        "There is nothing here that you may know of.",
    ),
    (
        (drf.NotAuthenticated, drf.AuthenticationFailed),
        ContractReason.UNAUTHENTICATED,
        "The request has no valid token.",
    ),
    ((PermissionDenied, drf.PermissionDenied), ContractReason.SCOPE_MISSING, "The token does not allow this."),
    ((drf.MethodNotAllowed,), ContractReason.METHOD_NOT_ALLOWED, "This address does not take that method."),
    ((drf.NotAcceptable,), ContractReason.NOT_ACCEPTABLE, "Nothing that the Accept header allows is answered here."),
    (
        (drf.UnsupportedMediaType,),
        ContractReason.UNSUPPORTED_MEDIA_TYPE,
        "A body needs Content-Type: application/json.",
    ),
    ((RequestDataTooBig,), ContractReason.PAYLOAD_TOO_LARGE, "A body may have 65,536 bytes."),
)


def of_exception(exc: BaseException) -> Problem:
    """Find the problem that an exception stands for. What nobody foresaw is `internal_error`."""
    match exc:
        case Problem():
            return exc
        case RuleViolation():
            return Problem.of_violation(exc)
        case RulesetError():
            return Problem.of_ruleset(exc)
        case NotationError():
            return malformed([Fault("", ContractReason.BAD_FORMAT, str(exc))])
        case drf.ValidationError():
            return malformed(faults_of(exc.detail))
        case drf.Throttled():
            wait = max(1, math.ceil(getattr(exc, "wait", None) or 1))
            return Problem(ContractReason.RATE_LIMITED, f"Try again in {wait} seconds.", retry_after=wait)
    for kinds, reason, detail in _MEANT:
        if isinstance(exc, kinds):
            return Problem(reason, detail)
    return _of_trouble(exc)


_PAUSED_TOO_LONG: Final = frozenset({"25P03", "25P04"})  # idle_in_transaction_session_timeout, transaction_timeout


def _of_trouble(exc: BaseException) -> Problem:
    if isinstance(exc, (OperationalError, InterfaceError)) or _ended_by_database(exc):
        _log.error("database_unavailable", exc_info=exc)
        return Problem(ContractReason.UNAVAILABLE, "The database cannot be reached, or is too busy. Try again.")
    if isinstance(exc, (drf.ParseError, UnreadablePostError)):
        return malformed([Fault("", ContractReason.NOT_JSON, "The body could not be read to its end.")])
    if isinstance(exc, SuspiciousOperation):
        return malformed([Fault("", ContractReason.BAD_FORMAT, "This is not a request that the service answers.")])
    _log.error("unhandled_exception", exc_info=exc)
    return Problem(
        ContractReason.INTERNAL_ERROR,
        "The service met an error of its own. It has been logged under this answer's request id.",
    )


def _ended_by_database(exc: BaseException) -> bool:
    """Whether PostgreSQL hung up on a transaction that paused too long, which Django takes for an error of ours."""
    return isinstance(exc, DatabaseError) and getattr(exc.__cause__, "sqlstate", None) in _PAUSED_TOO_LONG


def handler(exc: BaseException, context: Mapping[str, Any] | None = None) -> HttpResponse:
    """Answer whatever an endpoint raised. Fits DRF's `EXCEPTION_HANDLER`; `context` is not needed."""
    return of_exception(exc).response()


def bad_request(request: HttpRequest, exception: BaseException | None = None) -> HttpResponse:
    """Django's `handler400`: a host that is not served, a path that cannot be read."""
    if exception is None:
        exception = SuspiciousOperation()
    return handler(exception)


def permission_denied(request: HttpRequest, exception: BaseException | None = None) -> HttpResponse:
    """Django's `handler403`."""
    return handler(exception or PermissionDenied())


def page_not_found(request: HttpRequest, exception: BaseException | None = None) -> HttpResponse:
    """Django's `handler404`: no route has this address. Also the last route of all, so that DEBUG changes no answer."""
    return Problem(ContractReason.NOT_FOUND, "No address of this service matches the request.").response()


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`: an error outside every endpoint, which Django has logged."""
    return Problem(
        ContractReason.INTERNAL_ERROR, "The service met an error of its own. It has been logged under this request id."
    ).response()
