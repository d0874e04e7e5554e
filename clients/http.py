"""A client of the API on the standard library: one connection, JSON, a token, problems as exceptions, safe retries.

It is meant to be read and copied by whoever builds a client in another language. What it does, in order of importance:

* every POST carries an ``Idempotency-Key``, made once for each action and sent again unchanged with each attempt. The
  service does the action once and gives every repetition the first answer, so a lost answer loses nothing;
* it tries again after a broken connection and after an answer that says ``Retry-After``, and never otherwise;
* an action names the version that it was decided upon in ``If-Match``, so that it is refused (412) rather than applied
to
  a state that the player has not seen;
* a refusal is an `ApiProblem` with the stable ``reason`` that programs decide by and the ``detail`` that people read.

    client = ApiClient("http://127.0.0.1:8000")
    made = client.post("/v1/accounts", {"name": "guest"})
    client.token = made.body["token"]
    game = client.get("/v1/games/018f...")
    client.post("/v1/games/018f.../plays", {"card": "QH"}, if_match=game.etag)
"""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

__all__ = ["Answer", "ApiClient", "ApiProblem", "NoAnswer"]

ATTEMPTS: Final = 6
"""How often a request is sent at most."""

FIRST_PAUSE_SECONDS: Final = 0.1
"""The pause after the first broken connection; each further one doubles it."""

LONGEST_PAUSE_SECONDS: Final = 60.0
"""A service that asks for more patience than this gets none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: Any
    """The JSON value; None when there is none."""

    @property
    def etag(self) -> str | None:
        """The tag of the view that this is, to be sent in `if_match` with an action decided upon it."""
        return self.headers.get("etag")


class ApiProblem(Exception):
    """The service refused: an answer of status 400 or above.

    Attributes:
        status: the HTTP status.
        reason: stable, for programs: ``"must_follow_suit"``. ``"unknown"`` if the answer was no problem document.
        detail: a sentence for people.
        body: the whole document, with ``legal``, ``version``, ``errors``, ``rule`` and ``request_id`` where they apply.
    """

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.reason = str(body.get("reason", "unknown"))
        self.detail = str(body.get("detail", ""))
        self.body = dict(body)
        self.retry_after = retry_after
        """Seconds after which the same request may succeed, if the service says so."""
        super().__init__(status, body, retry_after)

    def __str__(self) -> str:
        return f"{self.status} {self.reason}: {self.detail}"


class NoAnswer(Exception):
    """The service could not be reached, or broke every connection before it answered."""


class ApiClient:
    """Speaks to one service over one connection that is kept open. Not for several threads at once.

    Args:
        base_url: scheme, host and port: ``"http://127.0.0.1:8000"``.
        token: what to send as ``Authorization: Bearer``: an account's (``spk_``) or a seat's (``sps_``); may be set
        later.
        timeout: seconds to wait for an answer. It must be longer than the `wait` of a long poll.
    """

    def __init__(self, base_url: str, token: str | None = None, *, timeout: float = 60.0) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"expected an address such as http://127.0.0.1:8000, got {base_url!r}")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._prefix = parts.path.rstrip("/")
        self.token = token

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._connection.close()

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Answer:
        """Read something.

        Raises:
            ApiProblem: the service refused.
            NoAnswer: it could not be reached.
        """
        return self._send("GET", path + (f"?{urlencode(query)}" if query else ""), None, {})

    def post(
        self, path: str, body: Mapping[str, Any], *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> Answer:
        """Do something, once, however often it must be sent.

        Args:
            body: the JSON object to send.
            if_match: the `Answer.etag` of the view that the action was decided upon.
            idempotency_key: a key of the caller's own, for one who may be restarted and must go on with the same
            action;
                by default a new random one. Without a token it must have 22 characters at least.

        Raises:
            ApiProblem: the service refused; nothing has changed.
            NoAnswer: it could not be reached. The action may have been done: send it again with the same key.
        """
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        if if_match is not None:
            headers["If-Match"] = if_match
        return self._send("POST", path, json.dumps(body).encode(), headers)

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        """Send a request until it is answered. Only what may be sent twice comes here."""
        headers["Accept"] = "application/json"
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._send_once(method, self._prefix + path, body, headers)
            except ApiProblem as problem:
                if problem.retry_after is None or problem.retry_after > LONGEST_PAUSE_SECONDS or attempt == ATTEMPTS:
                    raise
                time.sleep(problem.retry_after)
            except (OSError, http.client.HTTPException) as error:
                self.close()  # whatever is half sent or half read must not meet the next request
                if attempt == ATTEMPTS:
                    raise NoAnswer(f"{method} {path}: {error!r}") from error
                if attempt > 1:  # the first time it may just be that the service closed an idle connection
                    time.sleep(pause)
                    pause *= 2
        raise AssertionError("the last attempt answers or raises")

    def _send_once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        self._connection.request(method, path, body, dict(headers))
        response = self._connection.getresponse()
        content = response.read()  # to its end, or the connection cannot be used again
        given = {name.lower(): value for name, value in response.getheaders()}
        if response.status < http.client.BAD_REQUEST:
            return Answer(response.status, given, json.loads(content) if content else None)
        raise ApiProblem(response.status, _problem(content), _seconds(given.get("retry-after")))


def _problem(content: bytes) -> dict[str, Any]:
    """The problem document; a proxy in between may answer with something else."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"detail": content[:200].decode(errors="replace")}


def _seconds(text: str | None) -> float | None:
    """The seconds of a `Retry-After`; the other form, a date, is not sent by this service."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
