"""The catalogue of options: what each one means, what it may be, and which source plays which value.

`OPTIONS` is the one table of them. The fields of `spades.ruleset.Ruleset`, the reading of a ruleset, the JSON schemas,
docs/rules.md and the answers of the API follow it. What there is to use:

- `OPTIONS`: every `Option` by its name, in the order in which a ruleset lists them.
- `Option.meaning`, `.section` (a heading of docs/rules.md), `.kind`, `.unit`, `.default`, `.values`, `.items`,
  `.minimum`, `.maximum`, `.nullable`, `.derived`; and `Option.described()`, all of it as JSON values.
- `Value.value`, `.meaning`, `.source`: one value. Sources are keys of docs/sources.md.
- `SECTIONS`: the sections that options belong to, in their order.

The presets are `spades.ruleset.PRESETS`; `Preset.described()` tells one of them with the source of each of its values.

    >>> bags = OPTIONS["failed_nil_tricks"]
    >>> bags.default, [(value.value, value.source) for value in bags.values][1]
    ('bags', ('help_partner', '2:69, OSP, GGZ, TRK'))
    >>> OPTIONS["bag_limit"].type
    'integer from 0 to 1000'
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Self

from spades.errors import OptionProblem

__all__ = [
    "CARDS",
    "DEFAULT_PRESET",
    "NEUTRAL",
    "OPTIONS",
    "RANKS",
    "SECTIONS",
    "STORED_PRESETS",
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
    "Kind",
    "Moon",
    "MoonFail",
    "Option",
    "OptionFault",
    "PassDirection",
    "Plain",
    "Redeal",
    "ScoreMode",
    "SecondCard",
    "SetPoints",
    "SpadeLead",
    "Teams",
    "TenFor200",
    "TieRule",
    "TotalBidRule",
    "Value",
    "Word",
    "ZeroBid",
]

DEFAULT_PRESET: Final = "standard"
"""The preset of a ruleset that names none."""

Plain = str | int | bool | None | tuple[str, ...]
"""A value of an option as JSON has it; a list is a tuple here."""


def _stored_presets() -> Mapping[str, Mapping[str, Any]]:
    presets: dict[str, dict[str, Any]] = json.loads(files("spades").joinpath("presets.json").read_text("utf-8"))
    for preset in presets.values():
        values = preset["options"].items()
        preset["options"] = {name: tuple(value) if isinstance(value, list) else value for name, value in values}
    return MappingProxyType(presets)


STORED_PRESETS: Final = _stored_presets()
"""presets.json: by name a title, the value of every option, and by option where the value comes from."""

SUITS: Final = "CDHS"
RANKS: Final = "23456789TJQKA"
CARDS: Final = (*(rank + suit for suit in SUITS for rank in RANKS), "LJ", "BJ")
"""Every card code, in listed order."""

MOST_TRICKS: Final = 54
"""Tricks of the largest hand there can be: two players, two packs, four jokers."""
MOST_POINTS: Final = 100_000
"""The largest score value an option may name. No table needs more, and sums of it stay far inside 64 bits."""


# --- Words ----------------------------------------------------------------------------------------------------------


class Word(StrEnum):
    """A value that is a word: the word itself, what it means, and the sources that play so.

    >>> BagCarry("reset").meaning
    'a deal that brings a penalty leaves no bag behind'
    """

    _value_: str
    meaning: str
    source: str

    def __new__(cls, word: str, meaning: str, source: str = "") -> Self:
        """Make a member of its three parts; `source` is empty where no source has the value."""
        member = str.__new__(cls, word)
        member._value_, member.meaning, member.source = word, meaning, source
        return member


class Teams(Word):
    """Who plays with whom."""

    NONE = "none", "everybody plays alone", "0:9, 0:41, 0:49, 2:51, BIC, ONL, SKW, VIPA, QCS"
    PAIRS = "pairs", "partners face each other: two sides of four players, three of six", "0:2, 2:15, 4:1, PAG, OUR6"
    TRIOS = "trios", "two sides of three, every other seat", "OUR6, RARE"


class DealMethod(Word):
    """How hands come about."""

    DEAL_ALL = "deal_all", "the whole pack is dealt out", "0:47, 2:13, 4:2, PAG, BIC"
    DRAW = "draw", "two players build their hands by drawing, card by card", "0:11, 2:44, SA2, ASK2"
    DEAL_HALF = "deal_half", "thirteen cards each are dealt and the rest stays out of play", "TXT2, BBUM"


class DrawFace(Word):
    """How the declined first card of a draw lies."""

    UP = "up", "face up, for everybody to see", "0:13"
    DOWN = "down", "face down, seen by the drawer alone", "2:48"


class SecondCard(Word):
    """Who sees the card thrown away after a keep."""

    FACE_UP = "face_up", "everybody", "0:14"
    SEEN_BY_DRAWER = "seen_by_drawer", "the drawer alone", "2:47, SA2, ASK2"
    UNSEEN = "unseen", "nobody", "2:99, TXT2"


class FirstDealer(Word):
    """How the first dealer is found."""

    RANDOM = "random", "by lot", "PAG"
    CUT_HIGH = "cut_high", "each seat draws a card and the highest deals", "0:2, 0:47, 4:2, BIC, SKW"
    HOST = "host", "the host says who"
    FIRST_DIAMOND = "first_diamond", "cards are turned up round the table, and the first diamond deals", "RTA, COOK"


class DealerRotation(Word):
    """Where the deal goes next."""

    LEFT = "left", "to the seat on the left", "2:13, 4:2, PAG, BIC"
    ALTERNATE = "alternate", "two players deal turn and turn about", "0:29"


class Redeal(Word):
    """Which hands may ask for a new deal."""

    NONE = "none", "none", "CLARK, RTA, COOK"
    NO_SPADES = "no_spades", "a hand without a spade", "2:75"
    NO_SPADES_NO_FACES = "no_spades_no_faces", "a hand with neither a spade nor a jack, queen or king"


class PassDirection(Word):
    """One step of a passing cycle."""

    LEFT = "left", "to the seat on the left", "0:2"
    RIGHT = "right", "to the seat on the right", "0:2"
    ACROSS = "across", "to the seat half way round", "0:2"
    NONE = "none", "nothing is passed in this deal", "0:2"


class BidMode(Word):
    """Whose bid a contract is."""

    INDIVIDUAL_SUM = "individual_sum", "the bids of the partners are added up", "2:15, PAG, OSP, GGZ, VIP"
    PARTNERSHIP = "partnership", "the partners settle it share by share", "0:50, 4:3, PLAYSITE, LT, COOK, COLW"
    INDIVIDUAL = (
        "individual",
        "each seat is held to its own bid, in a pair too",
        "0:19, 0:49, 2:51, BIC, ONL, VIPA, QCS",
    )
    NONE = "none", "nobody bids", "0:2"


class BidOrder(Word):
    """Who bids when."""

    LEFT_OF_DEALER = "left_of_dealer", "clockwise from the dealer's left", "2:14, PAG, BIC, SKW"
    NON_DEALER = "non_dealer", "of two players, the one who did not deal bids first", "0:19, 2:50"
    NON_DEALING_SIDE = "non_dealing_side", "side by side, the one on the dealer's left first", "0:50, RTA"
    DEALER = "dealer", "clockwise from the dealer", "HGX"
    SIMULTANEOUS = "simultaneous", "all at once; each bid is sealed until all are in", "MSN2"


class BidRule(Word):
    """What ties a bid to the hand or to the partner's bid."""

    FREE = "free", "nothing does"
    SUICIDE = "suicide", "exactly one nil on each side", "MSN1, VIPA"
    MIRROR = "mirror", "the number of spades held and nothing else", "MSN2, WHZ"
    WHIZ = "whiz", "the number of spades held, or nil", "MSN1, MSN2, BBUM-W, TRK"


class ZeroBid(Word):
    """What a bid of no trick is."""

    NIL = "nil", "a nil", "0:20, 0:53, 2:14, PAG, WHZ, ONL"
    PLAIN = "plain", "a bid of zero like any other: no bonus, no risk"
    FORBIDDEN = "forbidden", "not allowed", "0:2, BIC, JWS"
    BOTH = "both", "a nil or a plain zero, as the bidder names it", "GGZ, TRK, BABY"


class TotalBidRule(Word):
    """What the bids of the whole table may add up to."""

    FREE = "free", "anything", "ONL"
    NOT_EQUAL_TRICKS = "not_equal_tricks", "not the number of tricks, which binds the last bidder", "LT, SOFT, MOGA"


class BlindNil(Word):
    """Who may bid nil before seeing the hand."""

    OFF = "off", "nobody", "0:54, RTA, COLW, MSN2, BBUM-W, OSP"
    ANY = "any", "anybody", "0:54, ONL, VIP"
    BEHIND = "behind", "a side that is `blind_nil_deficit` or more behind the best other side", "2:67, PAG, LT, FVH"


class ExchangeOrder(Word):
    """Whether the partner of a nil bidder sees the cards before giving others."""

    SEQUENTIAL = "sequential", "the partner sees the cards before giving as many back", "PAG"
    BLIND = "blind", "both choose before either sees", "BABY, MASH"


class BothNil(Word):
    """What two nils on one side mean."""

    INDEPENDENT = "independent", "each is scored on its own", "OSP, GGZ"
    JOINT = "joint", "they have one score: `both_nil_success` if both hold, else `both_nil_fail`", "FVH"
    FORBIDDEN = "forbidden", "the second partner is not offered one", "DORA"


class FailedNilTricks(Word):
    """What becomes of the tricks of a failed nil."""

    BAGS = "bags", "a bag each, with a bag's points, even beside a set partner", "0:34, 2:34, PAG, MSN1, WATCH"
    HELP_PARTNER = "help_partner", "they count towards the partner's contract", "2:69, OSP, GGZ, TRK"
    BAGS_NO_POINTS = "bags_no_points", "a bag each, without points", "GGZ"
    IGNORED = "ignored", "nothing", "0:53, SCO"


class Moon(Word):
    """Whether a bid of every trick is special."""

    OFF = "off", "it is a contract like any other"
    BID_ALL = "bid_all", "it has a score of its own", "0:21, COOK, JWS, COLW, BEMO, RMW"


class MoonFail(Word):
    """What a missed moon costs."""

    CONTRACT_SET = "contract_set", "what any missed contract costs", "JWS"
    TRICKS_AS_BAGS = "tricks_as_bags", "nothing: the tricks taken are bags", "0:35"


class TenFor200(Word):
    """Whether a contract of ten is special, and what makes it."""

    OFF = "off", "it is a contract like any other"
    EXACT = "exact", "exactly ten tricks make it; an eleventh sets the side", "2:72, COLW, COOK"
    AT_LEAST = "at_least", "ten tricks or more make it; those over ten are bags", "2:72, JWS"


class FirstLeader(Word):
    """Who leads to the first trick."""

    LEFT_OF_DEALER = "left_of_dealer", "the seat on the dealer's left", "0:56, 2:21, 4:4, PAG, BIC, ONL, OSP"
    NON_DEALER = "non_dealer", "of two players, the one who did not deal", "0:24, 2:50"
    DEALER = "dealer", "the dealer", "PAG-TOC"
    HIGH_BIDDER = "high_bidder", "the highest bidder, of several the first from the dealer's left", "FVH"


class FirstLead(Word):
    """What the first trick is led with."""

    NO_SPADE = "no_spade", "any card but a spade", "0:24, 0:56, 2:21, 4:4, PAG, BIC, ONL, OSP"
    ANY = "any", "any card, a spade too where `spade_lead` lets one", "COLW, COOK, QCS"
    TWO_OF_CLUBS = "2C", "the lowest club of the deck, by its holder", "2:71, BEMO"
    LOWEST_CLUB = "lowest_club", "the same, and everybody plays the lowest club held", "DORA, HOPK, FVH"


class SpadeLead(Word):
    """When a spade may be led."""

    WHEN_BROKEN = "when_broken", "once a spade has been played", "0:24, 0:56, 2:23, PAG, BIC, ONL, OSP, GGZ"
    AFTER_FIRST_TRICK = "after_first_trick", "from the second trick on", "4:4"
    ANYTIME = "anytime", "always, as far as `first_lead` lets it", "COLW, COOK, TRK, SOFT, PAG-TOC, AND"


class FirstTrickSpades(Word):
    """Whether the first trick may be trumped."""

    ALLOWED = "allowed", "a hand that cannot follow may trump at once", "2:5"
    FORBIDDEN = "forbidden", "only a hand of nothing but spades may", "PLAYSITE, BEMO, DORA, FVH"


class DuplicateWinner(Word):
    """Which of two identical cards is the higher."""

    FIRST = "first", "the one played first", "OUR6"
    LAST = "last", "the one played last", "OUR6, VAR6"


class ScoreMode(Word):
    """What is scored: contracts, or every trick."""

    CONTRACT = "contract", "contracts", "0:31, 2:31, 4:5, PAG, BIC"
    BOOKS = "books", "every trick is one point", "0:2"


class SetPoints(Word):
    """What a missed contract costs."""

    MINUS = "minus", "what it would have brought", "0:33, 0:63, 2:32, 4:5, PAG, OSP"
    ZERO = "zero", "nothing", "2:68, BIC"


class BagCarry(Word):
    """What is left of the bags after a penalty."""

    REMAINDER = "remainder", "the bags over the full limits are carried on", "2:33, 2:83, 4:7, PAG"
    RESET = "reset", "a deal that brings a penalty leaves no bag behind", "VAR"


class TieRule(Word):
    """What happens when the best sides are level at the end."""

    PLAY_ANOTHER = "play_another", "another deal is played", "2:40, BIC, BABY"
    SHARED = "shared", "they share the win", "BBUM"


class OptionFault(StrEnum):
    """Why a value could stand in no ruleset at all. A contradiction, which needs two values, is a `Reason`."""

    UNKNOWN_OPTION = "unknown_option"
    WRONG_TYPE = "wrong_type"
    NOT_ALLOWED = "not_allowed"


# --- Options --------------------------------------------------------------------------------------------------------


class Kind(Enum):
    """The JSON shape of an option's value."""

    INTEGER = "integer"
    BOOLEAN = "boolean"
    WORD = "word"
    WORDS = "list"


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an option."""

    value: Plain
    meaning: str = ""
    """What it means, the option being known; empty for a number or a list of cards that says it itself."""
    source: str = ""
    """Which sources play so, as keys of docs/sources.md, with the line for a text; empty where none has it."""

    def described(self) -> dict[str, Any]:
        """The value as JSON values, with null for what is empty."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"value": value, "meaning": self.meaning or None, "source": self.source or None}


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
    enum: type[Word] | None = None
    """The type that the words are read as; without it they stay text."""
    minimum: int = 0
    maximum: int = 0
    """Both bounds are values that are allowed. For a list `maximum` is the largest number of items."""
    unit: str = ""
    """What a number counts; empty for anything else."""
    null: Value | None = None
    """Null with its meaning, where it is allowed."""
    said: tuple[Value, ...] = ()
    """Values that have a meaning beside their type, or a source, apart from the members of `enum`."""
    derived: bool = False
    """Answered, never accepted: it follows from other options."""

    @property
    def nullable(self) -> bool:
        """Whether null is allowed."""
        return self.null is not None

    @property
    def default(self) -> Plain:
        """The value in the default preset, `standard`."""
        value: Plain = STORED_PRESETS[DEFAULT_PRESET]["options"][self.name]
        return value

    @property
    def values(self) -> tuple[Value, ...]:
        """The values that there is something to say about.

        For a word or a flag these are all that are allowed. For a number or a list they are those that a source plays
        or that mean something of their own; what else is allowed say `minimum`, `maximum` and `items`.
        """
        members = self._members() if self.kind is Kind.WORD else ()
        return (*members, *self.said, *((self.null,) if self.null else ()))

    @property
    def items(self) -> tuple[Value, ...]:
        """What a list may hold; empty for anything else."""
        if self.kind is not Kind.WORDS:
            return ()
        return self._members() if self.enum else tuple(Value(word, _card_name(word)) for word in self.words)

    def _members(self) -> tuple[Value, ...]:
        return tuple(Value(word.value, word.meaning, word.source) for word in self.enum or ())

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

    def described(self) -> dict[str, Any]:
        """The option as JSON values, every key always there and null where it says nothing.

        ``minimum`` and ``maximum`` bound an integer, ``items`` and ``max_items`` a list; ``settable`` is false for what
        follows from other options. The shapes in ``values`` and ``items`` are those of `Value.described`.
        """
        number, several = self.kind is Kind.INTEGER, self.kind is Kind.WORDS
        return {
            "name": self.name,
            "section": self.section,
            "meaning": self.meaning,
            "kind": self.kind.value,
            "allowed": self.type,
            "unit": self.unit or None,
            "settable": not self.derived,
            "nullable": self.nullable,
            "default": Value(self.default).described()["value"],
            "minimum": self.minimum if number else None,
            "maximum": self.maximum if number else None,
            "values": [value.described() for value in self.values],
            "items": [value.described() for value in self.items] if several else None,
            "max_items": self.maximum if several else None,
        }

    def problem(self, value: object) -> OptionProblem | None:
        """What is wrong with a JSON value for this option, whatever the other options are; None if nothing is."""
        return next(iter(self.problems(value)), None)

    def problems(self, value: object) -> list[OptionProblem]:
        """Everything that is wrong with a JSON value for this option: of a list, each item that is."""
        if self.kind is Kind.WORDS:
            return list(self._list_problems(value))
        problem = self._problem(value)
        return [] if problem is None else [problem]

    def _problem(self, value: object) -> OptionProblem | None:
        if self.derived:
            detail = "follows from the deck, the players and the way of dealing, and cannot be set"
            return OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, detail)
        if value is None and self.nullable:
            return None
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

    def _list_problems(self, value: object) -> Iterator[OptionProblem]:
        if not isinstance(value, list | tuple):
            yield OptionProblem(self.name, value, OptionFault.WRONG_TYPE, self._expected(value))
            return
        if len(value) > self.maximum:
            yield OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, self._expected(f"{len(value)} items"))
            return
        for place, item in enumerate(value):
            if not isinstance(item, str):
                yield OptionProblem(self.name, value, OptionFault.WRONG_TYPE, self._expected(item), place)
            elif item not in self.words:
                yield OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, self._expected(item), place)
            elif self.name == "high_trumps" and item in value[:place]:
                detail = "a card has one place among the trumps"
                yield OptionProblem(self.name, value, OptionFault.NOT_ALLOWED, detail, place)

    def _expected(self, value: object) -> str:
        said = json.dumps(value, default=repr)
        return f"expected {self.type}; got {said if len(said) <= 60 else said[:57] + '...'}"

    def read(self, value: Any) -> Any:
        """The typed value of a JSON value that has no `problem`."""
        if self.kind is Kind.WORDS:
            return tuple(self._read_word(item) for item in value)
        return self._read_word(value) if isinstance(value, str) else value

    def _read_word(self, word: str) -> str:
        # A look-up by value, which mypy takes for the making of a member.
        return self.enum(word) if self.enum else str(word)  # type: ignore[call-arg]

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


_RANK_NAMES: Final = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "jack",
    "queen",
    "king",
    "ace",
)
_SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")


def _card_name(code: str) -> str:
    if code in {"LJ", "BJ"}:
        return "little joker" if code == "LJ" else "big joker"
    return f"{_RANK_NAMES[RANKS.index(code[0])]} of {_SUIT_NAMES[SUITS.index(code[1])]}"


def _values(rows: tuple[tuple[Any, ...], ...]) -> tuple[Value, ...]:
    return tuple(Value(*row) for row in rows)


def _null(said: tuple[str, ...]) -> Value | None:
    return Value(None, *said) if said else None


def _number(
    name: str,
    section: str,
    unit: str,
    bounds: tuple[int, int],
    meaning: str,
    *rows: tuple[Any, ...],
    null: tuple[str, ...] = (),
) -> Option:
    """A number; each row is a value, what it means if that is more than its amount, and who plays it."""
    return Option(
        name=name,
        section=section,
        meaning=meaning,
        kind=Kind.INTEGER,
        minimum=bounds[0],
        maximum=bounds[1],
        unit=unit,
        null=_null(null),
        said=_values(rows),
    )


def _word(name: str, section: str, enum: type[Word], meaning: str, *, null: tuple[str, ...] = ()) -> Option:
    words = tuple(member.value for member in enum)
    return Option(name=name, section=section, meaning=meaning, kind=Kind.WORD, words=words, enum=enum, null=_null(null))


def _flag(name: str, section: str, meaning: str, *, yes: tuple[str, str], no: tuple[str, str]) -> Option:
    """A flag; `yes` and `no` are each what the value means and who plays it."""
    said = (Value(True, *yes), Value(False, *no))
    return Option(name=name, section=section, meaning=meaning, kind=Kind.BOOLEAN, said=said)


TRICKS: Final = (0, MOST_TRICKS)
GAIN: Final = (0, MOST_POINTS)
LOSS: Final = (-MOST_POINTS, 0)
"""A penalty written as a loss is never positive, so that a forgotten sign is refused and not paid out."""

_TABLE: Final = (
    _number(
        "players",
        "players",
        "seats",
        (2, 6),
        "How many seats there are. Four are N E S W, any other number A B C ...",
        (2, "", "0:3, 2:44, TXT2, SA2, ASK2, BBUM"),
        (3, "", "ONL, SKW, QCS, TRK, RARE"),
        (4, "", "0:41, 2:5, 4:1, PAG, BIC"),
        (5, "", "QCS, BIC-J"),
        (6, "", "QCS, OUR6, RARE, WIKI"),
    ),
    _word(
        "teams",
        "players",
        Teams,
        "Who plays together: everybody alone, partners facing each other, or two sides of three.",
    ),
    _number(
        "jokers",
        "deck",
        "cards",
        (0, 2),
        "Jokers in each pack, all of them spades; with one it is the big joker.",
        (0, "", "0:4, 0:44, 2:7"),
        (1, "the big joker", "WIKI"),
        (2, "the big and the little joker", "BIC-J, RTA, TRK, JWS, CLARK, RARE"),
    ),
    Option(
        name="removed_cards",
        section="deck",
        meaning="Cards taken out before the deal; a card named twice is taken out of both packs.",
        kind=Kind.WORDS,
        words=CARDS,
        maximum=2 * len(CARDS),
        said=_values(
            (
                ((), "every card is played with"),
                (("2C",), "three players, 17 cards each", "SKW, RARE, TRK"),
                (("2C", "2D"), "two jokers take their place", "BIC-J, RARE, CPP"),
                (("2D", "2H"), "two jokers take their place, the two of spades ranks next", "RTA"),
                (("2H", "2C"), "two jokers take their place, the twos of diamonds and spades rank next", "JWS, JSX"),
                (("2S", "2H", "2D", "2C"), "six players, 8 cards each; five with both jokers, 10 each", "QCS, BIC-J"),
                (("2C", "2C"), "six players with two packs, 17 cards each", "OUR6"),
            )
        ),
    ),
    Option(
        name="high_trumps",
        section="deck",
        meaning="Cards that rank above the ace of spades, strongest first; each counts as a spade for every purpose.",
        kind=Kind.WORDS,
        words=tuple(card for card in CARDS if card != "AS"),
        maximum=len(CARDS) - 1,
        said=_values(
            (
                ((), "the ace of spades is the highest card", "2:7"),
                (("BJ", "LJ"), "", "BIC-J, RARE, CPP, 2:74"),
                (("BJ", "LJ", "2S"), "joker-joker-deuce", "RTA, TRK"),
                (("BJ", "LJ", "2D", "2S"), "joker-joker-deuce-deuce", "JWS, JSX, CLARK, TRK"),
                (("2H", "2C", "2D", "2S"), "all four twos on top", "WIKI, LT"),
            )
        ),
    ),
    _number(
        "decks",
        "deck",
        "packs",
        (1, 2),
        "How many packs are shuffled together.",
        (1, "each card is there once"),
        (2, "each card is there twice", "OUR6"),
    ),
    Option(
        name="hand_size",
        section="deck",
        meaning="Cards in a hand and tricks in a deal. It follows from the deck, the players and the way of dealing.",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=MOST_TRICKS,
        unit="cards",
        derived=True,
        said=_values(
            (
                (8, "six players, no twos", "QCS"),
                (10, "five players, two twos out or jokers for the twos", "QCS, BIC-J"),
                (13, "four players, or two who draw", "0:11, 0:47, 2:13, 4:2, PAG, BIC"),
                (17, "three players, or six with two packs", "ONL, SKW, OUR6"),
                (18, "the same with jokers", "BIC-J, TRK, OUR6"),
            )
        ),
    ),
    _word(
        "deal_method",
        "deal",
        DealMethod,
        "The whole pack is dealt; two players build their hands by drawing; or thirteen cards each are dealt and the "
        "rest stays out of play.",
    ),
    _word(
        "draw_declined_face",
        "draw",
        DrawFace,
        "How a declined first card lies on the pile.",
        null=("not said; allowed where nobody draws",),
    ),
    _word(
        "draw_second_card",
        "draw",
        SecondCard,
        "Who sees the card thrown away after a keep.",
        null=("not said; allowed where nobody draws",),
    ),
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
        said=_values(
            (
                ((), "no cards are passed"),
                (("left", "right", "across", "none"), "a cycle of four deals", "0:2"),
            )
        ),
    ),
    _number(
        "pass_count",
        "passing",
        "cards",
        (0, 4),
        "How many cards each seat passes when the cycle says pass.",
        (0, "none; a cycle that passes needs more"),
    ),
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
        null=("not said; allowed where no seat has a turn to bid", "0:2"),
    ),
    _word(
        "bid_rule",
        "bids",
        BidRule,
        "`suicide`: exactly one nil on each side; `mirror`: the number of spades held and nothing else; `whiz`: that "
        "number or nil.",
    ),
    _number(
        "min_bid",
        "bids",
        "tricks",
        TRICKS,
        "The lowest number bid. What a zero is, `zero_bid` says.",
        (0, "one where a bid of no trick is a nil or no bid at all"),
        (1, "", "0:19, 2:14, PAG, BIC, MSN2, ONL, JWS"),
        null=("not said; allowed where nobody bids", "0:2"),
    ),
    _number(
        "max_bid",
        "bids",
        "tricks",
        (1, MOST_TRICKS),
        "The highest number bid; unless set, every trick.",
        (8, "", "QCS"),
        (13, "", "0:19, 2:14"),
        (17, "", "ONL"),
        null=("not said; allowed where nobody bids", "0:2"),
    ),
    _word(
        "zero_bid",
        "bids",
        ZeroBid,
        "What a promise of no trick is: a nil, a plain zero without bonus, not allowed, or either by name.",
    ),
    _number(
        "min_team_bid",
        "bids",
        "tricks",
        TRICKS,
        "What the bids of a side must reach; nil counts as nothing.",
        (0, "no minimum", "PAG"),
        (4, "", "2:73, LT, RTA, COOK, COLW, JWS, ZAU"),
        (6, "", "MASH"),
    ),
    _number(
        "max_team_bid",
        "bids",
        "tricks",
        (1, 3 * MOST_TRICKS),
        "What the bids of a side may not pass.",
        (13, "", "OSP, GGZ"),
        null=("no maximum",),
    ),
    _word(
        "total_bid_rule",
        "bids",
        TotalBidRule,
        "Whether the last bidder is barred from making all bids add up to the number of tricks.",
    ),
    _flag(
        "first_hand_bids_itself",
        "bids",
        "Nobody bids in the first deal; each trick taken scores as if bid.",
        yes=("the first deal has no bids", "RTA, TRK"),
        no=("every deal has bids", "CLARK, COOK, COLW"),
    ),
    _number(
        "nil_success",
        "nil",
        "points",
        GAIN,
        "Points for a nil that takes no trick; null means no nil is offered.",
        (50, "", "0:53, AZN, GGZ"),
        (75, "", "WWIN"),
        (100, "", "0:34, 2:34, PAG, VIP, MSN1, OSP, GGZ, SKW, BBUM-W"),
        null=("no nil is offered", "0:2, BIC, JWS"),
    ),
    _number(
        "nil_fail",
        "nil",
        "points",
        LOSS,
        "Points for a nil that takes a trick, zero or less; null with no nil.",
        (0, "a failed nil costs nothing", "0:34"),
        (-50, "", "0:53, AZN, GGZ"),
        (-100, "", "2:34, PAG, VIP, MSN1, OSP, GGZ, SKW, BBUM-W"),
        null=("no nil is offered", "0:2, BIC, JWS"),
    ),
    _word(
        "blind_nil",
        "blind",
        BlindNil,
        "Who may bid nil before seeing the hand: nobody, anybody, or a side that is far enough behind.",
    ),
    _number(
        "blind_nil_deficit",
        "blind",
        "points",
        GAIN,
        "How far behind the best other side counts as behind.",
        (99, "", "GHX"),
        (100, "", "2:67, PAG, LT"),
        (200, "", "FVH"),
    ),
    _number(
        "blind_nil_success",
        "blind",
        "points",
        GAIN,
        "Points for a blind nil that takes no trick.",
        (100, "", "0:54, AZN, GGZ"),
        (200, "", "2:67, PAG, VIP, GGZ, SKW"),
    ),
    _number(
        "blind_nil_fail",
        "blind",
        "points",
        LOSS,
        "Points for a blind nil that takes a trick, zero or less.",
        (-100, "", "AZN, GGZ"),
        (-200, "", "2:67, PAG, VIP, GGZ, SKW"),
    ),
    _number(
        "nil_exchange",
        "exchange",
        "cards",
        (0, 4),
        "Cards a nil bidder exchanges with the partner before the first lead.",
        (0, "nothing is exchanged", "PAG"),
        (3, "", "HGX"),
    ),
    _number(
        "blind_nil_exchange",
        "exchange",
        "cards",
        (0, 4),
        "Cards a blind nil bidder exchanges with the partner before the first lead.",
        (0, "nothing is exchanged", "0:54"),
        (1, "", "0:54"),
        (2, "", "0:54, PAG, LT, DORA"),
    ),
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
    _number(
        "both_nil_success",
        "nil",
        "points",
        GAIN,
        "Points of a joint pair of nils that both hold.",
        (200, "", "FVH"),
    ),
    _number(
        "both_nil_fail",
        "nil",
        "points",
        LOSS,
        "Points of a joint pair of nils when one fails, zero or less.",
        (0, "a failed pair costs nothing", "FVH"),
        (-200, "", "FVH"),
    ),
    _word(
        "failed_nil_tricks",
        "nil",
        FailedNilTricks,
        "What a failed nil's tricks are: bags, help for the partner's contract, bags without points, or nothing.",
        null=("not said; allowed where nil is not offered", "0:2, BIC, JWS"),
    ),
    _number(
        "blind_bid_min",
        "blind",
        "tricks",
        (1, 3 * MOST_TRICKS),
        "The least a side may bid when it bids numbers blind; null means such bids are not offered.",
        (6, "", "JWS, TOUR17"),
        null=("no number is bid blind",),
    ),
    _number(
        "blind_bid_multiplier",
        "blind",
        "times",
        (1, 100),
        "What the contract points of a blind number bid are multiplied by, won or lost.",
        (1, "a blind number is worth what any other is"),
        (2, "", "JWS"),
        null=("not said; allowed where no number is bid blind",),
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
        unit="points",
        null=Value(None, "not said; allowed where a contract of every trick is not special"),
        said=_values(
            (
                (200, "", "RMW, COOK, BEMO"),
                (250, "", "0:35, COLW"),
                ("win", "the side wins the game at once", "JWS, COLW"),
            )
        ),
    ),
    _word(
        "moon_fail",
        "moon",
        MoonFail,
        "A missed moon is an ordinary set, or its tricks are bags.",
        null=("not said; allowed where a contract of every trick is not special",),
    ),
    _word(
        "ten_for_200",
        "ten",
        TenFor200,
        "Whether a contract of ten is scored apart: made by exactly ten tricks, or by ten and more.",
    ),
    _number(
        "ten_success",
        "ten",
        "points",
        GAIN,
        "Points of a contract of ten that is made, in place of the contract.",
        (150, "", "COOK"),
        (200, "", "2:72, COLW, JWS"),
    ),
    _number(
        "ten_fail",
        "ten",
        "points",
        LOSS,
        "Points of a contract of ten that is missed, zero or less.",
        (-100, "", "COLW, JWS"),
        (-150, "", "COOK"),
        (-200, "", "2:72"),
    ),
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
    _flag(
        "forced_lead_breaks",
        "leading",
        "Whether a spade led from a hand of nothing but spades breaks spades.",
        yes=("it does", "0:24"),
        no=("only a spade on a trick led in another suit does", "2:23"),
    ),
    _word(
        "first_trick_spades",
        "following",
        FirstTrickSpades,
        "Whether a spade may be thrown on the first trick by a hand that has another card to play.",
    ),
    _flag(
        "must_trump",
        "following",
        "Whether a hand that cannot follow must play a spade if it holds one.",
        yes=("it must", "MASH"),
        no=("it may play anything", "0:25, 0:57, 2:5, PAG"),
    ),
    _word(
        "duplicate_winner",
        "following",
        DuplicateWinner,
        "Which of two identical cards is higher.",
        null=("not said; allowed with one pack",),
    ),
    _word("score_mode", "scoring", ScoreMode, "Contracts are scored, or each trick is one point and nobody bids."),
    _number(
        "points_per_bid",
        "contract",
        "points",
        (1, MOST_POINTS),
        "Points for each trick of a contract.",
        (10, "", "0:31, 0:62, 2:31, 4:5, PAG, BIC, VIPA"),
        null=("not said; allowed where no contract is scored", "0:2"),
    ),
    _word(
        "set_points",
        "contract",
        SetPoints,
        "A missed contract costs its own points, or nothing.",
        null=("not said; allowed where no contract is scored", "0:2"),
    ),
    _number(
        "bag_points",
        "bags",
        "points",
        (-MOST_POINTS, MOST_POINTS),
        "Points for each bag; they may be negative.",
        (1, "", "0:32, 0:60, 2:31, PAG, BIC, ONL, OSP"),
        (0, "bags are only counted", "0:2, CLARK, JWS, COLW"),
        (-10, "a bag costs as much as a trick of a contract brings", "4:6, BBUM"),
    ),
    _number(
        "bag_limit",
        "bags",
        "bags",
        (0, 1000),
        "How many bags bring the penalty; 0 means there is none.",
        (0, "no penalty", "0:60, BIC"),
        (5, "", "AUR, BABY"),
        (7, "", "BABY, RMW"),
        (10, "", "0:32, 2:33, 4:7, PAG, BIC, ONL, VIP, JWS, OSP"),
    ),
    _number(
        "bag_penalty",
        "bags",
        "points",
        GAIN,
        "Points taken off, once for every full limit.",
        (50, "", "AUR"),
        (100, "", "0:32, 2:33, 4:7, PAG, BIC, ONL, VIP, JWS, OSP"),
        (110, "", "AND"),
    ),
    _word("bag_carry", "bags", BagCarry, "After a penalty the bags over the limit remain, or all are forgotten."),
    _number(
        "target_score",
        "ending",
        "points",
        (1, MOST_POINTS),
        "The score that ends the game, reached or passed.",
        (200, "", "2:70, BIC"),
        (250, "", "WWIN, AND"),
        (300, "", "2:70, SA2, SPUR"),
        (350, "", "RTA, COOK, TOUR17"),
        (500, "", "0:1, 0:44, 2:40, 4:3, PAG, BIC, MSN2, OUR6, JWS, OSP"),
        (1000, "", "AND, GGZ"),
    ),
    _number(
        "losing_score",
        "ending",
        "points",
        (-MOST_POINTS, MOST_POINTS),
        "The score that ends the game for a side that falls to it or below; null means none.",
        (-200, "", "2:40, MSN2, GGZ, WGC"),
        (-250, "", "AUR"),
        (-300, "", "STC"),
        (-350, "", "OSP"),
        (-500, "", "2:40"),
        null=("no score loses the game", "2:40, PAG"),
    ),
    _word("tie_rule", "ending", TieRule, "Level at the end: play another deal, or share the win."),
    _number(
        "max_hands",
        "ending",
        "deals",
        (1, 1000),
        "The game ends after so many deals; null means no such end.",
        (4, "", "COLW"),
        (8, "", "AND-J"),
        (10, "", "AND-J, GGZ"),
        null=("no number of deals ends the game",),
    ),
    _number(
        "set_limit",
        "ending",
        "deals",
        (1, 1000),
        "A side that is set so often has lost; null means no such end.",
        (2, "", "RTA, COOK, AUR"),
        (3, "", "JWS, TOUR17"),
        null=("being set does not end the game",),
    ),
)

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType({option.name: option for option in _TABLE})
"""Every option by its name, in the order in which a ruleset lists them."""

SECTIONS: Final = tuple(dict.fromkeys(option.section for option in _TABLE))
"""The sections of docs/rules.md that options belong to, each once."""

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
