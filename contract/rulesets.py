"""Rulesets as requests have them, checked as a whole and resolved once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from contract.problems import Problem
from spades import Ruleset, RulesetError, require_supported

__all__ = ["read"]


def read(flat: dict[str, Any], pointer: str = "/ruleset") -> Ruleset:
    """Read a ruleset that stands at `pointer` in a body: a preset's name and what differs from it.

    Raises:
        Problem: `malformed`, `ruleset_contradiction` or `option_not_supported`, with everything that is wrong.
    """
    try:
        return _read(orjson.dumps(flat))
    except RulesetError as error:
        raise Problem.of_ruleset(error, pointer) from None


@lru_cache(maxsize=1024)
def _read(text: bytes) -> Ruleset:
    """To resolve a ruleset costs as much as to score a deal, and most callers ask under the same one each time."""
    ruleset = Ruleset.resolve(orjson.loads(text))
    require_supported(ruleset)
    return ruleset
