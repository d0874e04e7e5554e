"""Names of the tasks that services wake after a commit, and how they are woken.

A service knows a task by its name alone, so that nothing points from services to tasks. A wake that is lost, because
the broker is away or a process died, is made good by the sweep.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from celery import current_app
from kombu.exceptions import OperationalError

__all__ = ["BOT_TURN", "SWEEP", "bot_turn"]

BOT_TURN = "games.bot_turn"
SWEEP = "games.sweep"

_log = structlog.get_logger("spades.wakes")


def bot_turn(game_id: UUID, version: int) -> None:
    """Let a worker move for the bot that is on turn at this version. Never raises: the play is already committed."""
    try:
        current_app.send_task(BOT_TURN, args=(str(game_id), version))
    except (OperationalError, OSError) as error:
        _log.warning("wake_lost", task=BOT_TURN, game=str(game_id), version=version, error=str(error))
