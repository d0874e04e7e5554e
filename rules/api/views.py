"""The rules over HTTP: a question in, the library's answer out, and nothing kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.selectors import principal_of
from contract.endpoint import Endpoint, answer, not_modified
from contract.etags import matches_none
from contract.idempotency import key_from
from contract.reasons import DRAW_REASONS, IMPOSSIBLE_BID_REASONS, RULESET_REASONS
from contract.schema import ACCOUNT, operation
from contract.scopes import Scope
from contract.serializers import read_body
from contract.shapes import ref
from rules import answers, catalogue, records
from rules.api.serializers import (
    BidQuestionSerializer,
    DrawQuestionSerializer,
    LeaderQuestionSerializer,
    PlayQuestionSerializer,
    RecordQuestionSerializer,
    ResolveRulesetSerializer,
    TrickQuestionSerializer,
)
from spades import Reason

__all__ = [
    "BidsView",
    "DrawsView",
    "LeadersView",
    "PlaysView",
    "RecordsView",
    "ResolveView",
    "RulesetView",
    "RulesetsView",
    "TricksView",
]

HOUR: Final = 3600


def _answered(
    request: Request, serializer: Any, question: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> HttpResponse:
    """Answer a question; the token is looked up, and that is all the database does."""
    principal_of(request, Scope.SCORING)
    key_from(request)  # a key that is none is refused here as everywhere
    return answer(question(read_body(request, serializer)))


def _shown(request: Request, page: catalogue.Page) -> HttpResponse:
    """Show what is the same for everybody, unless the caller has it."""
    response = not_modified(page.tag) if matches_none(request, page.tag) else answer(page.body)
    response["ETag"] = page.tag
    response["Cache-Control"] = f"public, max-age={HOUR}"
    return response


class RulesetsView(Endpoint):
    """`/v1/rulesets`."""

    @operation(
        "list_rulesets",
        summary="List the presets",
        tag="Rulesets",
        scope=None,
        tokens=(),
        responses={200: ref("PresetPage")},
        conditional=True,
    )
    def get(self, request: Request) -> HttpResponse:
        """List the presets, each with the value of every option and the source of that value.

        `options` tells once what each option means, what it may be, and which source plays which of its values. All of
        it is one page and changes only with the service. The example shows two presets and four options.
        """
        return _shown(request, catalogue.presets())


class RulesetView(Endpoint):
    """`/v1/rulesets/{name}`."""

    @operation(
        "get_ruleset",
        summary="Get a preset",
        tag="Rulesets",
        scope=None,
        tokens=(),
        responses={200: ref("PresetInFull")},
        conditional=True,
    )
    def get(self, request: Request, name: str) -> HttpResponse:
        """Get one preset, each of its options with value, source, meaning and what else it may be.

        The example shows four options.
        """
        return _shown(request, catalogue.preset(name))


class ResolveView(Endpoint):
    """`/v1/rulesets/resolve`."""

    @operation(
        "resolve_ruleset",
        summary="Complete and check a ruleset",
        tag="Rulesets",
        scope=None,
        tokens=(),
        request=ResolveRulesetSerializer,
        responses={200: ref("ResolvedRuleset")},
        reasons=RULESET_REASONS,
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Complete a preset and what differs from it to a whole ruleset, with its hash and with warnings.

        A ruleset that cannot be played is refused with everything that contradicts. `hand_size` is answered, never
        accepted; `max_bid` follows it unless you give it.
        """
        key_from(request)
        return answer(answers.resolve(read_body(request, ResolveRulesetSerializer)))


class PlaysView(Endpoint):
    """`/v1/rules/plays`."""

    @operation(
        "rule_on_play",
        summary="Ask which cards may be played",
        tag="Rules",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=PlayQuestionSerializer,
        responses={200: ref("PlayRuling")},
        reasons=RULESET_REASONS,
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Ask which cards of a hand may be played to a trick, and for each of the others why not.

        With `card` the answer also says whether that one is allowed, and by which option if not. Out of turn every card
        is `not_your_turn`.
        """
        return _answered(request, PlayQuestionSerializer, answers.play)


class TricksView(Endpoint):
    """`/v1/rules/tricks`."""

    @operation(
        "rule_on_trick",
        summary="Ask who won a trick",
        tag="Rules",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=TrickQuestionSerializer,
        responses={200: ref("TrickRuling")},
        reasons=RULESET_REASONS,
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Ask who won a complete trick, and whether spades are broken after it.

        Whether each card might have been played is not asked here: that takes the hands.
        """
        return _answered(request, TrickQuestionSerializer, answers.trick)


class LeadersView(Endpoint):
    """`/v1/rules/leaders`."""

    @operation(
        "rule_on_leader",
        summary="Ask who leads",
        tag="Rules",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=LeaderQuestionSerializer,
        responses={200: ref("LeaderRuling")},
        reasons=(*RULESET_REASONS, *IMPOSSIBLE_BID_REASONS),
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Ask who leads to a trick.

        What that depends on is up to the ruleset; what is needed and left out is 400 with its pointer.
        """
        return _answered(request, LeaderQuestionSerializer, answers.leader)


class BidsView(Endpoint):
    """`/v1/rules/bids`."""

    @operation(
        "rule_on_bid",
        summary="Ask which bids may be made",
        tag="Rules",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=BidQuestionSerializer,
        responses={200: ref("BidRuling")},
        reasons=(*RULESET_REASONS, *IMPOSSIBLE_BID_REASONS),
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Ask which bids a seat may make that is to bid now.

        With `bid` the answer also says whether that one is allowed, and by which option if not. A bid told of in `bids`
        that nobody can make under this ruleset is refused.
        """
        return _answered(request, BidQuestionSerializer, answers.bid)


class DrawsView(Endpoint):
    """`/v1/rules/draws`."""

    @operation(
        "rule_on_draws",
        summary="Ask where a draw stands",
        tag="Rules",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=DrawQuestionSerializer,
        responses={200: ref("DrawRuling")},
        reasons=(*RULESET_REASONS, Reason.WRONG_PHASE, *DRAW_REASONS),
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Ask where a draw stands after some decisions: hands, discards and who has seen them, and who is next.

        With `proposed` the answer also says whether that seat may decide so. A decision told of in `decisions` that the
        rules forbid is refused.
        """
        return _answered(request, DrawQuestionSerializer, answers.draws)


class RecordsView(Endpoint):
    """`/v1/rules/records`."""

    @operation(
        "rule_on_record",
        summary="Check a whole game",
        tag="Rules",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=RecordQuestionSerializer,
        responses={200: ref("RecordRuling")},
        reasons=RULESET_REASONS,
        limit="records",
        keeps=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """Play a record again, finished or not: scores and result, or the first thing that the rules do not allow.

        A score or a result that the record states has to be right. `shuffles` says besides whether revealed seeds give
        the commitments and the cards; that does not bear on `valid`. What is no record is 400, with the place of the
        first fault.
        """
        return _answered(request, RecordQuestionSerializer, records.check)
