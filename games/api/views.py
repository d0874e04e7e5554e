"""The endpoints: HTTP in, one service call, JSON out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from accounts import bearer as bearers
from accounts import idempotency
from accounts import selectors as accounts
from contract import pages
from contract.endpoint import Endpoint, answer, not_modified
from contract.etags import etag, if_match_version, matches_none
from contract.idempotency import fingerprint, key_from
from contract.problems import ContractReason, Problem
from contract.queries import Parameter
from contract.reasons import BID_REASONS, CARD_REASONS, DRAW_REASONS, RULESET_REASONS
from contract.schema import ACCOUNT, SEAT, WATCHER, operation
from contract.scopes import Scope
from contract.serializers import NothingSerializer, read_body
from contract.shapes import ref
from events import api as events_api
from events.stream import Reader
from events.writes import write_turn
from games import selectors
from games.api.serializers import (
    BidSerializer,
    DrawSerializer,
    GameSerializer,
    LookSerializer,
    PassSerializer,
    PlaySerializer,
    TakeSeatSerializer,
)
from games.models import Game
from games.selectors import Viewer
from games.services import play, tables
from games.services.play import Ask, Done
from games.services.tables import Guest
from games.store import GameRow
from spades import PRESETS, DrawDecision, Reason

__all__ = [
    "AbortView",
    "BidsView",
    "DealView",
    "DealsView",
    "DrawsView",
    "EventsView",
    "GameView",
    "GamesView",
    "LooksView",
    "PassesView",
    "PlaysView",
    "RedealsView",
    "RematchView",
    "ResignationsView",
    "SeatView",
    "SeatsView",
    "StartView",
]

TURN = (Reason.NOT_YOUR_TURN, Reason.WRONG_PHASE, Reason.GAME_OVER, ContractReason.NOT_YOUR_SEAT)
SEES = (ContractReason.NOT_YOUR_SEAT, ContractReason.SPECTATORS_FORBIDDEN)
READERS = (ACCOUNT, SEAT, WATCHER)


def _ask(endpoint: Endpoint, request: Request, serializer: Any) -> tuple[Ask, dict[str, Any]]:
    """What comes with an action, and its body. A token that is none is refused before a body that cannot be read."""
    bearer = bearers.require(request)
    try:
        body = read_body(request, serializer)
        key = key_from(request)
        version = if_match_version(request)
    except Problem:
        # Where all can be read the token is found, or not, together with the game: one query less for every action.
        selectors.require_known(bearer)
        raise
    ask = Ask(
        bearer=bearer,
        seat=request.META.get("HTTP_X_SEAT"),
        version=version,
        key=key,
        fingerprint=fingerprint(request.method or "", request.path, request.data) if key else "",
        dry_run=endpoint.query.get("dry_run", False),
    )
    return ask, body


def _done(done: Done) -> HttpResponse:
    response = answer(done.body)
    if done.viewer is not None and done.version is not None:
        response["ETag"] = etag(done.version, done.viewer.tag)
    if done.replayed:
        response["Idempotency-Replayed"] = "true"
    return response


def _act(
    endpoint: Endpoint, request: Request, serializer: Any, service: Callable[..., Done], **ids: Any
) -> HttpResponse:
    ask, body = _ask(endpoint, request, serializer)
    return _done(service(ask=ask, **ids, **body))


class GamesView(Endpoint):
    """`/v1/games`."""

    @operation(
        "list_games",
        summary="List tables",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        parameters=[
            Parameter("status", kind="string", description="Only these.", choices=tuple(Game.Status.values)),
            Parameter("preset", kind="string", description="Only tables of this preset.", choices=tuple(PRESETS)),
            Parameter("open", kind="boolean", description="Only tables with an open seat, or only full ones."),
            Parameter("mine", kind="boolean", description="Only tables that you made or sit at, or only others."),
            pages.CURSOR,
            pages.LIMIT,
        ],
        responses={200: ref("GamePage")},
    )
    def get(self, request: Request) -> HttpResponse:
        """List public tables and your own, newest first."""
        principal = accounts.principal_of(request, Scope.GAMES)
        query = self.query
        read = partial(
            selectors.list_games,
            principal.account_id,
            status=query["status"],
            preset=query["preset"],
            open_seats=query["open"],
            mine=query["mine"],
        )
        return answer(pages.listed(query, read, selectors.summary))

    @operation(
        "create_game",
        summary="Make a table",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=GameSerializer,
        responses={201: ref("CreatedGame")},
        reasons=RULESET_REASONS,
        tagged=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Make a table under a ruleset and seat whoever you name.

        A table that is full starts by itself, unless it waits for the host. The answer has the token of your seat, this
        once.
        """
        principal = accounts.principal_of(request, Scope.GAMES)
        body = read_body(request, GameSerializer)
        guests = [Guest(**guest) for guest in body.pop("seats", [])]

        def create() -> idempotency.Answer:
            made, viewer = tables.create_game(
                account_id=principal.account_id,
                account_name=accounts.get_account(principal.account_id).name,
                seats=guests,
                **body,
            )
            return created(made, viewer, f"/v1/games/{made['game']['id']}")

        return kept(request, principal.key, create)


def created(body: dict[str, Any], viewer: str, location: str) -> idempotency.Answer:
    """The answer to what made a seat or a table: the view in it has a tag, and there is an address."""
    headers = {"Location": location, "ETag": etag(body["game"]["version"], viewer)}
    return idempotency.Answer(201, body, headers)


def read_table(request: Request, game_id: UUID) -> tuple[GameRow, Viewer]:
    """The table, for anybody who may see it, and as whom. Raises as `selectors.read` and `selectors.viewer_of`."""
    reading = selectors.read(bearers.require(request), game_id, watching=True)
    return reading.game, selectors.viewer_of(reading, request.META.get("HTTP_X_SEAT"))


def kept(request: Request, principal: str, effect: Callable[[], idempotency.Answer]) -> HttpResponse:
    """Run an effect in its turn and in one transaction, once for each `Idempotency-Key`."""
    with write_turn():
        return idempotency.answered(request, principal, effect)


class GameView(Endpoint):
    """`/v1/games/{game_id}`."""

    @operation(
        "get_game",
        summary="View a table",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=READERS,
        responses={200: ref("View")},
        reasons=SEES,
        conditional=True,
        seat=True,
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """The table as you may see it: your hand and nobody else's. Its `ETag` goes into `If-Match` of an action."""
        game, viewer = read_table(request, game_id)
        version = selectors.version_for(game, viewer)
        rematch = selectors.rematch_of(game) if version == game.version else None
        # A rematch is no event of the game that it follows, so the version alone would not tell the two views apart,
        # nor those before and after a watcher of the rematch may know what it follows.
        seen = viewer.tag if rematch is None else f"{viewer.tag}-rematch-{rematch.hex}"
        tag = etag(version, f"{seen}-early" if selectors.hides_origin(game, viewer) else seen)
        if matches_none(request, tag):
            return not_modified(tag)
        if version == game.version:
            view = selectors.view(game, selectors.match_of(game), viewer, rematch=rematch)
        else:
            view = selectors.view_at(game, version, viewer)
        return answer(view, headers={"ETag": tag})


class SeatsView(Endpoint):
    """`/v1/games/{game_id}/seats`."""

    @operation(
        "take_seat",
        summary="Sit down",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=TakeSeatSerializer,
        responses={201: ref("JoinedGame")},
        reasons=(
            ContractReason.SEAT_TAKEN,
            ContractReason.ALREADY_SEATED,
            ContractReason.NOT_HOST,
            ContractReason.INVITATION_REQUIRED,
            ContractReason.INVITATION_INVALID,
            ContractReason.SANDBOX_NOT_ACCEPTED,
            Reason.WRONG_PHASE,
            Reason.GAME_OVER,
        ),
        tagged=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Take an open seat before the start, or, as the host, seat a bot.

        At an unlisted or a private table a person who is not the host needs an `invitation`.
        The answer has the seat's token, this once.
        """
        bearer = bearers.require(request)
        principal = accounts.principal_for(bearer, Scope.GAMES)
        body = read_body(request, TakeSeatSerializer)
        seat, invitation = body.pop("seat", None), body.pop("invitation", None)

        def take() -> idempotency.Answer:
            reading = selectors.read(bearer, game_id, lock=True)
            made, viewer = tables.take_seat(
                reading=reading,
                guest=Guest(**body),
                account_name=accounts.get_account(principal.account_id).name,
                seat=seat,
                invitation=invitation,
            )
            return created(made, viewer, f"/v1/games/{game_id}/seats/{made['seat']}")

        return kept(request, principal.key, take)


class SeatView(Endpoint):
    """`/v1/games/{game_id}/seats/{seat}`."""

    @operation(
        "get_seat",
        summary="View a seat",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=READERS,
        responses={200: ref("SeatSummary")},
        reasons=SEES,
        seat=True,
    )
    def get(self, request: Request, game_id: UUID, seat: str) -> HttpResponse:
        """Who sits in a seat."""
        game, viewer = read_table(request, game_id)
        occupant = selectors.occupant_for(game, viewer, seat)
        if occupant is None:
            raise Problem(ContractReason.NOT_FOUND, "This table has no such seat.")
        return answer(selectors.seats_json([occupant])[0])

    @operation(
        "leave_seat",
        summary="Get up before the start",
        tag="Tables",
        scope=Scope.GAMES,
        responses={200: ref("View")},
        reasons=(*SEES, Reason.WRONG_PHASE, Reason.GAME_OVER),
        versioned=True,
        seat=True,
    )
    def delete(self, request: Request, game_id: UUID, seat: str) -> HttpResponse:
        """Leave your seat before the game starts; the host may make anybody leave.

        The seat's token is dead at once. In a game that has started, resign.
        """
        ask = Ask(bearers.require(request), request.META.get("HTTP_X_SEAT"), if_match_version(request))
        return _done(tables.leave_seat(ask=ask, game_id=game_id, seat=seat))


class StartView(Endpoint):
    """`/v1/games/{game_id}/start`."""

    @operation(
        "start_game",
        summary="Start the game",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=NothingSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(*SEES, ContractReason.NOT_HOST, ContractReason.GAME_NOT_FULL, Reason.WRONG_PHASE, Reason.GAME_OVER),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Start a full table that waits for its host."""
        return _act(self, request, NothingSerializer, tables.start_game, game_id=game_id)


class AbortView(Endpoint):
    """`/v1/games/{game_id}/abort`."""

    @operation(
        "abort_game",
        summary="Abort the game",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=NothingSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(*SEES, ContractReason.NOT_HOST, ContractReason.ABORT_NOT_ALLOWED, Reason.GAME_OVER),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """End the game without a winner: before the start, or while no other person plays. Only the host may."""
        return _act(self, request, NothingSerializer, tables.abort_game, game_id=game_id)


class ResignationsView(Endpoint):
    """`/v1/games/{game_id}/resignations`."""

    @operation(
        "resign_game",
        summary="Resign",
        tag="Tables",
        scope=Scope.GAMES,
        request=NothingSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(*SEES, Reason.WRONG_PHASE, Reason.GAME_OVER),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Give the game up for your side, in any phase and whoever is on turn."""
        return _act(self, request, NothingSerializer, play.resign_game, game_id=game_id)


class RematchView(Endpoint):
    """`/v1/games/{game_id}/rematch`."""

    @operation(
        "play_again",
        summary="Play again with the same people",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=NothingSerializer,
        responses={201: ref("CreatedGame"), 200: ref("CreatedGame")},
        reasons=(*SEES, ContractReason.GAME_NOT_OVER, ContractReason.SEAT_TAKEN, Reason.WRONG_PHASE, Reason.GAME_OVER),
        tagged=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Play again with the same people, under the same ruleset and settings, when a game is over.

        The first who asks makes the new table and is its host; everybody else who sat here asks the same and sits down
        there, in the seat that they had. Bots sit already; the seats of people who have not asked are kept for them,
        and the host may let others in by invitation or seat bots. The view of the old game names the new one in
        `rematch`. The answer has the tokens of the seats that it gave you, this once; who sits there already gets the
        same game and no token, as 200. When the new table was aborted, the next who asks makes another one.
        """
        bearer = bearers.require(request)
        principal = accounts.principal_for(bearer, Scope.GAMES)
        read_body(request, NothingSerializer)

        def effect() -> idempotency.Answer:
            reading = selectors.read(bearer, game_id, lock=True)
            name = accounts.get_account(principal.account_id).name
            body, viewer, made = tables.play_again(reading=reading, account_name=name)
            if made:
                return created(body, viewer, f"/v1/games/{body['game']['id']}")
            return idempotency.Answer(200, body, {"ETag": etag(body["game"]["version"], viewer)})

        return kept(request, principal.key, effect)


class DrawsView(Endpoint):
    """`/v1/games/{game_id}/draws`."""

    @operation(
        "draw_card",
        summary="Keep or decline the card",
        tag="Play",
        scope=Scope.GAMES,
        request=DrawSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(*TURN, ContractReason.SPECTATORS_FORBIDDEN, *DRAW_REASONS),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Keep the card that you look at, and the next one is discarded; or decline it, and the next one is yours."""
        ask, body = _ask(self, request, DrawSerializer)
        decision = DrawDecision(body["decision"])
        return _done(play.draw_card(ask=ask, game_id=game_id, decision=decision))


class LooksView(Endpoint):
    """`/v1/games/{game_id}/looks`."""

    @operation(
        "look_at_hand",
        summary="Look at your hand",
        tag="Play",
        scope=Scope.GAMES,
        request=LookSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(
            *SEES,
            Reason.WRONG_PHASE,
            Reason.GAME_OVER,
            Reason.HAND_ALREADY_SEEN,
            Reason.BLIND_SIDE_INCOMPLETE,
        ),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """See your hand, for which you give up bidding blind. It needs no turn."""
        return _act(self, request, LookSerializer, play.look_at_hand, game_id=game_id)


class PassesView(Endpoint):
    """`/v1/games/{game_id}/passes`."""

    @operation(
        "pass_cards",
        summary="Give cards away",
        tag="Play",
        scope=Scope.GAMES,
        request=PassSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(
            *TURN,
            ContractReason.SPECTATORS_FORBIDDEN,
            Reason.LOOK_FIRST,
            Reason.NOT_IN_HAND,
            Reason.PASS_COUNT_WRONG,
        ),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Choose the cards that you pass before the bidding, or give your partner in an exchange after it."""
        return _act(self, request, PassSerializer, play.pass_cards, game_id=game_id)


class RedealsView(Endpoint):
    """`/v1/games/{game_id}/redeals`."""

    @operation(
        "call_redeal",
        summary="Call for a new deal",
        tag="Play",
        scope=Scope.GAMES,
        request=NothingSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(*SEES, Reason.WRONG_PHASE, Reason.GAME_OVER, Reason.LOOK_FIRST, Reason.REDEAL_NOT_ALLOWED),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Call the deal off when `redeal_available` says that your hand may; it is dealt again at once."""
        return _act(self, request, NothingSerializer, play.call_redeal, game_id=game_id)


class BidsView(Endpoint):
    """`/v1/games/{game_id}/bids`."""

    @operation(
        "place_bid",
        summary="Bid",
        tag="Play",
        scope=Scope.GAMES,
        request=BidSerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(*TURN, ContractReason.SPECTATORS_FORBIDDEN, *BID_REASONS),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Say how many tricks you will take. A bid is final, unless your partner is still to answer it."""
        return _act(self, request, BidSerializer, play.place_bid, game_id=game_id)


class PlaysView(Endpoint):
    """`/v1/games/{game_id}/plays`."""

    @operation(
        "play_card",
        summary="Play a card",
        tag="Play",
        scope=Scope.GAMES,
        request=PlaySerializer,
        responses={200: ref("ViewOrDryRun")},
        reasons=(*TURN, ContractReason.SPECTATORS_FORBIDDEN, *CARD_REASONS),
        action=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Play one card from your hand to the current trick."""
        return _act(self, request, PlaySerializer, play.play_card, game_id=game_id)


class DealsView(Endpoint):
    """`/v1/games/{game_id}/deals`."""

    @operation(
        "list_deals",
        summary="List the deals of a game",
        tag="Records",
        scope=Scope.GAMES,
        tokens=READERS,
        responses={200: ref("DealPage")},
        reasons=SEES,
        parameters=[pages.CURSOR, pages.LIMIT],
        seat=True,
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """The score sheet: every deal that has started, in order, with its bids, tricks and score line by line."""
        game, viewer = read_table(request, game_id)
        until = selectors.told_until(game, viewer)
        limit, cursor = self.query["limit"], self.query["cursor"] or "0"
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 6):
            raise pages.no_cursor()
        rows = selectors.list_deals(game_id, after=int(cursor), limit=limit + 1, until=until)
        more = len(rows) > limit
        return answer({"items": rows[:limit], "next": str(rows[limit - 1]["number"]) if more else None})


class DealView(Endpoint):
    """`/v1/games/{game_id}/deals/{number}`."""

    @operation(
        "get_deal",
        summary="View a deal",
        tag="Records",
        scope=Scope.GAMES,
        tokens=READERS,
        responses={200: ref("DealSummary")},
        reasons=SEES,
        seat=True,
    )
    def get(self, request: Request, game_id: UUID, number: int) -> HttpResponse:
        """One deal that has started."""
        game, viewer = read_table(request, game_id)
        deal = selectors.get_deal(game_id, number, selectors.told_until(game, viewer))
        if deal is None:
            raise Problem(ContractReason.NOT_FOUND, "No deal of this number has started.")
        return answer(deal)


class EventsView(Endpoint):
    """`/v1/games/{game_id}/events`."""

    @operation(
        "list_events",
        summary="Read events, wait for them, or stream them",
        tag="Events",
        scope=Scope.GAMES,
        tokens=READERS,
        responses=events_api.responses("EventPage"),
        reasons=SEES,
        parameters=events_api.PARAMETERS,
        seat=True,
        headers=events_api.HEADERS,
        produces=events_api.PRODUCES,
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """What happened after event number `after`, as far as you may know it.

        With `wait` the answer comes as soon as something happens. With `Accept: text/event-stream` events are streamed
        as server-sent events, each with its number as its id: after a break, `Last-Event-ID` goes on where the stream
        ended. A cursor beyond the last event is refused.
        """
        game, viewer = read_table(request, game_id)
        query = self.query
        version = selectors.version_for(game, viewer)
        finished = game.finished_at is not None and version == game.version
        late = selectors.late(game, viewer, version)
        reader = Reader(game_id, viewer.seat, query["after"], query["limit"], finished, late)
        return events_api.give(reader, version, of="game", else_read="view")
