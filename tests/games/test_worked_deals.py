"""The worked cases over HTTP: every seat bids and plays deals that were set, and the table comes to what was worked."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from spades import Bid, Card, Ruleset
from spades.terms import terms
from tests import worked_deals
from tests.client import ApiClient
from tests.games.conftest import Person
from tests.games.test_sandbox import MakePerson
from tests.worked_deals import read_bid

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = {case["id"]: case for case in json.loads((GOLDEN / "scoring.json").read_text(encoding="utf-8"))}
DEALS = json.loads((GOLDEN / "deals.json").read_text(encoding="utf-8"))
ROUTES = {"decision": "draws", "look": "looks", "cards": "passes", "card": "plays"}


class Played:
    """A sandbox table that one account plays in every seat."""

    def __init__(self, api: ApiClient, host: Person, ruleset: dict[str, Any], deals: list[dict[str, Any]]) -> None:
        self.api, self.host = api, host
        script = [{"dealer": deal["dealer"], "stock": deal["stock"].split()} for deal in deals]
        players = Ruleset.resolve(ruleset).players
        people = [{"kind": "human", "name": f"Player {place}"} for place in range(players)]
        body = {"ruleset": ruleset, "seats": people, "hot_seat": True, "sandbox": {"deals": script}}
        made = api.post("/v1/games", json=body, token=host.token)
        assert made.status == 201, made.content
        self.view = made.body["game"]
        self.url = f"/v1/games/{self.view['id']}"
        self.tokens = {row["seat"]: row["token"] for row in made.body["seats"]}
        self.first = made.body["seats"][0]["seat"]

    def own(self, seat: str) -> dict[str, Any]:
        """The view of a seat."""
        view: dict[str, Any] = self.api.get(self.url, token=self.tokens[seat]).body
        return view

    def act(self, seat: str, body: dict[str, Any]) -> None:
        route = next((route for name, route in ROUTES.items() if name in body), "bids")
        answer = self.api.post(f"{self.url}/{route}", json=body, token=self.tokens[seat])
        assert answer.status == 200, (seat, body, answer.content)
        self.view = answer.body

    def play(self, deal: dict[str, Any]) -> None:
        """Bid and play a whole deal as it was found."""
        number, passes, plays = self.view["deal"]["number"], list(deal["passes"]), deal["plays"].split()
        while self.view["deal"]["phase"] != "playing":
            seat = self.view["turn"]["seat"]
            bid = deal["bids"].get(seat)
            body = worked_deals.next_step(self.own(seat)["turn"]["legal"], bid and Bid.parse(bid))
            if "choose" in body:
                giver, cards = passes.pop(0)
                assert giver == seat
                body = {"cards": cards.split()}
            self.act(seat, body)
        for card in plays:
            assert self.view["deal"]["number"] == number
            self.act(self.view["turn"]["seat"], {"card": card})

    def events(self, kind: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        after: str | None = "0"
        while after is not None:
            page = self.api.get(f"{self.url}/events?after={after}&limit=500", token=self.tokens[self.first]).body
            items += page["items"]
            after = page["next"]
        return [event["data"] for event in items if event["type"] == kind]


def standing(view: dict[str, Any], name: str) -> dict[str, int]:
    return {row["side"]: row[name] for row in view["sides"]}


@pytest.mark.django_db
@pytest.mark.parametrize("case_id", DEALS)
def test_a_deal_comes_to_its_worked_score(api: ApiClient, person: MakePerson, case_id: str) -> None:
    case, deals = CASES[case_id], DEALS[case_id]
    before, expected, ending = case["before"], case["expected"], case["game"]
    game = Played(api, person("Ann"), {"preset": case["preset"], **case["options_overrides"]}, deals)
    for deal in deals[:-1]:
        game.play(deal)
    assert standing(game.view, "score") == before["scores"]
    assert standing(game.view, "bags") == before["bags"]

    game.play(deals[-1])

    scored = game.events("deal_scored")[-1]
    assert scored["tricks"] == case["hands"]["tricks"]
    assert scored["bids"] == {seat: bid.to_json() for seat, bid in worked_deals.bids_of(case).items()}
    for side, numbers in expected.items():
        assert {name: scored["sides"][side][name] for name in numbers} == numbers
    assert standing(game.view, "score") == {side: numbers["score"] for side, numbers in expected.items()}
    assert standing(game.view, "bags") == {side: numbers["bags"] for side, numbers in expected.items()}
    result = game.view["result"]
    if not ending["over"]:
        assert (game.view["status"], result) == ("active", None)
        assert scored["game"] == {"over": False, "winners": [], "reason": None}
        return
    assert game.view["status"] == "finished"
    assert (result["winners"], result["reason"]) == ([ending["winner"]], ending["reason"])
    assert game.events("game_finished") == [result]
    assert result["scores"] == standing(game.view, "score")


def test_every_worked_first_deal_of_a_game_is_played() -> None:
    first = {
        case["id"]
        for case in CASES.values()
        if case["preset"] in worked_deals.PRESETS and worked_deals.from_nothing(case)
    }

    assert set(DEALS) == first | set(worked_deals.FROM_A_SCORE)
    assert {CASES[case_id]["preset"] for case_id in DEALS} == set(worked_deals.PRESETS)


# What may be bid, who leads, and what may be led, where a case tells a whole deal up to there.

PLAY = json.loads((GOLDEN / "play.json").read_text(encoding="utf-8"))


def fits(case: dict[str, Any]) -> bool:
    """Whether the first deal of a game can come to the case: no scores, whole hands, and somebody who bids."""
    if case["kind"] == "bid":
        return "scores" not in case and case["preset"] != "mirror"
    if case["kind"] == "leader":
        return case["trick_no"] == 1
    return case["kind"] == "legality" and case["trick_no"] == 1 and not case["trick"] and len(case["hand"]) == 13


def opening(case: dict[str, Any]) -> dict[str, Any]:
    """A scripted deal for the case, whose dealer sits so that those who have bid bid first."""
    ruleset = worked_deals.ruleset_of(case)
    facts = terms(ruleset)
    seats = facts.table.seats
    first = next(iter(case.get("bids_so_far") or ()), case.get("seat"))
    dealer = case.get("dealer") or seats[seats.index(first) - 1]
    own = case.get("seat", seats[0])
    cards = [Card.parse(code) for code in case.get("hand", ())]
    hands = {seat: cards if seat == own else [] for seat in seats}
    rest = [card.first for card in facts.pack.deck if card.first not in cards]
    random.Random(case["id"]).shuffle(rest)
    if (holder := case.get("holder_of_lowest_club")) is not None:
        lowest = min(rest)
        rest.remove(lowest)
        hands[holder] = [lowest]
    dealt = {seat: [*hand, *(rest.pop() for _ in range(ruleset.hand_size - len(hand)))] for seat, hand in hands.items()}
    stock = worked_deals.stock_of(ruleset, dealer, dealt)
    return {"dealer": dealer, "stock": " ".join(card.code for card in stock)}


@pytest.mark.django_db
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in PLAY if fits(case)])
def test_a_table_comes_to_a_worked_bid_leader_or_lead(api: ApiClient, person: MakePerson, case: dict[str, Any]) -> None:
    told = {**case.get("bids_so_far", {}), **case.get("bids", {})}
    ruleset = {"preset": case["preset"], **case["options_overrides"]}
    game = Played(api, person("Ann"), ruleset, [opening(case)])

    while game.view["deal"]["phase"] != "playing":
        seat = game.view["turn"]["seat"]
        legal = game.own(seat)["turn"]["legal"]
        if case["kind"] == "bid" and seat == case["seat"] and "kind" in legal[0]:
            bids = [bid["kind"] if bid["kind"] == "nil" else bid["tricks"] for bid in legal]
            assert bids == case["expected"]["legal_bids"]
            return
        bid = told.get(seat, legal[-1].get("tricks") and 1)
        game.act(seat, worked_deals.next_step(legal, None if bid is None else read_bid(bid)))

    assert case["kind"] != "bid"
    leader = case["expected"].get("leader", case.get("leader"))
    assert (game.view["turn"]["seat"], game.view["deal"]["trick"]["leader"]) == (leader, leader)
    if case["kind"] == "legality":
        legal = game.own(leader)["turn"]["legal"]
        assert {body["card"] for body in legal} == set(case["expected"]["legal"])
