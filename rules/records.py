"""Checking a whole game: the library's replay of a record, and what its seeds come to."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final

from contract.problems import ContractReason, Fault, Problem, malformed
from spades import Record, RecordError, RulesetError, check_shuffles
from spades import replay as play_again

__all__ = ["check"]

SHORT: Final = 20
"""A record of no more deals is checked at once, in a twentieth of a second or so."""

_turn: Final = threading.Lock()
"""Held by whoever checks a long record. Two hundred deals take half a second, and several of them at a time would leave
no thread for anybody who plays."""


def check(body: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a record, JSON or text, could have happened; and whether its seeds give what they were to give.

    Raises:
        Problem: `malformed` for what is no record, with the place of the first fault; `ruleset_contradiction` or
            `option_not_supported` for its ruleset; `rate_limited` while another long one is being checked.
    """
    record = _read(body["record"])
    try:
        with _long() if len(record.deals) > SHORT else nullcontext():
            played = play_again(record)
            shuffles = check_shuffles(record)
    except RulesetError as error:
        raise _of_ruleset(error, body["record"]) from None
    told = [
        {
            "deal": one.deal,
            "what": one.what,
            "passed": one.passed,
            "detail": one.detail[:1].upper() + one.detail[1:] + ".",
        }
        for one in shuffles
    ]
    if played.breach is not None:
        return {"valid": False, "breach": played.breach.to_json(), "shuffles": told}
    result = None if played.result is None else played.result.to_json()
    return {"valid": True, "scores": dict(played.scores), "result": result, "deals": played.deals, "shuffles": told}


@contextmanager
def _long() -> Iterator[None]:
    if not _turn.acquire(blocking=False):
        raise Problem(
            ContractReason.RATE_LIMITED,
            f"Records of more than {SHORT} deals are checked one after the other. Send it again in a second.",
            retry_after=1,
        )
    try:
        yield
    finally:
        _turn.release()


def _read(given: Any) -> Record:
    try:
        return Record.read(given) if isinstance(given, str) else Record.from_json(given)
    except RecordError as error:
        reason = ContractReason(error.reason)
        if isinstance(given, str):  # no pointer leads into a text
            raise malformed([Fault("/record", reason, _sentence(str(error)))]) from None
        raise malformed([Fault(f"/record{error.where}", reason, _sentence(error.detail))]) from None
    except RulesetError as error:
        raise _of_ruleset(error, given) from None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _of_ruleset(error: RulesetError, given: Any) -> Problem:
    problem = Problem.of_ruleset(error, "/record/ruleset")
    if isinstance(given, str):
        options = [fault.pointer.rpartition("/")[2] for fault in problem.errors]
        problem.errors = tuple(
            replace(fault, pointer="/record", detail=f"{option}: {fault.detail}")
            for option, fault in zip(options, problem.errors, strict=True)
        )
    return problem
