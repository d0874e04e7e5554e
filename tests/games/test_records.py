"""Records and fairness over HTTP: anybody can replay and check what they hold, and nothing comes too early."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from games import codec, selectors, store
from games.services import play
from spades import Record, Seed, check_shuffles, replay
from spades.__main__ import main
from spades.cards import pack
from spades.notation import ActionKind
from spades.options import RANKS
from tests.client import ApiClient
from tests.games.conftest import Person, Table
from tests.games.rebuilding import assert_rebuilds, rows_of

pytestmark = pytest.mark.django_db

DEAL = 26 + 2 + 26
"""Actions of a deal of two: draws, bids, cards."""

NAMES = ("Ann", "Bea", "Cal", "Dee")
Choice = Callable[[str, list[dict[str, Any]]], dict[str, Any]]
Make = Callable[..., Table]


@pytest.fixture
def seated(api: ApiClient, person: Callable[..., Person]) -> Make:
    """Makes a table of people, which has started: `seated(preset="pagat", seating="by_draw")`.

    Everybody but the host gives a client seed on sitting down.
    """

    def make(*, seating: str = "as_taken", **ruleset: Any) -> Table:
        host = person(NAMES[0])
        ruleset.setdefault("tie_rule", "shared")  # so that `max_hands` ends the game even where sides are level
        body = {"ruleset": ruleset, "seats": [{"kind": "human"}], "seating": seating}
        made = api.post("/v1/games", json=body, token=host.token)
        assert made.status == 201, made.content
        game = Table(api, made.body["game"]["id"], host, host, {"host": made.body["seats"][0]["token"]})
        for name in NAMES[1 : len(made.body["game"]["seats"])]:
            sits = {"kind": "human", "client_seed": f"of {name}"}
            joined = api.post(game.url("seats"), json=sits, token=person(name).token)
            assert joined.status == 201
            game.tokens[name] = joined.body["token"]
        tokens = {api.get(game.url(), token=token).body["viewer"]["seat"]: token for token in game.tokens.values()}
        game.tokens = {seat: tokens[seat] for seat in sorted(tokens, key="NESWABCDEF".index)}
        return game

    return make


def first(seat: str, legal: list[dict[str, Any]]) -> dict[str, Any]:
    """The first thing that is legal, with a bid of 2 where that is to be chosen."""
    return codec.some_action([next((body for body in legal if body.get("tricks") == 2), legal[0])])


def go_on(game: Table, choice: Choice = first, *, steps: int = 10_000) -> None:
    """Let every seat on turn choose, through the services, until the game is over or so many actions were taken."""
    for _ in range(steps):
        with transaction.atomic():
            row = store.read_game(UUID(game.id), lock=True)
            assert row is not None
            match = selectors.match_of(row)
            assert match is not None
            if match.turn is None or match.deal is None:
                return
            caller = next((seat for seat in game.tokens if match.deal.may_call_redeal(seat)), None)
            if caller is not None and match.deal.attempt == 1:
                play.move(row, match, caller, {"redeal": True})
            else:
                play.move(row, match, match.turn, choice(match.turn, match.deal.legal(match.turn)))


def record_of(game: Table, tmp_path: Path, seat: str | None = None) -> Record:
    """The record by HTTP in both forms, which are the same, checked by the command as anybody would."""
    token = game.tokens[seat or next(iter(game.tokens))]
    answer = game.api.get(game.url("record"), token=token)
    text = game.api.get(game.url("record") + "?format=text", token=token)
    assert (answer.status, text.status) == (200, 200)
    record = Record.from_json(answer.body)
    assert Record.from_text(text.content.decode()) == record
    for name, content in (("record.json", answer.content), ("record.txt", text.content)):
        (tmp_path / name).write_bytes(content)
        assert main(["verify", str(tmp_path / name)]) == 0
    return record


def blind(seat: str, legal: list[dict[str, Any]]) -> dict[str, Any]:
    """N bids blind nil while it can; the others do the first thing that is legal."""
    if seat == "N" and {"kind": "blind_nil"} in legal:
        return {"bid": {"kind": "blind_nil"}}
    return first(seat, legal)


def going_back(seat: str, legal: list[dict[str, Any]]) -> dict[str, Any]:
    """Partners send a proposal back when they can, and else do the first thing that is legal."""
    if {"kind": "reconsider"} in legal:
        return {"bid": {"kind": "reconsider"}}
    return first(seat, legal)


GAMES: dict[str, tuple[dict[str, Any], Choice]] = {
    "drawn": ({"preset": "two_player", "max_hands": 2}, first),
    "blind": (
        {
            "preset": "pagat",
            "blind_nil": "any",
            "blind_nil_exchange": 2,
            "nil_exchange": 1,
            "pass_cycle": ["left"],
            "pass_count": 1,
            "max_hands": 2,
        },
        blind,
    ),
    "redealt": (
        {
            "preset": "solo",
            "removed_cards": [f"{rank}S" for rank in RANKS if rank != "A"],
            "redeal": "no_spades",
            "blind_nil": "off",
            "max_hands": 1,
        },
        first,
    ),
    "settled": ({"preset": "hoyle_partners", "seating": "by_draw", "max_hands": 2}, going_back),
    "two packs": ({"preset": "pagat", "decks": 2, "duplicate_winner": "first", "max_hands": 1}, first),
    "cut": ({"preset": "pagat", "first_dealer": "cut_high", "max_hands": 1}, first),
}


@pytest.mark.parametrize("name", GAMES)
def test_the_record_of_a_game_can_be_replayed_and_its_shuffles_checked(seated: Make, tmp_path: Path, name: str) -> None:
    settings, choice = GAMES[name]
    game = seated(**settings)
    go_on(game, choice)
    view = game.view(next(iter(game.tokens)))

    record = record_of(game, tmp_path)

    assert view["status"] == "finished"
    assert record.ruleset.resolved() == view["ruleset"]
    assert record.names == {row["seat"]: row["name"] for row in view["seats"]}
    played = replay(record)
    assert played.deals == len(record.deals) == settings["max_hands"]
    assert played.result == record.result
    assert record.result is not None
    assert [list(record.result.winners), record.result.reason, record.result.scores] == [
        view["result"]["winners"],
        view["result"]["reason"],
        view["result"]["scores"],
    ]
    checked = {check.what for check in check_shuffles(record)}
    assert {"commitment", "shuffle"} <= checked
    assert all(deal.client_seeds for deal in record.deals)
    kinds = {action.kind for deal in record.deals for action in deal.actions}
    if name == "drawn":
        assert ActionKind.DRAW in kinds
    if name == "blind":
        assert {ActionKind.LOOK, ActionKind.PASS, ActionKind.BID, ActionKind.PLAY} == kinds
        assert sum(action.kind is ActionKind.PASS for action in record.deals[0].actions) == 4 + 2
    if name == "redealt":
        assert len(record.deals[0].redeals) == 1
        started = [event["data"] for event in events(game) if event["type"] == "deal_started"]
        assert [called.commitment for called in record.deals[0].redeals] == [started[0]["commitment"]]
        assert record.deals[0].commitment == started[1]["commitment"] == started[0]["next_commitment"]
    if name == "settled":
        assert "seats" in checked
        assert any(action.bid is None for deal in record.deals for action in deal.actions if action.kind == "bid")
    if name == "cut":
        assert "cut" in checked


def events(game: Table) -> list[dict[str, Any]]:
    token = next(iter(game.tokens.values()))
    items: list[dict[str, Any]] = game.api.get(game.url("events") + "?limit=500", token=token).body["items"]
    return items


def test_a_running_game_has_only_the_deals_that_were_revealed(seated: Make, tmp_path: Path) -> None:
    game = seated(preset="two_player")
    token = game.tokens["A"]
    before = game.api.get(game.url("record"), token=token)
    assert (before.body["deals"], before.body["result"]) == ([], None)
    go_on(game, steps=DEAL + 30)

    record = record_of(game, tmp_path)

    assert [deal.number for deal in record.deals] == [1]
    assert record.result is None
    answers = {seat: game.api.get(game.url("record"), token=game.tokens[seat]).content for seat in game.tokens}
    assert len(set(answers.values())) == 1
    revealed = next(event["data"] for event in events(game) if event["type"] == "deal_revealed")
    (told,) = json.loads(answers["A"])["deals"]
    assert (told["stock"], told["seed"], told["client_seeds"]) == (
        revealed["stock"],
        revealed["seed"],
        revealed["client_seeds"],
    )
    secrets = [row.seed for row in store.read_deals(UUID(game.id)) if row.number > 1]
    assert len(secrets) == 2
    assert not any(secret in answer.decode() for secret in secrets for answer in answers.values())


def test_at_no_moment_is_more_told_than_was_revealed(seated: Make, person: Callable[..., Person]) -> None:
    settings, choice = GAMES["redealt"]
    game, watcher = seated(**{**settings, "max_hands": 2}), person("Wes")
    readers = [*game.tokens.values(), watcher.token]
    revealed: set[int] = set()
    while True:
        rows = store.read_deals(UUID(game.id))
        for token in readers:
            record = game.api.get(game.url("record"), token=token)
            fair = game.api.get(game.url("fairness"), token=token)
            assert {deal["number"] for deal in record.body["deals"]} == revealed
            told = record.content.decode() + fair.content.decode()
            last = {number: max(row.attempt for row in rows if row.number == number) for number in revealed}
            known = {row.seed for row in rows if last.get(row.number) == row.attempt}
            assert {row.seed for row in rows if row.seed in told} == known
        if game.view("N")["status"] == "finished":
            break
        go_on(game, choice, steps=7)
        revealed = {event["deal_number"] for event in events(game) if event["type"] == "deal_revealed"}
    assert revealed == {1, 2}
    assert sum(row.attempt > 1 for row in rows) == 2


@pytest.mark.parametrize("ending", ["resign", "abort"])
def test_a_deal_that_was_given_up_is_recorded_as_far_as_it_went(seated: Make, tmp_path: Path, ending: str) -> None:
    game = seated(preset="two_player")
    go_on(game, steps=40)
    with transaction.atomic():
        row = store.read_game(UUID(game.id), lock=True)
        assert row is not None
        match = selectors.match_of(row)
        assert match is not None
        play.move(row, match, "B", {ending: True})

    record = record_of(game, tmp_path)

    assert [len(deal.actions) for deal in record.deals] == [40]
    assert record.deals[0].score is None
    assert record.result is not None
    assert (record.result.reason, record.result.seat) == (
        ("resignation", "B") if ending == "resign" else ("aborted", None)
    )


def test_a_table_that_never_started_has_an_empty_record(
    api: ApiClient, person: Callable[..., Person], tmp_path: Path
) -> None:
    host = person("Ann")
    made = api.post("/v1/games", json={"ruleset": {"preset": "pagat"}, "seats": [{"kind": "human"}]}, token=host.token)
    game = Table(api, made.body["game"]["id"], host, host, {"N": made.body["seats"][0]["token"]})

    waiting = record_of(game, tmp_path)
    assert api.post(game.url("abort"), token=host.token).status == 200
    over = record_of(game, tmp_path)

    assert (waiting.deals, waiting.result, waiting.names["N"], waiting.cut) == ((), None, "Ann", ())
    assert over.result is not None
    assert over.result.reason == "aborted"
    assert [entry["server_seed"] for entry in api.get(game.url("fairness"), token=host.token).body["deals"]] == []


def test_the_cards_that_were_set_are_recorded_as_such(
    api: ApiClient, person: Callable[..., Person], tmp_path: Path
) -> None:
    ann, bea = person("Ann"), person("Bea")
    stock = [card.code for card in Seed(bytes(32)).shuffled(pack(0, (), ()).deck)]
    body = {
        "ruleset": {"preset": "two_player", "max_hands": 1},
        "seats": [{"kind": "human"}],
        "sandbox": {"deals": [{"dealer": "B", "stock": stock}]},
    }
    made = api.post("/v1/games", json=body, token=ann.token)
    game = Table(api, made.body["game"]["id"], ann, bea, {"A": made.body["seats"][0]["token"]})
    sat = api.post(game.url("seats"), json={"kind": "human", "accept_sandbox": True}, token=bea.token)
    assert sat.status == 201
    go_on(game)

    record = record_of(game, tmp_path)

    assert (record.deals[0].scripted, record.deals[0].dealer) == (True, "B")
    assert [card.code for card in record.deals[0].stock or ()] == stock
    assert [check.what for check in check_shuffles(record)] == ["script"]


def test_the_form_follows_query_and_accept(seated: Make) -> None:
    game = seated(preset="two_player", max_hands=1)
    go_on(game)
    token = game.tokens["A"]

    def got(query: str = "", **headers: str) -> tuple[int, str]:
        answer = game.api.get(game.url("record") + query, token=token, headers=headers)
        return answer.status, answer.headers.get("content-type", "")

    assert got() == got("?format=json", Accept="text/plain") == (200, "application/json")
    assert got(Accept="text/plain") == got("?format=text") == (200, "text/plain; charset=utf-8")
    assert got(Accept="text/plain, */*") == (200, "application/json")
    assert got(Accept="image/png")[0] == 406
    answer = game.api.get(game.url("record"), token=token, example=True)
    assert "Accept" in answer.headers["vary"]
    tag = answer.headers["etag"]
    assert game.api.get(game.url("record"), token=token, headers={"If-None-Match": tag}).status == 304
    assert game.api.get(game.url("record") + "?format=text", token=token, headers={"If-None-Match": tag}).status == 200


def test_a_record_is_for_whoever_may_see_the_table(api: ApiClient, person: Callable[..., Person], seated: Make) -> None:
    game = seated(preset="two_player")
    stranger = person("Wes")
    private = api.post("/v1/games", json={"ruleset": {}, "visibility": "private"}, token=stranger.token).body["game"][
        "id"
    ]

    for what in ("record", "fairness"):
        assert api.get(game.url(what), token=stranger.token).status == 200
        assert api.get(f"/v1/games/{private}/{what}", token=game.host.token).reason == "not_found"
        assert api.get(game.url(what), token=None).reason == "unauthenticated"


# Fairness, and client seeds.


def fairness(game: Table, seat: str = "A") -> list[dict[str, Any]]:
    answer = game.api.get(game.url("fairness"), token=game.tokens[seat])
    assert answer.status == 200
    deals: list[dict[str, Any]] = answer.body["deals"]
    return deals


def give(game: Table, seat: str, text: str, **kwargs: Any) -> Any:
    return game.api.post(game.url("client_seeds"), json={"client_seed": text}, token=game.tokens[seat], **kwargs)


def test_fairness_shows_commitments_first_and_seeds_after(seated: Make) -> None:
    game = seated(preset="two_player")
    one, two = fairness(game)
    assert one == {
        "number": 1,
        "attempt": 1,
        "commitment": one["commitment"],
        "server_seed": None,
        "client_seeds": [{"seat": "B", "seed": "of Bea"}],
        "algorithm": "spades-shuffle-1",
        "scripted": False,
    }
    assert (two["number"], two["server_seed"]) == (2, None)
    go_on(game, steps=DEAL)

    deals = fairness(game)
    told = {event["type"]: event["data"] for event in reversed(events(game))}

    assert [deal["commitment"] for deal in deals[:2]] == [one["commitment"], two["commitment"]]
    assert told["game_created"]["commitment"] == one["commitment"]
    assert told["deal_started"]["next_commitment"] == two["commitment"]
    assert Seed(bytes.fromhex(deals[0]["server_seed"])).commitment == one["commitment"]
    assert [deal["server_seed"] for deal in deals[1:]] == [None, None]


def test_a_client_seed_enters_the_next_deal_which_was_committed_to_before(seated: Make, tmp_path: Path) -> None:
    game = seated(preset="two_player", max_hands=2)
    promised = fairness(game)[1]["commitment"]
    rows = rows_of(game.id)

    answer = give(game, "A", "after the promise", example=True)

    assert answer.status == 200
    assert answer.body["deals"] == fairness(game)
    running, coming = answer.body["deals"]
    assert running["client_seeds"] == [{"seat": "B", "seed": "of Bea"}]
    both = [{"seat": "A", "seed": "after the promise"}, {"seat": "B", "seed": "of Bea"}]
    assert (coming["commitment"], coming["client_seeds"]) == (promised, both)
    assert rows_of(game.id) == rows  # no event, no version: it concerns deals that have not begun
    go_on(game)
    record = record_of(game, tmp_path)
    assert [dict(deal.client_seeds) for deal in record.deals] == [
        {"B": "of Bea"},
        {"A": "after the promise", "B": "of Bea"},
    ]
    assert_rebuilds(UUID(game.id))
    over = give(game, "A", "too late")
    assert (over.status, over.reason) == (409, "game_over")


def test_a_client_seed_given_before_the_start_enters_the_first_deal(
    api: ApiClient, person: Callable[..., Person]
) -> None:
    ann, bea = person("Ann"), person("Bea")
    made = api.post(
        "/v1/games", json={"ruleset": {"preset": "two_player"}, "seats": [{"kind": "human"}]}, token=ann.token
    )
    game = Table(api, made.body["game"]["id"], ann, bea, {"A": made.body["seats"][0]["token"]})
    assert give(game, "A", "first").status == 200
    assert give(game, "A", "second").status == 200  # instead of the first
    assert api.post(game.url("seats"), json={"kind": "human"}, token=bea.token).status == 201

    assert fairness(game)[0]["client_seeds"] == [{"seat": "A", "seed": "second"}]


def test_who_has_no_seat_gives_no_client_seed(api: ApiClient, person: Callable[..., Person], seated: Make) -> None:
    game, stranger = seated(preset="two_player"), person("Wes")
    before = fairness(game)

    refused = api.post(game.url("client_seeds"), json={"client_seed": "mine"}, token=stranger.token)
    empty = give(game, "A", "", bad=True)
    null = give(game, "A", "a\x00b", bad=True)
    long = give(game, "A", "x" * 65, bad=True)

    assert (refused.status, refused.reason) == (403, "not_your_seat")
    assert [(answer.status, answer.body["errors"][0]["pointer"]) for answer in (empty, null, long)] == [
        (400, "/client_seed")
    ] * 3
    assert fairness(game) == before


def test_a_client_seed_with_a_key_is_given_once(seated: Make) -> None:
    game = seated(preset="two_player")
    key = {"Idempotency-Key": "my-luck"}

    first_time = give(game, "A", "luck", headers=key)
    assert give(game, "A", "other").status == 200
    again = give(game, "A", "luck", headers=key)
    mismatch = give(game, "A", "else", headers=key)

    assert (again.content, again.headers["idempotency-replayed"]) == (first_time.content, "true")
    assert (mismatch.status, mismatch.reason) == (422, "idempotency_mismatch")
    assert fairness(game)[-1]["client_seeds"][0] == {"seat": "A", "seed": "other"}


def test_the_seed_of_an_attempt_that_was_called_off_stays_secret(seated: Make) -> None:
    settings, choice = GAMES["redealt"]
    game = seated(**settings)
    go_on(game, choice)

    deals = fairness(game, "N")

    assert [(deal["number"], deal["attempt"], deal["server_seed"] is None) for deal in deals] == [
        (1, 1, True),
        (1, 2, False),
    ]
