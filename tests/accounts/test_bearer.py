from __future__ import annotations

import hashlib

import pytest
from django.test import RequestFactory

from accounts import bearer
from contract.problems import Problem

TOKEN = "spk_" + "aB3-_" * 8 + "xyz"


def request(authorization):
    return RequestFactory().get("/", headers={"Authorization": authorization})


@pytest.mark.parametrize("kind", ["spk", "sps", "spw", "spi"])
def test_a_token_holds_256_random_bits(kind):
    text, digest = bearer.make(kind)

    assert text.startswith(f"{kind}_")
    assert len(text) == 4 + 43
    assert digest == bearer.digest(text) == hashlib.sha256(text.encode()).hexdigest()
    assert bearer.make(kind) != (text, digest)


@pytest.mark.parametrize("kind", ["spk", "sps", "spw"])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER "])
def test_a_token_is_read_from_the_header(kind, scheme):
    text, digest = bearer.make(kind)

    assert bearer.read(request(f"{scheme} {text}")) == bearer.Bearer(kind, digest)


def test_without_the_header_there_is_no_token():
    assert bearer.read(RequestFactory().get("/")) is None


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        TOKEN,
        f"Basic {TOKEN}",
        f"Token {TOKEN}",
        "Bearer",
        "Bearer x",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN.replace('spk', 'SPK')}",
        f"Bearer {TOKEN.replace('spk', 'spi')}",
        f"Bearer {TOKEN.replace('spk', 'abc')}",
        f"Bearer {TOKEN[:-1]}é",
        f"Bearer {TOKEN}\n",
    ],
)
def test_any_other_header_is_refused_without_repeating_it(authorization):
    with pytest.raises(Problem) as refused:
        bearer.read(request(authorization))

    assert refused.value.reason == "unauthenticated"
    assert TOKEN[4:20] not in refused.value.detail


def test_an_operation_that_needs_a_token_asks_for_it():
    with pytest.raises(Problem) as refused:
        bearer.require(RequestFactory().get("/"))

    assert refused.value.reason == "unauthenticated"
