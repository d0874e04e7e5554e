"""The card game Spades: rules, scores, shuffles and views, in plain Python and nothing else.

>>> from spades import Bid, Card, Match, Ruleset, Seed
>>> match = Match.start(Ruleset.resolve({"preset": "two_player"}), Seed(bytes(32)))
>>> match.ruleset.target_score
500

A whole deal of four, each seat doing the first thing that is legal:

>>> match = Match.start(Ruleset.resolve({"preset": "pagat"}), Seed(bytes(32))).begin_deal(Seed(bytes(31) + b"1"))
>>> while match.deal.phase == "bidding":
...     match = match.bid(match.turn, Bid.from_json(match.deal.legal()[3]))
>>> while match.score is None:
...     match = match.play(match.turn, Card.parse(match.deal.legal()[0]["card"]))
>>> match.deal.tricks_by_seat(), match.sheet.scores()
({'N': 1, 'E': 5, 'S': 2, 'W': 5}, {'NS': -60, 'EW': 64})
"""

from spades.bids import Bid, BidKind
from spades.cards import Card, Hand, Rank, Suit
from spades.deal import Deal, Phase
from spades.errors import NotationError, Reason, Rule, RulesetError, RuleViolation
from spades.legality import DrawDecision
from spades.match import ENGINE, Match
from spades.notation import (
    Action,
    ActionKind,
    CalledOff,
    Record,
    RecordedDeal,
    RecordedResult,
    RecordedScore,
    RecordError,
)
from spades.playout import Playout
from spades.replay import check_shuffles, replay
from spades.ruleset import PRESETS, Ruleset, require_supported
from spades.rulings import (
    BidRuling,
    CardRuling,
    DrawRuling,
    LeaderRuling,
    SituationError,
    TrickRuling,
    rule_on_bid,
    rule_on_cards,
    rule_on_draws,
    rule_on_leader,
    rule_on_play,
    rule_on_trick,
)
from spades.scoring import Adjustment, DealScore, SideBefore, score_deal
from spades.sheet import DealRefused, DealResult, Ending, ScoreSheet, score_game
from spades.shuffle import Seed, commitment
from spades.what_if import TooManyOutcomes, what_if

__all__ = [
    "ENGINE",
    "PRESETS",
    "Action",
    "ActionKind",
    "Adjustment",
    "Bid",
    "BidKind",
    "BidRuling",
    "CalledOff",
    "Card",
    "CardRuling",
    "Deal",
    "DealRefused",
    "DealResult",
    "DealScore",
    "DrawDecision",
    "DrawRuling",
    "Ending",
    "Hand",
    "LeaderRuling",
    "Match",
    "NotationError",
    "Phase",
    "Playout",
    "Rank",
    "Reason",
    "Record",
    "RecordError",
    "RecordedDeal",
    "RecordedResult",
    "RecordedScore",
    "Rule",
    "RuleViolation",
    "Ruleset",
    "RulesetError",
    "ScoreSheet",
    "Seed",
    "SideBefore",
    "SituationError",
    "Suit",
    "TooManyOutcomes",
    "TrickRuling",
    "check_shuffles",
    "commitment",
    "replay",
    "require_supported",
    "rule_on_bid",
    "rule_on_cards",
    "rule_on_draws",
    "rule_on_leader",
    "rule_on_play",
    "rule_on_trick",
    "score_deal",
    "score_game",
    "what_if",
]
