"""Rulesets as requests have them, resolved once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from contract.problems import Problem
from spades import Ruleset, RulesetError, require_supported

__all__ = ["read"]


def read(flat: dict[str, Any]) -> Ruleset:
    """Read and check a whole ruleset: a preset's name and what differs from it.

    Raises:
        Problem: `malformed`, `ruleset_contradiction` or `option_not_supported`, with everything that is wrong.
    """
    try:
        return _read(orjson.dumps(flat))
    except RulesetError as error:
        raise Problem.of_ruleset(error) from None


@lru_cache(maxsize=1024)
def _read(text: bytes) -> Ruleset:
    """Resolving costs as much as scoring a deal, and most apps ask with the same ruleset each time."""
    ruleset = Ruleset.resolve(orjson.loads(text))
    require_supported(ruleset)
    return ruleset
