"""Celery's doors to the services: each takes ids, calls one service, and may run any number of times."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from games import wakes
from games.services import bot_turns

__all__ = ["bot_turn", "sweep"]


@shared_task(name=wakes.BOT_TURN)
def bot_turn(game_id: str, version: int) -> bool:
    """Let the bot on turn at this version move; does nothing when the game has moved on."""
    return bot_turns.take_turn(game_id=UUID(game_id), version=version)


@shared_task(name=wakes.SWEEP)
def sweep() -> int:
    """Wake the bots that should have moved."""
    return bot_turns.sweep()
