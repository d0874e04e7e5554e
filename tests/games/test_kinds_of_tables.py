"""Tables of more than two: looks, passes, redeals, proposals, sealed bids and exchanges over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from spades.options import RANKS
from tests.client import ApiClient
from tests.games.conftest import Person, Table
from tests.games.rebuilding import assert_rebuilds, rows_of

pytestmark = pytest.mark.django_db

NUMBER = {"kind": "number", "tricks": 3}
Circle = Callable[..., Table]


@pytest.fixture
def circle(api: ApiClient, person: Callable[..., Person]) -> Circle:
    """Makes a table of four people, which has started: `circle(preset="pagat", blind_nil="any")`."""

    def make(**ruleset: Any) -> Table:
        people = [person(name) for name in ("Ann", "Bea", "Cal", "Dee")]
        body = {"ruleset": ruleset, "seats": [{"kind": "human"}]}
        made = api.post("/v1/games", json=body, token=people[0].token)
        assert made.status == 201
        game = Table(api, made.body["game"]["id"], people[0], people[1], {"N": made.body["seats"][0]["token"]})
        for guest in people[1:]:
            joined = api.post(game.url("seats"), json={"kind": "human"}, token=guest.token)
            game.tokens[joined.body["seat"]] = joined.body["token"]
        assert list(game.tokens) == ["N", "E", "S", "W"]
        return game

    return make


def turns(game: Table) -> list[str]:
    seats: list[str] = game.view("N")["turn"]["seats"]
    return seats


def told(game: Table, seat: str, kind: str) -> list[dict[str, Any]]:
    """The data of the events of one type, as a seat reads them."""
    page = game.api.get(game.url("events") + "?limit=500", token=game.tokens[seat]).body
    return [event["data"] for event in page["items"] if event["type"] == kind]


def test_a_hand_is_withheld_until_its_seat_looks(circle: Circle) -> None:
    game = circle(preset="pagat", blind_nil="any")
    (seat,) = turns(game)
    view, before = game.view(seat), rows_of(game.id)
    assert (view["deal"]["hand"], view["deal"]["hand_seen"], view["turn"]["action"]) == (None, False, "look")
    assert view["turn"]["legal"] == [{"look": True}, {"kind": "blind_nil"}]

    for action, body in (("bid", NUMBER), ("bid", {"kind": "nil"}), ("redeal", {}), ("pass", {"cards": ["AS"]})):
        for query in ("", "?dry_run=true"):
            refused = game.act(seat, body, action=action, query=query)
            assert (refused.status, refused.reason, refused.body["legal"]) == (409, "look_first", view["turn"]["legal"])
    assert rows_of(game.id) == before
    no = game.act(seat, {"look": False}, action="look", bad=True)
    assert (no.status, [fault["pointer"] for fault in no.body["errors"]]) == (400, ["/look"])
    looked = game.act(seat, {"look": True}, action="look", example=True)

    assert looked.status == 200
    assert len(looked.body["deal"]["hand"]) == 13
    assert told(game, seat, "hand_looked_at") == [{"hand": looked.body["deal"]["hand"]}]
    across = game.view(next(name for name in game.tokens if name != seat))
    assert across["deal"]["hand"] is None
    assert [row["hand_seen"] for row in across["seats"]] == [name == seat for name in game.tokens]
    again = game.act(seat, {}, action="look")
    assert (again.status, again.reason) == (422, "hand_already_seen")
    late = game.act(seat, {"kind": "blind_nil"})
    assert (late.status, late.reason) == (422, "hand_already_seen")
    assert_rebuilds(UUID(game.id))


def test_cards_are_passed_when_the_last_seat_has_chosen(circle: Circle) -> None:
    game = circle(preset="solo", pass_cycle=["left"], pass_count=2)
    assert (turns(game), game.view("N")["turn"]["seat"]) == (["N", "E", "S", "W"], None)
    legal = game.view("E")["turn"]["legal"]
    hands = {seat: game.view(seat)["deal"]["hand"] for seat in game.tokens}
    assert legal == [{"choose": 2, "from": hands["E"]}]

    wrong = game.act("E", {"cards": hands["E"][:1]}, action="pass")
    strange = game.act("E", {"cards": [hands["E"][0], hands["N"][0]]}, action="pass")
    twice = game.act("E", {"cards": [hands["E"][0]] * 2}, action="pass")
    for seat in game.tokens:
        answer = game.act(seat, {"cards": hands[seat][:2]}, action="pass", example=seat == "N")
        assert answer.status == 200

    assert (wrong.reason, strange.reason, twice.reason) == ("pass_count_wrong", "not_in_hand", "not_in_hand")
    assert wrong.body["rule"] == {"option": "pass_count", "value": 2, "section": "passing"}
    view = game.view("E")["deal"]
    assert (view["given"], view["received"]) == (hands["E"][:2], hands["N"][:2])
    assert sorted(view["hand"]) == sorted(hands["E"][2:] + hands["N"][:2])
    assert told(game, "E", "pass_sealed") == [
        {"kind": "pass", "count": 2, **({"cards": hands["E"][:2]} if seat == "E" else {})} for seat in game.tokens
    ]
    known = {"N": hands["N"][:2], "E": hands["E"][:2]}
    ring = list(zip("NESW", "ESWN", strict=True))
    assert told(game, "E", "cards_passed") == [
        {"kind": "pass", "from": giver, "to": taker, "count": 2, "cards": known.get(giver)} for giver, taker in ring
    ]
    assert_rebuilds(UUID(game.id))


def test_a_redeal_begins_the_same_deal_again_from_the_seed_that_was_promised(circle: Circle) -> None:
    poor = [f"{rank}S" for rank in RANKS if rank != "A"]
    game = circle(preset="solo", removed_cards=poor, redeal="no_spades", blind_nil="off")
    callers = [seat for seat in game.tokens if game.view(seat)["deal"]["redeal_available"]]
    assert len(callers) == 3  # all but the holder of the ace
    (holder,) = set(game.tokens) - set(callers)
    promised = told(game, holder, "deal_started")[0]["next_commitment"]

    refused = game.act(holder, {}, action="redeal")
    called = game.act(callers[0], {}, action="redeal", example=True, headers={"Idempotency-Key": "another-deal"})

    assert (refused.status, refused.reason) == (409, "redeal_not_allowed")
    assert called.status == 200
    assert (called.body["deal"]["number"], called.body["deal"]["attempt"]) == (1, 2)
    assert told(game, holder, "redeal_called") == [{"attempt": 1}]
    first, second = told(game, holder, "deal_started")
    assert (second["dealer"], second["commitment"]) == (first["dealer"], promised)
    assert second["next_commitment"] not in (promised, first["commitment"])
    assert told(game, holder, "deal_revealed") == []
    listed = game.api.get(game.url("deals"), token=game.tokens[holder]).body["items"]
    assert [(deal["number"], deal["attempt"], deal["commitment"]) for deal in listed] == [(1, 2, promised)]
    caller = next(seat for seat in game.tokens if game.view(seat)["deal"]["redeal_available"])
    assert game.act(caller, {}, action="redeal").status == 200
    (turn,) = turns(game)
    assert game.act(turn, {"kind": "number", "tricks": 1}).status == 200
    assert not any(game.view(seat)["deal"]["redeal_available"] for seat in game.tokens)
    again = game.act(callers[0], {}, action="redeal", headers={"Idempotency-Key": "another-deal"})
    assert (again.content, again.headers["idempotency-replayed"]) == (called.content, "true")
    assert_rebuilds(UUID(game.id))


def test_a_proposal_is_answered_or_sent_back(circle: Circle) -> None:
    game = circle(preset="hoyle_partners", blind_nil="off")
    (first,) = turns(game)
    partner = {"N": "S", "S": "N", "E": "W", "W": "E"}[first]
    assert game.view(first)["turn"]["action"] == "propose_bid"

    game.act(first, {**NUMBER, "hint_max": 5})

    rows = {row["seat"]: row for row in game.view(partner)["seats"]}
    assert (rows[first]["bid"], rows[first]["proposal"]) == (None, {**NUMBER, "hint_max": 5})
    assert (turns(game), game.view(partner)["turn"]["action"]) == ([partner], "bid")
    assert {"kind": "reconsider"} in game.view(partner)["turn"]["legal"]
    assert game.act(partner, {"kind": "reconsider"}).status == 200
    assert turns(game) == [first]
    game.act(first, {"kind": "number", "tricks": 5})
    again = game.act(partner, {"kind": "reconsider"})
    assert (again.status, again.reason) == (409, "wrong_phase")
    closed = game.act(partner, NUMBER).body
    assert [row["bid"] for row in closed["seats"] if row["seat"] in (first, partner)].count(NUMBER) == 1
    assert [side["contract_tricks"] for side in closed["sides"] if first in side["side"]] == [8]
    assert [event["bid"] for event in told(game, first, "bid_placed")] == [{"kind": "number", "tricks": 5}, NUMBER]
    assert_rebuilds(UUID(game.id))


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"kind": "reconsider", "tricks": 3}, "/tricks"),
        ({"kind": "reconsider", "hint_max": 3}, "/hint_max"),
        ({**NUMBER, "hint_max": "5"}, "/hint_max"),
        ({**NUMBER, "hint_max": 55}, "/hint_max"),
    ],
)
def test_a_hint_or_a_return_that_is_none_is_malformed(circle: Circle, body: dict[str, Any], pointer: str) -> None:
    game = circle(preset="hoyle_partners", blind_nil="off")

    refused = game.act(turns(game)[0], body, bad=True)

    assert (refused.status, refused.reason) == (400, "malformed")
    assert [error["pointer"] for error in refused.body["errors"]] == [pointer]


def test_sealed_bids_are_shown_when_the_last_is_in(circle: Circle) -> None:
    game = circle(preset="solo", bid_order="simultaneous", blind_nil="off")
    bids = {"W": NUMBER, "N": {"kind": "nil"}, "S": {"kind": "number", "tricks": 2}}

    for seat, bid in bids.items():
        assert game.act(seat, bid).status == 200
    view, other = game.view("N"), game.view("E")
    done = game.act("E", NUMBER).body

    assert [row["bid"] for row in view["seats"]] == [{"kind": "nil"}, None, "hidden", "hidden"]
    assert [row["bid"] for row in other["seats"]] == ["hidden", None, "hidden", "hidden"]
    assert view["turn"]["seats"] == ["E"]
    assert told(game, "N", "bid_sealed") == [{}, {"bid": {"kind": "nil"}}, {}, {}]
    assert [row["bid"] for row in done["seats"]] == [{"kind": "nil"}, NUMBER, bids["S"], NUMBER]
    assert len(told(game, "N", "bid_placed")) == 4
    assert_rebuilds(UUID(game.id))


def test_a_nil_bidder_and_the_partner_exchange_cards(circle: Circle) -> None:
    game = circle(preset="standard", nil_exchange=2, blind_nil="off")
    (seat,) = turns(game)
    order = ["N", "E", "S", "W"]
    order = order[order.index(seat) :] + order[: order.index(seat)]
    for place, name in enumerate(order):
        game.act(name, {"kind": "nil"} if place == 0 else NUMBER)
    nil, partner = order[0], order[2]
    assert (turns(game), game.view(nil)["turn"]["action"]) == ([nil], "give_cards")
    given = game.view(nil)["deal"]["hand"][:2]
    returned = game.view(partner)["deal"]["hand"][:2]

    after = game.act(nil, {"cards": given}, action="pass").body
    seen = game.view(partner)["deal"]
    game.act(partner, {"cards": returned}, action="pass")

    assert (after["deal"]["given"], after["deal"]["received"], len(after["deal"]["hand"])) == (given, [], 11)
    assert (seen["received"], len(seen["hand"])) == (given, 15)
    view = game.view(nil)
    assert (view["deal"]["received"], view["deal"]["phase"], view["turn"]["seats"]) == (returned, "playing", [nil])
    hidden = [event["cards"] for event in told(game, order[1], "cards_passed")]
    assert hidden == [None, None]
    assert_rebuilds(UUID(game.id))


def test_bots_bid_beside_a_person_whose_sealed_bid_is_not_in(api: ApiClient, person: Callable[..., Person]) -> None:
    ann = person("Ann")
    bots = [{"kind": "bot", "bot": "random"}] * 3
    body = {
        "ruleset": {"preset": "solo", "bid_order": "simultaneous", "blind_nil": "off"},
        "seats": [{"kind": "human"}, *bots],
    }

    made = api.post("/v1/games", json=body, token=ann.token).body["game"]

    assert (made["turn"]["seats"], made["turn"]["seat"]) == (["N", "E", "S", "W"], None)
    (row,) = rows_of(made["id"])["game"]
    assert row["turn_seat"] == "E"
    assert row["bot_due_at"] is not None
