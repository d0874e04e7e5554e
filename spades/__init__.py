"""The card game Spades: rules, scores, shuffles and views, in plain Python and nothing else.

>>> from spades import Card, Match, Ruleset, Seed
>>> match = Match.start(Ruleset.resolve({"preset": "two_player"}), Seed(bytes(32)))
>>> match.ruleset.target_score
500
"""

from spades.bids import Bid, BidKind
from spades.cards import Card, Hand, Rank, Suit
from spades.deal import Deal, Phase
from spades.errors import NotationError, Reason, Rule, RulesetError, RuleViolation
from spades.legality import DrawDecision
from spades.match import ENGINE, Match
from spades.ruleset import PRESETS, Ruleset, require_supported
from spades.scoring import Adjustment, DealScore, SideBefore, score_deal
from spades.sheet import DealRefused, DealResult, Ending, ScoreSheet, score_game
from spades.shuffle import Seed, commitment
from spades.what_if import what_if

__all__ = [
    "ENGINE",
    "PRESETS",
    "Adjustment",
    "Bid",
    "BidKind",
    "Card",
    "Deal",
    "DealRefused",
    "DealResult",
    "DealScore",
    "DrawDecision",
    "Ending",
    "Hand",
    "Match",
    "NotationError",
    "Phase",
    "Rank",
    "Reason",
    "Rule",
    "RuleViolation",
    "Ruleset",
    "RulesetError",
    "ScoreSheet",
    "Seed",
    "SideBefore",
    "Suit",
    "commitment",
    "require_supported",
    "score_deal",
    "score_game",
    "what_if",
]
