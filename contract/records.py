"""Records of whole games as requests have them, JSON or text."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from contract.problems import ContractReason, Fault, Problem, malformed
from spades import Record, RecordError, RulesetError

__all__ = ["read", "replaying"]

SHORT: Final = 20
"""A record of no more deals is replayed at once, in a twentieth of a second or so."""

_turn: Final = threading.Lock()
"""Held by whoever replays a long record. Two hundred deals take half a second, and several of them at a time would
leave no thread for anybody who plays."""


def read(given: Any) -> Record:
    """Read what stands at `/record` in a body.

    Raises:
        Problem: `malformed` for what is no record, with the place of the first fault; `ruleset_contradiction` or
            `option_not_supported` for its ruleset.
    """
    try:
        return Record.read(given) if isinstance(given, str) else Record.from_json(given)
    except RecordError as error:
        reason = ContractReason(error.reason)
        if isinstance(given, str):  # no pointer leads into a text
            raise malformed([Fault("/record", reason, _sentence(str(error)))]) from None
        raise malformed([Fault(f"/record{error.where}", reason, _sentence(error.detail))]) from None
    except RulesetError as error:
        raise _of_ruleset(error, given) from None


@contextmanager
def replaying(record: Record, given: Any) -> Iterator[None]:
    """Replay a record inside: a long one alone.

    Args:
        given: what the record was read from.

    Raises:
        Problem: `rate_limited` while another long one is being replayed; as `read` for a ruleset that is not played.
    """
    long = len(record.deals) > SHORT
    if long and not _turn.acquire(blocking=False):
        raise Problem(
            ContractReason.RATE_LIMITED,
            f"Records of more than {SHORT} deals are checked one after the other. Send it again in a second.",
            retry_after=1,
        )
    try:
        yield
    except RulesetError as error:
        raise _of_ruleset(error, given) from None
    finally:
        if long:
            _turn.release()


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _of_ruleset(error: RulesetError, given: Any) -> Problem:
    problem = Problem.of_ruleset(error, "/record/ruleset")
    if isinstance(given, str):
        problem.errors = tuple(
            replace(fault, pointer="/record", detail=f"{wrong.option}: {fault.detail}")
            for wrong, fault in zip(error.problems, problem.errors, strict=True)
        )
    return problem
