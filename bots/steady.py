"""`steady`: a player by rules of thumb. It decides every turn by what its view shows, and remembers nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from bots import bidding, drawing, exchange, play
from bots.reading import Reading

__all__ = ["Steady"]


class Steady:
    """Values its hand, bids what it is worth, takes its contract and then ducks; covers its partner's nil."""

    name = "steady"

    def choose(self, view: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        """Decide a turn: see `bots.player.Bot`.

        Raises:
            ValueError: the view waits for something that this bot does not know.
        """
        reading = Reading(view)
        action = view["turn"]["action"]
        if action == "draw":
            return drawing.decide(reading)
        if not view["deal"]["hand_seen"]:
            return bidding.look(reading)
        if action in ("pass", "give_cards"):
            return exchange.decide(reading)
        if action in ("bid", "propose_bid"):
            return bidding.decide(reading, rng)
        if action == "play":
            return play.decide(reading, rng)
        raise ValueError(f"steady does not know what to do when asked to {action}")
