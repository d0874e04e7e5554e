"""A playout: the same play as through deals, card by card, and cards that are taken back."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import PRESETS, Card, Deal, Phase, Playout, Reason, RuleViolation, Seed
from spades.cards import PACK, cards_of

from .playing import opening, play_on, random_ruleset
from .test_play_counts import CASES, cards, deal_of

NUMBERS = st.integers(0, 2**32)


def anywhere(rng: random.Random) -> Deal:
    """A deal under some ruleset, somewhere in its play."""
    match = opening(random_ruleset(rng), rng)
    states = [state.deal for state in (match, *play_on(match, rng)) if state.deal]
    return rng.choice([deal for deal in states if deal.phase in (Phase.PLAYING, Phase.FINISHED)])


def state(playout: Playout) -> dict[str, Any]:
    """All that a playout tells, the deal too."""
    told = ("hands", "taken", "plays", "trick", "place", "leader", "spades_broken", "turn")
    values = {name: getattr(playout, name) for name in told}
    copied = {name: list(value) if isinstance(value, list) else value for name, value in values.items()}
    return {**copied, "legal": playout.legal(), "deal": playout.deal()}


def refusal(play: Any, *arguments: Any) -> RuleViolation:
    with pytest.raises(RuleViolation) as caught:
        play(*arguments)
    return caught.value


@settings(max_examples=150, deadline=None)
@given(NUMBERS)
def test_a_playout_goes_as_the_deals_do_and_refuses_what_they_refuse(number: int) -> None:
    rng = random.Random(number)
    deal = anywhere(rng)
    playout = Playout(deal)

    while deal.phase is Phase.PLAYING:
        seat, legal = deal.turn or "", deal.legal_cards()
        assert (playout.turn, playout.legal_cards(), playout.legal()) == (seat, legal, cards_of(legal))
        assert (playout.trick, playout.spades_broken) == (list(deal.trick_cards), deal.spades_broken)
        for card in rng.sample(PACK, 4):
            if card not in {one.first for one in playout.legal()}:
                mine, theirs = refusal(playout.play, card), refusal(deal.play, seat, card)
                assert (mine.reason, mine.detail, mine.rule) == (theirs.reason, theirs.detail, theirs.rule)
        card = rng.choice(playout.legal()).first
        deal = deal.play(seat, card)
        playout.play(card)
        assert (playout.hands, playout.taken) == (list(deal.hands), list(deal.taken))
        assert playout.plays == list(deal.plays)
        assert playout.deal() == deal

    assert (playout.turn, playout.legal(), playout.legal_cards()) == (None, (), 0)
    assert refusal(playout.play, PACK[0]).reason is Reason.NOT_YOUR_TURN


@settings(max_examples=150, deadline=None)
@given(NUMBERS)
def test_a_card_that_is_taken_back_leaves_what_was_there_before_it(number: int) -> None:
    rng = random.Random(number)
    deal = anywhere(rng)
    playout = Playout(deal)
    states = [state(playout)]

    for _ in range(80):
        if playout.legal() and rng.random() < 0.6:
            playout.play(rng.choice(playout.legal()))
            states.append(state(playout))
        elif len(states) > 1:
            last = states.pop()["plays"][-1]
            assert playout.undo() is last
            assert state(playout) == states[-1]

    while len(states) > 1:
        states.pop()
        playout.undo()
        assert state(playout) == states[-1]
    with pytest.raises(IndexError, match="no card was played since the playout began"):
        playout.undo()
    assert state(playout) == state(Playout(deal))


def count(playout: Playout) -> int:
    """Complete plays from here on, each card taken back before the next is tried."""
    legal = dict.fromkeys(card.first for card in playout.legal())  # of identical cards one
    if not legal:
        return 1
    found = 0
    for card in legal:
        playout.play(card)
        found += count(playout)
        playout.undo()
    return found


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_playout_counts_the_plays_of_the_endings(case: dict[str, Any]) -> None:
    playout = Playout(deal_of(case))
    for card in cards(case["plays"]):
        playout.play(card)

    assert count(playout) == case["count"]


def test_a_playout_begins_when_the_bids_are_in() -> None:
    deal = Deal.begin(PRESETS["standard"].ruleset, number=1, attempt=1, dealer="N", seed=Seed(bytes(32)))

    violation = refusal(Playout, deal)

    assert violation.reason is Reason.WRONG_PHASE
    assert violation.detail == "The deal is bidding, and a playout begins when the play has."


def test_a_playout_leaves_its_deal_and_other_playouts_alone() -> None:
    deal = Deal.begin(PRESETS["mirror"].ruleset, number=1, attempt=1, dealer="N", seed=Seed(bytes(32)))
    kept, one, other = deal.hands, Playout(deal), Playout(deal)

    one.play(one.legal()[0])

    assert (deal.hands, deal.plays) == (kept, ())
    assert other.deal() == deal
    assert one.deal() == deal.play("E", Card.parse("2C"))
