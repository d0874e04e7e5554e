"""Rows to `spades` values and back. The one module that knows both forms.

A snapshot carries the number of its format. `dump_match` writes `FORMAT`; `load_match` reads every format there ever
was, by the upgrades in between. A snapshot keeps what happened in the present deal and the standing before it, no
history: it is as long in the fortieth deal as in the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from events.log import Entry
from spades import Bid, Card, Deal, DrawDecision, Ending, Match, Ruleset, ScoreSheet, Seed, SideBefore
from spades.view import Part

__all__ = ["FORMAT", "UPGRADES", "action_of", "apply", "dump_match", "entries", "load_match", "some_action"]

FORMAT = 1
"""The format that `dump_match` writes."""

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""By format number: a function that makes the next format of it."""


def dump_match(match: Match) -> str:
    """The match as JSON. It holds the stock and the seed: never show it to anybody."""
    text = orjson.dumps(
        {
            "format": FORMAT,
            "deals": match.sheet.deals,
            "sides": {name: [side.score, side.bags, side.sets] for name, side in match.sheet.sides.items()},
            "dealer": match.dealer,
            "deal": None if match.deal is None else _dump_deal(match.deal),
            "ending": match.ending and [match.ending.winners, match.ending.reason, match.ending.seat],
        }
    ).decode()
    _remember(match, text)
    return text


def load_match(ruleset: Ruleset, text: str) -> Match:
    """The match of a snapshot, of any format.

    Raises:
        ValueError: a format from the future.
    """
    known = _recent.get(text)
    if known is not None and known.ruleset is ruleset:
        return known
    row = orjson.loads(text)
    while row["format"] != FORMAT:
        if row["format"] not in UPGRADES:
            raise ValueError(f"no way from snapshot format {row['format']} to {FORMAT}")
        row = UPGRADES[row["format"]](row)
    sides = {name: SideBefore(*standing) for name, standing in row["sides"].items()}
    match = Match(
        ruleset,
        ScoreSheet(ruleset, sides, row["deals"]),
        row["dealer"],
        deal=row["deal"] and _load_deal(ruleset, row["deal"]),
        ending=row["ending"] and Ending(tuple(row["ending"][0]), row["ending"][1], row["ending"][2]),
    )
    _remember(match, text)
    return match


_RECENT_MOST = 1024
_recent: dict[str, Match] = {}
"""Matches by the very text of their snapshot. A text has one meaning, so whatever is read from a locked row and found
here is what reading it again would give; nothing has to be forgotten when a transaction fails."""


def _remember(match: Match, text: str) -> None:
    if len(_recent) >= _RECENT_MOST:
        _recent.clear()
    _recent[text] = replace(match, cut=(), score=None)  # which no snapshot keeps


def _dump_deal(deal: Deal) -> dict[str, Any]:
    row = {
        "number": deal.number,
        "attempt": deal.attempt,
        "dealer": deal.dealer,
        "seed": deal.seed.server.hex(),
        "clients": deal.seed.clients,
        "stock": "".join([card.code for card in deal.stock]),
        "draws": deal.draws,
        "bids": [bid and str(bid) for bid in deal.bids],
        "plays": "".join([card.code for card in deal.plays]),
    }
    # What most deals do not have is left out, and so are the bytes of it in every row.
    for name in ("behind", "looks", "reconsidered"):
        if getattr(deal, name):
            row[name] = getattr(deal, name)
    for name in ("passes", "gives"):
        if any(getattr(deal, name)):
            row[name] = [f"{mask:x}" for mask in getattr(deal, name)]
    if any(hint is not None for hint in deal.hints):
        row["hints"] = deal.hints
    return row


def _load_deal(ruleset: Ruleset, row: dict[str, Any]) -> Deal:
    return Deal.restore(
        ruleset,
        number=row["number"],
        attempt=row["attempt"],
        dealer=row["dealer"],
        seed=Seed(bytes.fromhex(row["seed"]), tuple((seat, text) for seat, text in row["clients"])),
        stock=_load_cards(row["stock"]),
        behind=row.get("behind", 0),
        draws=row["draws"],
        passes=_load_masks(row.get("passes", ())),
        looks=row.get("looks", 0),
        bids=tuple(bid and Bid.parse(bid) for bid in row["bids"]),
        hints=tuple(row.get("hints", ())),
        reconsidered=row.get("reconsidered", 0),
        gives=_load_masks(row.get("gives", ())),
        plays=_load_cards(row["plays"]),
    )


def _load_masks(texts: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(text, 16) for text in texts)


def _load_cards(text: str) -> tuple[Card, ...]:
    return tuple([Card.parse(text[start : start + 2]) for start in range(0, len(text), 2)])


def apply(match: Match, seat: str | None, action: Mapping[str, Any]) -> Match:
    """The match after an action, stored or asked for.

    Args:
        action: ``{"draw": "keep"}``, ``{"look": true}``, ``{"pass": ["2C", ...]}`` (in an exchange too),
            ``{"redeal": true}``, ``{"bid": {...}}`` (with a proposal also `hint_max`, or the kind ``reconsider``),
            ``{"play": "QH"}``, ``{"resign": true}``, ``{"abort": true}``.

    Raises:
        RuleViolation: the rules forbid it.
        NotationError: it spells no card or no bid.
    """
    ((verb, value),) = action.items()
    if verb == "abort":
        return match.abort()
    if seat is None:
        raise ValueError(f"nobody can {verb}")
    if verb not in _VERBS:
        raise ValueError(f"no such action: {verb}")
    return _VERBS[verb](match, seat, value)


def _bid(match: Match, seat: str, body: Mapping[str, Any]) -> Match:
    if body.get("kind") == "reconsider":
        return match.reconsider(seat)
    bid = Bid.from_json({name: value for name, value in body.items() if name != "hint_max"})
    return match.bid(seat, bid, body.get("hint_max"))


_VERBS: dict[str, Callable[[Match, str, Any], Match]] = {
    "draw": lambda match, seat, value: match.draw(seat, DrawDecision(value)),
    "look": lambda match, seat, _: match.look(seat),
    "pass": lambda match, seat, value: match.pass_cards(seat, [Card.parse(code) for code in value]),
    "redeal": lambda match, seat, _: match.call_redeal(seat),
    "bid": _bid,
    "play": lambda match, seat, value: match.play(seat, Card.parse(value)),
    "resign": lambda match, seat, _: match.resign(seat),
}
"""What a seat may ask for, by the name that its action is kept under."""


def action_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The action of a request body to draw, look, pass, bid or play."""
    if "decision" in body:
        return {"draw": body["decision"]}
    if "card" in body:
        return {"play": body["card"]}
    if "cards" in body:
        return {"pass": list(body["cards"])}
    return {"look": True} if "look" in body else {"bid": dict(body)}


def some_action(legal: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first of the legal actions, with the first cards where some are to be chosen."""
    first = legal[0]
    if "choose" in first:
        return {"pass": list(first["from"][: first["choose"]])}
    return action_of(first)


def entries(parts: Sequence[Part]) -> list[Entry]:
    """The events to write for what a step did."""
    return [Entry(part.type, part.seat, part.deal_number, part.public, part.own) for part in parts]
