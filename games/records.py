"""Reads of what is told when a deal is over: the record of a game, and what its shuffles can be checked by.

Neither says more than the events that the reader has been told: only deals that were revealed have cards and seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from games import selectors, store
from games.models import Deal, Game
from games.scripts import Layout
from games.selectors import Viewer
from games.store import DealRow, GameRow
from spades import Bid, Card, DrawDecision, Match, Record, Ruleset, Seed
from spades.notation import Action, CalledOff, RecordedDeal, RecordedResult, RecordedScore
from spades.terms import terms

__all__ = ["fairness", "record_of"]


def record_of(game: GameRow, viewer: Viewer) -> Record:
    """The record of a game as far as the viewer has been told of it.

    It has every deal that was revealed: those that were played out, and the last one when the game was resigned or
    aborted in the middle of it. The deal in progress is left out, since nobody knows all of it.
    """
    version = selectors.version_for(game, viewer)
    actions = store.read_actions(game.id, version)
    ruleset = selectors.ruleset_of(game)
    drawn = next((action for _, _, action in actions if "start" in action), None)
    occupants = game.occupants if drawn is not None else selectors.occupants_at(game.id, version)
    deals = {(row.number, row.attempt): row for row in store.read_deals(game.id)}
    over = version == game.version and game.finished_at is not None
    date = {} if game.started_at is None or drawn is None else {"Date": game.started_at.date().isoformat()}
    return Record(
        ruleset,
        {occupant.seat: occupant.name for occupant in occupants},
        tuple(_deals(ruleset, actions, deals, store.read_scores(game.id, _ALL), over=over)),
        _result(game, actions) if over else None,
        drawn and drawn.get("drawn"),
        _cut(ruleset, deals[1, 1]) if drawn is not None else (),
        {"Game": str(game.id), **date},
    )


_ALL = 2**15 - 1
"""Above every number of a deal."""


def _cut(ruleset: Ruleset, first: DealRow) -> tuple[tuple[tuple[str, Card], ...], ...]:
    """The cards of the cut, which everybody saw, of the seed of the first deal as it was dealt first."""
    if first.layout is not None:
        return ()
    match = Match.start(ruleset, Seed(bytes.fromhex(first.seed), first.client_seeds or ()))
    return tuple(tuple((seat, card.first) for seat, card in drawn) for drawn in match.cut)


def _result(game: GameRow, actions: Sequence[tuple[int, str | None, dict[str, Any]]]) -> RecordedResult | None:
    if game.result is None:
        return None
    told = orjson.loads(game.result)
    _, seat, last = actions[-1]
    by = seat if "resign" in last else None
    return RecordedResult(tuple(told["winners"]), told["reason"], told["scores"], by)


def _deals(
    ruleset: Ruleset,
    actions: Sequence[tuple[int, str | None, dict[str, Any]]],
    rows: Mapping[tuple[int, int], DealRow],
    scores: Sequence[Mapping[str, Any]],
    *,
    over: bool,
) -> list[RecordedDeal]:
    """The deals that were revealed by these actions, in order."""
    made: list[RecordedDeal] = []
    called: list[CalledOff] = []
    done: list[Action] = []
    plays, started = 0, False
    whole = ruleset.hand_size * ruleset.players

    def reveal(score: Mapping[str, Any] | None) -> None:
        nonlocal plays
        row = rows[len(made) + 1, len(called) + 1]
        made.append(_deal(ruleset, row, tuple(called), tuple(done), score))
        called.clear()
        done.clear()
        plays = 0

    for _, seat, action in actions:
        ((verb, value), *_) = action.items()
        if verb == "start":
            started = True
        elif verb == "redeal" and seat is not None:
            called.append(CalledOff(seat, rows[len(made) + 1, len(called) + 1].commitment))
            done.clear()
        elif verb in _READ and seat is not None:
            done.append(_READ[verb](seat, value))
            plays += verb == "play"
        if plays == whole:
            reveal(scores[len(made)])
    ended_early = over and started and len(scores) == len(made) and actions[-1][2].keys() & {"resign", "abort"}
    if ended_early:
        reveal(None)
    return made


def _deal(
    ruleset: Ruleset,
    row: DealRow,
    called: tuple[CalledOff, ...],
    actions: tuple[Action, ...],
    score: Mapping[str, Any] | None,
) -> RecordedDeal:
    clients = row.client_seeds or ()
    if row.layout is not None:
        stock: Sequence[Card] = Layout.parse(row.layout).stock
    else:
        stock = Seed(bytes.fromhex(row.seed), clients).shuffled(terms(ruleset).pack.deck)
    return RecordedDeal(
        row.number,
        row.dealer or "",
        tuple(card.first for card in stock),
        None,
        actions,
        score
        and {side: RecordedScore(one["delta"], one["score"], one["bags"]) for side, one in score["sides"].items()},
        called,
        row.commitment,
        row.seed,
        clients,
        row.layout is not None,
    )


def _bid(seat: str, body: Mapping[str, Any]) -> Action:
    if body["kind"] == "reconsider":
        return Action.place_bid(seat, None)
    bid = Bid.from_json({name: value for name, value in body.items() if name != "hint_max"})
    return Action.place_bid(seat, bid, body.get("hint_max"))


_READ: Mapping[str, Any] = {
    "draw": lambda _, value: Action.draw(DrawDecision(value)),
    "look": lambda seat, _: Action.look(seat),
    "pass": lambda seat, value: Action.pass_cards(seat, [Card.parse(code) for code in value]),
    "bid": _bid,
    "play": lambda _, value: Action.play(Card.parse(value)),
}
"""What stands in a record, by the name that its action is kept under."""


# --- Fairness -------------------------------------------------------------------------------------------------------


def fairness(game: GameRow, viewer: Viewer) -> list[dict[str, Any]]:
    """What binds the service in each deal, in order: every attempt that has started, and the deal promised next.

    A seed is told when its deal was revealed, never that of an attempt that was called off. Client seeds are told from
    the start of the deal, when they cannot change any more; for the deal promised next, those that would enter it now.
    """
    until = selectors.told_until(game, viewer)
    deals = Deal.objects.filter(game_id=game.id).defer("bids", "tricks", "score")
    rows = list(deals.order_by("number", "attempt"))
    started = [row for row in rows if row.started_at is not None and _told(row.started_at, until)]
    over = game.status in (Game.Status.FINISHED, Game.Status.ABORTED) and _told(game.finished_at, until)
    told = []
    for place, row in enumerate(started):
        last = place == len(started) - 1
        revealed = _told(row.finished_at, until) or (over and last)
        told.append(
            {
                **_bound(row, row.number, row.attempt),
                "server_seed": row.seed if revealed else None,
                "client_seeds": _seeds(orjson.loads(row.client_seeds or "[]")),
            }
        )
    if len(rows) > len(started) and not over:
        # By the number under which it was promised: what the reader has not been told of may have made it another's.
        number = started[-1].number + 1 if started else 1
        given = store.read_client_seeds(game.id)
        seats = [(occupant.seat, given[occupant.seat]) for occupant in game.occupants if occupant.seat in given]
        told.append({**_bound(rows[len(started)], number, 1), "server_seed": None, "client_seeds": _seeds(seats)})
    return told


def _told(at: datetime | None, until: datetime | None) -> bool:
    return at is not None and (until is None or at <= until)


def _bound(row: Deal, number: int, attempt: int) -> dict[str, Any]:
    return {
        "number": number,
        "attempt": attempt,
        "commitment": row.commitment,
        "algorithm": row.algorithm,
        "scripted": row.layout is not None,
    }


def _seeds(pairs: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [{"seat": seat, "seed": text} for seat, text in pairs]
