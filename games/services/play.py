"""What a seat does at a table, one function an action, and what a move writes.

Every action takes the same steps: read the table and find out who asks, in one statement; give the kept answer if this
is a repetition; compare versions; ask the rules; write the table, the action and its events; wake whoever acts next
after the commit. A refusal writes nothing.

There are two ways through them. With the table locked, in one transaction, every action can be taken. Most need no lock
on PostgreSQL: they are written in one statement that changes nothing unless the row is still as it was read. Where it
is not, the action is taken again the first way (docs/decisions/0035-actions-without-a-lock.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from accounts import idempotency
from accounts.bearer import Bearer
from contract.etags import require_version
from contract.problems import ContractReason, Problem
from events import hints
from events.log import Entry
from events.writes import write_turn
from games import codec, scripts, selectors, steps, store, wakes
from games.models import Game
from games.scripts import Layout
from games.selectors import Viewer
from games.store import GameRow, Outcome, Reading
from spades import Bid, Card, DrawDecision, Match, Reason, RuleViolation, Seed
from spades import view as spades_view
from spades.shuffle import ALGORITHM

__all__ = [
    "Ask",
    "Done",
    "call_redeal",
    "draw_card",
    "look_at_hand",
    "move",
    "pass_cards",
    "place_bid",
    "play_card",
    "remember",
    "resign_game",
]


@dataclass(frozen=True, slots=True)
class Ask:
    """What comes with an action besides its body."""

    bearer: Bearer
    seat: str | None = None
    """The seat named in `X-Seat`."""
    version: int | None = None
    """The last event that the caller has seen, if it says: the version part of `If-Match`."""
    key: str | None = None
    fingerprint: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The answer to an action."""

    body: dict[str, Any]
    version: int | None = None
    viewer: Viewer | None = None
    """With `version` what the entity tag is made of; None for a dry run."""
    replayed: bool = False


def draw_card(*, ask: Ask, game_id: UUID, decision: DrawDecision) -> Done:
    """Keep or decline the card looked at. Raises as `_act`."""
    return _act(ask, game_id, {"draw": decision.value})


def look_at_hand(*, ask: Ask, game_id: UUID) -> Done:
    """Show the seat its hand, for which it gives up bidding blind. Raises as `_act`."""
    return _act(ask, game_id, {"look": True})


def pass_cards(*, ask: Ask, game_id: UUID, cards: Sequence[Card]) -> Done:
    """Give cards of the seat's hand away, before the bidding or to the partner after it. Raises as `_act`."""
    return _act(ask, game_id, {"pass": [card.code for card in cards]})


def call_redeal(*, ask: Ask, game_id: UUID) -> Done:
    """Call the deal off because of the seat's hand, and begin it again. Raises as `_act`."""
    return _act(ask, game_id, {"redeal": True})


def place_bid(*, ask: Ask, game_id: UUID, bid: Bid | None, hint_max: int | None = None) -> Done:
    """Place or propose the seat's bid, with how far it would go; without a bid, send the partners' proposals back.

    Raises as `_act`.
    """
    if bid is None:
        return _act(ask, game_id, {"bid": {"kind": "reconsider"}})
    hint = {} if hint_max is None else {"hint_max": hint_max}
    return _act(ask, game_id, {"bid": {**bid.to_json(), **hint}})


def play_card(*, ask: Ask, game_id: UUID, card: Card) -> Done:
    """Play a card from the seat's hand. Raises as `_act`."""
    return _act(ask, game_id, {"play": card.code})


def resign_game(*, ask: Ask, game_id: UUID) -> Done:
    """Give the game up for the seat's side, in whatever phase and whoever is on turn. Raises as `_act`."""
    return _act(ask, game_id, {"resign": True})


def _act(ask: Ask, game_id: UUID, action: Mapping[str, Any]) -> Done:
    """One action of one seat.

    Raises:
        Problem: whatever refused it: the token, the version, the idempotency key, or the rules, then with the caller's
            own legal actions. Nothing is written.
    """
    if ask.dry_run:
        return _dry_run(ask, game_id, action)
    done = _act_unlocked(ask, game_id, action)
    if done is not None:
        return done
    with write_turn(), transaction.atomic():
        reading = selectors.read(ask.bearer, game_id, lock=True)
        viewer = selectors.viewer_of(reading, ask.seat)
        kept = earlier(ask, reading.game, viewer)
        if kept is None:
            game, match = _checked(reading, viewer, ask.version)
            try:
                game, match = move(game, match, viewer.seat, action)
            except RuleViolation as violation:
                raise refusal(violation, reading.game, match, viewer) from None
            remember(ask, game, viewer)
    if kept is not None:
        return again(reading.game, kept, viewer)
    return Done(selectors.view(game, match, viewer), game.version, viewer)


def _act_unlocked(ask: Ask, game_id: UUID, action: Mapping[str, Any]) -> Done | None:
    """One action in two statements, without a transaction: a read, and a write that asks whether it is still true.

    Nearly every action can be done so, at two thirds of the cost. It needs all that decides about it to stand in one
    row, as it does for a seat's token, and all that it writes to fit into one statement.

    Returns:
        None where the table has to be locked: for one of these two reasons, or because it changed meanwhile. Nothing
        was written then.

    Raises:
        Problem: as `_act`.
    """
    if not store.WRITES_UNLOCKED or ask.key is not None or ask.bearer.kind != "sps":
        return None
    reading = selectors.read(ask.bearer, game_id)
    viewer = selectors.viewer_of(reading, ask.seat)
    game, match = _checked(reading, viewer, ask.version)
    try:
        after, outcome = _step(game, match, viewer.seat, action, _no_seed)
    except _NeedsLock:
        return None
    except RuleViolation as violation:
        raise refusal(violation, game, match, viewer) from None
    if any(entry.type == "deal_scored" for entry in outcome.entries):
        return None
    written = store.write_unlocked(game, outcome)
    if written is None:
        return None
    _announce(written)
    return Done(selectors.view(written, after, viewer), written.version, viewer)


class _NeedsLock(Exception):
    """More than one statement is to be written."""


def _no_seed(number: int, attempt: int) -> steps.Drawn:
    raise _NeedsLock


def _dry_run(ask: Ask, game_id: UUID, action: Mapping[str, Any]) -> Done:
    """Whether the action would be taken now, with the caller's legal actions; the same refusals, nothing written."""
    reading = selectors.read(ask.bearer, game_id)
    viewer = selectors.viewer_of(reading, ask.seat)
    game, match = _checked(reading, viewer, ask.version)
    try:
        codec.apply(match, viewer.seat, action)
    except RuleViolation as violation:
        raise refusal(violation, game, match, viewer) from None
    return Done({"allowed": True, "legal": legal(match, viewer)})


def _checked(reading: Reading, viewer: Viewer, version: int | None) -> tuple[GameRow, Match]:
    """The game and its match, for somebody who has a seat there and saw its last event."""
    game = reading.game
    if viewer.seat is None:
        known = selectors.version_told(game, viewer)
        raise Problem(ContractReason.NOT_YOUR_SEAT, "You hold no seat at this table.", version=known)
    require_version(version, game.version)
    match = selectors.match_of(game)
    if match is None:
        over = game.status != Game.Status.WAITING
        reason, detail = (
            (Reason.GAME_OVER, "The game is over.") if over else (Reason.WRONG_PHASE, "The game has not started.")
        )
        raise Problem(reason, detail, version=game.version, legal=[])
    return game, match


def earlier(ask: Ask, game: GameRow, viewer: Viewer, *, by_account: bool = False) -> idempotency.Kept | None:
    """What is known of this very request, if it was answered before.

    Args:
        by_account: the account acts, and not the seat that it may have.

    Raises:
        Problem: `idempotency_mismatch` or `idempotency_in_progress`.
    """
    if ask.key is None:
        return None
    return idempotency.claim(_principal(game, viewer, by_account), ask.key, ask.fingerprint)


def again(game: GameRow, kept: idempotency.Kept, viewer: Viewer) -> Done:
    """The first answer made again: the view as it was then. It takes a while, so call it when nothing is locked."""
    if kept.version is None:
        raise ValueError("an action keeps its version")
    then = Viewer("seat" if kept.seat else viewer.role, kept.seat, viewer.account_id)
    return Done(selectors.view_at(game, kept.version, then), kept.version, then, replayed=True)


def remember(ask: Ask, game: GameRow, viewer: Viewer, *, by_account: bool = False) -> None:
    """Keep, in the transaction of the action, that this request was answered. Arguments as for `earlier`."""
    if ask.key is not None:
        idempotency.keep(
            _principal(game, viewer, by_account),
            ask.key,
            ask.fingerprint,
            status=200,
            answer=None,
            game_id=game.id,
            version=game.version,
            seat=viewer.seat,
        )


def _principal(game: GameRow, viewer: Viewer, by_account: bool) -> str:
    """In whose name keys are kept: a seat's, whichever token acts for it, or the account's."""
    return f"seat:{game.id}:{viewer.seat}" if viewer.seat and not by_account else f"account:{viewer.account_id}"


def legal(match: Match, viewer: Viewer) -> list[dict[str, Any]]:
    """What the viewer could do now; nothing when it is not on turn."""
    if match.deal is None or viewer.seat is None or viewer.seat not in match.turns:
        return []
    return match.deal.legal(viewer.seat)


def refusal(violation: RuleViolation, game: GameRow, match: Match, viewer: Viewer) -> Problem:
    """The problem for a refusal by the rules."""
    return Problem.of_violation(violation, legal=legal(match, viewer), version=game.version)


# What a move writes.


def move(game: GameRow, match: Match, seat: str | None, action: Mapping[str, Any]) -> tuple[GameRow, Match]:
    """Take one action at a locked table and write everything that follows from it.

    Returns:
        The game and the match after it.

    Raises:
        RuleViolation: the rules forbid it; nothing is written.
    """
    after, outcome = _step(game, match, seat, action, _seed_of(game))
    for entry in outcome.entries:
        if entry.type == "deal_scored" and match.deal is not None:
            _keep_score(game.id, match.deal.attempt, entry, outcome.at)
    return _write_match(game, after, outcome), after


def _step(
    game: GameRow, match: Match, seat: str | None, action: Mapping[str, Any], seed_of: steps.SeedOf
) -> tuple[Match, Outcome]:
    """The match after one action, and what is to be written. Raises as `move`, and whatever `seed_of` raises."""
    at = timezone.now()
    after, parts = steps.step(match, seat, action, seed_of)
    number = match.deal.number if match.deal else None
    return after, Outcome(at, action, seat, number, codec.entries(parts), _changes(game, after, at))


def start(game: GameRow, *, seat: str | None) -> tuple[GameRow, Match]:
    """Begin the game at a locked, full table: cut for the deal, lay out the first one, and write all of it.

    Where the table has it so, seats are drawn before that.

    Args:
        seat: that of whoever starts it, as it was taken.
    """
    at = timezone.now()
    row = store.read_deal(game.id, 1)
    server = bytes.fromhex(row.seed)
    layout = None if row.layout is None else Layout.parse(row.layout)
    drawn = None
    action: dict[str, Any] = {"start": True}
    if game.seating == Game.Seating.BY_DRAW:
        drawn = Seed(server, _client_seeds(game)).seating([occupant.seat for occupant in game.occupants])
        game = store.move_seats(game, drawn)
        action["drawn"] = drawn
    seed_of = _seed_of(game)
    first = Seed(server, _client_seeds(game))
    match, parts = steps.start(selectors.ruleset_of(game), first, seed_of, drawn, layout)
    changes = {**_changes(game, match, at), "started_at": at, "occupants": game.occupants}
    outcome = Outcome(at, action, seat, None, codec.entries(parts), changes)
    return _write_match(game, match, outcome), match


def _write_match(game: GameRow, match: Match, outcome: Outcome) -> GameRow:
    """Write a match that moved on, and the deal that began if one did. Returns as `write`."""
    deal = match.deal
    if deal is not None and any(entry.type == "deal_started" for entry in outcome.entries):
        store.start_deal(
            game.id, deal.number, deal.attempt, dealer=deal.dealer, client_seeds=deal.seed.clients, at=outcome.at
        )
    return write(game, outcome)


def write(game: GameRow, outcome: Outcome) -> GameRow:
    """Write what an action did at a locked table, and let others know after the commit. Returns as `store.write`."""
    written = store.write(game, outcome)
    _announce(written)
    return written


def _changes(game: GameRow, match: Match, at: datetime) -> dict[str, Any]:
    """The columns of a game that follow from its match."""
    status, result = Game.Status.ACTIVE, None
    if match.ending is not None:
        status = Game.Status.ABORTED if match.ending.reason == "aborted" else Game.Status.FINISHED
        result = orjson.dumps(spades_view.result(match)).decode()
    on_turn = [occupant for occupant in game.occupants if occupant.seat in match.turns]
    bot = next((occupant for occupant in on_turn if occupant.kind == "bot"), None)  # bots first: people need no wake
    return {
        "status": str(status),
        "state": codec.dump_match(match),
        "turn_seat": bot.seat if bot else match.turn,
        "bot_due_at": at if bot else None,
        "result": result,
        "finished_at": at if match.ending is not None else None,
    }


def _announce(game: GameRow) -> None:
    """After the commit: tell waiting readers, and wake a worker if a bot is on turn."""
    # Not a partial: a failing robust handler is logged by its __qualname__, which a partial has not.
    transaction.on_commit(lambda: hints.publish(game.id, game.version), robust=True)
    if game.bot_due_at is not None:
        transaction.on_commit(lambda: wakes.bot_turn(game.id, game.version), robust=True)


def commit_deal(game: GameRow, number: int) -> str:
    """Make the secret seed of a deal to come, or take what was set, keep it, and give its commitment."""
    script, place = None, 0
    if game.sandbox:
        script, place = selectors.script_of(game), store.count_deals(game.id)
    seed, layout = scripts.seed_for(script, place)
    promise = scripts.promise(seed, layout)
    store.commit_deal(
        game.id,
        number,
        seed=seed.hex(),
        commitment=promise,
        algorithm=ALGORITHM,
        layout=None if layout is None else layout.text,
    )
    return promise


def _seed_of(game: GameRow) -> steps.SeedOf:
    def seed_of(number: int, attempt: int) -> steps.Drawn:
        if attempt > 1:  # the seed next in line, which was promised before anybody called, not one made on the call
            store.promote_deal(game.id, number + 1, number, attempt)
        row = store.read_deal(game.id, number, attempt)
        promised = commit_deal(game, number + 1)
        layout = None if row.layout is None else Layout.parse(row.layout)
        return steps.Drawn(Seed(bytes.fromhex(row.seed), _client_seeds(game)), promised, layout)

    return seed_of


def _client_seeds(game: GameRow) -> tuple[tuple[str, str], ...]:
    given = store.read_client_seeds(game.id)
    return tuple((occupant.seat, given[occupant.seat]) for occupant in game.occupants if occupant.seat in given)


def _keep_score(game_id: UUID, attempt: int, scored: Entry, at: datetime) -> None:
    if scored.deal_number is None:
        raise ValueError("a score belongs to a deal")
    told = scored.public
    score = {name: told[name] for name in ("sides", "game", "closest_bidders")}
    store.score_deal(game_id, scored.deal_number, attempt, bids=told["bids"], tricks=told["tricks"], score=score, at=at)
