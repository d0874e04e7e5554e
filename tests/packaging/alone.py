"""What an app does with the library where nothing else is installed: run by `test_wheel.py` in an empty environment.

Stands on the standard library and `spades` alone, and writes what it found as JSON.
"""

from __future__ import annotations

import sys

_BEFORE = frozenset(sys.modules)  # an interpreter may start with modules of its machine, such as sitecustomize

import doctest  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import pkgutil  # noqa: E402
from importlib import resources  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import spades  # noqa: E402
from spades import PRESETS, Bid, Ruleset, ScoreSheet, score_deal  # noqa: E402

BIDS = {"N": Bid.number(4), "E": Bid.number(3), "S": Bid.nil(), "W": Bid.number(4)}
TRICKS = {"N": 5, "E": 3, "S": 0, "W": 5}


def found() -> dict[str, Any]:
    """Everything that is asked of the installed package."""
    rules = Ruleset.resolve({"preset": "standard"})
    score = score_deal(rules, {}, BIDS, TRICKS)
    sheet = ScoreSheet.start(rules)
    while (ending := sheet.ending()) is None:
        sheet, _ = sheet.after(BIDS, TRICKS)
    return {
        "place": str(Path(spades.__file__).parent),
        "names": [name for name in spades.__all__ if hasattr(spades, name)],
        "files": [name for name in ("presets.json", "py.typed") if (resources.files(spades) / name).is_file()],
        "presets": [Ruleset.resolve({"preset": name}).preset for name in PRESETS],
        "score": {side: told.delta for side, told in score.sides.items()},
        "sheet": {"deals": sheet.deals, "scores": sheet.scores(), "winners": list(ending.winners)},
        "doctests": _doctests(),
        "imported": sorted({name.partition(".")[0] for name in set(sys.modules) - _BEFORE} - sys.stdlib_module_names),
    }


def _doctests() -> dict[str, int]:
    results = [
        doctest.testmod(importlib.import_module(f"spades.{module.name}"))
        for module in pkgutil.iter_modules(spades.__path__)
    ]
    results.append(doctest.testmod(spades))
    return {
        "failed": sum(result.failed for result in results),
        "attempted": sum(result.attempted for result in results),
    }


if __name__ == "__main__":
    json.dump(found(), sys.stdout)
