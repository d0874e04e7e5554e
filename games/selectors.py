"""Reads: who may see what of a table, the view, and the lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import Case, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.lookups import LessThanOrEqual
from django.utils import timezone

from accounts.bearer import WATCHER, Bearer
from accounts.selectors import unknown_token
from contract.pages import Place, rows_behind
from contract.problems import ContractReason, Fault, Problem, malformed
from contract.scopes import Scope
from events import log
from events.stream import Late
from games import codec, steps, store
from games.models import Audit, Deal, Game, Invitation, Sandbox, Seat, WatchLink
from games.scripts import Layout
from games.store import GameRow, Reading
from spades import Match, Reason, Ruleset, ScoreSheet, Seed, SideBefore
from spades import view as spades_view

__all__ = [
    "Viewer",
    "list_audit",
    "list_deals",
    "list_games",
    "match_of",
    "read",
    "ruleset_of",
    "seats_of",
    "view",
    "view_at",
    "viewer_of",
]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at a table. A seat sees its own cards; the others see what is public."""

    role: str
    """``seat``, ``host`` (who made the table and does not sit at it) or ``watcher``."""
    seat: str | None
    account_id: UUID | None

    @property
    def tag(self) -> str:
        """The viewer's part of an entity tag."""
        return self.seat or self.role


def read(bearer: Bearer, game_id: UUID, *, lock: bool = False, watching: bool = False) -> Reading:
    """The game as `store.read`, refusals as problems.

    Args:
        watching: whether a watch link will do.

    Raises:
        Problem: `unauthenticated`, `not_found`, `scope_missing`.
    """
    if bearer.kind == WATCHER and not watching:
        raise Problem(ContractReason.SCOPE_MISSING, "A watch link shows a table and does nothing there.")
    try:
        reading = store.read(bearer, game_id, lock=lock)
    except store.Unauthenticated:
        raise unknown_token() from None
    except store.Unknown:
        raise not_found() from None
    if reading.scopes is not None and Scope.GAMES not in reading.scopes:
        raise Problem(ContractReason.SCOPE_MISSING, f"The token lacks the scope '{Scope.GAMES}'.")
    return reading


def require_known(bearer: Bearer) -> None:
    """Refuse a token that is not in force, whatever it might be good for.

    Raises:
        Problem: `unauthenticated`.
    """
    if not store.is_known(bearer):
        raise unknown_token()


def viewer_of(reading: Reading, named: str | None) -> Viewer:
    """Who is looking.

    Args:
        named: the seat in the `X-Seat` header, if there is one.

    Raises:
        Problem: `not_your_seat`, `seat_ambiguous`, `spectators_forbidden`, or `not_found` for a private table.
    """
    game, account_id = reading.game, reading.account_id
    mine = seats_of(reading)
    if not mine and account_id != game.host_id and not reading.by_link:
        _require_watchable(game)
    if named is not None and named not in mine:
        raise Problem(ContractReason.NOT_YOUR_SEAT, f"Your token does not hold seat {named} at this table.")
    if named is None and len(mine) > 1:
        raise Problem(ContractReason.SEAT_AMBIGUOUS, f"You hold seats {', '.join(mine)}: name one in X-Seat.")
    if mine:
        return Viewer("seat", named or mine[0], account_id)
    return Viewer("host" if account_id == game.host_id else "watcher", None, account_id)


def seats_of(reading: Reading) -> list[str]:
    """The seats that the token may act for."""
    if reading.token_seat is not None:
        return [reading.token_seat]
    if reading.account_id is None:
        return []
    return [occupant.seat for occupant in reading.game.occupants if occupant.account_id == reading.account_id]


def require_host(reading: Reading, named: str | None = None) -> Viewer:
    """The viewer that the host is; whoever is not the host by its own token is refused.

    Args:
        named: which of the host's seats looks, if it has several; the account acts, so it need not be said.

    Raises:
        Problem: `not_host`, or as `viewer_of` for a table that the caller may not know.
    """
    mine = seats_of(reading)
    viewer = viewer_of(reading, named if named in mine else next(iter(mine), None))
    if reading.token_seat is not None or viewer.account_id != reading.game.host_id:
        raise Problem(ContractReason.NOT_HOST, "This takes the token of the account that made the table.")
    return viewer


def require_waiting(game: GameRow, viewer: Viewer) -> None:
    """Refuse what can only be done before the start.

    Raises:
        Problem: `wrong_phase` or `game_over`.
    """
    if game.status == Game.Status.WAITING:
        return
    until, version = told_until(game, viewer), version_told(game, viewer)
    if game.finished_at is not None and (until is None or game.finished_at <= until):
        raise Problem(Reason.GAME_OVER, "The game is over.", version=version)
    raise Problem(Reason.WRONG_PHASE, "The game has started.", version=version)


def _require_watchable(game: GameRow) -> None:
    if game.visibility == Game.Visibility.PRIVATE:
        raise not_found()
    if game.spectators == Game.Spectators.FORBIDDEN and game.status != Game.Status.WAITING:
        raise Problem(ContractReason.SPECTATORS_FORBIDDEN, "This table has no spectators.")


def not_found() -> Problem:
    """The refusal of a table that there is not, or that the caller may not know of: the two are answered alike."""
    return Problem(ContractReason.NOT_FOUND, "There is no such game, or it is not yours to know of.")


def no_such_seat(game: GameRow) -> Problem:
    """The refusal of a body that names a seat which the table has not."""
    known = ", ".join(occupant.seat for occupant in game.occupants)
    return malformed([Fault("/seat", ContractReason.NOT_ALLOWED_VALUE, f"The seats here are {known}.")])


# Who is told late.


def told_until(game: GameRow, viewer: Viewer) -> datetime | None:
    """The time up to which a viewer is told what happened; None for who is told all of it at once.

    Only watchers are told late, and only what happened since the start: before it there is nothing to be hidden, and
    somebody who wants to sit down has to see who sits there.
    """
    if not game.spectator_delay or viewer.role != "watcher" or game.started_at is None:
        return None
    return told_until_of(game.started_at, game.spectator_delay)


def told_until_of(started_at: datetime, delay: int) -> datetime:
    """The same for any watcher of a table that started then, with a delay in seconds."""
    return max(timezone.now() - timedelta(seconds=delay), started_at - timedelta(microseconds=1))


def version_for(game: GameRow, viewer: Viewer) -> int:
    """The number of the last event that a viewer has been told."""
    until = told_until(game, viewer)
    return game.version if until is None else log.version_at(game.id, until)


def version_told(game: GameRow, viewer: Viewer) -> int | None:
    """The game's version for a problem; None for who may not know it yet."""
    return game.version if told_until(game, viewer) is None else None


def hides_origin(game: GameRow, viewer: Viewer) -> bool:
    """Whether a viewer is not told yet which game this one is a rematch of: that game may go on for them.

    It ended before this one was made, and its watchers are told as late as those of this one.
    """
    if game.rematch_of_id is None or not game.spectator_delay or viewer.role != "watcher":
        return False
    return timezone.now() < game.created_at + timedelta(seconds=game.spectator_delay)


def occupant_for(game: GameRow, viewer: Viewer, seat: str) -> store.Occupant | None:
    """Who sits in a seat, as far as the viewer has been told; None when the table has no such seat."""
    until = told_until(game, viewer)
    if until is None or game.started_at is None or game.started_at <= until:
        return game.occupant(seat)
    seated = occupants_at(game.id, log.version_at(game.id, until))
    return next((occupant for occupant in seated if occupant.seat == seat), None)


def late(game: GameRow, viewer: Viewer, version: int) -> Late | None:
    """How a viewer who waits is told late; None for who is told at once.

    Args:
        version: what `version_for` gave.
    """
    if not game.spectator_delay or viewer.role != "watcher":
        return None
    if game.started_at is None:
        return Late(game.version, None, 0)
    next_at = log.time_of(game.id, version + 1) if version < game.version else None
    due_in = None
    if next_at is not None:
        due_in = max(0.0, game.spectator_delay - (timezone.now() - next_at).total_seconds())
    return Late(game.version, due_in, game.spectator_delay)


# The view.


def ruleset_of(game: GameRow) -> Ruleset:
    """The ruleset that the game was made with."""
    return Ruleset.parse(game.ruleset)


def match_of(game: GameRow) -> Match | None:
    """The match; None before the start."""
    return codec.load_match(ruleset_of(game), game.state) if game.state else None


def script_of(game: GameRow) -> dict[str, Any] | None:
    """What was set about a sandbox table's deals; None at any other table. It is shown to nobody."""
    if not game.sandbox:
        return None
    script: dict[str, Any] = orjson.loads(Sandbox.objects.get(game_id=game.id).script)
    return script


def rematch_of(game: GameRow) -> UUID | None:
    """The game by which this one is played again, if there is one that was not aborted."""
    if game.finished_at is None:
        return None
    again = Game.objects.filter(rematch_of_id=game.id).exclude(status=Game.Status.ABORTED)
    return again.values_list("id", flat=True).first()


def view(game: GameRow, match: Match | None, viewer: Viewer, *, rematch: UUID | None = None) -> dict[str, Any]:
    """The table as `viewer` may see it, in the API's form.

    Args:
        rematch: what `rematch_of` gave; an action's answer has none, so that it can be made again.
    """
    ruleset = ruleset_of(game)
    origin = None if hides_origin(game, viewer) else game.rematch_of_id
    if match is None:
        state = spades_view.before_start(ruleset)
        state["result"] = game.result and orjson.loads(game.result)
    elif viewer.seat is None:
        state = spades_view.for_public(match)
    else:
        state = spades_view.for_seat(match, viewer.seat)
    for row, occupant in zip(state["seats"], game.occupants, strict=True):
        row["kind"], row["name"], row["bot"], row["stand_in"] = occupant.kind, occupant.name, occupant.bot, False
    if state["turn"] is not None:
        state["turn"]["deadline"] = game.deadline and timestamp(game.deadline)
    return {
        "id": str(game.id),
        "version": game.version,
        "status": game.status,
        "created_at": timestamp(game.created_at),
        "visibility": game.visibility,
        "spectators": game.spectators,
        "spectator_delay": game.spectator_delay,
        "start": game.start,
        "seating": game.seating,
        "hot_seat": game.hot_seat,
        "rematch_of": origin and str(origin),
        "rematch": rematch and str(rematch),
        "sandbox": game.sandbox,
        "ruleset": _ruleset_json(game.ruleset),
        "viewer": {"role": viewer.role, "seat": viewer.seat},
        **state,
    }


@lru_cache(maxsize=1024)
def _ruleset_json(text: str) -> orjson.Fragment:
    """Encoded once: it is half of every view and never changes during a game."""
    return orjson.Fragment(orjson.dumps(Ruleset.parse(text).resolved()))


@lru_cache(maxsize=1024)
def timestamp(at: datetime) -> str:
    """RFC 3339 in UTC with microseconds."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def view_at(game: GameRow, version: int, viewer: Viewer) -> dict[str, Any]:
    """The view as it was answered at an earlier version, made again from the actions.

    Args:
        version: that of an action.
    """
    if not game.state:
        return view(game, None, viewer)
    match = _remembered(game, version)
    if match is None:
        return view(_before_start(game, version), None, viewer)
    status = Game.Status.ACTIVE
    if match.ending is not None:
        status = Game.Status.ABORTED if match.ending.reason == "aborted" else Game.Status.FINISHED
    return view(replace_version(game, version, status), match, viewer)


def replace_version(game: GameRow, version: int, status: str) -> GameRow:
    """The row as it was at a version, for a view: nobody was at the clock then who is now."""
    values = {name: getattr(game, name) for name in GameRow.__slots__}
    return GameRow(**{**values, "version": version, "status": status, "deadline": None})


_MATCHES_MOST = 256
_matches: dict[tuple[UUID, int], Match | None] = {}
"""Matches made again, since all who watch a table late look at the same one. What was committed never changes."""


def _remembered(game: GameRow, version: int) -> Match | None:
    key = game.id, version
    try:
        return _matches[key]
    except KeyError:
        match = match_at(game, version)
    if len(_matches) >= _MATCHES_MOST:
        _matches.clear()
    _matches[key] = match
    return match


def _before_start(game: GameRow, version: int) -> GameRow:
    """The row as it was at a version before the start."""
    values = {name: getattr(game, name) for name in GameRow.__slots__}
    then = {"version": version, "status": Game.Status.WAITING, "result": None, "deadline": None}
    return GameRow(**{**values, **then, "occupants": occupants_at(game.id, version)})


def occupants_at(game_id: UUID, version: int) -> tuple[store.Occupant, ...]:
    """Who sat where after the action with that version, before the start."""
    seats: dict[str, store.Occupant] = {}
    for _, seat, action in store.read_actions(game_id, version):
        if "create" in action:
            seats = {row["seat"]: store.occupant_of(row) for row in action["create"]["seats"]}
        elif "sit" in action:
            seats[action["sit"]["seat"]] = store.occupant_of(action["sit"])
        elif "leave" in action and seat is not None:
            seats[seat] = store.Occupant(seat)
    return tuple(seats.values())


def match_at(game: GameRow, version: int) -> Match | None:
    """The match as it was after the action with that version, played again from the beginning of its deal.

    Returns:
        None before the start.

    Raises:
        ValueError: no action has this version.
    """
    actions = store.read_deal_actions(game.id, version)
    if not actions or actions[-1][0] != version:
        raise ValueError(f"game {game.id} has no action with version {version}")
    if actions[-1][3].keys() & _BEFORE_START:
        return None
    deals = {(deal.number, deal.attempt): deal for deal in store.read_deals(game.id)}
    ruleset, seed_of = ruleset_of(game), _seeds(deals)
    number = actions[0][1]
    if number is None:  # the start itself
        first = seed_of(1, 1)
        return steps.start(ruleset, first.seed, seed_of, layout=first.layout)[0]
    sheet = ScoreSheet.start(ruleset)
    for score in store.read_scores(game.id, number):
        sides = {
            name: SideBefore(side["score"], side["bags"], sheet.sides[name].sets + bool(side["set"]))
            for name, side in score["sides"].items()
        }
        sheet = ScoreSheet(ruleset, sides, sheet.deals + 1)
    first = seed_of(number, 1)
    match = steps.lay_out(Match(ruleset, sheet, deals[number, 1].dealer or ""), first.seed, first.layout)
    for _, _, seat, action in actions:
        match, _ = steps.step(match, seat, action, seed_of)
    return match


_BEFORE_START = frozenset({"create", "sit", "leave"})
"""What people do at a table before it starts, which is no step of its match."""


def _seeds(deals: Mapping[tuple[int, int], store.DealRow]) -> steps.SeedOf:
    """What was drawn and promised, by the number and attempt of the deal."""

    def seed_of(number: int, attempt: int) -> steps.Drawn:
        deal = deals[number, attempt]
        promised = deals.get((number, attempt + 1)) or deals[number + 1, 1]  # a redeal takes the seed next in line
        layout = None if deal.layout is None else Layout.parse(deal.layout)
        return steps.Drawn(Seed(bytes.fromhex(deal.seed), deal.client_seeds or ()), promised.commitment, layout)

    return seed_of


def replay(game: GameRow, *, until: int | None = None) -> list[tuple[int, Match, list[spades_view.Part]]]:
    """Every step of a game again, from its actions, ruleset and seeds.

    Returns:
        For each action since the start: the version after it, the match, and the parts of its events.
    """
    deals = {(deal.number, deal.attempt): deal for deal in store.read_deals(game.id)}
    ruleset = ruleset_of(game)

    seed_of = _seeds(deals)
    steps_taken = []
    match: Match | None = None
    for version, seat, action in store.read_actions(game.id, game.version if until is None else until):
        if "start" in action:
            first = seed_of(1, 1)
            match, events = steps.start(ruleset, first.seed, seed_of, action.get("drawn"), first.layout)
        elif match is not None:
            match, events = steps.step(match, seat, action, seed_of)
        else:
            continue  # somebody sat down or left before the start
        steps_taken.append((version, match, events))
    return steps_taken


# Lists.


def list_games(
    account_id: UUID,
    *,
    status: str | None,
    preset: str | None,
    open_seats: bool | None,
    mine: bool | None,
    after: Place | None,
    limit: int,
) -> list[Game]:
    """Tables that the account may know of, newest first, as it may see them; the state column is not read.

    Args:
        open_seats: only tables with, or only without, an open seat.
        mine: only tables that the account made or sits at, or only others.
        after: the creation and id of the last one that the caller has.
    """
    seated = Q(host_id=account_id) | Exists(Seat.objects.filter(game=OuterRef("pk"), account_id=account_id))
    games = Game.objects.filter(Q(visibility=Game.Visibility.PUBLIC) | seated).defer("state")
    games = games.annotate(
        watched_late=Q(spectator_delay__gt=0) & ~seated,
        told_late=Q(spectator_delay__gt=0, started_at__isnull=False) & ~seated,
    )
    if mine is not None:
        games = games.filter(seated) if mine else games.exclude(seated)
    if status is not None:
        games = games.annotate(told_status=_told_status(timezone.now())).filter(told_status=status)
    if preset is not None:
        games = games.filter(preset=preset)
    if open_seats is not None:
        games = games.filter(open_seats__gt=0) if open_seats else games.filter(open_seats=0)
    rows: list[Any] = rows_behind(after, games, limit, newest_first=True)
    _tell_late([row for row in rows if row.told_late])
    now = timezone.now()
    for row in rows:
        if row.watched_late and now < row.created_at + timedelta(seconds=row.spectator_delay):
            row.rematch_of_id = None  # as `hides_origin` has it
    return rows


def _told_status(now: datetime) -> Case:
    """The status of a table as the account knows it, which for a watcher told late may be an older one."""
    second = timedelta(seconds=1) if connection.vendor == "postgresql" else 1_000_000  # SQLite counts microseconds
    delay = ExpressionWrapper(F("spectator_delay") * second, output_field=DurationField())

    def due(column: str) -> Q:
        return Q(told_late=False) | Q(LessThanOrEqual(F(column) + delay, now))

    ended = Q(finished_at__isnull=False)
    return Case(
        When(~ended & due("started_at"), then=F("status")),
        When(ended & due("finished_at"), then=F("status")),
        When(due("started_at"), then=Value(Game.Status.ACTIVE)),
        default=Value(Game.Status.WAITING),
    )


def _tell_late(rows: Sequence[Game]) -> None:
    """Make rows of the list say what a watcher has been told of these tables."""
    until = {row.id: told_until_of(row.started_at, row.spectator_delay) for row in rows if row.started_at}
    versions = log.versions_at(until)
    for row in rows:
        row.version = versions[row.id]
        if row.finished_at is not None and row.finished_at > until[row.id]:
            row.status, row.finished_at, row.result = Game.Status.ACTIVE, None, None
        if row.started_at is not None and row.started_at > until[row.id]:
            row.status = Game.Status.WAITING
            row.occupants = store.dump_occupants(occupants_at(row.id, row.version))


def summary(game: Game) -> dict[str, Any]:
    """One entry of the list of games; nothing in it is secret from anybody who may know of the table."""
    seats = [{key: seat[key] for key in ("seat", "kind", "name", "bot")} for seat in orjson.loads(game.occupants)]
    return {
        "id": str(game.id),
        "created_at": timestamp(game.created_at),
        "version": game.version,
        "status": game.status,
        "preset": game.preset,
        "ruleset_hash": game.ruleset_hash,
        "visibility": game.visibility,
        "spectators": game.spectators,
        "spectator_delay": game.spectator_delay,
        "start": game.start,
        "seating": game.seating,
        "hot_seat": game.hot_seat,
        "sandbox": game.sandbox,
        "rematch_of": game.rematch_of_id and str(game.rematch_of_id),
        "seats": seats,
        "open_seats": game.open_seats,
        "result": game.result and orjson.loads(game.result),
        "finished_at": game.finished_at and timestamp(game.finished_at),
    }


def list_deals(game_id: UUID, *, after: int, limit: int, until: datetime | None = None) -> list[dict[str, Any]]:
    """The deals that have started, in order, with what the events have told everybody about them.

    Args:
        until: the time up to which the reader is told, as `told_until` gives it.
    """
    started = _deals(game_id, until)
    again = started.filter(number=OuterRef("number"), attempt__gt=OuterRef("attempt"))
    rows = started.filter(~Exists(again), number__gt=after).order_by("number")  # nothing is told of one called off
    return [_deal_json(row, until) for row in rows[:limit]]


def get_deal(game_id: UUID, number: int, until: datetime | None = None) -> dict[str, Any] | None:
    """One deal that has started; None when there is none of that number. Arguments as for `list_deals`."""
    row = _deals(game_id, until).filter(number=number).order_by("-attempt").first()
    return None if row is None else _deal_json(row, until)


def _deals(game_id: UUID, until: datetime | None) -> QuerySet[Deal]:
    rows = Deal.objects.filter(game_id=game_id, dealer__isnull=False)
    return rows if until is None else rows.filter(started_at__lte=until)


def _deal_json(row: Deal, until: datetime | None) -> dict[str, Any]:
    if until is not None and row.finished_at is not None and row.finished_at > until:
        row.finished_at = row.bids = row.tricks = row.score = None
    return {
        "number": row.number,
        "attempt": row.attempt,
        "dealer": row.dealer,
        "commitment": row.commitment,
        "started_at": row.started_at and timestamp(row.started_at),
        "finished_at": row.finished_at and timestamp(row.finished_at),
        "bids": row.bids and orjson.loads(row.bids),
        "tricks": row.tricks and orjson.loads(row.tricks),
        "score": row.score and orjson.loads(row.score),
    }


def seats_json(occupants: Sequence[store.Occupant]) -> list[dict[str, Any]]:
    """Who sits where, as the lists and events tell it."""
    return [{"seat": o.seat, "kind": o.kind, "name": o.name, "bot": o.bot} for o in occupants]


def list_audit(game_id: UUID, *, holder: UUID | None, after: Place | None, limit: int) -> list[Audit]:
    """What was done about a table outside of its game, oldest first.

    Args:
        holder: only what was about a seat while this account held it; None for all of it.
        after: time and id of the last one that the caller has.
    """
    rows = Audit.objects.filter(game_id=game_id)
    if holder is not None:
        rows = rows.filter(holder_id=holder)
    return rows_behind(after, rows, limit)


def audit_json(row: Audit) -> dict[str, Any]:
    """One entry of a table's audit."""
    return {
        "id": str(row.id),
        "at": timestamp(row.created_at),
        "version": row.version,
        "act": row.act,
        "seat": row.seat,
        "subject": row.subject and str(row.subject),
    }


# Invitations and watch links.

L = TypeVar("L", Invitation, WatchLink)


def links_in_force(model: type[L], game_id: UUID, at: datetime) -> QuerySet[L]:
    """A table's invitations or watch links that have not expired."""
    return model.objects.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=at), game_id=game_id)


def list_links(model: type[L], game_id: UUID, *, after: Place | None, limit: int) -> list[L]:
    """A table's invitations or watch links, expired ones too, oldest first.

    Args:
        after: time and id of the last one that the caller has.
    """
    return rows_behind(after, model.objects.filter(game_id=game_id), limit)


def get_link(model: type[L], game_id: UUID, link_id: UUID) -> L:
    """One invitation or watch link of a table.

    Raises:
        Problem: `not_found`.
    """
    link = model.objects.filter(game_id=game_id, id=link_id).first()
    if link is None:
        raise Problem(ContractReason.NOT_FOUND, "This table has nothing of that id.")
    return link


def link_json(link: Invitation | WatchLink) -> dict[str, Any]:
    """An invitation or a watch link as its host sees it; the token was shown once."""
    shown: dict[str, Any] = {
        "id": str(link.id),
        "name": link.name,
        "created_at": timestamp(link.created_at),
        "expires_at": link.expires_at and timestamp(link.expires_at),
        "in_force": link.expires_at is None or link.expires_at > timezone.now(),
    }
    if isinstance(link, Invitation):
        shown |= {"seat": link.seat, "uses": link.uses, "used": link.used}
        shown["in_force"] = shown["in_force"] and link.used < link.uses
    return shown
