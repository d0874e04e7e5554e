"""Tables of a running service, played as clients play them: over HTTP, each answer held against the schema."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any, Self, TypeVar

from bots.player import bot
from tests.client import Answer, ApiClient
from tests.service import Service

ROUTES = {"draw": "draws", "bid": "bids", "play": "plays"}
ENDS = {"game_finished", "game_aborted"}
PATIENCE_SECONDS = 60.0
"""How long anything that a test waits for may take; it should take a second or two."""

logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each of thousands of requests tells nothing

T = TypeVar("T")
Event = dict[str, Any]


@dataclass
class LiveTable:
    """A table, the account that made it, and the token of each seat that a person holds."""

    id: str
    host: ApiClient
    seats: dict[str, ApiClient] = field(default_factory=dict)

    def url(self, *parts: object) -> str:
        return "/".join(["/v1/games", self.id, *map(str, parts)])

    def look(self, client: ApiClient | None = None) -> tuple[dict[str, Any], dict[str, str]]:
        """The view, by default the host's, and the header that makes an action depend on it."""
        answer = (client or self.host).get(self.url())
        assert answer.status == 200
        return answer.body, {"If-Match": answer.headers["etag"]}

    def turn(self) -> tuple[str, dict[str, Any], dict[str, str]]:
        """The seat on turn, its view, and the header for it."""
        seat = self.look()[0]["turn"]["seat"]
        return seat, *self.look(self.seats[seat])

    def events(self, client: ApiClient | None = None) -> list[Event]:
        """Everything that has happened, as the host or another reader sees it."""
        found: list[Event] = []
        cursor: str | None = "0"
        while cursor is not None:
            page = (client or self.host).get(self.url("events") + f"?after={cursor}&limit=500").body
            found += page["items"]
            cursor = page["next"]
        return found

    def news(self, after: int) -> list[Event]:
        """What has happened after event `after`."""
        return [event for event in self.events() if event["number"] > after]

    def follow(self, client: ApiClient | None = None, after: int = 0) -> Iterator[Event]:
        """Each event as it happens, until the game ends."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            assert time.monotonic() < deadline, f"nothing after event {after}"
            answer = (client or self.host).get(self.url("events") + f"?after={after}&wait=20&limit=500")
            assert answer.status == 200, answer.content
            for event in answer.body["items"]:
                assert event["number"] == after + 1
                after = event["number"]
                deadline = time.monotonic() + PATIENCE_SECONDS
                yield event
                if event["type"] in ENDS:
                    return

    def follow_to(self, number: int, client: ApiClient | None = None) -> None:
        """Wait until the game has come to event `number`."""
        assert any(event["number"] >= number for event in self.follow(client)), "the game ended before"

    def act(self, client: ApiClient, body: dict[str, Any], *, query: str = "", **kwargs: Any) -> Answer:
        """Send an action to where it belongs."""
        action = "draw" if "decision" in body else "play" if "card" in body else "bid"
        return client.post(self.url(ROUTES[action]) + query, json=body, **kwargs)

    def play_on(self, until: Callable[[dict[str, Any]], bool], name: str = "steady") -> dict[str, Any]:
        """Let people who play like the bot `name` go on until their view satisfies `until`; gives that view."""
        player, rng = bot(name), random.Random(7)
        while True:
            view, _ = self.look()
            if view["turn"] is None:
                assert until(view), "the game ended before"
                return view
            seat, view, match = self.turn()
            if until(view):
                return view
            assert self.act(self.seats[seat], player.choose(view, rng), headers=match).status == 200


class Lobby:
    """Makes accounts and tables at one service, and closes every connection in the end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def client(self, token: str | None = None, kind: type[ApiClient] = ApiClient, **kwargs: Any) -> ApiClient:
        """A client with a connection of its own."""
        return self._open.enter_context(kind(self.url, token=token, **kwargs))

    def crowd(self, size: int, token: str | None) -> list[ApiClient]:
        """Clients that are connected already, so that what they send next arrives together."""
        clients = [self.client(token) for _ in range(size)]
        for client in clients:
            assert client.get("/healthz").status == 200
        return clients

    def account(self, name: str = "Ann", **kwargs: Any) -> ApiClient:
        """A client with the token of a new account."""
        client = self.client(**kwargs)
        answer = client.post("/v1/accounts", json={"name": name})
        assert answer.status == 201
        client.token = answer.body["token"]
        return client

    def table(
        self,
        *seats: dict[str, Any],
        host: ApiClient | None = None,
        start: str = "when_full",
        seating: str = "as_taken",
        **ruleset: Any,
    ) -> LiveTable:
        """A table with these seats; a seat of the host's gets a client."""
        host = host or self.account("Host")
        body = {
            "ruleset": {"preset": "two_player", **ruleset},
            "seats": list(seats),
            "start": start,
            "seating": seating,
        }
        answer = host.post("/v1/games", json=body)
        assert answer.status == 201, answer.content
        made = LiveTable(answer.body["game"]["id"], host)
        for row in answer.body["seats"]:
            made.seats[row["seat"]] = self.client(row["token"])
        return made

    def bots(self, *names: str, **ruleset: Any) -> LiveTable:
        """A table of bots, which play as soon as they sit."""
        return self.table(*({"kind": "bot", "bot": name} for name in names), **ruleset)

    def people(self, *, seating: str = "as_taken", start: str = "when_full", **ruleset: Any) -> LiveTable:
        """A table of two people, the host in seat A."""
        made = self.table({"kind": "human", "name": "Ann"}, seating=seating, start=start, **ruleset)
        guest = self.account("Bea")
        answer = guest.post(made.url("seats"), json={"kind": "human", "client_seed": "bea's own"})
        assert answer.status == 201, answer.content
        made.seats[answer.body["seat"]] = self.client(answer.body["token"])
        return made


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The answers of all calls, each made by a thread of its own, all let go in the same moment."""
    barrier = threading.Barrier(len(calls), timeout=PATIENCE_SECONDS)

    def run(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def insist(send: Callable[[], Answer]) -> Answer:
    """The answer to a request with an Idempotency-Key, sent again after `Retry-After` while the first one runs."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = send()
        if answer.status != 409 or answer.reason != "idempotency_in_progress":
            return answer
        assert time.monotonic() < deadline
        time.sleep(int(answer.headers["retry-after"]))  # what a client is told to do


def phase_is(phase: str, deal: int = 1) -> Callable[[dict[str, Any]], bool]:
    """Whether a view is in this phase of this deal."""
    return lambda view: (view["deal"]["number"], view["deal"]["phase"]) == (deal, phase)


def assert_sound(events: Sequence[Event], *, whole: bool = True) -> None:
    """Nothing in a game's log is missing, twice, out of turn or impossible.

    Args:
        whole: the game has ended, otherwise the last deal may be unfinished.
    """
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    assert [event["version"] for event in events] == list(range(1, len(events) + 1))
    started = [event for event in events if event["type"] == "deal_started"]
    assert [event["deal_number"] for event in started] == list(range(1, len(started) + 1))
    for event in started:
        own = [other for other in events if other["deal_number"] == event["deal_number"]]
        complete = any(other["type"] == "deal_scored" for other in own)
        assert complete or event is started[-1]
        _assert_sound_deal(event["data"]["dealer"], own, complete=complete)
    if whole:
        assert [event["type"] for event in events if event["type"] in ENDS] == [events[-1]["type"]]


def _assert_sound_deal(dealer: str, events: Sequence[Event], *, complete: bool) -> None:
    other = {"A": "B", "B": "A"}
    draws = [event for event in events if event["type"] == "card_drawn"]
    assert [event["seat"] for event in draws] == list(islice(cycle([other[dealer], dealer]), len(draws)))
    assert [event["data"]["stock_count"] for event in draws] == [50 - 2 * turn for turn in range(len(draws))]
    bids = [event["seat"] for event in events if event["type"] == "bid_placed"]
    assert bids == [other[dealer], dealer][: len(bids)]
    plays = [event for event in events if event["type"] == "card_played"]
    tricks = [event for event in events if event["type"] == "trick_taken"]
    cards = [event["data"]["card"] for event in plays] + [event["data"]["discarded"]["card"] for event in draws]
    assert len(set(cards)) == len(cards)
    leader = other[dealer]
    for number, start in enumerate(range(0, len(plays), 2), 1):
        pair = plays[start : start + 2]
        assert [event["seat"] for event in pair] == [leader, other[leader]][: len(pair)]
        assert {event["data"]["trick_number"] for event in pair} == {number}
        if len(pair) == 2:
            taken = tricks[number - 1]
            assert taken["data"]["cards"] == [{"seat": event["seat"], "card": event["data"]["card"]} for event in pair]
            leader = taken["data"]["winner"]
    assert len(tricks) == len(plays) // 2
    if complete:
        assert (len(draws), len(bids), len(plays)) == (26, 2, 26)
        kinds = [event["type"] for event in events]
        assert kinds.count("deal_scored") == kinds.count("deal_revealed") == 1
        revealed = next(event["data"] for event in events if event["type"] == "deal_revealed")
        for seat, hand in revealed["hands"].items():
            assert sorted(hand) == sorted(event["data"]["card"] for event in plays if event["seat"] == seat)
        assert sorted(revealed["stock"]) == sorted(cards)


def assert_rebuilds(service: Service, *tables: LiveTable) -> None:
    """Hold what the service has stored of these games against their actions."""
    code = ["from uuid import UUID", "from tests.games.rebuilding import assert_rebuilds"]
    code += [f"assert_rebuilds(UUID('{table.id}'))" for table in tables]
    service.run("rebuild", "shell", "-c", "; ".join(code))
