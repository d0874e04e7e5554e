"""The score sheet: running scores, bags and sets, and who has won.

Source: docs/rules.md#ending
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spades.bids import Bid
from spades.errors import NotationError, Reason, RuleViolation
from spades.ruleset import DEAL_CAP, Ruleset, TieRule
from spades.scoring import Adjustment, DealScore, SideBefore, score_deal
from spades.seats import table

__all__ = ["DEAL_CAP", "DealRefused", "DealResult", "Ending", "ScoreSheet", "answer", "game_answer", "score_game"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a game ended: the sides that won (several share it, none when aborted) and why."""

    winners: tuple[str, ...]
    reason: str
    seat: str | None = None
    """Who ended it, by resigning."""


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """The standing of every side after some deals. Immutable: `after` gives the next sheet.

    >>> sheet = ScoreSheet.at(Ruleset.resolve({"preset": "two_player"}), {"A": SideBefore(460), "B": SideBefore(455)})
    >>> sheet, _ = sheet.after({"A": Bid.number(6), "B": Bid.number(7)}, {"A": 6, "B": 7})
    >>> sheet.scores(), sheet.ending()
    ({'A': 520, 'B': 525}, Ending(winners=('B',), reason='target', seat=None))
    """

    ruleset: Ruleset
    sides: Mapping[str, SideBefore]
    deals: int = 0
    """Deals scored so far."""
    moon: str | None = None
    """The side that won the game outright in the last deal, by a moon."""

    @classmethod
    def start(cls, ruleset: Ruleset) -> ScoreSheet:
        """The empty sheet."""
        return cls.at(ruleset, {})

    @classmethod
    def at(cls, ruleset: Ruleset, before: Mapping[str, SideBefore], deal_number: int = 1) -> ScoreSheet:
        """The sheet as it stands before a deal.

        Args:
            before: each side's standing; a side left out stands at nothing.
            deal_number: the number of the deal to come, from 1.

        Raises:
            NotationError: no such side, or no such number.
        """
        sides = table(ruleset.players, ruleset.teams).sides
        if not set(before) <= set(sides):
            raise NotationError(f"the sides are {', '.join(sides)}, got {', '.join(sorted(before))}")
        if deal_number < 1:
            raise NotationError(f"deals are numbered from 1, got {deal_number}")
        return cls(ruleset, {side: before.get(side, SideBefore()) for side in sides}, deal_number - 1)

    def after(
        self,
        bids: Mapping[str, Bid],
        tricks: Mapping[str, int],
        *,
        blind_sides: Iterable[str] = (),
        adjustments: Sequence[Adjustment] = (),
        strict: bool = True,
    ) -> tuple[ScoreSheet, DealScore]:
        """The sheet with one more deal, and that deal's score. Arguments and errors as in `score_deal`."""
        score = score_deal(
            self.ruleset,
            self.sides,
            bids,
            tricks,
            deal_number=self.deals + 1,
            blind_sides=blind_sides,
            adjustments=adjustments,
            strict=strict,
        )
        sides = {name: SideBefore(side.score, side.bags, side.sets) for name, side in score.sides.items()}
        return ScoreSheet(self.ruleset, sides, self.deals + 1, score.moon), score

    def ending(self) -> Ending | None:
        """Whether the game is over after the last deal: the first of the endings in the book that applies.

        A moon that wins the game; a side that was set too often; the target; the losing score; the number of deals.
        Each but the first names the highest side as winner (for sets, of those not set too often), and while several
        are level there `tie_rule` decides. After `DEAL_CAP` deals whoever leads has won.
        """
        if self.moon is not None:
            return Ending((self.moon,), "moon")
        rules = self.ruleset
        scores = self.scores()
        contenders = scores
        reason = None
        if rules.set_limit is not None and any(side.sets >= rules.set_limit for side in self.sides.values()):
            standing = {name: scores[name] for name, side in self.sides.items() if side.sets < rules.set_limit}
            contenders, reason = standing or scores, "set_limit"
        elif max(scores.values()) >= rules.target_score:
            reason = "target"
        elif rules.losing_score is not None and min(scores.values()) <= rules.losing_score:
            reason = "losing_score"
        elif rules.max_hands is not None and self.deals >= rules.max_hands:
            reason = "max_hands"
        leaders = _leaders(contenders)
        if reason is not None and (len(leaders) == 1 or rules.tie_rule is TieRule.SHARED):
            return Ending(leaders, reason)
        if self.deals >= DEAL_CAP:
            return Ending(leaders, "deal_cap")
        return None

    def scores(self) -> dict[str, int]:
        """Points by side."""
        return {name: side.score for name, side in self.sides.items()}


def _leaders(scores: Mapping[str, int]) -> tuple[str, ...]:
    best = max(scores.values())
    return tuple(name for name, points in scores.items() if points == best)


def answer(score: DealScore, ending: Ending | None) -> dict[str, Any]:
    """The scoring answer: the same for a game's deal and for an app that only asks for scores."""
    return {
        "sides": {name: side.to_json() for name, side in score.sides.items()},
        "game": game_answer(ending),
        "closest_bidders": list(score.closest_bidders),
    }


def game_answer(ending: Ending | None) -> dict[str, Any]:
    """The part of the scoring answer that says whether the game is over."""
    return {
        "over": ending is not None,
        "winners": list(ending.winners) if ending else [],
        "reason": ending.reason if ending else None,
    }


@dataclass(frozen=True, slots=True)
class DealResult:
    """What happened in one deal, as far as its score depends on it. The fields are arguments of `score_deal`."""

    bids: Mapping[str, Bid]
    tricks: Mapping[str, int]
    blind_sides: tuple[str, ...] = ()
    adjustments: tuple[Adjustment, ...] = field(default=())


class DealRefused(ValueError):
    """One deal of several cannot be scored, for the error `why`. `number` counts from 1."""

    def __init__(self, number: int, why: RuleViolation | NotationError) -> None:
        super().__init__(number, why)
        self.number, self.why = number, why

    def __str__(self) -> str:
        return f"deal {self.number}: {self.why}"


def score_game(ruleset: Ruleset, deals: Iterable[DealResult]) -> tuple[list[dict[str, Any]], Ending | None]:
    """Score a game deal by deal.

    Returns:
        The scoring answer of each deal, and how the game ended if it did.

    Raises:
        DealRefused: a deal that cannot be scored, or one after the game was over.

    >>> rules = Ruleset.resolve({"preset": "two_player", "target_score": 100})
    >>> deal = DealResult({"A": Bid.number(6), "B": Bid.number(7)}, {"A": 6, "B": 7})
    >>> answers, ending = score_game(rules, [deal, deal])
    >>> [answer["sides"]["B"]["score"] for answer in answers], ending
    ([70, 140], Ending(winners=('B',), reason='target', seat=None))
    """
    sheet, ending, answers = ScoreSheet.start(ruleset), None, []
    for number, deal in enumerate(deals, start=1):
        if ending is not None:
            over = RuleViolation(Reason.GAME_OVER, f"The game was over after deal {number - 1}.")
            raise DealRefused(number, over)
        try:
            sheet, score = sheet.after(
                deal.bids, deal.tricks, blind_sides=deal.blind_sides, adjustments=deal.adjustments
            )
        except (RuleViolation, NotationError) as why:
            raise DealRefused(number, why) from None
        ending = sheet.ending()
        answers.append(answer(score, ending))
    return answers, ending
