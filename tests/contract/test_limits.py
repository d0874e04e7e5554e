from __future__ import annotations

import re
import threading
import timeit

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from redis.exceptions import ConnectionError as RedisConnectionError

from contract import limits
from contract.ids import uuid7
from contract.limits import CacheStore, Limiter, Policy, address
from contract.problems import Problem
from tests.client import ROOT, ApiClient

POLICIES = {"token": Policy("token", 5, 60, "token"), "big": Policy("big", 1000, 60, "token")}


@pytest.fixture
def alone(settings):
    """A process that counts alone, so that what an earlier run left in a shared store does not count."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    return settings


class Clock:
    def __init__(self) -> None:
        self.now = 600.0

    def __call__(self) -> float:
        return self.now


class SharedCounters:
    """A store as several processes see it; counts how often it is asked."""

    def __init__(self) -> None:
        self.totals: dict[str, int] = {}
        self.asked = 0
        self.lock = threading.Lock()

    def take(self, key, amount, seconds):
        with self.lock:
            self.asked += 1
            self.totals[key] = self.totals.get(key, 0) + amount
            return self.totals[key]


def test_a_quota_is_spent_and_full_again_in_the_next_window():
    clock = Clock()
    limiter = Limiter(POLICIES, clock=clock)

    left = [limiter.spend("token", "a").left for _ in range(7)]
    clock.now = 659.0
    late = limiter.spend("token", "a")
    clock.now = 660.0
    fresh = limiter.spend("token", "a")

    assert left == [4, 3, 2, 1, 0, -1, -1]
    assert (late.left, late.reset) == (-1, 1)
    assert (fresh.left, fresh.reset) == (4, 60)


def test_tokens_are_counted_apart():
    limiter = Limiter(POLICIES, clock=Clock())
    for _ in range(6):
        limiter.spend("token", "a")

    assert limiter.spend("token", "b").left == 4


def test_counts_of_ended_windows_are_forgotten():
    clock = Clock()
    limiter = Limiter(POLICIES, clock=clock)
    for number in range(100):
        limiter.spend("token", str(number))
    clock.now += 60

    limiter.spend("token", "a")

    assert sum(len(accounts) for accounts in limiter._windows.values()) == 1


@pytest.mark.parametrize("shared", [False, True], ids=["one process", "three processes"])
@pytest.mark.parametrize("policy", ["token", "big"])
def test_a_quota_is_never_exceeded_however_many_count_at_once(shared, policy):
    store = SharedCounters()
    clock = Clock()
    limiters = [Limiter(POLICIES, store, clock) for _ in range(3)] if shared else [Limiter(POLICIES, clock=clock)] * 3
    allowed: list[int] = []

    def run(limiter):
        spent = [limiter.spend(policy, "a") for _ in range(POLICIES[policy].quota)]
        allowed.append(sum(charge.left >= 0 for charge in spent))

    threads = [threading.Thread(target=run, args=(limiter,)) for limiter in limiters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(allowed) == POLICIES[policy].quota


def test_a_shared_store_is_asked_once_in_a_share():
    store = SharedCounters()
    limiter = Limiter(POLICIES, store, Clock())

    left = [limiter.spend("big", "a").left for _ in range(100)]

    assert store.asked == 10
    assert left == list(range(999, 899, -1))


def test_a_spent_quota_is_not_asked_about_again():
    store = SharedCounters()
    limiter = Limiter(POLICIES, store, Clock())
    for _ in range(6):
        limiter.spend("token", "a")
    asked = store.asked

    refused = [limiter.spend("token", "a").left for _ in range(50)]

    assert set(refused) == {-1}
    assert store.asked == asked


def test_the_cache_counts_atomically():
    store = CacheStore()
    key = f"limit:test:{uuid7()}"
    totals: list[int] = []
    threads = [
        threading.Thread(target=lambda: totals.extend(store.take(key, 1, 60) for _ in range(50))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(totals) == list(range(1, 201))


def test_a_store_that_is_away_lets_nothing_through(monkeypatch):
    class Away:
        def add(self, *_):
            raise RedisConnectionError("refused")

    monkeypatch.setattr(limits, "caches", {"default": Away()})
    limiter = Limiter(POLICIES, CacheStore(), Clock())

    with pytest.raises(Problem) as refused:
        limiter.spend("token", "a")

    assert (refused.value.status, refused.value.reason) == (503, "unavailable")


@pytest.mark.parametrize(
    ("peer", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", "local"),
    ],
)
def test_an_address_is_the_peers_and_of_ipv6_its_network(peer, counted):
    assert address(RequestFactory().get("/", REMOTE_ADDR=peer)) == counted


def test_forged_forwarding_headers_change_nothing():
    forged = {"X-Forwarded-For": "198.51.100.1", "Forwarded": "for=198.51.100.1", "X-Real-Ip": "198.51.100.1"}

    assert address(RequestFactory().get("/", headers=forged)) == "127.0.0.1"


def test_every_answer_tells_limits_and_what_is_left(alone):
    alone.RATE_LIMITS = {"address": (3, 3600)}
    client = ApiClient()

    answers = [client.get("/v1/schema", headers={"X-Forwarded-For": f"198.51.100.{n}"}) for n in range(2)]
    answers += [client.get("/v1/nowhere", bad=True), client.get("/v1/schema")]

    assert [answer.status for answer in answers] == [200, 200, 404, 429]
    assert {answer.headers["ratelimit-policy"] for answer in answers} == {'"address";q=3;w=3600'}
    assert [re.sub(r"t=\d+", "t", answer.headers["ratelimit"]) for answer in answers] == [
        '"address";r=2;t',
        '"address";r=1;t',
        '"address";r=0;t',
        '"address";r=0;t',
    ]
    assert 1 <= int(answers[3].headers["retry-after"]) <= 3600
    assert answers[3].reason == "rate_limited"
    assert "'address'" in answers[3].body["detail"]


@pytest.mark.django_db
def test_a_made_up_token_counts_for_the_address_too(alone):
    alone.RATE_LIMITS = {"address": (2, 3600)}
    client = ApiClient()

    statuses = [client.get("/v1/accounts/me", token=f"spk_{n:043d}").status for n in range(4)]

    assert statuses == [401, 401, 429, 429]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/v1/nothing/here", {}, 404),
        ("DELETE", "/v1/accounts", {}, 405),
        ("GET", "/v1/schema?colour=red", {}, 400),
        ("GET", "/v1/games", {"Accept": "text/plain"}, 406),
        ("POST", "/v1/games", {"Content-Type": "text/plain"}, 401),
    ],
)
def test_made_up_tokens_buy_nothing_where_nobody_looks_at_them(alone, method, path, headers, status):
    alone.RATE_LIMITS = {"address": (2, 3600)}
    client = Client()

    statuses = [
        client.generic(method, path, b"x", headers={"Authorization": f"Bearer spk_{n:043d}", **headers}).status_code
        for n in range(3)
    ]

    assert statuses == [status, status, 429]


@pytest.mark.django_db
def test_a_valid_token_is_not_held_up_by_its_address(alone):
    alone.RATE_LIMITS = {"address": (2, 3600)}
    alone.OPEN_REGISTRATION = True
    client = ApiClient()
    token = client.post("/v1/accounts", json={"name": "Ann"}).body["token"]
    client.get("/v1/schema")

    assert client.get("/v1/schema").status == 429
    assert client.get("/v1/accounts/me", token=token).status == 200


@pytest.mark.parametrize(("kind", "left"), [("spw", 4), ("spk", 3), ("sps", 3)])
def test_a_watch_link_counts_for_each_address_that_shows_it(alone, kind, left):
    """Many people have the same one, and none of them is to be held up by the others."""
    alone.RATE_LIMITS = {"token": (5, 3600)}
    told = limits.LimitsMiddleware(lambda _: HttpResponse())
    shown = {"HTTP_AUTHORIZATION": f"Bearer {kind}_{'x' * 43}"}

    answers = [
        told(RequestFactory().get("/v1/games", REMOTE_ADDR=address, **shown)) for address in ("192.0.2.1", "192.0.2.2")
    ]

    assert [int(re.search(r"r=(\d+)", answer["RateLimit"])[1]) for answer in answers] == [4, left]


@pytest.mark.django_db
def test_opening_accounts_has_a_limit_of_its_own(alone):
    alone.RATE_LIMITS = {"accounts": (2, 3600)}
    alone.OPEN_REGISTRATION = True
    client = ApiClient()

    answers = [client.post("/v1/accounts", json={"name": "Ann"}) for _ in range(3)]

    assert [answer.status for answer in answers] == [201, 201, 429]
    assert answers[0].headers["ratelimit-policy"] == '"address";q=1200;w=60, "accounts";q=2;w=3600'


def test_limits_can_be_turned_off(alone):
    alone.RATE_LIMITS = False

    assert "ratelimit" not in ApiClient().get("/v1/schema").headers


def test_pages_outside_the_api_are_not_counted(alone):
    alone.RATE_LIMITS = {}

    assert "ratelimit" not in ApiClient().get("/problems").headers


def test_the_documented_numbers_are_the_real_ones():
    text = (ROOT / "openapi" / "description.md").read_text(encoding="utf-8")

    for policy in limits.POLICIES.values():
        assert f"| `{policy.name}` | {policy.quota} | {policy.window} | {policy.by}" in text


def test_counting_costs_little():
    limiter = Limiter()

    seconds = min(timeit.repeat(lambda: limiter.spend("token", "a"), number=1000, repeat=5)) / 1000

    assert seconds < 50e-6
