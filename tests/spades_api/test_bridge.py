"""From ASGI messages to the WSGI handler and back, without a server between."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import asynccontextmanager
from typing import ClassVar

import orjson
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import OperationalError, connections
from django.http import HttpResponse, StreamingHttpResponse

from contract.endpoint import MOST_BYTES
from spades_api.asgi import Application
from spades_api.bridge import DISCARD_BYTES, Bridge, Pool
from tests.service import ROOT


def make_scope(method="GET", path="/", query=b"", headers=()):
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("latin-1"),
        "query_string": query,
        "headers": [(b"host", b"localhost"), *headers],
        "http_version": "1.1",
        "scheme": "http",
        "client": ("10.0.0.9", 4711),
        "server": ("127.0.0.1", 8000),
    }


class Echo(WSGIHandler):
    """A handler that answers with the environment it was given."""

    status = 200
    headers: ClassVar[dict[str, str]] = {"X-Odd": "é"}
    response_class = HttpResponse

    def __init__(self) -> None:
        """Load no middleware."""

    def get_response(self, request):
        kept = {key: value for key, value in request.environ.items() if isinstance(value, str | bool)}
        content = orjson.dumps({**kept, "body": request.environ["wsgi.input"].read().decode("latin-1")})
        return self.response_class(
            content, content_type="application/json", status=self.status, headers=self.headers.items()
        )


async def exchange(application, scope, *messages):
    """Send one request, and give the status, the headers and the body, or None if nothing was answered."""
    inbox = asyncio.Queue()
    for message in messages or [b""]:
        inbox.put_nowait(message if isinstance(message, dict) else {"type": "http.request", "body": message})
    sent = []

    async def send(message) -> None:
        sent.append(message)

    await application(scope, inbox.get, send)
    if not sent:
        return None
    start, *parts = sent
    assert [part["more_body"] for part in parts] == [False]
    return start["status"], start["headers"], parts[0]["body"]


def ask(application, scope, *messages):
    async def scenario():
        pool = Pool(2)
        try:
            return await exchange(Bridge(application, pool), scope, *messages)
        finally:
            await pool.close()

    return asyncio.run(scenario())


def part(body: bytes, *, more: bool):
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_request_becomes_a_wsgi_environment():
    scope = make_scope(
        "POST",
        "/v1/games/%C3%A9%ff",
        b"a=1&b=%20",
        [
            (b"content-type", b"application/json"),
            (b"content-length", b"5"),
            (b"x-request-id", b"abc"),
            (b"x_request_id", b"forged"),
            (b"accept", b"text/html"),
            (b"accept", b"application/json"),
            (b"cookie", b"a=1"),
            (b"cookie", b"b=2"),
        ],
    )

    status, headers, body = ask(Echo(), scope, b"hello")

    assert status == 200
    assert headers == [
        (b"x-odd", b"\xe9"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    assert orjson.loads(body) == {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/v1/games/é%FF",  # as Django reads it
        "QUERY_STRING": "a=1&b=%20",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "REMOTE_ADDR": "10.0.0.9",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": "5",
        "HTTP_HOST": "localhost",
        "HTTP_X_REQUEST_ID": "abc",
        "HTTP_ACCEPT": "text/html,application/json",
        "HTTP_COOKIE": "a=1; b=2",
        "wsgi.url_scheme": "http",
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "body": "hello",
    }


def test_a_body_in_parts_is_put_together():
    parts = [part(b"one ", more=True), part(b"", more=True), part(b"two", more=False)]

    _, _, body = ask(Echo(), make_scope("POST"), *parts)

    assert orjson.loads(body)["body"] == "one two"
    assert orjson.loads(body)["CONTENT_LENGTH"] == "7"


def test_of_a_body_too_large_just_so_much_is_handed_on_that_it_shows():
    chunk = b"x" * 50_000

    _, headers, body = ask(Echo(), make_scope("POST"), *[part(chunk, more=True)] * 20, part(b"", more=False))

    assert len(orjson.loads(body)["body"]) == MOST_BYTES + 1
    assert (b"connection", b"close") not in headers


def test_a_body_without_end_is_not_read_to_its_end():
    chunk = b"x" * 1_000_000

    _, headers, body = ask(Echo(), make_scope("POST"), *[part(chunk, more=True)] * (DISCARD_BYTES // len(chunk) + 1))

    assert len(orjson.loads(body)["body"]) == MOST_BYTES + 1
    assert (b"connection", b"close") in headers


def test_a_head_has_the_length_and_no_body():
    status, headers, body = ask(Echo(), make_scope("HEAD"))

    assert (status, body) == (200, b"")
    assert int(dict(headers)[b"content-length"]) > 100


@pytest.mark.parametrize("code", [204, 304])
def test_an_answer_without_a_body_has_no_length(code):
    class Nothing(Echo):
        def get_response(self, request):
            response = HttpResponse(status=code, headers={"Content-Length": "0"})
            del response["Content-Type"]
            return response

    status, headers, body = ask(Nothing(), make_scope())

    assert (status, headers, body) == (code, [], b"")


def test_an_answer_in_parts_is_put_together():
    class Parts(Echo):
        def get_response(self, request):
            return StreamingHttpResponse([b"one ", b"two"], content_type="text/plain")

    status, headers, body = ask(Parts(), make_scope())

    assert (status, body) == (200, b"one two")
    assert dict(headers)[b"content-length"] == b"7"


def test_a_client_that_leaves_while_sending_is_not_answered():
    asked = []

    class Asked(Echo):
        def get_response(self, request):
            asked.append(request)
            return super().get_response(request)

    answer = ask(Asked(), make_scope("POST"), part(b"half", more=True), {"type": "http.disconnect"})

    assert (answer, asked) == (None, [])


def test_the_response_is_closed_in_the_thread_that_made_it():
    made, closed = [], []

    class Closing(HttpResponse):
        def __init__(self, *args, **kwargs) -> None:
            super().__init__(*args, **kwargs)
            made.append(threading.get_ident())

        def close(self) -> None:
            super().close()
            closed.append(threading.get_ident())

    class Handler(Echo):
        response_class = Closing

    ask(Handler(), make_scope())

    assert made == closed != [threading.get_ident()]


@asynccontextmanager
async def running_service():
    """The real application, between its start and its end."""
    application = Application()
    inbox, outbox = asyncio.Queue(), asyncio.Queue()
    life = asyncio.create_task(application({"type": "lifespan"}, inbox.get, outbox.put))
    inbox.put_nowait({"type": "lifespan.startup"})
    assert await outbox.get() == {"type": "lifespan.startup.complete"}
    try:
        yield application
    finally:
        inbox.put_nowait({"type": "lifespan.shutdown"})
        assert await outbox.get() == {"type": "lifespan.shutdown.complete"}
        await life


def test_the_service_answers_and_refuses(settings):
    settings.OPEN_REGISTRATION = True
    requests = [
        (make_scope(path="/healthz"), []),
        (make_scope("HEAD", "/healthz"), []),
        (make_scope(path="/no/such/place"), []),
        (make_scope(path="/%ff"), []),
        (make_scope(path="/healthz", headers=[(b"host", b"evil.example")]), []),
        (make_scope("POST", "/v1/accounts", headers=[(b"content-type", b"application/json")]), [b"x" * 1_000_000]),
    ]

    async def scenario():
        async with running_service() as application:
            return [await exchange(application, scope, *messages) for scope, messages in requests]

    answers = asyncio.run(scenario())

    assert [status for status, _, _ in answers] == [200, 200, 404, 404, 400, 413]
    assert [body and orjson.loads(body).get("reason") for _, _, body in answers] == [
        None,
        b"",
        "not_found",
        "not_found",
        "malformed",
        "payload_too_large",
    ]


@pytest.mark.django_db(transaction=True)
def test_connections_stay_open_between_requests_and_are_closed_with_the_pool():
    seen = set()

    def look():
        connections["default"].ensure_connection()
        seen.add(id(connections["default"].connection))
        return connections["default"].connection

    async def scenario():
        pool = Pool(1)
        for _ in range(3):
            connection = await pool.run(look)
        await pool.close()
        return connection

    connection = asyncio.run(scenario())

    assert len(seen) == 1
    with pytest.raises(Exception, match="closed"):
        connection.cursor().execute("SELECT 1")


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_broke_is_replaced():
    if connections["default"].vendor != "postgresql":
        pytest.skip("SQLite has no connection that could break")

    def number():
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return cursor.fetchone()[0]

    def end(pid):
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    async def scenario():
        pool, other = Pool(1), Pool(1)
        first = await pool.run(number)
        await other.run(end, first)
        with pytest.raises(OperationalError):
            await pool.run(number)
        second = await pool.run(number)
        await pool.close()
        await other.close()
        return first != second

    assert asyncio.run(scenario())


def test_a_server_that_knows_nothing_of_django_can_load_the_application():
    loaded = subprocess.run(
        [sys.executable, "-c", "from spades_api.asgi import application; print(type(application).__name__)"],
        cwd=ROOT,
        env={"SECRET_KEY": "for a test", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (loaded.returncode, loaded.stdout.strip()) == (0, "Application"), loaded.stderr
