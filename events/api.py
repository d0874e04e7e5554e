"""Events over HTTP: how an operation that gives them is asked, and its answer, after which a reader may wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpResponse

from contract.endpoint import JSON, answer
from contract.problems import ContractReason, Fault, malformed
from contract.queries import Parameter
from contract.shapes import ref
from events import log
from events.stream import LONGEST_WAIT, Reader

__all__ = ["HEADERS", "MOST", "PARAMETERS", "PRODUCES", "give", "responses"]

MOST: Final = 500
"""Events in one page."""

STREAM: Final = "text/event-stream"

PARAMETERS: Final = (
    Parameter(
        "after", kind="integer", description="The last event that you have.", minimum=0, maximum=2**31, default=0
    ),
    Parameter("limit", kind="integer", description="How many at most.", minimum=1, maximum=MOST, default=100),
    Parameter(
        "wait", kind="integer", description="Seconds to wait if there is none yet.", minimum=1, maximum=LONGEST_WAIT
    ),
)
HEADERS: Final[Mapping[str, str]] = {"Last-Event-ID": "For a stream: the last event that you have, instead of `after`."}
PRODUCES: Final = (JSON, STREAM)


def responses(page: str) -> dict[Any, Any]:
    """What such an operation answers: `page`, the component of a page, or a stream."""
    return {(200, JSON): ref(page), (200, STREAM): {"type": "string"}}


def give(reader: Reader, version: int, *, of: str, else_read: str) -> HttpResponse:
    """Answer with the events that the reader asked for, and let it wait for more.

    Args:
        version: the last event that it may know. What was written since the reading that let it in is left out: the
            seat may be somebody else's by now.
        of: what the events are of, in a word.
        else_read: what tells where that stands without any event, in a word.

    Raises:
        Problem: `malformed`; there is no event of the number after which the reader asked.
    """
    if reader.after > version:
        detail = f"The {of}'s last event is number {version}; start from there, or from the {else_read}."
        raise malformed([Fault("?after", ContractReason.OUT_OF_RANGE, detail)])
    found = log.page(reader.game_id, reader.after, reader.limit, reader.seat)
    items = [event for event in found if event["number"] <= version]
    response = answer(log.body(items, after=reader.after, limit=reader.limit, version=version))
    response.reader = reader  # type: ignore[attr-defined]
    return response
