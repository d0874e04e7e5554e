"""Bots move by tasks that may come twice, late, or never."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from celery import current_app
from django.db import transaction

from accounts.services import create_account
from bots import player
from games import selectors, store, wakes
from games.models import Action
from games.selectors import Viewer
from games.services import bot_turns, tables
from games.services.tables import Guest
from tests.games.rebuilding import assert_rebuilds, create_bot_game

pytestmark = pytest.mark.django_db


def test_a_wake_that_comes_twice_or_late_moves_once() -> None:
    game_id = create_bot_game(("steady", "steady"))
    game = store.read_game(game_id, lock=False)
    assert game is not None

    first = bot_turns.take_turn(game_id=game_id, version=game.version)
    twice = bot_turns.take_turn(game_id=game_id, version=game.version)
    early = bot_turns.take_turn(game_id=game_id, version=game.version + 50)

    assert (first, twice, early) == (True, False, False)
    assert Action.objects.filter(game_id=game_id, version__gt=game.version).count() == 1
    assert_rebuilds(game_id)


def test_a_wake_does_nothing_where_a_person_is_on_turn_or_there_is_no_game() -> None:
    account, _ = create_account("Ann")
    with transaction.atomic():
        made, _ = tables.create_game(
            account_id=account.id,
            account_name="Ann",
            ruleset={"preset": "two_player"},
            seats=[Guest("human"), Guest("bot", bot="steady")],
        )
    game_id = UUID(made["game"]["id"])
    game = store.read_game(game_id, lock=False)
    assert game is not None
    if game.turn_seat == "B":
        assert bot_turns.take_turn(game_id=game_id, version=game.version)
        game = store.read_game(game_id, lock=False)
        assert game is not None

    assert game.turn_seat == "A"
    assert game.bot_due_at is None
    assert not bot_turns.take_turn(game_id=game_id, version=game.version)
    assert not bot_turns.take_turn(game_id=account.id, version=1)


class Recorder:
    """A bot that keeps what it was given and answers wrongly."""

    name = "recorder"
    views: list[Mapping[str, Any]] = []
    answer: Any = {"card": "AS"}

    def choose(self, view: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        self.views.append(view)
        if self.answer is None:
            raise RuntimeError("no idea")
        return dict(self.answer)


@pytest.mark.parametrize(
    "answer", [{"card": "AS"}, {"card": "nonsense"}, {"decision": "take_discard"}, {"decision": "x"}, {}, None]
)
def test_a_bot_that_fails_or_answers_wrongly_makes_a_legal_move(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, answer: Any
) -> None:
    game_id = create_bot_game(("steady", "steady"))
    info = player.BotInfo("steady", "Broken", "", Recorder)
    monkeypatch.setitem(player.REGISTRY, "steady", info)
    monkeypatch.setattr(Recorder, "answer", answer)
    game = store.read_game(game_id, lock=False)
    assert game is not None

    assert bot_turns.take_turn(game_id=game_id, version=game.version)

    (action,) = Action.objects.filter(game_id=game_id, version__gt=game.version)
    assert action.input == '{"draw":"keep"}'
    assert_rebuilds(game_id)
    assert any("bot_" in str(record.msg) for record in caplog.records)


def test_a_bot_is_given_the_view_of_its_seat_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    game_id = create_bot_game(("steady", "steady"))
    monkeypatch.setitem(player.REGISTRY, "steady", player.BotInfo("steady", "Recorder", "", Recorder))
    monkeypatch.setattr(Recorder, "views", [])
    monkeypatch.setattr(Recorder, "answer", {"decision": "keep"})
    game = store.read_game(game_id, lock=False)
    assert game is not None
    assert game.turn_seat is not None
    expected = selectors.view(game, selectors.match_of(game), Viewer("seat", game.turn_seat, None))

    bot_turns.take_turn(game_id=game_id, version=game.version)

    (given,) = Recorder.views
    assert {**given, "ruleset": None} == {**expected, "ruleset": None}
    assert given["ruleset"] == selectors.ruleset_of(game).options()


def test_the_sweep_wakes_bots_that_should_have_moved_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [create_bot_game(("steady", "random")) for _ in range(3)]
    woken: list[tuple[Any, int]] = []
    monkeypatch.setattr(wakes, "bot_turn", lambda game_id, version: woken.append((game_id, version)))

    patient = bot_turns.sweep(patience=timedelta(hours=1))
    count = bot_turns.sweep(patience=timedelta(seconds=-1))

    assert (patient, count) == (0, 3)
    versions = {game_id: store.read_game(game_id, lock=False).version for game_id in waiting}  # type: ignore[union-attr]
    assert dict(woken) == versions


def test_every_wake_names_a_task_that_is_registered() -> None:
    current_app.loader.import_default_modules()
    names = {value for name, value in vars(wakes).items() if name.isupper() and isinstance(value, str)}

    assert names == {"games.bot_turn", "games.sweep"}
    assert names <= set(current_app.tasks)
