"""A deal of every preset over HTTP: what each reader gets is held against the cards that this reader had seen."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from spades import PRESETS, Ruleset
from tests.client import ApiClient
from tests.games.live import Event, LiveTable, Lobby, assert_rebuilds
from tests.service import Service
from tests.spades.playing import choose

CARD = re.compile(r"(?<![0-9A-Za-z])(?:[2-9TJQKA][CDHS]|LJ|BJ)(?![0-9A-Za-z])")
SILENT = {"ruleset", "side", "sides", "winners", "rounds"}
"""Fields with names of sides, of which one is `AD`, and with cards that are no secret: the ruleset, the cut."""
ROUTES = {"decision": "draws", "look": "looks", "cards": "passes", "card": "plays"}


@pytest.fixture
def lobby(live_service: Service) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


class Heard:
    """Everything that every reader got: by reader, the version that it was about, and the body."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str | None, int, Any, str]] = []

    def take(self, reader: str | None, version: int, body: Any, sent: str = "") -> Any:
        self.bodies.append((reader, version, body, sent))
        return body


def route_of(body: Mapping[str, Any]) -> str:
    return next((route for name, route in ROUTES.items() if name in body), "bids")


def content(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent for a legal action: the very body."""
    return {"json": dict(body)}


def play(table: LiveTable, watcher: ApiClient, rng: random.Random, heard: Heard) -> None:
    """Play to the end at random, every seat over HTTP; at times everybody reads, and somebody tries what is wrong."""
    readers = {**table.seats, None: watcher}
    while (view := table.look(watcher)[0])["result"] is None:
        seat = rng.choice(view["turn"]["seats"])
        own, match = table.look(table.seats[seat])
        heard.take(seat, own["version"], own)
        body = choose(own["turn"]["legal"], rng)
        if rng.random() < 0.15:
            for reader, client in readers.items():
                seen = table.look(client)[0]
                heard.take(reader, seen["version"], seen)
                page = client.get(table.url("events") + f"?after={max(0, seen['version'] - 8)}").body
                heard.take(reader, page["version"], page)
            for other in table.seats:
                for wrong in ({"card": "AS"}, {"kind": "blind_nil"}, {"look": True}, {"cards": ["2C"]}):
                    answer = table.seats[other].post(table.url(route_of(wrong)) + "?dry_run=true", **content(wrong))
                    heard.take(other, own["version"], answer.body, json.dumps(wrong))
        answer = table.seats[seat].post(table.url(route_of(body)), headers=match, **content(body))
        assert answer.status == 200, (body, answer.content)
        heard.take(seat, answer.body["version"], answer.body)


class Truth:
    """What each reader had seen at each event of a game of one deal, from the revealed hands and what was done."""

    def __init__(self, ruleset: Ruleset, log: Sequence[Event]) -> None:
        self._ruleset, self._log = ruleset, log
        self._revealed = next(event["data"] for event in log if event["type"] == "deal_revealed")
        self.revealed_at = next(event["number"] for event in log if event["type"] == "deal_revealed")

    def known(self, reader: str | None, version: int, passed: Mapping[str, Sequence[Event]]) -> set[str]:
        """The cards that a reader has seen after event `version`."""
        if version >= self.revealed_at:
            return set(self._revealed["stock"])
        until = [event for event in self._log if event["number"] <= version]
        known = {event["data"]["card"] for event in until if event["type"] == "card_played"}
        draws = [event for event in until if event["type"] == "card_drawn"]
        known |= {event["data"]["discarded"]["card"] for event in draws} - {None}
        if reader is None:
            return known
        if self._ruleset.deal_method == "draw":
            return known | self._drawn(reader, until, len(draws))
        if self._saw_hand(reader, until):
            known |= set(self._revealed["hands"][reader])
        for event in passed[reader]:
            if event["number"] <= version:
                known |= set(event["data"]["cards"] or ())
        return known

    def _drawn(self, seat: str, until: Sequence[Event], draws: int) -> set[str]:
        """The cards of a seat's draw turns so far, and the one that it looks at now."""
        dealers = [event["data"]["dealer"] for event in until if event["type"] == "deal_started"]
        if not dealers:
            return set()
        first = int(dealers[0] == seat)
        pairs = [self._revealed["stock"][2 * turn : 2 * turn + 2] for turn in range(first, draws, 2)]
        looked_at = self._revealed["stock"][2 * draws : 2 * draws + 1] if draws % 2 == first else []
        return {card for pair in [*pairs, looked_at] for card in pair}

    def _saw_hand(self, seat: str, until: Sequence[Event]) -> bool:
        if not any(event["type"] == "deal_started" for event in until):
            return False
        if self._ruleset.blind_nil != "any" and self._ruleset.blind_bid_min is None:
            return True  # nobody is behind in the first deal
        mine = {event["type"] for event in until if event["seat"] == seat}
        return bool(mine & {"hand_looked_at", "bid_placed", "bid_proposed", "bid_sealed", "pass_sealed"})


def claims(body: Any) -> str:
    """A body as text, without what names cards and tells nothing."""
    if isinstance(body, dict):
        kept = {
            key: value for key, value in body.items() if key not in ("ruleset", "side", "sides", "winners", "rounds")
        }
        return " ".join(claims(value) for value in kept.values())
    if isinstance(body, list):
        return " ".join(map(claims, body))
    return json.dumps(body)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_deal_over_http_tells_nobody_more_than_they_may_know(
    lobby: Lobby, preset: str, live_service: Service
) -> None:
    rng, heard = random.Random(preset), Heard()
    ruleset = Ruleset.resolve({"preset": preset, "max_hands": 1})
    people = [{"kind": "human", "name": f"Player {place}"} for place in range(ruleset.players)]
    host, watcher = lobby.account("Host"), lobby.account("Watcher")
    body = {"ruleset": {"preset": preset, "max_hands": 1}, "seats": people, "hot_seat": True}
    made = host.post("/v1/games", json=body)
    assert made.status == 201, made.content
    table = LiveTable(made.body["game"]["id"], host)
    table.seats = {row["seat"]: lobby.client(row["token"]) for row in made.body["seats"]}

    play(table, watcher, rng, heard)

    logs = {reader: table.events(client) for reader, client in {**table.seats, None: watcher}.items()}
    truth = Truth(ruleset, logs[None])
    passed = {seat: [event for event in logs[seat] if event["type"] == "cards_passed"] for seat in table.seats}
    cards = 0
    for reader, version, told, sent in heard.bodies:
        named = set(CARD.findall(claims(told))) - set(CARD.findall(sent))
        assert named <= truth.known(reader, version, passed), (reader, version, told)
        cards += len(named)
    for reader, log in logs.items():
        for event in log:
            if event["type"] != "dealer_cut" and event["number"] < truth.revealed_at:
                assert set(CARD.findall(claims(event["data"]))) <= truth.known(reader, event["number"], passed)
    assert cards > 300
    assert logs[None][-1]["type"] == "game_finished"
    assert_rebuilds(live_service, table)
