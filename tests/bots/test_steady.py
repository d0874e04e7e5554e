"""What `steady` does where a person would say what is right, in views made by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bots.arena import play_match
from bots.player import bot
from spades import PRESETS, Card, Ruleset

OPTIONS = Ruleset.resolve({"preset": "two_player"}).options()
DECK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]


def a_view(hand: str, theirs: str, *, scores: tuple[int, int] = (0, 0), **changes: Any) -> dict[str, Any]:
    """The view of seat A, which is on turn, when B holds `theirs` and every other card lies in the discard pile."""
    mine, other = hand.split(), theirs.split()
    gone = [card for card in DECK if card not in mine and card not in other and card not in changes.get("played", "")]
    bids, tricks = changes.get("bids", (None, None)), changes.get("tricks", (0, 0))
    trick = [{"seat": "B", "card": card} for card in changes.get("trick", "").split()]
    action = changes.get("action", "play")
    draw = {"stock_count": 0, "looked_at": changes.get("looked_at"), "discards": [_discard(card) for card in gone]}
    counts = (len(mine), len(other) - len(trick))
    return {
        "ruleset": OPTIONS,
        "viewer": {"role": "seat", "seat": "A"},
        "seats": [
            {"seat": seat, "side": seat, "card_count": counts[place], "bid": bids[place], "tricks": tricks[place]}
            for place, seat in enumerate("AB")
        ],
        "sides": [
            {"side": seat, "score": scores[place], "bags": changes.get("bags", 0)} for place, seat in enumerate("AB")
        ],
        "deal": {
            "dealer": "B",
            "hand": sorted(mine, key=Card.parse),
            "draw": draw,
            "trick": {"leader": "B" if trick else "A", "cards": trick} if action == "play" else None,
            "last_trick": None,
            "spades_broken": changes.get("broken", True),
        },
        "turn": {"seat": "A", "action": action, "legal": _legal(action, mine, trick)},
    }


def _discard(card: str) -> dict[str, Any]:
    return {"seat": "A", "card": card}


def _legal(action: str, hand: list[str], trick: list[dict[str, str]]) -> list[dict[str, Any]]:
    if action == "draw":
        return [{"decision": "keep"}, {"decision": "decline"}]
    if action == "bid":
        return [{"kind": "nil"}, *({"kind": "number", "tricks": tricks} for tricks in range(1, 14))]
    following = [card for card in hand if trick and card[1] == trick[0]["card"][1]]
    return [{"card": card} for card in following or hand]


def number(tricks: int) -> dict[str, Any]:
    return {"kind": "number", "tricks": tricks}


def answer(view: dict[str, Any]) -> dict[str, Any]:
    return bot("steady").choose(view, random.Random(1))


@pytest.mark.parametrize(("card", "decision"), [("AS", "keep"), ("2S", "keep"), ("AH", "keep"), ("2C", "decline")])
def test_the_first_card_is_kept_if_it_is_better_than_most(card: str, decision: str) -> None:
    everything = " ".join(other for other in DECK if other != card)
    view = a_view("", everything, action="draw", looked_at=card)

    assert answer(view) == {"decision": decision}


def test_a_middling_card_is_kept_once_the_better_ones_are_gone() -> None:
    high = [card for card in DECK if card[1] == "S" or card[0] in "AKQ"]
    low = " ".join(card for card in DECK if card not in high and card != "JH")

    assert answer(a_view("", " ".join(DECK), action="draw", looked_at="JH")) == {"decision": "decline"}
    assert answer(a_view("", low + " JH", action="draw", looked_at="JH")) == {"decision": "keep"}


SOLID = "AS KS QS JS TS 9S AH KH QH AD KD AC KC"
WEAK = "2S 3S 4H 5H 6H 7H 4D 5D 6D 7D 4C 5C 6C"


def test_a_hand_that_takes_every_trick_bids_the_moon_and_another_never() -> None:
    assert answer(a_view(SOLID, WEAK, action="bid")) == number(13)
    assert answer(a_view(SOLID.replace("AS", "8S"), WEAK.replace("2S", "AS"), action="bid")) in (number(11), number(12))


def test_a_hand_without_a_trick_bids_nil_once_the_other_side_is_bound() -> None:
    bound = a_view("2S 2H 3H 4H 5H 2D 3D 4D 5D 2C 3C 4C 5C", SOLID, action="bid", bids=(None, number(9)))
    free = a_view("2S 2H 3H 4H 5H 2D 3D 4D 5D 2C 3C 4C 5C", SOLID, action="bid")

    assert answer(bound) == {"kind": "nil"}
    assert answer(free) == number(1)


EVEN = ("AS KS 9S 8S 4S AH 5H 4H KD QD 3D JC 2C", "QS JS TS 3S 2S KH 9H 8H AD TD 9D QC TC")


def test_one_trick_less_is_bid_when_it_wins_the_game() -> None:
    usual = answer(a_view(*EVEN, action="bid"))["tricks"]
    just = 500 - 10 * (usual - 1)

    assert answer(a_view(*EVEN, action="bid", scores=(just, 0))) == number(usual - 1)
    assert answer(a_view(*EVEN, action="bid", scores=(just - 10, 0))) == number(usual)
    assert answer(a_view(*EVEN, action="bid", scores=(just, 0), bags=9)) == number(usual)


def follow(bids: tuple[Any, Any], tricks: tuple[int, int]) -> dict[str, Any]:
    """B has led the ten of hearts, and A holds two cards above it and two below."""
    return answer(
        a_view("3H 9H JH KH 2S", "TH 4H 5D 6D 7D", trick="TH", bids=bids, tricks=tricks),
    )


def test_a_trick_that_is_needed_is_taken_with_the_cheapest_card() -> None:
    assert follow((number(5), number(3)), (3, 5)) == {"card": "JH"}


def test_a_trick_that_would_be_a_bag_is_lost_with_the_highest_card() -> None:
    assert follow((number(4), number(3)), (4, 4)) == {"card": "9H"}


def test_a_trick_that_sets_the_other_side_is_taken_though_it_is_a_bag() -> None:
    view = a_view("AH 2H", "TH 3H", trick="TH", bids=(number(4), number(9)), tricks=(4, 7))

    assert answer(view) == {"card": "AH"}


def test_a_nil_stays_below() -> None:
    assert follow(({"kind": "nil"}, number(6)), (0, 8)) == {"card": "9H"}


def test_the_nil_of_the_other_side_is_attacked_from_below() -> None:
    view = a_view("AH 3H AS KS", "4H 5H 6C 7C", bids=(number(3), {"kind": "nil"}), tricks=(2, 0))

    assert answer(view) == {"card": "3H"}


def test_a_decision_takes_less_than_a_millisecond() -> None:
    seconds: dict[str, list[float]] = {"steady": []}

    play_match(PRESETS["two_player"].ruleset, {"A": bot("steady"), "B": bot("steady")}, 1, seconds)

    assert sum(seconds["steady"]) / len(seconds["steady"]) < 0.001
