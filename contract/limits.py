"""Limits: how many requests a token, or an address, may make.

Each limit is a fixed window: a quota that is full again when the window ends. Every answer below /v1 says what was
counted and what is left (`RateLimit-Policy` and `RateLimit`, as in draft-ietf-httpapi-ratelimit-headers-10).

A request with a token counts for that token, whatever address it comes from. One without counts for the address of the
connection, and so does one that is answered as a request with a made-up token could be. Forwarding headers are not
looked at: a caller could write anything in them. Behind a proxy all callers without a token share the proxy's address,
so a deployment there limits them in the proxy and raises `address` and `accounts` (setting `RATE_LIMITS`).

Counting is exact in one process and never too generous in many. When the cache is shared, a process takes a hundredth
of a quota at a time out of the shared counter, by one atomic increment, and spends it alone. So the store is asked once
in 60 requests of a token, and what a process has taken and not spent can only make a limit come a little early.

When the shared store is away nothing can be counted, and the answer is 503, not a request let through: whoever could
take the store down would be rid of the limit, and the same server carries the tasks without which no bot moves.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.signals import setting_changed
from django.http import HttpRequest, HttpResponseBase
from redis.exceptions import RedisError

from contract.problems import ContractReason, Problem

__all__ = ["POLICIES", "Charge", "Limiter", "LimitsMiddleware", "Policy", "address", "charge"]

PREFIX: Final = "/v1/"
SHARE: Final = 100

UNVERIFIED: Final = frozenset({400, 401, 404, 405, 406, 413, 415})
"""Statuses of answers that may have been given before anybody looked whether the token exists."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One limit: `quota` requests in each window of `window` seconds, for each `by`: a token or an address."""

    name: str
    quota: int
    window: int
    by: str

    @property
    def header(self) -> str:
        """The policy as `RateLimit-Policy` writes it."""
        return f'"{self.name}";q={self.quota};w={self.window}'


POLICIES: Final[Mapping[str, Policy]] = {
    policy.name: policy
    for policy in (
        Policy("token", 6000, 60, "token"),
        Policy("address", 1200, 60, "address"),
        Policy("accounts", 30, 60, "address"),
        Policy("records", 120, 60, "address"),
    )
}
"""As documented. The setting RATE_LIMITS overrides numbers, {"token": [quota, seconds]}, or is False for no limits."""


@dataclass(slots=True)
class Charge:
    """What one request took out of one limit: how much is left, and the seconds until the quota is full again."""

    policy: Policy
    left: int
    reset: int

    @property
    def header(self) -> str:
        """The state as `RateLimit` writes it."""
        return f'"{self.policy.name}";r={max(0, self.left)};t={self.reset}'


class Store(Protocol):
    """Where several processes count together."""

    def take(self, key: str, amount: int, seconds: int) -> int:
        """Add `amount` to the counter `key`, which ends after `seconds`; give the new total."""


class CacheStore:
    """Counts in Django's cache, with its atomic add and increment."""

    def __init__(self, alias: str = "default") -> None:
        self.alias = alias

    def take(self, key: str, amount: int, seconds: int) -> int:
        """Add to the counter.

        Raises:
            Problem: `unavailable`.
        """
        cache = caches[self.alias]
        try:
            for _ in range(3):
                cache.add(key, 0, seconds + 5)
                try:
                    return int(cache.incr(key, amount))
                except ValueError:  # it ended between the two
                    continue
        except (RedisError, OSError) as exc:
            raise Problem(ContractReason.UNAVAILABLE, "Requests cannot be counted at the moment. Try again.") from exc
        raise Problem(ContractReason.UNAVAILABLE, "Requests cannot be counted at the moment. Try again.")


@dataclass(slots=True)
class _Account:
    total: int = 0  # what the shared counter held when this process last asked: taken by anybody
    left: int = 0  # what this process has taken and not spent


class Limiter:
    """Counts requests, in this process alone or together with others through a store."""

    def __init__(
        self,
        policies: Mapping[str, Policy] = POLICIES,
        store: Store | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.policies = policies
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._windows: dict[tuple[str, int], dict[str, _Account]] = {}

    def spend(self, name: str, key: str) -> Charge:
        """Count one request of `key`; `left` below zero says that there was none left, and then nothing was counted.

        Raises:
            Problem: `unavailable`; the shared store is away.
        """
        policy = self.policies[name]
        now = self._clock()
        window = int(now // policy.window)
        reset = max(1, int((window + 1) * policy.window - now + 0.999))
        with self._lock:
            accounts = self._windows.get((name, window))
            if accounts is None:
                for ended in [old for old in self._windows if old[0] == name]:
                    del self._windows[ended]
                accounts = self._windows[name, window] = {}
            account = accounts.get(key)
            if account is None:
                account = accounts[key] = _Account()
            if account.left > 0:
                account.left -= 1
                return Charge(policy, policy.quota - account.total + account.left, reset)
            if account.total >= policy.quota:
                return Charge(policy, -1, reset)
            if self._store is None:
                account.total += 1
                return Charge(policy, policy.quota - account.total, reset)
        share = max(1, policy.quota // SHARE)
        total = self._store.take(f"limit:{name}:{window}:{key}", share, policy.window)
        usable = max(0, min(share, policy.quota - (total - share)))
        with self._lock:
            account.total = max(account.total, min(total, policy.quota))
            if usable == 0:
                return Charge(policy, -1, reset)
            account.left += usable - 1
            return Charge(policy, policy.quota - account.total + account.left, reset)


_limiter: Limiter | None = None
_ready = False


def limiter() -> Limiter | None:
    """Give the limiter of this process, made from the settings; None where they say that there are no limits."""
    global _limiter, _ready  # noqa: PLW0603  (one a process; made late, since settings may not be read on import)
    if not _ready:
        given = getattr(settings, "RATE_LIMITS", None)
        if given is False:
            _limiter = None
        else:
            changed = {
                name: Policy(name, int(quota), int(window), POLICIES[name].by)
                for name, (quota, window) in (given or {}).items()
            }
            alone = isinstance(caches["default"], LocMemCache | DummyCache)
            _limiter = Limiter({**POLICIES, **changed}, None if alone else CacheStore())
        _ready = True
    return _limiter


def _forget(*, setting: str, **_: Any) -> None:
    global _limiter, _ready
    if setting in ("RATE_LIMITS", "CACHES"):
        _limiter, _ready = None, False


setting_changed.connect(_forget)


_LINK: Final = re.compile("bearer +spw_", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _network(text: str) -> str:
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return text or "local"
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False).network_address)
    return str(parsed)


def address(request: Any) -> str:
    """Give whom an address limit counts: the peer of the connection; of IPv6 its /64, which one customer has whole."""
    return _network(request.META.get("REMOTE_ADDR", ""))


def charge(request: Any, name: str) -> None:
    """Count this request against the address limit `name` too; the answer tells.

    Raises:
        Problem: `rate_limited`.
    """
    counter = limiter()
    if counter is None:
        return
    spent = counter.spend(name, address(request))
    charges: list[Charge] | None = getattr(request, "charges", None)
    if charges is not None:
        charges.append(spent)
    if spent.left < 0:
        raise exceeded(spent)


def exceeded(spent: Charge) -> Problem:
    """Make the refusal; its detail names the limit and its numbers."""
    policy = spent.policy
    return Problem(
        ContractReason.RATE_LIMITED,
        f"The limit '{policy.name}' allows {policy.quota:,} requests in {policy.window} seconds for each {policy.by}; "
        f"it is full again in {spent.reset} seconds.",
        retry_after=spent.reset,
    )


class LimitsMiddleware:
    """Count every request below /v1, whether it meets a route or not, and put the limits on its answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        counter = limiter()
        if counter is None or not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        charges: list[Charge] = []
        request.charges = charges  # type: ignore[attr-defined]
        credentials = request.META.get("HTTP_AUTHORIZATION")
        try:
            if credentials is None:
                charges.append(counter.spend("address", address(request)))
            else:
                # A watch link is for many, so each address that shows it has a quota of its own.
                counted = f"{credentials} {address(request)}" if _LINK.match(credentials) else credentials
                digest = hashlib.sha256(counted.encode("utf-8", "replace")).hexdigest()
                charges.append(counter.spend("token", digest))
            if charges[0].left < 0:
                response: HttpResponseBase = exceeded(charges[0]).response()
            else:
                response = self.get_response(request)
            if credentials is not None and response.status_code in UNVERIFIED:
                # A made-up token has a limit of its own that nobody ever reaches; so it counts for the address as well.
                charges.append(counter.spend("address", address(request)))
                if charges[-1].left < 0:
                    response = exceeded(charges[-1]).response()
        except Problem as problem:
            response = problem.response()
        if charges:
            response["RateLimit-Policy"] = ", ".join([spent.policy.header for spent in charges])
            response["RateLimit"] = ", ".join([spent.header for spent in charges])
        return response
