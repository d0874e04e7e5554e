"""The score sheet: running scores, bags and sets, and who has won.

Source: docs/rules.md#ending
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spades.bids import Bid
from spades.ruleset import Ruleset
from spades.scoring import DealScore, SideBefore, score_deal
from spades.seats import table

__all__ = ["DEAL_CAP", "Ending", "ScoreSheet"]

DEAL_CAP = 200
"""The number of deals after which a game ends for its leaders, so that no two bots play for ever."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a game ended: the sides that won (several share it, none when aborted) and why."""

    winners: tuple[str, ...]
    reason: str
    seat: str | None = None
    """Who ended it, by resigning."""


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """The standing of every side after some deals. Immutable: `after` gives the next sheet."""

    ruleset: Ruleset
    sides: Mapping[str, SideBefore]
    deals: int = 0
    """Deals scored so far."""

    @classmethod
    def start(cls, ruleset: Ruleset) -> ScoreSheet:
        """The empty sheet."""
        return cls(ruleset, {side: SideBefore() for side in table(ruleset.players, ruleset.teams).sides})

    def after(self, bids: Mapping[str, Bid], tricks: Mapping[str, int]) -> tuple[ScoreSheet, DealScore]:
        """The sheet with one more deal, and that deal's score.

        Raises:
            RuleViolation: the tricks do not add up.
        """
        score = score_deal(self.ruleset, self.sides, bids, tricks)
        sides = {name: SideBefore(side.score, side.bags, side.sets) for name, side in score.sides.items()}
        return replace(self, sides=sides, deals=self.deals + 1), score

    def ending(self) -> Ending | None:
        """Whether the game is over after the last deal.

        The target is reached with at least its points; when several reach it the highest wins, and level ones play
        another deal. After `DEAL_CAP` deals whoever leads has won.
        """
        best = max(side.score for side in self.sides.values())
        leaders = tuple(name for name, side in self.sides.items() if side.score == best)
        if best >= self.ruleset.target_score and len(leaders) == 1:
            return Ending(leaders, "target")
        if self.deals >= DEAL_CAP:
            return Ending(leaders, "deal_cap")
        return None

    def scores(self) -> dict[str, int]:
        """Points by side."""
        return {name: side.score for name, side in self.sides.items()}


def answer(score: DealScore, ending: Ending | None) -> dict[str, Any]:
    """The scoring answer: the same for a game's deal and for an app that only asks for scores."""
    return {
        "sides": {name: side.to_json() for name, side in score.sides.items()},
        "game": {
            "over": ending is not None,
            "winners": list(ending.winners) if ending else [],
            "reason": ending.reason if ending else None,
        },
        "closest_bidders": list(score.closest_bidders),
    }
