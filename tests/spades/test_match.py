"""Whole games through the library: properties that hold in every one."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import (
    PRESETS,
    Bid,
    Card,
    DrawDecision,
    Match,
    Phase,
    Reason,
    Ruleset,
    RuleViolation,
    ScoreSheet,
    Seed,
    SideBefore,
    Suit,
)
from spades.cards import pack
from spades.sheet import DEAL_CAP
from spades.view import parts

from .playing import act, choose, stacked

RULES = Ruleset.resolve({"preset": "two_player"})
SHORT = Ruleset.resolve({"preset": "two_player", "target_score": 100, "bag_limit": 0, "bag_penalty": 0})
"""Games without a penalty for bags, so that even seats that play at random end them soon."""
DECK = pack(0, (), ()).deck


def seed(number: int) -> Seed:
    return Seed(random.Random(number).randbytes(32))


def play_on(match: Match, rng: random.Random) -> Iterator[Match]:
    """Every state of a game in which each seat does something legal at random, bids kept low so that it ends."""
    while match.ending is None:
        if match.needs_deal:
            match = match.begin_deal(Seed(rng.randbytes(32)))
        else:
            assert match.deal is not None
            choices = match.deal.legal()
            match = act(
                match, match.turn or "", rng.choice(choices[:6] if match.deal.phase is Phase.BIDDING else choices)
            )
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
            assert act(match, seat, body) != match
        else:
            with pytest.raises(RuleViolation):
                act(match, seat, body)


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
        match = match.draw(match.turn or "", DrawDecision.KEEP)
    assert match.turn == first
    assert first is not None
    match = match.bid(first, Bid.number(4)).bid(match.dealer, Bid.nil())
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
        match = match.draw(match.turn or "", DrawDecision.DECLINE)
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


# Every preset.


def play_game(match: Match, rng: random.Random) -> Iterator[Match]:
    """Every state of a game whose seats bid and play at random, bids near a fair share so that it ends."""
    share = match.ruleset.hand_size // match.ruleset.players
    while match.ending is None:
        if match.needs_deal:
            match = match.begin_deal(Seed(rng.randbytes(32)))
            yield match
            continue
        deal = match.deal
        assert deal is not None
        callers = [seat for seat in match.table.seats if deal.may_call_redeal(seat)]
        if callers and rng.random() < 0.2:
            match = match.call_redeal(callers[0])
        else:
            seat = rng.choice(match.turns)
            legal = deal.legal(seat)
            fair = [body for body in legal if body.get("tricks") in (share - 1, share)]
            match = act(match, seat, choose(fair or legal, rng))
        yield match


@pytest.mark.parametrize("preset", PRESETS)
def test_a_game_of_every_preset_is_played_to_its_end(preset: str) -> None:
    ruleset, rng = PRESETS[preset].ruleset, random.Random(preset)
    dealers: dict[int, str] = {}

    for match in play_game(Match.start(ruleset, Seed(rng.randbytes(32))), rng):
        if match.deal is not None:
            dealers[match.deal.number] = match.deal.dealer

    assert match.ending is not None
    assert match.turns == ()
    assert len(dealers) == match.sheet.deals
    seats = match.table.seats
    for number, dealer in dealers.items():
        assert dealer == seats[(seats.index(dealers[1]) + number - 1) % len(seats)]


# Who deals first.


def starts(**changes: Any) -> list[Match]:
    ruleset = Ruleset.resolve({"preset": "solo", **changes})
    return [Match.start(ruleset, seed(number)) for number in range(40)]


def test_the_lot_lets_every_seat_deal_first_at_times() -> None:
    lots = starts(first_dealer="random")

    assert {match.dealer for match in lots} == set("NESW")
    assert {match.cut for match in lots} == {()}


def test_the_first_diamond_deals() -> None:
    for match in starts(first_dealer="first_diamond"):
        turned = [drawn for drawn_round in match.cut for drawn in drawn_round]
        assert [seat for seat, _ in turned] == [match.table.seats[place % 4] for place in range(len(turned))]
        assert [card.suit is Suit.DIAMONDS for _, card in turned] == [False] * (len(turned) - 1) + [True]
        assert turned[-1][0] == match.dealer


def test_the_host_chooses_the_first_dealer_where_the_table_says_so() -> None:
    ruleset = Ruleset.resolve({"preset": "solo", "first_dealer": "host"})

    assert Match.start(ruleset, seed(1)).dealer == "N"
    assert Match.start(ruleset, seed(1), dealer="S").dealer == "S"
    assert Match.start(Ruleset.resolve({"preset": "solo"}), seed(1)).dealer != "S"
    assert Match.start(Ruleset.resolve({"preset": "solo"}), seed(1), dealer="S").dealer != "S"


def test_a_redeal_keeps_number_and_dealer_and_shows_nobody_the_hand() -> None:
    ruleset = Ruleset.resolve({"preset": "solo", "redeal": "no_spades"})
    match = Match.start(ruleset, seed(1))
    spades = " ".join(f"{rank}S" for rank in "23456789TJQKA")
    match = replace(match, deal=stacked(ruleset, {"S": spades}, dealer=match.dealer))

    called = match.call_redeal("N")
    again = called.begin_deal(seed(7))

    assert (called.turns, called.needs_deal) == ((), True)
    for attempt in (lambda: called.bid("E", Bid.number(1)), lambda: called.call_redeal("E")):
        with pytest.raises(RuleViolation) as caught:
            attempt()
        assert caught.value.reason is Reason.WRONG_PHASE
    assert again.deal is not None
    assert match.deal is not None
    found = (again.deal.number, again.deal.attempt, again.deal.dealer, again.deal.seed, again.redeal)
    assert found == (match.deal.number, 2, match.deal.dealer, seed(7), None)
    events = [*parts(match, called), *parts(called, again)]
    assert [(part.type, part.seat) for part in events] == [("redeal_called", "N"), ("deal_started", None)]
