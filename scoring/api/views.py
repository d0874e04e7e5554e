"""Scores over HTTP: a question in, the library's answer out, and nothing kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.selectors import principal_of
from contract.endpoint import Endpoint, answer
from contract.idempotency import key_from
from contract.reasons import RULESET_REASONS, TOLD_BID_REASONS
from contract.schema import ACCOUNT, operation
from contract.scopes import Scope
from contract.serializers import read_body
from contract.shapes import ref
from scoring import answers
from scoring.api.serializers import ScoreDealSerializer, ScoreGameSerializer, WhatIfSerializer
from spades import Reason

__all__ = ["ScoreDealView", "ScoreGameView", "WhatIfView"]

Question = Callable[[Mapping[str, Any]], dict[str, Any]]


def _answered(request: Request, serializer: Any, question: Question) -> HttpResponse:
    """Answer a question; the token is looked up, and that is all the database does."""
    principal_of(request, Scope.SCORING)
    key_from(request)  # a key that is none is refused here as everywhere
    return answer(question(read_body(request, serializer)))


class ScoreDealView(Endpoint):
    """`/v1/scoring/deals`."""

    @operation(
        "score_deal",
        summary="Score a deal",
        tag="Scoring",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=ScoreDealSerializer,
        responses={200: ref("ScoringAnswer")},
        reasons=(*RULESET_REASONS, *TOLD_BID_REASONS, Reason.TRICKS_DO_NOT_ADD_UP),
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Score one deal under any ruleset: the same code that scores games here.

        What no table could have is 400, what this ruleset forbids 422, with a pointer to everything that is wrong.
        """
        return _answered(request, ScoreDealSerializer, answers.deal)


class ScoreGameView(Endpoint):
    """`/v1/scoring/games`."""

    @operation(
        "score_game",
        summary="Score a game",
        tag="Scoring",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=ScoreGameSerializer,
        responses={200: ref("GameScores")},
        reasons=(*RULESET_REASONS, *TOLD_BID_REASONS, Reason.TRICKS_DO_NOT_ADD_UP, Reason.GAME_OVER),
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Score a game deal by deal, from its first one on; bags, sets and scores are carried.

        A deal after the end of the game is refused.
        """
        return _answered(request, ScoreGameSerializer, answers.game)


class WhatIfView(Endpoint):
    """`/v1/scoring/what_if`."""

    @operation(
        "ask_what_if",
        summary="Ask what bids would score",
        tag="Scoring",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=WhatIfSerializer,
        responses={200: ref("WhatIf")},
        reasons=(*RULESET_REASONS, *TOLD_BID_REASONS),
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Ask what each bid of a side would score for each number of tricks, and what the side needs."""
        return _answered(request, WhatIfSerializer, answers.what_if)
