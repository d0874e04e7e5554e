"""Changes the library in thousands of small ways and tells which of them no test notices: ``make mutants``.

mutmut makes the mutants and runs the tests of `tests/spades` on them, in a copy of the checkout that is kept in
var/mutants: a run that was stopped goes on where it was, and what was killed and did not change is not tried again, but
what survived is, since the tests may be better by now. Hypothesis tries few examples and always the same
(`tests.quick`). mutmut changes nothing in properties and outside of functions.

Why a mutant may survive, as a rule since it does the same, is written down in tests/survivors.json by the function and
the change it makes; a survivor without a reason is a gap. ``--files tricks,sheet`` takes only these; what is told of
the other files in tests/results/mutants.json stays.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.soak import ROOT, commit, machine

RESULT = ROOT / "tests" / "results" / "mutants.json"
REASONS = ROOT / "tests" / "survivors.json"
FOLDER = ROOT / "var" / "mutants"
FILES = ("tricks", "sheet", "scoring", "legality", "deal")
COPIED = ("spades", "tests", "docs", "spades_api")
TESTS = (
    "golden",
    "refusals",
    "rulings",
    "deal",
    "playout",
    "play_counts",
    "match",
    "view",
    "replay",
    "scoring",
    "sheet",
    "random_rulesets",
)
SLOW = (
    "test_match.py::test_a_game_of_every_preset_is_played_to_its_end",
    "test_random_rulesets.py::test_random_rulesets_reach_every_value_of_every_option",
    "test_random_rulesets.py::test_every_game_under_a_random_ruleset_ends",
)
AT_LEAST = 0.95
"""The share of the mutants that the tests have to kill."""
KILLED, SURVIVED = "killed", "survived"
STATES = {None: "not tried", 0: SURVIVED, 33: SURVIVED}
"""By the exit status of the tests: 33 is that no test came by. Any other, a time limit too, is a mutant killed."""


def prepare(folder: Path) -> None:
    """Copy what is needed, with the settings of mutmut."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    arguments = ["-p", "no:django", "-p", "no:cacheprovider", "-p", "tests.quick", "-q", "-n", "0"]
    for name in SLOW:
        arguments += ["--deselect", f"tests/spades/{name}"]
    settings = {
        "source_paths": ["spades"],
        "only_mutate": [f"spades/{name}.py" for name in FILES],
        "also_copy": list(COPIED),
        "use_setproctitle": False,
        "pytest_add_cli_args": arguments,
        "pytest_add_cli_args_test_selection": [f"tests/spades/test_{name}.py" for name in TESTS],
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]  # JSON that TOML reads the same
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text("\n".join([project, "[tool.mutmut]", *lines, ""]), encoding="utf-8")
    (folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)  # which tests reach what, by the tests of then
    for file in (folder / "mutants" / "spades").glob("*.meta"):
        known = json.loads(file.read_text(encoding="utf-8"))
        codes = known["exit_code_by_key"]
        known["exit_code_by_key"] = {name: None if code in STATES else code for name, code in codes.items()}
        file.write_text(json.dumps(known), encoding="utf-8")


def changes(name: str, folder: Path) -> str:
    """What a mutant changes: the lines that go and come."""
    shown = subprocess.run(
        [sys.executable, "-m", "mutmut", "show", name], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = [line for line in shown.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return "\n".join(f"{line[0]} {line[1:].strip()}" for line in lines)


def told_of(file: str, folder: Path) -> dict[str, Any]:
    """The result of one file."""
    known = json.loads((folder / "mutants" / "spades" / f"{file}.py.meta").read_text(encoding="utf-8"))
    states = {name: STATES.get(status, KILLED) for name, status in known["exit_code_by_key"].items()}
    counts = Counter(states.values())
    reasons = json.loads(REASONS.read_text(encoding="utf-8")).get(file, {})
    survivors = []
    for name in (name for name, state in states.items() if state == SURVIVED):
        function, change = name.split("__mutmut_")[0].removeprefix(f"spades.{file}."), changes(name, folder)
        reason = next((why for why, changed in reasons.items() if f"{function}: {change}" in changed), None)
        survivors.append({"function": function, "change": change, "reason": reason})
    return {
        "mutants": len(states),
        "killed": counts[KILLED],
        "not_tried": counts["not tried"],
        "gaps": sum(survivor["reason"] is None for survivor in survivors),
        "share": round(counts[KILLED] / len(states), 4),
        "survivors": survivors,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Look for what no test notices.")
    parser.add_argument("--files", default=",".join(FILES), help="which of them, by name")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the copy is kept")
    parser.add_argument("--tell", action="store_true", help="try nothing, tell what is known so far")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file to write")
    options = parser.parse_args(arguments)
    files = options.files.split(",")
    begun, tried = time.monotonic(), commit()
    if not options.tell:
        prepare(options.folder)
        patterns = [f"spades.{file}.*" for file in files]
        command = [sys.executable, "-m", "mutmut", "run", *patterns, "--max-children", str(options.processes)]
        subprocess.run(command, cwd=options.folder, check=False)
    known = json.loads(options.result.read_text(encoding="utf-8"))["files"] if options.result.exists() else {}
    told = {file: told_of(file, options.folder) for file in files}
    result = {
        "commit": tried,
        "mutmut": metadata.version("mutmut"),
        "files": {file: {**told[file], "commit": tried} if file in told else known[file] for file in {**known, **told}},
        "seconds": round(time.monotonic() - begun, 1),
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    options.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    for file, counts in told.items():
        print({"file": file, **{name: count for name, count in counts.items() if name != "survivors"}})
    return int(any(counts["not_tried"] or counts["gaps"] or counts["share"] < AT_LEAST for counts in told.values()))


if __name__ == "__main__":
    sys.exit(main())
