"""Presets, the catalogue of options, and rulesets completed and checked, over HTTP."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spades import PRESETS, Ruleset
from spades.options import OPTIONS
from spades.ruleset import warnings
from tests.client import ApiClient
from tests.spades.playing import random_ruleset
from tests.spades.test_ruleset import rulesets

pytestmark = pytest.mark.django_db

RESOLVE = "/v1/rulesets/resolve"
HASHES = json.loads((Path(__file__).parents[1] / "golden" / "ruleset_hashes.json").read_text())


@pytest.fixture
def anybody():
    """A client without a token."""
    with ApiClient() as client:
        yield client


def resolve(client, **flat):
    return client.post(RESOLVE, json={"ruleset": flat})


# --- Presets --------------------------------------------------------------------------------------------------------


SHOWN = ("players", "hand_size", "failed_nil_tricks", "bag_limit")


def shortened(body):
    """Some options of a preset, or of all presets only some and of them some options: enough for an example."""
    if "items" in body:
        items = [shortened(preset) for preset in body["items"][:2]]
        return {**body, "items": items, "options": [option for option in body["options"] if option["name"] in SHOWN]}
    return {**body, "options": {name: body["options"][name] for name in SHOWN}}


def test_presets_are_listed_with_every_value_and_its_source(anybody):
    body = anybody.get("/v1/rulesets", example=shortened).body

    assert body["next"] is None
    assert [preset["name"] for preset in body["items"]] == list(PRESETS)
    assert [option["name"] for option in body["options"]] == list(OPTIONS)
    for shown in body["items"]:
        preset = PRESETS[shown["name"]]
        assert {name: chosen["value"] for name, chosen in shown["options"].items()} == preset.ruleset.options()
        assert {name: chosen["source"] for name, chosen in shown["options"].items()} == {
            name: chosen.source for name, chosen in preset.options.items()
        }
        assert (shown["hash"], shown["title"]) == (preset.ruleset.hash, preset.title)


def test_what_an_option_may_be_is_told_so_that_every_value_of_a_preset_fits(anybody):
    body = anybody.get("/v1/rulesets").body

    for option in body["options"]:
        assert option["meaning"].endswith(".")
        assert option["allowed"]
        named = [value["value"] for value in option["values"]]
        for preset in body["items"]:
            value = preset["options"][option["name"]]["value"]
            inside = type(value) is int and option["minimum"] <= value <= option["maximum"]
            items = [item["value"] for item in option["items"] or ()]
            listed = isinstance(value, list) and set(value) <= set(items) and len(value) <= option["max_items"]
            assert inside or listed or value in named


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_each_option_with_value_meaning_allowed_values_and_source(anybody, name):
    shown = anybody.get(f"/v1/rulesets/{name}", example=shortened if name == "two_player" else False).body

    assert {option: chosen["value"] for option, chosen in shown["options"].items()} == PRESETS[name].ruleset.options()
    assert all(chosen["meaning"] and chosen["allowed"] and chosen["source"] for chosen in shown["options"].values())
    whole = resolve(anybody, preset=name).body
    assert (whole["hash"], whole["overrides"], whole["warnings"]) == (shown["hash"], {}, shown["warnings"])


def test_presets_may_be_kept_by_caches_and_are_sent_once(anybody):
    for path in ("/v1/rulesets", "/v1/rulesets/standard"):
        first = anybody.get(path)
        again = anybody.get(path, headers={"If-None-Match": first.headers["etag"]})
        other = anybody.get(path, headers={"If-None-Match": '"other"'})

        assert first.headers["cache-control"] == "public, max-age=3600"
        assert (again.status, again.content, again.headers["cache-control"]) == (304, b"", "public, max-age=3600")
        assert (other.status, other.content) == (200, first.content)


@pytest.mark.parametrize("name", ["poker", "Standard", "standard%20", "%00"])
def test_an_unknown_preset_is_not_found(anybody, name):
    answer = anybody.get(f"/v1/rulesets/{name}", bad=True)

    assert (answer.status, answer.reason) == (404, "not_found")


def test_no_preset_hides_behind_resolve(anybody):
    answer = anybody.get(RESOLVE, bad=True)

    assert "resolve" not in PRESETS
    assert answer.status == 405
    assert answer.headers["allow"] == "POST, OPTIONS"


# --- Resolving ------------------------------------------------------------------------------------------------------


def test_a_ruleset_is_completed(anybody):
    flat = {"preset": "cutthroat", "jokers": 2, "removed_cards": [], "high_trumps": ["BJ", "LJ"], "bag_points": -10}

    body = anybody.post(RESOLVE, json={"ruleset": flat}, example=True).body

    assert body == {
        "ruleset": Ruleset.resolve(flat).resolved(),
        "hash": Ruleset.resolve(flat).hash,
        "overrides": {name: value for name, value in flat.items() if name != "preset"},
        "warnings": [],
    }
    assert (body["ruleset"]["hand_size"], body["ruleset"]["max_bid"]) == (18, 18)


def test_a_highest_bid_that_is_given_does_not_follow_the_hand(anybody):
    body = resolve(anybody, preset="cutthroat", max_bid=10).body

    assert (body["ruleset"]["hand_size"], body["ruleset"]["max_bid"], body["overrides"]) == (17, 10, {"max_bid": 10})


def test_nothing_is_the_default_preset(anybody):
    assert resolve(anybody).body == resolve(anybody, preset="standard").body


def test_the_same_rules_have_the_same_hash_however_they_are_asked_for(anybody):
    plain = resolve(anybody).body["hash"]

    assert resolve(anybody, bag_limit=10).body["hash"] == plain
    assert resolve(anybody, bag_limit=5).body["hash"] != plain
    twice = [
        resolve(anybody, **flat).body["hash"] for flat in ({"players": 4, "jokers": 0}, {"jokers": 0, "players": 4})
    ]
    assert twice == [plain, plain]


@pytest.mark.parametrize("name", PRESETS)
def test_the_hash_of_a_preset_never_changes(anybody, name):
    assert resolve(anybody, preset=name).body["hash"] == HASHES[name]


def test_what_has_no_effect_and_what_takes_long_is_said(anybody):
    idle = resolve(anybody, preset="two_player", blind_nil="any").body
    long = resolve(anybody, preset="books").body

    assert [(warning["option"], warning["value"], warning["reason"]) for warning in idle["warnings"]] == [
        ("blind_nil", "any", "no_effect")
    ]
    assert [(warning["option"], warning["reason"]) for warning in long["warnings"]] == [("target_score", "long_game")]
    assert idle["warnings"][0]["detail"] == "hands are built by looking, so nothing is bid blind"


def test_every_contradiction_is_listed(anybody):
    answer = resolve(anybody, teams="trios", moon="bid_all", moon_success=200, decks=2, pass_cycle=["left"])

    assert (answer.status, answer.reason) == (422, "ruleset_contradiction")
    assert [(fault["pointer"], fault["detail"]) for fault in answer.body["errors"]] == [
        ("/ruleset/teams", 'teams "trios": trios need six players, not 4'),
        (
            "/ruleset/decks",
            "duplicate_winner null: with two packs say which of two identical cards wins (because of decks)",
        ),
        ("/ruleset/pass_cycle", "pass_count 0: say how many cards are passed (because of pass_cycle)"),
        ("/ruleset/moon", "moon_fail null: say what a missed moon costs (because of moon)"),
    ]
    assert {fault["reason"] for fault in answer.body["errors"]} == {"ruleset_contradiction"}


@pytest.mark.parametrize(
    ("flat", "pointers"),
    [
        ({"high_trumps": ["2S", "BJ", "LJ"]}, ["/ruleset/high_trumps/1", "/ruleset/high_trumps/2"]),
        (
            {"removed_cards": ["2C", "2D", "2C"], "players": 3, "teams": "none"},
            ["/ruleset/removed_cards/2", "/ruleset/removed_cards"],
        ),
        ({"preset": "cutthroat", "pass_cycle": ["left", "across"], "pass_count": 1}, ["/ruleset/pass_cycle/1"]),
        ({"preset": "bicycle_jokers", "jokers": 0, "removed_cards": []}, ["/ruleset/jokers"] * 2),
    ],
    ids=str,
)
def test_a_contradiction_about_an_item_of_a_list_points_at_it_if_it_was_sent(anybody, flat, pointers):
    answer = resolve(anybody, **flat)

    assert (answer.status, answer.reason) == (422, "ruleset_contradiction")
    assert [fault["pointer"] for fault in answer.body["errors"]] == pointers


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rulesets())
def test_every_fault_of_a_ruleset_points_at_something_that_was_sent(anybody, flat):
    answer = resolve(anybody, **flat)

    for fault in answer.body.get("errors", ()):
        option, *place = fault["pointer"].removeprefix("/ruleset/").split("/")
        assert option in flat
        assert all(flat[option][int(index)] for index in place)


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, [("/ruleset", "missing_field")]),
        ({"ruleset": None}, [("/ruleset", "wrong_type")]),
        ({"ruleset": "standard"}, [("/ruleset", "wrong_type")]),
        ({"ruleset": {}, "preset": "standard"}, [("/preset", "unknown_field")]),
        ({"ruleset": {"preset": 3}}, [("/ruleset/preset", "wrong_type")]),
        ({"ruleset": {"preset": "Standard"}}, [("/ruleset/preset", "not_allowed_value")]),
        ({"ruleset": {"hand_size": 13}}, [("/ruleset/hand_size", "not_allowed_value")]),
        ({"ruleset": {"hash": "0" * 64}}, [("/ruleset/hash", "unknown_field")]),
        ({"ruleset": {"bag_limit": 10.0}}, [("/ruleset/bag_limit", "wrong_type")]),
        ({"ruleset": {"bag_limit": True}}, [("/ruleset/bag_limit", "wrong_type")]),
        ({"ruleset": {"players": 54}}, [("/ruleset/players", "not_allowed_value")]),
        ({"ruleset": {"removed_cards": ["1S"]}}, [("/ruleset/removed_cards/0", "not_allowed_value")]),
        (
            {"ruleset": {"high_trumps": ["2S", "AS", "2S", 3]}},
            [
                ("/ruleset/high_trumps/1", "not_allowed_value"),
                ("/ruleset/high_trumps/2", "not_allowed_value"),
                ("/ruleset/high_trumps/3", "wrong_type"),
            ],
        ),
        ({"ruleset": {"high_trumps": "BJ"}}, [("/ruleset/high_trumps", "wrong_type")]),
        ({"ruleset": {"pass_cycle": ["left", "up"]}}, [("/ruleset/pass_cycle/1", "not_allowed_value")]),
        ({"ruleset": {"a/b~c": 1}}, [("/ruleset/a~1b~0c", "unknown_field")]),
        (
            {"ruleset": {"teams": 1, "nil_fail": 100, "x": 1, "jokers": 2}},
            [
                ("/ruleset/teams", "wrong_type"),
                ("/ruleset/nil_fail", "not_allowed_value"),
                ("/ruleset/x", "unknown_field"),
            ],
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_no_ruleset_has_is_malformed(anybody, body, faults):
    answer = anybody.post(RESOLVE, json=body, bad=True)

    assert (answer.status, answer.reason) == (400, "malformed")
    assert [(fault["pointer"], fault["reason"]) for fault in answer.body["errors"]] == faults


def test_a_number_that_is_none_is_malformed(anybody):
    answer = anybody.post(RESOLVE, content=b'{"ruleset": {"bag_limit": NaN}}', bad=True)

    assert (answer.status, answer.body["errors"][0]["reason"]) == (400, "not_json")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_any_ruleset_is_resolved_as_the_library_does_and_asked_for_again_by_its_overrides(anybody, seed):
    ruleset = random_ruleset(random.Random(seed))

    body = resolve(anybody, preset=ruleset.preset, **ruleset.overrides()).body

    assert body["ruleset"] == ruleset.resolved()
    assert [warning["option"] for warning in body["warnings"]] == [each.option for each in warnings(ruleset)]
    assert resolve(anybody, preset=ruleset.preset, **body["overrides"]).body == body
