"""docs/rules.md: as generated, with every anchor that is cited, every option, preset, reason and source told."""

from __future__ import annotations

import json
import re
from itertools import chain

import pytest

from contract.reasons import CATALOGUE
from spades.errors import Reason
from spades.options import OPTIONS, SECTIONS, STORED_PRESETS
from spades.ruleset import PRESETS, Ruleset
from spades.ruleset import warnings as ruleset_warnings
from tests.docs import book, markdown
from tests.docs.markdown import ROOT

RULES = markdown.read("docs/rules.md")
ANCHORS = markdown.anchors(RULES)
SOURCES = markdown.read("docs/sources.md")
KEYS = {key.strip() for rows in markdown.tables(SOURCES) for cells in rows for key in cells[0].split(",")}
CODE = [*ROOT.glob("spades/*.py"), *ROOT.glob("contract/*.py"), *ROOT.glob("games/**/*.py"), *ROOT.glob("bots/*.py")]
# A line of a text, alone or the last of several: 0:31, 2:47-49.
PLACE = re.compile(r"\b([024]):(\d+)(?:-(\d+))?")
LINES = {"0": 65, "2": 103, "4": 7}


def test_book_is_as_generated():
    assert book.book() == RULES, "docs/rules.md is old: run make rules"


def test_book_has_one_heading_of_each_name():
    headings = markdown.headings(RULES)

    assert len(headings) == len(ANCHORS)


@pytest.mark.parametrize("path", CODE, ids=markdown.name)
def test_every_section_that_code_cites_is_there(path):
    cited = re.findall(r"rules\.md#([\w-]+)", path.read_text(encoding="utf-8"))

    assert sorted(set(cited) - ANCHORS) == []


def test_every_section_of_an_option_and_of_a_ruling_is_there():
    sources = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("spades/*.py"))
    ruled = re.findall(r'Rule\("\w+", [^)]*"(\w+)"\)', sources)

    assert ruled
    assert sorted({*SECTIONS, *ruled} - ANCHORS) == []


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_option_is_told_in_its_section_with_its_meaning_and_each_value(option):
    section = markdown.section(RULES, option.section.capitalize())
    told = markdown.section(section, f"Option `{option.name}`")
    rows = markdown.tables(told)[0]

    assert f"\n{option.meaning}\n" in told
    assert f"\nAllowed: {'answered, never set' if option.derived else option.type}." in told
    assert [cells[:3] for cells in rows] == [
        [book.shown(value.value), value.meaning, value.source] for value in option.values
    ]


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_told_with_what_it_changes_and_where_that_comes_from(name):
    told = markdown.section(RULES, f"Preset `{name}`")
    rows = markdown.tables(told)
    values = {markdown.codes(cells[0])[0]: cells[1:] for cells in (rows[0] if rows else [])}
    preset, base = PRESETS[name], PRESETS["standard"]

    changed = [option for option in OPTIONS if preset.options[option].value != base.options[option].value]
    assert f"{preset.title}. {preset.description}" in told
    assert [option for option in values if option in changed] == changed
    assert set(values) == set(changed) or name == "standard"
    for option, (value, source) in values.items():
        assert value == book.shown(preset.options[option].value)
        assert source.startswith("ours") or source == preset.options[option].source
        assert source.startswith("ours") is not preset.options[option].cited
    cited = {option for option, value in preset.options.items() if value.cited}
    assert cited <= {*values, *markdown.codes(told)}


@pytest.mark.parametrize("reason", Reason)
def test_reason_is_explained(reason):
    rows = dict(chain.from_iterable(markdown.tables(markdown.section(RULES, "Reasons"))))

    assert rows[f"`{reason}`"] == CATALOGUE[reason].help


def test_every_place_that_is_cited_is_of_a_known_source():
    prose = re.sub(r"`[^`\n]*`", "", RULES)
    in_tables = [cell for rows in markdown.tables(prose) for cells in rows for cell in cells[2:3]]
    in_brackets = re.findall(r"\(([^()]*)\)", prose)
    named = re.findall(r"(?<![\w-])[A-Z][A-Z0-9]{2,}(?:-[A-Z]+)?(?![\w-])", " ".join([*in_tables, *in_brackets]))
    lines = [(text, int(last or first)) for text, first, last in PLACE.findall(prose)]

    assert len(set(named)) > 40
    assert sorted(set(named) - KEYS - {"SHA"}) == []
    assert [(text, line) for text, line in lines if line > LINES[text]] == []


def test_every_source_is_cited():
    stored = " ".join(place for preset in STORED_PRESETS.values() for place in preset["locators"].values())

    assert [key for key in sorted(KEYS) if not re.search(rf"(?<![\w-]){key}(?![\w-])", RULES + stored)] == []


def test_every_case_and_option_named_in_the_text_exists_once():
    text = book.TEMPLATE.read_text(encoding="utf-8")
    options = re.findall(r"^\{\{option (\w+)", text, re.MULTILINE)
    named = re.findall(r"^\{\{(?:option \w+|cases)((?: \S+)*)\}\}$", text, re.MULTILINE)
    cases = [name for names in named for name in names.split()]

    assert sorted(options) == sorted(OPTIONS)
    assert {name for name in cases if not name.startswith("=")} <= set(book.CASES)


def test_examples_of_an_option_show_what_it_changes():
    """All but a few: an option such as `players` cannot be changed alone, so its cases show the table it makes."""
    alone = {"players", "jokers", "decks", "score_mode"}

    shows = {name for name in OPTIONS if markdown.section(RULES, f"Option `{name}`").count("\n  - ") >= 2}

    assert set(OPTIONS) - shows == alone | {"hand_size"}


@pytest.mark.parametrize("flat", re.findall(r"`(\{\"preset\".*?\})`", RULES))
def test_ruleset_that_the_text_shows_resolves(flat):
    assert Ruleset.resolve(json.loads(flat))


def test_text_stands_alone():
    assert not re.search(r"law book|RULES\.md|/work|\.\./", RULES)


def test_every_house_rule_that_is_written_down_can_be_played_and_changes_something():
    section = markdown.section(RULES, "Rulesets")
    found = re.findall(r"`(\{.*?\})`", section)

    assert len(found) > 12
    for text in found:
        given = json.loads(text)
        ruleset = Ruleset.resolve({"preset": "standard", **given})
        assert ruleset.hash != Ruleset.resolve({}).hash or given == {"blind_nil": "off"}, text
        assert [warning for warning in ruleset_warnings(ruleset) if warning.reason == "no_effect"] == [], text
