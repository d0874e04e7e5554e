"""Checking a whole game: the library's replay of a record, and what its seeds come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contract import records
from spades import check_shuffles
from spades import replay as play_again

__all__ = ["check"]


def check(body: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a record, JSON or text, could have happened; and whether its seeds give what they were to give.

    Raises:
        Problem: as `contract.records` has it.
    """
    record = records.read(body["record"])
    with records.replaying(record, body["record"]):
        played = play_again(record)
        shuffles = check_shuffles(record)
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
