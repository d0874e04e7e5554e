"""Rulesets: what resolves to what, what is refused and how it is named, and the tables that other code relies on."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import pickle
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spades.errors import NotationError, OptionProblem, Reason, RulesetError
from spades.ruleset import (
    NEUTRAL,
    OPTIONS,
    PRESETS,
    SUPPORTED,
    BidMode,
    DealMethod,
    FirstLead,
    OptionFault,
    PassDirection,
    Ruleset,
    WarningReason,
    hand_size,
    json_schema,
    require_supported,
    resolved_json_schema,
    warnings,
)

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
STORED_PRESETS = json.loads((ROOT / "spades" / "presets.json").read_text())
CASES = [
    case for name in ("scoring.json", "play.json") for case in json.loads((GOLDEN / name).read_text(encoding="utf-8"))
]


def problems(flat) -> list[tuple[str, str]]:
    """Option and reason of everything wrong with a ruleset."""
    with pytest.raises(RulesetError) as refused:
        Ruleset.resolve(flat)
    assert all(isinstance(problem, OptionProblem) and problem.detail for problem in refused.value.problems)
    return [(problem.option, problem.reason) for problem in refused.value.problems]


def resolved(flat) -> tuple[Ruleset | None, tuple[OptionProblem, ...]]:
    """The ruleset, or else what is wrong with it."""
    try:
        return Ruleset.resolve(flat), ()
    except RulesetError as error:
        assert error.problems  # noqa: PT017 -- whatever is refused says why
        return None, error.problems


def contradicted(flat) -> list[str]:
    found = problems(flat)
    assert {reason for _, reason in found} == {Reason.RULESET_CONTRADICTION}
    return [option for option, _ in found]


def of_case(case) -> dict:
    """The ruleset of a golden case. Some say the hand size, which follows from the rest."""
    overrides = {option: value for option, value in case["options_overrides"].items() if option != "hand_size"}
    return {"preset": case["preset"], **overrides}


# --- Presets --------------------------------------------------------------------------------------------------------


def test_golden_files_are_the_ones_that_their_sources_tell_of():
    listed = re.findall(r"^\| `(.+?)` \| `([0-9a-f]{64})`", (GOLDEN / "SOURCES.md").read_text(), re.MULTILINE)

    found = [(name, hashlib.sha256((GOLDEN / name).read_bytes()).hexdigest()) for name, _ in listed]

    names = ["scoring.json", "play.json", "play_counts.json", "../../spades/presets.json"]
    assert [name for name, _ in listed] == names
    assert found == listed


@pytest.mark.parametrize("name", STORED_PRESETS)
def test_preset_gives_back_its_stored_options_in_their_order(name):
    stored = STORED_PRESETS[name]

    ruleset = Ruleset.resolve({"preset": name})

    assert json.dumps(ruleset.options()) == json.dumps(stored["options"])
    assert ruleset is PRESETS[name].ruleset
    assert (PRESETS[name].name, PRESETS[name].title) == (name, stored["title"])
    assert {option: value.source for option, value in PRESETS[name].options.items()} == stored["locators"]


def test_presets_are_all_there_in_their_order():
    assert list(PRESETS) == list(STORED_PRESETS)
    assert len(PRESETS) == 20


def test_preset_hashes_are_pinned():
    pinned = json.loads((GOLDEN / "ruleset_hashes.json").read_text())

    assert {name: preset.ruleset.hash for name, preset in PRESETS.items()} == pinned
    assert len(set(pinned.values())) == 20


def test_no_preset_warns_but_the_two_that_should():
    found = {
        name: [(warning.option, warning.reason) for warning in warnings(preset.ruleset)]
        for name, preset in PRESETS.items()
        if warnings(preset.ruleset)
    }

    assert found == {
        "books": [("target_score", WarningReason.LONG_GAME)],
        "two_player_closed": [("blind_nil", WarningReason.NO_EFFECT)],
    }


# --- The tables ------------------------------------------------------------------------------------------------------


def test_options_fields_and_presets_name_the_same_things_in_the_same_order():
    fields = [field.name for field in dataclasses.fields(Ruleset)]

    assert fields == ["preset", *OPTIONS, "hash", "text", "_options"]
    assert len(OPTIONS) == 65
    assert all(list(stored["options"]) == list(OPTIONS) for stored in STORED_PRESETS.values())
    assert [*NEUTRAL] == [name for name in OPTIONS if name != "hand_size"]
    assert list(SUPPORTED) == list(OPTIONS)


# --- Reading --------------------------------------------------------------------------------------------------------


def test_ruleset_without_a_preset_is_standard():
    assert Ruleset.resolve({}) is PRESETS["standard"].ruleset


def test_override_changes_its_option_and_nothing_else():
    standard = Ruleset.resolve({"preset": "standard"})

    ruleset = Ruleset.resolve({"preset": "standard", "bag_points": -10})

    changed = {name for name, value in ruleset.options().items() if value != standard.options()[name]}
    assert changed == {"bag_points"}
    assert ruleset.overrides() == {"bag_points": -10}
    assert ruleset.preset == "standard"


def test_values_are_typed():
    ruleset = Ruleset.resolve(
        {"preset": "cutthroat", "first_lead": "2C", "pass_cycle": ["left", "right", "none"], "pass_count": 3}
    )

    assert ruleset.deal_method is DealMethod.DEAL_ALL
    assert ruleset.first_lead is FirstLead.TWO_OF_CLUBS
    assert ruleset.removed_cards == ("2C",)
    assert ruleset.pass_cycle == (PassDirection.LEFT, PassDirection.RIGHT, PassDirection.NONE)


def test_enum_members_are_read_like_their_words():
    assert Ruleset.resolve({"teams": "none", "bid_mode": BidMode.INDIVIDUAL}) is Ruleset.resolve(
        {"teams": "none", "bid_mode": "individual"}
    )


@pytest.mark.parametrize(
    ("flat", "size", "max_bid"),
    [
        pytest.param({"preset": "standard"}, 13, 13, id="four of 52"),
        pytest.param({"preset": "cutthroat"}, 17, 17, id="three of 51"),
        pytest.param(
            {"preset": "cutthroat", "jokers": 2, "high_trumps": ["BJ", "LJ"], "removed_cards": []},
            18,
            18,
            id="three of 54",
        ),
        pytest.param(
            {"players": 5, "teams": "none", "removed_cards": ["2C", "2D"]}, 10, 10, id="five of 50, two twos out"
        ),
        pytest.param(
            {
                "players": 5,
                "teams": "none",
                "jokers": 2,
                "high_trumps": ["BJ", "LJ"],
                "removed_cards": ["2C", "2D", "2H", "2S"],
            },
            10,
            10,
            id="five of 50, jokers in and twos out",
        ),
        pytest.param({"preset": "six_pairs"}, 17, 17, id="six of 102"),
        pytest.param(
            {"preset": "six_pairs", "teams": "trios", "jokers": 2, "high_trumps": ["BJ", "LJ"], "removed_cards": []},
            18,
            18,
            id="six of 108",
        ),
        pytest.param({"preset": "two_player"}, 13, 13, id="two who draw"),
        pytest.param({"preset": "two_player", "deal_method": "deal_half"}, 13, 13, id="two, half dealt"),
        pytest.param({"preset": "two_player", "deal_method": "deal_all"}, 26, 26, id="two of 52"),
        pytest.param({"preset": "two_player", "decks": 2, "duplicate_winner": "last"}, 26, 26, id="two draw of 104"),
        pytest.param({"preset": "cutthroat", "max_bid": 5}, 17, 5, id="max_bid given"),
        pytest.param({"preset": "books"}, 13, None, id="nobody bids"),
        pytest.param({"bid_mode": "none", "score_mode": "books"}, 13, None, id="nobody bids any more"),
    ],
)
def test_hand_size_follows_from_the_deck_and_max_bid_from_the_hand_size(flat, size, max_bid):
    ruleset = Ruleset.resolve(flat)

    assert (ruleset.hand_size, ruleset.max_bid) == (size, max_bid)


@pytest.mark.parametrize(
    ("players", "method", "cards", "size"),
    [
        (4, DealMethod.DEAL_ALL, 52, 13),
        (4, DealMethod.DEAL_ALL, 54, None),
        (4, DealMethod.DEAL_ALL, 0, None),
        (2, DealMethod.DRAW, 52, 13),
        (2, DealMethod.DRAW, 54, None),
        (2, DealMethod.DEAL_HALF, 32, 13),
        (2, DealMethod.DEAL_HALF, 26, None),
        (4, DealMethod.DEAL_HALF, 54, 13),
    ],
)
def test_hand_size_of_a_deck(players, method, cards, size):
    assert hand_size(players, method, cards) == size


@pytest.mark.parametrize(
    ("flat", "expected"),
    [
        pytest.param({"bag_limt": 5}, [("bag_limt", OptionFault.UNKNOWN_OPTION)], id="unknown option"),
        pytest.param({"hand_size": 13}, [("hand_size", OptionFault.NOT_ALLOWED)], id="derived option"),
        pytest.param({"preset": "spades"}, [("preset", OptionFault.NOT_ALLOWED)], id="unknown preset"),
        pytest.param({"preset": None}, [("preset", OptionFault.WRONG_TYPE)], id="preset null"),
        pytest.param({"preset": ["standard"]}, [("preset", OptionFault.WRONG_TYPE)], id="preset a list"),
        pytest.param({"players": True}, [("players", OptionFault.WRONG_TYPE)], id="true is not 1"),
        pytest.param({"must_trump": 1}, [("must_trump", OptionFault.WRONG_TYPE)], id="1 is not true"),
        pytest.param({"bag_limit": "3"}, [("bag_limit", OptionFault.WRONG_TYPE)], id="text is no number"),
        pytest.param({"bag_limit": 3.0}, [("bag_limit", OptionFault.WRONG_TYPE)], id="3.0 is no integer"),
        pytest.param({"bag_limit": float("nan")}, [("bag_limit", OptionFault.WRONG_TYPE)], id="NaN"),
        pytest.param({"bag_limit": None}, [("bag_limit", OptionFault.WRONG_TYPE)], id="null where a value must be"),
        pytest.param({"bag_limit": -1}, [("bag_limit", OptionFault.NOT_ALLOWED)], id="below the bound"),
        pytest.param({"players": 7}, [("players", OptionFault.NOT_ALLOWED)], id="above the bound"),
        pytest.param({"nil_fail": 100}, [("nil_fail", OptionFault.NOT_ALLOWED)], id="a penalty without its sign"),
        pytest.param({"target_score": 10**30}, [("target_score", OptionFault.NOT_ALLOWED)], id="beyond 64 bits"),
        pytest.param({"teams": "quads"}, [("teams", OptionFault.NOT_ALLOWED)], id="unknown word"),
        pytest.param({"teams": ["pairs"]}, [("teams", OptionFault.WRONG_TYPE)], id="a list for a word"),
        pytest.param(
            {"moon_success": "lose"}, [("moon_success", OptionFault.NOT_ALLOWED)], id="unknown word for points"
        ),
        pytest.param({"moon_success": True}, [("moon_success", OptionFault.WRONG_TYPE)], id="true for points"),
        pytest.param({"removed_cards": "2C"}, [("removed_cards", OptionFault.WRONG_TYPE)], id="text for a list"),
        pytest.param({"removed_cards": [2]}, [("removed_cards", OptionFault.WRONG_TYPE)], id="number for a card"),
        pytest.param({"removed_cards": ["1C"]}, [("removed_cards", OptionFault.NOT_ALLOWED)], id="no such card"),
        pytest.param({"removed_cards": ["2C"] * 200}, [("removed_cards", OptionFault.NOT_ALLOWED)], id="too many"),
        pytest.param({"high_trumps": ["AS"]}, [("high_trumps", OptionFault.NOT_ALLOWED)], id="the ace above itself"),
        pytest.param({"high_trumps": ["2S", "2S"]}, [("high_trumps", OptionFault.NOT_ALLOWED)], id="two places"),
        pytest.param({"pass_cycle": ["up"]}, [("pass_cycle", OptionFault.NOT_ALLOWED)], id="no such direction"),
        pytest.param({5: 1}, [("5", OptionFault.UNKNOWN_OPTION)], id="a key that is no text"),
        pytest.param([], [("preset", OptionFault.WRONG_TYPE)], id="no object"),
        pytest.param(
            {"preset": "nope", "players": 9, "teams": "trios", "bag": 1, "decks": False},
            [
                ("preset", OptionFault.NOT_ALLOWED),
                ("players", OptionFault.NOT_ALLOWED),
                ("bag", OptionFault.UNKNOWN_OPTION),
                ("decks", OptionFault.WRONG_TYPE),
            ],
            id="all of them at once",
        ),
    ],
)
def test_malformed_value_is_named(flat, expected):
    assert problems(flat) == expected


def test_malformed_reasons_are_no_rule_reasons():
    assert {fault.value for fault in OptionFault}.isdisjoint(reason.value for reason in Reason)


NO_NIL = {"nil_success": None, "nil_fail": None, "zero_bid": "forbidden", "blind_nil": "off"}
JOKERS = {"jokers": 2, "high_trumps": ["BJ", "LJ"], "removed_cards": ["2C", "2D"]}


@pytest.mark.parametrize(
    ("flat", "options"),
    [
        # Seats, dealer, end.
        pytest.param({"preset": "cutthroat", "teams": "pairs"}, ["teams"], id="pairs of three"),
        pytest.param({"preset": "two_player", "teams": "pairs"}, ["teams"], id="pairs of two"),
        pytest.param({"teams": "trios"}, ["teams"], id="trios of four"),
        pytest.param({"dealer_rotation": "alternate"}, ["dealer_rotation"], id="alternating between four"),
        pytest.param(
            {
                "first_dealer": "first_diamond",
                "removed_cards": [rank + "D" for rank in "23456789TJQKA"] + ["2C", "2H", "2S"],
            },
            ["first_dealer"],
            id="no diamond to turn",
        ),
        pytest.param({"losing_score": 500}, ["losing_score"], id="losing at the target"),
        pytest.param({"losing_score": 600}, ["losing_score"], id="losing above the target"),
        pytest.param({"losing_score": 0}, ["losing_score"], id="lost before the start"),
        # Deck and deal.
        pytest.param({"players": 5, "teams": "none"}, ["removed_cards"], id="52 among five"),
        pytest.param({"removed_cards": ["BJ"]}, ["removed_cards", "removed_cards"], id="no joker to remove, 51 cards"),
        pytest.param({"removed_cards": ["2C", "2C", "2D", "2H"]}, ["removed_cards"], id="one of two is not there"),
        pytest.param({"preset": "two_player", "removed_cards": ["2C", "2D"]}, ["removed_cards"], id="drawing 50"),
        pytest.param({"preset": "six_solo", "deal_method": "deal_half"}, ["deal_method"], id="thirteen each of 48"),
        pytest.param({"deal_method": "deal_half"}, ["deal_method"], id="nothing left out"),
        pytest.param(
            {"deal_method": "draw"},
            ["deal_method", "draw_declined_face", "draw_second_card"],
            id="four who draw, nobody knows how",
        ),
        pytest.param({"preset": "two_player", "draw_declined_face": None}, ["draw_declined_face"], id="which face"),
        pytest.param({"preset": "two_player", "draw_second_card": None}, ["draw_second_card"], id="who sees it"),
        pytest.param({"high_trumps": ["BJ"]}, ["high_trumps"], id="no joker to rank"),
        pytest.param(
            {"removed_cards": ["2C", "2D", "2H", "2S"], "high_trumps": ["2S"]}, ["high_trumps"], id="it is out"
        ),
        pytest.param({**JOKERS, "high_trumps": ["BJ"]}, ["high_trumps"], id="a joker without a rank"),
        pytest.param({"jokers": 1, "removed_cards": ["2C"]}, ["high_trumps"], id="one joker without a rank"),
        pytest.param({"decks": 2}, ["duplicate_winner"], id="twins"),
        pytest.param({"pass_cycle": ["left"]}, ["pass_count"], id="pass how many"),
        pytest.param(
            {"preset": "cutthroat", "pass_cycle": ["across"], "pass_count": 1}, ["pass_cycle"], id="nobody across"
        ),
        # Contracts.
        pytest.param({"bid_mode": "none"}, ["bid_mode"], id="contracts without bids"),
        pytest.param({"score_mode": "books"}, ["score_mode"], id="bids without contracts"),
        pytest.param({"preset": "solo", "bid_mode": "partnership"}, ["bid_mode"], id="settled with nobody"),
        pytest.param({"points_per_bid": None}, ["points_per_bid"], id="worth nothing said"),
        pytest.param({"set_points": None}, ["set_points"], id="a set without a cost"),
        pytest.param({"moon": "bid_all"}, ["moon_success", "moon_fail"], id="a moon without points"),
        pytest.param(
            {
                "players": 5,
                "teams": "none",
                "removed_cards": ["2C", "2D"],
                "moon": "bid_all",
                "moon_success": 200,
                "moon_fail": "contract_set",
                "ten_for_200": "exact",
            },
            ["ten_for_200"],
            id="ten is the moon",
        ),
        # Who bids when.
        pytest.param({"bid_order": None}, ["bid_order"], id="no order"),
        pytest.param({"bid_order": "non_dealer"}, ["bid_order"], id="three do not deal"),
        pytest.param({"preset": "solo", "bid_order": "non_dealing_side"}, ["bid_order"], id="no sides"),
        pytest.param({"preset": "hoyle_partners", "bid_order": "simultaneous"}, ["bid_order"], id="sealed talk"),
        pytest.param({"preset": "suicide", "bid_order": "simultaneous"}, ["bid_rule"], id="sealed suicide"),
        pytest.param(
            {
                "bid_order": "simultaneous",
                "total_bid_rule": "not_equal_tricks",
                "min_team_bid": 4,
                "max_team_bid": 13,
                "both_nil": "forbidden",
                "blind_bid_min": 6,
            },
            ["total_bid_rule", "min_team_bid", "max_team_bid", "both_nil", "blind_bid_min"],
            id="sealed and bound",
        ),
        # Numbers.
        pytest.param({"min_bid": None}, ["min_bid"], id="no lowest bid"),
        pytest.param({"max_bid": None}, ["max_bid"], id="no highest bid"),
        pytest.param({"min_bid": 6, "max_bid": 5}, ["min_bid"], id="lowest above highest"),
        pytest.param({"max_bid": 14}, ["max_bid"], id="fourteen of thirteen"),
        pytest.param({"preset": "bicycle", "min_bid": 0}, ["min_bid"], id="zero allowed and forbidden"),
        pytest.param({"blind_bid_min": 6, "blind_bid_multiplier": None}, ["blind_bid_multiplier"], id="blind for what"),
        pytest.param({"blind_bid_min": 27}, ["blind_bid_min"], id="more than two can bid"),
        # Bids that follow.
        pytest.param({"preset": "solo", "bid_rule": "suicide"}, ["bid_rule"], id="suicide alone"),
        pytest.param({"bid_rule": "suicide", **NO_NIL}, ["bid_rule"], id="suicide without nil"),
        pytest.param({"bid_rule": "whiz", **NO_NIL}, ["bid_rule"], id="whiz without nil"),
        pytest.param({"bid_rule": "mirror", **NO_NIL}, ["zero_bid"], id="no spades and no zero"),
        pytest.param(
            {"preset": "mirror", "min_bid": 2, "max_bid": 12, "min_team_bid": 4, "max_team_bid": 12},
            ["min_bid", "max_bid", "min_team_bid", "max_team_bid"],
            id="mirror within bounds",
        ),
        pytest.param({"preset": "mirror", "both_nil": "forbidden"}, ["both_nil"], id="two mirrored nils"),
        pytest.param(
            {"preset": "mirror", "total_bid_rule": "not_equal_tricks"}, ["total_bid_rule"], id="mirror adds up"
        ),
        pytest.param({"preset": "whiz", "min_team_bid": 4}, ["min_team_bid"], id="whiz cannot lift"),
        # Sums.
        pytest.param({"min_team_bid": 8, "max_team_bid": 7}, ["min_team_bid"], id="minimum above maximum"),
        pytest.param({"min_team_bid": 14}, ["min_team_bid"], id="after a nil out of reach"),
        pytest.param({"min_team_bid": 5, "max_bid": 4}, ["min_team_bid"], id="out of reach below a low maximum"),
        pytest.param({**NO_NIL, "max_team_bid": 1}, ["max_team_bid"], id="two ones are too much"),
        pytest.param(
            {**NO_NIL, "min_bid": 3, "max_bid": 3, "total_bid_rule": "not_equal_tricks"},
            ["total_bid_rule"],
            id="one bid and that forbidden",
        ),
        # Nil.
        pytest.param({"nil_success": None}, ["nil_success"], id="nil fails but never succeeds"),
        pytest.param({"nil_fail": None}, ["nil_fail"], id="nil succeeds but never fails"),
        pytest.param({"zero_bid": "plain"}, ["zero_bid"], id="nil offered, zero plain"),
        pytest.param({"zero_bid": "forbidden"}, ["zero_bid"], id="nil offered, zero forbidden"),
        pytest.param(
            {"nil_success": None, "nil_fail": None},
            ["zero_bid", "blind_nil"],
            id="nil without points, two options left",
        ),
        pytest.param({"failed_nil_tricks": None}, ["failed_nil_tricks"], id="tricks of a failed nil"),
        pytest.param({"preset": "bicycle", "blind_nil": "any"}, ["blind_nil"], id="blind nil without nil"),
        pytest.param({"preset": "six_pairs", "teams": "trios", "both_nil": "joint"}, ["both_nil"], id="both of three"),
        pytest.param({"bid_mode": "individual", "both_nil": "joint"}, ["both_nil"], id="joint and apart"),
        pytest.param({"preset": "pagat", "teams": "none"}, ["blind_nil_exchange"], id="exchange with nobody"),
        pytest.param({"preset": "solo", "nil_exchange": 1}, ["nil_exchange"], id="exchange alone"),
        # The first trick.
        pytest.param({"first_leader": "non_dealer"}, ["first_leader"], id="three could lead"),
        pytest.param({"preset": "books", "first_leader": "high_bidder"}, ["first_leader"], id="nobody bid high"),
        pytest.param({"preset": "two_player", "first_lead": "2C"}, ["first_lead"], id="the 2C may lie on the pile"),
        pytest.param(
            {"preset": "two_player", "deal_method": "deal_half", "first_lead": "lowest_club"},
            ["first_lead"],
            id="a club out of play",
        ),
        pytest.param(
            {"first_lead": "2C", "removed_cards": [rank + "C" for rank in "23456789TJQKA"] + ["2D", "2H", "2S"]},
            ["first_lead"],
            id="no club",
        ),
        # Several at once.
        pytest.param(
            {"players": 3, "jokers": 2, "moon": "bid_all", "losing_score": 700},
            ["teams", "losing_score", "high_trumps", "moon_success", "moon_fail"],
            id="five at once",
        ),
    ],
)
def test_contradiction_is_named(flat, options):
    assert contradicted(flat) == options


@pytest.mark.parametrize(
    ("flat", "causes"),
    [
        pytest.param(
            {"preset": "books", "bid_mode": "individual"},
            {
                "score_mode": ("bid_mode",),
                "bid_order": ("bid_mode",),
                "min_bid": ("bid_mode",),
            },
            id="bids in books",
        ),
        pytest.param(
            {"preset": "books", "score_mode": "books", "bid_mode": "individual", "min_bid": 1, "bid_order": "dealer"},
            {"score_mode": ("score_mode", "bid_mode")},
            id="bids in books, which is said again",
        ),
        pytest.param({"teams": "trios"}, {"teams": ("teams",)}, id="one option alone"),
        pytest.param(
            {"players": 3}, {"teams": ("players",), "removed_cards": ("players",)}, id="the preset has others"
        ),
        pytest.param(
            {"jokers": 2, "high_trumps": ["BJ"], "removed_cards": ["2C", "2D"]},
            {"high_trumps": ("high_trumps", "jokers")},
            id="a joker without a rank",
        ),
        pytest.param(
            {"preset": "whiz", "nil_success": None, "nil_fail": None, "zero_bid": "forbidden"},
            {"bid_rule": ("nil_success", "nil_fail")},
            id="no nil in whiz",
        ),
        pytest.param({"removed_cards": ["2C", "2D"]}, {"removed_cards": ("removed_cards",)}, id="the whole deck"),
        pytest.param({"preset": "cutthroat", "max_bid": 18}, {"max_bid": ("max_bid",)}, id="a highest bid"),
        pytest.param(
            {"max_bid": 13, "removed_cards": ["2C", "2D", "2H", "2S"]},
            {"max_bid": ("max_bid", "removed_cards")},
            id="a highest bid that no longer follows",
        ),
    ],
)
def test_contradiction_names_what_was_given_that_brings_it_about(flat, causes):
    _, found = resolved(flat)

    assert {problem.option: problem.causes for problem in found} == causes


@pytest.mark.parametrize(
    "flat",
    [
        pytest.param({"zero_bid": "both"}, id="nil and a plain zero, numbers from one"),
        pytest.param({"bid_rule": "mirror"}, id="mirror in turn"),
        pytest.param({"preset": "mirror", "bid_order": None}, id="mirror without an order"),
        pytest.param({"bid_rule": "whiz"}, id="whiz with blind nil"),
        pytest.param({"bid_rule": "suicide", "min_team_bid": 4}, id="suicide with a minimum"),
        pytest.param({"max_team_bid": 10}, id="a maximum below a single bid"),
        pytest.param({"preset": "openspiel", "total_bid_rule": "not_equal_tricks"}, id="maximum and total"),
        pytest.param({"preset": "cutthroat", "first_lead": "2C"}, id="3C leads for the missing 2C"),
        pytest.param({"preset": "bicycle", "teams": "pairs"}, id="partners scored apart"),
        pytest.param({"preset": "bicycle", "bag_limit": 0}, id="a penalty without a limit"),
        pytest.param({"bid_mode": "individual", "set_points": "zero"}, id="text 2 read literally"),
        pytest.param({"teams": "none", "bid_mode": "individual_sum"}, id="a sum of one"),
        pytest.param({"must_trump": True, "first_trick_spades": "forbidden"}, id="trump, but not at once"),
        pytest.param({"pass_cycle": ["left", "right", "across", "none"], "pass_count": 3}, id="passing"),
        pytest.param({"preset": "six_pairs", "teams": "trios"}, id="trios of 102"),
        pytest.param({"preset": "two_player", "blind_nil": "any"}, id="blind in a draw deal"),
        pytest.param({"jokers": 1, "high_trumps": ["BJ"], "removed_cards": ["2C"]}, id="one joker"),
        pytest.param({**JOKERS, "deal_method": "deal_half", "removed_cards": []}, id="two cards left out"),
    ],
)
def test_what_fits_together_is_no_contradiction(flat):
    assert Ruleset.resolve(flat).hand_size > 0


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_ruleset_of_every_golden_case_resolves(case):
    assert Ruleset.resolve(of_case(case)).preset == case["preset"]


# --- Warnings -------------------------------------------------------------------------------------------------------


CODES = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
FIVE_SPADES = {"removed_cards": CODES[39:47]}
FEW_OTHERS = {"removed_cards": CODES[:36]}
NO_SPADE = {"removed_cards": [*CODES[39:], "2C", "2D", "2H"]}
NINE_TRICKS = {"removed_cards": [rank + suit for suit in "CDHS" for rank in "2345"]}


@pytest.mark.parametrize(
    ("flat", "options"),
    [
        pytest.param({"preset": "two_player", "blind_nil": "any"}, ["blind_nil"], id="nothing is blind when drawing"),
        pytest.param({"preset": "two_player", "blind_nil": "off"}, [], id="switched off"),
        pytest.param({"preset": "two_player_closed", "blind_nil": "off"}, [], id="switched off in place of the preset"),
        pytest.param({"preset": "two_player", "blind_bid_min": 6}, ["blind_bid_min"], id="blind numbers, drawing"),
        pytest.param({"draw_declined_face": "up"}, ["draw_declined_face"], id="nobody draws"),
        pytest.param({"pass_count": 3}, ["pass_count"], id="never passed"),
        pytest.param({"pass_cycle": ["none"], "pass_count": 3}, ["pass_cycle", "pass_count"], id="cycle of nothing"),
        pytest.param({"bid_rule": "mirror", "bid_order": "dealer"}, ["bid_order"], id="no turn to bid"),
        pytest.param({"bid_rule": "mirror", "blind_nil": "any"}, ["blind_nil"], id="mirrored, not blind"),
        pytest.param({"preset": "pagat", "blind_nil": "off"}, [], id="what the preset had is not news"),
        pytest.param({"preset": "pagat", "blind_nil": "any", "blind_nil_deficit": 50}, ["blind_nil_deficit"], id="any"),
        pytest.param(
            {"preset": "solo", "both_nil": "joint", "min_team_bid": 4}, ["min_team_bid", "both_nil"], id="solo"
        ),
        pytest.param({"moon_success": 200}, ["moon_success"], id="no moon"),
        pytest.param(
            {"preset": "two_player", "max_bid": 9, "ten_for_200": "exact"}, ["ten_for_200"], id="nobody can bid ten"
        ),
        pytest.param({"ten_fail": -100}, ["ten_fail"], id="no ten"),
        pytest.param({"first_lead": "2C", "first_leader": "dealer"}, ["first_leader"], id="the 2C leads"),
        pytest.param({"spade_lead": "anytime", "forced_lead_breaks": False}, ["forced_lead_breaks"], id="never broken"),
        pytest.param({"duplicate_winner": "last"}, ["duplicate_winner"], id="no twins"),
        pytest.param(
            {"bag_limit": 0, "bag_penalty": 50, "bag_carry": "reset"}, ["bag_penalty", "bag_carry"], id="bags"
        ),
        pytest.param({"preset": "books", "target_score": 52, "nil_success": 50}, ["nil_success"], id="nobody bids"),
        pytest.param({"exchange_order": "blind"}, ["exchange_order"], id="nothing exchanged"),
        pytest.param({"nil_exchange": 2, "exchange_order": "blind"}, [], id="all of it matters"),
        pytest.param({"first_lead": "any"}, ["first_lead"], id="any lead, but no unbroken spade"),
        pytest.param({"first_lead": "any", "spade_lead": "anytime"}, [], id="a spade at once"),
        pytest.param({"preset": "two_player", "dealer_rotation": "left"}, ["dealer_rotation"], id="two and left"),
        pytest.param({"max_team_bid": 26}, ["max_team_bid"], id="no side bids more"),
        pytest.param({"preset": "bicycle", "teams": "pairs", "min_team_bid": 2}, ["min_team_bid"], id="apart"),
        pytest.param({"preset": "bicycle_jokers", "min_bid": 2}, [], id="at least two"),
        pytest.param({"preset": "mirror", "max_team_bid": 13}, ["max_team_bid"], id="mirrored whatever they come to"),
        pytest.param({"preset": "mirror", "bid_mode": "partnership"}, ["bid_mode"], id="nothing to settle"),
        pytest.param({"preset": "mirror", "zero_bid": "both"}, ["zero_bid"], id="a mirrored nil"),
        pytest.param({"preset": "solo", "bid_mode": "individual_sum"}, ["bid_mode"], id="nothing to add up"),
        pytest.param({"teams": "none", "bid_mode": "individual"}, [], id="each alone, said twice"),
        pytest.param({"max_hands": 201, "set_limit": 201}, ["max_hands", "set_limit"], id="after the last deal"),
        pytest.param({"max_hands": 200, "set_limit": 200}, [], id="with the last deal"),
        pytest.param({"bag_limit": 1, "bag_carry": "reset"}, ["bag_carry"], id="every bag costs"),
        pytest.param({"min_bid": 0}, ["min_bid"], id="numbers from one anyway"),
        pytest.param({"preset": "sandbag_deduction", "min_bid": 1}, ["min_bid"], id="zero plain anyway"),
        pytest.param({"preset": "sandbag_deduction", "min_bid": 2}, [], id="no one"),
        pytest.param(
            {"preset": "solo", "failed_nil_tricks": "help_partner"}, ["failed_nil_tricks"], id="help for nobody"
        ),
        pytest.param(
            {"bid_mode": "individual", "failed_nil_tricks": "help_partner"},
            ["failed_nil_tricks"],
            id="help for a partner scored apart",
        ),
        pytest.param({"failed_nil_tricks": "help_partner"}, [], id="help for a partner"),
        pytest.param({"preset": "hoyle_individuals", "failed_nil_tricks": "help_partner"}, [], id="bags, at least"),
        pytest.param({"preset": "openspiel", "teams": "none"}, [], id="what nobody sent"),
        pytest.param(
            {"bag_points": 0, "failed_nil_tricks": "bags_no_points"}, ["failed_nil_tricks"], id="no bag has points"
        ),
        pytest.param({"preset": "two_player", "bid_order": "left_of_dealer"}, ["bid_order"], id="left is the other"),
        pytest.param({"preset": "two_player", "bid_order": "dealer"}, [], id="the dealer bids first"),
        pytest.param({"preset": "two_player", "first_leader": "left_of_dealer"}, ["first_leader"], id="so who leads"),
        pytest.param(
            {"preset": "sandbag_deduction", "spade_lead": "anytime"}, ["spade_lead"], id="not the first trick"
        ),
        pytest.param({"spade_lead": "anytime"}, [], id="unbroken from the second trick on"),
        pytest.param({"preset": "six_solo", "spade_lead": "after_first_trick"}, [], id="not the first trick any more"),
        pytest.param({"preset": "whiz", "zero_bid": "both"}, ["zero_bid"], id="a nil or what is held"),
        pytest.param({"preset": "whiz", "max_team_bid": 13}, ["max_team_bid"], id="there are thirteen spades"),
        pytest.param({"preset": "whiz", "max_team_bid": 12}, [], id="a side may hold thirteen"),
        pytest.param(
            {"preset": "whiz", "removed_cards": ["2S", "3S", "4S", "5S"], "max_bid": 9}, ["max_bid"], id="nine spades"
        ),
        pytest.param({"preset": "suicide", "max_team_bid": 13}, ["max_team_bid"], id="one partner bids nothing"),
        pytest.param({"preset": "suicide", "min_team_bid": 1}, ["min_team_bid"], id="the other bids something"),
        pytest.param({"preset": "suicide", "min_team_bid": 2}, [], id="but perhaps one"),
        pytest.param({"both_nil": "forbidden", "min_team_bid": 1}, ["both_nil"], id="two nils are less than one"),
        pytest.param({"max_team_bid": 6, "max_bid": 9}, ["max_bid"], id="a side bids six at most"),
        pytest.param({"preset": "hoyle_partners", "max_team_bid": 6, "max_bid": 9}, [], id="a hint may say nine"),
        pytest.param({"preset": "bicycle", "losing_score": -200, "bag_limit": 0}, ["losing_score"], id="nothing costs"),
        pytest.param({"preset": "bicycle", "losing_score": -200}, [], id="bags cost"),
        pytest.param(
            {"preset": "books", "target_score": 52, "losing_score": -200}, ["losing_score"], id="tricks cost nothing"
        ),
        pytest.param({"preset": "openspiel", "max_team_bid": 26}, [], id="a maximum lifted"),
        pytest.param({"max_hands": 1, "blind_nil_deficit": 50}, ["blind_nil_deficit"], id="one deal, nobody behind"),
        pytest.param(
            {"preset": "six_pairs", "max_hands": 1, "blind_nil": "behind"}, [], id="a third pair behind two level ones"
        ),
        pytest.param(
            {"preset": "six_pairs", "max_hands": 1, "tie_rule": "shared", "blind_nil": "behind"},
            ["blind_nil"],
            id="one deal, nobody behind of three",
        ),
        pytest.param({"preset": "joker_joker_deuce_deuce_tournament", "min_team_bid": 2}, [], id="a minimum lifted"),
        pytest.param({"preset": "openspiel", "max_team_bid": 26, "max_bid": 9}, [], id="a maximum lifted, another set"),
        pytest.param({"max_hands": 4, "set_limit": 5, "tie_rule": "shared"}, ["set_limit"], id="four sets at most"),
        pytest.param({"max_hands": 4, "set_limit": 5}, [], id="four sets, or more after a tie"),
        pytest.param(
            {"preset": "solo", "max_bid": 3, "total_bid_rule": "not_equal_tricks"},
            ["total_bid_rule"],
            id="twelve at most",
        ),
        pytest.param(
            {"preset": "mirror", "moon": "bid_all", "moon_success": 200, "moon_fail": "contract_set"}, [], id="moon"
        ),
        pytest.param({**FIVE_SPADES, "redeal": "no_spades"}, [], id="eight hands without a spade"),
        pytest.param({**FEW_OTHERS, "redeal": "no_spades"}, ["redeal"], id="every hand has a spade"),
        pytest.param(
            {**FEW_OTHERS, "preset": "mirror", "nil_success": 50, "nil_exchange": 1},
            ["nil_success", "nil_exchange"],
            id="every hand has a spade to mirror",
        ),
        pytest.param(
            {"removed_cards": ["AS", "AD", "AH", "AC"], "high_trumps": ["KS", "QS"]}, ["high_trumps"], id="high anyway"
        ),
        pytest.param(
            {"removed_cards": ["AS", "AD", "AH", "AC"], "high_trumps": ["QS", "KS"]}, [], id="the queen above the king"
        ),
        pytest.param(
            {**NO_SPADE, "must_trump": True, "first_lead": "any"}, ["first_lead", "must_trump"], id="no trump"
        ),
        pytest.param({**NINE_TRICKS, "ten_for_200": "exact"}, [], id="ten of nine, missed"),
    ],
)
def test_option_without_effect_is_named(flat, options):
    found = warnings(Ruleset.resolve(flat))

    assert [warning.option for warning in found] == options
    assert {warning.reason for warning in found} <= {WarningReason.NO_EFFECT}


@pytest.mark.parametrize(
    ("flat", "long"),
    [
        pytest.param({"preset": "books"}, True, id="500 books"),
        pytest.param({"preset": "books", "target_score": 52}, False, id="52 books"),
        pytest.param({"preset": "books", "max_hands": 4}, False, id="500 books, four deals"),
        pytest.param({"target_score": 1000}, False, id="1000"),
        pytest.param({"target_score": 10_000}, True, id="10000"),
        pytest.param({"points_per_bid": 1}, True, id="a point a trick"),
        pytest.param({"target_score": 13 * 10 * 23}, False, id="23 deals of every trick"),
        pytest.param({"target_score": 13 * 10 * 23 + 1}, True, id="24 deals of every trick"),
    ],
)
def test_long_game_is_named(flat, long):
    reasons = [warning.reason for warning in warnings(Ruleset.resolve(flat))]

    assert (WarningReason.LONG_GAME in reasons) is long


# --- Hash, text, identity ---------------------------------------------------------------------------------------------


def test_hash_is_over_what_differs_from_the_neutral_table():
    ruleset = Ruleset.resolve({"bag_points": -10, "removed_cards": ["2C", "2D"], **JOKERS})

    canonical = '{"bag_points":-10,"high_trumps":["BJ","LJ"],"jokers":2,"removed_cards":["2C","2D"]}'
    assert ruleset.hash == hashlib.sha256(canonical.encode()).hexdigest()


def test_same_rules_under_two_presets_have_one_hash_and_are_not_equal():
    whiz = Ruleset.resolve({"preset": "whiz"})

    same = Ruleset.resolve({"bid_rule": "whiz", "blind_nil": "off", "losing_score": -200})

    assert same.hash == whiz.hash
    assert same != whiz
    assert same.options() == whiz.options()


def test_equal_input_gives_the_same_object():
    flat = {"preset": "two_player", "target_score": 300, "removed_cards": []}

    ruleset = Ruleset.resolve(flat)

    assert Ruleset.resolve(dict(reversed(flat.items()))) is ruleset
    assert Ruleset.parse(ruleset.text) is ruleset
    assert pickle.loads(pickle.dumps(ruleset)) is ruleset
    assert copy.deepcopy(ruleset) is ruleset
    assert {ruleset: 1}[Ruleset.resolve(flat)] == 1


def test_text_of_an_older_version_keeps_its_rules_when_an_option_is_added():
    stored = json.loads(Ruleset.resolve({"preset": "bicycle"}).text)
    del stored["must_trump"], stored["set_points"]

    ruleset = Ruleset.parse(json.dumps(stored))

    assert (ruleset.must_trump, ruleset.set_points) == (NEUTRAL["must_trump"], NEUTRAL["set_points"])


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "nonsense", '{"options": {}}'])
def test_text_that_is_no_ruleset_is_refused(text):
    with pytest.raises(NotationError):
        Ruleset.parse(text)


@pytest.mark.parametrize("text", ['{"preset":"nope"}', '{"preset":"standard","players":NaN}', '{"preset":7}'])
def test_text_with_values_that_no_ruleset_has_is_refused(text):
    with pytest.raises(RulesetError):
        Ruleset.parse(text)


def test_options_are_the_callers_to_change():
    ruleset = Ruleset.resolve({"preset": "cutthroat"})

    options = ruleset.options()
    options["removed_cards"].append("2D")
    options["players"] = 9

    assert ruleset.options()["removed_cards"] == ["2C"]
    assert ruleset.options()["players"] == 3


def test_options_are_plain_json_values():
    for preset in PRESETS.values():
        kinds = {type(value) for value in preset.ruleset.options().values()}

        assert kinds <= {str, int, bool, list, type(None)}


def test_ruleset_cannot_be_changed_or_made_wrong():
    ruleset = Ruleset.resolve({})

    with pytest.raises(dataclasses.FrozenInstanceError):
        ruleset.players = 3
    with pytest.raises(RulesetError):
        dataclasses.replace(ruleset, players=3)


def test_repr_makes_the_ruleset_again():
    ruleset = Ruleset.resolve({"preset": "cutthroat", "max_bid": 9, "losing_score": -200})

    assert repr(ruleset) == "Ruleset.resolve({'preset': 'cutthroat', 'losing_score': -200, 'max_bid': 9})"
    assert eval(repr(ruleset)) is ruleset


# --- What this engine plays -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_ruleset_of_every_worked_case_is_played(case):
    require_supported(Ruleset.resolve(of_case(case)))


def test_a_value_that_is_not_played_is_refused_by_name(monkeypatch):
    played = {**SUPPORTED, "must_trump": frozenset((False,)), "jokers": frozenset((0, 2)), "decks": frozenset((1,))}
    monkeypatch.setattr("spades.ruleset.SUPPORTED", played)
    ruleset = Ruleset.resolve(
        {"preset": "solo", "must_trump": True, "jokers": 1, "high_trumps": ["BJ"], "removed_cards": ["2C"]}
    )

    with pytest.raises(RulesetError) as refused:
        require_supported(ruleset)

    problems = [(problem.option, problem.value, problem.detail) for problem in refused.value.problems]
    assert {problem.reason for problem in refused.value.problems} == {Reason.OPTION_NOT_SUPPORTED}
    assert problems == [
        ("jokers", 1, "this engine does not play 1 yet; it plays 0, 2"),
        ("must_trump", True, "this engine does not play true yet; it plays false"),
    ]


# --- Schemas --------------------------------------------------------------------------------------------------------


def test_schemas_are_schemas():
    for schema in (json_schema(), resolved_json_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", PRESETS)
def test_resolved_preset_fits_the_schema(name):
    jsonschema.Draft202012Validator(resolved_json_schema()).validate(PRESETS[name].ruleset.resolved())


def test_input_schema_has_every_option_that_can_be_set():
    schema = json_schema()

    assert list(schema["properties"]) == ["preset", *(name for name in OPTIONS if name != "hand_size")]
    assert schema["properties"]["preset"]["enum"] == list(PRESETS)
    assert schema["additionalProperties"] is False


# --- Properties -------------------------------------------------------------------------------------------------------

INPUTS = [option for option in OPTIONS.values() if not option.derived]
JUNK = st.sampled_from([True, 3.0, "3", "", [], [1], {}, -1, 10**12, "nonsense", ["2C", 5], None])


def values(option) -> st.SearchStrategy:
    """Well-formed values of an option."""
    if option.name in {"removed_cards", "high_trumps"}:
        twos = [rank + suit for rank in "23" for suit in "CDHS"] + ["BJ", "LJ"]
        return st.lists(st.sampled_from(twos), max_size=4, unique=True)
    if option.name == "pass_cycle":
        return st.lists(st.sampled_from(option.words), max_size=4)
    choices = [st.sampled_from(option.words)] if option.words else []
    if option.kind.value == "boolean":
        choices.append(st.booleans())
    if option.kind.value == "integer":
        choices.append(st.integers(option.minimum, min(option.maximum, 20)))
        choices.append(st.integers(option.minimum, option.maximum))
    if option.nullable:
        choices.append(st.none())
    return st.one_of(choices)


@st.composite
def rulesets(draw, *, junk: bool = False) -> dict:
    """A preset and some overrides, well formed each, not always together."""
    chosen = draw(st.lists(st.sampled_from(INPUTS), max_size=8, unique=True))
    flat = {"preset": draw(st.sampled_from([*PRESETS]))}
    for option in chosen:
        flat[option.name] = draw(values(option) | JUNK) if junk else draw(values(option))
    return flat


@given(rulesets())
def test_well_formed_ruleset_resolves_or_names_contradictions_only(flat):
    ruleset, found = resolved(flat)

    assert {problem.reason for problem in found} <= {Reason.RULESET_CONTRADICTION}
    assert all(problem.option in OPTIONS for problem in found)
    if ruleset:
        assert {name: ruleset.options()[name] for name in flat if name != "preset"} == {
            name: value for name, value in flat.items() if name != "preset"
        }
        assert 1 <= ruleset.hand_size <= 54
        assert warnings(ruleset) == warnings(ruleset)
        jsonschema.Draft202012Validator(json_schema()).validate(flat)


ALONE = {
    "teams": {"teams": "trios"},
    "dealer_rotation": {"dealer_rotation": "alternate"},
    "losing_score": {"losing_score": 600},
    "high_trumps": {"high_trumps": ["BJ"]},
    "duplicate_winner": {"decks": 2},
    "pass_count": {"pass_cycle": ["left"]},
    "points_per_bid": {"points_per_bid": None},
    "set_points": {"set_points": None},
    "moon_fail": {"moon": "bid_all", "moon_success": 200},
    "bid_order": {"bid_order": "non_dealer"},
    "min_bid": {"min_bid": None},
    "nil_success": {"nil_success": None},
    "failed_nil_tricks": {"failed_nil_tricks": None, "nil_success": 100},
    "first_leader": {"first_leader": "non_dealer"},
}


@given(rulesets())
def test_contradiction_is_gone_without_what_it_says_brings_it_about(flat):
    _, found = resolved(flat)

    for problem in found:
        assert problem.causes
        assert set(problem.causes) <= flat.keys()
        assert (problem.causes[0] == problem.option) is (problem.option in flat)
        _, left = resolved({option: value for option, value in flat.items() if option not in problem.causes})
        assert (problem.option, problem.detail) not in [(other.option, other.detail) for other in left]


@given(st.sets(st.sampled_from(sorted(ALONE)), min_size=1))
def test_contradictions_that_have_nothing_to_do_with_each_other_are_all_named(options):
    if {"nil_success", "failed_nil_tricks"} <= options:
        options -= {"nil_success"}
    flat = {name: value for option in options for name, value in ALONE[option].items()}

    with pytest.raises(RulesetError) as refused:
        Ruleset.resolve(flat)

    named = {problem.option: problem.value for problem in refused.value.problems}
    assert set(named) == options
    assert named == {option: flat.get(option, PRESETS["standard"].ruleset.options()[option]) for option in options}


@given(rulesets())
def test_options_resolve_to_the_ruleset_again(flat):
    ruleset, _ = resolved(flat)
    if ruleset is None:
        return

    options = {name: value for name, value in ruleset.options().items() if name != "hand_size"}
    assert Ruleset.resolve({"preset": ruleset.preset, **json.loads(json.dumps(options))}) == ruleset
    assert Ruleset.resolve({"preset": ruleset.preset, **ruleset.overrides()}) == ruleset
    assert Ruleset.parse(ruleset.text) == ruleset
    jsonschema.Draft202012Validator(resolved_json_schema()).validate(ruleset.resolved())


@given(rulesets(junk=True), st.dictionaries(st.text(max_size=8), JUNK, max_size=3))
def test_malformed_values_are_exactly_those_that_the_schema_refuses(flat, strange):
    flat = {**{key: value for key, value in strange.items() if key not in OPTIONS and key != "preset"}, **flat}
    properties = json_schema()["properties"]
    # JSON has one kind of number, so the schema takes 3.0 for an integer; and it cannot say that a card has one place.
    refused = {
        name
        for name, value in flat.items()
        if name not in properties
        or isinstance(value, float)
        or not jsonschema.Draft202012Validator(properties[name]).is_valid(value)
    }

    _, found = resolved(flat)

    assert {problem.option for problem in found if isinstance(problem.reason, OptionFault)} == refused
