from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from clients.http import ATTEMPTS, ApiClient, ApiProblem, NoAnswer

Reply = tuple[int, dict[str, str], bytes]
PROBLEM = {"status": 422, "reason": "must_follow_suit", "detail": "You hold hearts.", "legal": [{"card": "4H"}]}


class Scripted:
    """A real server that gives the answers of a list, one a request, and keeps what was asked. None breaks the line."""

    def __init__(self, replies: list[Reply | None]) -> None:
        self.replies = list(replies)
        self.asked: list[dict[str, Any]] = []
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(length)
                line, port = f"{self.command} {self.path}", self.client_address[1]
                scripted.asked.append({"line": line, "headers": headers, "body": body, "port": port})
                reply = scripted.replies.pop(0)
                if reply is None:
                    self.close_connection = True
                    return
                status, given, content = reply
                self.send_response(status)
                for name, value in given.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer  # noqa: N815 -- the names that the library calls

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


Start = Callable[..., tuple[Scripted, ApiClient]]


@pytest.fixture
def scripted() -> Iterator[Start]:
    running = []

    def start(*replies: Reply | None, token: str | None = None) -> tuple[Scripted, ApiClient]:
        server = Scripted(list(replies))
        client = ApiClient(server.url, token, timeout=20)
        running.append((server, client))
        return server, client

    yield start
    for server, client in running:
        client.close()
        server.stop()


def ok(body: Any, **headers: str) -> Reply:
    return 200, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()


def problem(body: Any, **headers: str) -> Reply:
    status = body["status"]
    return status, {"Content-Type": "application/problem+json", **headers}, json.dumps(body).encode()


def test_requests_go_over_one_connection_with_token_and_json(scripted: Start) -> None:
    server, client = scripted(ok({"version": 3}, ETag='"3-A"'), ok({"version": 4}), token="sps_x")

    view = client.get("/v1/games/1", {"wait": 2})
    done = client.post("/v1/games/1/plays", {"card": "QH"}, if_match=view.etag)

    first, second = server.asked
    assert (view.status, view.body, view.etag, done.body) == (200, {"version": 3}, '"3-A"', {"version": 4})
    assert (first["line"], second["line"]) == ("GET /v1/games/1?wait=2", "POST /v1/games/1/plays")
    assert first["headers"]["authorization"] == second["headers"]["authorization"] == "Bearer sps_x"
    assert "idempotency-key" not in first["headers"]
    assert second["headers"]["if-match"] == '"3-A"'
    assert json.loads(second["body"]) == {"card": "QH"}
    assert first["port"] == second["port"]


def test_each_action_has_a_key_of_its_own_and_a_given_one_is_kept(scripted: Start) -> None:
    server, client = scripted(ok({}), ok({}), ok({}))

    for key in (None, None, "mine"):
        client.post("/v1/accounts", {"name": "guest"}, idempotency_key=key)

    keys = [asked["headers"]["idempotency-key"] for asked in server.asked]
    assert keys[2] == "mine"
    assert len(set(keys)) == 3
    assert min(map(len, keys[:2])) >= 22


@pytest.mark.parametrize("status", [409, 429, 503])
def test_an_answer_that_names_a_time_is_asked_for_again_with_the_same_key(scripted: Start, status: int) -> None:
    server, client = scripted(problem({"status": status}, **{"Retry-After": "0"}), ok({"done": True}))

    answer = client.post("/v1/games", {})

    first, second = server.asked
    assert answer.body == {"done": True}
    assert first["headers"]["idempotency-key"] == second["headers"]["idempotency-key"]


def test_a_connection_that_breaks_is_opened_again_with_the_same_key(scripted: Start) -> None:
    server, client = scripted(ok({}), None, None, ok({"done": True}))
    client.get("/v1/games")

    answer = client.post("/v1/games", {"ruleset": {}})

    assert answer.body == {"done": True}
    assert len({asked["headers"]["idempotency-key"] for asked in server.asked[1:]}) == 1
    assert {asked["body"] for asked in server.asked[1:]} == {b'{"ruleset": {}}'}
    assert len({asked["port"] for asked in server.asked}) == 3


def test_a_refusal_is_raised_at_once_with_its_reason(scripted: Start) -> None:
    server, client = scripted(problem(PROBLEM))

    with pytest.raises(ApiProblem, match="422 must_follow_suit: You hold hearts") as raised:
        client.post("/v1/games/1/plays", {"card": "AS"})

    refused = raised.value
    assert (refused.status, refused.reason, refused.detail) == (422, "must_follow_suit", "You hold hearts.")
    assert raised.value.body == PROBLEM
    assert len(server.asked) == 1


def test_a_service_that_wants_too_much_patience_gets_none(scripted: Start) -> None:
    server, client = scripted(problem({"status": 503, "reason": "unavailable"}, **{"Retry-After": "3600"}))

    with pytest.raises(ApiProblem) as raised:
        client.get("/v1/games")

    assert (raised.value.reason, raised.value.retry_after, len(server.asked)) == ("unavailable", 3600, 1)


def test_a_service_that_never_recovers_is_asked_a_few_times(scripted: Start) -> None:
    server, client = scripted(*[problem({"status": 503, "reason": "unavailable"}, **{"Retry-After": "0"})] * ATTEMPTS)

    with pytest.raises(ApiProblem):
        client.get("/v1/games")

    assert len(server.asked) == ATTEMPTS


def test_an_error_page_of_a_proxy_is_a_problem_too(scripted: Start) -> None:
    _, client = scripted((502, {"Content-Type": "text/html"}, b"<h1>Bad Gateway</h1>"))

    with pytest.raises(ApiProblem) as raised:
        client.get("/v1/games")

    assert (raised.value.status, raised.value.reason, raised.value.detail) == (502, "unknown", "<h1>Bad Gateway</h1>")


def test_a_problem_leaves_the_connection_usable(scripted: Start) -> None:
    server, client = scripted(problem(PROBLEM), ok({}))
    with pytest.raises(ApiProblem):
        client.get("/v1/games/1")

    client.get("/v1/games/1")

    assert server.asked[0]["port"] == server.asked[1]["port"]


def test_nobody_at_the_address_is_said_so() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as free:
        port = free.server_port
    with ApiClient(f"http://127.0.0.1:{port}") as client, pytest.raises(NoAnswer, match="GET /v1/games"):
        client.get("/v1/games")


@pytest.mark.parametrize("address", ["", "127.0.0.1:8000", "ftp://127.0.0.1", "http://"])
def test_an_address_must_be_whole(address: str) -> None:
    with pytest.raises(ValueError, match="expected an address"):
        ApiClient(address)
