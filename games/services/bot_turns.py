"""Moves for bots. A bot gets the view of its seat and nothing else, and its answer goes the way of every action."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from bots.player import bot
from events.writes import write_turn
from games import codec, selectors, store, wakes
from games.models import Game
from games.selectors import Viewer
from games.services import play
from games.store import GameRow
from spades import RuleViolation

__all__ = ["sweep", "take_turn"]

_log = structlog.get_logger("spades.bots")

PATIENCE = timedelta(seconds=2)
"""After so long on turn a bot's wake is taken for lost."""

SWEEP_MOST = 500
"""Games that one sweep wakes at most; the next one, seconds later, wakes the rest."""


def take_turn(*, game_id: UUID, version: int) -> bool:
    """Let the bot that is on turn at `version` move.

    The bot thinks on an unlocked reading; what it answers counts only if the game is still at that version. So the same
    wake may come twice, or late, and nothing is played twice.

    Returns:
        Whether a move was made; False when the game had moved on, or no bot is on turn.
    """
    game = store.read_game(game_id, lock=False)
    if game is None or game.version != version or game.status != Game.Status.ACTIVE or game.turn_seat is None:
        return False
    occupant = game.occupant(game.turn_seat)
    if occupant is None or occupant.kind != "bot" or occupant.bot is None:
        return False
    viewer = Viewer("seat", game.turn_seat, None)
    match = selectors.match_of(game)
    view = selectors.view(game, match, viewer)
    view["ruleset"] = selectors.ruleset_of(game).options()
    choice = _choose(occupant.bot, view, game)
    legal = view["turn"]["legal"]
    with write_turn(), transaction.atomic():
        game = store.read_game(game_id, lock=True)
        if game is None or game.version != version:
            return False
        match = selectors.match_of(game)
        if match is None:
            return False
        try:
            play.move(game, match, viewer.seat, codec.action_of(choice))
        except (RuleViolation, ValueError) as refused:
            # An incident, not a reason to let the table wait: it is counted in the log and a legal move is made.
            _log.error(
                "bot_refused", game=str(game_id), version=version, bot=occupant.bot, error=type(refused).__name__
            )
            play.move(game, match, viewer.seat, codec.some_action(legal))
    return True


def _choose(name: str, view: Mapping[str, Any], game: GameRow) -> Mapping[str, Any]:
    # The seed comes from the operating system: from public data an opponent could tell what a random bot will do.
    rng = random.Random(secrets.token_bytes(16))  # noqa: S311 -- seeded with secrets
    try:
        return bot(name).choose(view, rng)
    except Exception:  # noqa: BLE001 -- whatever a bot does wrong, its table goes on
        _log.exception("bot_failed", game=str(game.id), version=game.version, bot=name)
        choice: Mapping[str, Any] = view["turn"]["legal"][0]
        return choice


def sweep(*, patience: timedelta = PATIENCE) -> int:
    """Wake the bots whose wake was lost, because a worker died or the broker was away.

    Args:
        patience: how long a bot must have been on turn.

    Returns:
        How many were woken.
    """
    due = store.bots_due(timezone.now() - patience, SWEEP_MOST)
    for game_id, version in due:
        wakes.bot_turn(game_id, version)
    return len(due)
