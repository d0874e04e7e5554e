"""Seats drawn by lot: everybody goes along with token, name and hand, and anybody can check the draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from games.models import Deal
from spades import Seed
from tests.client import ApiClient
from tests.games.conftest import Person
from tests.games.live import Lobby
from tests.games.rebuilding import assert_rebuilds
from tests.games.test_admission import stream

BODY = {"ruleset": {"preset": "two_player"}, "seating": "by_draw"}
MakePerson = Callable[..., Person]


def seed_that(swaps: bool, clients: tuple[tuple[str, str], ...]) -> bytes:
    """A server seed by which two people change places, or do not."""
    seeds = (bytes([number]) * 32 for number in range(256))
    return next(seed for seed in seeds if (Seed(seed, clients).seating("AB")["A"] == "B") is swaps)


@pytest.fixture
def lobby(live_service: Any) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


@pytest.mark.django_db
@pytest.mark.parametrize("swaps", [True, False])
def test_the_draw_moves_everybody_with_token_and_own_seed(api: ApiClient, person: MakePerson, swaps: bool) -> None:
    ann, bea = person("Ann"), person("Bea")
    made = api.post("/v1/games", json={**BODY, "start": "by_host"}, token=ann.token)
    url = f"/v1/games/{made.body['game']['id']}"
    sits = {
        who.name: api.post(f"{url}/seats", json={"kind": "human", "client_seed": f"of {who.name}"}, token=who.token)
        for who in (ann, bea)
    }
    assert [(name, answer.body["seat"]) for name, answer in sits.items()] == [("Ann", "A"), ("Bea", "B")]
    tokens = {name: answer.body["token"] for name, answer in sits.items()}
    clients = (("A", "of Ann"), ("B", "of Bea"))
    seed = seed_that(swaps, clients)
    Deal.objects.filter(game_id=made.body["game"]["id"], number=1).update(
        seed=seed.hex(), commitment=Seed(seed).commitment
    )

    key = {"Idempotency-Key": "start-it"}
    started = api.post(f"{url}/start", token=ann.token, headers=key)
    again = api.post(f"{url}/start", token=ann.token, headers=key)

    seat_of = {"Ann": "B", "Bea": "A"} if swaps else {"Ann": "A", "Bea": "B"}
    assert started.body["viewer"] == {"role": "seat", "seat": seat_of["Ann"]}
    assert started.headers["etag"] == f'"{started.body["version"]}-{seat_of["Ann"]}"'
    assert (again.content, again.headers["etag"]) == (started.content, started.headers["etag"])
    assert again.headers["idempotency-replayed"] == "true"
    for who in (ann, bea):
        seat = seat_of[who.name]
        for token in (who.token, tokens[who.name]):
            view = api.get(url, token=token).body
            assert view["viewer"] == {"role": "seat", "seat": seat}
            assert {row["seat"]: row["name"] for row in view["seats"]}[seat] == who.name
        assert api.get(f"{url}/seats/{seat}", token=who.token).body["name"] == who.name
    events = api.get(f"{url}/events", token=bea.token).body["items"]
    assert [event["type"] for event in events][-4:] == ["game_started", "seats_drawn", "dealer_cut", "deal_started"]
    assert events[-3]["data"] == {"seats": [{"was": "A", "seat": seat_of["Ann"]}, {"was": "B", "seat": seat_of["Bea"]}]}
    on_turn = started.body["turn"]["seat"]
    actor = next(name for name, seat in seat_of.items() if seat == on_turn)
    assert api.post(f"{url}/draws", json={"decision": "keep"}, token=tokens[actor]).status == 200
    ended = api.post(f"{url}/resignations", token=tokens["Bea"])
    assert ended.body["result"]["winners"] == [seat_of["Ann"]]
    assert_rebuilds(UUID(made.body["game"]["id"]))
    assert_checks(api.get(f"{url}/events", token=ann.token).body["items"])


def assert_checks(events: list[dict[str, Any]]) -> None:
    """The draw is that of the seed promised before anybody sat down, with the texts by the seats that were taken."""
    data = {event["type"]: event["data"] for event in events}
    seed = bytes.fromhex(data["deal_revealed"]["seed"])
    was = {row["seat"]: row["was"] for row in data["seats_drawn"]["seats"]}
    taken = sorted((was[row["seat"]], row["seed"]) for row in data["deal_revealed"]["client_seeds"])
    drawn = Seed(seed, tuple(taken)).seating([row["was"] for row in data["seats_drawn"]["seats"]])
    assert drawn == {was: seat for seat, was in was.items()}
    assert Seed(seed).commitment == data["deal_started"]["commitment"]


@pytest.mark.django_db
def test_four_people_draw_for_partners(api: ApiClient, person: MakePerson) -> None:
    people = [person(name) for name in ("Ann", "Bea", "Cy", "Di")]
    body = {"ruleset": {"preset": "standard"}, "seating": "by_draw", "start": "by_host"}
    game = api.post("/v1/games", json=body, token=people[0].token).body["game"]["id"]
    url, taken = f"/v1/games/{game}", {}
    for who, seat in zip(people, "NESW", strict=True):
        joined = api.post(f"{url}/seats", json={"kind": "human", "client_seed": who.name}, token=who.token)
        taken[seat] = (who, joined.body["token"])
        assert joined.body["seat"] == seat
    clients = tuple((seat, who.name) for seat, (who, _) in taken.items())
    seed = bytes(32)
    drawn = Seed(seed, clients).seating("NESW")
    assert any(was != seat for was, seat in drawn.items())
    Deal.objects.filter(game_id=game, number=1).update(seed=seed.hex(), commitment=Seed(seed).commitment)

    started = api.post(f"{url}/start", token=people[0].token).body

    names = {row["seat"]: row["name"] for row in started["seats"]}
    hands = set()
    for was, (who, token) in taken.items():
        view = api.get(url, token=token).body
        assert view["viewer"]["seat"] == drawn[was]
        assert names[drawn[was]] == who.name
        hands.update(view["deal"]["hand"] or [])
    assert len(hands) in {0, 52}  # none while blind bids are open
    assert_rebuilds(UUID(game))


@pytest.mark.django_db
def test_whoever_starts_the_game_by_sitting_down_is_told_the_seat_that_was_drawn(
    api: ApiClient, person: MakePerson
) -> None:
    ends = set()
    while len(ends) < 4:  # both ways of both tables; each try is even
        ann, bea = person("Ann"), person("Bea")
        alone = api.post(
            "/v1/games", json={**BODY, "seats": [{"kind": "human"}, {"kind": "bot", "bot": "steady"}]}, token=ann.token
        )
        assert [row["seat"] for row in alone.body["seats"]] == [alone.body["game"]["viewer"]["seat"]]
        made = api.post("/v1/games", json={**BODY, "seats": [{"kind": "human"}]}, token=ann.token)
        url = f"/v1/games/{made.body['game']['id']}"
        joined = api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token)
        assert joined.body["game"]["viewer"]["seat"] == joined.body["seat"]
        assert joined.headers["location"] == f"{url}/seats/{joined.body['seat']}"
        assert api.get(url, token=joined.body["token"]).body["viewer"]["seat"] == joined.body["seat"]
        other = api.get(url, token=made.body["seats"][0]["token"]).body["viewer"]["seat"]
        assert {other, joined.body["seat"]} == {"A", "B"}
        mine = alone.body["seats"][0]
        assert (
            api.get(f"/v1/games/{alone.body['game']['id']}", token=mine["token"]).body["viewer"]["seat"] == mine["seat"]
        )
        ends |= {("alone", mine["seat"]), ("joined", joined.body["seat"])}
    made = api.post("/v1/games", json={**BODY, "seats": [{"kind": "bot", "bot": "random"}]}, token=ann.token)
    seated = api.post(
        f"/v1/games/{made.body['game']['id']}/seats", json={"kind": "bot", "bot": "steady"}, token=ann.token
    )
    names = {row["bot"]: row["seat"] for row in seated.body["game"]["seats"]}
    assert seated.body["seat"] == names["steady"]


@pytest.mark.django_db
def test_a_token_reissued_before_the_draw_goes_along(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    made = api.post("/v1/games", json={**BODY, "seats": [{"kind": "human"}], "start": "by_host"}, token=ann.token)
    url = f"/v1/games/{made.body['game']['id']}"
    api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token)
    token = api.post(f"{url}/seats/B/token", token=bea.token).body["token"]

    assert api.post(f"{url}/start", token=ann.token).status == 200
    seat = api.get(url, token=bea.token).body["viewer"]["seat"]

    assert api.get(url, token=token).body["viewer"]["seat"] == seat
    later = api.post(f"{url}/seats/{seat}/token", token=bea.token)
    assert later.status == 200
    assert api.get(url, token=later.body["token"]).body["viewer"]["seat"] == seat
    assert_rebuilds(UUID(made.body["game"]["id"]))


def test_a_stream_opened_before_the_draw_goes_on_as_the_seat_that_was_drawn(lobby: Lobby, live_service: Any) -> None:
    """It is told what its new seat keeps, and nothing that the other seat does."""
    moved = False
    while not moved:
        table = lobby.people(seating="by_draw", start="by_host")
        before = {seat: client.token or "" for seat, client in table.seats.items()}
        with stream(live_service.url, table.id, before["A"]) as lines:
            while next(lines) != "event: game_created":
                pass
            assert table.host.post(table.url("start")).status == 200
            seat = lobby.client(before["A"]).get(table.url()).body["viewer"]["seat"]
            table.seats = {seat: lobby.client(before["A"]), {"A": "B", "B": "A"}[seat]: lobby.client(before["B"])}
            for _ in range(4):
                table.act(table.seats[table.turn()[0]], {"decision": "keep"})
            assert table.seats[seat].post(table.url("resignations")).status == 200
            told = [line for line in lines if line.startswith("data: ") and '"card_drawn"' in line]
        assert [f'"seat":"{seat}"' in line for line in told] == ['"kept"' in line for line in told]
        assert len(told) == 4
        moved = seat == "B"
