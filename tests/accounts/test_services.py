from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts import bearer, selectors, services
from accounts.models import Account, Token
from contract.problems import Problem
from contract.scopes import Scope

pytestmark = pytest.mark.django_db


def principal(token):
    return selectors.principal_for(bearer.Bearer(token[:3], bearer.digest(token)))


def test_an_account_comes_with_a_token_of_which_only_a_digest_is_kept():
    account, token = services.create_account("Ann")

    kept = Token.objects.get()
    assert kept.account_id == account.id
    assert kept.digest == bearer.digest(token)
    assert token not in str(Token.objects.values().get())
    assert kept.scopes == "games scoring tournaments webhooks"


def test_a_token_tells_its_account_and_scopes(django_assert_num_queries):
    account, token = services.create_account("Ann", ["scoring", Scope.GAMES])

    with django_assert_num_queries(1):
        found = principal(token)

    assert found == selectors.Principal(account.id, frozenset({"games", "scoring"}))
    found.require(Scope.GAMES)
    with pytest.raises(Problem) as refused:
        found.require(Scope.ADMIN)
    assert refused.value.reason == "scope_missing"


def test_an_account_can_have_several_tokens_and_lose_one():
    account, first = services.create_account("Ann")
    second = services.create_token(account.id, ["games"])

    assert services.revoke_token(bearer.digest(first)) is True
    assert services.revoke_token(bearer.digest(first)) is False

    with pytest.raises(Problem) as refused:
        principal(first)
    assert refused.value.reason == "unauthenticated"
    assert principal(second).account_id == account.id


def test_an_unknown_token_and_a_revoked_one_are_answered_alike():
    _, token = services.create_account("Ann")
    services.revoke_token(bearer.digest(token))
    details = set()

    for text in (token, bearer.make("spk")[0]):
        with pytest.raises(Problem) as refused:
            principal(text)
        details.add((refused.value.reason, refused.value.detail))

    assert len(details) == 1


@pytest.mark.parametrize("kind", ["sps", "spw"])
def test_a_token_of_another_kind_is_no_accounts(kind):
    with pytest.raises(Problem) as refused:
        principal(bearer.make(kind)[0])

    assert refused.value.reason == "scope_missing"


def test_an_unknown_scope_makes_no_account():
    with pytest.raises(ValueError, match="everything"):
        services.create_account("Ann", ["everything"])

    assert Account.objects.count() == 0


def test_the_command_prints_a_token_that_works():
    out = StringIO()

    call_command("create_account", " Ann ", "--scope", "admin", "--scope", "games", stdout=out)

    token = out.getvalue().strip()
    assert principal(token).scopes == {"admin", "games"}
    assert Account.objects.get().name == "Ann"


def test_the_command_gives_the_usual_scopes_unless_told():
    out = StringIO()

    call_command("create_account", "Ann", stdout=out)

    assert principal(out.getvalue().strip()).scopes == {"games", "scoring", "tournaments", "webhooks"}


@pytest.mark.parametrize("name", ["", " ", "x" * 41, "a\nb"])
def test_the_command_refuses_a_name_that_the_api_would_refuse(name):
    with pytest.raises(CommandError):
        call_command("create_account", name)

    assert Account.objects.count() == 0
