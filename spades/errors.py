"""What can go wrong, each with a reason for programs and a sentence for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["NotationError", "OptionProblem", "Reason", "Rule", "RuleViolation", "RulesetError"]


class Reason(StrEnum):
    """Why the rules refuse something. The values are public: one may be added, none renamed."""

    # Whose turn, and what the table waits for.
    NOT_YOUR_TURN = "not_your_turn"
    WRONG_PHASE = "wrong_phase"
    GAME_OVER = "game_over"
    ALREADY_BID = "already_bid"
    LOOK_FIRST = "look_first"
    REDEAL_NOT_ALLOWED = "redeal_not_allowed"
    # Drawing.
    DISCARD_PILE_CLOSED = "discard_pile_closed"
    SECOND_CARD_IS_FORCED = "second_card_is_forced"
    ONE_CARD_PER_TURN = "one_card_per_turn"
    DECIDE_FIRST = "decide_first"
    # Bidding.
    BID_OUT_OF_RANGE = "bid_out_of_range"
    NIL_NOT_OFFERED = "nil_not_offered"
    BLIND_NIL_NOT_ALLOWED = "blind_nil_not_allowed"
    BLIND_NOT_BEHIND = "blind_not_behind"
    HAND_ALREADY_SEEN = "hand_already_seen"
    BLIND_SIDE_INCOMPLETE = "blind_side_incomplete"
    TEAM_MINIMUM = "team_minimum"
    TEAM_MAXIMUM = "team_maximum"
    TOTAL_EQUALS_TRICKS = "total_equals_tricks"
    SUICIDE_NEEDS_NIL = "suicide_needs_nil"
    SUICIDE_NEEDS_NUMBER = "suicide_needs_number"
    BID_IS_FORCED = "bid_is_forced"
    # Passing and playing.
    PASS_COUNT_WRONG = "pass_count_wrong"  # noqa: S105 -- passing cards, no password
    NOT_IN_HAND = "not_in_hand"
    MUST_FOLLOW_SUIT = "must_follow_suit"
    FIRST_LEAD_SPADE = "first_lead_spade"
    SPADES_NOT_BROKEN = "spades_not_broken"
    MUST_LEAD_LOWEST_CLUB = "must_lead_lowest_club"
    MUST_PLAY_LOWEST_CLUB = "must_play_lowest_club"
    FIRST_TRICK_SPADE = "first_trick_spade"
    MUST_TRUMP = "must_trump"
    # Scores and rulesets.
    TRICKS_DO_NOT_ADD_UP = "tricks_do_not_add_up"
    RULESET_CONTRADICTION = "ruleset_contradiction"
    OPTION_NOT_SUPPORTED = "option_not_supported"


@dataclass(frozen=True, slots=True)
class Rule:
    """The option that decided a ruling: its name, its value at this table, and its section in docs/rules.md."""

    option: str
    value: Any
    section: str


class RuleViolation(Exception):
    """The rules forbid the request. Nothing has changed."""

    def __init__(self, reason: Reason, detail: str, rule: Rule | None = None) -> None:
        super().__init__(reason, detail, rule)  # all of them, or the exception cannot be unpickled
        self.reason, self.detail, self.rule = reason, detail, rule

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"


class NotationError(ValueError):
    """A text that spells no card, bid, seat or record."""


@dataclass(frozen=True, slots=True)
class OptionProblem:
    """One thing wrong with a ruleset: the option, its value there, a stable reason and a sentence."""

    option: str
    value: Any
    reason: str
    detail: str
    place: int | None = None
    """Of a list, which of its items is wrong, from 0; None for the whole of it."""
    causes: tuple[str, ...] = ()
    """Of a contradiction, the options that were given and without which it would not be there; `option` is the first of
    them if it was given itself."""

    def __str__(self) -> str:
        said = json.dumps(self.value, default=repr)
        others = [cause for cause in self.causes if cause != self.option]
        because = f" (because of {', '.join(others)})" if others else ""
        return f"{self.option} {said if len(said) <= 60 else said[:57] + '...'}: {self.detail}{because}"


class RulesetError(ValueError):
    """A ruleset that cannot be, or cannot be played here. `problems` lists everything found, not the first alone."""

    def __init__(self, problems: tuple[OptionProblem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(map(str, self.problems))
