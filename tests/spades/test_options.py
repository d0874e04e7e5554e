"""The catalogue of options: complete, true to what rulesets accept, and every value with somebody who plays it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, get_args, get_origin, get_type_hints

import jsonschema
import pytest

from spades.errors import RulesetError
from spades.options import DEFAULT_PRESET, OPTIONS, SECTIONS, STORED_PRESETS, Kind, OptionFault
from spades.ruleset import PRESETS, Ruleset

SOURCES = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
KEYS = {key.strip() for keys in re.findall(r"^\| ([^|]+) \|", SOURCES, re.MULTILINE) for key in keys.split(",")}
INPUTS = [option for option in OPTIONS.values() if not option.derived]
PLACE = re.compile(r"(?P<text>[024]):\d+(-\d+)?")


def plain(value):
    return list(value) if isinstance(value, tuple) else value


def faults(option, value) -> list[str]:
    """Why the value could stand in no ruleset; contradictions with the preset left aside."""
    try:
        Ruleset.resolve({option.name: value})
    except RulesetError as error:
        return [problem.reason for problem in error.problems if isinstance(problem.reason, OptionFault)]
    return []


def keys_of(source: str) -> list[str]:
    """The keys of a list of places: texts by their number, everything else by its name."""
    return [place["text"] if (place := PLACE.fullmatch(part)) else part for part in source.split(", ")]


def kinds_of(hint) -> tuple[Kind, object, bool]:
    """What an annotation of a field allows: the kind, the type of its words, and whether null is one."""
    members = get_args(hint) if isinstance(hint, UnionType) or NoneType in get_args(hint) else (hint,)
    nullable = NoneType in members
    first = next(member for member in members if member is not NoneType and get_origin(member) is not Literal)
    if get_origin(first) is tuple:
        return Kind.WORDS, get_args(first)[0] if get_args(first)[0] is not str else None, nullable
    if first in (int, bool):
        return Kind.INTEGER if first is int else Kind.BOOLEAN, None, nullable
    return Kind.WORD, first, nullable


# --- What is there ----------------------------------------------------------------------------------------------------


def test_every_field_of_a_ruleset_is_an_option_of_its_type_and_nothing_else_is():
    hints = get_type_hints(Ruleset)
    fields = {name: hints[name] for name in hints if name not in {"preset", "hash", "text", "_options"}}

    assert {name: kinds_of(hint) for name, hint in fields.items()} == {
        name: (option.kind, option.enum, option.nullable) for name, option in OPTIONS.items()
    }
    assert len(OPTIONS) == 65


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_option_says_what_it_means_and_every_word_and_flag_what_it_is(option):
    assert re.fullmatch(r"[A-Z`].+[.:]{1,3}", option.meaning)
    assert all(value.meaning for value in option.values if value.value is None)
    assert all(value.meaning for value in option.values if option.kind in {Kind.WORD, Kind.BOOLEAN})
    assert all(value.meaning or value.source for value in option.values)
    assert all(item.meaning for item in option.items)
    assert len({value.value for value in option.values}) == len(option.values)
    assert bool(option.unit) is (option.kind is Kind.INTEGER)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_described_option_is_json_with_the_same_keys_for_all(option):
    described = option.described()

    assert json.loads(json.dumps(described)) == described
    assert list(described) == list(OPTIONS["players"].described())
    assert described["default"] == PRESETS[DEFAULT_PRESET].ruleset.options()[option.name]
    assert described["section"] in SECTIONS


def test_sections_are_those_of_the_options():
    assert set(SECTIONS) == {option.section for option in OPTIONS.values()}
    assert len(set(SECTIONS)) == len(SECTIONS)


# --- What is allowed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", INPUTS, ids=[option.name for option in INPUTS])
def test_values_listed_are_accepted_and_those_beside_them_are_not(option):
    outside: list = ["no_such_word", 2.0, {}, {"value": 1}]
    inside = [plain(value.value) for value in option.values]
    match option.kind:
        case Kind.INTEGER:
            inside += [option.minimum, option.maximum, *option.words]
            outside += [option.minimum - 1, option.maximum + 1, True, str(option.minimum), []]
        case Kind.BOOLEAN:
            outside += [0, 1, "true", []]
        case Kind.WORD:
            outside += [word.upper() for word in option.words if word != word.upper()] + ["", f"{option.words[0]} ", 1]
            outside += [list(option.words[:1]), True]
        case Kind.WORDS:
            inside += [[item.value] for item in option.items]
            outside += ["", option.items[0].value, [""], [None], [1], [option.items[0].value] * (option.maximum + 1)]
    outside += [] if option.nullable else [None]

    assert {str(value): faults(option, value) for value in inside} == {str(value): [] for value in inside}
    assert [value for value in outside if len(faults(option, value)) != 1] == []


@pytest.mark.parametrize("option", INPUTS, ids=[option.name for option in INPUTS])
def test_words_listed_are_all_that_the_schema_knows(option):
    schema = option.schema()
    words = [value.value for value in option.values if isinstance(value.value, str)]

    if option.kind is Kind.WORD:
        assert schema["enum"] == [value.value for value in option.values]
    if option.kind is Kind.WORDS:
        assert schema["items"]["enum"] == [item.value for item in option.items]
    if option.kind is Kind.INTEGER:
        assert words == list(option.words)
    for value in option.values:
        jsonschema.Draft202012Validator(schema).validate(plain(value.value))


# Beside the presets, for values that fit none of them.
TABLES = [
    {"teams": "none", "removed_cards": ["2C", "2D"], "bid_mode": "individual"},  # five
    {"jokers": 1, "removed_cards": ["2C"], "high_trumps": ["BJ"]},
    {"pass_cycle": ["left"], "pass_count": 1},
]


@pytest.mark.parametrize("option", INPUTS, ids=[option.name for option in INPUTS])
def test_every_value_listed_is_played_at_some_table(option):
    tables = [*TABLES, *({"preset": name} for name in PRESETS)]
    played = set()

    for value in option.values:
        for table in tables:
            with suppress(RulesetError):
                Ruleset.resolve({**table, option.name: plain(value.value)})
                played.add(value)

    assert played == set(option.values)


# --- Who plays it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_every_source_of_a_value_is_listed_with_the_sources(option):
    cited = [key for value in (*option.values, *option.items) if value.source for key in keys_of(value.source)]

    assert sorted(set(cited) - KEYS) == []


@pytest.mark.parametrize("name", STORED_PRESETS)
def test_preset_has_every_option_with_its_value_and_a_source_or_the_word_that_there_is_none(name):
    preset, stored = PRESETS[name], STORED_PRESETS[name]
    described = preset.described()

    assert {option: value.value for option, value in preset.options.items()} == dict(stored["options"])
    assert {option: value.source for option, value in preset.options.items()} == stored["locators"]
    assert list(preset.options) == list(OPTIONS)
    assert all(value.source for value in preset.options.values())
    assert json.loads(json.dumps(described)) == described
    assert {option: value["value"] for option, value in described["options"].items()} == preset.ruleset.options()
    assert described["hash"] == preset.ruleset.hash
    assert re.fullmatch(r"[A-Z].+\.", preset.description)


@pytest.mark.parametrize("name", PRESETS)
def test_every_source_of_a_preset_is_listed_with_the_sources(name):
    sources = " ".join(value.source for value in PRESETS[name].options.values())
    cited = re.findall(r"(?<![\w-])[A-Z][A-Z0-9]+(?:-[A-Z]+)?(?![\w-])", sources)

    assert sorted(set(cited) - KEYS - {"D", "MSN1-2"}) == []


def test_preset_descriptions_are_one_each():
    assert len({preset.description for preset in PRESETS.values()}) == len(PRESETS)


@pytest.mark.parametrize(
    ("source", "cited"),
    [
        ("0:31", True),
        ("BIC score (in some games)", True),
        ("D", False),
        ("D (0:53 literal)", False),
        ("silent", False),
        ("silent (0:60-63)", False),
        ("n/a", False),
        ("option 2:72", False),
        ("option no_spades 2:75", False),
    ],
)
def test_value_without_a_source_is_told_from_one_that_has_one(source, cited):
    values = [value for preset in PRESETS.values() for value in preset.options.values() if value.source == source]

    assert values
    assert {value.cited for value in values} == {cited}


def test_what_a_preset_plays_by_a_source_the_catalogue_has_from_that_source():
    listed = {(name, value.value): keys_of(value.source) for name, option in OPTIONS.items() for value in option.values}
    cited = [
        (preset.name, option, value.value, value.source)
        for preset in PRESETS.values()
        for option, value in preset.options.items()
        if value.cited
    ]

    def has_one_of_them(option, value, source) -> bool:
        keys = re.findall(r"\b[024](?=:)|\b[A-Z][A-Z0-9]+(?:-[A-Z])?", source)
        return not set(keys).isdisjoint(listed.get((option, value), ()))

    assert len(cited) > 300
    assert [told for told in cited if not has_one_of_them(*told[1:])] == []
