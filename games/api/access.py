"""The endpoints about who may come to a table: HTTP in, one service call, JSON out."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from accounts import bearer as bearers
from accounts import idempotency
from accounts import selectors as accounts
from contract import pages
from contract.endpoint import Endpoint, answer
from contract.etags import etag
from contract.problems import ContractReason, Problem
from contract.schema import ACCOUNT, operation
from contract.scopes import Scope
from contract.serializers import read_body
from games import selectors
from games.api.schemas import ref
from games.api.serializers import NothingSerializer
from games.api.views import SEES, kept
from games.services import access

__all__ = ["AuditView", "SeatTokenView"]


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

        The host sees all of it; who sits there sees what concerns their own seats.
        """
        bearer = bearers.require(request)
        accounts.principal_for(bearer, Scope.GAMES)
        reading = selectors.read(bearer, game_id)
        mine = selectors.seats_of(reading)
        selectors.viewer_of(reading, next(iter(mine), None))
        host = reading.account_id == reading.game.host_id
        if not host and not mine:
            raise Problem(ContractReason.NOT_HOST, "Only the host, and who sits at the table, see its audit.")
        limit, cursor = self.query["limit"], self.query["cursor"]
        rows = selectors.list_audit(
            game_id,
            seats=None if host else mine,
            after=pages.decode_cursor(cursor) if cursor is not None else None,
            limit=limit + 1,
        )
        return answer(pages.page(rows, limit, lambda row: (row.created_at, row.id), selectors.audit_json))
