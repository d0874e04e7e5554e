"""`random`: every allowed card is as likely as any other. The floor that other bots are measured against."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

__all__ = ["RandomBot"]

BELOW_SHARE = 2
"""How far below its fair share of the tricks the bot bids at most."""


class RandomBot:
    """Draws and plays at random; see `choose` for its bids."""

    name = "random"

    def choose(self, view: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        """Pick uniformly from what is allowed.

        Bids are the exception: among all of them nobody would ever reach the target. They are drawn from the fair share
        of the tricks, rounded down, and the two numbers below it (4, 5 or 6 of 13 tricks for two players), as far as
        the table allows these; nil never.
        """
        legal = view["turn"]["legal"]
        if view["turn"]["action"] == "bid":
            share = len(view["deal"]["hand"]) // len(view["seats"])
            near = [bid for bid in legal if bid["kind"] == "number" and share - BELOW_SHARE <= bid["tricks"] <= share]
            legal = near or legal
        choice: dict[str, Any] = rng.choice(legal)
        return dict(choice)
