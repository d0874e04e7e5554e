"""The endpoints about what is over, and about how it was shuffled: HTTP in, one read or service call, JSON out."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from accounts import bearer as bearers
from accounts import idempotency
from contract.endpoint import JSON, Endpoint, accepts, answer, not_modified
from contract.etags import etag, matches_none
from contract.queries import Parameter
from contract.schema import operation
from contract.scopes import Scope
from contract.serializers import read_body
from contract.shapes import ref
from games import records, selectors
from games.api.serializers import ClientSeedSerializer
from games.api.views import READERS, SEES, kept, read_table
from games.services.seeds import give_client_seed
from spades import Reason

__all__ = ["ClientSeedsView", "FairnessView", "RecordView"]

TEXT: Final = "text/plain"


class RecordView(Endpoint):
    """`/v1/games/{game_id}/record`."""

    @operation(
        "get_record",
        summary="Get the record of a game",
        tag="Records",
        scope=Scope.GAMES,
        tokens=READERS,
        responses={(200, JSON): ref("Record"), (200, TEXT): {"type": "string"}},
        reasons=SEES,
        parameters=[
            Parameter("format", kind="string", description="Overrides the `Accept` header.", choices=("json", "text"))
        ],
        conditional=True,
        seat=True,
        produces=(JSON, TEXT),
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """The rules, the names, and every deal that is over: its cards, all that was done, its score, its seeds.

        The deal in progress is left out, so a running game's record is that of the deals before. It is JSON, or with
        `?format=text` or `Accept: text/plain` a text; both can be replayed, and checked by `python -m spades verify`.
        """
        game, viewer = read_table(request, game_id)
        wants = self.query["format"] or ("json" if accepts(request.META.get("HTTP_ACCEPT", ""), (JSON,)) else "text")
        tag = etag(selectors.version_for(game, viewer), f"{viewer.tag}-record-{wants}")
        if matches_none(request, tag):
            response = not_modified(tag)
        else:
            record = records.record_of(game, viewer)
            if wants == "json":
                response = answer(record.to_json(), headers={"ETag": tag})
            else:
                response = HttpResponse(record.to_text(), content_type=f"{TEXT}; charset=utf-8", headers={"ETag": tag})
        response["Vary"] = "Accept"
        return response


class FairnessView(Endpoint):
    """`/v1/games/{game_id}/fairness`."""

    @operation(
        "get_fairness",
        summary="Get what the shuffles can be checked by",
        tag="Records",
        scope=Scope.GAMES,
        tokens=READERS,
        responses={200: ref("Fairness")},
        reasons=SEES,
        seat=True,
    )
    def get(self, request: Request, game_id: UUID) -> HttpResponse:
        """Every deal's commitment, its client seeds, and its server seed once the deal is revealed.

        The last entry of a game that goes on is the deal that is promised next. Its commitment is public before the
        client seeds that enter it.
        """
        game, viewer = read_table(request, game_id)
        return answer({"deals": records.fairness(game, viewer)})


class ClientSeedsView(Endpoint):
    """`/v1/games/{game_id}/client_seeds`."""

    @operation(
        "give_client_seed",
        summary="Give a text for the shuffles to come",
        tag="Play",
        scope=Scope.GAMES,
        request=ClientSeedSerializer,
        responses={200: ref("Fairness")},
        reasons=(*SEES, Reason.GAME_OVER),
        seat=True,
    )
    def post(self, request: Request, game_id: UUID) -> HttpResponse:
        """Let a text of yours enter the shuffle of every deal that has not started, instead of the one you gave before.

        The next deal's commitment was published before, so its seed was chosen without your text: give a new one in
        each deal, and not even the service can have chosen the next. It is no event and changes no version. The answer
        is that of `get_fairness`; its last entry is the deal that your text enters first.
        """
        bearer = bearers.require(request)
        named = request.META.get("HTTP_X_SEAT")
        viewer = selectors.viewer_of(selectors.read(bearer, game_id), named)
        body = read_body(request, ClientSeedSerializer)

        def give() -> idempotency.Answer:
            reading = selectors.read(bearer, game_id, lock=True)
            giver = selectors.viewer_of(reading, named)
            give_client_seed(reading=reading, viewer=giver, text=body["client_seed"])
            return idempotency.Answer(200, {"deals": records.fairness(reading.game, giver)})

        return kept(request, f"seat:{game_id}:{viewer.seat}", give)
