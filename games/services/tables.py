"""Making a table, sitting down, getting up, starting and aborting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from accounts import bearer as bearers
from bots.player import REGISTRY
from contract import rulesets
from contract.etags import require_version
from contract.ids import uuid7
from contract.problems import ContractReason, Fault, Problem, malformed
from events.writes import write_turn
from games import codec, scripts, selectors, store
from games.models import Game, Sandbox, Seat
from games.selectors import Viewer
from games.services import access, play
from games.services.play import Ask, Done
from games.store import GameRow, Occupant, Outcome, Reading
from spades import ENGINE, Reason, Ruleset
from spades.seats import table
from spades.shuffle import ALGORITHM
from spades.view import Part

__all__ = ["Guest", "abort_game", "create_game", "leave_seat", "play_again", "start_game", "take_seat"]

_SETTINGS = ("visibility", "spectators", "spectator_delay", "start", "seating", "hot_seat")
"""What a table is made with besides its ruleset and its seats, by the name of the column."""


@dataclass(frozen=True, slots=True)
class Guest:
    """Who is to sit in a seat: a person (then the caller), a bot, or nobody yet."""

    kind: str
    """``human``, ``bot`` or ``open``."""
    name: str | None = None
    bot: str | None = None
    client_seed: str = ""
    accept_sandbox: bool = False


def create_game(
    *,
    account_id: UUID,
    account_name: str,
    ruleset: dict[str, Any],
    seats: Sequence[Guest] = (),
    visibility: str = Game.Visibility.PUBLIC,
    spectators: str = Game.Spectators.ALLOWED,
    spectator_delay: int = 0,
    start: str = Game.Start.WHEN_FULL,
    seating: str = Game.Seating.AS_TAKEN,
    hot_seat: bool = False,
    sandbox: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], str]:
    """Make a table, seat whoever is named, and start the game if that fills it. Runs in the caller's transaction.

    Args:
        ruleset: a preset's name and what differs from it, flat.
        spectator_delay: seconds after which watchers are told what happened since the start.
        seats: who sits in the first seats, clockwise; the others are open.
        hot_seat: whether one account may hold several seats.
        sandbox: ``{"seed": 64 hex digits}`` or ``{"deals": [{"dealer", "stock" or "hands"}]}``, cards as `Card`.

    Returns:
        The answer ``{"game": view, "seats": [{"seat", "token"}]}`` with the tokens of the caller's seats, and the
        viewer's part of the entity tag.

    Raises:
        Problem: `malformed`, `ruleset_contradiction` or `option_not_supported`.
    """
    rules = rulesets.read(ruleset)
    names = table(rules.players, rules.teams).seats
    if len(seats) > len(names):
        detail = f"This ruleset has {len(names)} seats, not {len(seats)}."
        raise malformed([Fault("/seats", ContractReason.WRONG_LENGTH, detail)])
    people = [place for place, guest in enumerate(seats) if guest.kind == "human"]
    if len(people) > 1 and not hot_seat:
        detail = "One seat is yours; other people sit down themselves. With hot_seat several may be yours."
        raise malformed([Fault(f"/seats/{people[1]}/kind", ContractReason.NOT_ALLOWED_VALUE, detail)])
    at = timezone.now()
    guests = [*seats, *(Guest("open") for _ in range(len(names) - len(seats)))]
    seated = [_sit(seat, guest, account_id, account_name) for seat, guest in zip(names, guests, strict=True)]
    settings = {
        "visibility": visibility,
        "spectators": spectators,
        "spectator_delay": spectator_delay,
        "start": start,
        "seating": seating,
        "hot_seat": hot_seat,
    }
    return _make(rules, account_id, seated, settings, at=at, script=_script(rules, sandbox))


def _script(rules: Ruleset, sandbox: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A sandbox as it is kept.

    Raises:
        Problem: `malformed`, with everything that is wrong with its deals under this ruleset.
    """
    if sandbox is None or "seed" in sandbox:
        return None if sandbox is None else {"seed": sandbox["seed"]}
    if faults := scripts.faults_of(rules, sandbox["deals"]):
        raise malformed(faults)
    return {"deals": [scripts.layout_of(rules, deal).text for deal in sandbox["deals"]]}


def _make(
    rules: Ruleset,
    host_id: UUID,
    seated: Sequence[tuple[Occupant, str | None]],
    settings: Mapping[str, Any],
    *,
    at: datetime,
    script: Mapping[str, Any] | None,
    rematch_of: UUID | None = None,
) -> tuple[dict[str, Any], str]:
    """Make a table at which some seats are taken; all people there are the host. Returns as `create_game`."""
    occupants = tuple(occupant for occupant, _ in seated)
    settings = {**settings, "sandbox": script is not None}
    game = _insert(rules, host_id, occupants, settings, at=at, rematch_of=rematch_of)
    if script is not None:
        Sandbox.objects.create(game_id=game.id, script=orjson.dumps(script).decode())
    for occupant in occupants:
        Seat.objects.create(
            game_id=game.id,
            seat=occupant.seat,
            account_id=occupant.account_id,
            token_digest=occupant.token_digest,
        )
    origin = {"rematch_of": rematch_of and str(rematch_of)}
    created = {
        "preset": rules.preset,
        "ruleset_hash": rules.hash,
        "algorithm": ALGORITHM,
        "commitment": play.commit_deal(game, 1),
        **origin,
    }
    made = Part("game_created", None, None, created)
    if rematch_of is not None and game.spectator_delay:
        # What an event tells a reader never changes, and for watchers the game before may go on.
        own = {occupant.seat: origin for occupant in occupants}
        made = replace(made, public={**created, "rematch_of": None}, own=own)
    taken = [_seat_taken(occupant) for occupant in occupants if occupant.kind != "open"]
    action = {"create": {**settings, "seats": [occupant.to_row() for occupant in occupants]}}
    game, match = _settle(game, [made, *taken], action, seat=None, at=at)
    return _given_out(game, match, host_id, seated)


def _given_out(
    game: GameRow, match: Any, account_id: UUID, seated: Sequence[tuple[Occupant, str | None]]
) -> tuple[dict[str, Any], str]:
    """The answer to somebody who just sat down, with the tokens for their seats, wherever those are now."""
    tokens = {occupant.token_digest: token for occupant, token in seated if token is not None}
    shown = [
        {"seat": occupant.seat, "token": tokens[occupant.token_digest]}
        for occupant in game.occupants
        if occupant.token_digest in tokens
    ]
    viewer = _viewer(game, account_id)
    return {"game": selectors.view(game, match, viewer), "seats": shown}, viewer.tag


def _viewer(game: GameRow, account_id: UUID | None) -> Viewer:
    """How an account sees a table after it did something there: as the first of its seats, if it has any."""
    mine = [occupant.seat for occupant in game.occupants if account_id and occupant.account_id == account_id]
    if mine:
        return Viewer("seat", mine[0], account_id)
    return Viewer("host" if account_id == game.host_id else "watcher", None, account_id)


def take_seat(
    *, reading: Reading, guest: Guest, account_name: str, seat: str | None, invitation: str | None = None
) -> tuple[dict[str, Any], str]:
    """Sit down, or seat a bot, at a locked table that has not started; a table that is full then may start.

    Args:
        reading: the locked reading of the table, by an account's token.
        seat: the seat wanted; without one that of the invitation, or else the first that is open.
        invitation: the digest of the invitation that the caller shows, if it does.

    Returns:
        The answer ``{"game": view, "seat", "token"}``, `token` being None for a bot, and the viewer's part of the
        entity tag.

    Raises:
        Problem: `seat_taken`, `already_seated`, `not_host`, `invitation_required`, `invitation_invalid`,
            `sandbox_not_accepted`, `wrong_phase`, `game_over`, `not_found`.
    """
    game, account_id = reading.game, reading.account_id
    host = account_id == game.host_id
    mine = [occupant.seat for occupant in game.occupants if occupant.account_id == account_id]
    invited = None if invitation is None else access.find_invitation(game, invitation)
    if game.visibility == Game.Visibility.PRIVATE and not host and not mine and invited is None:
        raise selectors.not_found()
    if invitation is not None and invited is None:
        raise Problem(ContractReason.INVITATION_INVALID, "The invitation is not one to this table, or no longer holds.")
    closed = game.visibility == Game.Visibility.UNLISTED or game.rematch_of_id is not None
    if closed and not host and invited is None:
        raise _not_invited(game, account_id)
    if guest.kind == "bot" and not host:
        raise Problem(ContractReason.NOT_HOST, "Only the host seats bots.")
    selectors.require_waiting(game, _viewer(game, account_id))
    if guest.kind == "human" and mine and not game.hot_seat:
        raise Problem(ContractReason.ALREADY_SEATED, f"You sit in seat {mine[0]} already.", version=game.version)
    if game.sandbox and guest.kind == "human" and not host and not guest.accept_sandbox:
        detail = "Whoever made this table set its deals. Sit down with accept_sandbox if that is all right."
        raise Problem(ContractReason.SANDBOX_NOT_ACCEPTED, detail, version=game.version)
    if invited is not None and invited.seat is not None:
        if seat not in (None, invited.seat):
            raise Problem(ContractReason.INVITATION_INVALID, f"The invitation is for seat {invited.seat}.")
        seat = invited.seat
    place = _open_place(game, seat)
    at = timezone.now()
    occupant, token = _sit(game.occupants[place].seat, guest, account_id, account_name)
    if invited is not None:
        access.use_invitation(reading, invited, occupant.seat)
    settled, match = _place(game, occupant, guest.client_seed, at=at)
    place_now = _seat_of(settled, occupant)
    mine_now = guest.kind == "human"
    viewer = Viewer("seat", place_now, account_id) if mine_now else _viewer(settled, account_id)
    answer = {"game": selectors.view(settled, match, viewer), "seat": place_now, "token": token}
    return answer, viewer.tag


def _not_invited(game: GameRow, account_id: UUID | None) -> Problem:
    """The refusal of who has no invitation; whoever a seat of a rematch is kept for is told how to get it."""
    before = None if game.rematch_of_id is None else store.read_game(game.rematch_of_id, lock=False)
    kept = [] if before is None else [one.seat for one in before.occupants if one.account_id == account_id]
    if before is not None and kept:
        detail = f"Seat {kept[0]} of this rematch is kept for you: POST /v1/games/{before.id}/rematch gives it to you."
    else:
        detail = "A seat at this table needs an invitation."
    return Problem(ContractReason.INVITATION_REQUIRED, detail)


def _place(game: GameRow, occupant: Occupant, client_seed: str, *, at: datetime) -> tuple[GameRow, Any]:
    """Let somebody have an open seat of a locked table; when that fills it, it may start."""
    Seat.objects.filter(game_id=game.id, seat=occupant.seat).update(
        account_id=occupant.account_id, token_digest=occupant.token_digest, client_seed=client_seed
    )
    occupants = tuple(occupant if other.seat == occupant.seat else other for other in game.occupants)
    game = replace(game, occupants=occupants, open_seats=game.open_seats - 1)
    action = {"sit": {**occupant.to_row(), "client_seed": client_seed}}
    return _settle(game, [_seat_taken(occupant)], action, seat=occupant.seat, at=at)


def _seat_of(game: GameRow, occupant: Occupant) -> str:
    """Where somebody sits who sat down just now: seats may have been drawn since."""
    if game.seating == Game.Seating.AS_TAKEN or game.started_at is None:
        return occupant.seat
    start = next(action for _, _, action in reversed(store.read_actions(game.id, game.version)) if "start" in action)
    return str(start["drawn"][occupant.seat])


def leave_seat(*, ask: Ask, game_id: UUID, seat: str) -> Done:
    """Get up before the start; the host may make anybody get up. The seat's token dies.

    Raises:
        Problem: `not_your_seat`, `wrong_phase`, `not_found`, `stale_version`.
    """

    def leave(game: GameRow, viewer: Viewer, *, host: bool) -> GameRow:
        occupant = game.occupant(seat)
        if occupant is None:
            raise Problem(ContractReason.NOT_FOUND, "This table has no such seat.")
        if viewer.seat != seat and not host:
            known = selectors.version_told(game, viewer)
            raise Problem(ContractReason.NOT_YOUR_SEAT, "Only the host makes others get up.", version=known)
        require_version(ask.version, game.version)
        selectors.require_waiting(game, viewer)
        if occupant.kind == "open":
            raise Problem(ContractReason.NOT_FOUND, "Nobody sits in this seat.", version=game.version)
        Seat.objects.filter(game_id=game.id, seat=seat).update(account_id=None, token_digest=None, client_seed="")
        occupants = tuple(Occupant(seat) if other.seat == seat else other for other in game.occupants)
        emptied = replace(game, occupants=occupants, open_seats=game.open_seats + 1)
        left = Part("seat_left", seat, None, {"by_host": seat != viewer.seat})
        return _write_waiting(emptied, [left], {"leave": True}, seat=seat, at=timezone.now())

    with write_turn(), transaction.atomic():
        reading = selectors.read(ask.bearer, game_id, lock=True)
        mine = selectors.seats_of(reading)
        viewer = selectors.viewer_of(reading, seat if seat in mine else ask.seat or next(iter(mine), None))
        host = reading.token_seat is None and viewer.account_id == reading.game.host_id
        game = leave(reading.game, viewer, host=host)
    if viewer.seat == seat:
        viewer = _viewer(game, viewer.account_id)
    return Done(selectors.view(game, None, viewer), game.version, viewer)


def play_again(*, reading: Reading, account_name: str) -> tuple[dict[str, Any], str, bool]:
    """Play again: the same ruleset and settings, everybody who sat there offered the seat they had.

    The first who asks makes the table, is its host, and sits in the seats that they had; bots sit where they sat. Each
    other one who asks sits down there. Nobody else does without an invitation. A rematch that was aborted counts for
    nothing: whoever asks after that is the first.

    Args:
        reading: the locked reading of a game that is over, by an account's token.

    Returns:
        The answer ``{"game": view, "seats": [{"seat", "token"}]}`` with the tokens of seats that were taken now, the
        viewer's part of the entity tag, and whether anything was made: the table, or a seat taken.

    Raises:
        Problem: `not_your_seat`, `game_not_over`, `seat_taken`, `wrong_phase`, `game_over`, `not_found`,
            `spectators_forbidden`.
    """
    old, account_id = reading.game, reading.account_id
    mine = selectors.seats_of(reading)
    viewer = selectors.viewer_of(reading, next(iter(mine), None))
    if account_id is None or viewer.role == "watcher":
        raise Problem(ContractReason.NOT_YOUR_SEAT, "Only who sat at this table, and its host, play on together.")
    if old.finished_at is None:
        raise Problem(ContractReason.GAME_NOT_OVER, "The game has not ended.", version=old.version)
    at = timezone.now()

    def seat(occupant: Occupant) -> tuple[Occupant, str | None]:
        if occupant.seat in mine:
            return _sit(occupant.seat, Guest("human", name=occupant.name), account_id, account_name)
        return (occupant, None) if occupant.kind == "bot" else (Occupant(occupant.seat), None)

    new_id = selectors.rematch_of(old)
    game = None if new_id is None else store.read_game(new_id, lock=True)
    if game is None or game.status == Game.Status.ABORTED:  # perhaps while this waited for its lock
        settings = {name: getattr(old, name) for name in _SETTINGS}
        seated = [seat(occupant) for occupant in old.occupants]
        made = _make(
            selectors.ruleset_of(old),
            account_id,
            seated,
            settings,
            at=at,
            script=selectors.script_of(old),
            rematch_of=old.id,
        )
        return *made, True
    there = _viewer(game, account_id)
    if not mine or there.seat is not None:
        return {"game": selectors.view(game, selectors.match_of(game), there), "seats": []}, there.tag, False
    selectors.require_waiting(game, there)
    taken = [occupant.seat for occupant in game.occupants if occupant.seat in mine and occupant.kind != "open"]
    if taken:
        raise Problem(ContractReason.SEAT_TAKEN, f"Seat {taken[0]} was given to somebody else.", version=game.version)
    match = None
    seated = [seat(occupant) for occupant in old.occupants if occupant.seat in mine]
    for occupant, _ in seated:
        game, match = _place(game, occupant, "", at=at)
    return *_given_out(game, match, account_id, seated), True


def start_game(*, ask: Ask, game_id: UUID) -> Done:
    """Start a full table.

    Raises:
        Problem: `not_host`, `game_not_full`, `wrong_phase`, `game_over`, and as every action.
    """

    def begin(game: GameRow, viewer: Viewer) -> tuple[GameRow, Any]:
        selectors.require_waiting(game, viewer)
        if game.open_seats:
            detail = f"Seats still open: {game.open_seats}."
            raise Problem(ContractReason.GAME_NOT_FULL, detail, version=game.version)
        return play.start(game, seat=viewer.seat)

    return _host_act(ask, game_id, begin)


def abort_game(*, ask: Ask, game_id: UUID) -> Done:
    """End the game without a winner.

    Before the start the host may always do so; afterwards only when no other person sits at the table.

    Raises:
        Problem: `not_host`, `abort_not_allowed`, `game_over`, and as every action.
    """

    def abort(game: GameRow, viewer: Viewer) -> tuple[GameRow, Any]:
        if game.finished_at is not None:
            raise Problem(Reason.GAME_OVER, "The game is over.", version=game.version)
        match = selectors.match_of(game)
        if match is None:
            return _abort_waiting(game, viewer), None
        others = [o.seat for o in game.occupants if o.kind == "human" and o.account_id != viewer.account_id]
        if others:
            detail = f"Other people play (seat {', '.join(others)}): resign instead."
            raise Problem(ContractReason.ABORT_NOT_ALLOWED, detail, version=game.version)
        return play.move(game, match, viewer.seat, {"abort": True})

    return _host_act(ask, game_id, abort)


def _host_act(ask: Ask, game_id: UUID, effect: Callable[[GameRow, Viewer], tuple[GameRow, Any]]) -> Done:
    """What only the host may do, with the account's own token: one transaction, safe to repeat with a key."""
    with write_turn(), transaction.atomic():
        reading = selectors.read(ask.bearer, game_id, lock=True)
        viewer = selectors.require_host(reading, ask.seat)
        game = reading.game
        if ask.dry_run:
            require_version(ask.version, game.version)
            with transaction.atomic():
                effect(game, viewer)
                transaction.set_rollback(True)
            return Done({"allowed": True, "legal": []})
        # In the account's name: the seat that it has may be another one after this.
        kept = play.earlier(ask, game, viewer, by_account=True)
        if kept is None:
            require_version(ask.version, game.version)
            game, match = effect(game, viewer)
            viewer = selectors.require_host(replace(reading, game=game), ask.seat)
            play.remember(ask, game, viewer, by_account=True)
    if kept is not None:
        return play.again(game, kept, viewer)
    return Done(selectors.view(game, match, viewer), game.version, viewer)


def _sit(seat: str, guest: Guest, account_id: UUID | None, account_name: str) -> tuple[Occupant, str | None]:
    """Who will sit in a seat, and the token for it, which only a person gets."""
    if guest.kind == "human":
        token, digest = bearers.make(bearers.SEAT)
        return Occupant(seat, "human", guest.name or account_name, account_id, token_digest=digest), token
    if guest.kind == "bot" and guest.bot is not None:
        return Occupant(seat, "bot", guest.name or REGISTRY[guest.bot].title, bot=guest.bot), None
    return Occupant(seat), None


def _seat_taken(occupant: Occupant) -> Part:
    data = {"kind": occupant.kind, "name": occupant.name, "bot": occupant.bot}
    return Part("seat_taken", occupant.seat, None, data)


def _open_place(game: GameRow, seat: str | None) -> int:
    places = [place for place, occupant in enumerate(game.occupants) if seat in (None, occupant.seat)]
    if not places:
        raise selectors.no_such_seat(game)
    for place in places:
        if game.occupants[place].kind == "open":
            return place
    detail = f"Seat {seat} is taken." if seat else "Every seat is taken."
    raise Problem(ContractReason.SEAT_TAKEN, detail, version=game.version)


def _settle(
    game: GameRow, parts: Sequence[Part], action: Mapping[str, Any], *, seat: str | None, at: datetime
) -> tuple[GameRow, Any]:
    """Write who sits where; when the table is full and starts by itself, start it with an action of its own."""
    game = _write_waiting(game, parts, action, seat=seat, at=at)
    if game.open_seats or game.start != Game.Start.WHEN_FULL:
        return game, None
    return play.start(game, seat=None)


def _write_waiting(
    game: GameRow, parts: Sequence[Part], action: Mapping[str, Any], *, seat: str | None, at: datetime
) -> GameRow:
    changes = {"occupants": game.occupants, "open_seats": game.open_seats}
    return play.write(game, Outcome(at, action, seat, None, codec.entries(parts), changes))


def _abort_waiting(game: GameRow, viewer: Viewer) -> GameRow:
    at = timezone.now()
    sides = table(*_shape(game)).sides
    result = {"winners": [], "reason": "aborted", "scores": dict.fromkeys(sides, 0)}
    changes = {"status": str(Game.Status.ABORTED), "result": orjson.dumps(result).decode(), "finished_at": at}
    entries = codec.entries([Part("game_aborted", viewer.seat, None, result)])
    return play.write(game, Outcome(at, {"abort": True}, viewer.seat, None, entries, changes))


def _shape(game: GameRow) -> tuple[int, str]:
    ruleset = selectors.ruleset_of(game)
    return ruleset.players, ruleset.teams


def _insert(
    ruleset: Ruleset,
    host_id: UUID,
    occupants: tuple[Occupant, ...],
    settings: Mapping[str, Any],
    *,
    at: datetime,
    rematch_of: UUID | None,
) -> GameRow:
    """The row of a new table, before its first event."""
    row = GameRow(
        id=uuid7(),
        created_at=at,
        version=0,
        status=str(Game.Status.WAITING),
        host_id=host_id,
        rematch_of_id=rematch_of,
        preset=ruleset.preset,
        ruleset=ruleset.text,
        ruleset_hash=ruleset.hash,
        engine=ENGINE,
        occupants=occupants,
        open_seats=sum(occupant.kind == "open" for occupant in occupants),
        state="",
        turn_seat=None,
        bot_due_at=None,
        deadline=None,
        result=None,
        started_at=None,
        finished_at=None,
        **settings,
    )
    values = {name: getattr(row, name) for name in GameRow.__slots__}
    texts = {"occupants": store.dump_occupants(occupants), "version": 1}
    Game.objects.create(**{**values, **texts})
    return row
