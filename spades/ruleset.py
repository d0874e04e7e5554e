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

What the options are, what they mean and which source plays which value is data: `spades.options`. Here are the rulesets
made of them, the presets among them, and what fits together. Source: docs/rules.md#rulesets
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal

from spades.errors import NotationError, OptionProblem, Reason, RulesetError
from spades.limits import SideLimits, can_close
from spades.options import (
    CARDS,
    DEFAULT_PRESET,
    NEUTRAL,
    OPTIONS,
    RANKS,
    STORED_PRESETS,
    BagCarry,
    BidMode,
    BidOrder,
    BidRule,
    BlindNil,
    BothNil,
    DealerRotation,
    DealMethod,
    DrawFace,
    DuplicateWinner,
    ExchangeOrder,
    FailedNilTricks,
    FirstDealer,
    FirstLead,
    FirstLeader,
    FirstTrickSpades,
    Moon,
    MoonFail,
    Option,
    OptionFault,
    PassDirection,
    Plain,
    Redeal,
    ScoreMode,
    SecondCard,
    SetPoints,
    SpadeLead,
    Teams,
    TenFor200,
    TieRule,
    TotalBidRule,
    ZeroBid,
)

__all__ = [
    "DEAL_CAP",
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
    "PresetValue",
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
    "interchangeable",
    "json_schema",
    "require_supported",
    "resolved_json_schema",
    "warnings",
    "without_effect",
]


class WarningReason(StrEnum):
    """What is worth saying about a ruleset that can be played."""

    NO_EFFECT = "no_effect"
    LONG_GAME = "long_game"


DEAL_CAP: Final = 200
"""The number of deals after which a game ends for its leaders, so that no two bots play for ever."""

_INPUTS: Final = tuple(option for option in OPTIONS.values() if not option.derived)


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

        >>> Ruleset.resolve({"preset": "standard", "teams": "trios", "bid_order": None})
        Traceback (most recent call last):
        ...
        spades.errors.RulesetError: teams "trios": trios need six players, not 4; bid_order null: say who bids first
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
        typed = {option: OPTIONS[option].read(value) for option, value in given.items()}
        try:
            return _changed(preset, typed)
        except RulesetError as error:
            raise RulesetError(tuple(_with_causes(error.problems, preset, typed))) from None

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
class PresetValue:
    """What a preset has for an option, and where that comes from."""

    value: Plain
    source: str
    """Keys of docs/sources.md, with lines for a text and a word in brackets; ``D`` and ``silent`` say that there is
    none. After ``option`` stands who offers another value as a choice."""

    @property
    def cited(self) -> bool:
        """Whether a source plays so; otherwise the sources are silent and the value is our default."""
        return re.search(r"^(D|silent|n/a|option)\b|\boff\b", self.source) is None

    def described(self) -> dict[str, Any]:
        """The value as JSON values."""
        return {"value": _plain(self.value), "source": self.source, "cited": self.cited}


@dataclass(frozen=True, slots=True)
class Preset:
    """A named ruleset, and where each of its values comes from.

    >>> preset = PRESETS["bicycle"]
    >>> preset.options["set_points"]
    PresetValue(value='zero', source='BIC score; 2:36')
    >>> preset.described()["options"]["must_trump"]
    {'value': False, 'source': 'D', 'cited': False}
    """

    name: str
    title: str
    description: str
    """What sets it apart, in a sentence."""
    ruleset: Ruleset
    options: Mapping[str, PresetValue]
    """All 65, in the order of `OPTIONS`."""

    def described(self) -> dict[str, Any]:
        """The preset as JSON values: ``name``, ``title``, ``description``, ``hash`` and all ``options`` by name."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "hash": self.ruleset.hash,
            "options": {name: value.described() for name, value in self.options.items()},
        }


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
        else:
            yield from option.problems(value)


def _changed(preset: Ruleset, given: Mapping[str, Any]) -> Ruleset:
    """The preset with the options that a table gives, as typed values."""
    values = {option.name: getattr(preset, option.name) for option in _INPUTS}
    values.update(given)
    if "max_bid" not in given:
        values["max_bid"] = _max_bid_that_follows(values, preset.max_bid)
    return _interned(preset.preset, tuple(values.values()))


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


_Findings = Iterator[tuple[str, str] | tuple[str, str, int]]
"""Options, each with a sentence about it; of a list perhaps with the place of the item that it is about."""


class _Facts:
    """What follows from a ruleset's values taken together; the questions below are asked of these."""

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.players = rules.players
        self.tricks = rules.hand_size  # 0: the deck cannot be dealt
        self.deck = _deck(rules)
        self.size = sum(self.deck.values())
        self.present = {card for card, count in self.deck.items() if count > 0}
        self.unranked_jokers = sorted(self.present.intersection(("LJ", "BJ")).difference(rules.high_trumps))
        self.clubs = {card for card in self.present if card[1] == "C"}.difference(rules.high_trumps)
        self.diamonds = {card for card in self.present if card[1] == "D"}
        self.spade_cards = {card for card in self.present if card[1] == "S"}.union(rules.high_trumps)
        self.spades = sum(n for card, n in self.deck.items() if card in self.spade_cards)
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
        self.min_bid, self.max_bid = rules.min_bid or 0, rules.max_bid or self.tricks
        self.zero = self.nil or (self.bidding and rules.zero_bid in {ZeroBid.PLAIN, ZeroBid.BOTH})
        self.lowest = 0 if self.zero else max(self.min_bid, 1)
        self.totals = self.choosing and rules.total_bid_rule is TotalBidRule.NOT_EQUAL_TRICKS
        self.room = int(self.totals)  # how many of the last bidder's bids the total may forbid
        zero_when_partner_bid_nil = self.zero and (
            rules.both_nil is not BothNil.FORBIDDEN or not self.partners or rules.zero_bid is not ZeroBid.NIL
        )
        self.choices = max(self.max_bid - max(self.min_bid, 1) + 1, 0) + int(zero_when_partner_bid_nil)
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

    @property
    def most_spades(self) -> int:
        """The most spades that one seat can hold."""
        return min(self.spades, self.tricks)

    def spadeless(self, hands: int) -> bool:
        """Whether so many hands at once can be without a spade."""
        return self.size - self.spades >= hands * self.tricks

    @property
    def no_nil_comes(self) -> str | None:
        """Why nobody ever bids nil though it is offered; None where somebody may."""
        if self.mirror and not self.spadeless(1):
            return "every hand holds a spade, so no mirrored bid is nil"
        return None

    @property
    def no_two_nils_come(self) -> str | None:
        """Why no two partners both bid nil; None where they may, or where nil is not offered at all."""
        if not self.partners:
            return "nobody has a partner"
        if self.suicide:
            return "each side bids exactly one nil"
        if self.mirror and not self.spadeless(2):
            return "no two hands are without a spade, so no two mirrored bids are nil"
        if self.together and self.side_size == 2 and self.rules.min_team_bid > 0:
            return f"two nils would not come to the {self.rules.min_team_bid} that a side bids at least"
        return None

    def totals_of(self, seats: int) -> frozenset[int]:
        """What the bids of so many partners may add up to, whatever limits a side has beside its nils."""
        if self.mirror or self.whiz:
            return frozenset(range(min(self.spades, seats * min(self.tricks, self.max_bid)) + 1))
        limits, made = self.limits, {(0, 0)}
        for _ in range(seats):
            made = {(total + tricks, nils + is_nil) for total, nils in made for tricks, is_nil in limits.bids}
        most = seats if limits.most_nils is None else limits.most_nils
        least = limits.least_nils if seats == self.side_size else 0
        return frozenset(total for total, nils in made if least <= nils <= most)

    @property
    def contracts(self) -> frozenset[int]:
        """What a contract may be, in tricks."""
        totals = self.totals_of(self.contract_of)
        if self.mirror or not self.together:
            return totals
        least, most = self.limits.least, self.limits.most
        return frozenset(total for total in totals if least <= total and (most is None or total <= most))

    @property
    def always_level(self) -> bool:
        """Whether all sides are level before each deal: there is one, or another where the only two sides are level."""
        return self.rules.max_hands == 1 and (
            self.rules.tie_rule is TieRule.SHARED or self.players == 2 * self.side_size
        )

    @property
    def costs(self) -> bool:
        """Whether a deal may take points from anybody."""
        r = self.rules
        return self.bidding and (
            r.set_points is SetPoints.MINUS
            or r.bag_points < 0
            or (r.bag_limit > 0 and r.bag_penalty > 0)
            or (self.nil and (r.nil_fail or 0) < 0)
            or (self.nil and r.both_nil is BothNil.JOINT and r.both_nil_fail < 0)
            or (self.blind_nil and r.blind_nil_fail < 0)
            or (r.ten_for_200 is not TenFor200.OFF and r.ten_fail < 0)
        )


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
    left = _cards(r.decks, r.jokers, ())
    for place, card in enumerate(r.removed_cards):
        left[card] -= 1
        if left[card] < 0:
            yield "removed_cards", f"not in the deck, or not so often: {card}", place
    if r.deal_method is DealMethod.DEAL_ALL and not f.tricks:
        yield "removed_cards", f"a deck of {f.size} cards cannot be shared out evenly among {f.players} players"
    if f.draw and f.players == 2 and not f.tricks:
        yield "removed_cards", f"drawing uses four cards for two, so a deck of {f.size} cards does not come out even"
    if r.deal_method is DealMethod.DEAL_HALF and not f.tricks:
        yield "deal_method", f"thirteen cards for each of {f.players} players leave none of {f.size} out of play"
    for place, card in enumerate(r.high_trumps):
        if card not in f.present:
            yield "high_trumps", f"not in the deck: {card}", place
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
        place = r.pass_cycle.index(PassDirection.ACROSS)
        yield "pass_cycle", f"nobody sits across at a table of {f.players}", place


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
        for option, detail, *place in clashes(facts):
            value = _plain(getattr(rules, option))
            yield OptionProblem(option, value, Reason.RULESET_CONTRADICTION, detail, place=next(iter(place), None))


def _with_causes(
    found: tuple[OptionProblem, ...], preset: Ruleset, given: Mapping[str, Any]
) -> Iterator[OptionProblem]:
    """The contradictions, each with what was given that brings it about.

    That is whatever it goes away without. Where nothing alone makes it go away, options are taken back one after the
    other as long as it stays, its own last; a preset does not contradict itself, so some are left.
    """
    without = {option: _contradictions_of(preset, given, {option}) for option in given}
    for problem in found:
        told = (problem.option, problem.detail)
        causes = [option for option in given if told not in without[option]]
        if not causes:
            taken: set[str] = set()
            for option in sorted(given, key=lambda option: option == problem.option):
                if told in _contradictions_of(preset, given, {*taken, option}):
                    taken.add(option)
                else:
                    causes.append(option)
        own = [problem.option] if problem.option in given else []
        yield replace(problem, causes=(*own, *(cause for cause in causes if cause not in own)))


def _contradictions_of(preset: Ruleset, given: Mapping[str, Any], without: set[str]) -> set[tuple[str, str]]:
    """Option and sentence of every contradiction that is left without some of the options given."""
    try:
        _changed(preset, {option: value for option, value in given.items() if option not in without})
    except RulesetError as error:
        return {(problem.option, problem.detail) for problem in error.problems}
    return set()


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
    if r.decks == 1:
        yield ("duplicate_winner",), "there is one pack"
    highest = [rank + "S" for rank in reversed(RANKS) if rank + "S" in f.present]
    if r.high_trumps and r.high_trumps == tuple(highest[: len(r.high_trumps)]):
        yield ("high_trumps",), "these are the highest spades of the deck anyway"
    if f.players == 2:
        yield ("dealer_rotation",), "for two players the next on the left is the other one"
    yield from _idle_leads(f)
    yield from _idle_ends(f)
    if not f.bidding:
        yield _BIDDING_ONLY, "nobody bids at this table"
        return
    yield from _idle_bids(f)
    yield from _idle_nils(f)
    yield from _idle_scores(f)


def _idle_leads(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    r = f.rules
    if f.club_leads:
        yield ("first_leader",), "whoever holds the lowest club leads"
    alone = "a hand is one card" if f.tricks == 1 else "every card is a spade" if f.spades == f.size else None
    alone = "there is no spade in the deck" if f.spades == 0 else alone
    if alone:
        yield ("spade_lead", "forced_lead_breaks", "first_trick_spades", "must_trump"), alone
        if not f.club_leads:
            yield ("first_lead",), alone
    if r.spade_lead is not SpadeLead.WHEN_BROKEN:
        yield ("forced_lead_breaks",), "leading a spade does not wait for the break"
    if r.spade_lead is not SpadeLead.ANYTIME and r.first_lead is FirstLead.ANY:
        yield ("first_lead",), "`spade_lead` lets no spade lead the first trick, and every other card may"


def _idle_ends(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    r = f.rules
    if (r.max_hands or 0) > DEAL_CAP:
        yield ("max_hands",), f"every game ends after {DEAL_CAP} deals"
    deals = min(r.max_hands or DEAL_CAP, DEAL_CAP) if r.tie_rule is TieRule.SHARED else DEAL_CAP
    if (r.set_limit or 0) > deals:
        yield ("set_limit",), f"every game ends after {deals} deals"
    if not f.costs:
        yield ("losing_score",), "no deal takes points from anybody"


def _idle_mirror(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    """Where bids are made by the cards."""
    yield ("bid_order", "redeal"), "mirrored bids are made by the cards, with no turn to bid"
    yield ("min_bid", "max_bid", "max_team_bid"), "mirrored bids are made by the cards, whatever they come to"
    yield ("blind_nil", "blind_bid_min"), "mirrored bids are made by the cards"


def _idle_bids(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    r = f.rules
    if f.mirror:
        yield from _idle_mirror(f)
    free = f.size - sum(n for card, n in f.deck.items() if card in f.spade_cards or _barred(r.redeal, card))
    if free < f.tricks:
        yield ("redeal",), "no hand can be one that may ask for a redeal"
    yield from _idle_sums(f)
    if f.draw:
        yield ("blind_nil", "blind_bid_min"), "hands are built by looking, so nothing is bid blind"
    if f.whiz:
        yield ("blind_bid_min",), "the bid is the number of spades held, so no number is bid blind"
    if not f.blind_numbers:
        yield ("blind_bid_multiplier",), "no number is bid blind"
    blind_nil = ("blind_nil_deficit", "blind_nil_success", "blind_nil_fail", "blind_nil_exchange")
    if not f.blind_nil:
        yield blind_nil, "nobody can bid a blind nil"
    elif r.blind_nil is BlindNil.ANY:
        yield ("blind_nil_deficit",), "a blind nil is open to every side"
    elif r.blind_nil_deficit > 0 and f.always_level:
        yield ("blind_nil", *blind_nil), "nobody is behind in the only deal of a game"


def _idle_sums(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    """Limits that no bids reach."""
    r = f.rules
    side = f.totals_of(f.side_size)
    if not f.together:
        yield ("min_team_bid", "max_team_bid"), "no bids are added up"
    elif r.max_team_bid is not None and max(side) <= r.max_team_bid:
        yield ("max_team_bid",), "no side can bid more"
    # Two nils may be forbidden for being less than the minimum too: then it is `both_nil` that does not matter.
    least = min(side) if f.suicide else f.side_size * f.lowest
    if f.together and f.choosing and least >= r.min_team_bid:
        yield ("min_team_bid",), "no side can bid less"
    hinted = r.bid_mode is BidMode.PARTNERSHIP  # a hint goes up to the highest bid
    if f.whiz and not hinted and f.max_bid >= f.most_spades:
        yield ("max_bid",), "the bid is the number of spades held, and no hand can hold more"
    # With one number on a side the two limits are one, and only the higher of them does not matter.
    if f.together and not hinted and r.max_team_bid is not None and f.max_bid >= r.max_team_bid + f.suicide:
        yield ("max_bid",), f"a side bids {r.max_team_bid} at most, and so does each of its seats"
    limited = f.blind_numbers or (f.together and (r.min_team_bid > 0 or r.max_team_bid is not None))
    sides = f.players // f.side_size
    if f.totals and not limited and not sides * min(side) <= f.tricks <= sides * max(side):
        yield ("total_bid_rule",), "the bids of the table cannot come to the number of tricks"


def _barred(redeal: Redeal, card: str) -> bool:
    """Whether a card that is no spade bars a hand from asking for a redeal."""
    return redeal is Redeal.NO_SPADES_NO_FACES and card[0] in "JQK"


def _idle_nils(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    r = f.rules
    if not f.nil:
        yield ("nil_exchange", "failed_nil_tricks", "both_nil"), "nil is not offered"
    no_nil, no_two_nils = f.no_nil_comes, f.no_two_nils_come
    if no_nil:
        yield ("zero_bid", "nil_success", "nil_fail", "nil_exchange", "failed_nil_tricks"), no_nil
    if no_two_nils:
        yield ("both_nil",), no_two_nils
    if not (f.nil and f.together and r.both_nil is BothNil.JOINT) or no_two_nils:
        yield ("both_nil_success", "both_nil_fail"), "no two nils are scored jointly"
    exchanging = (f.nil and not no_nil and r.nil_exchange > 0) or (f.blind_nil and r.blind_nil_exchange > 0)
    if not exchanging:
        yield ("exchange_order",), "no cards are exchanged"


def _idle_scores(f: _Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    r = f.rules
    if r.moon is Moon.OFF:
        yield ("moon_success", "moon_fail"), "a bid of every trick is not special"
    elif f.tricks not in f.contracts:
        yield ("moon", "moon_success", "moon_fail"), "no contract can be every trick"
    if r.ten_for_200 is TenFor200.OFF:
        yield ("ten_success", "ten_fail"), "a contract of ten is not special"
    elif 10 not in f.contracts:
        yield ("ten_for_200", "ten_success", "ten_fail"), "no contract can be ten"
    if r.bag_limit == 0:
        yield ("bag_penalty", "bag_carry"), "there is no limit of bags"
    elif r.bag_limit == 1:
        yield ("bag_carry",), "every bag brings the penalty, so none is left over"


def _alike(f: _Facts) -> Iterator[tuple[str, frozenset[Any], str]]:
    """Options of which some values are one and the same beside the others; these, and why."""
    r = f.rules
    if f.players == 2:
        two = "of two players the one on the dealer's left is the one who does not deal"
        yield "bid_order", frozenset((BidOrder.LEFT_OF_DEALER, BidOrder.NON_DEALER, BidOrder.NON_DEALING_SIDE)), two
        yield "first_leader", frozenset((FirstLeader.LEFT_OF_DEALER, FirstLeader.NON_DEALER)), two
    if r.first_lead is not FirstLead.ANY:
        detail = "`first_lead` lets no spade lead the first trick, and from the second on every card may"
        yield "spade_lead", frozenset((SpadeLead.AFTER_FIRST_TRICK, SpadeLead.ANYTIME)), detail
    if not f.partners:
        detail = "nobody has a partner, so each seat is held to its own bid"
        yield "bid_mode", frozenset((BidMode.INDIVIDUAL, BidMode.INDIVIDUAL_SUM)), detail
    elif f.mirror:
        detail = "mirrored bids are made by the cards, so partners have nothing to settle"
        yield "bid_mode", frozenset((BidMode.INDIVIDUAL_SUM, BidMode.PARTNERSHIP)), detail
    yield "min_bid", frozenset((0, 1)), "numbers are bid from one up, and `zero_bid` says what a bid of no trick is"
    if f.nil and (f.mirror or f.whiz):
        yield (
            "zero_bid",
            frozenset((ZeroBid.NIL, ZeroBid.BOTH)),
            "with no spade the bid is nil, and with some it is no zero",
        )
    if f.contract_of == 1:
        detail = "no contract is a partner's too, so the tricks of a failed nil help nobody and are bags"
        yield "failed_nil_tricks", frozenset((FailedNilTricks.BAGS, FailedNilTricks.HELP_PARTNER)), detail
    if r.bag_points == 0:
        detail = "no bag has points"
        yield "failed_nil_tricks", frozenset((FailedNilTricks.BAGS, FailedNilTricks.BAGS_NO_POINTS)), detail


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
        "first_lead": FirstLead.NO_SPADE,
        "bid_mode": BidMode.INDIVIDUAL,
        "high_trumps": (),
    }
)
"""Values that ask for nothing, so that nothing is lost when they have no effect. Null is one for every option."""

_BLIND: Final = ("blind_nil", "blind_bid_min")
"""Named in a draw deal even where the preset, not the table, switched them on: the seats would wait for the offer."""

LONG_GAME_DEALS: Final = 24
"""How many deals of every trick bid and taken make a game long: two dozen, which is an evening and more."""


@dataclass(frozen=True, slots=True)
class RulesetWarning:
    """Something that a table may not expect of its ruleset, though it can be played."""

    option: str
    value: Any
    reason: WarningReason
    detail: str


def without_effect(ruleset: Ruleset) -> dict[str, str]:
    """The options that cannot matter beside the others, whoever set them, each with the reason in a sentence.

    Where one is named, games are the same with each of its values for which it is named, and with the one that asks
    for nothing.

    >>> without_effect(Ruleset.resolve({"preset": "pagat", "blind_nil": "any"}))["blind_nil_deficit"]
    'a blind nil is open to every side'
    """
    found: dict[str, str] = {}
    for options, detail in _idle(_Facts(ruleset)):
        for option in options:
            found.setdefault(option, detail)
    return {name: found[name] for name in OPTIONS if name in found}


def interchangeable(ruleset: Ruleset) -> dict[str, frozenset[Any]]:
    """The options of which some values, the ruleset's among them, are one and the same beside the others; these values.

    >>> sorted(interchangeable(Ruleset.resolve({"preset": "sandbag_deduction"}))["min_bid"])
    [0, 1]
    """
    found: dict[str, frozenset[Any]] = {}
    for option, values, _ in _alike(_Facts(ruleset)):
        if getattr(ruleset, option) in values:
            found[option] = found.get(option, frozenset()) | values
    return found


def _in_vain(ruleset: Ruleset) -> Iterator[tuple[str, str]]:
    """The options that the table set in vain, each with the reason."""
    preset, idle = PRESETS[ruleset.preset].ruleset, without_effect(ruleset)
    changed = {option: getattr(ruleset, option) for option in ruleset.overrides()}
    alike = {
        option: detail
        for option, values, detail in _alike(_Facts(ruleset))
        if {getattr(ruleset, option), getattr(preset, option)} <= values
    }
    drawn = _BLIND if ruleset.deal_method is DealMethod.DRAW else ()
    for option in OPTIONS:
        if (option not in changed and option not in drawn) or _rests(ruleset, option):
            continue
        if option in alike and option not in idle:
            yield option, alike[option]
        elif option in idle and (option in drawn or not _matters(preset, changed, option)):
            yield option, idle[option]


def _rests(ruleset: Ruleset, option: str) -> bool:
    """Whether an option asks for nothing."""
    value = getattr(ruleset, option)
    return value is None or value == _AT_REST.get(option)


def _matters(preset: Ruleset, changed: Mapping[str, Any], option: str) -> bool:
    """Whether the preset's own value of an option would matter, so that a table which changes it undoes something."""
    try:
        ruleset = _changed(preset, {name: value for name, value in changed.items() if name != option})
    except RulesetError:
        return False
    return not _rests(ruleset, option) and option not in without_effect(ruleset)


@lru_cache(maxsize=4096)
def warnings(ruleset: Ruleset) -> tuple[RulesetWarning, ...]:
    """What is worth saying about a ruleset: options the table set in vain, and a target that is far away.

    >>> [(warning.option, warning.reason.value) for warning in warnings(Ruleset.resolve({"preset": "books"}))]
    [('target_score', 'long_game')]
    """
    ordered = [
        RulesetWarning(option, _plain(getattr(ruleset, option)), WarningReason.NO_EFFECT, detail)
        for option, detail in _in_vain(ruleset)
    ]
    bidding = ruleset.bid_mode is not BidMode.NONE
    every_trick = ruleset.hand_size * (ruleset.points_per_bid or 1 if bidding else 1)
    deals = -(-ruleset.target_score // every_trick)
    if min(deals, ruleset.max_hands or deals) >= LONG_GAME_DEALS:
        detail = f"a side that scored every trick would need {deals} deals to reach {ruleset.target_score}"
        ordered.append(RulesetWarning("target_score", ruleset.target_score, WarningReason.LONG_GAME, detail))
    return tuple(ordered)


# --- Presets --------------------------------------------------------------------------------------------------------


_DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "two_player": "Two build their hands by drawing, the discards face up; a failed nil costs nothing, thirteen "
        "bid and taken is 250, and a missed thirteen leaves its tricks as bags.",
        "hoyle_partners": "The partners settle one contract, the side that does not deal first; nil is worth 50, the "
        "tricks of a failed one count for nothing, and bags bring no penalty.",
        "hoyle_individuals": "Four play alone, each held to its own bid; nil is worth 50, the tricks of a failed one "
        "count for nothing, and bags bring no penalty.",
        "books": "Nobody bids: every trick is a point for the side that takes it.",
        "standard": "The partners' bids add up, nil is worth 100, a side 100 behind may bid nil blind for 200, and ten "
        "bags cost 100.",
        "two_player_closed": "Two build their hands by drawing, the discards face down; scored as in `standard`, a "
        "failed nil included.",
        "sandbag_deduction": "The partners settle one contract, nobody bids nil, and a bag costs ten points, ten of "
        "them a hundred more; spades may be led from the second trick on.",
        "bicycle": "Four play alone, bid at least one, and lose nothing by missing a bid; there is no nil.",
        "pagat": "As `standard`, with two cards exchanged between a blind nil bidder and the partner.",
        "suicide": "On each side one partner bids nil and the other a number; at or below -200 the game is lost.",
        "mirror": "Everybody bids the number of spades held, and nil with none; at or below -200 the game is lost.",
        "whiz": "Everybody bids the number of spades held, or nil; at or below -200 the game is lost.",
        "cutthroat": "Three play alone with 17 cards each, the two of clubs left out.",
        "solo": "Four play alone, each with its own bid, scored as in `standard`.",
        "six_solo": "Six play alone with eight cards each, all the twos left out; any card may be led at any time.",
        "six_pairs": "Three pairs play with two packs and 17 cards each; of two identical cards the first wins.",
        "bicycle_jokers": "Four play alone by the Bicycle rules, both jokers above the ace and two low cards out.",
        "joker_joker_deuce_deuce": "Both jokers, the two of diamonds and the two of spades rank above the ace; scored "
        "as in `standard`.",
        "joker_joker_deuce_deuce_tournament": "The same deck at tournament scores: no nil, a side bids four or more, "
        "bags bring no points, a moon wins the game, and three sets lose it.",
        "openspiel": "What the program plays: a side bids thirteen at most, the tricks of a failed nil help the "
        "partner, and at or below -350 the game is lost.",
    }
)


def _load_presets() -> Mapping[str, Preset]:
    """Make a preset of each in presets.json, which gives every option and `hand_size` as well."""
    presets = {}
    for name, stored in STORED_PRESETS.items():
        read = {option.name: option.read(stored["options"][option.name]) for option in OPTIONS.values()}
        ruleset = _interned(name, tuple(read[option.name] for option in _INPUTS))
        options = {option: PresetValue(stored["options"][option], stored["locators"][option]) for option in OPTIONS}
        presets[name] = Preset(name, stored["title"], _DESCRIPTIONS[name], ruleset, MappingProxyType(options))
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
        **{option.name: option.schema() for option in OPTIONS.values()},
        "hash": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "SHA-256 over the options that differ from the neutral default: same rules, same hash.",
        },
    }
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(properties)}
