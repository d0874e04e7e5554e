"""Random rulesets: that they reach every value of every option, and whole deals and games under them."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from spades import Card, Match, Phase, RuleViolation, Seed
from spades.cards import PACK
from spades.ruleset import resolved_json_schema
from spades.sheet import DEAL_CAP

from .brute_force import Ending
from .plain_scores import plain_deal
from .playing import CHANGES, DECKS, EVERY_OPTION, opening, play_on, random_ruleset
from .test_match import play_game

NUMBERS = st.integers(0, 2**32)


def named(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def test_random_rulesets_reach_every_value_of_every_option() -> None:
    found: dict[str, set[Any]] = defaultdict(set)
    for number in range(2500):
        ruleset = random_ruleset(random.Random(number))
        for name, value in {"preset": ruleset.preset, **ruleset.options()}.items():
            found[name].add(named(value))

    allowed = {
        name: {getattr(value, "value", value) for value in schema["enum"]}
        for name, schema in resolved_json_schema()["properties"].items()
        if "enum" in schema
    }
    wanted = {name: set(map(named, values)) for name, values in CHANGES.items() if name in EVERY_OPTION}
    for deck in DECKS.values():
        for name, value in deck.items():
            wanted.setdefault(name, set()).add(named(value))
    assert {name: values - found[name] for name, values in allowed.items() if values - found[name]} == {}
    assert {name: values - found[name] for name, values in wanted.items() if values - found[name]} == {}
    assert {name for name in EVERY_OPTION if len(found[name]) < 2} == set()
    assert {name for name in found if name not in ("hand_size", "preset")} == EVERY_OPTION


@settings(max_examples=100, deadline=None)
@given(NUMBERS)
def test_scores_are_those_that_the_record_comes_to_when_reckoned_again(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)
    states = [state for state in (match, *play_on(match, rng)) if state.deal and state.deal.phase is not Phase.FINISHED]
    first = next(state.deal for state in states if state.deal and state.deal.phase is Phase.PLAYING)
    last = states[-1].deal
    assert last is not None
    assert last.turn is not None
    card = Card.parse(last.legal(last.turn)[0]["card"])

    score = states[-1].play(last.turn, card).score

    options = match.ruleset.options()
    hands = {seat: [held.code for held in first.hand(seat)] for seat in first.table.seats}
    tricks = tricks_of(options, hands, first.turn or "", [played.code for played in (*last.plays, card)])
    before = {side: (standing.score, standing.bags) for side, standing in match.sheet.sides.items()}
    bids = {seat: str(bid) for seat, bid in last.bids_by_seat().items()}
    expected = plain_deal(options, before, bids, tricks)
    assert score is not None
    event(f"{match.ruleset.players} players, {match.ruleset.bid_mode.value}")
    told = {side: {**answer.to_json(), "won": answer.won} for side, answer in score.sides.items()}
    assert {side: {name: answer[name] for name in expected[side]} for side, answer in told.items()} == expected


def tricks_of(rules: dict[str, Any], hands: dict[str, list[str]], leader: str, record: list[str]) -> dict[str, int]:
    """The tricks of each seat, by a reckoning that shares nothing with the library."""
    taken = dict.fromkeys(hands, 0)
    ending = Ending.after(rules, hands, leader, [])
    for code in record:
        assert code in ending.choices()
        ending = ending.with_card(code)
        if not ending.trick:
            taken[ending.leader] += 1
    return taken


@settings(max_examples=10, deadline=None)
@given(NUMBERS)
def test_every_game_under_a_random_ruleset_ends(number: int) -> None:
    rng = random.Random(number)

    *_, match = play_game(Match.start(random_ruleset(rng), Seed(rng.randbytes(32))), rng)

    assert match.ending is not None
    event(match.ending.reason)
    assert match.turns == ()
    assert match.sheet.deals <= DEAL_CAP
    assert set(match.ending.winners) <= set(match.table.sides)
    assert match.ending.winners
    with pytest.raises(RuleViolation):
        match.play(match.table.seats[0], PACK[0])
