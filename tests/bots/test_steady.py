"""What `steady` does where a person would say what is right, in views made by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bots.arena import play_match
from bots.player import bot
from spades import PRESETS, Bid, Card, Ruleset

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
            {
                "seat": seat,
                "side": seat,
                "card_count": counts[place],
                "bid": bids[place],
                "proposal": None,
                "tricks": tricks[place],
            }
            for place, seat in enumerate("AB")
        ],
        "sides": [
            {"side": seat, "score": scores[place], "bags": changes.get("bags", 0)} for place, seat in enumerate("AB")
        ],
        "deal": {
            "dealer": "B",
            "hand": sorted(mine, key=Card.parse),
            "hand_seen": True,
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


# With a partner. South is on turn, North is its partner.


def at_table(
    hand: str, action: str = "play", legal: list[dict[str, Any]] | None = None, **changes: Any
) -> dict[str, Any]:
    """What South does: `bids` and `tricks` by N E S W, `trick` as ``"W:KH N:2H"``, `options` of the ruleset."""
    ruleset = Ruleset.resolve({"preset": "standard", **changes.get("options", {})})
    mine = sorted(hand.split(), key=Card.parse)
    bids = changes.get("bids", (None,) * 4)
    tricks = changes.get("tricks", (0, 0, 0, 0))
    scores, bags = changes.get("scores", (0, 0)), changes.get("bags", 0)
    trick = [dict(zip(("seat", "card"), played.split(":"), strict=True)) for played in changes.get("trick", "").split()]
    played = {card["seat"] for card in trick}
    following = [card for card in mine if trick and card[1] == trick[0]["card"][1]]
    view = {
        "ruleset": ruleset.options(),
        "viewer": {"role": "seat", "seat": "S"},
        "seats": [
            {
                "seat": seat,
                "side": "NS" if seat in "NS" else "EW",
                "card_count": len(mine) - (seat in played),
                "bid": bids[place] if bids[place] is None else Bid.parse(bids[place]).to_json(),
                "proposal": None,
                "tricks": tricks[place],
            }
            for place, seat in enumerate("NESW")
        ],
        "sides": [{"side": "NS", "score": scores[0], "bags": bags}, {"side": "EW", "score": scores[1], "bags": 0}],
        "deal": {
            "dealer": changes.get("dealer", "S"),
            "hand": None if action == "look" else mine,
            "hand_seen": action != "look",
            "draw": None,
            "trick": {"leader": trick[0]["seat"] if trick else "S", "cards": trick} if action == "play" else None,
            "last_trick": None,
            "spades_broken": True,
        },
        "turn": {"seat": "S", "action": action, "legal": legal or [{"card": card} for card in following or mine]},
    }
    return answer(view)


ALL_BIDS = [{"kind": "nil"}, *(number(tricks) for tricks in range(1, 14))]
STRONG = "AS KS QS 7S AH KH 4H AD KD 3D AC 9C 2C"
BARE = "2S 2H 3H 5H 6H 2D 3D 5D 7D 2C 3C 5C 6C"


def test_a_strong_hand_bids_what_it_takes_and_a_bare_one_nil() -> None:
    assert at_table(STRONG, "bid", ALL_BIDS) in [number(tricks) for tricks in (7, 8, 9)]
    assert at_table(BARE, "bid", ALL_BIDS) == {"kind": "nil"}
    assert at_table(BARE, "bid", ALL_BIDS[1:]) == number(1)


def test_the_only_bid_there_is_is_made() -> None:
    assert at_table(STRONG, "bid", [{"kind": "nil"}]) == {"kind": "nil"}


def test_a_contract_that_wins_with_one_trick_less_is_bid_with_one_less() -> None:
    usual = at_table(STRONG, "bid", ALL_BIDS, bids=("3", "3", None, "1"))["tricks"]
    just = 500 - 10 * (3 + usual - 1)

    assert at_table(STRONG, "bid", ALL_BIDS, bids=("3", "3", None, "1"), scores=(just, 0)) == number(usual - 1)


LOOK = [{"look": True}, {"kind": "blind_nil"}]


@pytest.mark.parametrize(
    ("scores", "bids", "blind"),
    [
        ((0, 0), (None,) * 4, False),
        ((300, 450), (None,) * 4, False),
        ((100, 300), (None,) * 4, False),
        ((200, 450), (None,) * 4, True),
        ((200, 450), ("blind_nil", None, None, None), False),
    ],
)
def test_blind_nil_is_bid_only_as_the_last_hope(scores: tuple[int, int], bids: Any, blind: bool) -> None:
    assert at_table("", "look", LOOK, scores=scores, bids=bids) == ({"kind": "blind_nil"} if blind else {"look": True})


def test_blind_numbers_of_a_side_that_may_not_look_are_a_fair_share() -> None:
    blind = [{"kind": "blind", "tricks": tricks} for tricks in range(1, 14)]

    assert at_table("", "look", blind) == {"kind": "blind", "tricks": 3}


def play(hand: str, trick: str, bids: tuple[str, ...], tricks: tuple[int, ...] = (3, 2, 2, 2), **changes: Any) -> str:
    card: str = at_table(hand, trick=trick, bids=bids, tricks=tricks, **changes)["card"]
    return card


PLAIN = ("4", "3", "3", "2")


def test_a_partners_trick_is_left_to_it() -> None:
    assert play("AH KH 3H 2S", "N:QH E:2H", PLAIN) == "3H"
    assert play("AH KH 3H 2S", "N:5H E:2H", PLAIN) == "KH"  # which the last seat may beat
    assert play("KS 3S 4C 4D", "N:AS E:2S", PLAIN) == "3S"
    assert play("KH 3H 2S 4C", "W:4H N:AH E:2H", PLAIN) == "3H"


def test_the_last_seat_wins_as_cheaply_as_it_can() -> None:
    assert play("AH JH 3H 2S", "W:TH N:2H E:4H", PLAIN) == "JH"
    assert play("9S 5S 3D 4C", "W:TH N:2H E:4H", PLAIN) == "5S"


def test_a_card_that_cannot_win_is_the_lowest() -> None:
    assert play("JH 9H 3H 2S", "W:AH N:2H E:4H", PLAIN) == "3H"


NORTH_NIL = ("nil", "4", "4", "3")


def test_a_partners_nil_is_covered_from_above() -> None:
    assert play("KH 9H 3H 2S", "W:4H N:8H E:5H", NORTH_NIL, tricks=(0, 4, 3, 2)) == "9H"  # the nil would win
    assert play("AH QH 3H 2S", "E:5H", NORTH_NIL, tricks=(0, 4, 3, 2)) == "AH"  # the nil is still to play
    assert play("AH 6H 5C 4C 3C", "", NORTH_NIL, tricks=(0, 4, 3, 2)) == "AH"  # and so it is when we lead
    assert play("9S 5S 3D 4C", "W:4H N:8H E:5H", NORTH_NIL, tricks=(0, 4, 3, 2)) == "5S"


def test_a_partners_nil_that_is_safe_is_no_reason_to_win() -> None:
    assert play("AH 9H 3H 2S", "W:TH N:8H E:5H", ("nil", "2", "4", "2"), tricks=(0, 3, 5, 1)) == "9H"


WEST_NIL = ("3", "4", "3", "nil")


def test_another_sides_nil_is_attacked_from_below_while_the_contract_allows_it() -> None:
    assert play("AH 3H AS KS", "", WEST_NIL, tricks=(3, 3, 3, 0)) == "3H"
    assert play("QH 3H AS KS", "W:4H N:2H E:2D", WEST_NIL, tricks=(3, 3, 2, 0)) == "3H"
    assert play("AH 3H", "W:4H N:2H E:2D", WEST_NIL, tricks=(2, 5, 2, 0)) == "AH"


def test_ones_own_nil_loses_with_the_highest_card_that_can() -> None:
    assert play("KH 9H 3H 2S", "W:TH N:2H E:4H", ("4", "4", "nil", "3")) == "9H"
    assert play("AS KD 3D 2C", "W:TH N:2H E:4H", ("4", "4", "nil", "3")) != "AS"


def test_bags_are_ducked_once_the_contract_is_made() -> None:
    assert play("KH 9H 3H 2S", "W:TH N:2H E:4H", PLAIN, tricks=(4, 3, 3, 2)) == "9H"


def test_a_bag_is_taken_where_it_sets_the_others() -> None:
    assert play("AH 2H", "W:TH N:3H E:4H", ("4", "6", "3", "2"), tricks=(4, 4, 3, 2)) == "AH"


def test_a_trick_after_a_broken_nil_is_left_to_the_partner() -> None:
    hands = {"bids": ("4", "3", "nil", "2"), "tricks": (1, 2, 1, 2)}

    assert play("KH 9H 3H 2S", "W:TH N:2H E:4H", **hands) == "9H"
    helping = {"options": {"failed_nil_tricks": "help_partner"}}
    assert play("KH 9H 3H 2S", "W:TH N:2H E:4H", **hands, **helping) == "KH"


def test_when_winning_hangs_on_it_no_bag_is_too_dear() -> None:
    even = {"bids": ("4", "3", "3", "3"), "tricks": (4, 2, 3, 3), "bags": 8}

    assert play("KH 9H", "W:TH N:2H E:4H", **even, scores=(0, 430)) == "KH"


def give(hand: str, bids: tuple[Any, ...]) -> set[str]:
    request = [{"choose": 2, "from": hand.split()}]
    return set(at_table(hand, "give_cards", request, bids=bids)["cards"])


def test_a_nil_gives_its_dangerous_cards_and_gets_low_ones() -> None:
    assert give("AS KS 3S 9H 3H 2H 8D 3D 2D 7C 4C 3C 2C", ("4", "4", "nil", "3")) == {"AS", "KS"}
    assert give("AH KD 9S 4S 2S 2H 3D QC JC TC 9C 8C 7C", ("nil", "4", "4", "3")) == {"2H", "3D"}


def test_cards_passed_on_are_the_cheapest_of_the_shortest_suits() -> None:
    request = [{"choose": 2, "from": []}]
    hand = "AS KS 3S AH KH 9H 8H 4D 2D AC QC JC TC"

    assert set(at_table(hand, "pass", request)["cards"]) == {"2D", "4D"}


def test_what_the_bot_does_not_know_is_said() -> None:
    with pytest.raises(ValueError, match="asked to sing"):
        at_table(BARE, "sing", [{"song": 1}])
