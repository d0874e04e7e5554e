"""What every bot owes: a legal answer, from its view alone, the same for the same view; and games that end."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.arena import act, compete, play_match, seat_view
from bots.player import REGISTRY, Bot, bot
from spades import Match, Ruleset, Seed
from tests.spades.test_view import moved

RULES = Ruleset.resolve({"preset": "two_player"})
NAMES = sorted(REGISTRY)


def states(players: dict[str, Bot], number: int) -> Iterator[Match]:
    """Every state of a game in which somebody is on turn."""
    rng = random.Random(number)
    match = Match.start(RULES, Seed(rng.randbytes(32)))
    while match.ending is None:
        if match.needs_deal:
            match = match.begin_deal(Seed(rng.randbytes(32)))
        yield match
        seat = match.turn
        assert seat is not None
        match = act(match, seat, players[seat].choose(seat_view(match, seat), rng))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_a_bot_answers_legally_alike_and_leaves_its_view_alone(name: str, number: int) -> None:
    player = bot(name)
    for match in states({"A": player, "B": bot("random")}, number):
        if match.turn != "A":
            continue
        view = seat_view(match, "A")
        given_view = copy.deepcopy(view)

        answer = player.choose(view, random.Random(number))

        assert answer in view["turn"]["legal"]
        assert view == given_view
        assert answer == bot(name).choose(view, random.Random(number))
        if match.sheet.deals >= 3:
            break


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 160))
def test_no_decision_depends_on_a_card_that_the_bot_has_not_seen(name: str, number: int, steps: int) -> None:
    run = states({"A": bot("steady"), "B": bot("steady")}, number)
    for _ in range(steps):
        match = next(run)
    match = next(run)
    seat = match.turn
    assert seat is not None
    elsewhere = moved(match, seat, random.Random(number))

    here = bot(name).choose(seat_view(match, seat), random.Random(number))

    assert bot(name).choose(seat_view(elsewhere, seat), random.Random(number)) == here


@pytest.mark.parametrize("pair", [("steady", "steady"), ("steady", "random"), ("random", "random")])
def test_games_of_bots_end_at_the_target(pair: tuple[str, str]) -> None:
    for number in range(4):
        match = play_match(RULES, {"A": bot(pair[0]), "B": bot(pair[1])}, number)

        assert match.ending is not None
        assert match.ending.reason == "target"
        assert match.sheet.deals < 100


def test_steady_beats_random_clearly_with_the_same_cards() -> None:
    tally = compete(RULES, bot("steady"), bot("random"), pairs=20, seed=1)

    assert sum(tally.wins) >= 0.85 * 20
    assert sum(tally.points) / len(tally.points) > 10


def test_an_unknown_bot_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"nobody.*random, steady"):
        bot("nobody")


def test_a_bot_is_listed_with_what_it_is() -> None:
    assert [(info.name, bool(info.title), bool(info.description)) for info in REGISTRY.values()] == [
        ("random", True, True),
        ("steady", True, True),
    ]
    assert {name: bot(name).name for name in NAMES} == {name: name for name in NAMES}
