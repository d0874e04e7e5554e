from __future__ import annotations

import zlib

import pytest
from django.db import OperationalError

from accounts import bearer, services
from accounts.models import Account, IdempotencyRecord, Token
from tests.client import ApiClient

KEY = {"Idempotency-Key": "0123456789-0123456789-"}


@pytest.mark.django_db
def test_anybody_can_open_an_account_and_is_known_by_its_token():
    client = ApiClient()

    made = client.post("/v1/accounts", json={"name": "Ann"}, example=True)
    mine = client.get(made.headers["location"], token=made.body["token"], example=True)

    assert made.status == 201
    assert made.headers["location"] == "/v1/accounts/me"
    assert made.body["account"]["name"] == "Ann"
    assert mine.body == made.body["account"]
    assert mine.body["created_at"].endswith("Z")


@pytest.mark.django_db
def test_white_space_around_a_name_is_removed():
    made = ApiClient().post("/v1/accounts", json={"name": "  Ann "})

    assert made.body["account"]["name"] == "Ann"


@pytest.mark.django_db
def test_accounts_can_be_closed_to_the_public(settings):
    settings.OPEN_REGISTRATION = False

    answer = ApiClient().post("/v1/accounts", json={"name": "Ann"})

    assert (answer.status, answer.reason) == (403, "registration_closed")
    assert Account.objects.count() == 0


@pytest.mark.django_db
def test_a_revoked_token_is_refused():
    _, token = services.create_account("Ann")
    client = ApiClient(token=token)
    assert client.get("/v1/accounts/me").status == 200

    services.revoke_token(bearer.digest(token))

    answer = client.get("/v1/accounts/me")
    assert (answer.status, answer.reason) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.django_db
def test_the_same_request_under_one_key_opens_one_account():
    client = ApiClient()

    first = client.post("/v1/accounts", json={"name": "Ann"}, headers=KEY)
    again = client.post("/v1/accounts", content=b'{ "name" : "Ann" }', headers=KEY)

    assert (first.status, again.status) == (201, 201)
    assert again.content == first.content
    assert again.headers["location"] == first.headers["location"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert Account.objects.count() == 1


@pytest.mark.django_db
def test_without_a_key_every_request_opens_an_account():
    client = ApiClient()

    tokens = {client.post("/v1/accounts", json={"name": "Ann"}).body["token"] for _ in range(2)}

    assert len(tokens) == 2
    assert IdempotencyRecord.objects.count() == 0


@pytest.mark.django_db
def test_another_request_under_the_key_is_refused():
    client = ApiClient()
    client.post("/v1/accounts", json={"name": "Ann"}, headers=KEY)

    answer = client.post("/v1/accounts", json={"name": "Bob"}, headers=KEY)

    assert (answer.status, answer.reason) == (422, "idempotency_mismatch")
    assert Account.objects.count() == 1


@pytest.mark.django_db
def test_without_a_token_a_guessable_key_is_refused():
    answer = ApiClient().post("/v1/accounts", json={"name": "Ann"}, headers={"Idempotency-Key": "x" * 21}, bad=True)

    assert answer.status == 400
    assert answer.body["errors"][0]["pointer"] == "Idempotency-Key"
    assert Account.objects.count() == 0


@pytest.mark.django_db
def test_callers_of_two_addresses_do_not_share_a_key():
    client = ApiClient()
    first = client.post("/v1/accounts", json={"name": "Ann"}, headers=KEY)
    client._django.defaults["REMOTE_ADDR"] = "203.0.113.9"

    other = client.post("/v1/accounts", json={"name": "Ann"}, headers=KEY)

    assert other.status == 201
    assert other.body["token"] != first.body["token"]


@pytest.mark.django_db
def test_an_answer_that_an_older_version_kept_whole_is_given_again(monkeypatch):
    client = ApiClient()
    with monkeypatch.context() as older:
        older.setattr(zlib, "compress", lambda whole, _level: whole)
        first = client.post("/v1/accounts", json={"name": "Ann"}, headers=KEY)

    again = client.post("/v1/accounts", json={"name": "Ann"}, headers=KEY)

    assert (again.status, again.body) == (201, first.body)


@pytest.mark.django_db
def test_a_refusal_is_not_kept():
    client = ApiClient()
    refused = client.post("/v1/accounts", json={"name": ""}, headers=KEY, bad=True)

    made = client.post("/v1/accounts", json={"name": "Ann"}, headers=KEY)

    assert (refused.status, made.status) == (400, 201)


@pytest.mark.django_db
def test_a_stolen_database_yields_no_token():
    made = ApiClient().post("/v1/accounts", json={"name": "Ann"}, headers=KEY)
    token = made.body["token"]

    rows = repr([*IdempotencyRecord.objects.values(), *Token.objects.values(), *Account.objects.values()])

    assert bytes(IdempotencyRecord.objects.get().answer)
    assert token not in rows
    assert token[4:] not in rows
    assert KEY["Idempotency-Key"] not in rows
    assert b"spk_" not in bytes(IdempotencyRecord.objects.get().answer)


@pytest.mark.django_db(transaction=True)
def test_an_effect_that_fails_leaves_no_record_and_no_account(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr("accounts.idempotency.keep", fail)
    answer = ApiClient().post("/v1/accounts", json={"name": "Ann"}, headers=KEY)

    assert (answer.status, answer.reason) == (503, "unavailable")
    assert (Account.objects.count(), Token.objects.count(), IdempotencyRecord.objects.count()) == (0, 0, 0)
