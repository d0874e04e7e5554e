"""Results of runs that are too long for every day: they are there, complete, and no older than what they measure."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.soak import MEASURED, RESULT, ROOT


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_soak_was_run_on_this_code() -> None:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    if git("cat-file", "-e", f"{result['commit']}^{{commit}}").returncode:
        pytest.skip("no history here that has the commit")

    changed = git("diff", "--name-only", result["commit"], "HEAD", "--", *MEASURED).stdout.split()

    assert result["failures"] == []
    assert result["games"] >= 300
    assert {"seed", "machine", "at"} <= set(result)
    assert all(counts["reasons"] == {"target": counts["games"]} for counts in result["pairs"].values())
    assert changed == [], "run `make soak` and commit its result"
