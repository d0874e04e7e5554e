"""Tables whose deals were set: they lie as they were set, everybody knows that, and nobody is told how."""

from __future__ import annotations

import random
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from games import scripts, selectors, steps, store
from spades import Card, Match, Ruleset, Seed
from spades.cards import pack
from spades.terms import terms
from tests.client import Answer, ApiClient
from tests.games.conftest import Person, Table
from tests.games.rebuilding import assert_rebuilds, rows_of

TWO = {"ruleset": {"preset": "two_player"}}
DECK = [card.code for card in pack(0, (), ()).deck]
MakePerson = Callable[..., Person]


def stock(number: int) -> list[str]:
    cards = list(DECK)
    random.Random(number).shuffle(cards)
    return cards


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.reason


def sandbox(
    api: ApiClient, person: MakePerson, sandbox: dict[str, Any], *, accept: bool = True, **settings: Any
) -> Table:
    """A table of two people, started, whose host set the deals."""
    host, guest = person("Ann"), person("Bea")
    body = {**TWO, "seats": [{"kind": "human"}], "sandbox": sandbox, **settings}
    made = api.post("/v1/games", json=body, token=host.token)
    assert made.status == 201, made.content
    game_id = made.body["game"]["id"]
    joined = api.post(f"/v1/games/{game_id}/seats", json={"kind": "human", "accept_sandbox": accept}, token=guest.token)
    assert joined.status == 201, joined.content
    return Table(api, game_id, host, guest, {"A": made.body["seats"][0]["token"], "B": joined.body["token"]})


def events(game: Table, kind: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    after: str | None = "0"
    while after is not None:
        page = game.api.get(game.url("events") + f"?after={after}&limit=500", token=game.tokens["B"]).body
        items += page["items"]
        after = page["next"]
    return [event for event in items if event["type"] == kind]


@pytest.mark.django_db
def test_scripted_deals_lie_as_they_were_set_and_later_ones_come_from_chance(
    api: ApiClient, person: MakePerson
) -> None:
    script = [{"dealer": "B", "stock": stock(1)}, {"dealer": "B", "stock": stock(2)}]
    game = sandbox(api, person, {"deals": script})
    key = {"Idempotency-Key": "the-first"}

    seat, view = game.on_turn()
    assert (seat, view["deal"]["dealer"], view["deal"]["draw"]["looked_at"]) == ("A", "B", stock(1)[0])
    first = game.act(seat, {"decision": "keep"}, headers=key)
    game.play_to("drawing", deal=4)
    again = game.act(seat, {"decision": "keep"}, headers=key)

    assert again.content == first.content
    assert [event["data"]["dealer"] for event in events(game, "deal_started")] == ["B", "B", "A", "B"]
    assert events(game, "dealer_cut")[0]["data"] == {"rounds": [], "dealer": "B"}
    started = [event["data"] for event in events(game, "deal_started")]
    revealed = [event["data"] for event in events(game, "deal_revealed")]
    assert [data.get("scripted") for data in started] == [True, True, None, None]
    for place in (0, 1):
        text = "B:" + "".join(stock(place + 1))
        assert revealed[place]["stock"] == stock(place + 1)
        salt = bytes.fromhex(revealed[place]["seed"])
        assert started[place]["commitment"] == sha256(salt + text.encode()).hexdigest()
    assert list(Seed(bytes.fromhex(revealed[2]["seed"])).shuffled(DECK)) == revealed[2]["stock"]
    for begun, shown in zip(started[2:], revealed[2:], strict=False):
        assert begun["commitment"] == sha256(bytes.fromhex(shown["seed"])).hexdigest()
    assert_rebuilds(UUID(game.id))
    row = store.read_game(UUID(game.id), lock=False)
    assert row is not None
    for version, match, _ in selectors.replay(row)[::10]:
        assert selectors.match_at(row, version) == match


@pytest.mark.django_db
def test_what_was_set_cannot_be_found_by_trying_it_against_its_commitment(api: ApiClient, person: MakePerson) -> None:
    """Whoever guesses all the cards right cannot tell: the commitment has a salt that is told when the deal is."""
    text = ("B:" + "".join(stock(1))).encode()
    games = [sandbox(api, person, {"deals": [{"dealer": "B", "stock": stock(1)}]}) for _ in range(2)]

    told = [events(game, "deal_started")[0]["data"]["commitment"] for game in games]

    assert told[0] != told[1]
    assert not {*told} & {sha256(text).hexdigest(), sha256(sha256(text).digest()).hexdigest()}
    fair = api.get(games[0].url("fairness"), token=games[0].tokens["A"]).body["deals"][0]
    assert (fair["commitment"], fair["server_seed"], fair["scripted"]) == (told[0], None, True)
    assert api.post(games[0].url("resignations"), token=games[0].tokens["A"]).status == 200
    salt = api.get(games[0].url("fairness"), token=games[0].tokens["A"]).body["deals"][0]["server_seed"]
    assert sha256(bytes.fromhex(salt) + text).hexdigest() == told[0]


@pytest.mark.django_db
def test_a_redeal_of_a_scripted_deal_keeps_number_and_dealer(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")
    no_spades = {seat: DECK[place * 13 : place * 13 + 13] for place, seat in enumerate("NESW")}
    body = {
        "ruleset": {"preset": "standard", "redeal": "no_spades", "blind_nil": "off"},
        "hot_seat": True,
        "seats": [{"kind": "human"}] * 4,
        "sandbox": {"deals": [{"dealer": "E", "hands": no_spades}, {"dealer": "E", "hands": HANDS}]},
    }
    clash = {"deals": [{"dealer": "E", "hands": no_spades}, {"dealer": "S", "hands": HANDS}]}

    refusal = api.post("/v1/games", json={**body, "sandbox": clash}, token=ann.token)
    made = api.post("/v1/games", json=body, token=ann.token).body
    token = made["seats"][0]["token"]
    again = api.post(f"/v1/games/{made['game']['id']}/redeals", token=token)

    assert refused(refusal) == (400, "malformed")
    assert [error["pointer"] for error in refusal.body["errors"]] == ["/sandbox/deals/1/dealer"]
    deal = again.body["deal"]
    assert (deal["number"], deal["attempt"], deal["dealer"]) == (1, 2, "E")
    assert sorted(deal["hand"]) == HANDS["N"]
    assert_rebuilds(UUID(made["game"]["id"]))


@pytest.mark.django_db
def test_a_scripted_deal_that_bids_itself_is_told_as_its_schema_says(api: ApiClient, person: MakePerson) -> None:
    body = {
        "ruleset": {"preset": "mirror"},
        "hot_seat": True,
        "seats": [{"kind": "human"}] * 4,
        "sandbox": {"deals": [{"dealer": "N", "hands": HANDS}]},
    }
    made = api.post("/v1/games", json=body, token=person("Ann").token).body

    told = api.get(f"/v1/games/{made['game']['id']}/events", token=made["seats"][0]["token"]).body["items"]

    assert [event["type"] for event in told if "scripted" in event["data"]] == ["deal_started"]
    assert [event["type"] for event in told[-4:]] == ["bid_placed"] * 4


@pytest.mark.django_db
def test_the_same_seed_gives_the_same_deals(api: ApiClient, person: MakePerson) -> None:
    given = "0f" * 32
    games = [sandbox(api, person, {"seed": given}) for _ in range(2)]

    for game in games:
        game.play_to("drawing", deal=3)

    told = [[event["data"] for event in events(game, "deal_revealed")] for game in games]
    assert told[0] == told[1]
    assert told[0][0]["stock"] != told[0][1]["stock"]
    for number, data in enumerate(told[0], 1):
        derived = sha256(b"spades-sandbox-1\0" + bytes.fromhex(given) + b"\0" + str(number).encode())
        assert data["seed"] == derived.hexdigest()
        assert list(Seed(derived.digest()).shuffled(DECK)) == data["stock"]
    cuts = [events(game, "dealer_cut")[0]["data"] for game in games]
    assert cuts[0] == cuts[1]
    assert_rebuilds(UUID(games[0].id))


@pytest.mark.django_db
@pytest.mark.parametrize("script", [{"seed": "ab" * 32}, {"deals": [{"dealer": "A", "stock": stock(3)}]}])
def test_everybody_knows_of_a_sandbox_and_nobody_is_told_what_was_set(
    api: ApiClient, person: MakePerson, script: dict[str, Any]
) -> None:
    game = sandbox(api, person, script)
    wes = person("Wes")
    game.play_to("bidding")

    answers = []
    for token in (game.host.token, game.guest.token, *game.tokens.values(), wes.token):
        view = api.get(game.url(), token=token)
        assert view.body["sandbox"] is True
        paths = ("events?limit=500", "deals", "deals/1", "seats/A")
        answers += [view, *(api.get(game.url(path), token=token) for path in paths)]
    answers.append(api.get(game.url("audit"), token=game.host.token))
    listed = api.get("/v1/games", token=wes.token)
    assert [row["sandbox"] for row in listed.body["items"]] == [True]

    for answer in (*answers, listed):
        assert answer.status == 200
        assert b"ab" * 32 not in answer.content
        assert b'"stock":' not in answer.content
        assert b'"script"' not in answer.content


@pytest.mark.django_db
def test_who_sits_down_at_a_sandbox_says_that_it_is_all_right(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    body = {**TWO, "sandbox": {"seed": "00" * 32}, "start": "by_host"}
    game = api.post("/v1/games", json=body, token=ann.token).body["game"]
    url = f"/v1/games/{game['id']}/seats"
    plain = api.post("/v1/games", json={**TWO, "start": "by_host"}, token=ann.token).body["game"]
    before = rows_of(game["id"])

    unasked = api.post(url, json={"kind": "human"}, token=bea.token)
    against = api.post(url, json={"kind": "human", "accept_sandbox": False}, token=bea.token)
    bot = api.post(url, json={"kind": "bot", "bot": "steady", "accept_sandbox": True}, token=ann.token)

    assert refused(unasked) == refused(against) == (409, "sandbox_not_accepted")
    assert refused(bot) == (400, "malformed")
    assert rows_of(game["id"]) == before
    assert api.post(url, json={"kind": "human", "accept_sandbox": True}, token=bea.token).status == 201
    assert api.post(url, json={"kind": "human"}, token=ann.token).status == 201  # who made it
    harmless = {"kind": "human", "accept_sandbox": True}
    assert api.post(f"/v1/games/{plain['id']}/seats", json=harmless, token=bea.token).status == 201
    assert (game["sandbox"], plain["sandbox"]) == (True, False)


@pytest.mark.django_db
def test_a_rematch_of_a_sandbox_has_the_same_deals(api: ApiClient, person: MakePerson) -> None:
    game = sandbox(api, person, {"deals": [{"dealer": "A", "stock": stock(5)}]})
    assert api.post(game.url("resignations"), token=game.tokens["A"]).status == 200

    made = api.post(game.url("rematch"), token=game.host.token)
    both = api.post(game.url("rematch"), token=game.guest.token)

    assert made.body["game"]["sandbox"] is True
    view = both.body["game"]
    assert (view["status"], view["deal"]["dealer"], view["turn"]["seat"]) == ("active", "A", "B")
    assert view["deal"]["draw"]["looked_at"] == stock(5)[0]


ONE_SHORT, TWICE = stock(1)[:-1], [*stock(1)[:-1], stock(1)[0]]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("script", "pointers"),
    [
        ({}, ["/sandbox/seed"]),
        ({"seed": "00" * 32, "deals": []}, ["/sandbox/deals"]),
        ({"seed": "00" * 31}, ["/sandbox/seed"]),
        ({"seed": "0G" * 32}, ["/sandbox/seed"]),
        ({"seed": 7}, ["/sandbox/seed"]),
        ({"deals": []}, ["/sandbox/deals"]),
        ({"deals": [{"dealer": "A"}]}, ["/sandbox/deals/0/stock"]),
        ({"deals": [{"stock": stock(1)}]}, ["/sandbox/deals/0/dealer"]),
        ({"deals": [{"dealer": "N", "stock": stock(1)}]}, ["/sandbox/deals/0/dealer"]),
        ({"deals": [{"dealer": "A", "stock": ONE_SHORT}]}, ["/sandbox/deals/0/stock"]),
        ({"deals": [{"dealer": "A", "stock": TWICE}]}, ["/sandbox/deals/0/stock/51", "/sandbox/deals/0/stock"]),
        ({"deals": [{"dealer": "A", "stock": [*stock(1), "BJ"]}]}, ["/sandbox/deals/0/stock/52"]),
        ({"deals": [{"dealer": "A", "stock": ["1S"]}]}, ["/sandbox/deals/0/stock/0"]),
        ({"deals": [{"dealer": "A", "stock": stock(1)}, {"dealer": "A", "stock": []}]}, ["/sandbox/deals/1/stock"]),
        (
            {"deals": [{"dealer": "A", "hands": {"A": DECK[:13], "B": DECK[13:26]}}]},
            ["/sandbox/deals/0/hands"],  # two players who draw are dealt nothing
        ),
        ({"deals": [{"dealer": "A", "hands": {"A": "AS"}}]}, ["/sandbox/deals/0/hands/A"]),
        ({"deals": [{"dealer": "A", "stock": stock(1), "hands": {}}]}, ["/sandbox/deals/0/hands"]),
        ({"other": 1}, ["/sandbox/other"]),
        ([], ["/sandbox"]),
    ],
)
def test_a_script_that_is_no_whole_pack_is_refused_with_pointers(
    api: ApiClient, person: MakePerson, script: Any, pointers: list[str]
) -> None:
    ann = person("Ann")

    answer = api.post("/v1/games", json={**TWO, "sandbox": script}, token=ann.token, bad=True)

    assert refused(answer) == (400, "malformed")
    assert [error["pointer"] for error in answer.body["errors"]] == pointers
    assert api.get("/v1/games", token=ann.token).body["items"] == []


@pytest.mark.django_db
@pytest.mark.parametrize(("card", "said"), [("BJ", "is not in this table's pack"), ("2C", "was there before")])
def test_a_card_too_many_is_told_apart_from_one_that_is_not_played_with(
    api: ApiClient, person: MakePerson, card: str, said: str
) -> None:
    script = {"deals": [{"dealer": "A", "stock": [*stock(1), card]}]}

    answer = api.post("/v1/games", json={**TWO, "sandbox": script}, token=person("Ann").token)

    assert [error["pointer"] for error in answer.body["errors"]] == ["/sandbox/deals/0/stock/52"]
    assert said in answer.body["errors"][0]["detail"]


HANDS = {seat: sorted(DECK[place::4]) for place, seat in enumerate("NESW")}


@pytest.mark.django_db
@pytest.mark.parametrize("dealer", ["N", "E", "S", "W"])
def test_scripted_hands_are_dealt_to_their_seats(api: ApiClient, person: MakePerson, dealer: str) -> None:
    ann = person("Ann")
    seats = [{"kind": "human", "name": name} for name in ("Ann", "Bob", "Cy", "Di")]
    body = {
        "ruleset": {"preset": "standard"},
        "hot_seat": True,
        "seats": seats,
        "sandbox": {"deals": [{"dealer": dealer, "hands": HANDS}]},
    }

    made = api.post("/v1/games", json=body, token=ann.token)

    assert made.status == 201, made.content
    for row in made.body["seats"]:
        deal = api.get(f"/v1/games/{made.body['game']['id']}", token=row["token"]).body["deal"]
        assert (deal["dealer"], sorted(deal["hand"] or [])) == (dealer, HANDS[row["seat"]])
    assert_rebuilds(UUID(made.body["game"]["id"]))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("hands", "pointers"),
    [
        ({**HANDS, "N": HANDS["N"][:-1]}, ["/sandbox/deals/0/hands/N"]),
        ({**HANDS, "N": HANDS["E"]}, ["/sandbox/deals/0/hands/N/0"]),
        ({seat: hand for seat, hand in HANDS.items() if seat != "S"}, ["/sandbox/deals/0/hands/S"]),
        ({**HANDS, "A": []}, ["/sandbox/deals/0/hands/A"]),
    ],
)
def test_hands_that_are_no_whole_pack_are_refused_with_pointers(
    api: ApiClient, person: MakePerson, hands: dict[str, list[str]], pointers: list[str]
) -> None:
    body = {"ruleset": {"preset": "standard"}, "sandbox": {"deals": [{"dealer": "N", "hands": hands}]}}

    answer = api.post("/v1/games", json=body, token=person("Ann").token, bad=True)

    assert refused(answer) == (400, "malformed")
    assert {error["pointer"] for error in answer.body["errors"]} >= set(pointers)


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"decks": 2, "duplicate_winner": "first"},
        {"jokers": 2, "removed_cards": ["2C", "2D"], "high_trumps": ["BJ", "LJ"]},
    ],
)
def test_hands_and_stock_say_the_same(overrides: dict[str, Any]) -> None:
    """A script of hands lies as a stock that is dealt one by one from the dealer's left."""
    rules = Ruleset.resolve({"preset": "standard", **overrides})
    deck = [card.code for card in terms(rules).pack.deck]
    random.Random(1).shuffle(deck)
    size = rules.hand_size * 4
    hands = {seat: [Card.parse(code) for code in deck[place:size:4]] for place, seat in enumerate("SWNE")}
    deal = {"dealer": "E", "hands": hands}

    assert scripts.faults_of(rules, [deal]) == []
    layout = scripts.layout_of(rules, deal)
    assert [card.code for card in layout.stock][:size] == deck[:size]
    assert sorted(card.code for card in layout.stock) == sorted(deck)
    assert scripts.Layout.parse(layout.text) == layout
    seed = Seed(bytes(32))
    begun = steps.lay_out(Match.start(rules, seed), seed, layout)
    assert begun.deal is not None
    assert (begun.deal.dealer, begun.dealer) == ("E", "E")
    dealt = {seat: sorted(card.code for card in begun.deal.hand(seat)) for seat in "NESW"}
    assert dealt == {seat: sorted(card.code for card in hand) for seat, hand in hands.items()}
