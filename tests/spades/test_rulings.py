"""Single questions: what is answered beyond the worked cases, and situations that no table could have."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import Bid, Card, DrawDecision, Reason, Ruleset, Seed
from spades.deal import Phase
from spades.rulings import (
    SituationError,
    rule_on_bid,
    rule_on_cards,
    rule_on_draws,
    rule_on_leader,
    rule_on_play,
    rule_on_trick,
)
from spades.terms import terms
from tests.spades.playing import opening, play_on, random_ruleset

KEEP, DECLINE = DrawDecision.KEEP, DrawDecision.DECLINE
STANDARD = Ruleset.resolve({})
TWO = Ruleset.resolve({"preset": "two_player"})
STOCK = Seed(bytes(32)).shuffled(terms(TWO).pack.deck)


def cards(text: str) -> list[Card]:
    return [Card.parse(code) for code in text.split()]


def trick(text: str) -> list[tuple[str, Card]]:
    """Cards with their seats, such as ``N:KH E:4H``."""
    return [(seat, Card.parse(code)) for seat, code in (played.split(":") for played in text.split())]


def problems(ask: Any, *args: Any, **kwargs: Any) -> list[tuple[str, str]]:
    """Where something is wrong, and the reason."""
    with pytest.raises(SituationError) as refused:
        ask(*args, **kwargs)
    assert all(problem.detail.endswith(".") for problem in refused.value.problems)
    assert all(problem.detail in str(refused.value) for problem in refused.value.problems)
    return [("/".join(map(str, problem.where)), problem.reason) for problem in refused.value.problems]


PLAY: dict[str, Any] = {"trick_number": 2, "spades_broken": False}


def test_out_of_turn_every_card_is_refused() -> None:
    ruling = rule_on_play(STANDARD, "W", cards("AS 2C"), trick("N:KH E:4H"), **PLAY, card=Card.parse("9D"))

    assert ruling.legal == ()
    assert {code: refusal.reason.value for code, refusal in ruling.refused.items()} == {
        "2C": "not_your_turn",
        "AS": "not_your_turn",
        "9D": "not_your_turn",
    }
    assert ruling.refused["AS"].detail == "It is the turn of seat S, not of seat W."


def test_a_seat_may_not_lead_in_place_of_the_leader() -> None:
    assert rule_on_play(STANDARD, "W", cards("2C"), [], **PLAY, leader="W").legal == tuple(cards("2C"))
    assert rule_on_play(STANDARD, "W", cards("2C"), [], **PLAY).legal == tuple(cards("2C"))
    assert rule_on_play(STANDARD, "W", cards("2C"), [], **PLAY, leader="N").legal == ()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"seat": "A"}, [("seat", "not_allowed")]),
        ({"leader": "A"}, [("leader", "not_allowed")]),
        ({"leader": "E"}, [("trick/0/seat", "not_allowed")]),
        ({"trick": trick("E:KH S:4H"), "leader": "N"}, [("trick/1/seat", "not_allowed")]),
        ({"trick": trick("E:KH E:4H"), "leader": "E"}, [("trick/1/seat", "not_allowed")]),
        ({"trick": trick("A:KH N:4H"), "leader": "N"}, [("trick/0/seat", "not_allowed")]),
        ({"trick_number": 14}, [("trick_number", "out_of_range")]),
        ({"trick": trick("N:KH S:4H")}, [("trick/1/seat", "not_allowed")]),
        ({"trick": trick("N:KH N:4H")}, [("trick/1/seat", "not_allowed")]),
        ({"trick": trick("A:KH N:4H")}, [("trick/0/seat", "not_allowed")]),
        ({"trick": trick("N:KH E:LJ")}, [("trick/1/card", "not_allowed")]),
        ({"trick": trick("N:KH E:KH")}, [("trick/1/card", "not_allowed")]),
        ({"trick": trick("N:KH E:2H S:3H W:4H")}, [("trick", "wrong_length")]),
        ({"hand": cards("AS AS")}, [("hand/1", "not_allowed")]),
        ({"hand": cards("AS KH BJ")}, [("hand/1", "not_allowed"), ("hand/2", "not_allowed")]),
        ({"hand": cards("2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC 2D")}, [("hand", "wrong_length")]),
        ({"lowest_club_in_deck": Card.parse("3C")}, [("lowest_club_in_deck", "not_allowed")]),
        (
            {"seat": "B", "trick_number": 0, "hand": cards("LJ")},
            [("seat", "not_allowed"), ("trick_number", "out_of_range"), ("hand/0", "not_allowed")],
        ),
    ],
    ids=str,
)
def test_a_play_that_no_table_could_have_is_refused_with_all_that_is_wrong(change, found) -> None:
    told = {"seat": "S", "hand": cards("AS"), "trick": trick("N:KH E:2H")[:1], **PLAY} | change

    assert problems(rule_on_play, STANDARD, **told) == found


def test_where_the_leader_is_told_cards_come_in_any_order() -> None:
    hand = cards("4H 2C")

    ruling = rule_on_play(STANDARD, "W", hand, trick("S:3C N:KH E:AH"), **PLAY, leader="N")
    taken = rule_on_trick(STANDARD, trick("S:3C N:KH W:4H E:AH"), spades_broken=False, leader="N")

    assert ruling.legal == tuple(cards("4H"))
    assert (taken.winner, taken.led_suit.value) == ("E", "H")
    led_by_south = rule_on_trick(STANDARD, trick("S:3C N:KH W:4H E:AH"), spades_broken=False, leader="S")
    assert (led_by_south.winner, led_by_south.led_suit.value) == ("S", "C")


def test_cards_of_two_packs_may_come_twice_and_not_thrice() -> None:
    two = Ruleset.resolve(
        {"preset": "six_solo", "decks": 2, "duplicate_winner": "first", "removed_cards": ["2C", "2C"]}
    )
    assert len(terms(two).pack.deck) == 102

    ruling = rule_on_play(two, "A", cards("4H AS 3H"), trick("F:AS"), trick_number=1, spades_broken=False)

    assert problems(rule_on_play, two, "A", cards("AS 4H AS"), trick("F:AS"), **PLAY) == [("hand/2", "not_allowed")]
    assert problems(rule_on_cards, two, cards("2C"), [], **PLAY) == [("hand/0", "not_allowed")]
    assert ruling.legal == tuple(cards("AS"))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"trick": trick("N:KH E:4H S:3H")}, [("trick", "wrong_length")]),
        ({"trick": trick("N:KH E:4H S:3H W:2H N:5H")}, [("trick", "wrong_length")]),
        ({"trick": trick("N:KH W:4H S:3H E:2H")}, [("trick/1/seat", "not_allowed"), ("trick/3/seat", "not_allowed")]),
        ({"trick": trick("N:KH E:4H S:3H W:KH")}, [("trick/3/card", "not_allowed")]),
        ({"trick_number": 14}, [("trick_number", "out_of_range")]),
    ],
    ids=str,
)
def test_a_trick_that_no_table_could_have_is_refused(change, found) -> None:
    told = {"trick": trick("N:KH E:4H S:3H W:2H"), "spades_broken": False} | change

    assert problems(rule_on_trick, STANDARD, **told) == found


CLUBS = Ruleset.resolve({"first_lead": "2C"})
HIGH = Ruleset.resolve({"first_leader": "high_bidder"})
THREES = {seat: Bid.number(3) for seat in "NESW"}


@pytest.mark.parametrize(
    ("ruleset", "told", "found"),
    [
        (STANDARD, {"trick_number": 2}, [("last_winner", "missing")]),
        (CLUBS, {"trick_number": 1}, [("holder_of_lowest_club", "missing")]),
        (HIGH, {"trick_number": 1}, [("bids", "missing")]),
        (HIGH, {"trick_number": 1, "bids": {}}, [(f"bids/{seat}", "missing") for seat in "NESW"]),
        (
            HIGH,
            {"trick_number": 1, "bids": {"N": Bid.number(5), "E": Bid.nil(), "W": Bid.number(2)}},
            [("bids/S", "missing")],
        ),
        (HIGH, {"trick_number": 1, "bids": {**THREES, "A": Bid.number(3)}}, [("bids/A", "unknown")]),
        (HIGH, {"trick_number": 1, "bids": {**THREES, "N": Bid.number(14)}}, [("bids/N", "bid_out_of_range")]),
        (
            STANDARD,
            {"dealer": "C", "trick_number": 14, "last_winner": "A", "holder_of_lowest_club": "B"},
            [
                ("dealer", "not_allowed"),
                ("trick_number", "out_of_range"),
                ("last_winner", "not_allowed"),
                ("holder_of_lowest_club", "not_allowed"),
            ],
        ),
    ],
    ids=str,
)
def test_who_leads_needs_what_it_depends_on(ruleset, told, found) -> None:
    assert problems(rule_on_leader, ruleset, **{"dealer": "N", **told}) == found


def test_a_first_hand_that_bids_itself_has_no_bids_to_tell_the_leader_by() -> None:
    itself = Ruleset.resolve({"first_leader": "high_bidder", "first_hand_bids_itself": True})

    assert rule_on_leader(itself, "N", trick_number=1, bids={}).leader == "E"
    assert problems(rule_on_leader, itself, "N", trick_number=1, bids={"W": Bid.number(3)}) == [
        (f"bids/{seat}", "missing") for seat in "NES"
    ]


def test_what_is_told_of_the_first_trick_does_not_matter_for_a_later_one() -> None:
    ruling = rule_on_leader(CLUBS, "N", trick_number=2, last_winner="S", holder_of_lowest_club="W")

    assert (ruling.leader, ruling.why) == ("S", "The winner of a trick leads to the next.")


WHIZ = Ruleset.resolve({"preset": "whiz"})


@pytest.mark.parametrize(
    ("ruleset", "told", "found"),
    [
        (STANDARD, {"seat": "A"}, [("seat", "not_allowed")]),
        (STANDARD, {"scores": {"N": 3, "NS": 1}}, [("scores/N", "unknown")]),
        (STANDARD, {"bids": {"C": Bid.nil()}}, [("bids/C", "unknown")]),
        (STANDARD, {"bids": {"N": Bid.number(0)}}, [("bids/N", "bid_out_of_range")]),
        (Ruleset.resolve({"preset": "bicycle"}), {"bids": {"N": Bid.nil()}}, [("bids/N", "nil_not_offered")]),
        (STANDARD, {"bids": {"N": Bid.parse("blind:6")}}, [("bids/N", "blind_nil_not_allowed")]),
        (STANDARD, {"hand": cards("AS AS")}, [("hand", "wrong_length"), ("hand/1", "not_allowed")]),
        (WHIZ, {}, [("hand", "missing")]),
    ],
    ids=str,
)
def test_a_bid_question_that_no_table_could_have_is_refused(ruleset, told, found) -> None:
    assert problems(rule_on_bid, ruleset, **{"seat": "S", **told}) == found


def test_a_hand_that_was_not_seen_need_not_be_told() -> None:
    blind = Ruleset.resolve({"preset": "whiz", "blind_nil": "any"})

    ruling = rule_on_bid(blind, "S", hand_seen=False, bid=Bid.number(3))

    assert ruling.legal == (Bid.parse("blind_nil"),)
    assert ruling.refusal is not None
    assert ruling.refusal.reason is Reason.LOOK_FIRST


def test_a_seat_that_has_bid_bids_no_more() -> None:
    ruling = rule_on_bid(STANDARD, "S", bids={"S": Bid.nil()}, bid=Bid.number(3))

    assert ruling.legal == ()
    assert ruling.refusal is not None
    assert ruling.refusal.reason is Reason.ALREADY_BID
    assert rule_on_bid(STANDARD, "S", bids={"S": Bid.nil()}).refusal is None


@pytest.mark.parametrize(
    ("told", "may"),
    [
        ({"reconsidered": False}, True),
        ({"reconsidered": True}, False),
        ({}, False),
        ({"reconsidered": False, "bids": {"N": Bid.nil()}}, True),
        ({"reconsidered": False, "bids": {"W": Bid.number(3)}}, False),
        ({"reconsidered": False, "bids": {"N": Bid.parse("blind_nil")}}, False),
        ({"reconsidered": False, "bids": {"N": Bid.number(3), "S": Bid.number(3)}}, False),
        ({"reconsidered": False, "hand_seen": False}, False),
    ],
    ids=str,
)
def test_a_proposal_may_be_sent_back_by_a_side_that_has_not_done_so(told, may) -> None:
    settling = Ruleset.resolve({"preset": "hoyle_partners"})

    ruling = rule_on_bid(settling, "S", **{"bids": {"N": Bid.number(3)}, **told})

    assert ruling.reconsider is may
    assert rule_on_bid(STANDARD, "S", **{"bids": {"N": Bid.number(3)}, **told}).reconsider is False


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["hoyle_partners", "sandbag_deduction"]))
def test_settling_partners_are_told_what_a_table_tells_them(seed: int, preset: str) -> None:
    rng = random.Random(seed)

    for match in play_on(opening(Ruleset.resolve({"preset": preset}), rng), rng):
        deal = match.deal
        if deal is None or deal.phase is not Phase.BIDDING or deal.turn is None:
            continue
        place = deal.table.index(deal.turn)
        side = (place, (place + 2) % 4)
        ruling = rule_on_bid(
            match.ruleset,
            deal.turn,
            hand_seen=deal.has_seen(place),
            bids=deal.bids_by_seat(),
            reconsidered=any(deal.reconsidered >> own & 1 for own in side),
        )
        bodies = [bid.to_json() for bid in ruling.legal] + [{"kind": "reconsider"}] * ruling.reconsider
        assert bodies == [body for body in deal.legal() if body != {"look": True}]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({"dealer": "N"}, [("dealer", "not_allowed")]),
        ({"proposed": ("C", KEEP)}, [("proposed/seat", "not_allowed")]),
        ({"stock": STOCK[:51]}, [("stock", "wrong_length")]),
        ({"stock": (*STOCK[:51], STOCK[0])}, [("stock/51", "not_allowed")]),
        ({"stock": (*STOCK, Card.parse("LJ"))}, [("stock/52", "not_allowed")]),
        ({"decisions": [KEEP] * 27}, [("decisions/26", "wrong_phase")]),
        ({"decisions": [KEEP, DrawDecision.KEEP_BOTH, KEEP]}, [("decisions/1", "one_card_per_turn")]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_draw_that_no_table_could_have_is_refused(told, found) -> None:
    assert problems(rule_on_draws, TWO, **{"stock": STOCK, "dealer": "A", "decisions": [], **told}) == found


def test_drawn_hands_are_in_the_order_in_which_cards_were_kept() -> None:
    ruling = rule_on_draws(TWO, STOCK, "A", [KEEP, DECLINE, DECLINE, KEEP])

    assert ruling.hands == {"B": (STOCK[0], STOCK[5]), "A": (STOCK[3], STOCK[6])}
    assert ruling.next_turn == "B"


def test_where_hands_are_dealt_no_turn_is_drawn() -> None:
    stock = Seed(bytes(32)).shuffled(terms(STANDARD).pack.deck)

    ruling = rule_on_draws(STANDARD, stock, "N", [], proposed=("E", KEEP))

    assert (ruling.next_turn, ruling.first_bidder, ruling.deal.phase) == (None, "E", Phase.BIDDING)
    assert {seat: len(hand) for seat, hand in ruling.hands.items()} == {"N": 13, "E": 13, "S": 13, "W": 13}
    assert ruling.refusal is not None
    assert ruling.refusal.reason is Reason.WRONG_PHASE
    assert problems(rule_on_draws, STANDARD, stock, "N", [KEEP]) == [("decisions/0", "wrong_phase")]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_a_question_is_answered_as_the_match_answers_in_the_course_of_a_game(seed: int) -> None:
    rng = random.Random(seed)
    ruleset = random_ruleset(rng)

    for match in play_on(opening(ruleset, rng), rng):
        deal = match.deal
        if deal is None or deal.phase is not Phase.PLAYING or deal.trick is None or deal.turn is None:
            continue
        seat, played = deal.turn, deal.trick
        told = {
            "hand": rng.sample(deal.hand(seat), len(deal.hand(seat))),
            "trick": list(played.cards),
            "trick_number": played.number,
            "spades_broken": deal.spades_broken,
            "leader": rng.choice((None, played.leader)),
        }
        ruling = rule_on_play(ruleset, seat, **told)
        assert [{"card": card.code} for card in ruling.legal] == list({c["card"]: c for c in deal.legal()}.values())
        assert {*(card.code for card in ruling.legal), *ruling.refused} == {card.code for card in deal.hand(seat)}
        other = deal.table.after(seat)
        away = rule_on_play(ruleset, other, **replace_hand(told, deal.hand(other), played.leader))
        assert away.legal == ()
        assert {refusal.reason for refusal in away.refused.values()} <= {Reason.NOT_YOUR_TURN}


def replace_hand(told: dict[str, Any], hand: tuple[Card, ...], leader: str) -> dict[str, Any]:
    return {**told, "hand": hand, "leader": leader}
