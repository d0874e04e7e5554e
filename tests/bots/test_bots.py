"""What every bot owes: a legal answer, from its view alone, the same for the same view; and games that end."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.arena import act, compete, main, play_boards, play_match, seat_view
from bots.player import REGISTRY, Bot, bot
from spades import PRESETS, Match, Phase, Ruleset, Seed
from tests.spades.playing import opening, random_ruleset
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


def allowed(answer: dict[str, Any], legal: list[dict[str, Any]]) -> bool:
    """Whether an answer is one of the requests that are open, cards to choose included."""
    if "choose" not in legal[0]:
        return answer in legal
    given = Counter(answer["cards"])
    return answer.keys() == {"cards"} and given.total() == legal[0]["choose"] and given <= Counter(legal[0]["from"])


class Watched:
    """A bot whose answers are looked at as they come."""

    def __init__(self, player: Bot) -> None:
        self.player, self.name = player, player.name

    def choose(self, view: dict[str, Any], rng: random.Random) -> dict[str, Any]:
        given_view, state = copy.deepcopy(view), rng.getstate()

        answer = self.player.choose(view, rng)

        assert allowed(answer, view["turn"]["legal"])
        assert view == given_view
        again = random.Random()
        again.setstate(state)
        assert bot(self.name).choose(view, again) == answer
        return answer


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_game_of_bots_at_a_presets_table_is_legal_and_ends(preset: str) -> None:
    ruleset = Ruleset.resolve({"preset": preset, "target_score": 100})
    seats = Match.start(ruleset, Seed(bytes(32))).table.seats
    for number in range(2):
        players = {seat: Watched(bot(NAMES[(place + number) % 2])) for place, seat in enumerate(seats)}

        match = play_match(ruleset, players, number)

        assert match.ending is not None
        assert match.ending.reason in {"target", "losing_score", "set_limit", "moon"}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_bots_answer_legally_at_any_table_and_what_they_played_is_scored(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)
    players = {seat: Watched(bot(rng.choice(NAMES))) for seat in match.table.seats}
    while match.score is None:
        assert match.deal is not None
        assert match.deal.phase is not Phase.FINISHED
        seat = rng.choice(match.turns)
        match = act(match, seat, players[seat].choose(seat_view(match, seat), rng))

    assert sum(match.deal.taken if match.deal else ()) == match.ruleset.hand_size


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_no_decision_at_any_table_depends_on_a_card_that_the_bot_has_not_seen(
    name: str, number: int, steps: int
) -> None:
    rng = random.Random(number)
    ruleset = random_ruleset(rng)
    match = opening(ruleset, rng)
    if ruleset.bid_rule != "free" or ruleset.redeal != "none":
        return  # there unseen cards have been told about in other ways
    for _ in range(steps):
        if match.score is not None:
            return
        seat = match.turns[0]
        match = act(match, seat, bot("steady").choose(seat_view(match, seat), rng))
    if match.score is not None:
        return
    seat = match.turns[0]
    here = seat_view(match, seat)
    there = seat_view(moved(match, seat, random.Random(number)), seat)
    assert there["turn"] == here["turn"]

    assert bot(name).choose(there, random.Random(number)) == bot(name).choose(here, random.Random(number))


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


def test_steady_beats_random_clearly_on_boards_of_four() -> None:
    tally = play_boards(PRESETS["standard"].ruleset, bot("steady"), bot("random"), boards=40, seed=1)

    assert len(tally.points) == 40
    assert tally.mean - 2 * tally.error > 20


def test_a_bot_has_no_edge_over_itself_on_a_board() -> None:
    for preset in ("standard", "cutthroat", "six_pairs"):
        tally = play_boards(PRESETS[preset].ruleset, bot("random"), bot("random"), boards=3, seed=1)

        assert tally.points == [0.0, 0.0, 0.0]


def test_the_arena_tells_what_it_measured(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--preset", "cutthroat", "--boards", "2", "--seed", "7"])
    boards = capsys.readouterr().out.splitlines()
    main(["random", "random", "--preset", "two_player", "--games", "2"])
    games = capsys.readouterr().out.splitlines()

    assert boards[:2] == [
        "cutthroat, seed 7",
        "steady against random: 2 boards, each at two tables with the seats changed",
    ]
    assert [line.split("  ")[0] for line in boards[2:]] == [
        "points a board",
        "both tables",
        "a decision takes",
        "a decision takes",
    ]
    assert games[:2] == ["two_player, seed 1", "random against random: 2 games in pairs with the same cards"]


def test_an_unknown_bot_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"nobody.*random, steady"):
        bot("nobody")


def test_a_bot_is_listed_with_what_it_is() -> None:
    assert [(info.name, bool(info.title), bool(info.description)) for info in REGISTRY.values()] == [
        ("random", True, True),
        ("steady", True, True),
    ]
    assert {name: bot(name).name for name in NAMES} == {name: name for name in NAMES}
