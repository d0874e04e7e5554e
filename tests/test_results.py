"""Results of runs that are too long for every day: they are there, complete, and no older than what they measure."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from spades import PRESETS
from tests import leaks, mutants, openspiel, shuffles, soak, whole_games
from tests.soak import ASIDE, MEASURED, ROOT

LIBRARY = ("spades", *ASIDE)


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def require_unchanged(since: str, measured: tuple[str, ...], target: str) -> None:
    """Fail where a result is older than what it measures."""
    if git("cat-file", "-e", f"{since}^{{commit}}").returncode:
        pytest.skip("no history here that has the commit")
    changed = git("diff", "--name-only", since, "HEAD", "--", *measured).stdout.split()
    assert changed == [], f"run `make {target}` and commit its result"


def of_this_code(file: Path, measured: tuple[str, ...] = MEASURED) -> dict[str, Any]:
    """A result that is no older than what it measures."""
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    require_unchanged(result["commit"], measured, file.stem)
    assert result["failures"] == []
    assert {"machine", "at"} <= set(result)
    return result


def test_the_soak_was_run_on_this_code() -> None:
    result = of_this_code(soak.RESULT)

    assert result["games"] >= 300
    assert "seed" in result
    assert all(counts["reasons"] == {"target": counts["games"]} for counts in result["pairs"].values())


def test_leaks_were_looked_for_in_this_code() -> None:
    result = of_this_code(leaks.RESULT)

    assert set(result["presets"]) == set(PRESETS)
    assert sum(counts["deals"] for counts in result["presets"].values()) >= 2000


def test_deals_were_played_beside_openspiel_on_this_code() -> None:
    result = of_this_code(openspiel.RESULT, LIBRARY)

    assert result["deals"] >= 20_000
    assert result["compared"]["winners"] == 13 * result["deals"]
    assert "seed" in result


def test_whole_games_of_every_preset_were_played_on_this_code() -> None:
    result = of_this_code(whole_games.RESULT)

    assert set(result["presets"]) == set(PRESETS)
    for preset, tables in result["presets"].items():
        steady, mixed = tables["steady"], tables["mixed"]
        assert steady["games"] >= (200 if preset in whole_games.OFTEN else 40)
        assert mixed["games"] >= steady["games"] // 8
        assert set(steady["reasons"]) | set(mixed["reasons"]) <= {*whole_games.WON_BY, "deal_cap"}
        assert steady["reasons"].get("deal_cap", 0) <= whole_games.CAPPED_AT_MOST * steady["games"]


def test_packs_were_shuffled_by_the_hundred_thousand_by_this_code() -> None:
    result = of_this_code(shuffles.RESULT, ("spades/shuffle.py", "spades/cards.py"))

    assert {int(cards): told["shuffles"] for cards, told in result["packs"].items()} == shuffles.SHUFFLES
    assert all(abs(told["deviate"]) < shuffles.LIMIT for told in result["packs"].values())


@pytest.mark.parametrize("file", mutants.FILES)
def test_the_tests_notice_what_is_changed_in_the_rules(file: str) -> None:
    result = json.loads(mutants.RESULT.read_text(encoding="utf-8"))
    told = result["files"][file]

    require_unchanged(told["commit"], (f"spades/{file}.py",), "mutants")
    assert told["not_tried"] == 0
    assert told["killed"] >= mutants.AT_LEAST * told["mutants"]
    assert [survivor for survivor in told["survivors"] if not survivor["reason"]] == []
    assert {"machine", "at"} <= set(result)
