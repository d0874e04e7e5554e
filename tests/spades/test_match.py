"""Whole games through the library: properties that hold in every one."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import Bid, Card, DrawDecision, Match, Phase, Reason, Ruleset, RuleViolation, ScoreSheet, Seed, SideBefore
from spades.cards import pack
from spades.sheet import DEAL_CAP

RULES = Ruleset.resolve({"preset": "two_player"})
SHORT = Ruleset.resolve({"preset": "two_player", "target_score": 100, "bag_limit": 0, "bag_penalty": 0})
"""Games without a penalty for bags, so that even seats that play at random end them soon."""
DECK = pack(0, (), ()).deck


def seed(number: int) -> Seed:
    return Seed(random.Random(number).randbytes(32))


def act(match: Match, body: dict[str, object]) -> Match:
    seat = match.turn
    assert seat is not None
    if "decision" in body:
        return match.draw(seat, DrawDecision(body["decision"]))
    if "card" in body:
        return match.play(seat, Card.parse(str(body["card"])))
    return match.bid(seat, Bid.from_json(body))


def play_on(match: Match, rng: random.Random) -> Iterator[Match]:
    """Every state of a game in which each seat does something legal at random, bids kept low so that it ends."""
    while match.ending is None:
        if match.needs_deal:
            match = match.begin_deal(Seed(rng.randbytes(32)))
        else:
            assert match.deal is not None
            choices = match.deal.legal()
            match = act(match, rng.choice(choices[:6] if match.deal.phase is Phase.BIDDING else choices))
        yield match


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_a_game_ends_and_every_deal_holds_every_card_once(number: int) -> None:
    rng = random.Random(number)
    deals = 0
    for match in play_on(Match.start(SHORT, seed(number)), rng):
        deal = match.deal
        assert deal is not None
        hands = [card for seat in ("A", "B") for card in deal.hand(seat)]
        thrown = [discard.card for discard in deal.discards]
        undrawn = list(deal.stock[len(deal.stock) - deal.stock_count :])
        assert sorted(hands + thrown + undrawn + list(deal.plays)) == list(DECK)
        assert sum(deal.taken) == len(deal.plays) // 2
        if match.turn is not None:
            assert deal.legal()
        if match.score is not None:
            deals += 1
            assert sum(deal.taken) == 13

    assert match.sheet.deals == deals <= DEAL_CAP
    assert match.ending is not None
    assert match.ending.reason in ("target", "deal_cap")
    best = max(match.sheet.scores().values())
    assert [match.sheet.scores()[side] for side in match.ending.winners] == [best] * len(match.ending.winners)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 75))
def test_the_legal_set_and_the_refusals_agree_card_by_card(number: int, steps: int) -> None:
    rng = random.Random(number)
    states = play_on(Match.start(RULES, seed(number)), rng)
    for _ in range(steps):
        match = next(states)
    match = next(states)
    deal, seat = match.deal, match.turn
    assert deal is not None
    if seat is None:
        return
    legal = deal.legal()

    bodies = [
        *({"decision": decision.value} for decision in DrawDecision),
        *({"kind": "number", "tricks": tricks} for tricks in range(15)),
        *({"kind": kind} for kind in ("nil", "blind_nil")),
        *({"card": card.code} for card in DECK),
    ]
    for body in bodies:
        if body in legal:
            assert act(match, body) != match
        else:
            with pytest.raises(RuleViolation):
                act(match, body)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_who_wins_a_trick_leads_the_next_and_the_dealer_alternates(number: int) -> None:
    rng = random.Random(number)
    dealers: dict[int, str] = {}
    winner = None
    for match in play_on(Match.start(SHORT, seed(number)), rng):
        deal = match.deal
        assert deal is not None
        dealers[deal.number] = deal.dealer
        if deal.phase is Phase.PLAYING and not deal.trick_cards and deal.last_trick is not None:
            winner = deal.last_trick.winner
            assert match.turn == winner

    assert winner is not None
    assert all(dealers[n] != dealers[n + 1] for n in dealers if n + 1 in dealers)


def test_the_non_dealer_draws_bids_and_leads_first() -> None:
    match = Match.start(RULES, seed(1)).begin_deal(seed(2))
    first = match.turn

    assert first != match.dealer
    while match.deal is not None and match.deal.phase is Phase.DRAWING:
        match = act(match, {"decision": "keep"})
    assert match.turn == first
    match = act(act(match, {"kind": "number", "tricks": 4}), {"kind": "nil"})
    assert match.turn == first


def test_a_seat_out_of_turn_is_told_so_before_anything_else() -> None:
    match = Match.start(RULES, seed(1)).begin_deal(seed(2))
    other = match.dealer

    for attempt in (
        lambda: match.draw(other, DrawDecision.TAKE_DISCARD),
        lambda: match.bid(other, Bid.number(99)),
        lambda: match.play(other, Card.parse("BJ")),
    ):
        with pytest.raises(RuleViolation) as caught:
            attempt()
        assert caught.value.reason is Reason.NOT_YOUR_TURN


def test_a_bid_is_final() -> None:
    match = Match.start(RULES, seed(1)).begin_deal(seed(2))
    while match.deal is not None and match.deal.phase is Phase.DRAWING:
        match = act(match, {"decision": "decline"})
    seat = match.turn
    assert seat is not None
    match = match.bid(seat, Bid.number(3))

    with pytest.raises(RuleViolation) as caught:
        match.bid(seat, Bid.number(4))

    assert caught.value.reason is Reason.ALREADY_BID


@pytest.mark.parametrize("at", [0, 30, 60])
def test_resigning_gives_the_game_to_the_other_side_in_every_phase(at: int) -> None:
    states = play_on(Match.start(RULES, seed(3)), random.Random(3))
    for _ in range(at + 1):
        match = next(states)

    match = match.resign("A")

    assert match.ending is not None
    assert (match.ending.winners, match.ending.reason) == (("B",), "resignation")
    assert match.turn is None
    for attempt in (lambda: match.resign("B"), match.abort, lambda: match.play("A", Card.parse("AS"))):
        with pytest.raises(RuleViolation) as caught:
            attempt()
        assert caught.value.reason is Reason.GAME_OVER


def test_level_scores_at_the_target_play_another_deal() -> None:
    level = ScoreSheet(RULES, {"A": SideBefore(460), "B": SideBefore(450)}, 5)
    sheet, _ = level.after({"A": Bid.number(6), "B": Bid.number(7)}, {"A": 6, "B": 7})

    assert sheet.scores() == {"A": 520, "B": 520}
    assert sheet.ending() is None


def test_the_deal_cap_ends_a_game_for_its_leaders() -> None:
    sheet = ScoreSheet(RULES, {"A": SideBefore(-5), "B": SideBefore(-5)}, DEAL_CAP)
    ending = sheet.ending()

    assert ending is not None
    assert (ending.winners, ending.reason) == (("A", "B"), "deal_cap")


def test_a_card_stays_the_same_object_however_it_travels() -> None:
    card = Card.parse("QH")

    assert Card.parse("QH") is card
    assert copy.deepcopy(card) is card
    assert pickle.loads(pickle.dumps(card)) is card
