from __future__ import annotations

import pytest
from django.test import RequestFactory

from contract.idempotency import fingerprint, key_digest, key_from, seal, unseal
from contract.problems import Problem


def request(key):
    return RequestFactory().post("/v1/accounts", headers={"Idempotency-Key": key})


@pytest.mark.parametrize("key", ["a", "x" * 255, "018f3c5e-7a00-7cc3-98c5-0242ac120002", '"quoted"', "~!"])
def test_a_key_is_visible_ascii(key):
    assert key_from(request(key)) == key


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "tab\t", "é", "\x7f"])
def test_any_other_key_is_malformed(key):
    with pytest.raises(Problem) as refused:
        key_from(request(key))

    assert refused.value.errors[0].pointer == "Idempotency-Key"


def test_without_a_key_there_is_none():
    assert key_from(RequestFactory().post("/")) is None


def test_without_a_token_a_key_must_be_long_enough_not_to_be_guessed():
    with pytest.raises(Problem) as refused:
        key_from(request("x" * 21), unguessable=True)

    assert refused.value.errors[0].reason == "wrong_length"
    assert key_from(request("x" * 22), unguessable=True) == "x" * 22


def test_a_fingerprint_tells_requests_apart_but_not_their_spelling():
    one = fingerprint("POST", "/v1/games", {"a": 1, "b": [1, 2]})

    assert one == fingerprint("POST", "/v1/games", {"b": [1, 2], "a": 1})
    assert len(one) == 64
    assert one != fingerprint("POST", "/v1/games", {"a": 1, "b": [2, 1]})
    assert one != fingerprint("POST", "/v1/games", {"a": 1.0, "b": [1, 2]})
    assert one != fingerprint("POST", "/v1/accounts", {"a": 1, "b": [1, 2]})
    assert one != fingerprint("PATCH", "/v1/games", {"a": 1, "b": [1, 2]})


def test_a_sealed_answer_opens_with_its_own_key_alone(settings):
    sealed = seal("key-1", "account:1", b"the token")

    assert b"token" not in sealed
    assert unseal("key-1", "account:1", sealed) == b"the token"
    for key, principal, text in [
        ("key-2", "account:1", sealed),
        ("key-1", "account:2", sealed),
        ("key-1", "account:1", sealed[:-1] + bytes([sealed[-1] ^ 1])),
        ("key-1", "account:1", b""),
    ]:
        with pytest.raises(ValueError, match="sealed"):
            unseal(key, principal, text)
    settings.SECRET_KEY = "another"
    with pytest.raises(ValueError, match="sealed"):
        unseal("key-1", "account:1", sealed)


def test_two_seals_of_one_answer_differ():
    assert seal("key-1", "account:1", b"x") != seal("key-1", "account:1", b"x")


def test_keys_of_two_principals_are_two_keys(settings):
    digests = {key_digest("account:1", "k"), key_digest("account:2", "k"), key_digest("account:1", "l")}
    settings.SECRET_KEY = "another"
    digests.add(key_digest("account:1", "k"))

    assert len(digests) == 4
    assert {len(digest) for digest in digests} == {64}
