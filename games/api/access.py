"""The endpoints about who may come to a table: HTTP in, one service call, JSON out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from rest_framework.request import Request

from accounts import bearer as bearers
from accounts import idempotency
from accounts import selectors as accounts
from contract import pages
from contract.endpoint import Endpoint, answer, no_content
from contract.etags import etag
from contract.problems import ContractReason, Problem
from contract.schema import ACCOUNT, operation
from contract.scopes import Scope
from contract.serializers import NothingSerializer, read_body
from contract.shapes import ref
from events.writes import write_turn
from games import selectors
from games.api.serializers import InvitationSerializer, WatchLinkSerializer
from games.api.views import SEES, kept
from games.models import Invitation, WatchLink
from games.services import access
from games.store import Reading
from spades import Reason

__all__ = ["AuditView", "InvitationView", "InvitationsView", "SeatTokenView", "WatchLinkView", "WatchLinksView"]

L = TypeVar("L", Invitation, WatchLink)

WEEK_SECONDS = 7 * 24 * 3600


class SeatTokenView(Endpoint):
    """`/v1/games/{game_id}/seats/{seat}/token`."""

    @operation(
        "reissue_token",
        summary="Replace a seat's token",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=NothingSerializer,
        responses={200: ref("JoinedGame")},
        reasons=SEES,
        tagged=True,
    )
    def post(self, request: Request, game_id: UUID, seat: str) -> HttpResponse:
        """Get a new token for a seat that your account holds; the answer has it, this once.

        The old token is dead at once: it opens nothing any more, and streams and long polls that were opened with it
        end. The game does not move on by it. The table's audit keeps that it was done.
        """
        bearer = bearers.require(request)
        principal = accounts.principal_for(bearer, Scope.GAMES)
        read_body(request, NothingSerializer)

        def reissue() -> idempotency.Answer:
            reading = selectors.read(bearer, game_id, lock=True)
            made, viewer = access.reissue_token(reading=reading, seat=seat)
            return idempotency.Answer(200, made, {"ETag": etag(made["game"]["version"], viewer.tag)})

        return kept(request, principal.key, reissue)


class AuditView(Endpoint):
    """`/v1/games/{game_id}/audit`."""

    @operation(
        "list_audit",
        summary="List what was done about a table's tokens",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        responses={200: ref("AuditPage")},
        reasons=(*SEES, ContractReason.NOT_HOST),
        parameters=[pages.CURSOR, pages.LIMIT],
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """What was done about the table outside of its game, oldest first.

        The host sees all of it; who sits there, or sat, sees what was about a seat while it was theirs. `seat` is the
        one of then: where seats are drawn they may have another one now.
        """
        bearer = bearers.require(request)
        accounts.principal_for(bearer, Scope.GAMES)
        reading = selectors.read(bearer, game_id)
        mine = selectors.seats_of(reading)
        selectors.viewer_of(reading, next(iter(mine), None))
        host = reading.account_id == reading.game.host_id
        if not host and not mine and not selectors.list_audit(game_id, holder=reading.account_id, after=None, limit=1):
            raise Problem(ContractReason.NOT_HOST, "Only the host, and who sits at the table, see its audit.")
        read = partial(selectors.list_audit, game_id, holder=None if host else reading.account_id)
        return answer(pages.listed(self.query, read, selectors.audit_json))


HOST = (*SEES, ContractReason.NOT_HOST)


def _list(endpoint: Endpoint, request: Request, model: type[L], game_id: UUID) -> HttpResponse:
    _as_host(request, game_id)
    return answer(pages.listed(endpoint.query, partial(selectors.list_links, model, game_id), selectors.link_json))


def _get(request: Request, model: type[L], game_id: UUID, link_id: UUID) -> HttpResponse:
    _as_host(request, game_id)
    return answer(selectors.link_json(selectors.get_link(model, game_id, link_id)))


def _delete(request: Request, model: type[L], game_id: UUID, link_id: UUID) -> HttpResponse:
    bearer = bearers.require(request)
    accounts.principal_for(bearer, Scope.GAMES)
    with write_turn(), transaction.atomic():
        access.delete_link(reading=selectors.read(bearer, game_id, lock=True), model=model, link_id=link_id)
    return no_content()


def _as_host(request: Request, game_id: UUID) -> None:
    bearer = bearers.require(request)
    accounts.principal_for(bearer, Scope.GAMES)
    selectors.require_host(selectors.read(bearer, game_id))


def _create(
    request: Request,
    game_id: UUID,
    name: str,
    serializer: Any,
    effect: Callable[[Reading, Mapping[str, Any]], tuple[Invitation | WatchLink, str]],
) -> HttpResponse:
    bearer = bearers.require(request)
    principal = accounts.principal_for(bearer, Scope.GAMES)
    body = read_body(request, serializer)

    def create() -> idempotency.Answer:
        link, token = effect(selectors.read(bearer, game_id, lock=True), body)
        location = f"/v1/games/{game_id}/{name}s/{link.id}"
        return idempotency.Answer(201, {name: selectors.link_json(link), "token": token}, {"Location": location})

    return kept(request, principal.key, create)


class InvitationsView(Endpoint):
    """`/v1/games/{game_id}/invitations`."""

    @operation(
        "list_invitations",
        summary="List the invitations to a table",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        responses={200: ref("InvitationPage")},
        reasons=HOST,
        parameters=[pages.CURSOR, pages.LIMIT],
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """The invitations that the host gave out, oldest first, used and expired ones too, without their tokens."""
        return _list(self, request, Invitation, game_id)

    @operation(
        "create_invitation",
        summary="Invite to a table",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=InvitationSerializer,
        responses={201: ref("NewInvitation")},
        reasons=(*HOST, ContractReason.TOO_MANY, Reason.WRONG_PHASE, Reason.GAME_OVER),
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Give out the right to sit down, which unlisted and private tables ask for; the host does, before the start.

        The answer has the invitation's token, this once. Pass it on to whoever is to sit here: it goes into
        `invitation` of `take_seat`. Without `uses` one person may sit down by it; without `expires_in` it holds for a
        week.
        """

        def effect(reading: Reading, body: Mapping[str, Any]) -> tuple[Invitation, str]:
            asked = {"name": None, "seat": None, "uses": 1, "expires_in": WEEK_SECONDS, **body}
            return access.create_invitation(reading=reading, **asked)

        return _create(request, game_id, "invitation", InvitationSerializer, effect)


class InvitationView(Endpoint):
    """`/v1/games/{game_id}/invitations/{link_id}`."""

    @operation(
        "get_invitation",
        summary="View an invitation",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        responses={200: ref("Invitation")},
        reasons=HOST,
    )
    def get(self, request: Request, game_id: UUID, link_id: UUID) -> HttpResponse:
        """One invitation, for the host; how often it was used, and until when it holds."""
        return _get(request, Invitation, game_id, link_id)

    @operation(
        "delete_invitation",
        summary="Take an invitation back",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        responses={204: None},
        reasons=HOST,
    )
    def delete(self, request: Request, game_id: UUID, link_id: UUID) -> HttpResponse:
        """End an invitation. Who has sat down by it keeps the seat."""
        return _delete(request, Invitation, game_id, link_id)


class WatchLinksView(Endpoint):
    """`/v1/games/{game_id}/watch_links`."""

    @operation(
        "list_watch_links",
        summary="List a table's watch links",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        responses={200: ref("WatchLinkPage")},
        reasons=HOST,
        parameters=[pages.CURSOR, pages.LIMIT],
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """The watch links that the host gave out, oldest first, expired ones too, without their tokens."""
        return _list(self, request, WatchLink, game_id)

    @operation(
        "create_watch_link",
        summary="Give out a watch link",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        request=WatchLinkSerializer,
        responses={201: ref("NewWatchLink")},
        reasons=(*HOST, ContractReason.TOO_MANY),
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Give out a token that shows what is public at this table to whoever has it, without an account.

        It takes the place of an account's token in the operations that only read: the view, the events, the deals. It
        never shows a hand, and nobody acts by it. Only the host gives one out, and not where spectators are forbidden.
        The answer has the token, this once.
        """

        def effect(reading: Reading, body: Mapping[str, Any]) -> tuple[WatchLink, str]:
            return access.create_watch_link(reading=reading, **{"name": None, "expires_in": None, **body})

        return _create(request, game_id, "watch_link", WatchLinkSerializer, effect)


class WatchLinkView(Endpoint):
    """`/v1/games/{game_id}/watch_links/{link_id}`."""

    @operation(
        "get_watch_link",
        summary="View a watch link",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        responses={200: ref("WatchLink")},
        reasons=HOST,
    )
    def get(self, request: Request, game_id: UUID, link_id: UUID) -> HttpResponse:
        """One watch link, for the host."""
        return _get(request, WatchLink, game_id, link_id)

    @operation(
        "delete_watch_link",
        summary="End a watch link",
        tag="Tables",
        scope=Scope.GAMES,
        tokens=(ACCOUNT,),
        responses={204: None},
        reasons=HOST,
    )
    def delete(self, request: Request, game_id: UUID, link_id: UUID) -> HttpResponse:
        """End a watch link at once: streams and long polls that were opened with it end too."""
        return _delete(request, WatchLink, game_id, link_id)
