"""Addresses that exist only in tests: endpoints that fail in every way there is."""

from __future__ import annotations

import psycopg.errors
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpResponse
from django.urls import path, re_path
from rest_framework import exceptions as drf
from rest_framework import serializers

from accounts.models import Account
from contract import problems, urls
from contract.endpoint import Endpoint, answer
from contract.problems import ContractReason, Problem
from contract.queries import Parameter
from contract.schema import OPERATIONS, operation
from contract.serializers import StrictIntegerField, StrictSerializer, read_body
from spades.errors import NotationError, OptionProblem, Reason, Rule, RulesetError, RuleViolation

PAUSED = InternalError("secret")
PAUSED.__cause__ = psycopg.errors.IdleInTransactionSessionTimeout("secret")

RAISED = {
    "problem": Problem(ContractReason.SEAT_TAKEN, "Ann sits there.", version=7),
    "violation": RuleViolation(Reason.MUST_FOLLOW_SUIT, "You hold hearts.", Rule("first_lead", "lowest_club", "6")),
    "ruleset": RulesetError((OptionProblem("bag_points", 7, "ruleset_contradiction", "No."),)),
    "notation": NotationError("expected a card"),
    "gone": Http404("secret"),
    "no_row": Account.DoesNotExist("secret"),
    "forbidden": PermissionDenied("secret"),
    "suspicious": SuspiciousOperation("secret"),
    "database": OperationalError("secret"),
    "connection": InterfaceError("secret"),
    "paused": PAUSED,
    "bug": ZeroDivisionError("secret"),
    "drf_auth": drf.NotAuthenticated(),
    "drf_denied": drf.PermissionDenied(),
    "drf_throttled": drf.Throttled(wait=3.2),
    "drf_parse": drf.ParseError(),
    "drf_found": drf.NotFound(),
}


class RaisingView(Endpoint):
    @operation("raise_for_tests", summary="Raise", tag="Service", scope=None, tokens=(), responses={200: None})
    def get(self, request, name):
        """Raise what `name` says."""
        raise RAISED[name]


class BodySerializer(StrictSerializer):
    tricks = StrictIntegerField(min_value=0, max_value=54)


class AnswerSerializer(serializers.Serializer):
    tricks = serializers.IntegerField()


class EchoView(Endpoint):
    @operation(
        "echo_for_tests",
        summary="Echo",
        tag="Service",
        scope=None,
        tokens=(),
        keeps=False,
        request=BodySerializer,
        responses={200: AnswerSerializer},
        parameters=[Parameter("n", kind="integer", description="N", minimum=1, maximum=9, default=4)],
    )
    def post(self, request):
        """Give back what was read."""
        return answer({**read_body(request, BodySerializer), "n": self.query["n"]})


# The schema is of the service, not of its tests.
for _name in ("raise_for_tests", "echo_for_tests"):
    OPERATIONS.pop(_name)


def crash(request):
    raise ZeroDivisionError("secret")


def plain(request):
    return HttpResponse("plain")


urlpatterns = [
    path("v1/raise/<str:name>", RaisingView.as_view()),
    path("v1/echo", EchoView.as_view()),
    path("v1/crash", crash),
    path("v1/plain", plain),
    *urls.urlpatterns,
    re_path("", problems.page_not_found),
]

handler400 = problems.bad_request
handler403 = problems.permission_denied
handler404 = problems.page_not_found
handler500 = problems.server_error
