"""HTTP as the service's own server reads it: like uvicorn, with a limit to what a client may send before its request.

Uvicorn reads a header of any size, and the loop does nothing else while it arrives; and it waits without end for a
client that connects and says nothing. A proxy in front hides both, but the embedded service has none.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from contract.reasons import CATALOGUE, ContractReason

__all__ = ["HEAD_BYTES", "HEAD_SECONDS", "Protocol"]

HEAD_BYTES: Final = 64 * 1024
"""The most that the request line and the headers may have together."""

HEAD_SECONDS: Final = 30.0
"""How long they may take to arrive, from the connection or from the first byte of a further request on it."""


def _answer() -> bytes:
    """The whole answer to a head that is too large; no application is asked, so it has no id."""
    entry = CATALOGUE[ContractReason.HEADERS_TOO_LARGE]
    body = orjson.dumps(
        {
            "type": f"/problems/{entry.reason}",
            "title": entry.title,
            "status": entry.status,
            "detail": f"The request line and the headers may have {HEAD_BYTES:,} bytes together.",
            "reason": entry.reason,
            "request_id": "none",
        }
    )
    head = (
        "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/problem+json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


class Protocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: int | None = 0
        """Bytes of the head that have arrived; None between a head and the end of its request."""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what arrives, and hang up on a head that is too large."""
        if self._head is not None:
            self._head += len(data)
            self._await_head()
        super().data_received(data)
        if self._head is not None and self._head > HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_answer())
            self.transport.close()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._head = None
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there; what comes now is the next one's head."""
        self._head = 0
        super().on_message_complete()

    def _await_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _hang_up(self) -> None:
        self._timer = None
        if self._head is not None and not self.transport.is_closing():
            self.transport.close()
