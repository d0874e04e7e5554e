from __future__ import annotations

import re
import tomllib

import pytest

from tests.docs import markdown
from tests.docs.markdown import FILES, ROOT

HOSTS = {"127.0.0.1", "keepachangelog.com", "semver.org", "db.internal", "redis.internal"}
ADDRESSES = {"v1", "docs", "problems", "healthz", "readyz"}

every_file = pytest.mark.parametrize("path", FILES, ids=markdown.name)


@every_file
def test_relative_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")

    dead = []
    for link in markdown.links(text):
        target, _, fragment = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (path.parent / target).resolve() if target else path
        if not file.exists() or (fragment and fragment not in markdown.anchors(file.read_text(encoding="utf-8"))):
            dead.append(link)

    assert dead == []


@every_file
def test_no_other_host_and_no_path_of_a_machine_is_named(path):
    text = path.read_text(encoding="utf-8")

    hosts = set(re.findall(r"\b[a-z]+://(?:[^/\s@`\"]+@)?([A-Za-z0-9.-]+)", text)) - HOSTS
    for label, content in markdown.blocks(text):
        if label.startswith("json"):  # holds JSON Pointers
            text = text.replace(content, "")
    paths = set(re.findall(r"(?:^|[\s(`\"'=])/([A-Za-z][\w.-]*)", text, re.MULTILINE)) - ADDRESSES

    assert (hosts, paths) == (set(), set())


@every_file
def test_commands_exist(path):
    from django.core.management import get_commands  # noqa: PLC0415 -- after Django is set up

    text = path.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", markdown.read("Makefile"), re.MULTILINE))

    makes = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE))
    manages = set(re.findall(r"manage\.py ([a-z_]+)", text))

    assert makes - targets == set()
    assert manages - set(get_commands()) == set()


def test_every_decision_is_numbered_dated_and_listed():
    folder = ROOT / "docs" / "decisions"
    files = sorted(folder.glob("[0-9]*.md"))

    numbers, listed = [], []
    for file in files:
        title, _, date, *_ = file.read_text(encoding="utf-8").splitlines()
        number, _, words = title.removeprefix("# ").partition(". ")
        numbers.append(int(number))
        listed.append(f"{number}. [{words}]({file.name})")
        assert file.name.startswith(f"{int(number):04}-")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
        assert markdown.headings(file.read_text(encoding="utf-8"))[1:] == ["Context", "Decision", "Consequence"]

    assert numbers == list(range(1, len(files) + 1))
    assert [line for line in markdown.read("docs/decisions/README.md").splitlines() if line[:1].isdigit()] == listed


def test_the_changelog_begins_with_the_version_of_the_package():
    version = tomllib.loads(markdown.read("pyproject.toml"))["project"]["version"]

    assert markdown.headings(markdown.read("CHANGELOG.md"))[1].startswith(f"[{version}]")
