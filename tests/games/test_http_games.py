"""Whole games over HTTP. Every byte that every reader gets is kept, and held against what this reader had seen by then.

What a reader may know at an event follows from the rules and the revealed deals alone (`Truth`), not from what it was
sent: its own cards, the discards, which lie face up, the cards played, and everything of a deal that was revealed.
"""

from __future__ import annotations

import json
import random
import re
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import httpx
import pytest

from bots.player import bot
from spades import Seed
from tests.client import TOKEN, Answer, ApiClient
from tests.games.live import ENDS, PATIENCE_SECONDS, ROUTES, Event, LiveTable, Lobby, assert_rebuilds, assert_sound
from tests.service import Service

CARD = re.compile(r"(?<![0-9A-Za-z])(?:[2-9TJQKA][CDHS]|LJ|BJ)(?![0-9A-Za-z])")
HEX = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
DECK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
OTHER = {"A": "B", "B": "A"}


# What is heard.


@dataclass(frozen=True)
class Heard:
    """What came back to one request, or along one stream."""

    seat: str | None
    """The seat of the reader; None for host and watcher."""
    what: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    sent: str
    """What the reader itself sent: hearing that again tells it nothing."""
    upon: int | None = None
    """The version that an action was decided upon."""


class Reader:
    """Whoever reads at a table; `heard` is all that it ever got."""

    def __init__(self, lobby: Lobby, name: str, seat: str | None, token: str | None) -> None:
        self.name = name
        self.seat = seat
        self.token = token
        self.heard: list[Heard] = []
        self._lobby = lobby

    def client(self) -> ApiClient:
        """A client of this reader with a connection of its own."""
        client = self._lobby.client(self.token, ListeningClient, timeout=60)
        assert isinstance(client, ListeningClient)
        client.reader = self
        return client


class ListeningClient(ApiClient):
    """Keeps all that it gets for its reader."""

    reader: Reader

    def _send(self, method: str, path: str, headers: dict[str, str], content: bytes | None) -> Answer:
        upon = re.match(r'"(\d+)-', headers.get("If-Match", ""))
        answer = super()._send(method, path, headers, content)
        sent = f"{path} {headers.get('X-Seat', '')} {(content or b'').decode(errors='replace')}"
        self.reader.heard.append(
            Heard(
                self.reader.seat,
                f"{method} {path}",
                answer.status,
                answer.headers,
                answer.content,
                sent,
                int(upon[1]) if upon else None,
            )
        )
        return answer


@dataclass
class Stream:
    """An event stream that a reader keeps open during the whole game.

    Args:
        breaks: the connection is given up after so many events, and opened again where it ended.
    """

    reader: Reader
    url: str
    breaks: int | None = None
    events: list[Event] = field(default_factory=list)
    failure: BaseException | None = None
    connections: int = 0

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), f"the stream of {self.reader.name} does not end"
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            while not (self.events and self.events[-1]["type"] in ENDS):
                self._listen()
        except BaseException as failure:  # noqa: BLE001 -- told by `finish`
            self.failure = failure

    def _listen(self) -> None:
        headers = {"Authorization": f"Bearer {self.reader.token}", "Accept": "text/event-stream"}
        if self.events:
            headers["Last-Event-ID"] = str(self.events[-1]["number"])
        self.connections += 1
        before = len(self.events)
        received = b""
        with httpx.stream("GET", self.url, headers=headers, timeout=PATIENCE_SECONDS, verify=False) as response:
            assert response.status_code == 200
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert "no-cache" in response.headers["cache-control"]
            for part in response.iter_raw():
                received += part
                self.events[before:] = events_of(received)
                if self.breaks is not None and len(self.events) - before >= self.breaks:
                    break
        assert received.startswith(b"retry: ")
        self.reader.heard.append(
            Heard(self.reader.seat, "stream", 200, dict(response.headers), received, headers.get("Last-Event-ID", ""))
        )


def events_of(received: bytes) -> list[Event]:
    """The events of the complete blocks of a stream."""
    found = []
    for block in received.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        if "data" in fields:
            event = json.loads(fields["data"])
            assert (fields["id"], fields["event"]) == (str(event["number"]), event["type"])
            assert list(fields) == ["id", "event", "data"]
            found.append(event)
        else:
            assert list(fields) in (["retry"], [""]), block
    return found


# What may be known.


class Truth:
    """What everybody could know at each event of a finished game, from its rules, its decisions and the revealed deals.

    Args:
        events: the whole log as a watcher has it.
        ruleset: what the game was played under.
    """

    def __init__(self, events: Sequence[Event], ruleset: Mapping[str, Any]) -> None:
        self.events = events
        self._learned: dict[tuple[str | None, int], list[tuple[int, str]]] = defaultdict(list)
        self._known: dict[tuple[str | None, int, int], set[str]] = {}
        self._began = [(e["number"], e["deal_number"]) for e in events if e["type"] == "deal_started"]
        self.hashes = {ruleset["hash"]}
        self.cut: set[str] = set()
        assert (ruleset["draw_declined_face"], ruleset["draw_second_card"]) == ("up", "face_up")
        for event in events:
            if event["type"] == "game_created":
                self.hashes |= {event["data"]["commitment"], event["data"]["ruleset_hash"]}
            elif event["type"] == "dealer_cut":
                self.cut = {drawn["card"] for drawing in event["data"]["rounds"] for drawn in drawing}
            elif event["type"] == "deal_started":
                self.hashes |= {event["data"]["commitment"], event["data"]["next_commitment"]}
                self._follow_deal(event)

    def _follow_deal(self, started: Event) -> None:
        number = started["deal_number"]
        own = [event for event in self.events if event["deal_number"] == number and event is not started]
        stock = next(event["data"]["stock"] for event in own if event["type"] == "deal_revealed")
        seat, turn = OTHER[started["data"]["dealer"]], 0
        self._learn([seat], number, started["number"], stock[0])
        for event in own:
            if event["type"] == "card_drawn":
                assert event["seat"] == seat
                first, second = stock[2 * turn : 2 * turn + 2]
                kept, discarded = (first, second) if event["data"]["decision"] == "keep" else (second, first)
                self._learn([seat], number, event["number"], kept)
                self._learn(["A", "B", None], number, event["number"], discarded)
                seat, turn = OTHER[seat], turn + 1
                if turn < 26:
                    self._learn([seat], number, event["number"], stock[2 * turn])
            elif event["type"] == "card_played":
                self._learn(["A", "B", None], number, event["number"], event["data"]["card"])
            elif event["type"] == "deal_revealed":
                for card in stock:
                    self._learn(["A", "B", None], number, event["number"], card)

    def _learn(self, seats: Sequence[str | None], deal: int, at: int, card: str) -> None:
        for seat in seats:
            self._learned[seat, deal].append((at, card))

    def deal_at(self, number: int) -> int | None:
        """The deal that was being played after event `number`."""
        place = bisect_right(self._began, (number, 10**6))
        return self._began[place - 1][1] if place else None

    def known(self, seat: str | None, deal: int | None, at: int) -> set[str]:
        """The cards of a deal that this reader knows after event `at`; without a deal those of the cut."""
        if deal is None:
            return self.cut if any(e["type"] == "dealer_cut" for e in self.events[:at]) else set()
        if (seat, deal, at) not in self._known:
            self._known[seat, deal, at] = {card for since, card in self._learned[seat, deal] if since <= at}
        return self._known[seat, deal, at]


@dataclass
class Claims:
    """The cards that an answer tells of, each with the deal it speaks of and the event after which it was said."""

    truth: Truth
    found: list[tuple[str, int | None, int]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    """Names of fields, and texts, that must not be told before a deal is revealed."""
    hashes: int = 0
    """How many texts of 64 hex digits there are."""

    def read(self, value: Any, deal: int | None, at: int, *, revealed: bool = False) -> None:
        """Take in a JSON value."""
        if isinstance(value, dict):
            if {"number", "version", "type", "data"} <= value.keys():
                deal, at = value["deal_number"], value["number"]
                revealed = value["type"] == "deal_revealed"
            elif {"version", "seats", "turn", "deal"} <= value.keys():
                deal, at = value["deal"] and value["deal"]["number"], value["version"]
            elif {"reason", "status", "request_id"} <= value.keys():
                at = value.get("version", 0)
                deal = self.truth.deal_at(at)
            for key, inner in value.items():
                if key in {"stock", "seed", "server_seed", "client_seeds", "client_seed"} and not revealed:
                    self.hidden.append(key)
                if key == "ruleset_hash" and "open_seats" in value:
                    # A list names the rules of every table, and the shared service has tables of other tests too.
                    self.hashes += len(HEX.findall(inner))
                    continue
                # No card and no seed is in a ruleset or in a name: whoever calls counts them in the whole text.
                part = inner["hash"] if key == "ruleset" else inner
                self.read(part, deal, at, revealed=revealed)
        elif isinstance(value, list):
            for inner in value:
                self.read(inner, deal, at, revealed=revealed)
        elif isinstance(value, str):
            self.found += [(card, deal, at) for card in CARD.findall(value)]
            if len(value) >= 64:
                hashes = HEX.findall(value)
                self.hashes += len(hashes)
                self.hidden += [text for text in hashes if not revealed and text not in self.truth.hashes]


def assert_plain_headers(heard: Heard) -> None:
    """No header tells of a card, a seed or a token."""
    for name, value in heard.headers.items():
        assert not CARD.search(value), (heard.what, name, value)
        assert not HEX.search(value), (heard.what, name, value)
        assert not TOKEN.search(value), (heard.what, name)


def assert_nothing_leaked(truth: Truth, heard: Heard) -> int:
    """Hold the body of an answer against what its reader knew. Gives the number of cards in it."""
    text = heard.content.decode()
    where = f"{heard.what} to {heard.seat or 'nobody'}, {heard.status}"
    claims = Claims(truth)
    if heard.what == "stream":
        for event in events_of(heard.content):
            claims.read(event, None, 0)
    elif heard.content:
        # A dry run names no version: it was decided upon the one in If-Match.
        upon = heard.upon or 0
        claims.read(json.loads(heard.content), truth.deal_at(upon), upon)
    complete = text if heard.what != "stream" else text[: text.rfind("\n\n")]
    # Nothing escapes the reading of the JSON.
    assert (len(claims.found), claims.hashes) == (len(CARD.findall(complete)), len(HEX.findall(complete))), where
    assert claims.hidden == [], where
    assert heard.what in {"POST /v1/games", "POST /v1/accounts"} or "/seats" in heard.what or not TOKEN.search(text), (
        where
    )
    echo = set(CARD.findall(heard.sent))
    if heard.status == 400:
        echo.add("QH")  # what is no card is refused with an example of one
    for card, deal, at in claims.found:
        if card in echo and heard.status >= 400:
            continue
        assert card in truth.known(heard.seat, deal, at), f"{where} shows {card} of deal {deal} at {at}: {text[:3000]}"
    return len(claims.found)


# Playing and reading.


def play(reader: Reader, table: LiveTable, name: str, seed: int) -> None:
    """Take the turns of the reader's seat as the bot `name` would, with dry runs and mistakes in between."""
    player, rng, client = bot(name), random.Random(seed), reader.client()
    moves = 0
    while True:
        seen = client.get(table.url())
        view, match = seen.body, {"If-Match": seen.headers["etag"]}
        if view["result"] is not None:
            return
        if view["turn"]["seat"] != reader.seat:
            if moves % 7 == 0:
                try_out_of_turn(client, table, view, match)
            client.get(table.url("events") + f"?after={view['version']}&wait=20")
            continue
        body = player.choose(view, rng)
        action = view["turn"]["action"]
        if moves % 5 == 0:
            dry = client.post(table.url(ROUTES[action]) + "?dry_run=true", json=body, headers=match)
            assert dry.body == {"allowed": True, "legal": view["turn"]["legal"]}
        if action == "play" and len(view["deal"]["hand"]) in {13, 6}:
            try_every_card(client, table, view, match)
        if moves % 11 == 0:
            try_mistakes(client, table, view, match)
        headers = {**match, "Idempotency-Key": f"{table.id}-{view['version']}"}
        done = client.post(table.url(ROUTES[action]), json=body, headers=headers)
        assert done.status == 200
        if moves % 13 == 0:
            again = client.post(table.url(ROUTES[action]), json=body, headers=headers)
            assert (again.status, again.content) == (200, done.content)
        moves += 1


def without(body: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


def try_out_of_turn(client: ApiClient, table: LiveTable, view: dict[str, Any], match: Mapping[str, str]) -> None:
    """What comes out of turn is refused alike, whatever card it names."""
    refusals = []
    for body in ({"card": "AS"}, {"card": "2C"}, {"decision": "keep"}, {"kind": "nil"}):
        answer = table.act(client, body, headers=dict(match))
        assert answer.status in {409, 412}
        assert "legal" not in answer.body or answer.body["legal"] == []
        if "card" in body:
            refusals.append(without(answer.body, "request_id"))
    assert refusals[0] == refusals[1] or "stale_version" in {refusal["reason"] for refusal in refusals}


def try_every_card(client: ApiClient, table: LiveTable, view: dict[str, Any], match: Mapping[str, str]) -> None:
    """A card that is not held gets the same answer wherever it is."""
    refusals = []
    for card in DECK:
        answer = client.post(table.url("plays") + "?dry_run=true", json={"card": card}, headers=dict(match))
        assert (answer.status == 200) == ({"card": card} in view["turn"]["legal"])
        if card not in view["deal"]["hand"]:
            assert (answer.status, answer.reason) == (422, "not_in_hand")
            refusals.append(json.dumps(without(answer.body, "request_id")).replace(card, "it"))
    assert len(set(refusals)) == 1


def try_mistakes(client: ApiClient, table: LiveTable, view: dict[str, Any], match: Mapping[str, str]) -> None:
    """Requests that are wrong are refused, and change nothing."""
    route = table.url(ROUTES[view["turn"]["action"]])
    mistakes: list[tuple[bytes, dict[str, str], int]] = [
        (b'{"card": "1H"}', {}, 400),
        (b'{"card": 5}', {}, 400),
        (b'{"card": "AS", "decision": "keep", "tricks": "3"}', {}, 400),
        (b'{"decision": NaN}', {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[" * 100 + b"]" * 100, {}, 400),
        (b'{"card": "' + b"A" * 70_000 + b'"}', {}, 413),
        (b"{}", {"X-Seat": OTHER[view["viewer"]["seat"]]}, 400),
        (b"{}", {"If-Match": "what I saw"}, 400),
    ]
    for content, headers, status in mistakes:
        answer = client.post(route, content=content, headers={**match, **headers}, bad=True)
        assert answer.status == status, (content[:40], answer.content)
    theirs = client.get(table.url(), headers={"X-Seat": OTHER[view["viewer"]["seat"]]})
    assert (theirs.status, theirs.reason) == (403, "not_your_seat")
    for path in ("/v1/games", table.url("start"), table.url("abort")):  # a seat's token is no account's
        answer = client.request("GET" if path == "/v1/games" else "POST", path)
        assert answer.status == 403
    beyond = client.get(table.url("events") + f"?after={view['version'] + 1000}")
    assert (beyond.status, beyond.reason) == (400, "malformed")
    assert client.get(table.url()).headers["etag"] == match["If-Match"]


def watch(reader: Reader, table: LiveTable) -> None:
    """Read everything there is to read, over and over, until the game is over."""
    client = reader.client()
    after, rounds = 0, 0
    while True:
        page = client.get(table.url("events") + f"?after={after}&wait=20&limit={[7, 100][rounds % 2]}").body
        after = page["items"][-1]["number"] if page["items"] else after
        seen = client.get(table.url())
        client.get(table.url(), headers={"If-None-Match": seen.headers["etag"]})
        if rounds % 10 == 0:
            read_records(client, table, seen.body)
        if rounds % 10 == 5 and reader.seat is None:
            try_as_nobody(client, table)
        rounds += 1
        if page["items"] and page["items"][-1]["type"] in ENDS:
            read_records(client, table, seen.body)
            return


def read_records(client: ApiClient, table: LiveTable, view: dict[str, Any]) -> None:
    deals = client.get(table.url("deals")).body["items"]
    client.get(table.url("deals") + "?limit=1")
    if deals:
        client.get(table.url("deals", deals[-1]["number"]))
        client.get(table.url("deals", deals[-1]["number"] + 1))
    for seat in "ABC":
        client.get(table.url("seats", seat))
    client.get("/v1/games?status=active")
    client.get("/v1/games?mine=true")
    client.get(table.url("events") + "?limit=500")
    client.get(table.url(), token="")
    client.get(table.url(), token="sps_" + "0" * 43)


def try_as_nobody(client: ApiClient, table: LiveTable) -> None:
    """Whoever has no seat can do nothing and is told nothing."""
    refusal = "scope_missing" if (client.token or "").startswith("spw_") else "not_your_seat"
    for body in ({"card": "AS"}, {"decision": "keep"}, {"kind": "nil"}):
        for query in ("", "?dry_run=true"):
            answer = table.act(client, body, query=query)
            assert (answer.status, answer.reason) == (403, refusal)
            assert "legal" not in answer.body
    for seat in "AB":
        answer = client.get(table.url(), headers={"X-Seat": seat})
        assert (answer.status, answer.reason) == (403, "not_your_seat")
    answer = client.post(table.url("resignations"))
    assert (answer.status, answer.reason) == (403, refusal)


class Task(threading.Thread):
    """A thread whose failure is the test's."""

    def __init__(self, function: Any, *args: Any) -> None:
        super().__init__(daemon=True)
        self._work = (function, args)
        self.failure: BaseException | None = None

    def run(self) -> None:
        function, args = self._work
        try:
            function(*args)
        except BaseException as failure:  # noqa: BLE001 -- raised again by `finish`
            self.failure = failure

    def finish(self) -> None:
        self.join(PATIENCE_SECONDS * 2)
        if self.failure is not None:
            raise self.failure
        assert not self.is_alive()


@dataclass(frozen=True)
class Game:
    """Who plays: ``bot`` is a house bot, ``person`` a seat over HTTP that decides like that bot."""

    a: tuple[str, str]
    b: tuple[str, str]
    target: int = 500


GAMES = {
    "bots, steady and steady": Game(("bot", "steady"), ("bot", "steady")),
    "a person and steady": Game(("person", "steady"), ("bot", "steady"), target=300),
    "bots, random and steady": Game(("bot", "random"), ("bot", "steady")),
    "people, random and steady": Game(("person", "random"), ("person", "steady"), target=200),
}


@pytest.fixture
def lobby(live_service: Service) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


def gather(lobby: Lobby, game: Game) -> tuple[LiveTable, list[Reader]]:
    """Make the table, and name everybody who reads there: host, watcher, each person by account and by seat."""
    host = Reader(lobby, "host", None, lobby.account("Host").token)
    watcher = Reader(lobby, "watcher", None, lobby.account("Watcher").token)
    table = LiveTable("", host.client())
    ruleset = {"preset": "two_player", "target_score": game.target}
    made = table.host.post("/v1/games", json={"ruleset": ruleset, "start": "by_host"})
    assert made.status == 201
    table.id = made.body["game"]["id"]
    link = lobby.client(host.token).post(table.url("watch_links"), json={}).body["token"]
    readers = [host, watcher, Reader(lobby, "watch link", None, link)]
    for seat, (kind, name) in {"A": game.a, "B": game.b}.items():
        if kind == "bot":
            joined = table.host.post(table.url("seats"), json={"kind": "bot", "bot": name, "seat": seat})
            assert (joined.status, joined.body["token"]) == (201, None)
            continue
        account = Reader(lobby, f"account {seat}", seat, lobby.account(f"Player {seat}").token)
        body = {"kind": "human", "seat": seat, "client_seed": f"of {seat}"}
        joined = account.client().post(table.url("seats"), json=body)
        assert joined.status == 201
        readers += [account, Reader(lobby, f"seat {seat}", seat, joined.body["token"])]
    assert table.host.post(table.url("start")).status == 200
    return table, readers


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_whole_game_tells_nobody_more_than_they_may_know(lobby: Lobby, game: Game, live_service: Service) -> None:
    table, readers = gather(lobby, game)
    streams = [Stream(reader, live_service.url + table.url("events")) for reader in readers]
    streams += [
        Stream(reader, live_service.url + table.url("events"), breaks=40) for reader in readers[:1] + readers[-1:]
    ]
    for stream in streams:
        stream.start()
    tasks = [Task(watch, reader, table) for reader in readers]
    for reader in readers:
        if reader.name.startswith("seat"):
            name = (game.a if reader.seat == "A" else game.b)[1]
            tasks.append(Task(play, reader, table, name, 1))
    for task in tasks:
        task.start()
    for task in tasks:
        task.finish()
    for stream in streams:
        stream.finish()

    watcher = readers[1]
    log = table.events(watcher.client())
    view, _ = table.look()
    assert_sound(log)
    assert_fair(log)
    assert_scored(table, log, view)
    assert_streams_agree(table, streams, log)
    truth = Truth(log, view["ruleset"])
    everything = [heard for reader in readers for heard in reader.heard]
    for heard in everything:
        assert_plain_headers(heard)
    distinct = {
        (heard.seat, heard.what, heard.status, heard.content, heard.sent, heard.upon): heard for heard in everything
    }
    cards = sum(assert_nothing_leaked(truth, heard) for heard in distinct.values())
    assert cards > 1000
    assert_no_event_changed(readers)
    assert_the_check_would_notice(truth, readers)
    assert_rebuilds(live_service, table)


def assert_fair(log: Sequence[Event]) -> None:
    """Each deal is the shuffle that was promised before it, and the cut is that of the first deal's seed."""
    promised = {1: log[0]["data"]["commitment"]}
    for event in log:
        data = event["data"]
        if event["type"] == "deal_started":
            assert data["commitment"] == promised[event["deal_number"]]
            promised[event["deal_number"] + 1] = data["next_commitment"]
        if event["type"] == "deal_revealed":
            assert sha256(bytes.fromhex(data["seed"])).hexdigest() == promised[event["deal_number"]]
            seed = Seed(bytes.fromhex(data["seed"]), tuple((row["seat"], row["seed"]) for row in data["client_seeds"]))
            assert list(seed.shuffled(DECK)) == data["stock"]
            if event["deal_number"] == 1:
                rounds = next(other["data"]["rounds"] for other in log if other["type"] == "dealer_cut")
                drawn = [(row["seat"], row["card"]) for drawing in rounds for row in drawing]
                cut = seed.cut(DECK, ("A", "B"))
                assert [next(cut) for _ in drawn] == drawn


def assert_scored(table: LiveTable, log: Sequence[Event], view: Mapping[str, Any]) -> None:
    """The score sheet, the events and the result say the same, and it adds up."""
    deals: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = table.host.get(table.url("deals") + f"?limit=3{cursor}").body
        deals += page["items"]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    scored = [event for event in log if event["type"] == "deal_scored"]
    assert [deal["number"] for deal in deals] == [event["deal_number"] for event in scored]
    for deal, event in zip(deals, scored, strict=True):
        assert event["data"] == {**deal["score"], "bids": deal["bids"], "tricks": deal["tricks"]}
        assert sum(deal["tricks"].values()) == 13
    for side in ("A", "B"):
        rows = [deal["score"]["sides"][side] for deal in deals]
        assert sum(row["delta"] for row in rows) == view["result"]["scores"][side] == rows[-1]["score"]
        assert all(row["delta"] == sum(line["points"] for line in row["lines"]) for row in rows)
    assert log[-1]["data"] == view["result"]
    scores = view["result"]["scores"]
    assert view["result"]["winners"] == [max(scores, key=scores.__getitem__)]
    assert [row["score"] for row in view["sides"]] == list(scores.values())
    assert (view["status"], view["turn"]) == ("finished", None)


def assert_streams_agree(table: LiveTable, streams: Sequence[Stream], log: Sequence[Event]) -> None:
    """A stream has every event once and in order, however often it broke, as its reader finds it in the pages."""
    for stream in streams:
        assert [event["number"] for event in stream.events] == list(range(1, len(log) + 1))
        assert stream.events == table.events(stream.reader.client())
        assert stream.connections == 1 if stream.breaks is None else stream.connections > 1
        assert stream.events == list(log) or stream.reader.seat is not None
    for seat in {stream.reader.seat for stream in streams} - {None}:
        own = next(stream.events for stream in streams if stream.reader.seat == seat)
        drawn = [event["seat"] == seat for event in own if "kept" in event["data"]]
        assert len(drawn) == 13 * sum(event["type"] == "deal_started" for event in log)
        assert all(drawn)


def assert_no_event_changed(readers: Sequence[Reader]) -> None:
    """Whenever and however a reader gets event n, it is the same; and whoever sits in the same seat gets the same."""
    seen: dict[tuple[str | None, int], Event] = {}
    for reader in readers:
        for heard in reader.heard:
            if heard.what == "stream":
                events = events_of(heard.content)
            elif "/events" in heard.what and heard.status == 200:
                events = json.loads(heard.content)["items"]
            else:
                continue
            for event in events:
                assert seen.setdefault((reader.seat, event["number"]), event) == event


def assert_the_check_would_notice(truth: Truth, readers: Sequence[Reader]) -> None:
    """Plant a card, a seed and a token in answers that were right, and see them found."""
    for reader in readers:
        views = [h for h in reader.heard if h.what.count("/") == 3 and h.what.startswith("GET") and h.status == 200]
        for right in views:
            body = json.loads(right.content)
            unseen = set(DECK) - truth.known(reader.seat, body["deal"]["number"], body["version"])
            if unseen:
                break
        else:
            raise AssertionError(f"{reader.name} was told something while cards were hidden")
        seed = next(event["data"]["seed"] for event in truth.events if event["type"] == "deal_revealed")
        for name, planted in (("note", min(unseen)), ("note", seed), ("note", f"sps_{'x' * 43}"), ("stock", [])):
            wrong = Heard(right.seat, right.what, 200, {}, json.dumps({**body, name: planted}).encode(), "")
            with pytest.raises(AssertionError):
                assert_nothing_leaked(truth, wrong)
        assert assert_nothing_leaked(truth, right) >= 0


def test_a_stream_of_a_finished_game_ends_at_once_and_goes_on_from_any_event(
    lobby: Lobby, live_service: Service
) -> None:
    table = lobby.bots("steady", "random", target_score=50)
    log = list(table.follow())
    url = live_service.url + table.url("events")
    reader = Reader(lobby, "host", None, table.host.token)

    for last in (0, 1, len(log) // 2, len(log) - 1):
        stream = Stream(reader, url, events=log[:last])
        stream.start()
        stream.finish()
        assert stream.events == log
        assert stream.connections == 1

    headers = {"Authorization": f"Bearer {reader.token}", "Accept": "text/event-stream"}
    for query, last_id in (("", str(len(log))), (f"?after={len(log)}", None), ("?after=3", str(len(log)))):
        extra = {"Last-Event-ID": last_id} if last_id else {}
        answer = httpx.get(url + query, headers={**headers, **extra}, verify=False)
        assert answer.status_code == 200
        assert events_of(answer.content) == []
    for last_id in ("x", "-1", str(len(log) + 1)):
        answer = httpx.get(url, headers={**headers, "Last-Event-ID": last_id}, verify=False)
        assert answer.status_code == 400
        assert answer.headers["content-type"] == "application/problem+json"
    for token, status in (("nonsense", 401), ("sps_" + "0" * 43, 401)):
        answer = httpx.get(url, headers={**headers, "Authorization": f"Bearer {token}"}, verify=False)
        assert answer.status_code == status
