from __future__ import annotations

import re

import pytest

from contract.limits import POLICIES
from tests.docs import markdown
from tests.docs.markdown import ROOT

OPERATIONS = markdown.read("docs/operations.md")
EXAMPLE = dict(re.findall(r"^#?([A-Z][A-Z_]+)=(.*)$", markdown.read(".env.example"), re.MULTILINE))


def test_the_settings_told_are_those_of_the_example_with_their_defaults():
    (rows,) = markdown.tables(markdown.section(OPERATIONS, "Settings"))

    told = {cells[0].strip("`"): "" if cells[1] in ("none", "empty") else cells[1].strip("`") for cells in rows}

    assert told == EXAMPLE


@pytest.mark.parametrize("path", ["README.md", "docs/operations.md", "CONTRIBUTING.md"])
def test_variables_that_are_set_exist(path):
    set_here = set(re.findall(r"(?:export |`)([A-Z][A-Z_]+)=", markdown.read(path)))

    assert set_here - set(EXAMPLE) - {"RECORD_EXAMPLES"} == set()


@pytest.mark.parametrize("path", ["docs/operations.md", "docs/api.md", "openapi/description.md"])
def test_the_limits_told_are_those_in_force(path):
    (rows,) = markdown.tables(markdown.section(markdown.read(path), "Limits"))

    told = [(name.strip("`"), int(quota), int(window), re.split("[ ,]", by)[0]) for name, quota, window, by in rows]

    assert told == [(policy.name, policy.quota, policy.window, policy.by) for policy in POLICIES.values()]


def test_the_events_of_the_log_exist():
    (rows,) = markdown.tables(markdown.section(OPERATIONS, "Logs"))
    packages = ("contract", "accounts", "events", "games", "spades_api")
    code = "".join(file.read_text(encoding="utf-8") for package in packages for file in (ROOT / package).rglob("*.py"))

    told = [event for cells in rows for event in markdown.codes(cells[0])]

    assert [event for event in told if f'"{event}"' not in code] == []
    assert len(told) == len(set(told))
