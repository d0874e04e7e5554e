"""`random`: every allowed card is as likely as any other. The floor that other bots are measured against."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

__all__ = ["RandomBot"]

BELOW_SHARE = 2
"""How far below its fair share of the tricks the bot bids at most."""


class RandomBot:
    """Draws, gives and plays at random; see `choose` for its bids."""

    name = "random"

    def choose(self, view: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        """Pick uniformly from what is allowed.

        Bids are the exception: among all of them nobody would ever reach the target. The bot looks at its hand, then
        bids a number from its fair share of the tricks, rounded down, and the two below it (4, 5 or 6 of 13 tricks for
        two players), as far as the table allows these, or else the nearest; nil only when nothing else is open.
        """
        legal = view["turn"]["legal"]
        if "choose" in legal[0]:
            return {"cards": sorted(rng.sample(legal[0]["from"], legal[0]["choose"]))}
        if {"look": True} in legal:
            return {"look": True}
        numbers = [bid for bid in legal if "tricks" in bid]
        if numbers:
            share = view["ruleset"]["hand_size"] // len(view["seats"])
            legal = [bid for bid in numbers if share - BELOW_SHARE <= bid["tricks"] <= share]
            legal = legal or [min(numbers, key=lambda bid: abs(bid["tricks"] - share))]
        elif {"kind": "reconsider"} in legal and len(legal) > 1:
            legal = [bid for bid in legal if bid != {"kind": "reconsider"}]
        choice: dict[str, Any] = rng.choice(legal)
        return dict(choice)
