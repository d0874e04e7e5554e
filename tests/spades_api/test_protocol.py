"""What a client may send, and how slowly, before its request is there."""

from __future__ import annotations

import asyncio
import json
import socket
from urllib.parse import urlsplit

import httpx
import uvicorn
from uvicorn.server import ServerState

from spades_api import protocol


async def application(scope, receive, send) -> None:
    """Answers every request with 204, after reading it."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def with_server(client):
    """Run `client(port)` against a server that reads with our protocol."""
    config = uvicorn.Config(application, lifespan="off", log_config=None)
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol.Protocol(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        return await client(server.sockets[0].getsockname()[1])


def test_a_head_that_is_too_large_is_refused_and_others_are_served(live_service):
    address = urlsplit(live_service.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as flood:
        flood.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 100_000)
        answer = b""
        while part := flood.recv(65_536):
            answer += part

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert json.loads(body)["reason"] == "headers_too_large"
    assert httpx.get(f"{live_service.url}/healthz", timeout=30).status_code == 200


def test_a_body_and_further_requests_do_not_count_as_a_head():
    async def client(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"b" * 200_000
        for _ in range(3):
            writer.write(request)
            await writer.drain()
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204 ")
        writer.close()

    asyncio.run(with_server(client))


def test_who_connects_and_sends_no_request_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)

    async def client(port):
        ends = []
        for begun in (b"", b"GET / HT"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(begun)
            ends.append(await asyncio.wait_for(reader.read(), 20))
            writer.close()
        return ends

    assert asyncio.run(with_server(client)) == [b"", b""]
