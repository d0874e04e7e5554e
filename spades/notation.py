"""Records of whole games, as JSON and as text. `spades.replay` plays one again.

A `Record` is the ruleset, the names, and for every deal how the cards lay and what was done, in order. The two forms
hold exactly the same, and reading is the inverse of writing. Nothing here asks the rules whether a record could have
happened: one that could not is read and written like any other, so that its breach can be named.

Source: docs/records.md
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from spades.bids import Bid
from spades.cards import Card
from spades.deal import Deal
from spades.errors import NotationError
from spades.legality import DrawDecision
from spades.ruleset import OPTIONS, Ruleset
from spades.terms import terms

__all__ = [
    "FORMAT",
    "Action",
    "ActionKind",
    "CalledOff",
    "Record",
    "RecordError",
    "RecordedDeal",
    "RecordedResult",
    "RecordedScore",
]

FORMAT = 1
"""The format of the records that are written. Every format that was ever written is read."""

NAME_MOST = 200
"""The longest name, tag or client seed that a record may hold, in characters."""
_NUMBER_MOST = 10**9
_TRICKS_MOST = 54
"""What no table has more tricks than; a bid of more is no bid."""

T = TypeVar("T")


class RecordError(NotationError):
    """A record that cannot be read.

    `where` is the place: a JSON Pointer, empty for the whole, or ``line 12`` of a text. `reason` is a word for
    programs, `detail` a sentence.
    """

    def __init__(self, where: str, reason: str, detail: str) -> None:
        super().__init__(where, reason, detail)
        self.where, self.reason, self.detail = where, reason, detail

    def __str__(self) -> str:
        return f"{self.where}: {self.detail}" if self.where else self.detail


class ActionKind(StrEnum):
    """What a seat can do in a deal."""

    DRAW = "draw"
    PASS = "pass"  # noqa: S105 -- passing cards, no password
    LOOK = "look"
    BID = "bid"
    PLAY = "play"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a seat did. Whose card was drawn or played follows from the turn, so those name no seat."""

    kind: ActionKind
    seat: str | None = None
    decision: DrawDecision | None = None
    cards: tuple[Card, ...] = ()
    """The cards passed, or the one played."""
    bid: Bid | None = None
    """Of the kind `bid`: the bid or proposal; None where the partners' proposals were sent back."""
    hint_max: int | None = None
    """With a proposal: the most that the seat would go to."""

    @classmethod
    def draw(cls, decision: DrawDecision) -> Action:
        """Keep or decline the card looked at."""
        return cls(ActionKind.DRAW, decision=decision)

    @classmethod
    def look(cls, seat: str) -> Action:
        """Look at the hand and give up bidding blind."""
        return cls(ActionKind.LOOK, seat)

    @classmethod
    def pass_cards(cls, seat: str, cards: Iterable[Card]) -> Action:
        """Give cards away, before the bidding or in an exchange after it."""
        return cls(ActionKind.PASS, seat, cards=tuple(card.first for card in cards))

    @classmethod
    def place_bid(cls, seat: str, bid: Bid | None, hint_max: int | None = None) -> Action:
        """Bid or propose; without a bid, send the partners' proposals back."""
        return cls(ActionKind.BID, seat, bid=bid, hint_max=hint_max)

    @classmethod
    def play(cls, card: Card) -> Action:
        """Play a card."""
        return cls(ActionKind.PLAY, cards=(card.first,))


@dataclass(frozen=True, slots=True)
class CalledOff:
    """An attempt at a deal that `seat` called off. Its cards stay unknown; its commitment may be told."""

    seat: str
    commitment: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedScore:
    """What a deal did to one side, as the record states it: the points, and the score and bags after them."""

    delta: int
    score: int
    bags: int


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """How the game ended, as the record states it."""

    winners: tuple[str, ...]
    reason: str
    scores: Mapping[str, int]
    """Points by side."""
    seat: str | None = None
    """Who resigned or forfeited."""

    def to_json(self) -> dict[str, Any]:
        """The form of the record and of the API."""
        value = {"winners": list(self.winners), "reason": self.reason, "scores": dict(self.scores)}
        return value if self.seat is None else {**value, "seat": self.seat}


@dataclass(frozen=True, slots=True)
class RecordedDeal:
    """One deal: how the cards lay, what was done, and what came of it.

    Raises:
        NotationError: neither or both of stock and hands, or draws and plays in the middle of other actions.
    """

    number: int
    dealer: str
    stock: tuple[Card, ...] | None = None
    """The whole pack, top first, as it was drawn or dealt."""
    hands: Mapping[str, tuple[Card, ...]] | None = None
    """Instead of the stock, the hands as they were dealt, by seat."""
    actions: tuple[Action, ...] = ()
    """Everything that was done, in order. Draws come first and plays last."""
    score: Mapping[str, RecordedScore] | None = None
    """By side; None for a deal that was not finished."""
    redeals: tuple[CalledOff, ...] = ()
    """The earlier attempts at this deal, each called off by a seat."""
    commitment: str | None = None
    """SHA-256 of the seed in hex, as it was published before the deal."""
    seed: str | None = None
    """The secret seed, 32 bytes in hex."""
    client_seeds: tuple[tuple[str, str], ...] = ()
    """Pairs of seat and text, in the order of the seats."""
    scripted: bool = False
    """Whether somebody set how the cards lie, so that no shuffle gives them and any seat may deal."""

    def __post_init__(self) -> None:
        if (self.stock is None) == (self.hands is None):
            raise NotationError("a deal has either a stock or hands")
        ranks = [_RANK[action.kind] for action in self.actions]
        if ranks != sorted(ranks):
            raise NotationError("draws come first in a deal, and plays last")

    @property
    def attempt(self) -> int:
        """1, and one more for each time the deal was called off."""
        return len(self.redeals) + 1


_RANK = {ActionKind.DRAW: 0, ActionKind.PASS: 1, ActionKind.LOOK: 1, ActionKind.BID: 1, ActionKind.PLAY: 2}


@dataclass(frozen=True, slots=True)
class Record:
    """A game, finished or not, from its first deal on.

    >>> from spades import Action, Bid, Card, Deal, Record, Ruleset, Seed
    >>> rules = Ruleset.resolve({"preset": "pagat"})
    >>> deal = Deal.begin(rules, number=1, attempt=1, dealer="N", seed=Seed(bytes(32)))
    >>> record = Record.of(rules, {"N": "Ann", "S": "Sue"}).begin(deal)
    >>> record = record.add(Action.place_bid("E", Bid.number(3)))
    >>> Record.read(record.to_text()) == record == Record.from_json(record.to_json())
    True
    """

    ruleset: Ruleset
    names: Mapping[str, str | None]
    """Who sat where, by seat."""
    deals: tuple[RecordedDeal, ...] = ()
    result: RecordedResult | None = None
    """How the game ended; None while it runs, and where nobody noted it."""
    seating: Mapping[str, str] | None = None
    """Where seats were drawn: by the seat that somebody took, the one that they got."""
    cut: tuple[tuple[tuple[str, Card], ...], ...] = ()
    """The rounds of the cut for the first deal, each the seats that drew and their cards."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """What else is worth noting, such as an event or a date; names begin with a capital letter."""

    # Making one.

    @classmethod
    def of(cls, ruleset: Ruleset, names: Mapping[str, str | None] | None = None, **tags: str) -> Record:
        """The record of a game in which nothing has happened."""
        given = names or {}
        return cls(ruleset, {seat: given.get(seat) for seat in terms(ruleset).table.seats}, tags=tags)

    def begin(self, deal: Deal, *, redeals: Iterable[CalledOff] = (), secrets: bool = False) -> Record:
        """With one more deal, as it lay before anything was done in it.

        Args:
            secrets: whether to note the seed, its commitment and the client seeds.
        """
        begun = RecordedDeal(deal.number, deal.dealer, tuple(card.first for card in deal.stock), redeals=tuple(redeals))
        if secrets:
            seed = deal.seed
            begun = replace(begun, commitment=seed.commitment, seed=seed.server.hex(), client_seeds=tuple(seed.clients))
        return replace(self, deals=(*self.deals, begun))

    def add(self, action: Action) -> Record:
        """With one more action in the last deal."""
        return self._with_last(actions=(*self.deals[-1].actions, action))

    def scored(self, score: Mapping[str, RecordedScore]) -> Record:
        """With the score of the last deal."""
        return self._with_last(score=score)

    def ended(self, result: RecordedResult) -> Record:
        """With how the game ended."""
        return replace(self, result=result)

    def _with_last(self, **values: Any) -> Record:
        return replace(self, deals=(*self.deals[:-1], replace(self.deals[-1], **values)))

    # Both forms.

    @classmethod
    def read(cls, text: str) -> Record:
        """Read either form: what begins with a brace is JSON. A byte order mark before it is no part of it.

        Raises:
            RecordError: it is no record, with the place of what is wrong.
            RulesetError: its ruleset cannot be.
        """
        text = text.removeprefix("\ufeff")
        if not text.lstrip().startswith("{"):
            return cls.from_text(text)
        try:
            value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        except RecursionError:
            raise RecordError("", "bad_format", "the JSON is nested too deeply") from None
        except RecordError:
            raise
        except ValueError as error:
            raise RecordError("", "bad_format", f"this is no JSON: {error}") from None
        return cls.from_json(value)

    @classmethod
    def from_json(cls, value: Any) -> Record:
        """Read the JSON form, as `json.loads` gives it.

        Raises:
            RecordError: it is no record; `where` is a JSON Pointer.
            RulesetError: its ruleset cannot be.
        """
        return _record_from_json(value)

    def to_json(self, *, full: bool = False) -> dict[str, Any]:
        """The JSON form, inverse of `from_json`.

        Args:
            full: whether to write every option of the ruleset, and not only what differs from the preset.
        """
        return _record_to_json(self, full)

    @classmethod
    def from_text(cls, text: str) -> Record:
        """Read the text form.

        Raises:
            RecordError: it is no record; `where` is a line.
            RulesetError: its ruleset cannot be.
        """
        return _TextReader(text).record()

    def to_text(self, *, full: bool = False, compact: bool = False) -> str:
        """The text form, inverse of `from_text`.

        Args:
            full: as for `to_json`.
            compact: whether to write cards and draws without spaces between them, and no trick's number.
        """
        return "\n".join(_text_lines(self, full, compact)) + "\n"

    @property
    def hash(self) -> str:
        """SHA-256 of the text form, in hexadecimal digits: the same whichever form the record was read from."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()


# --- What both forms are read with ----------------------------------------------------------------------------------


def _fail(where: str, reason: str, detail: str) -> NoReturn:
    raise RecordError(where, reason, detail)


_KINDS = {
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def _typed(value: Any, kind: type[T], where: str) -> T:
    if type(value) is not kind:
        _fail(where, "wrong_type", f"expected {_KINDS[kind]}, got {_KINDS.get(type(value), 'something else')}")
    return value


def _object(value: Any, where: str, required: Iterable[str] = (), optional: Iterable[str] = ()) -> dict[str, Any]:
    given = _typed(value, dict, where)
    for name in required:
        if name not in given:
            _fail(f"{where}/{_escaped(name)}", "missing_field", f"{name} is missing")
    for name in given:
        if name not in required and name not in optional:
            _fail(f"{where}/{_escaped(str(name))}", "unknown_field", f"there is no field {name!r:.60} here")
    return given


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _whole(value: Any, where: str, low: int = -_NUMBER_MOST, high: int = _NUMBER_MOST) -> int:
    number = _typed(value, int, where)
    if not low <= number <= high:
        _fail(where, "out_of_range", f"expected a number from {low} to {high}")
    return number


def _string(value: Any, where: str) -> str:
    """A text of one line that UTF-8 can hold and that is no longer than a name."""
    text = _typed(value, str, where)
    if len(text) > NAME_MOST:
        _fail(where, "wrong_length", f"expected at most {NAME_MOST} characters, got {len(text)}")
    for character in text:
        code = ord(character)
        if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in (0x2028, 0x2029):
            _fail(where, "forbidden_character", f"the character U+{code:04X} is not allowed")
    return text


def _seat(value: Any, seats: Sequence[str], where: str) -> str:
    seat = _typed(value, str, where)
    if seat not in seats:
        _fail(where, "not_allowed_value", f"the seats here are {', '.join(seats)}, got {seat!r:.20}")
    return seat


def _hex(value: Any, where: str) -> str:
    text = _typed(value, str, where)
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        _fail(where, "bad_format", "expected 64 hexadecimal digits in lower case")
    return text


def _parsed(parse: Callable[[str], T], value: Any, where: str) -> T:
    text = _typed(value, str, where)
    if len(text) > NAME_MOST:
        _fail(where, "bad_format", "expected something much shorter")
    try:
        return parse(text)
    except NotationError as error:
        _fail(where, "bad_format", str(error))


def _decision(text: str) -> DrawDecision:
    try:
        return DrawDecision(text)
    except ValueError:
        raise NotationError(f"expected 'keep' or 'decline', got {text!r:.20}") from None


def _ruleset(flat: Mapping[str, Any], digest: str | None, where: str) -> Ruleset:
    ruleset = Ruleset.resolve(flat)
    if digest is not None and digest != ruleset.hash:
        _fail(where, "not_allowed_value", "this is not the hash of these rules: the preset may have been another one")
    return ruleset


def _tag_name(name: str, where: str) -> str:
    if not _TAG_NAME.fullmatch(name) or name in _RESERVED:
        _fail(where, "not_allowed_value", f"a tag's name is a capital letter and more letters, got {name!r:.40}")
    return name


_TAG_NAME = re.compile(r"[A-Z][A-Za-z]{1,31}")
_RESULT_TAGS = ("Result", "Winners", "Scores", "By")
_DEAL_TAGS = ("Dealer", "Redeal", "Stock", "Hand", "Commitment", "Seed", "ClientSeed", "Scripted", "Score")
_RESERVED = frozenset(("Spades", "Ruleset", "Hash", "Seating", "Cut", "Deal", *_RESULT_TAGS, *_DEAL_TAGS))


def _seating(drawn: Mapping[str, Any], seats: Sequence[str], where: str) -> dict[str, str]:
    if set(drawn) != set(seats) or set(drawn.values()) != set(seats):
        _fail(where, "not_allowed_value", f"each of {', '.join(seats)} is taken once and got once")
    return {seat: drawn[seat] for seat in seats}


def _in_seat_order(pairs: Sequence[tuple[str, str]], seats: Sequence[str], where: str) -> tuple[tuple[str, str], ...]:
    given = [seat for seat, _ in pairs]
    if given != [seat for seat in seats if seat in given]:
        _fail(where, "not_allowed_value", "each seat comes once, in the order of the seats")
    return tuple(pairs)


# --- JSON -----------------------------------------------------------------------------------------------------------


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            _fail("", "duplicate_field", f"{name!r:.60} is given twice in one object")
        found[name] = value
    return found


def _no_constant(name: str) -> NoReturn:
    _fail("", "bad_format", f"{name} is no JSON")


def _record_from_json(value: Any) -> Record:
    top = _object(
        value,
        "",
        required=("format", "ruleset", "deals"),
        optional=("ruleset_hash", "seats", "seating", "cut", "tags", "result"),
    )
    top = {name: item for name, item in top.items() if item is not None or name in ("format", "ruleset", "deals")}
    if _whole(top["format"], "/format", 0) != FORMAT:
        _fail("/format", "not_allowed_value", f"this reads format {FORMAT}")
    digest = _hex(top["ruleset_hash"], "/ruleset_hash") if "ruleset_hash" in top else None
    ruleset = _ruleset(_typed(top["ruleset"], dict, "/ruleset"), digest, "/ruleset_hash")
    seats = terms(ruleset).table.seats
    seating = None
    if "seating" in top:
        drawn = _items(top["seating"], "/seating", _json_drawn(seats))
        seating = _seating(dict(drawn), seats, "/seating")
    return Record(
        ruleset,
        _names(top.get("seats", []), seats),
        tuple(_items(top["deals"], "/deals", lambda deal, where: _deal_from_json(deal, ruleset, where))),
        _result_from_json(top["result"], ruleset) if "result" in top else None,
        seating,
        tuple(_items(top.get("cut", []), "/cut", lambda row, where: tuple(_items(row, where, _json_cut(seats))))),
        {
            _tag_name(name, f"/tags/{_escaped(name)}"): _string(text, f"/tags/{name}")
            for name, text in _typed(top.get("tags", {}), dict, "/tags").items()
        },
    )


def _items(value: Any, where: str, read: Callable[[Any, str], T]) -> list[T]:
    return [read(item, f"{where}/{place}") for place, item in enumerate(_typed(value, list, where))]


def _json_cut(seats: Sequence[str]) -> Callable[[Any, str], tuple[str, Card]]:
    def read(value: Any, where: str) -> tuple[str, Card]:
        row = _object(value, where, ("seat", "card"))
        return _seat(row["seat"], seats, f"{where}/seat"), _parsed(Card.parse, row["card"], f"{where}/card")

    return read


def _json_drawn(seats: Sequence[str]) -> Callable[[Any, str], tuple[str, str]]:
    def read(value: Any, where: str) -> tuple[str, str]:
        row = _object(value, where, ("was", "seat"))
        return _seat(row["was"], seats, f"{where}/was"), _seat(row["seat"], seats, f"{where}/seat")

    return read


def _names(value: Any, seats: Sequence[str]) -> dict[str, str | None]:
    names: dict[str, str | None] = dict.fromkeys(seats)
    given = set()
    for place, item in enumerate(_typed(value, list, "/seats")):
        where = f"/seats/{place}"
        row = _object(item, where, ("seat",), ("name",))
        seat = _seat(row["seat"], seats, f"{where}/seat")
        if seat in given:
            _fail(f"{where}/seat", "not_allowed_value", f"seat {seat} is named before")
        given.add(seat)
        names[seat] = None if row.get("name") is None else _string(row["name"], f"{where}/name")
    return names


def _result_from_json(value: Any, ruleset: Ruleset) -> RecordedResult:
    row = _object(value, "/result", ("winners", "reason", "scores"), ("seat",))
    facts = terms(ruleset).table
    winners = _items(row["winners"], "/result/winners", lambda side, where: _seat(side, facts.sides, where))
    scores = _object(row["scores"], "/result/scores", facts.sides)
    seat = None if row.get("seat") is None else _seat(row["seat"], facts.seats, "/result/seat")
    return RecordedResult(
        tuple(winners),
        _string(row["reason"], "/result/reason"),
        {side: _whole(scores[side], f"/result/scores/{side}") for side in facts.sides},
        seat,
    )


_DEAL_FIELDS = (
    "redeals",
    "stock",
    "hands",
    "draws",
    "passes",
    "looks",
    "bids",
    "plays",
    "score",
    "commitment",
    "seed",
    "client_seeds",
    "scripted",
)


def _deal_from_json(value: Any, ruleset: Ruleset, where: str) -> RecordedDeal:
    row = _object(value, where, ("number", "dealer"), _DEAL_FIELDS)
    row = {name: item for name, item in row.items() if item is not None or name in ("number", "dealer")}
    seats = terms(ruleset).table.seats
    if ("stock" in row) == ("hands" in row):
        _fail(f"{where}/stock", "missing_field", "a deal has either stock or hands")

    def cards(value: Any, where: str) -> tuple[Card, ...]:
        return tuple(_items(value, where, lambda code, at: _parsed(Card.parse, code, at)))

    def redeal(value: Any, where: str) -> CalledOff:
        one = _object(value, where, ("seat",), ("commitment",))
        told = one.get("commitment")
        return CalledOff(
            _seat(one["seat"], seats, f"{where}/seat"), None if told is None else _hex(told, f"{where}/commitment")
        )

    def client_seed(value: Any, where: str) -> tuple[str, str]:
        one = _object(value, where, ("seat", "seed"))
        return _seat(one["seat"], seats, f"{where}/seat"), _string(one["seed"], f"{where}/seed")

    hands = None
    if "hands" in row:
        given = _object(row["hands"], f"{where}/hands", seats)
        hands = {seat: cards(given[seat], f"{where}/hands/{seat}") for seat in seats}
    number = _whole(row["number"], f"{where}/number", 1)
    return RecordedDeal(
        number,
        _seat(row["dealer"], seats, f"{where}/dealer"),
        cards(row["stock"], f"{where}/stock") if "stock" in row else None,
        hands,
        _actions_from_json(row, ruleset, number, where),
        _score_from_json(row["score"], ruleset, f"{where}/score") if "score" in row else None,
        tuple(_items(row.get("redeals", []), f"{where}/redeals", redeal)),
        _hex(row["commitment"], f"{where}/commitment") if "commitment" in row else None,
        _hex(row["seed"], f"{where}/seed") if "seed" in row else None,
        _in_seat_order(
            _items(row.get("client_seeds", []), f"{where}/client_seeds", client_seed), seats, f"{where}/client_seeds"
        ),
        _typed(row.get("scripted", False), bool, f"{where}/scripted"),
    )


def _score_from_json(value: Any, ruleset: Ruleset, where: str) -> dict[str, RecordedScore]:
    sides = terms(ruleset).table.sides
    given = _object(value, where, sides)
    score = {}
    for side in sides:
        at = f"{where}/{side}"
        row = _object(given[side], at, ("delta", "score", "bags"))
        score[side] = RecordedScore(*(_whole(row[name], f"{at}/{name}") for name in ("delta", "score", "bags")))
    return score


def _passes_before_bids(ruleset: Ruleset, number: int) -> int:
    """How many passes of a deal belong before its bids; the others are of an exchange after them."""
    return ruleset.players if terms(ruleset).pass_step(number) else 0


def _actions_from_json(row: Mapping[str, Any], ruleset: Ruleset, number: int, where: str) -> tuple[Action, ...]:
    """The actions of a deal, in order.

    Looks, and bids that were made while others still passed, say their place; the others come phase by phase.
    """
    seats = terms(ruleset).table.seats
    placed: dict[int, Action] = {}
    said: list[tuple[int, str, Action]] = []

    def passed(value: Any, where: str) -> Action:
        one = _object(value, where, ("seat", "cards"))
        cards = _items(one["cards"], f"{where}/cards", lambda code, at: _parsed(Card.parse, code, at))
        return Action.pass_cards(_seat(one["seat"], seats, f"{where}/seat"), cards)

    def looked(value: Any, where: str) -> None:
        one = _object(value, where, ("seat", "action"))
        said.append(
            (
                _whole(one["action"], f"{where}/action", 1),
                f"{where}/action",
                Action.look(_seat(one["seat"], seats, f"{where}/seat")),
            )
        )

    def bid(value: Any, where: str) -> Action | None:
        one = _object(value, where, ("seat", "bid"), ("hint_max", "action"))
        hint = None if one.get("hint_max") is None else _whole(one["hint_max"], f"{where}/hint_max", 0)
        made = Action.place_bid(
            _seat(one["seat"], seats, f"{where}/seat"), _bid_from_json(one["bid"], f"{where}/bid"), hint
        )
        if one.get("action") is None:
            return made
        said.append((_whole(one["action"], f"{where}/action", 1), f"{where}/action", made))
        return None

    draws = [
        Action.draw(decision)
        for decision in _items(row.get("draws", []), f"{where}/draws", lambda word, at: _parsed(_decision, word, at))
    ]
    passes = _items(row.get("passes", []), f"{where}/passes", passed)
    _items(row.get("looks", []), f"{where}/looks", looked)
    bids = [made for made in _items(row.get("bids", []), f"{where}/bids", bid) if made is not None]
    plays = [
        Action.play(card)
        for card in _items(row.get("plays", []), f"{where}/plays", lambda code, at: _parsed(Card.parse, code, at))
    ]
    early = _passes_before_bids(ruleset, number)
    rest = iter([*draws, *passes[:early], *bids, *passes[early:], *plays])
    total = len(draws) + len(passes) + len(bids) + len(said) + len(plays)
    for place, at, action in said:
        if not len(draws) < place <= total - len(plays):
            _fail(at, "out_of_range", f"expected a number from {len(draws) + 1} to {total - len(plays)}")
        if place in placed:
            _fail(at, "not_allowed_value", f"another action is number {place}")
        placed[place] = action
    return tuple(placed.get(place) or next(rest) for place in range(1, total + 1))


def _bid_from_json(value: Any, where: str) -> Bid | None:
    if value == {"kind": "reconsider"}:
        return None
    try:
        bid = Bid.from_json(value)
    except NotationError:
        _fail(where, "bad_format", "expected a bid such as {'kind': 'number', 'tricks': 4}")
    _whole(bid.tricks, f"{where}/tricks", 0, _TRICKS_MOST)
    return bid


def _record_to_json(record: Record, full: bool) -> dict[str, Any]:
    rules = record.ruleset
    value: dict[str, Any] = {
        "format": FORMAT,
        "ruleset": {"preset": rules.preset, **_options(rules, full)},
        "ruleset_hash": rules.hash,
        "seats": [{"seat": seat, "name": name} for seat, name in record.names.items()],
    }
    if record.seating is not None:
        value["seating"] = [{"was": was, "seat": seat} for was, seat in record.seating.items()]
    if record.cut:
        value["cut"] = [[{"seat": seat, "card": card.code} for seat, card in drawn] for drawn in record.cut]
    if record.tags:
        value["tags"] = dict(record.tags)
    value["deals"] = [_deal_to_json(deal, rules) for deal in record.deals]
    value["result"] = None if record.result is None else record.result.to_json()
    return value


def _options(rules: Ruleset, full: bool) -> dict[str, Any]:
    if not full:
        return rules.overrides()
    return {name: value for name, value in rules.options().items() if name != "hand_size"}


def _deal_to_json(deal: RecordedDeal, rules: Ruleset) -> dict[str, Any]:
    value: dict[str, Any] = {"number": deal.number, "dealer": deal.dealer}
    if deal.redeals:
        value["redeals"] = [
            {"seat": one.seat, **({} if one.commitment is None else {"commitment": one.commitment})}
            for one in deal.redeals
        ]
    if deal.stock is not None:
        value["stock"] = [card.code for card in deal.stock]
    if deal.hands is not None:
        value["hands"] = {seat: [card.code for card in cards] for seat, cards in deal.hands.items()}
    value |= _actions_to_json(deal, rules)
    value["score"] = deal.score and {
        side: {"delta": one.delta, "score": one.score, "bags": one.bags} for side, one in deal.score.items()
    }
    if deal.commitment is not None:
        value["commitment"] = deal.commitment
    if deal.seed is not None:
        value["seed"] = deal.seed
    if deal.client_seeds:
        value["client_seeds"] = [{"seat": seat, "seed": text} for seat, text in deal.client_seeds]
    if deal.scripted:
        value["scripted"] = True
    return value


def _actions_to_json(deal: RecordedDeal, rules: Ruleset) -> dict[str, Any]:
    value: dict[str, Any] = {"draws": [], "passes": [], "looks": [], "bids": [], "plays": []}
    early = _passes_before_bids(rules, deal.number)
    to_come = min(early, sum(action.kind is ActionKind.PASS for action in deal.actions))
    for place, action in enumerate(deal.actions, start=1):
        match action.kind:
            case ActionKind.DRAW:
                value["draws"].append(str(action.decision))
            case ActionKind.PLAY:
                value["plays"].append(action.cards[0].code)
            case ActionKind.PASS:
                value["passes"].append({"seat": action.seat, "cards": [card.code for card in action.cards]})
            case ActionKind.LOOK:
                value["looks"].append({"seat": action.seat, "action": place})
            case ActionKind.BID:
                made = {"kind": "reconsider"} if action.bid is None else action.bid.to_json()
                row: dict[str, Any] = {"seat": action.seat, "bid": made}
                if action.hint_max is not None:
                    row["hint_max"] = action.hint_max
                if len(value["passes"]) != to_come:  # not where the phases would have it
                    row["action"] = place
                value["bids"].append(row)
    if not value["looks"]:
        del value["looks"]
    return value


# --- Text -----------------------------------------------------------------------------------------------------------


def _text_lines(record: Record, full: bool, compact: bool) -> Iterator[str]:
    rules = record.ruleset
    yield _tag("Spades", FORMAT)
    yield _tag("Ruleset", rules.preset)
    for name, value in _options(rules, full).items():
        yield _tag(name, value)
    yield _tag("Hash", rules.hash)
    for seat, called in record.names.items():
        if called is not None:
            yield _tag(seat, called)
    for name, text in record.tags.items():
        yield _tag(name, text)
    if record.seating is not None:
        yield _tag("Seating", " ".join(f"{was}:{seat}" for was, seat in record.seating.items()))
    if record.cut:
        rounds = [" ".join(f"{seat}:{card.code}" for seat, card in drawn) for drawn in record.cut]
        yield _tag("Cut", " / ".join(rounds))
    for deal in record.deals:
        if not compact:
            yield ""
        yield from _deal_lines(deal, rules, "" if compact else " ")
    if record.result is not None:
        result = record.result
        yield ""
        yield _tag("Result", result.reason)
        yield _tag("Winners", " ".join(result.winners))
        yield _tag("Scores", " ".join(f"{side}:{points}" for side, points in result.scores.items()))
        if result.seat is not None:
            yield _tag("By", result.seat)


def _tag(name: str, value: Any) -> str:
    return f"[{name} {json.dumps(value, ensure_ascii=False)}]"


def _deal_lines(deal: RecordedDeal, rules: Ruleset, space: str) -> Iterator[str]:
    yield _tag("Deal", deal.number)
    yield _tag("Dealer", deal.dealer)
    for called in deal.redeals:
        yield _tag("Redeal", called.seat if called.commitment is None else f"{called.seat} {called.commitment}")
    if deal.commitment is not None:
        yield _tag("Commitment", deal.commitment)
    if deal.seed is not None:
        yield _tag("Seed", deal.seed)
    for seat, text in deal.client_seeds:
        yield _tag(f"ClientSeed.{seat}", text)
    if deal.scripted:
        yield _tag("Scripted", True)
    if deal.stock is not None:
        yield _tag("Stock", space.join(card.code for card in deal.stock))
    for seat, cards in (deal.hands or {}).items():
        yield _tag(f"Hand.{seat}", space.join(card.code for card in cards))
    yield from _move_lines(deal.actions, rules.players, space)
    if deal.score is not None:
        rows = [f"{side}:{one.delta:+d}={one.score}({one.bags})" for side, one in deal.score.items()]
        yield _tag("Score", " ".join(rows))


_DRAWS_A_LINE = 10


def _move_lines(actions: Sequence[Action], players: int, space: str) -> Iterator[str]:
    """A line for some draws, each run of passes, looks and bids, each trick; compact, one for all of a kind."""
    words = [(action.kind, _word(action)) for action in actions]
    draws = [word for kind, word in words if kind is ActionKind.DRAW]
    if draws and not space and set(draws) <= _LETTERS.keys():
        yield "".join(_LETTERS[word] for word in draws)
    else:
        for start in range(0, len(draws), _DRAWS_A_LINE):
            yield " ".join(draws[start : start + _DRAWS_A_LINE])
    line: list[str] = []
    last = None
    for kind, word in words:
        if kind in (ActionKind.DRAW, ActionKind.PLAY):
            continue
        if line and (kind is ActionKind.PASS) != (last is ActionKind.PASS):
            yield " ".join(line)
            line = []
        line.append(word)
        last = kind
    if line:
        yield " ".join(line)
    plays = [word for kind, word in words if kind is ActionKind.PLAY]
    if plays and not space:
        yield "".join(plays)
    else:
        for start in range(0, len(plays), players):
            yield f"{start // players + 1}. {' '.join(plays[start : start + players])}"


_LETTERS = {DrawDecision.KEEP.value: "k", DrawDecision.DECLINE.value: "d"}


def _word(action: Action) -> str:
    match action.kind:
        case ActionKind.DRAW:
            return str(action.decision)
        case ActionKind.PLAY:
            return action.cards[0].code
        case ActionKind.PASS:
            return f"{action.seat}>{'.'.join(card.code for card in action.cards)}"
        case ActionKind.LOOK:
            return f"{action.seat}:look"
        case _:
            bid = "reconsider" if action.bid is None else str(action.bid)
            return f"{action.seat}:{bid}" if action.hint_max is None else f"{action.seat}:{bid}^{action.hint_max}"


_TAG_LINE = re.compile(r"\[([A-Za-z][A-Za-z0-9_]*)(?:\.([A-Z]))? (.*)\]")
_NUMBER = re.compile(r"(0|[1-9][0-9]{0,5})\.")
_SCORE = re.compile(r"([A-Z]+):([+-][0-9]{1,10})=(-?[0-9]{1,10})\((-?[0-9]{1,10})\)")


@dataclass(slots=True)
class _Section:
    """The tags and words of one deal, or of the head."""

    where: str
    tags: dict[str, tuple[Any, str]] = field(default_factory=dict)
    redeals: list[tuple[Any, str]] = field(default_factory=list)
    words: list[tuple[str, str]] = field(default_factory=list)

    def get(self, name: str) -> tuple[Any, str] | None:
        return self.tags.get(name)


class _TextReader:
    """Reads a text line by line into sections, then each section as the JSON form is read."""

    def __init__(self, text: str) -> None:
        self.head = _Section("line 1")
        self.sections: list[_Section] = []
        self.result = _Section("")
        for number, raw in enumerate(text.split("\n"), start=1):
            line, where = raw.strip(), f"line {number}"
            if line.startswith("["):
                self._tag_line(line, where)
            elif line and not line.startswith(";"):
                if not self.sections:
                    _fail(where, "bad_format", "moves belong to a deal: begin it with [Deal 1]")
                for word in line.split(";")[0].split():
                    self.sections[-1].words.append((word, where))

    def _tag_line(self, line: str, where: str) -> None:
        found = _TAG_LINE.fullmatch(line)
        if found is None:
            _fail(where, "bad_format", 'a tag looks like [Dealer "N"]')
        name, seat, text = found.groups()
        try:
            value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            _fail(where, "bad_format", f"the value of {name} is no JSON; texts stand in double quotes")
        if name == "Deal":
            self.sections.append(_Section(where))
        in_deal = name in ("Deal", *_DEAL_TAGS)
        if in_deal and not self.sections:
            _fail(where, "bad_format", f"{name} belongs to a deal: begin it with [Deal 1]")
        section = self.sections[-1] if in_deal else self.result if name in _RESULT_TAGS else self.head
        if name == "Redeal":
            section.redeals.append((value, where))
            return
        for_seat = name in ("Hand", "ClientSeed")
        if for_seat and seat is None:
            _fail(where, "bad_format", f'{name} is of a seat: [{name}.N "..."]')
        if seat is not None and not for_seat:
            _fail(where, "bad_format", f"{name} is of no seat")
        key = name if seat is None else f"{name}.{seat}"
        if key in section.tags:
            _fail(where, "duplicate_field", f"{key} is given twice")
        section.tags[key] = value, where

    def record(self) -> Record:
        head = self.head.tags
        if "Spades" not in head or "Ruleset" not in head:
            _fail("line 1", "missing_field", "a record begins with [Spades 1] and has a tag Ruleset")
        number, where = head["Spades"]
        if _whole(number, where, 0) != FORMAT:
            _fail(where, "not_allowed_value", f"this reads format {FORMAT}")
        preset, where = head["Ruleset"]
        flat: dict[str, Any] = {"preset": _typed(preset, str, where)}
        flat.update({name: value for name, (value, _) in head.items() if name[0].islower()})
        for name in flat:
            if name != "preset" and name not in OPTIONS:
                _fail(head[name][1], "unknown_field", f"there is no option {name!r:.60}")
        digest, at = head.get("Hash", (None, ""))
        ruleset = _ruleset(flat, None if digest is None else _hex(digest, at), at)
        seats = terms(ruleset).table.seats
        names: dict[str, str | None] = dict.fromkeys(seats)
        tags = {}
        for name, (value, where) in head.items():
            if name in ("Spades", "Ruleset", "Hash", "Seating", "Cut") or name[0].islower():
                continue
            if len(name) == 1:
                names[_seat(name, seats, where)] = _string(value, where)
            else:
                tags[_tag_name(name, where)] = _string(value, where)
        return Record(
            ruleset,
            names,
            tuple(self._deal(section, ruleset) for section in self.sections),
            self._result(ruleset),
            self._seating(seats),
            self._cut(seats),
            tags,
        )

    def _seating(self, seats: Sequence[str]) -> dict[str, str] | None:
        if "Seating" not in self.head.tags:
            return None
        value, where = self.head.tags["Seating"]
        pairs = [_pair(word, where) for word in _words(value, where)]
        drawn = {_seat(was, seats, where): _seat(seat, seats, where) for was, seat in pairs}
        return _seating(drawn, seats, where)

    def _cut(self, seats: Sequence[str]) -> tuple[tuple[tuple[str, Card], ...], ...]:
        if "Cut" not in self.head.tags:
            return ()
        value, where = self.head.tags["Cut"]
        rounds = [_words(part, where) for part in _typed(value, str, where).split("/")]
        return tuple(
            tuple(
                (_seat(seat, seats, where), _parsed(Card.parse, code, where))
                for seat, code in (_pair(word, where) for word in words)
            )
            for words in rounds
        )

    def _result(self, ruleset: Ruleset) -> RecordedResult | None:
        found, facts = self.result.tags, terms(ruleset).table
        if not found:
            return None
        for name in ("Result", "Winners", "Scores"):
            if name not in found:
                _fail(next(iter(found.values()))[1], "missing_field", f"a result has a tag {name}")
        (reason, at), (winners, where), (scores, there) = (found[name] for name in ("Result", "Winners", "Scores"))
        pairs = [_pair(word, there) for word in _words(scores, there)]
        points = {side: _digits(text, there) for side, text in pairs}
        if list(points) != list(facts.sides) or len(pairs) != len(points):
            _fail(there, "not_allowed_value", f"each of {', '.join(facts.sides)} comes once, in this order")
        by = found.get("By")
        return RecordedResult(
            tuple(_seat(side, facts.sides, where) for side in _words(winners, where)),
            _string(reason, at),
            points,
            None if by is None else _seat(by[0], facts.seats, by[1]),
        )

    def _deal(self, section: _Section, ruleset: Ruleset) -> RecordedDeal:
        tags, seats = section.tags, terms(ruleset).table.seats
        if "Dealer" not in tags:
            _fail(section.where, "missing_field", "a deal has a tag Dealer")
        dealt = [name for name in tags if name.startswith("Hand.")]
        if bool(dealt) == ("Stock" in tags):
            _fail(section.where, "missing_field", "a deal has either a tag Stock or hands")
        hands = None
        if dealt:
            for name in dealt:
                _seat(name[-1], seats, tags[name][1])
            if len(dealt) != len(seats):
                _fail(section.where, "missing_field", f"each of {', '.join(seats)} has a tag Hand")
            hands = {seat: _text_cards(*tags[f"Hand.{seat}"]) for seat in seats}
        given = [(name[-1], *tags[name]) for name in tags if name.startswith("ClientSeed.")]
        pairs = [(_seat(seat, seats, where), _string(text, where)) for seat, text, where in given]
        number, where = tags["Deal"]
        return RecordedDeal(
            _whole(number, where, 1),
            _seat(tags["Dealer"][0], seats, tags["Dealer"][1]),
            _text_cards(*tags["Stock"]) if "Stock" in tags else None,
            hands,
            tuple(_text_actions(section.words, seats)),
            _text_score(*tags["Score"], terms(ruleset).table.sides) if "Score" in tags else None,
            tuple(_text_redeal(value, where, seats) for value, where in section.redeals),
            _hex(*tags["Commitment"]) if "Commitment" in tags else None,
            _hex(*tags["Seed"]) if "Seed" in tags else None,
            _in_seat_order(pairs, seats, section.where),
            _typed(tags["Scripted"][0], bool, tags["Scripted"][1]) if "Scripted" in tags else False,
        )


def _words(value: Any, where: str) -> list[str]:
    return _typed(value, str, where).split()


def _pair(word: str, where: str) -> tuple[str, str]:
    name, colon, value = word.partition(":")
    if not colon:
        _fail(where, "bad_format", f"expected two parts with a colon between them, got {word!r:.40}")
    return name, value


def _digits(text: str, where: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,10}", text):
        _fail(where, "bad_format", f"expected a number, got {text!r:.20}")
    return _whole(int(text), where)


def _text_cards(value: Any, where: str) -> tuple[Card, ...]:
    """Cards with or without spaces between them."""
    return tuple(_parsed(Card.parse, code, where) for word in _words(value, where) for code in _apart(word))


def _apart(word: str) -> list[str]:
    """Cards that were written together, each apart."""
    return [word[start : start + 2] for start in range(0, len(word), 2)]


def _text_redeal(value: Any, where: str, seats: Sequence[str]) -> CalledOff:
    words = _words(value, where)
    if not 1 <= len(words) <= 2:
        _fail(where, "bad_format", "expected the seat that called, and perhaps the commitment")
    return CalledOff(_seat(words[0], seats, where), _hex(words[1], where) if len(words) > 1 else None)


def _text_score(value: Any, where: str, sides: Sequence[str]) -> dict[str, RecordedScore]:
    score = {}
    for word in _words(value, where):
        found = _SCORE.fullmatch(word)
        if found is None:
            _fail(where, "bad_format", f"expected a score such as NS:+52=152(3), got {word!r:.40}")
        side, *numbers = found.groups()
        score[side] = RecordedScore(*(_whole(int(text), where) for text in numbers))
    if list(score) != list(sides):
        _fail(where, "not_allowed_value", f"each of {', '.join(sides)} comes once, in this order")
    return score


def _text_actions(words: Iterable[tuple[str, str]], seats: Sequence[str]) -> Iterator[Action]:
    rank = plays = 0
    for word, where in words:
        numbered = _NUMBER.fullmatch(word)
        if numbered:
            if plays % len(seats) or int(numbered[1]) != plays // len(seats) + 1:
                _fail(where, "not_allowed_value", f"{word} is not where trick {numbered[1]} begins")
            continue
        for action in _text_word(word, seats, where):
            if _RANK[action.kind] < rank:
                _fail(where, "bad_format", f"{word!r:.40} is out of place: draws come first, plays last")
            rank = _RANK[action.kind]
            plays += action.kind is ActionKind.PLAY
            yield action


def _text_word(word: str, seats: Sequence[str], where: str) -> Iterable[Action]:
    if ">" in word or ":" in word:
        return [_text_action(word, seats, where)]
    if word in _DECISIONS:
        return [Action.draw(_DECISIONS[word])]
    if _DRAWN.fullmatch(word):
        return [Action.draw(DrawDecision.KEEP if letter == "k" else DrawDecision.DECLINE) for letter in word]
    return [Action.play(_parsed(Card.parse, code, where)) for code in _apart(word)]


_DRAWN = re.compile("[kd]+")


def _text_action(word: str, seats: Sequence[str], where: str) -> Action:
    if ">" in word:
        seat, _, codes = word.partition(">")
        cards = [_parsed(Card.parse, code, where) for code in codes.split(".")] if codes else []
        return Action.pass_cards(_seat(seat, seats, where), cards)
    seat, _, said = word.partition(":")
    _seat(seat, seats, where)
    if said == "look":
        return Action.look(seat)
    said, hinted, most = said.partition("^")
    hint = _digits(most, where) if hinted else None
    if hint is not None and hint < 0:
        _fail(where, "out_of_range", "a hint is not below 0")
    bid = None if said == "reconsider" else _parsed(Bid.parse, said, where)
    if bid is not None:
        _whole(bid.tricks, where, 0, _TRICKS_MOST)
    return Action.place_bid(seat, bid, hint)


_DECISIONS = {decision.value: decision for decision in DrawDecision}
