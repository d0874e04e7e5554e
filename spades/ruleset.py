"""Ruleset: every option of the game as a typed field, checked as a whole.

A ruleset is a preset and what a table changes in it. `Ruleset.resolve` reads that as plain JSON values and gives back
either a ruleset that can be played or a `RulesetError` with everything that is wrong: first what no ruleset could
hold (`OptionFault`), and once all values are well formed, each pair of values that contradict each other
(`Reason.RULESET_CONTRADICTION`). No other ruleset can be constructed.

    >>> rules = Ruleset.resolve({"preset": "two_player", "target_score": 300})
    >>> rules.target_score, rules.bid_mode, rules.hand_size
    (300, <BidMode.INDIVIDUAL: 'individual'>, 13)
    >>> rules
    Ruleset.resolve({'preset': 'two_player', 'target_score': 300})

The options, their meanings and what they may be are data (`OPTIONS`): the reading of a ruleset, the JSON schemas and
docs/rules.md all follow that table. Source: docs/rules.md#rulesets
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Literal

from spades.errors import NotationError, OptionProblem, Reason, RulesetError
from spades.limits import SideLimits, can_close

__all__ = [
    "DEFAULT_PRESET",
    "NEUTRAL",
    "OPTIONS",
    "PRESETS",
    "SUPPORTED",
    "BagCarry",
    "BidMode",
    "BidOrder",
    "BidRule",
    "BlindNil",
    "BothNil",
    "DealMethod",
    "DealerRotation",
    "DrawFace",
    "DuplicateWinner",
    "ExchangeOrder",
    "FailedNilTricks",
    "FirstDealer",
    "FirstLead",
    "FirstLeader",
    "FirstTrickSpades",
    "Moon",
    "MoonFail",
    "Option",
    "OptionFault",
    "PassDirection",
    "Preset",
    "Redeal",
    "Ruleset",
    "RulesetWarning",
    "ScoreMode",
    "SecondCard",
    "SetPoints",
    "SpadeLead",
    "Teams",
    "TenFor200",
    "TieRule",
    "TotalBidRule",
    "WarningReason",
    "ZeroBid",
    "hand_size",
    "json_schema",
    "require_supported",
    "resolved_json_schema",
    "warnings",
]

DEFAULT_PRESET: Final = "standard"
"""The preset of a ruleset that names none."""

SUITS: Final = "CDHS"
RANKS: Final = "23456789TJQKA"
CARDS: Final = (*(rank + suit for suit in SUITS for rank in RANKS), "LJ", "BJ")
"""Every card code, in listed order."""

MOST_TRICKS: Final = 54
"""Tricks of the largest hand there can be: two players, two packs, four jokers."""
MOST_POINTS: Final = 100_000
"""The largest score value an option may name. No table needs more, and sums of it stay far inside 64 bits."""


class Teams(StrEnum):
    """Who plays with whom."""

    NONE = "none"
    PAIRS = "pairs"
    TRIOS = "trios"


class DealMethod(StrEnum):
    """How hands come about."""

    DEAL_ALL = "deal_all"
    DRAW = "draw"
    DEAL_HALF = "deal_half"


class DrawFace(StrEnum):
    """How the declined first card of a draw lies."""

    UP = "up"
    DOWN = "down"


class SecondCard(StrEnum):
    """Who sees the card thrown away after a keep."""

    FACE_UP = "face_up"
    SEEN_BY_DRAWER = "seen_by_drawer"
    UNSEEN = "unseen"


class FirstDealer(StrEnum):
    """How the first dealer is found."""

    RANDOM = "random"
    CUT_HIGH = "cut_high"
    HOST = "host"
    FIRST_DIAMOND = "first_diamond"


class DealerRotation(StrEnum):
    """Where the deal goes next."""

    LEFT = "left"
    ALTERNATE = "alternate"


class Redeal(StrEnum):
    """Which hands may ask for a new deal."""

    NONE = "none"
    NO_SPADES = "no_spades"
    NO_SPADES_NO_FACES = "no_spades_no_faces"


class PassDirection(StrEnum):
    """One step of a passing cycle."""

    LEFT = "left"
    RIGHT = "right"
    ACROSS = "across"
    NONE = "none"


class BidMode(StrEnum):
    """Whose bid a contract is."""

    INDIVIDUAL_SUM = "individual_sum"
    PARTNERSHIP = "partnership"
    INDIVIDUAL = "individual"
    NONE = "none"


class BidOrder(StrEnum):
    """Who bids when."""

    LEFT_OF_DEALER = "left_of_dealer"
    NON_DEALER = "non_dealer"
    NON_DEALING_SIDE = "non_dealing_side"
    DEALER = "dealer"
    SIMULTANEOUS = "simultaneous"


class BidRule(StrEnum):
    """What ties a bid to the hand or to the partner's bid."""

    FREE = "free"
    SUICIDE = "suicide"
    MIRROR = "mirror"
    WHIZ = "whiz"


class ZeroBid(StrEnum):
    """What a bid of no trick is."""

    NIL = "nil"
    PLAIN = "plain"
    FORBIDDEN = "forbidden"
    BOTH = "both"


class TotalBidRule(StrEnum):
    """What the bids of the whole table may add up to."""

    FREE = "free"
    NOT_EQUAL_TRICKS = "not_equal_tricks"


class BlindNil(StrEnum):
    """Who may bid nil before seeing the hand."""

    OFF = "off"
    ANY = "any"
    BEHIND = "behind"


class ExchangeOrder(StrEnum):
    """Whether the partner of a nil bidder sees the cards before giving others."""

    SEQUENTIAL = "sequential"
    BLIND = "blind"


class BothNil(StrEnum):
    """What two nils on one side mean."""

    INDEPENDENT = "independent"
    JOINT = "joint"
    FORBIDDEN = "forbidden"


class FailedNilTricks(StrEnum):
    """What becomes of the tricks of a failed nil."""

    BAGS = "bags"
    HELP_PARTNER = "help_partner"
    BAGS_NO_POINTS = "bags_no_points"
    IGNORED = "ignored"


class Moon(StrEnum):
    """Whether a bid of every trick is special."""

    OFF = "off"
    BID_ALL = "bid_all"


class MoonFail(StrEnum):
    """What a missed moon costs."""

    CONTRACT_SET = "contract_set"
    TRICKS_AS_BAGS = "tricks_as_bags"


class TenFor200(StrEnum):
    """Whether a contract of ten is special, and what makes it."""

    OFF = "off"
    EXACT = "exact"
    AT_LEAST = "at_least"


class FirstLeader(StrEnum):
    """Who leads to the first trick."""

    LEFT_OF_DEALER = "left_of_dealer"
    NON_DEALER = "non_dealer"
    DEALER = "dealer"
    HIGH_BIDDER = "high_bidder"


class FirstLead(StrEnum):
    """What the first trick is led with."""

    NO_SPADE = "no_spade"
    ANY = "any"
    TWO_OF_CLUBS = "2C"
    LOWEST_CLUB = "lowest_club"


class SpadeLead(StrEnum):
    """When a spade may be led."""

    WHEN_BROKEN = "when_broken"
    AFTER_FIRST_TRICK = "after_first_trick"
    ANYTIME = "anytime"


class FirstTrickSpades(StrEnum):
    """Whether the first trick may be trumped."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"


class DuplicateWinner(StrEnum):
    """Which of two identical cards is the higher."""

    FIRST = "first"
    LAST = "last"


class ScoreMode(StrEnum):
    """What is scored: contracts, or every trick."""

    CONTRACT = "contract"
    BOOKS = "books"


class SetPoints(StrEnum):
    """What a missed contract costs."""

    MINUS = "minus"
    ZERO = "zero"


class BagCarry(StrEnum):
    """What is left of the bags after a penalty."""

    REMAINDER = "remainder"
    RESET = "reset"


class TieRule(StrEnum):
    """What happens when the best sides are level at the end."""

    PLAY_ANOTHER = "play_another"
    SHARED = "shared"


class OptionFault(StrEnum):
    """Why a value could stand in no ruleset at all. A contradiction, which needs two values, is a `Reason`."""

    UNKNOWN_OPTION = "unknown_option"
    WRONG_TYPE = "wrong_type"
    NOT_ALLOWED = "not_allowed"


class WarningReason(StrEnum):
    """What is worth saying about a ruleset that can be played."""

    NO_EFFECT = "no_effect"
    LONG_GAME = "long_game"


class Kind(Enum):
    """The JSON shape of an option's value."""

    INTEGER = "integer"
    BOOLEAN = "boolean"
    WORD = "word"
    WORDS = "list of words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What one option may be, and what it means.

    >>> OPTIONS["bag_limit"].type
    'integer from 0 to 1000'
    >>> OPTIONS["bag_limit"].problem("10").reason
    <OptionFault.WRONG_TYPE: 'wrong_type'>
    """

    name: str
    section: str
    """The heading of docs/rules.md that the option belongs to."""
    meaning: str
    kind: Kind
    words: tuple[str, ...] = ()
    """The words allowed: as the value, as an item of the list, or beside the numbers."""
    enum: type[StrEnum] | None = None
    """The type that the words are read as; without it they stay text."""
    minimum: int = 0
    maximum: int = 0
    """Both bounds are values that are allowed. For a list `maximum` is the largest number of items."""
    nullable: bool = False
    derived: bool = False
    """Answered, never accepted: it follows from other options."""

    @property
    def type(self) -> str:
        """The allowed values as a phrase for people."""
        words = ", ".join(f"`{word}`" for word in self.words)
        match self.kind:
            case Kind.INTEGER:
                text = f"integer from {self.minimum} to {self.maximum}" + (f", or {words}" if words else "")
            case Kind.BOOLEAN:
                text = "`true` or `false`"
            case Kind.WORD:
                text = f"one of {words}"
            case Kind.WORDS:
                what = words if self.enum else "card codes such as `2C` or `LJ`"
                text = f"list of up to {self.maximum} of {what}"
        return text + (", or null" if self.nullable else "")

    def problem(self, value: object) -> OptionProblem | None:
        """What is wrong with a JSON value for this option, whatever the other options are; None if nothing is."""
        if self.derived:
            detail = "follows from the deck, the players and the way of dealing, and cannot be set"
            return OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, detail)
        if value is None and self.nullable:
            return None
        if self.kind is Kind.WORDS:
            return self._list_problem(value)
        wrong_type = (
            type(value) is not bool
            if self.kind is Kind.BOOLEAN
            else not isinstance(value, str)
            if self.kind is Kind.WORD
            else type(value) is not int and not (self.words and isinstance(value, str))
        )
        if wrong_type:
            return OptionProblem(self.name, value, OptionFault.WRONG_TYPE, self._expected(value))
        outside = isinstance(value, int) and self.kind is Kind.INTEGER and not self.minimum <= value <= self.maximum
        if outside or (isinstance(value, str) and value not in self.words):
            return OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, self._expected(value))
        return None

    def _list_problem(self, value: object) -> OptionProblem | None:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            return OptionProblem(self.name, value, OptionFault.WRONG_TYPE, self._expected(value))
        strange = [item for item in value if item not in self.words]
        if strange:
            return OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, self._expected(strange[0]))
        if len(value) > self.maximum:
            return OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, self._expected(f"{len(value)} items"))
        if self.name == "high_trumps" and len(set(value)) < len(value):
            return OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, "a card has one place among the trumps")
        return None

    def _expected(self, value: object) -> str:
        said = json.dumps(value, default=repr)
        return f"expected {self.type}; got {said if len(said) <= 60 else said[:57] + '...'}"

    def read(self, value: Any) -> Any:
        """The typed value of a JSON value that has no `problem`."""
        if self.kind is Kind.WORDS:
            return tuple(self.enum(item) if self.enum else str(item) for item in value)
        return self.enum(value) if self.enum and value is not None else value

    def schema(self) -> dict[str, Any]:
        """The JSON schema (2020-12) of the value."""
        described: dict[str, Any] = {"description": self.meaning}
        if self.derived:
            described["readOnly"] = True
        null = ["null"] if self.nullable else []
        integer = {"minimum": self.minimum, "maximum": self.maximum}
        match self.kind:
            case Kind.INTEGER if self.words:
                return {
                    **described,
                    "oneOf": [
                        {"type": "integer", **integer},
                        {"type": "string", "enum": list(self.words)},
                        *({"type": kind} for kind in null),
                    ],
                }
            case Kind.INTEGER:
                return {**described, "type": ["integer", "null"] if null else "integer", **integer}
            case Kind.BOOLEAN:
                return {**described, "type": "boolean"}
            case Kind.WORD:
                words = [*self.words, *([None] if null else [])]
                return {**described, "type": ["string", "null"] if null else "string", "enum": words}
        items = {"type": "string", "enum": list(self.words)}
        return {**described, "type": "array", "items": items, "maxItems": self.maximum}


def _number(name: str, section: str, bounds: tuple[int, int], meaning: str, *, null: bool = False) -> Option:
    low, high = bounds
    return Option(
        name=name, section=section, meaning=meaning, kind=Kind.INTEGER, minimum=low, maximum=high, nullable=null
    )


def _word(name: str, section: str, enum: type[StrEnum], meaning: str, *, null: bool = False) -> Option:
    words = tuple(member.value for member in enum)
    return Option(name=name, section=section, meaning=meaning, kind=Kind.WORD, words=words, enum=enum, nullable=null)


def _flag(name: str, section: str, meaning: str) -> Option:
    return Option(name=name, section=section, meaning=meaning, kind=Kind.BOOLEAN)


TRICKS: Final = (0, MOST_TRICKS)
GAIN: Final = (0, MOST_POINTS)
LOSS: Final = (-MOST_POINTS, 0)
"""A penalty written as a loss is never positive, so that a forgotten sign is refused and not paid out."""

_TABLE: Final = (
    _number("players", "players", (2, 6), "How many seats there are. Four are N E S W, any other number A B C ..."),
    _word(
        "teams",
        "players",
        Teams,
        "Who plays together: everybody alone, partners facing each other, or two sides of three.",
    ),
    _number("jokers", "deck", (0, 2), "Jokers in each pack, all of them spades; with one it is the big joker."),
    Option(
        name="removed_cards",
        section="deck",
        meaning="Cards taken out before the deal; a card named twice is taken out of both packs.",
        kind=Kind.WORDS,
        words=CARDS,
        maximum=2 * len(CARDS),
    ),
    Option(
        name="high_trumps",
        section="deck",
        meaning="Cards that rank above the ace of spades, strongest first; each counts as a spade for every purpose.",
        kind=Kind.WORDS,
        words=tuple(card for card in CARDS if card != "AS"),
        maximum=len(CARDS) - 1,
    ),
    _number("decks", "deck", (1, 2), "How many packs are shuffled together."),
    Option(
        name="hand_size",
        section="deck",
        meaning="Cards in a hand and tricks in a deal. It follows from the deck, the players and the way of dealing.",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=MOST_TRICKS,
        derived=True,
    ),
    _word(
        "deal_method",
        "deal",
        DealMethod,
        "The whole pack is dealt; two players build their hands by drawing; or thirteen cards each are dealt and the "
        "rest stays out of play.",
    ),
    _word("draw_declined_face", "draw", DrawFace, "How a declined first card lies on the pile.", null=True),
    _word("draw_second_card", "draw", SecondCard, "Who sees the card thrown away after a keep.", null=True),
    _word(
        "first_dealer",
        "dealer",
        FirstDealer,
        "Who deals first: by lot, the highest card drawn, the host's choice, or whoever is turned the first diamond.",
    ),
    _word("dealer_rotation", "dealer", DealerRotation, "The deal passes to the left, or two players take turns."),
    _word(
        "redeal",
        "redeal",
        Redeal,
        "Which hand may ask for a new deal before the bidding: none, one without a spade, or one with neither a spade "
        "nor a face card.",
    ),
    Option(
        name="pass_cycle",
        section="passing",
        meaning="Where cards are passed before the bidding, deal by deal, over and over; empty means never.",
        kind=Kind.WORDS,
        words=tuple(PassDirection),
        enum=PassDirection,
        maximum=12,
    ),
    _number("pass_count", "passing", (0, 4), "How many cards each seat passes when the cycle says pass."),
    _word(
        "bid_mode",
        "bids",
        BidMode,
        "Whose contract it is: the partners' bids added up, one that the partners settle share by share, each seat's "
        "own, or no bids at all.",
    ),
    _word(
        "bid_order",
        "bids",
        BidOrder,
        "Who bids first. `non_dealing_side` goes side by side and `simultaneous` keeps each bid sealed until all are "
        "in.",
        null=True,
    ),
    _word(
        "bid_rule",
        "bids",
        BidRule,
        "`suicide`: exactly one nil on each side; `mirror`: the number of spades held and nothing else; `whiz`: that "
        "number or nil.",
    ),
    _number("min_bid", "bids", TRICKS, "The lowest number bid. What a zero is, `zero_bid` says.", null=True),
    _number("max_bid", "bids", (1, MOST_TRICKS), "The highest number bid; unless set, every trick.", null=True),
    _word(
        "zero_bid",
        "bids",
        ZeroBid,
        "What a promise of no trick is: a nil, a plain zero without bonus, not allowed, or either by name.",
    ),
    _number("min_team_bid", "bids", TRICKS, "What the bids of a side must reach; nil counts as nothing."),
    _number("max_team_bid", "bids", (1, 3 * MOST_TRICKS), "What the bids of a side may not pass.", null=True),
    _word(
        "total_bid_rule",
        "bids",
        TotalBidRule,
        "Whether the last bidder is barred from making all bids add up to the number of tricks.",
    ),
    _flag("first_hand_bids_itself", "bids", "Nobody bids in the first deal; each trick taken scores as if bid."),
    _number(
        "nil_success", "nil", GAIN, "Points for a nil that takes no trick; null means no nil is offered.", null=True
    ),
    _number("nil_fail", "nil", LOSS, "Points for a nil that takes a trick, zero or less; null with no nil.", null=True),
    _word(
        "blind_nil",
        "blind",
        BlindNil,
        "Who may bid nil before seeing the hand: nobody, anybody, or a side that is far enough behind.",
    ),
    _number("blind_nil_deficit", "blind", GAIN, "How far behind the best other side counts as behind."),
    _number("blind_nil_success", "blind", GAIN, "Points for a blind nil that takes no trick."),
    _number("blind_nil_fail", "blind", LOSS, "Points for a blind nil that takes a trick, zero or less."),
    _number("nil_exchange", "exchange", (0, 4), "Cards a nil bidder exchanges with the partner before the first lead."),
    _number("blind_nil_exchange", "exchange", (0, 4), "The same for a blind nil."),
    _word(
        "exchange_order",
        "exchange",
        ExchangeOrder,
        "Whether the partner sees the nil bidder's cards before returning as many, or both choose blind.",
    ),
    _word(
        "both_nil",
        "nil",
        BothNil,
        "Two nils on one side: each scored on its own, both for one joint score, or not allowed.",
    ),
    _number("both_nil_success", "nil", GAIN, "Points of a joint pair of nils that both hold."),
    _number("both_nil_fail", "nil", LOSS, "Points of a joint pair of nils when one fails, zero or less."),
    _word(
        "failed_nil_tricks",
        "nil",
        FailedNilTricks,
        "What a failed nil's tricks are: bags, help for the partner's contract, bags without points, or nothing.",
        null=True,
    ),
    _number(
        "blind_bid_min",
        "blind",
        (1, 3 * MOST_TRICKS),
        "The least a side may bid when it bids numbers blind; null means such bids are not offered.",
        null=True,
    ),
    _number(
        "blind_bid_multiplier",
        "blind",
        (1, 100),
        "What the contract points of a blind number bid are multiplied by, won or lost.",
        null=True,
    ),
    _word("moon", "moon", Moon, "Whether a contract of every trick is scored apart."),
    Option(
        name="moon_success",
        section="moon",
        meaning="Points of a moon that is made, in place of its contract; or the game itself.",
        kind=Kind.INTEGER,
        words=("win",),
        minimum=0,
        maximum=MOST_POINTS,
        nullable=True,
    ),
    _word("moon_fail", "moon", MoonFail, "A missed moon is an ordinary set, or its tricks are bags.", null=True),
    _word(
        "ten_for_200",
        "ten",
        TenFor200,
        "Whether a contract of ten is scored apart: made by exactly ten tricks, or by ten and more.",
    ),
    _number("ten_success", "ten", GAIN, "Points of a contract of ten that is made, in place of the contract."),
    _number("ten_fail", "ten", LOSS, "Points of a contract of ten that is missed, zero or less."),
    _word(
        "first_leader",
        "leading",
        FirstLeader,
        "Who leads to the first trick. Of several highest bidders it is the first from the dealer's left.",
    ),
    _word(
        "first_lead",
        "leading",
        FirstLead,
        "What the first trick is led with: no spade, anything, the lowest club of the deck by its holder, or that "
        "with everybody playing the lowest club they hold.",
    ),
    _word("spade_lead", "leading", SpadeLead, "When a spade may be led. A hand of nothing but spades always may."),
    _flag("forced_lead_breaks", "leading", "Whether a spade led from a hand of nothing but spades breaks spades."),
    _word(
        "first_trick_spades",
        "following",
        FirstTrickSpades,
        "Whether a spade may be thrown on the first trick by a hand that has another card to play.",
    ),
    _flag("must_trump", "following", "Whether a hand that cannot follow must play a spade if it holds one."),
    _word("duplicate_winner", "following", DuplicateWinner, "Which of two identical cards is higher.", null=True),
    _word("score_mode", "scoring", ScoreMode, "Contracts are scored, or each trick is one point and nobody bids."),
    _number("points_per_bid", "contract", (1, MOST_POINTS), "Points for each trick of a contract.", null=True),
    _word("set_points", "contract", SetPoints, "A missed contract costs its own points, or nothing.", null=True),
    _number("bag_points", "bags", (-MOST_POINTS, MOST_POINTS), "Points for each bag; they may be negative."),
    _number("bag_limit", "bags", (0, 1000), "How many bags bring the penalty; 0 means there is none."),
    _number("bag_penalty", "bags", GAIN, "Points taken off, once for every full limit."),
    _word("bag_carry", "bags", BagCarry, "After a penalty the bags over the limit remain, or all are forgotten."),
    _number("target_score", "ending", (1, MOST_POINTS), "The score that ends the game, reached or passed."),
    _number(
        "losing_score",
        "ending",
        (-MOST_POINTS, MOST_POINTS),
        "The score that ends the game for a side that falls to it or below; null means none.",
        null=True,
    ),
    _word("tie_rule", "ending", TieRule, "Level at the end: play another deal, or share the win."),
    _number("max_hands", "ending", (1, 1000), "The game ends after so many deals; null means no such end.", null=True),
    _number(
        "set_limit", "ending", (1, 1000), "A side that is set so often has lost; null means no such end.", null=True
    ),
)

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType({option.name: option for option in _TABLE})
"""Every option by its name, in the order in which a ruleset lists them."""

_INPUTS: Final = tuple(option for option in _TABLE if not option.derived)

NEUTRAL: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "players": 4,
        "teams": "pairs",
        "jokers": 0,
        "removed_cards": (),
        "high_trumps": (),
        "decks": 1,
        "deal_method": "deal_all",
        "draw_declined_face": None,
        "draw_second_card": None,
        "first_dealer": "random",
        "dealer_rotation": "left",
        "redeal": "none",
        "pass_cycle": (),
        "pass_count": 0,
        "bid_mode": "individual_sum",
        "bid_order": "left_of_dealer",
        "bid_rule": "free",
        "min_bid": 1,
        "max_bid": 13,
        "zero_bid": "nil",
        "min_team_bid": 0,
        "max_team_bid": None,
        "total_bid_rule": "free",
        "first_hand_bids_itself": False,
        "nil_success": 100,
        "nil_fail": -100,
        "blind_nil": "behind",
        "blind_nil_deficit": 100,
        "blind_nil_success": 200,
        "blind_nil_fail": -200,
        "nil_exchange": 0,
        "blind_nil_exchange": 0,
        "exchange_order": "sequential",
        "both_nil": "independent",
        "both_nil_success": 200,
        "both_nil_fail": 0,
        "failed_nil_tricks": "bags",
        "blind_bid_min": None,
        "blind_bid_multiplier": 2,
        "moon": "off",
        "moon_success": None,
        "moon_fail": None,
        "ten_for_200": "off",
        "ten_success": 200,
        "ten_fail": -200,
        "first_leader": "left_of_dealer",
        "first_lead": "no_spade",
        "spade_lead": "when_broken",
        "forced_lead_breaks": True,
        "first_trick_spades": "allowed",
        "must_trump": False,
        "duplicate_winner": None,
        "score_mode": "contract",
        "points_per_bid": 10,
        "set_points": "minus",
        "bag_points": 1,
        "bag_limit": 10,
        "bag_penalty": 100,
        "bag_carry": "remainder",
        "target_score": 500,
        "losing_score": None,
        "tie_rule": "play_another",
        "max_hands": None,
        "set_limit": None,
    }
)
"""What an option is when nothing is said, for hashes and for rulesets stored before the option existed.

It was the preset `standard` when it was written down, but it is a table of its own and no line of it ever changes: a
correction of the preset must not change the hash of any other ruleset. A new option adds a line that stands for how
the game was played before it, so no old hash changes.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ruleset:
    """One complete set of rules. Every value there is can be played as a whole.

    Rulesets are interned: `resolve` and `parse` give the same object for equal input (while it is in a cache of a few
    thousand), so comparing and hashing cost next to nothing. Two rulesets are equal when their options and the name
    of their preset are; whether two tables play the same game is a question for `hash`.

    What each field means: `OPTIONS` and docs/rules.md, which has a heading for each.
    """

    preset: str
    players: int
    teams: Teams
    jokers: int
    removed_cards: tuple[str, ...]
    high_trumps: tuple[str, ...]
    decks: int
    hand_size: int = field(init=False)
    deal_method: DealMethod
    draw_declined_face: DrawFace | None
    draw_second_card: SecondCard | None
    first_dealer: FirstDealer
    dealer_rotation: DealerRotation
    redeal: Redeal
    pass_cycle: tuple[PassDirection, ...]
    pass_count: int
    bid_mode: BidMode
    bid_order: BidOrder | None
    bid_rule: BidRule
    min_bid: int | None
    max_bid: int | None
    zero_bid: ZeroBid
    min_team_bid: int
    max_team_bid: int | None
    total_bid_rule: TotalBidRule
    first_hand_bids_itself: bool
    nil_success: int | None
    nil_fail: int | None
    blind_nil: BlindNil
    blind_nil_deficit: int
    blind_nil_success: int
    blind_nil_fail: int
    nil_exchange: int
    blind_nil_exchange: int
    exchange_order: ExchangeOrder
    both_nil: BothNil
    both_nil_success: int
    both_nil_fail: int
    failed_nil_tricks: FailedNilTricks | None
    blind_bid_min: int | None
    blind_bid_multiplier: int | None
    moon: Moon
    moon_success: int | Literal["win"] | None
    moon_fail: MoonFail | None
    ten_for_200: TenFor200
    ten_success: int
    ten_fail: int
    first_leader: FirstLeader
    first_lead: FirstLead
    spade_lead: SpadeLead
    forced_lead_breaks: bool
    first_trick_spades: FirstTrickSpades
    must_trump: bool
    duplicate_winner: DuplicateWinner | None
    score_mode: ScoreMode
    points_per_bid: int | None
    set_points: SetPoints | None
    bag_points: int
    bag_limit: int
    bag_penalty: int
    bag_carry: BagCarry
    target_score: int
    losing_score: int | None
    tie_rule: TieRule
    max_hands: int | None
    set_limit: int | None
    hash: str = field(init=False)
    """SHA-256 in hex over the canonical JSON (sorted keys, no spaces) of the options that differ from `NEUTRAL`,
    `hand_size` left out because it follows from others. Rules alike, hash alike, whatever the preset is called."""
    text: str = field(init=False)
    """The whole ruleset as one line of JSON: what a game stores. `parse` is its inverse."""
    _options: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        size = hand_size(self.players, self.deal_method, sum(_deck(self).values()))
        object.__setattr__(self, "hand_size", size or 0)
        problems = tuple(_contradictions(self))
        if problems:
            raise RulesetError(problems)
        options = {name: _plain(getattr(self, name)) for name in OPTIONS}
        inputs = {option.name: options[option.name] for option in _INPUTS}
        differing = {name: value for name, value in inputs.items() if value != _plain(NEUTRAL[name])}
        canonical = json.dumps(differing, sort_keys=True, separators=(",", ":"))
        object.__setattr__(self, "_options", options)
        object.__setattr__(self, "hash", hashlib.sha256(canonical.encode()).hexdigest())
        object.__setattr__(self, "text", json.dumps({"preset": self.preset, **inputs}, separators=(",", ":")))

    @classmethod
    def resolve(cls, flat: Mapping[str, Any]) -> Ruleset:
        """Read a preset's name and the options that a table changes in it.

        Args:
            flat: JSON values: ``preset`` (default `DEFAULT_PRESET`) and any options by name. `hand_size` is derived
                and refused; `max_bid` follows it unless it is given. Types are strict: neither ``True`` nor ``"3"``
                nor ``3.0`` is a number.

        Raises:
            RulesetError: with every malformed value (`OptionFault`), or, when there is none, with every contradiction
                (`Reason.RULESET_CONTRADICTION`).

        >>> Ruleset.resolve({"preset": "standard", "teams": "trios", "moon": "bid_all", "moon_success": 200})
        Traceback (most recent call last):
        ...
        spades.errors.RulesetError: teams: trios need six players, not 4; moon_fail: say what a missed moon costs
        """
        if not isinstance(flat, Mapping):
            detail = "a ruleset is an object of options by name"  # type: ignore[unreachable]  # for callers without types
            raise RulesetError((OptionProblem("preset", flat, OptionFault.WRONG_TYPE, detail),))
        name = flat.get("preset", DEFAULT_PRESET)
        given = {option: value for option, value in flat.items() if option != "preset"}
        problems = [*_preset_problems(name, PRESETS), *_malformed(given)]
        if problems:
            raise RulesetError(tuple(problems))
        preset = PRESETS[name].ruleset
        values = {option.name: getattr(preset, option.name) for option in _INPUTS}
        values.update((option, OPTIONS[option].read(value)) for option, value in given.items())
        if "max_bid" not in given:
            values["max_bid"] = _max_bid_that_follows(values, preset.max_bid)
        return _interned(preset.preset, tuple(values.values()))

    @classmethod
    def parse(cls, text: str) -> Ruleset:
        """Read a ruleset's `text`. Options that it does not know, being older than they are, stay at `NEUTRAL`.

        Raises:
            NotationError: it is not such a text.
            RulesetError: it holds values that no ruleset has.

        >>> rules = Ruleset.resolve({"preset": "whiz"})
        >>> Ruleset.parse(rules.text) is rules
        True
        """
        return _parsed(text)

    def options(self) -> dict[str, Any]:
        """All 65 options as JSON values, in table order; a new dict at each call."""
        options = self._options.copy()
        for name in ("removed_cards", "high_trumps", "pass_cycle"):
            options[name] = options[name].copy()
        return options

    def overrides(self) -> dict[str, Any]:
        """What the table changed in its preset, as JSON values: `resolve` makes the same ruleset of preset and these.

        >>> Ruleset.resolve({"preset": "standard", "bag_limit": 10, "bag_points": -10}).overrides()
        {'bag_points': -10}
        """
        preset = PRESETS[self.preset].ruleset
        changed = {
            option.name: self._options[option.name]
            for option in _INPUTS
            if getattr(self, option.name) != getattr(preset, option.name) and option.name != "max_bid"
        }
        followed = None if self.bid_mode is BidMode.NONE else self.hand_size
        return changed if self.max_bid == followed else {**changed, "max_bid": self.max_bid}

    def resolved(self) -> dict[str, Any]:
        """The ruleset as it is answered: preset, all options, hash. Its schema is `resolved_json_schema`."""
        return {"preset": self.preset, **self.options(), "hash": self.hash}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Ruleset):
            return NotImplemented
        return self.hash == other.hash and self.preset == other.preset

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        flat = {"preset": self.preset, **self.overrides()}
        return f"Ruleset.resolve({flat})"

    def __reduce__(self) -> tuple[Callable[[str], Ruleset], tuple[str]]:
        return _parsed, (self.text,)  # so that a copy and an unpickled value are interned too


@dataclass(frozen=True, slots=True)
class Preset:
    """A named ruleset, and where each of its values comes from."""

    name: str
    title: str
    ruleset: Ruleset
    locators: Mapping[str, str]
    """By option, a key of docs/sources.md, with lines for a text; ``D`` is our default where the sources are silent."""


# --- Reading values -------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """The JSON value of a typed one."""
    if isinstance(value, tuple):
        return [str(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _preset_problems(name: object, known: Mapping[str, Any]) -> Iterator[OptionProblem]:
    if not isinstance(name, str):
        yield OptionProblem("preset", name, OptionFault.WRONG_TYPE, f"expected the name of a preset; got {name!r:.60}")
    elif name not in known:
        yield OptionProblem("preset", name, OptionFault.NOT_ALLOWED, f"expected one of {', '.join(known)}")


def _malformed(given: Mapping[str, object]) -> Iterator[OptionProblem]:
    for name, value in given.items():
        option = OPTIONS.get(name)
        if option is None:
            yield OptionProblem(str(name), value, OptionFault.UNKNOWN_OPTION, f"there is no option {name!r:.60}")
        elif problem := option.problem(value):
            yield problem


def _max_bid_that_follows(values: Mapping[str, Any], default: int | None) -> int | None:
    """The highest bid nobody set: every trick, or none where nobody bids.

    A deck that cannot be dealt leaves the preset's, so that the deck alone is named as wrong.
    """
    if values["bid_mode"] is BidMode.NONE:
        return None
    size = sum(_cards(values["decks"], values["jokers"], values["removed_cards"]).values())
    return hand_size(values["players"], values["deal_method"], size) or default


@lru_cache(maxsize=4096)
def _interned(preset: str, values: tuple[Any, ...]) -> Ruleset:
    """The one ruleset with these values, in the order of `_INPUTS`."""
    return Ruleset(preset=preset, **{option.name: value for option, value in zip(_INPUTS, values, strict=True)})


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Ruleset:
    try:
        stored = json.loads(text)
        name = stored.pop("preset")
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise NotationError(f"expected the JSON text of a ruleset, got {text!r:.60}") from None
    problems = [*_preset_problems(name, PRESETS), *_malformed(stored)]
    if problems:
        raise RulesetError(tuple(problems))
    values = (option.read(stored.get(option.name, NEUTRAL[option.name])) for option in _INPUTS)
    return _interned(PRESETS[name].name, tuple(values))


# --- Cards ----------------------------------------------------------------------------------------------------------

DEALT_FROM_HALF: Final = 13
"""Cards a hand is dealt where the rest stays out of play."""


def _cards(decks: int, jokers: int, removed: tuple[str, ...]) -> Counter[str]:
    """How often each card is in the deck; below zero for one that is taken out more often than it is there."""
    codes = CARDS[:52] + (("BJ",), ("BJ", "LJ"))[jokers - 1] if jokers else CARDS[:52]
    cards = Counter(dict.fromkeys(codes, decks))
    cards.subtract(removed)
    return cards


def _deck(rules: Ruleset) -> Counter[str]:
    return _cards(rules.decks, rules.jokers, rules.removed_cards)


def hand_size(players: int, deal_method: DealMethod, cards: int) -> int | None:
    """Cards in a hand; None where the deck cannot be dealt so.

    A draw turn uses up two cards and keeps one, so a drawn hand is half of a player's share.

    >>> hand_size(4, DealMethod.DEAL_ALL, 52), hand_size(2, DealMethod.DRAW, 52), hand_size(3, DealMethod.DEAL_ALL, 52)
    (13, 13, None)
    """
    if deal_method is DealMethod.DEAL_HALF:
        return DEALT_FROM_HALF if DEALT_FROM_HALF * players < cards else None
    share = players * 2 if deal_method is DealMethod.DRAW else players
    return cards // share if cards > 0 and cards % share == 0 else None


# --- What contradicts what ------------------------------------------------------------------------------------------


_Findings = Iterator[tuple[str, str]]
"""Options, each with a sentence about it."""


class _Facts:
    """What follows from a ruleset's values taken together; the questions below are asked of these."""

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.players = rules.players
        self.tricks = rules.hand_size  # 0: the deck cannot be dealt
        self.deck = _deck(rules)
        self.size = sum(self.deck.values())
        self.overdrawn = sorted(card for card, count in self.deck.items() if count < 0)
        self.present = {card for card, count in self.deck.items() if count > 0}
        self.absent_trumps = [card for card in rules.high_trumps if card not in self.present]
        self.unranked_jokers = sorted(self.present.intersection(("LJ", "BJ")).difference(rules.high_trumps))
        self.clubs = {card for card in self.present if card[1] == "C"}.difference(rules.high_trumps)
        self.diamonds = {card for card in self.present if card[1] == "D"}
        self.spades = sum(n for card, n in self.deck.items() if card[1] == "S" or card in rules.high_trumps)
        self.draw = rules.deal_method is DealMethod.DRAW
        self.passing = any(step is not PassDirection.NONE for step in rules.pass_cycle)
        self.club_leads = rules.first_lead in {FirstLead.TWO_OF_CLUBS, FirstLead.LOWEST_CLUB}

        self.bidding = rules.bid_mode is not BidMode.NONE
        self.mirror = self.bidding and rules.bid_rule is BidRule.MIRROR
        self.whiz = self.bidding and rules.bid_rule is BidRule.WHIZ
        self.suicide = self.bidding and rules.bid_rule is BidRule.SUICIDE
        self.choosing = self.bidding and not self.mirror  # seats say what they bid
        self.sealed = self.choosing and rules.bid_order is BidOrder.SIMULTANEOUS
        self.side_size = {Teams.NONE: 1, Teams.PAIRS: 2, Teams.TRIOS: 3}[rules.teams]
        self.partners = rules.teams is not Teams.NONE
        self.together = self.partners and self.bidding and rules.bid_mode is not BidMode.INDIVIDUAL
        self.contract_of = self.side_size if self.together else 1  # seats whose bids make one contract

        self.nil = self.bidding and rules.nil_success is not None and rules.nil_fail is not None
        self.no_nil = self.bidding and rules.nil_success is None and rules.nil_fail is None
        self.blind_nil = self.nil and self.choosing and not self.draw and rules.blind_nil is not BlindNil.OFF
        self.blind_numbers = self.choosing and not self.whiz and not self.draw and rules.blind_bid_min is not None
        self.exchanging = (self.nil and rules.nil_exchange > 0) or (self.blind_nil and rules.blind_nil_exchange > 0)
        self.min_bid, self.max_bid = rules.min_bid or 0, rules.max_bid or self.tricks
        self.zero = self.nil or (self.bidding and rules.zero_bid in {ZeroBid.PLAIN, ZeroBid.BOTH})
        self.lowest = 0 if self.zero else max(self.min_bid, 1)
        self.totals = self.choosing and rules.total_bid_rule is TotalBidRule.NOT_EQUAL_TRICKS
        self.room = int(self.totals)  # how many of the last bidder's bids the total may forbid
        zero_when_partner_bid_nil = self.zero and (
            rules.both_nil is not BothNil.FORBIDDEN or not self.partners or rules.zero_bid is not ZeroBid.NIL
        )
        self.choices = max(self.max_bid - max(self.min_bid, 1) + 1, 0) + int(zero_when_partner_bid_nil)
        self.joint = self.nil and self.together and not self.suicide and rules.both_nil is BothNil.JOINT
        numbers = range(max(self.min_bid, 1), self.max_bid + 1)
        plain = ((0, False),) if rules.zero_bid in {ZeroBid.PLAIN, ZeroBid.BOTH} else ()
        nils = ((0, True),) if self.nil else ()
        one_nil = self.suicide or (self.nil and self.partners and rules.both_nil is BothNil.FORBIDDEN)
        self.limits = SideLimits(
            bids=(*nils, *plain, *(() if self.whiz else ((tricks, False) for tricks in numbers))),
            least=rules.min_team_bid,
            most=rules.max_team_bid,
            least_nils=int(self.suicide),
            most_nils=1 if one_nil else None,
        )
        self.most = (
            self.contract_of * self.max_bid if self.choosing else min(self.spades, self.contract_of * self.tricks)
        )
        if self.together and rules.max_team_bid is not None:
            self.most = min(self.most, rules.max_team_bid)

    @property
    def fits(self) -> bool:
        """Whether the partners of a side have bids that keep to its limits."""
        return can_close(self.limits, self.side_size, 0, 0, 1 + self.room)


def _seat_clashes(f: _Facts) -> _Findings:
    """Seats, dealer and the end of the game."""
    r = f.rules
    if r.teams is Teams.PAIRS and f.players not in {4, 6}:
        yield "teams", f"pairs need four or six players, not {f.players}"
    if r.teams is Teams.TRIOS and f.players != 6:
        yield "teams", f"trios need six players, not {f.players}"
    if r.dealer_rotation is DealerRotation.ALTERNATE and f.players != 2:
        yield "dealer_rotation", f"the deal alternates between two players, not {f.players}"
    if r.first_dealer is FirstDealer.FIRST_DIAMOND and not f.diamonds:
        yield "first_dealer", "there is no diamond in the deck to turn up"
    if r.losing_score is not None and r.losing_score >= r.target_score:
        yield "losing_score", f"the losing score is not below the target, {r.target_score}"
    if r.losing_score is not None and 0 <= r.losing_score < r.target_score:
        yield "losing_score", "every side starts at 0, which would have lost already"


def _deck_clashes(f: _Facts) -> _Findings:
    """Which cards there are, and how they come into hands."""
    r = f.rules
    if f.overdrawn:
        yield "removed_cards", f"not in the deck, or not so often: {', '.join(f.overdrawn)}"
    if r.deal_method is DealMethod.DEAL_ALL and not f.tricks:
        yield "removed_cards", f"a deck of {f.size} cards cannot be shared out evenly among {f.players} players"
    if f.draw and f.players == 2 and not f.tricks:
        yield "removed_cards", f"drawing uses four cards for two, so a deck of {f.size} cards does not come out even"
    if r.deal_method is DealMethod.DEAL_HALF and not f.tricks:
        yield "deal_method", f"thirteen cards for each of {f.players} players leave none of {f.size} out of play"
    if f.absent_trumps:
        yield "high_trumps", f"not in the deck: {', '.join(f.absent_trumps)}"
    if f.unranked_jokers:
        yield (
            "high_trumps",
            f"a joker in the deck needs a place above the ace of spades: {', '.join(f.unranked_jokers)}",
        )
    if r.decks == 2 and r.duplicate_winner is None:
        yield "duplicate_winner", "with two packs say which of two identical cards wins"


def _deal_clashes(f: _Facts) -> _Findings:
    """Drawing and passing."""
    r = f.rules
    if f.draw and f.players != 2:
        yield "deal_method", f"only two players build their hands by drawing, not {f.players}"
    if f.draw and r.draw_declined_face is None:
        yield "draw_declined_face", "say how a declined card lies: up or down"
    if f.draw and r.draw_second_card is None:
        yield "draw_second_card", "say who sees the card thrown away after a keep"
    if f.passing and r.pass_count == 0:
        yield "pass_count", "say how many cards are passed"
    if f.passing and 0 < f.tricks < r.pass_count:
        yield "pass_count", f"a hand has only {f.tricks} cards"
    if PassDirection.ACROSS in r.pass_cycle and f.players % 2 == 1:
        yield "pass_cycle", f"nobody sits across at a table of {f.players}"


def _contract_clashes(f: _Facts) -> _Findings:
    """Whether there are contracts, and what they are worth."""
    r = f.rules
    if not f.bidding and r.score_mode is ScoreMode.CONTRACT:
        yield "bid_mode", "contracts are scored, so somebody must bid"
    if f.bidding and r.score_mode is ScoreMode.BOOKS:
        yield "score_mode", "every trick is a point, so there is nothing to bid for"
    if r.bid_mode is BidMode.PARTNERSHIP and not f.partners:
        yield "bid_mode", "partners settle a contract between them, and here nobody has one"
    if r.score_mode is ScoreMode.CONTRACT and r.points_per_bid is None:
        yield "points_per_bid", "say what a trick of a contract is worth"
    if r.score_mode is ScoreMode.CONTRACT and r.set_points is None:
        yield "set_points", "say what a missed contract costs"
    if f.bidding and r.moon is Moon.BID_ALL and r.moon_success is None:
        yield "moon_success", "say what a moon is worth"
    if f.bidding and r.moon is Moon.BID_ALL and r.moon_fail is None:
        yield "moon_fail", "say what a missed moon costs"
    if f.bidding and f.tricks == 10 and r.moon is Moon.BID_ALL and r.ten_for_200 is not TenFor200.OFF:
        yield "ten_for_200", "with ten tricks in a deal a contract of ten is a moon already"


def _order_clashes(f: _Facts) -> _Findings:
    """Who bids when, and what nobody can watch over when all bids are sealed."""
    r = f.rules
    if f.choosing and r.bid_order is None:
        yield "bid_order", "say who bids first"
    if f.choosing and r.bid_order is BidOrder.NON_DEALER and f.players != 2:
        yield "bid_order", f"with {f.players} players nobody is the one who does not deal"
    if f.choosing and r.bid_order is BidOrder.NON_DEALING_SIDE and not f.partners and f.players != 2:
        yield "bid_order", "without sides there is no side that does not deal"
    if f.sealed and f.together and r.bid_mode is BidMode.PARTNERSHIP:
        yield "bid_order", "partners who settle a contract in turn cannot bid all at once"
    if f.suicide and f.sealed:
        yield "bid_rule", "a partner's sealed bid cannot decide who bids nil"
    if f.sealed and f.totals:
        yield "total_bid_rule", "nobody bids last when all bids are sealed"
    if f.sealed and f.together and r.min_team_bid > 0:
        yield "min_team_bid", "a sealed bid cannot be measured against the partner's"
    if f.sealed and f.together and r.max_team_bid is not None:
        yield "max_team_bid", "a sealed bid cannot be measured against the partner's"
    if f.sealed and f.partners and f.nil and not f.suicide and r.both_nil is BothNil.FORBIDDEN:
        yield "both_nil", "a sealed bid cannot be barred because of the partner's"
    if f.blind_numbers and f.sealed and f.together:
        yield "blind_bid_min", "partners bid blind together or not at all, which sealed bids cannot show"


def _number_clashes(f: _Facts) -> _Findings:
    """Which numbers are bids."""
    r = f.rules
    if f.bidding and r.min_bid is None:
        yield "min_bid", "say the lowest number bid"
    if f.bidding and r.max_bid is None:
        yield "max_bid", "say the highest number bid"
    if f.bidding and f.max_bid > 0 and f.min_bid > f.max_bid:
        yield "min_bid", f"the lowest bid, {f.min_bid}, is above the highest, {f.max_bid}"
    if f.bidding and 0 < f.tricks < f.max_bid:
        yield "max_bid", f"a hand takes {f.tricks} tricks at most"
    if f.bidding and r.min_bid == 0 and r.zero_bid is ZeroBid.FORBIDDEN:
        yield "min_bid", "a lowest bid of 0 allows what zero_bid forbids"
    if f.blind_numbers and r.blind_bid_multiplier is None:
        yield "blind_bid_multiplier", "say what a blind bid is worth"
    if f.blind_numbers and 0 < f.most < (r.blind_bid_min or 0):
        yield "blind_bid_min", f"nobody may bid so much: the highest contract is {f.most}"


def _forced_clashes(f: _Facts) -> _Findings:
    """Bids that follow from the hand or from the partner's bid."""
    r = f.rules
    if f.suicide and r.teams is not Teams.PAIRS:
        yield "bid_rule", "exactly one nil on each side needs sides of two"
    if f.no_nil and (f.suicide or f.whiz):
        yield "bid_rule", "this rule needs nil to be offered"
    if f.mirror and r.zero_bid is ZeroBid.FORBIDDEN:
        yield "zero_bid", "a hand without spades mirrors as no trick, so that bid cannot be forbidden"
    if f.mirror and f.min_bid > 1:
        yield "min_bid", "a mirrored bid is the number of spades, from one"
    if f.mirror and f.max_bid < min(f.spades, f.tricks):
        yield "max_bid", "a mirrored bid is the number of spades, and a hand can hold more"
    if (f.mirror or f.whiz) and f.nil and f.partners and r.both_nil is BothNil.FORBIDDEN:
        yield "both_nil", "two partners without spades must both bid nil"
    if f.together and (f.mirror or f.whiz) and r.min_team_bid > 0:
        yield "min_team_bid", "a bid that follows from the spades held cannot be raised to a minimum"
    if (
        f.together
        and f.mirror
        and r.max_team_bid is not None
        and r.max_team_bid < min(f.spades, f.side_size * f.tricks)
    ):
        yield "max_team_bid", "mirrored bids of a side can add up to more"
    if r.total_bid_rule is TotalBidRule.NOT_EQUAL_TRICKS and (f.mirror or f.whiz or f.suicide):
        yield "total_bid_rule", "a bid that the rule decides cannot give way to a total"


def _sum_clashes(f: _Facts) -> _Findings:
    """What bids may add up to. Whoever bids last must always have a bid left."""
    found = list(_plain_sum_clashes(f))
    yield from found
    r = f.rules
    limited = r.max_team_bid is not None or r.min_team_bid > 0
    numbers = f.tricks > 0 and r.min_bid is not None and f.min_bid <= f.max_bid
    if not found and f.together and f.choosing and not f.whiz and limited and numbers and not f.fits:
        option = "min_team_bid" if r.max_team_bid is None else "max_team_bid"
        yield option, "no bids of a side keep to its limits and leave its last bidder a choice"


def _plain_sum_clashes(f: _Facts) -> _Findings:
    r = f.rules
    if f.together and r.max_team_bid is not None and r.min_team_bid > r.max_team_bid:
        yield "min_team_bid", "a side must bid more than it may"
    if (
        f.together
        and f.choosing
        and not f.whiz
        and r.min_team_bid > 0
        and f.lowest * (f.side_size - 1) + f.max_bid < r.min_team_bid + f.room
    ):
        yield "min_team_bid", "after the lowest bids of its partners the last seat cannot bid high enough to reach it"
    if (
        f.together
        and f.choosing
        and r.max_team_bid is not None
        and (r.max_team_bid < (max(f.min_bid, 1) if f.suicide else f.lowest * f.side_size + f.room))
    ):
        yield "max_team_bid", "the lowest bids of a side add up to more"
    if f.totals and (not (f.whiz or f.suicide)) and f.max_bid > 0 and f.choices < 2:
        yield "total_bid_rule", "the last bidder needs a second bid to turn to"


def _nil_clashes(f: _Facts) -> _Findings:
    """Nil and blind nil."""
    r = f.rules
    if f.bidding and r.nil_success is None and r.nil_fail is not None:
        yield "nil_success", "a nil has points for failing, so it needs points for success"
    if f.bidding and r.nil_fail is None and r.nil_success is not None:
        yield "nil_fail", "a nil has points for success, so it needs points for failing (0 is a value)"
    if f.nil and r.zero_bid in {ZeroBid.PLAIN, ZeroBid.FORBIDDEN}:
        yield "zero_bid", "nil is offered, so a bid of no trick is 'nil' or 'both'"
    if f.no_nil and r.zero_bid in {ZeroBid.NIL, ZeroBid.BOTH}:
        yield "zero_bid", "nil has no points, so a bid of no trick is 'plain' or 'forbidden'"
    if f.nil and r.failed_nil_tricks is None:
        yield "failed_nil_tricks", "nil is offered, so say what the tricks of a failed one are"
    if f.no_nil and f.choosing and not f.draw and r.blind_nil is not BlindNil.OFF:
        yield "blind_nil", "a blind nil is a nil, and nil is not offered"
    if f.nil and r.teams is Teams.TRIOS and r.both_nil is BothNil.JOINT:
        yield "both_nil", "a joint score of two nils needs sides of two"
    if f.nil and f.partners and not f.together and r.both_nil is BothNil.JOINT:
        yield "both_nil", "partners are scored apart, so their nils cannot be scored jointly"


def _exchange_clashes(f: _Facts) -> _Findings:
    """Cards between partners."""
    r = f.rules
    if f.nil and r.nil_exchange > 0 and f.side_size != 2:
        yield "nil_exchange", "cards are exchanged between two partners; a side must have two seats"
    if f.blind_nil and r.blind_nil_exchange > 0 and f.side_size != 2:
        yield "blind_nil_exchange", "cards are exchanged between two partners; a side must have two seats"
    if f.nil and 0 < f.tricks < r.nil_exchange:
        yield "nil_exchange", f"a hand has only {f.tricks} cards"
    if f.blind_nil and 0 < f.tricks < r.blind_nil_exchange:
        yield "blind_nil_exchange", f"a hand has only {f.tricks} cards"


def _lead_clashes(f: _Facts) -> _Findings:
    """The first trick."""
    r = f.rules
    if r.first_leader is FirstLeader.NON_DEALER and f.players != 2 and not f.club_leads:
        yield "first_leader", f"with {f.players} players nobody is the one who does not deal"
    if r.first_leader is FirstLeader.HIGH_BIDDER and not f.bidding and not f.club_leads:
        yield "first_leader", "nobody bids, so nobody bids highest"
    if f.club_leads and r.deal_method is not DealMethod.DEAL_ALL:
        yield "first_lead", "not every card is dealt out, so the lowest club may be in no hand"
    if f.club_leads and not f.clubs:
        yield "first_lead", "there is no club in the deck"


def _contradictions(rules: Ruleset) -> Iterator[OptionProblem]:
    """Every pair or group of values that cannot stand together, each told at one of its options."""
    facts = _Facts(rules)
    for clashes in (
        _seat_clashes,
        _deck_clashes,
        _deal_clashes,
        _contract_clashes,
        _order_clashes,
        _number_clashes,
        _forced_clashes,
        _sum_clashes,
        _nil_clashes,
        _exchange_clashes,
        _lead_clashes,
    ):
        for option, detail in clashes(facts):
            yield OptionProblem(option, _plain(getattr(rules, option)), Reason.RULESET_CONTRADICTION, detail)


# --- What is worth a warning ----------------------------------------------------------------------------------------

_BIDDING_ONLY: Final = (
    "bid_order",
    "bid_rule",
    "min_bid",
    "max_bid",
    "zero_bid",
    "min_team_bid",
    "max_team_bid",
    "total_bid_rule",
    "first_hand_bids_itself",
    "nil_success",
    "nil_fail",
    "blind_nil",
    "blind_nil_deficit",
    "blind_nil_success",
    "blind_nil_fail",
    "nil_exchange",
    "blind_nil_exchange",
    "exchange_order",
    "both_nil",
    "both_nil_success",
    "both_nil_fail",
    "failed_nil_tricks",
    "blind_bid_min",
    "blind_bid_multiplier",
    "moon",
    "moon_success",
    "moon_fail",
    "ten_for_200",
    "ten_success",
    "ten_fail",
    "points_per_bid",
    "set_points",
    "bag_points",
    "bag_limit",
    "bag_penalty",
    "bag_carry",
    "set_limit",
    "redeal",
)


def _idle(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    """Options that cannot matter beside the others, and why."""
    r = f.rules
    if not f.draw:
        yield ("draw_declined_face", "draw_second_card"), "nobody draws at this table"
    if not f.passing:
        yield ("pass_cycle", "pass_count"), "no step of the cycle passes cards"
    if f.club_leads:
        yield ("first_leader",), "whoever holds the lowest club leads"
    if r.spade_lead is not SpadeLead.WHEN_BROKEN:
        yield ("forced_lead_breaks",), "leading a spade does not wait for the break"
    if r.decks == 1:
        yield ("duplicate_winner",), "there is one pack"
    if not f.bidding:
        yield _BIDDING_ONLY, "nobody bids at this table"
        return
    yield from _idle_bids(f)
    yield from _idle_nils(f)
    yield from _idle_scores(f)


def _idle_bids(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    if f.mirror:
        yield ("bid_order", "redeal"), "mirrored bids are made by the cards, with no turn to bid"
    if not f.together:
        yield ("min_team_bid", "max_team_bid"), "no bids are added up"
    if f.draw:
        yield ("blind_nil", "blind_bid_min"), "hands are built by looking, so nothing is bid blind"
    if f.mirror:
        yield ("blind_nil", "blind_bid_min"), "mirrored bids are made by the cards"
    if f.whiz:
        yield ("blind_bid_min",), "the bid is the number of spades held, so no number is bid blind"
    if not f.blind_numbers:
        yield ("blind_bid_multiplier",), "no number is bid blind"
    if not f.blind_nil:
        blind_nil = ("blind_nil_deficit", "blind_nil_success", "blind_nil_fail", "blind_nil_exchange")
        yield blind_nil, "nobody can bid a blind nil"
    elif f.rules.blind_nil is BlindNil.ANY:
        yield ("blind_nil_deficit",), "a blind nil is open to every side"


def _idle_nils(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    if not f.nil:
        yield ("nil_exchange", "failed_nil_tricks", "both_nil"), "nil is not offered"
    if not f.partners:
        yield ("both_nil",), "nobody has a partner"
    if f.suicide:
        yield ("both_nil",), "each side bids exactly one nil"
    if not f.joint:
        yield ("both_nil_success", "both_nil_fail"), "no two nils are scored jointly"
    if not f.exchanging:
        yield ("exchange_order",), "no cards are exchanged"


def _idle_scores(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    r = f.rules
    if r.moon is Moon.OFF:
        yield ("moon_success", "moon_fail"), "a bid of every trick is not special"
    elif f.most < f.tricks:
        yield ("moon", "moon_success", "moon_fail"), "no contract can be every trick"
    if r.ten_for_200 is TenFor200.OFF:
        yield ("ten_success", "ten_fail"), "a contract of ten is not special"
    elif min(f.most, f.tricks) < 10:
        yield ("ten_for_200", "ten_success", "ten_fail"), "no contract can be ten"
    if r.bag_limit == 0:
        yield ("bag_penalty", "bag_carry"), "there is no limit of bags"


_AT_REST: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "blind_nil": BlindNil.OFF,
        "redeal": Redeal.NONE,
        "moon": Moon.OFF,
        "ten_for_200": TenFor200.OFF,
        "both_nil": BothNil.INDEPENDENT,
        "total_bid_rule": TotalBidRule.FREE,
        "bid_rule": BidRule.FREE,
        "first_hand_bids_itself": False,
        "min_team_bid": 0,
        "nil_exchange": 0,
        "blind_nil_exchange": 0,
        "pass_cycle": (),
        "pass_count": 0,
    }
)
"""Values that ask for nothing, so that nothing is lost when they have no effect. Null is one for every option."""

_BLIND: Final = ("blind_nil", "blind_bid_min")
"""Named even where a preset, not the table, switched them on: the seats would wait in vain for the offer."""

LONG_GAME_DEALS: Final = 24
"""How many deals of every trick bid and taken make a game long: two dozen, which is an evening and more."""


@dataclass(frozen=True, slots=True)
class RulesetWarning:
    """Something that a table may not expect of its ruleset, though it can be played."""

    option: str
    value: Any
    reason: WarningReason
    detail: str


@lru_cache(maxsize=4096)
def warnings(ruleset: Ruleset) -> tuple[RulesetWarning, ...]:
    """What is worth saying about a ruleset: options the table set in vain, and a target that is far away.

    >>> [(warning.option, warning.reason.value) for warning in warnings(Ruleset.resolve({"preset": "books"}))]
    [('target_score', 'long_game')]
    """
    facts, preset = _Facts(ruleset), PRESETS[ruleset.preset].ruleset
    found: dict[str, RulesetWarning] = {}
    for options, detail in _idle(facts):
        for option in options:
            value = getattr(ruleset, option)
            resting = value is None or value == _AT_REST.get(option)
            ours = value != getattr(preset, option) or option in _BLIND
            if ours and not resting:
                found.setdefault(option, RulesetWarning(option, _plain(value), WarningReason.NO_EFFECT, detail))
    ordered = [found[name] for name in OPTIONS if name in found]
    every_trick = ruleset.hand_size * (ruleset.points_per_bid or 1 if facts.bidding else 1)
    deals = -(-ruleset.target_score // every_trick)
    if min(deals, ruleset.max_hands or deals) >= LONG_GAME_DEALS:
        detail = f"a side that scored every trick would need {deals} deals to reach {ruleset.target_score}"
        ordered.append(RulesetWarning("target_score", ruleset.target_score, WarningReason.LONG_GAME, detail))
    return tuple(ordered)


# --- Presets --------------------------------------------------------------------------------------------------------


def _load_presets() -> Mapping[str, Preset]:
    """Read presets.json, which gives every option of each preset and `hand_size` as well."""
    stored = json.loads(files("spades").joinpath("presets.json").read_text(encoding="utf-8"))
    presets = {}
    for name, preset in stored.items():
        values = tuple(option.read(preset["options"][option.name]) for option in _INPUTS)
        presets[name] = Preset(name, preset["title"], _interned(name, values), MappingProxyType(preset["locators"]))
    return MappingProxyType(presets)


PRESETS: Final[Mapping[str, Preset]] = _load_presets()
"""The rulesets that have a name, in the order of presets.json."""


# --- What this engine plays -----------------------------------------------------------------------------------------


SUPPORTED: Final[Mapping[str, frozenset[Any] | None]] = MappingProxyType(dict.fromkeys(OPTIONS))
"""By option, the values that this engine plays, None for all that are valid; see `require_supported`.

Today that is every option. One that is added stands here with the values that are played, until all of them are.
"""


def require_supported(ruleset: Ruleset) -> None:
    """Refuse a ruleset that needs behaviour which is not built yet.

    Raises:
        RulesetError: with `Reason.OPTION_NOT_SUPPORTED` for each option whose value is not played.
    """
    problems = []
    for name, played in SUPPORTED.items():
        value = getattr(ruleset, name)
        if played is None or value in played:
            continue
        plays = sorted(json.dumps(_plain(each)) for each in played)
        shown = _plain(value)
        detail = f"this engine does not play {json.dumps(shown)} yet; it plays {', '.join(plays)}"
        problems.append(OptionProblem(name, shown, Reason.OPTION_NOT_SUPPORTED, detail))
    if problems:
        raise RulesetError(tuple(problems))


# --- Schemas --------------------------------------------------------------------------------------------------------


def json_schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of what `Ruleset.resolve` reads: a preset and options, flat.

    It says what a value may be; that values fit together is for `resolve` to say.
    """
    preset = {
        "type": "string",
        "enum": list(PRESETS),
        "default": DEFAULT_PRESET,
        "description": "The named ruleset that the other options change.",
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {"preset": preset, **{option.name: option.schema() for option in _INPUTS}},
    }


def resolved_json_schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of `Ruleset.resolved`: the preset's name, all options, and the hash."""
    properties = {
        "preset": {"type": "string", "enum": list(PRESETS), "description": "The named ruleset it started from."},
        **{option.name: option.schema() for option in _TABLE},
        "hash": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "SHA-256 over the options that differ from the neutral default: same rules, same hash.",
        },
    }
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(properties)}
