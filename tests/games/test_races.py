"""Many requests in the same moment, over HTTP, from threads: each turn is taken once, and each answer is one answer."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import cycle, islice
from typing import Any

import psycopg
import pytest

from accounts import idempotency
from contract.idempotency import key_digest
from tests.client import Answer, ApiClient
from tests.games.live import Lobby, assert_sound, at_once, insist, phase_is
from tests.service import Service

CROWD = 32


@pytest.fixture
def lobby(live_service: Service) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


def counted(answers: list[Answer]) -> dict[tuple[int, str | None], int]:
    """How many answers there were of each status and reason."""
    return dict(Counter((answer.status, answer.reason if answer.status >= 400 else None) for answer in answers))


def test_of_many_plays_upon_one_version_one_is_taken(lobby: Lobby) -> None:
    table = lobby.people()
    table.play_on(phase_is("playing"))
    crowds = {seat: lobby.crowd(CROWD, client.token) for seat, client in table.seats.items()}

    for _ in range(4):  # a lead, an answer that ends a trick, and both again
        seat, view, match = table.turn()
        bodies = list(islice(cycle(view["turn"]["legal"]), CROWD))
        calls = [
            partial(client.post, table.url("plays"), json=body, headers=match)
            for client, body in zip(crowds[seat], bodies, strict=True)
        ]

        answers = at_once(calls)

        assert counted(answers) == {(200, None): 1, (412, "stale_version"): CROWD - 1}
        taken = next(answer for answer in answers if answer.status == 200)
        news = table.news(view["version"])
        assert [event["type"] for event in news][:1] == ["card_played"]
        assert [event["type"] for event in news][1:] in ([], ["trick_taken"])
        assert news[0]["data"]["card"] == bodies[answers.index(taken)]["card"]
        assert table.look()[0]["version"] == taken.body["version"] == news[-1]["number"]
        assert {answer.body["version"] for answer in answers if answer.status == 412} == {taken.body["version"]}
    assert_sound(table.events(), whole=False)


def test_of_many_plays_of_both_seats_upon_one_version_one_is_taken(lobby: Lobby) -> None:
    table = lobby.people()
    table.play_on(phase_is("playing"))
    crowd = {seat: lobby.crowd(CROWD // 2, client.token) for seat, client in table.seats.items()}

    for _ in range(4):
        seat, view, match = table.turn()
        (other,) = table.seats.keys() - {seat}
        theirs = table.look(table.seats[other])[0]["deal"]["hand"]
        hands = {seat: view["turn"]["legal"], other: [{"card": card} for card in theirs]}
        calls = {
            who: [
                partial(client.post, table.url("plays"), json=body, headers=match)
                for client, body in zip(crowd[who], cycle(hands[who]), strict=False)
            ]
            for who in (seat, other)
        }

        answers = at_once(calls[seat] + calls[other])

        assert counted(answers[: CROWD // 2]) == {(200, None): 1, (412, "stale_version"): CROWD // 2 - 1}
        # Who is not on turn hears that, or that it is too late; after the play it would have been its turn.
        assert counted(answers[CROWD // 2 :]).keys() <= {(409, "not_your_turn"), (412, "stale_version")}
        news = table.news(view["version"])
        assert [event["type"] for event in news].count("card_played") == 1
    assert_sound(table.events(), whole=False)


def test_without_a_version_no_turn_is_taken_twice(lobby: Lobby) -> None:
    table = lobby.people()
    crowd = {seat: lobby.crowd(CROWD // 2, client.token) for seat, client in table.seats.items()}
    heard: Counter[tuple[int, str | None]] = Counter()

    while table.look()[0]["deal"]["number"] == 1:
        bodies = {seat: any_bodies(table.look(table.seats[seat])[0]["deal"]) for seat in crowd}
        calls = [
            partial(table.act, client, body)
            for seat, clients in crowd.items()
            for client, body in zip(clients, bodies[seat], strict=False)
        ]
        answers = counted(at_once(calls))
        assert answers[200, None] > 0
        heard.update(answers)

    events = table.events()
    assert_sound(events, whole=False)
    taken = [event for event in events if event["type"] in {"card_drawn", "bid_placed", "card_played"}]
    assert heard.pop((200, None)) == len(taken) >= 26 + 2 + 26
    assert heard[409, "not_your_turn"] > 0
    assert {status for status, _ in heard} <= {409, 422}
    assert {reason for _, reason in heard} <= {
        *("not_your_turn", "wrong_phase", "already_bid"),
        *("not_in_hand", "must_follow_suit", "first_lead_spade", "spades_not_broken"),
    }


def any_bodies(deal: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What might be sent in this phase, allowed or not, in turn and without end."""
    if deal["phase"] == "drawing":
        return cycle([{"decision": "keep"}, {"decision": "decline"}])
    if deal["phase"] == "bidding":
        return cycle([{"kind": "number", "tricks": tricks} for tricks in range(1, 14)])
    return cycle([{"card": card} for card in deal["hand"]] or [{"card": "2C"}])


def test_a_request_sent_many_times_with_one_key_has_one_effect_and_one_answer(lobby: Lobby) -> None:
    table = lobby.people()
    for phase in ("drawing", "bidding", "playing"):
        table.play_on(phase_is(phase))
        seat, view, match = table.turn()
        body = view["turn"]["legal"][-1]
        clients = lobby.crowd(20, table.seats[seat].token)
        headers = {**match, "Idempotency-Key": f"{phase} of {table.id}".replace(" ", "-")}
        calls = [partial(insist, partial(table.act, client, body, headers=headers)) for client in clients]

        answers = at_once(calls)

        assert counted(answers) == {(200, None): 20}
        assert len({answer.content for answer in answers}) == len({answer.headers["etag"] for answer in answers}) == 1
        replayed = [answer.headers.get("idempotency-replayed") for answer in answers]
        assert Counter(replayed) == {None: 1, "true": 19}
        assert len(table.news(view["version"])) == 1
        assert answers[0].body["version"] == view["version"] + 1

        other = next(legal for legal in view["turn"]["legal"] if legal != body)
        refused = table.act(clients[0], other, headers=headers)
        assert (refused.status, refused.reason) == (422, "idempotency_mismatch")
        assert table.look()[0]["version"] == view["version"] + 1
    assert_sound(table.events(), whole=False)


def test_a_key_gets_its_answer_again_however_far_the_game_has_gone(lobby: Lobby) -> None:
    table = lobby.people(target_score=120)
    kept: list[tuple[ApiClient, str, dict[str, Any], dict[str, str], Answer]] = []

    def act(number: int) -> bool:
        seat, view, match = table.turn()
        body = view["turn"]["legal"][len(view["turn"]["legal"]) // 2]
        headers = {**match, "Idempotency-Key": f"{number}-{table.id}"}
        answer = table.act(table.seats[seat], body, headers=headers)
        assert answer.status == 200
        kept.append((table.seats[seat], seat, body, headers, answer))
        return answer.body["result"] is not None

    number = 0
    while not act(number):
        number += 1
        if number % 25 == 0:  # also soon after, with the next seat on turn
            client, _, body, headers, answer = kept[-3]
            assert table.act(client, body, headers=headers).content == answer.content
    version = table.look()[0]["version"]
    assert {answer.body["deal"]["number"] for *_, answer in kept} > {1}

    ends_of_deals = [
        place
        for place in range(1, len(kept))
        if kept[place][4].body["deal"]["number"] != kept[place - 1][4].body["deal"]["number"]
    ]
    for place in sorted({0, 1, 25, 26, 27, 28, 29, *ends_of_deals, *(end - 1 for end in ends_of_deals), len(kept) - 1}):
        client, seat, body, headers, first = kept[place]
        again = table.act(client, body, headers=headers)
        assert (again.status, again.content) == (200, first.content), place
        assert again.headers["etag"] == first.headers["etag"]
        assert again.headers["idempotency-replayed"] == "true"
        assert again.body["viewer"]["seat"] == seat
    client, _, body, headers, _ = kept[-1]
    late = table.act(client, body, headers={"If-Match": headers["If-Match"]})
    assert (late.status, late.reason) == (412, "stale_version")
    assert table.look()[0]["version"] == version


def test_equal_keys_of_two_seats_are_two_keys(lobby: Lobby) -> None:
    table = lobby.people()

    for _ in range(2):
        seat, _, _ = table.turn()
        answer = table.act(table.seats[seat], {"decision": "keep"}, headers={"Idempotency-Key": "one"})
        assert answer.status == 200
        assert "idempotency-replayed" not in answer.headers

    assert table.look()[0]["deal"]["draw"]["stock_count"] == 48


def test_a_refusal_is_not_kept(lobby: Lobby) -> None:
    table = lobby.people()
    seat, _, _ = table.turn()
    (other,) = table.seats.keys() - {seat}
    headers = {"Idempotency-Key": "too-early"}

    early = table.act(table.seats[other], {"decision": "keep"}, headers=headers)
    assert (early.status, early.reason) == (409, "not_your_turn")
    assert table.act(table.seats[seat], {"decision": "keep"}).status == 200
    late = table.act(table.seats[other], {"decision": "keep"}, headers=headers)

    assert late.status == 200
    assert "idempotency-replayed" not in late.headers


@pytest.mark.parametrize(
    ("start", "reasons"), [("by_host", {"seat_taken"}), ("when_full", {"seat_taken", "wrong_phase"})]
)
def test_of_two_who_sit_down_at_once_one_gets_the_seat(lobby: Lobby, start: str, reasons: set[str]) -> None:
    for _ in range(4):
        table = lobby.table({"kind": "human"}, start=start)
        guests = [lobby.account(name) for name in ("Bea", "Cal")]
        version = table.look()[0]["version"]

        body = {"kind": "human", "seat": "B"}
        answers = at_once([partial(guest.post, table.url("seats"), json=body) for guest in guests])

        assert sorted(answer.status for answer in answers) == [201, 409]
        winner = next(place for place, answer in enumerate(answers) if answer.status == 201)
        assert answers[1 - winner].reason in reasons
        taken = [event for event in table.events() if event["number"] > version and event["type"] == "seat_taken"]
        assert [(event["seat"], event["data"]["name"]) for event in taken] == [("B", ["Bea", "Cal"][winner])]
        assert lobby.client(answers[winner].body["token"]).get(table.url()).body["viewer"]["seat"] == "B"
        assert guests[1 - winner].get(table.url()).body["viewer"] == {"role": "watcher", "seat": None}


def test_one_account_sits_down_once_however_often_it_asks_at_once(lobby: Lobby) -> None:
    table = lobby.table(start="by_host")
    guest = lobby.account("Bea")
    clients = lobby.crowd(8, guest.token)

    answers = at_once([partial(client.post, table.url("seats"), json={"kind": "human"}) for client in clients])

    assert counted(answers) == {(201, None): 1, (409, "already_seated"): 7}
    assert [seat["kind"] for seat in table.look()[0]["seats"]] == ["human", "open"]


def test_sitting_down_again_with_the_same_key_gives_the_same_token(lobby: Lobby) -> None:
    table = lobby.table(start="by_host")
    guest = lobby.account("Bea")
    clients = lobby.crowd(10, guest.token)
    headers = {"Idempotency-Key": "a-seat-for-bea"}
    calls = [
        partial(insist, partial(client.post, table.url("seats"), json={"kind": "human"}, headers=headers))
        for client in clients
    ]

    answers = at_once(calls)

    assert counted(answers) == {(201, None): 10}
    assert len({answer.content for answer in answers}) == 1
    assert lobby.client(answers[0].body["token"]).get(table.url()).body["viewer"]["seat"] == answers[0].body["seat"]
    assert [seat["kind"] for seat in table.look()[0]["seats"]] == ["human", "open"]


def test_a_table_asked_for_many_times_with_one_key_is_made_once(lobby: Lobby) -> None:
    host = lobby.account("Ann")
    body = {"ruleset": {"preset": "two_player"}, "seats": [{"kind": "human"}, {"kind": "bot", "bot": "steady"}]}
    headers = {"Idempotency-Key": "one-table"}
    clients = lobby.crowd(10, host.token)

    answers = at_once(
        [partial(insist, partial(client.post, "/v1/games", json=body, headers=headers)) for client in clients]
    )

    assert counted(answers) == {(201, None): 10}
    assert len({answer.content for answer in answers}) == 1
    assert len({answer.headers["location"] for answer in answers}) == 1
    mine = host.get("/v1/games?mine=true").body["items"]
    assert [game["id"] for game in mine] == [answers[0].body["game"]["id"]]
    seat = lobby.client(answers[0].body["seats"][0]["token"])
    assert seat.get(answers[0].headers["location"]).body["viewer"]["seat"] == "A"
    other = host.post("/v1/games", json={**body, "visibility": "unlisted"}, headers=headers)
    assert (other.status, other.reason) == (422, "idempotency_mismatch")


def test_a_request_whose_first_one_still_runs_is_told_to_wait(
    lobby: Lobby, live_service: Service, settings: Any
) -> None:
    if not live_service.database_url.startswith("postgres"):
        pytest.skip("on SQLite the second request waits for the first one")
    settings.SECRET_KEY = live_service.environment["SECRET_KEY"]
    table = lobby.people()
    seat, view, match = table.turn()
    client = table.seats[seat]
    headers = {**match, "Idempotency-Key": "held"}
    lock = idempotency._lock_number(key_digest(f"seat:{table.id}:{seat}", "held"))

    with psycopg.connect(live_service.database_url) as first:
        first.execute("SELECT pg_advisory_xact_lock(%s)", [lock])
        for _ in range(2):
            answer = table.act(client, {"decision": "keep"}, headers=headers)
            assert (answer.status, answer.reason) == (409, "idempotency_in_progress")
            assert int(answer.headers["retry-after"]) >= 1
        assert table.look()[0]["version"] == view["version"]

        # The lock ends with the connection that holds it, however that ends.
        with psycopg.connect(live_service.database_url, autocommit=True) as killer:
            killer.execute("SELECT pg_terminate_backend(%s, 5000)", [first.info.backend_pid])
        answer = table.act(client, {"decision": "keep"}, headers=headers)
        with pytest.raises(psycopg.OperationalError):
            first.execute("SELECT 1")

    assert answer.status == 200
    assert answer.body["version"] == view["version"] + 1


def test_the_host_starts_and_aborts_once_however_often_it_asks_at_once(lobby: Lobby) -> None:
    table = lobby.table({"kind": "bot", "bot": "steady"}, {"kind": "bot", "bot": "random"}, start="by_host")
    clients = lobby.crowd(8, table.host.token)

    started = at_once([partial(client.post, table.url("start")) for client in clients])
    aborted = at_once([partial(client.post, table.url("abort")) for client in clients])

    assert counted(started) == {(200, None): 1, (409, "wrong_phase"): 7}
    assert counted(aborted) == {(200, None): 1, (409, "game_over"): 7}
    kinds = Counter(event["type"] for event in table.events())
    assert (kinds["game_started"], kinds["game_aborted"]) == (1, 1)
    assert_sound(table.events())


def test_a_play_and_a_resignation_at_once_both_count_or_the_game_is_over(lobby: Lobby) -> None:
    for _ in range(5):
        table = lobby.people()
        seat, view, _ = table.turn()
        (other,) = table.seats.keys() - {seat}

        acted, resigned = at_once(
            [
                partial(table.act, table.seats[seat], view["turn"]["legal"][0]),
                partial(table.seats[other].post, table.url("resignations")),
            ]
        )

        assert resigned.status == 200
        assert counted([acted]).keys() <= {(200, None), (409, "game_over")}
        events = table.events()
        assert_sound(events)
        drawn = [event for event in events if event["type"] == "card_drawn"]
        assert len(drawn) == (acted.status == 200)
        assert events[-1]["data"]["winners"] == [seat]


def test_readers_see_every_state_whole_while_many_play(lobby: Lobby) -> None:
    """A view is of one version: what it shows agrees with the events up to that version."""
    table = lobby.people()
    done = threading.Event()
    views: list[dict[str, Any]] = []

    def read(client: ApiClient) -> None:
        while not done.is_set():
            views.append(client.get(table.url()).body)

    readers = [threading.Thread(target=read, args=(lobby.client(table.host.token),)) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        table.play_on(phase_is("drawing", deal=2))
    finally:
        done.set()
        for reader in readers:
            reader.join()

    events = table.events()
    for view in views:
        own = [event for event in events[: view["version"]] if event["deal_number"] == view["deal"]["number"]]
        played = [event["data"]["card"] for event in own if event["type"] == "card_played"]
        shown = [discard["card"] for discard in view["deal"]["draw"]["discards"]]
        assert shown == [event["data"]["discarded"]["card"] for event in own if event["type"] == "card_drawn"]
        assert view["deal"]["draw"]["stock_count"] == 52 - 2 * len(shown)
        assert sum(seat["tricks"] for seat in view["seats"]) == len(played) // 2
        assert sum(seat["card_count"] for seat in view["seats"]) == len(shown) - len(played)
    assert len({view["version"] for view in views}) > 5
