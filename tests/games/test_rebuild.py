"""The actions are the truth: everything else comes out of them again."""

from __future__ import annotations

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games import codec, selectors, store
from games.models import Action, Game
from games.services import bot_turns
from tests.games.rebuilding import assert_rebuilds, create_bot_game, play_bot_game

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("number", range(5))
def test_a_bot_game_ends_by_itself_and_rebuilds_identically(number: int) -> None:
    game_id = play_bot_game((("steady", "steady"), ("steady", "random"), ("random", "steady"))[number % 3])

    game = store.read_game(game_id, lock=False)
    assert game is not None
    assert game.status == Game.Status.FINISHED
    result = orjson.loads(game.result or "null")
    assert result["reason"] == "target"
    assert max(result["scores"].values()) >= 500
    assert_rebuilds(game_id)


def test_every_state_of_a_game_rebuilds_and_survives_the_codec() -> None:
    game_id = create_bot_game(("steady", "random"), target_score=60)
    while (game := store.read_game(game_id, lock=False)) is not None and game.status == Game.Status.ACTIVE:
        match = selectors.match_of(game)
        assert match is not None
        assert codec.dump_match(match) == game.state
        assert selectors.replay(game)[-1][1] == match
        bot_turns.take_turn(game_id=game_id, version=game.version)


def test_a_snapshot_from_the_future_is_refused_and_one_from_the_past_is_upgraded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game_id = create_bot_game(("steady", "steady"))
    game = store.read_game(game_id, lock=False)
    assert game is not None
    ruleset = selectors.ruleset_of(game)
    row = orjson.loads(game.state)

    with pytest.raises(ValueError, match="format 99"):
        codec.load_match(ruleset, orjson.dumps({**row, "format": 99}).decode())

    old = {**row, "format": 0, "giver": row["dealer"]}
    del old["dealer"]

    def upgrade(older: dict[str, object]) -> dict[str, object]:
        return {
            **{name: value for name, value in older.items() if name != "giver"},
            "format": 1,
            "dealer": older["giver"],
        }

    monkeypatch.setitem(codec.UPGRADES, 0, upgrade)
    assert codec.load_match(ruleset, orjson.dumps(old).decode()) == selectors.match_of(game)


def test_a_game_keeps_its_rules_and_its_engine() -> None:
    game_id = create_bot_game(("steady", "steady"), target_score=120)
    game = Game.objects.get(id=game_id)

    assert game.engine == 1
    assert orjson.loads(game.ruleset)["target_score"] == 120
    assert game.ruleset_hash == selectors.ruleset_of(store.read_game(game_id, lock=False)).hash  # type: ignore[arg-type]


def test_an_action_costs_the_same_in_a_late_deal_as_in_the_first() -> None:
    """The same statements, and a snapshot no longer: nothing that grows with the game is read or written."""
    game_id = create_bot_game(("steady", "random"), target_score=5000, bag_penalty=0, bag_limit=0)
    costs: dict[int, list[tuple[int, int]]] = {1: [], 12: []}
    while (game := store.read_game(game_id, lock=False)) is not None and game.status == Game.Status.ACTIVE:
        match = selectors.match_of(game)
        assert match is not None
        assert match.deal is not None
        number = match.deal.number
        if number > 12:
            break
        with CaptureQueriesContext(connection) as queries:
            bot_turns.take_turn(game_id=game_id, version=game.version)
        if number in costs:
            costs[number].append((len(queries), len(game.state)))

    statements = {number: [count for count, _ in cost] for number, cost in costs.items()}
    assert statements[1] == statements[12]
    longest = {number: max(length for _, length in cost) for number, cost in costs.items()}
    assert longest[12] - longest[1] < 40
    # Between two deals: one locked read, one write (on SQLite three statements and one for each event).
    assert min(statements[1]) <= (6 if connection.vendor == "postgresql" else 8)


def test_actions_are_numbered_by_the_version_after_them() -> None:
    game_id = play_bot_game(("steady", "steady"), target_score=60)

    versions = list(Action.objects.filter(game_id=game_id).order_by("id").values_list("version", flat=True))

    assert versions == sorted(set(versions))
    assert versions[-1] == Game.objects.get(id=game_id).version
