"""What is said to have no effect has none: the same game is played move by move with any other such value."""

from __future__ import annotations

import itertools
import random
from functools import lru_cache
from typing import Any

import pytest

from spades import Match, Ruleset, RulesetError, Seed
from spades import view as views
from spades.options import OPTIONS, Kind
from spades.ruleset import WarningReason, interchangeable, warnings, without_effect
from spades.sheet import answer
from tests.spades.playing import DECKS, act, choose, random_ruleset

RESTS = {
    "blind_nil": "off",
    "redeal": "none",
    "moon": "off",
    "ten_for_200": "off",
    "total_bid_rule": "free",
    "first_lead": "no_spade",
    "min_team_bid": 0,
    "pass_count": 0,
    "pass_cycle": [],
    "high_trumps": [],
    "both_nil": "independent",
}
SCORES: dict[str, list[Any]] = {
    "moon": ["bid_all"],
    "moon_success": [200, "win"],
    "moon_fail": ["contract_set", "tricks_as_bags"],
    "ten_for_200": ["exact", "at_least"],
    "bag_limit": [0, 1, 3],
    "bag_carry": ["reset"],
    "both_nil": ["joint", "forbidden"],
    "max_team_bid": [13, 26, 54],
    "min_team_bid": [0, 1, 2],
    "max_hands": [1, 2, 300],
    "set_limit": [1, 300],
    "target_score": [40],
    "losing_score": [-100],
    "dealer_rotation": ["alternate"],
    "zero_bid": ["both"],
    "bid_mode": ["individual_sum", "partnership"],
    "blind_bid_min": [4],
    "blind_bid_multiplier": [3],
}


def changed(ruleset: Ruleset, **options: Any) -> Ruleset | None:
    """The ruleset with other options; None where that cannot be."""
    try:
        return Ruleset.resolve({"preset": ruleset.preset, **ruleset.overrides(), **options})
    except RulesetError:
        return None


def any_ruleset(rng: random.Random) -> Ruleset:
    ruleset = random_ruleset(rng)
    for option in rng.sample(list(SCORES), rng.randint(0, 8)):
        ruleset = changed(ruleset, **{option: rng.choice(SCORES[option])}) or ruleset
    return ruleset


def other_values(ruleset: Ruleset, option) -> list[Any]:
    """Values that might stand in place of the option's."""
    values = [value.value for value in option.values]
    if option.kind is Kind.INTEGER:
        near = [
            value + step for value in (getattr(ruleset, option.name),) if isinstance(value, int) for step in (-1, 1)
        ]
        values += [option.minimum, *near, option.maximum]
    values = [list(value) if isinstance(value, tuple) else value for value in values]
    return [value for value in values if value != ruleset.options()[option.name]]


def without_marks(value: Any) -> Any:
    """A view without what tells of rules that bind nobody: whether spades are broken."""
    if isinstance(value, dict):
        return {key: without_marks(item) for key, item in value.items() if key not in {"spades_broken", "hash"}}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


@lru_cache(maxsize=512)
def game(ruleset: Ruleset, seed: int, deals: int = 2) -> list[Any]:
    """What everybody sees and may do in a game of random moves, state by state, with its scores."""
    rng = random.Random(seed)
    match = Match.start(ruleset, Seed(rng.randbytes(32)))
    told: list[Any] = [match.dealer, match.cut]
    for _ in range(deals):
        if match.ending is not None:
            break
        match = match.begin_deal(Seed(rng.randbytes(32)))
        while match.score is None:
            seat = rng.choice(match.turns)
            callers = [name for name in match.table.seats if match.deal.may_call_redeal(name)]
            told.append((seat, callers, without_marks(views.for_seat(match, seat))))
            if callers and rng.random() < 0.2:
                match = match.call_redeal(callers[0]).begin_deal(Seed(rng.randbytes(32)))
            else:
                match = act(match, seat, choose(match.deal.legal(seat), rng))
        told.append((match.dealer, answer(match.score, match.ending), without_marks(views.for_public(match))))
    return told


def first_difference(one: Ruleset, other: Ruleset, seed: int) -> Any:
    with_one, with_other = game(one, seed), game(other, seed)
    if with_one == with_other:
        return None
    return next(((a, b) for a, b in zip(with_one, with_other, strict=False) if a != b), "one game is longer")


@pytest.mark.parametrize("seed", range(60))
def test_options_without_effect_change_nothing_whatever_they_are(seed):
    rng = random.Random(seed)
    ruleset = any_ruleset(rng)
    other = ruleset
    for name in without_effect(ruleset):
        values = other_values(ruleset, OPTIONS[name])
        rest = RESTS.get(name, values[0])
        for value in (rng.choice(values), rest):
            varied = changed(other, **{name: value})
            if varied and (name in without_effect(varied) or value == RESTS.get(name)):
                other = varied
                break

    assert first_difference(ruleset, other, seed) is None, (ruleset, other)


@pytest.mark.parametrize("seed", range(60))
def test_values_that_are_interchangeable_give_the_same_game(seed):
    rng = random.Random(seed)
    ruleset = any_ruleset(rng)
    other = ruleset
    for name, values in interchangeable(ruleset).items():
        other = changed(other, **{name: rng.choice(sorted(values))}) or other

    assert first_difference(ruleset, other, seed) is None, (ruleset, other)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_said_to_be_set_in_vain_might_as_well_have_been_left_out(seed):
    rng = random.Random(seed)
    ruleset = any_ruleset(rng)
    told = {each.option for each in warnings(ruleset) if each.reason is WarningReason.NO_EFFECT}
    kept = {option: value for option, value in ruleset.overrides().items() if option not in told}
    try:
        other = Ruleset.resolve({"preset": ruleset.preset, **kept})
    except RulesetError:  # some had to be set to anything else
        return

    assert first_difference(ruleset, other, seed) is None, (ruleset, other)


TINY = {**DECKS["tiny"], "max_bid": 3}
ONE_TRICK = {"removed_cards": [rank + suit for suit in "CDHS" for rank in "23456789TJQK"], "max_bid": 1}
SPADES = {
    "removed_cards": [rank + suit for suit in "CDH" for rank in "23456789TJ"] + ["QC", "KC", "AC", "QD", "KD", "AD"]
}
NO_NIL = {"nil_success": None, "nil_fail": None, "zero_bid": "forbidden", "blind_nil": "off"}
# Tables at which a rule that seldom matters matters soon: few tricks in a deal, few other suits, every contract ten.
TABLES: list[dict[str, Any]] = [
    {**TINY, "moon": "bid_all", "moon_success": 50, "moon_fail": "contract_set", "bag_limit": 2, "target_score": 60},
    {**ONE_TRICK, "nil_exchange": 1, "both_nil": "joint"},
    {**TINY, "blind_nil": "any", "blind_nil_exchange": 1, "blind_bid_min": 2},
    {**TINY, "pass_cycle": ["left"], "pass_count": 1, "max_bid": 1, "bag_limit": 2, **NO_NIL},
    {**TINY, "bid_mode": "none", "score_mode": "books", "target_score": 3},
    {**SPADES, "max_bid": 4, "min_team_bid": 4, **NO_NIL},
    {},
    {"preset": "two_player"},
    {**NO_NIL, "min_bid": 5, "max_bid": 5, "ten_for_200": "at_least"},
    {"preset": "joker_joker_deuce_deuce_tournament"},
    {"preset": "solo", "total_bid_rule": "not_equal_tricks"},
    {"preset": "six_pairs"},
]
TOGETHER: dict[str, dict[str, Any]] = {
    "decks": {"duplicate_winner": "first"},
    "jokers": {"high_trumps": ["BJ", "LJ"], "removed_cards": ["2C", "2D"]},
    "score_mode": {"bid_mode": "none"},
}
# Whether the deal goes to the left or alternates is one thing for two players, and others cannot alternate.
NEVER = "dealer_rotation"


@pytest.mark.parametrize(
    "option",
    [option for option in OPTIONS.values() if not option.derived and option.name != NEVER],
    ids=lambda o: o.name,
)
def test_every_option_changes_the_game_at_a_table_where_it_is_not_named(option):
    for table, seed in itertools.product(TABLES, range(8)):
        ruleset = Ruleset.resolve(table)
        if option.name in without_effect(ruleset):
            continue
        for value in other_values(ruleset, option):
            varied = changed(ruleset, **{option.name: value, **TOGETHER.get(option.name, {})})
            if varied and first_difference(ruleset, varied, seed) is not None:
                return
    pytest.fail("no game is another one")
