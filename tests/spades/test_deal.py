"""Deals under any ruleset: what is legal, what becomes of the cards, and how a deal is kept."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import (
    Bid,
    Card,
    Deal,
    DrawDecision,
    NotationError,
    Phase,
    Reason,
    Rule,
    Ruleset,
    RulesetError,
    RuleViolation,
    Seed,
)
from spades.cards import PACK, codes_of
from spades.legality import Bidder, behind, legal_bids
from spades.terms import terms

from .playing import act, opening, play_on, random_ruleset, stacked

NUMBERS = st.integers(0, 2**32)


@settings(max_examples=300, deadline=None)
@given(NUMBERS)
def test_every_deal_ends_with_every_card_once_and_a_legal_action_at_each_turn(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)
    deck = Counter(card.code for card in terms(match.ruleset).pack.deck)
    deal = match.deal
    assert deal is not None

    for state in (match, *play_on(match, rng)):
        deal = state.deal
        assert deal is not None
        held = [card.code for seat in deal.table.seats for card in deal.hand(seat)]
        thrown = [discard.card.code for discard in deal.discards]
        left = [card.code for card in deal.stock[len(deal.stock) - deal.stock_count :]]
        assert Counter(held + thrown + left + [card.code for card in deal.plays]) == deck
        assert all(deal.legal(seat) for seat in deal.turns)
        assert [seat for seat in deal.table.seats if deal.legal(seat)] == list(deal.turns)
        assert (deal.turns == ()) == (deal.phase is Phase.FINISHED)

    assert sum(deal.taken) == match.ruleset.hand_size
    bidding = terms(match.ruleset).bids_in(deal.number)
    assert (None in deal.bids) == (not bidding)


@settings(max_examples=150, deadline=None)
@given(NUMBERS)
def test_a_deal_is_what_was_kept_of_it(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)

    for state in (match, *play_on(match, rng)):
        deal = state.deal
        assert deal is not None
        again = Deal.restore(
            deal.ruleset,
            number=deal.number,
            attempt=deal.attempt,
            dealer=deal.dealer,
            seed=deal.seed,
            stock=[Card.parse(card.code) for card in deal.stock],
            behind=deal.behind,
            draws=deal.draws,
            passes=deal.passes,
            looks=deal.looks,
            bids=deal.bids,
            hints=deal.hints,
            reconsidered=deal.reconsidered,
            gives=deal.gives,
            plays=[Card.parse(card.code) for card in deal.plays],
        )
        assert again == deal
        assert follows(again) == follows(deal)


def test_a_deal_of_which_nothing_was_kept_is_at_its_beginning() -> None:
    for preset in ("two_player", "hoyle_partners", "six_pairs"):
        deal = opening(rules(preset), random.Random(preset)).deal
        assert deal is not None

        kept = {name: getattr(deal, name) for name in ("number", "attempt", "dealer", "seed", "stock")}

        assert Deal.restore(deal.ruleset, **kept) == replace(deal, behind=0)


def test_a_proposal_is_kept_with_its_hint() -> None:
    deal = stacked(rules("hoyle_partners", blind_nil="off"), {}, dealer="N").bid("E", Bid.number(3), hint_max=5)
    kept = {name: getattr(deal, name) for name in ("number", "attempt", "dealer", "seed", "stock", "bids", "hints")}

    assert Deal.restore(deal.ruleset, **kept) == deal


def test_a_stock_is_the_whole_pack() -> None:
    deal = stacked(rules(), {}, dealer="N")
    kept = {name: getattr(deal, name) for name in ("number", "attempt", "dealer", "seed")}
    told = r"^the stock is not the whole pack of this ruleset, each card once$"

    for stock in (deal.stock[:-1], (*deal.stock[:-1], Card.parse("BJ")), (*deal.stock, Card.parse("BJ"))):
        with pytest.raises(NotationError, match=told):
            Deal.restore(deal.ruleset, stock=stock, **kept)
    with pytest.raises(NotationError, match="is named twice"):
        Deal.restore(deal.ruleset, stock=(*deal.stock[:-1], deal.stock[0]), **kept)


@settings(max_examples=100, deadline=None)
@given(NUMBERS)
def test_the_first_hands_are_those_that_nobody_had_given_anything_of(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)

    for state in (match, *play_on(match, rng)):
        deal = state.deal
        assert deal is not None
        if deal.phase is not Phase.DRAWING:
            break
        assert deal.first_hands() == deal.hands
    assert deal.first_hands() == deal.hands
    *_, last = play_on(replace(match, deal=deal), rng)
    assert last.deal is not None
    assert last.deal.first_hands() == deal.hands


def test_the_first_hands_of_a_draw_are_those_that_were_drawn() -> None:
    deal = opening(rules("two_player"), random.Random(1)).deal
    assert deal is not None
    while deal.phase is Phase.DRAWING:
        deal = act(deal, deal.turn or "", {"decision": random.Random(len(deal.draws)).choice(["keep", "decline"])})
        assert deal.first_hands() == deal.hands
    held = deal.hands
    assert held[0] & held[1] == 0

    deal = bid_round(deal, **dict.fromkeys((deal.turn or "", "AB".replace(deal.turn or "", "")), "6"))
    deal = act(deal, deal.turn or "", deal.legal()[0])

    assert (deal.first_hands(), deal.hands == held) == (held, False)


def follows(deal: Deal) -> dict[str, Any]:
    """What a deal works out once and keeps."""
    return {
        "phase": deal.phase,
        "turns": deal.turns,
        "action": deal.action,
        "exchanges": deal.exchanges,
        "exchange": deal.exchange,
        "legal": {seat: deal.legal(seat) for seat in deal.table.seats},
    }


@settings(max_examples=30, deadline=None)
@given(NUMBERS)
def test_a_deal_is_the_same_however_it_travels_and_whatever_was_asked_of_it(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)

    for state in (match, *play_on(match, rng)):
        deal = state.deal
        assert deal is not None
        asked = follows(deal)
        for again in (pickle.loads(pickle.dumps(deal)), copy.deepcopy(deal), replace(deal)):
            assert again == deal
            assert vars(again).keys() == {field.name for field in fields(Deal)}
            assert follows(again) == asked
        with pytest.raises(FrozenInstanceError):
            deal.phase = Phase.FINISHED  # type: ignore[misc]


def bodies(deal: Deal, seat: str, rng: random.Random) -> list[dict[str, Any]]:
    """All sorts of requests, legal or not."""
    hand = codes_of(deal.hands[deal.table.index(seat)])
    asked = [{"choose": count, "cards": rng.sample(hand, min(count, len(hand)))} for count in range(1, 6)]
    return [
        *({"decision": decision.value} for decision in DrawDecision),
        *({"kind": "number", "tricks": tricks} for tricks in range(20)),
        *({"kind": "blind", "tricks": tricks} for tricks in range(20)),
        *({"kind": kind} for kind in ("nil", "blind_nil", "reconsider")),
        {"look": True},
        *asked,
        *({"card": card.code} for card in PACK),
    ]


@settings(max_examples=150, deadline=None)
@given(NUMBERS, st.integers(0, 80))
def test_the_legal_actions_and_the_refusals_agree_one_by_one(number: int, steps: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)
    states = [match, *play_on(match, rng)]
    deal = states[min(steps, len(states) - 1)].deal
    assert deal is not None

    for seat in deal.table.seats:
        legal = deal.legal(seat)
        bids = [body for body in legal if body.get("kind", "reconsider") != "reconsider"]
        assert [bid.to_json() for bid in deal.legal_bids(seat)] == bids
        counts = {body["choose"] for body in legal if "choose" in body}
        for body in bodies(deal, seat, rng):
            listed = body["choose"] in counts if "choose" in body else body in legal
            if "look" in body and not listed:
                continue  # which needs no turn
            if listed:
                assert act(deal, seat, body) != deal
            else:
                with pytest.raises(RuleViolation):
                    act(deal, seat, body)


# Worked deals.


def rules(preset: str = "standard", **changes: Any) -> Ruleset:
    return Ruleset.resolve({"preset": preset, **changes})


def reason_of(deal: Deal, seat: str, body: dict[str, Any]) -> Reason:
    with pytest.raises(RuleViolation) as caught:
        act(deal, seat, body)
    return caught.value.reason


def codes(cards: tuple[Card, ...]) -> list[str]:
    return [card.code for card in cards]


def number(tricks: int) -> dict[str, Any]:
    return {"kind": "number", "tricks": tricks}


def bid_round(deal: Deal, **bids: str) -> Deal:
    for seat, text in bids.items():
        deal = deal.bid(seat, Bid.parse(text))
    return deal


NIL, BLIND_NIL, LOOK, RECONSIDER = {"kind": "nil"}, {"kind": "blind_nil"}, {"look": True}, {"kind": "reconsider"}


def test_a_seat_that_may_bid_blind_is_held_off_its_hand_until_it_looks() -> None:
    deal = stacked(rules(), {"E": "AS KS"}, dealer="N", behind=0b1010)
    east = deal.table.index("E")

    assert (deal.turns, deal.action, deal.has_seen(east)) == (("E",), "look", False)
    assert deal.legal("E") == [LOOK, BLIND_NIL]
    assert [reason_of(deal, "E", body) for body in (number(3), NIL, number(99), {"cards": ["AS"]})] == [
        Reason.LOOK_FIRST
    ] * 4
    with pytest.raises(RuleViolation) as caught:
        deal.require_redeal("E")
    assert caught.value.reason is Reason.LOOK_FIRST

    looked = deal.look("E")

    assert [str(bid) for bid in deal.legal_bids()] == ["blind_nil"]
    assert looked.legal_bids() == looked.legal_bids("E")
    assert [str(bid) for bid in looked.legal_bids()] == ["nil", *map(str, range(1, 14))]
    assert (looked.legal_bids("S"), deal.bid("E", Bid.parse("blind_nil")).legal_bids("E")) == ((), ())
    assert (looked.action, looked.has_seen(east)) == ("bid", True)
    assert looked.legal("E") == [NIL, *(number(tricks) for tricks in range(1, 14))]
    assert [reason_of(looked, "E", body) for body in (BLIND_NIL, LOOK)] == [Reason.HAND_ALREADY_SEEN] * 2
    assert reason_of(looked.bid("E", Bid.number(3)), "S", BLIND_NIL) is Reason.BLIND_NOT_BEHIND


def test_a_hand_may_be_looked_at_out_of_turn_and_a_blind_bid_shows_it() -> None:
    deal = stacked(rules(blind_nil="any"), {}, dealer="N", behind=0b1111)

    early = deal.look("W").bid("E", Bid.parse("blind_nil"))

    assert [early.has_seen(place) for place in range(4)] == [False, True, False, True]
    assert early.turns == ("S",)


def test_blind_numbers_are_bid_by_a_whole_side_and_reach_the_minimum_together() -> None:
    deal = stacked(rules("joker_joker_deuce_deuce_tournament"), {}, dealer="N")
    numbers = [{"kind": "blind", "tricks": tricks} for tricks in range(1, 14)]
    assert deal.legal("E") == [LOOK, *numbers]

    two = deal.bid("E", Bid.parse("blind:2")).look("S").bid("S", Bid.number(2))

    assert two.legal("W") == numbers[3:]
    assert reason_of(two, "W", LOOK) is Reason.BLIND_SIDE_INCOMPLETE
    assert reason_of(two, "W", {"kind": "blind", "tricks": 3}) is Reason.BID_OUT_OF_RANGE
    assert reason_of(two, "W", number(4)) is Reason.LOOK_FIRST
    west, north = (deal.table.index(seat) for seat in "WN")
    assert (two.has_seen(west), two.has_seen(north)) == (False, True)  # South's number ended it for North


def test_partners_settle_a_contract_by_proposal_hint_and_one_reconsideration() -> None:
    deal = stacked(rules("hoyle_partners", blind_nil="off"), {}, dealer="N")
    assert (deal.turns, deal.action) == (("E",), "propose_bid")

    proposed = deal.bid("E", Bid.number(3), hint_max=5)

    assert (proposed.turns, proposed.action, proposed.hints) == (("W",), "bid", (None, 5, None, None))
    assert proposed.is_proposal(1)
    assert proposed.public_bid(1) is None
    assert proposed.legal("W")[-1] == RECONSIDER

    sent_back = proposed.reconsider("W")

    assert (sent_back.turns, sent_back.bids, sent_back.hints) == (("E",), (None,) * 4, (None,) * 4)
    again = sent_back.bid("E", Bid.number(5))
    assert RECONSIDER not in again.legal("W")
    assert reason_of(again, "W", RECONSIDER) is Reason.WRONG_PHASE
    closed = again.bid("W", Bid.number(2))
    assert (closed.turns, closed.public_bid(1), closed.public_bid(3)) == (("S",), Bid.number(5), Bid.number(2))
    assert reason_of(closed, "E", number(1)) is Reason.ALREADY_BID


@pytest.mark.parametrize("hint", [2, 14])
def test_a_hint_is_between_the_proposal_and_the_highest_bid(hint: int) -> None:
    deal = stacked(rules("hoyle_partners", blind_nil="off"), {}, dealer="N")

    with pytest.raises(RuleViolation) as caught:
        deal.bid("E", Bid.number(3), hint_max=hint)

    assert caught.value.reason is Reason.BID_OUT_OF_RANGE


@pytest.mark.parametrize("hint", [3, 13])
def test_a_hint_may_say_no_more_than_the_proposal_and_as_much_as_any_bid(hint: int) -> None:
    deal = stacked(rules("hoyle_partners", blind_nil="off"), {}, dealer="N")

    assert deal.bid("E", Bid.number(3), hint_max=hint).hints == (None, hint, None, None)


def test_a_bid_that_nobody_answers_has_no_hint() -> None:
    proposed = stacked(rules("hoyle_partners", blind_nil="off"), {}, dealer="N").bid("E", Bid.number(3))
    alone = stacked(rules(), {}, dealer="N")

    for deal, seat in ((proposed, "W"), (alone, "E")):
        with pytest.raises(RuleViolation, match="Only a proposal") as caught:
            deal.bid(seat, Bid.number(3), hint_max=4)
        assert caught.value.reason is Reason.WRONG_PHASE


def test_simultaneous_bids_are_sealed_until_the_last_is_in() -> None:
    deal = stacked(rules(bid_order="simultaneous"), {}, dealer="N")
    assert deal.turns == ("N", "E", "S", "W")

    three = bid_round(deal, S="3", N="nil", W="4")

    assert three.turns == ("E",)
    assert [three.public_bid(place) for place in range(4)] == [None] * 4
    assert reason_of(three, "N", number(1)) is Reason.ALREADY_BID
    done = three.bid("E", Bid.number(2))
    assert [str(done.public_bid(place)) for place in range(4)] == ["nil", "2", "3", "4"]
    assert done.turns == ("E",)


def test_a_nil_bidder_gives_first_and_the_partner_returns_as_many() -> None:
    deal = stacked(rules(nil_exchange=2), {"E": "AS KS", "W": "2C 3C"}, dealer="N")
    deal = bid_round(deal, E="nil", S="3", W="4", N="nil")
    assert (deal.phase, deal.turns, deal.action) == (Phase.EXCHANGING, ("E",), "give_cards")
    assert deal.legal("E") == [{"choose": 2, "from": codes_of(deal.hands[1])}]
    assert reason_of(deal, "E", {"cards": ["AS"]}) is Reason.PASS_COUNT_WRONG
    assert reason_of(deal, "E", {"cards": ["AS", "2C"]}) is Reason.NOT_IN_HAND
    assert reason_of(deal, "S", {"cards": ["AS", "KS"]}) is Reason.NOT_YOUR_TURN

    given = act(deal, "E", {"cards": ["AS", "KS"]})

    assert (given.turns, codes(given.received(3)), len(given.hand("W"))) == (("W",), ["KS", "AS"], 15)
    done = act(given, "W", {"cards": ["AS", "2C"]})
    assert [len(done.hand(seat)) for seat in "NESW"] == [13] * 4
    assert codes(done.received(1)) == ["2C", "AS"]
    assert (done.phase, done.turns) == (Phase.EXCHANGING, ("N",))  # the side of the dealer comes second


def test_a_blind_exchange_moves_nothing_until_both_have_chosen() -> None:
    deal = stacked(rules(nil_exchange=1, exchange_order="blind"), {"E": "AS", "W": "2C"}, dealer="N")
    deal = bid_round(deal, E="nil", S="3", W="4", N="2")
    assert deal.turns == ("E", "W")

    sealed = act(deal, "W", {"cards": ["2C"]})

    assert (sealed.turns, sealed.hands) == (("E",), deal.hands)
    done = act(sealed, "E", {"cards": ["AS"]})
    assert (codes(done.received(1)), codes(done.received(3))) == (["2C"], ["AS"])
    assert (done.phase, done.turns) == (Phase.PLAYING, ("E",))


def test_two_nils_on_a_side_exchange_nothing_and_a_blind_nil_has_a_count_of_its_own() -> None:
    deal = stacked(rules("pagat", blind_nil="any", nil_exchange=1), {}, dealer="N", behind=0b1111)

    both = bid_round(deal.look("S").look("N"), E="blind_nil", S="3", W="blind_nil", N="2")
    one = bid_round(deal.look("S").look("N").look("W"), E="blind_nil", S="nil", W="3", N="2")

    assert (both.phase, both.exchange) == (Phase.PLAYING, None)
    assert [(each.bidder, each.partner, each.count) for each in one.exchanges] == [(1, 3, 2), (2, 0, 1)]


def test_exchanges_begin_with_the_side_of_the_seat_on_the_dealers_left() -> None:
    deal = stacked(rules("six_pairs", nil_exchange=1, nil_success=100, nil_fail=-100, zero_bid="nil"), {}, dealer="A")

    deal = bid_round(deal, B="nil", C="2", D="nil", E="2", F="nil", A="2")

    sides = [{deal.table.seats[place] for place in exchange.places} for exchange in deal.exchanges]
    assert sides == [{"B", "E"}, {"C", "F"}, {"A", "D"}]


def test_cards_are_passed_all_at_once_by_the_cycle() -> None:
    deal = stacked(
        rules("solo", pass_cycle=["left", "none"], pass_count=1),
        {"N": "AS", "E": "KS", "S": "QS", "W": "JS"},
        dealer="N",
    )
    assert (deal.phase, deal.turns, deal.action) == (Phase.PASSING, ("N", "E", "S", "W"), "pass")

    for seat, card in {"S": "QS", "N": "AS", "E": "KS"}.items():
        deal = act(deal, seat, {"cards": [card]})
        assert deal.received(deal.table.index("W")) == ()
    assert reason_of(deal, "N", {"cards": ["2C"]}) is Reason.NOT_YOUR_TURN
    deal = act(deal, "W", {"cards": ["JS"]})

    assert [codes(deal.received(place)) for place in range(4)] == [["JS"], ["AS"], ["KS"], ["QS"]]
    assert deal.phase is Phase.BIDDING
    second = stacked(deal.ruleset, {}, dealer="N", number=2)
    assert second.phase is Phase.BIDDING


def test_a_blind_bid_is_made_before_cards_are_passed() -> None:
    deal = stacked(rules(pass_cycle=["across"], pass_count=2, blind_nil="any"), {}, dealer="N", behind=0b1111)
    assert deal.legal("S") == [LOOK, BLIND_NIL]
    assert reason_of(deal, "S", {"cards": ["2C", "3C"]}) is Reason.LOOK_FIRST
    assert (deal.action, deal.action_of("S"), deal.look("N").action_of("S")) == ("look", "look", "look")

    blind = deal.bid("S", Bid.parse("blind_nil"))

    assert blind.legal("S") == [{"choose": 2, "from": codes_of(blind.hands[2])}]
    for seat in "NEW":
        blind = blind.look(seat)
    for seat in "NESW":
        blind = act(blind, seat, {"cards": codes_of(blind.hands[blind.table.index(seat)])[:2]})
    assert blind.turns == ("E",)
    blind = blind.bid("E", Bid.number(1))
    assert blind.turns == ("W",)  # South has bid


def test_everybody_may_bid_blind_before_cards_are_passed() -> None:
    ruleset = rules(
        pass_cycle=["left"],
        pass_count=3,
        blind_nil="any",
        blind_nil_exchange=2,
        blind_bid_min=4,
        blind_bid_multiplier=2,
    )
    deal = stacked(ruleset, {}, dealer="N", behind=0b1111)
    deal = bid_round(deal, N="blind_nil", S="blind:5", E="blind:3", W="blind:2")
    assert deal.phase is Phase.PASSING

    with pytest.raises(RuleViolation) as caught:
        deal.pass_cards("N", deal.hand("N")[:2])
    assert caught.value.rule == Rule("pass_count", 3, "passing")
    for seat in "NESW":
        deal = deal.pass_cards(seat, deal.hand(seat)[:3])

    assert (deal.phase, deal.turns) == (Phase.EXCHANGING, ("N",))
    assert deal.legal("N")[0]["choose"] == 2


def test_a_redeal_is_called_before_the_own_cards_are_passed() -> None:
    hands = {"N": "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC", "E": "2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AD"}
    deal = stacked(rules(redeal="no_spades", pass_cycle=["left"], pass_count=1), hands, dealer="N")
    assert [deal.may_call_redeal(seat) for seat in "NESW"] == [True, True, False, True]

    one = act(deal, "N", {"cards": ["2C"]})

    assert [one.may_call_redeal(seat) for seat in "NE"] == [False, True]
    all_passed = one
    for seat in "ESW":
        all_passed = act(all_passed, seat, {"cards": codes_of(one.hands[one.table.index(seat)])[:1]})
    assert all_passed.phase is Phase.BIDDING
    assert [all_passed.may_call_redeal(seat) for seat in "NESW"] == [False] * 4


def test_where_nobody_bids_in_a_deal_no_redeal_is_called_in_it() -> None:
    hands = {"N": "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC"}
    ruleset = rules(redeal="no_spades", pass_cycle=["left"], pass_count=1, first_hand_bids_itself=True)

    first, second = (stacked(ruleset, hands, dealer="N", number=number) for number in (1, 2))

    assert (first.phase, first.may_call_redeal("N")) == (Phase.PASSING, False)
    assert (second.phase, second.may_call_redeal("N")) == (Phase.PASSING, True)


def test_a_redeal_is_called_before_any_bid_by_a_hand_without_spades_that_was_seen() -> None:
    spades = " ".join(f"{rank}S" for rank in "23456789TJQKA")
    deal = stacked(rules(redeal="no_spades"), {"S": spades}, dealer="N")

    assert [deal.may_call_redeal(seat) for seat in "NESW"] == [True, True, False, True]
    after = deal.bid("E", Bid.number(1))
    assert [after.may_call_redeal(seat) for seat in "NESW"] == [False] * 4
    with pytest.raises(RuleViolation) as caught:
        after.require_redeal("N")
    assert caught.value.reason is Reason.REDEAL_NOT_ALLOWED


def test_faces_count_where_the_rule_says_so() -> None:
    low = "2C 3C 4C 5C 6C 7C 8C 9C TC AC 2D 3D 4D"
    deal = stacked(rules(redeal="no_spades_no_faces"), {"S": low, "E": "KC QC JC"}, dealer="N")

    one_spade = stacked(deal.ruleset, {"S": low.replace("AC", "2S")}, dealer="N")

    assert [deal.may_call_redeal(seat) for seat in "ES"] == [False, True]
    assert not one_spade.may_call_redeal("S")


def test_mirrored_bids_are_made_by_the_cards_without_a_turn() -> None:
    deal = stacked(rules("mirror"), {"N": "AS KS", "E": "2S 3S 4S", "S": "5S 6S 7S 8S 9S TS JS QS"}, dealer="N")

    assert [str(bid) for bid in deal.bids] == ["2", "3", "8", "nil"]
    assert (deal.phase, deal.turns) == (Phase.PLAYING, ("E",))


def test_a_first_hand_that_bids_itself_is_played_without_bids() -> None:
    ruleset = rules(first_hand_bids_itself=True, first_leader="high_bidder", blind_nil="any", redeal="no_spades")
    first = stacked(ruleset, {}, dealer="N", behind=0b1111)
    second = stacked(ruleset, {}, dealer="N", number=2, behind=0b1111)

    assert (first.phase, first.turns) == (Phase.PLAYING, ("E",))
    assert all(first.has_seen(place) for place in range(4))
    assert reason_of(first, "E", NIL) is Reason.WRONG_PHASE
    assert (second.phase, second.action) == (Phase.BIDDING, "look")


@pytest.mark.parametrize(
    ("changes", "leader"),
    [
        ({}, "E"),
        ({"first_leader": "dealer"}, "N"),
        ({"first_leader": "high_bidder"}, "S"),
        ({"first_lead": "2C", "first_leader": "dealer"}, "W"),
    ],
)
def test_the_first_leader_is_as_the_table_says(changes: dict[str, Any], leader: str) -> None:
    deal = stacked(rules("solo", **changes), {"W": "2C"}, dealer="N")

    deal = bid_round(deal, E="3", S="4", W="nil", N="4")

    assert deal.turns == (leader,)


def test_a_partner_who_bids_first_leaves_the_other_a_bid() -> None:
    most = stacked(
        rules(max_team_bid=5, zero_bid="forbidden", nil_success=None, nil_fail=None, blind_nil="off"), {}, dealer="N"
    )
    suicide = stacked(rules("suicide", min_team_bid=4), {}, dealer="N")

    assert most.legal("E") == [number(tricks) for tricks in range(1, 5)]
    assert reason_of(most, "E", number(5)) is Reason.TEAM_MAXIMUM
    assert suicide.legal("E") == [NIL, *(number(tricks) for tricks in range(4, 14))]
    assert reason_of(suicide, "E", number(3)) is Reason.TEAM_MINIMUM


def test_the_partner_of_the_last_bidder_leaves_two_sums_where_one_is_barred() -> None:
    ruleset = rules(
        max_team_bid=5,
        total_bid_rule="not_equal_tricks",
        zero_bid="forbidden",
        nil_success=None,
        nil_fail=None,
        blind_nil="off",
    )
    deal = stacked(ruleset, {}, dealer="N")

    east = deal.bid("E", Bid.number(1))

    assert deal.legal("E") == [number(tricks) for tricks in range(1, 5)]  # West closes and is not the last
    assert east.legal("S") == [number(tricks) for tricks in range(1, 4)]  # North is, and may not bid one of its sums
    assert reason_of(east, "S", number(4)) is Reason.TEAM_MAXIMUM
    assert bid_round(east, S="3", W="2").legal("N") == [number(1), number(2)]


def test_who_bid_blind_out_of_turn_is_not_the_last_to_bid() -> None:
    ruleset = rules(max_team_bid=5, total_bid_rule="not_equal_tricks", both_nil="forbidden")
    facts = terms(ruleset)
    places = {seat: facts.table.index(seat) for seat in "NESW"}
    order = facts.bid_order(places["W"])  # North first, West last
    blind = tuple(Bid.parse("blind_nil") if seat == "W" else None for seat in facts.table.seats)

    first = Bidder(place=places["N"], bids=blind, order=order)
    alone = Bidder(place=places["N"], bids=(None,) * 4, order=order)

    # South, who now bids last, has to have two sums to choose from; otherwise West bids last.
    assert legal_bids(ruleset, first) != legal_bids(ruleset, alone)
    assert Bid.number(5) in legal_bids(ruleset, alone)
    assert Bid.number(5) not in legal_bids(ruleset, first)


def trios(**changes: Any) -> Ruleset:
    return rules(players=6, teams="trios", removed_cards=["2C", "2D", "2H", "2S"], blind_nil="off", **changes)


def asked(ruleset: Ruleset, seat: str, made: dict[str, str], **state: Any) -> list[str]:
    """The legal bids of a seat beside these bids of others; the last seat deals."""
    table = terms(ruleset).table
    order = terms(ruleset).bid_order(len(table.seats) - 1)
    bids = tuple(Bid.parse(made[each]) if each in made else None for each in table.seats)
    return [str(bid) for bid in legal_bids(ruleset, Bidder(table.index(seat), bids, order, **state))]


def numbers(low: int, high: int, *more: str) -> list[str]:
    return [*more, *map(str, range(low, high + 1))]


def test_the_bids_of_three_partners_are_added_up() -> None:
    ruleset = trios(max_team_bid=5)
    forbidden = trios(max_team_bid=5, both_nil="forbidden")

    assert asked(ruleset, "E", {"A": "3", "B": "1", "C": "1"}) == ["nil", "1"]
    assert asked(ruleset, "E", {"A": "1", "B": "1", "C": "3"}) == ["nil", "1"]
    assert asked(ruleset, "C", {"A": "3", "B": "1"}) == numbers(1, 2, "nil")
    # One nil is made and no other may be, so whoever is left bids one at least.
    assert asked(forbidden, "C", {"A": "nil", "B": "1"}) == numbers(1, 4)
    assert asked(forbidden, "E", {"A": "nil", "B": "1", "C": "2"}) == numbers(1, 3)
    assert asked(forbidden, "E", {"A": "2", "B": "1", "C": "nil"}) == numbers(1, 3)


def test_blind_bids_of_a_side_come_to_the_minimum_and_leave_a_partner_one() -> None:
    least = rules(blind_bid_min=4, blind_bid_multiplier=2, blind_nil="any")
    most = rules(blind_bid_min=4, blind_bid_multiplier=2, blind_nil="off", max_team_bid=4)
    last = rules(
        blind_bid_min=1, blind_bid_multiplier=2, blind_nil="off", max_team_bid=5, total_bid_rule="not_equal_tricks"
    )

    beside = {"N": "blind:2", "E": "3"}
    assert asked(least, "S", beside, seen=False, behind=0b1111) == [f"blind:{tricks}" for tricks in range(2, 14)]
    assert asked(least, "S", {**beside, "N": "blind:4"}, seen=False, behind=0b1111)[0] == "blind_nil"
    assert asked(least, "S", beside, seen=True, behind=0b1111) == []
    assert asked(most, "N", {}, seen=False) == ["blind:1", "blind:2", "blind:3"]
    # Whoever bids blind leaves the partner two sums, who might be the last to bid.
    assert asked(last, "N", {}, seen=False) == ["blind:1", "blind:2", "blind:3"]


def test_who_bids_before_it_is_known_who_bids_last_leaves_two_sums() -> None:
    ruleset = rules(
        max_team_bid=1, both_nil="forbidden", zero_bid="both", blind_nil="any", total_bid_rule="not_equal_tricks"
    )

    assert asked(ruleset, "N", {}) == ["nil", "0", "1"]
    assert asked(ruleset, "N", {}, early=True) == ["nil", "0"]


def test_a_bid_too_high_for_a_partner_who_must_bid_is_above_the_maximum() -> None:
    ruleset = rules(
        min_team_bid=5,
        max_team_bid=5,
        min_bid=2,
        zero_bid="forbidden",
        nil_success=None,
        nil_fail=None,
        blind_nil="off",
    )
    deal = stacked(ruleset, {}, dealer="N")

    assert deal.legal("E") == [number(2), number(3)]
    assert reason_of(deal, "E", number(4)) is Reason.TEAM_MAXIMUM


def test_who_may_bid_a_blind_nil_follows_from_the_score() -> None:
    assert behind(rules(blind_nil="off"), {}) == 0
    assert behind(rules(blind_nil="any"), {}) == 0b1111
    assert behind(rules(blind_nil="behind"), {"NS": 0, "EW": 100}) == 0b0101
    assert behind(rules(blind_nil="behind"), {"EW": 99}) == 0
    assert behind(rules(blind_nil="behind"), {"NS": -99}) == 0
    assert behind(rules(blind_nil="behind"), {"NS": -100}) == 0b0101


def test_where_spades_are_counted_the_hand_says_what_is_bid() -> None:
    deal = stacked(rules("whiz"), {"E": "2S 5S AS", "S": "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC"}, dealer="N")
    held = sum(card.suit.value == "S" for card in deal.hand("E"))

    assert deal.legal("E") == [NIL, number(held)]
    assert deal.bid("E", Bid.number(held)).legal("S") == [NIL]


def test_in_a_hand_that_bids_itself_every_card_is_seen() -> None:
    ruleset = rules(first_hand_bids_itself=True, pass_cycle=["left"], pass_count=1, blind_nil="any")

    first, second = (stacked(ruleset, {}, dealer="N", number=number, behind=0b1111) for number in (1, 2))

    assert [first.has_seen(place) for place in range(4)] == [True] * 4
    assert [second.has_seen(place) for place in range(4)] == [False] * 4


def test_a_deal_begins_with_nobody_behind() -> None:
    deal = Deal.begin(rules(blind_nil="behind"), number=1, attempt=1, dealer="N", seed=Seed(bytes(32)))

    assert deal.behind == 0
    assert deal.bids == (None,) * 4


def test_limits_that_leave_a_side_no_bids_are_a_contradiction() -> None:
    with pytest.raises(RulesetError) as caught:
        rules(teams="trios", players=6, removed_cards=["2C", "2D", "2H", "2S"], both_nil="forbidden", max_team_bid=1)

    assert [problem.option for problem in caught.value.problems] == ["max_team_bid"]


def test_with_two_packs_either_of_two_equal_cards_is_played_by_its_name() -> None:
    ruleset = rules("six_pairs", first_lead="any", spade_lead="anytime")
    deck = [card.code for card in terms(ruleset).pack.deck]
    deal = stacked(ruleset, {"B": "AH AH 2D"}, dealer="A")
    deal = bid_round(deal, B="1", C="1", D="1", E="1", F="1", A="1")

    assert deck.count("AH") == 2
    assert [body for body in deal.legal("B") if body["card"] == "AH"] == [{"card": "AH"}]
    assert codes_of(deal.hands[1]).count("AH") == 2
    led = act(deal, "B", {"card": "AH"})
    assert codes_of(led.hands[1]).count("AH") == 1


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
def test_a_deal_of_hands_is_the_deal_in_which_they_were_dealt(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)
    deal = match.deal
    assert deal is not None
    hands = {seat: deal.hand(seat) for seat in deal.table.seats}

    if terms(deal.ruleset).drawing:
        with pytest.raises(NotationError, match=r"^nobody is dealt a hand where hands are drawn: the stock is needed"):
            Deal.dealt(deal.ruleset, hands, dealer=deal.dealer)
        return
    again = Deal.dealt(deal.ruleset, hands, dealer=deal.dealer, number=deal.number)

    assert {seat: codes(again.hand(seat)) for seat in hands} == {seat: codes(deal.hand(seat)) for seat in hands}
    assert again.first_hands() == again.hands
    if deal.ruleset.decks == 1:  # of two packs either card of a kind may be the one
        assert replace(again, seed=deal.seed, stock=deal.stock, behind=deal.behind) == deal


def test_a_deal_of_hands_goes_on_with_bids_and_plays() -> None:
    deal = bid_round(stacked(rules(), {}, dealer="N"), E="3", S="nil", W="4", N="2")
    hands = {seat: deal.hand(seat) for seat in "NESW"}
    for _ in range(6):
        deal = act(deal, deal.turn or "", deal.legal()[0])

    again = Deal.dealt(deal.ruleset, hands, dealer="N", bids=deal.bids_by_seat(), plays=deal.plays)

    assert again == replace(deal, seed=again.seed, stock=again.stock)


def test_cards_that_nobody_was_dealt_lie_under_a_deal_of_hands() -> None:
    deal = stacked(rules("two_player", deal_method="deal_half"), {}, dealer="A")

    again = Deal.dealt(deal.ruleset, {seat: deal.hand(seat) for seat in "AB"}, dealer="A")

    assert (again.hands, again.seed, again.stock_count) == (deal.hands, Seed(bytes(32)), 26)
    assert Counter(again.stock) == Counter(deal.stock)


def test_hands_are_whole_and_those_of_the_table() -> None:
    deal = stacked(rules(), {}, dealer="N")
    hands = {seat: deal.hand(seat) for seat in "NESW"}

    with pytest.raises(NotationError, match=r"^nobody is dealt a hand where hands are drawn: the stock is needed$"):
        Deal.dealt(rules("two_player"), hands, dealer="A")
    for changes, told in (
        ({"N": hands["N"][:-1]}, "a hand has 13 cards, and seat N has 12"),
        ({"A": hands["N"]}, "hands has one entry for each of N, E, S, W, got N, E, S, W, A"),
        ({"N": hands["E"]}, "is named twice"),
    ):
        with pytest.raises(NotationError, match=told):
            Deal.dealt(deal.ruleset, {**hands, **changes}, dealer="N")
