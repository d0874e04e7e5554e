"""The presets and the options as they are answered: the same for everybody, so written once in each process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from contract.endpoint import dump
from contract.problems import ContractReason, Problem
from spades import PRESETS, Ruleset
from spades.options import OPTIONS
from spades.ruleset import warnings

__all__ = ["Page", "preset", "presets", "warnings_of"]


@dataclass(frozen=True, slots=True)
class Page:
    """An answer that never changes while the process lives: JSON in bytes, and its tag, quotes included."""

    body: bytes
    tag: str


def _page(body: dict[str, Any]) -> Page:
    raw = dump(body)
    return Page(raw, f'"{hashlib.sha256(raw).hexdigest()[:16]}"')


def warnings_of(ruleset: Ruleset) -> list[dict[str, Any]]:
    """What is worth saying about a ruleset that can be played."""
    return [
        {"option": each.option, "value": each.value, "reason": each.reason, "detail": each.detail}
        for each in warnings(ruleset)
    ]


@lru_cache(maxsize=1)
def presets() -> Page:
    """All presets, each with its values and their sources; and once what each option means and may be."""
    items = [{**each.described(), "warnings": warnings_of(each.ruleset)} for each in PRESETS.values()]
    options = [option.described() for option in OPTIONS.values()]
    return _page({"items": items, "next": None, "options": options})


@lru_cache(maxsize=64)
def preset(name: str) -> Page:
    """One preset, each of its options with value and source, and with what it means and may be.

    Raises:
        Problem: `not_found`.
    """
    found = PRESETS.get(name)
    if found is None:
        raise Problem(ContractReason.NOT_FOUND, "There is no such preset.")
    described = found.described()
    options = {name: {**OPTIONS[name].described(), **value} for name, value in described["options"].items()}
    return _page({**described, "options": options, "warnings": warnings_of(found.ruleset)})
