"""Snapshots of matches, and actions as they are kept: what comes out is what went in, for every ruleset."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import codec, steps
from spades import Bid, Match, Ruleset, Seed, commitment
from spades.terms import terms
from spades.view import Part
from tests.spades.playing import choose, opening, play_on, random_ruleset, stacked

TWO = Ruleset.resolve({"preset": "two_player"})


def fresh(ruleset: Ruleset, text: str) -> Match:
    """The match of a text, read anew."""
    codec._recent.clear()
    return codec.load_match(ruleset, text)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_a_snapshot_of_any_match_is_the_match(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)

    for state in (match, *play_on(match, rng)):
        text = codec.dump_match(state)
        assert fresh(state.ruleset, text) == state
        assert len(text) < 1400


KEPT = (
    '{"format":1,"deals":2,"sides":{"A":[61,1,0],"B":[-40,3,1]},"dealer":"B","deal":{"number":3,"attempt":1,"dealer":"B",'
    f'"seed":"{"07" * 32}","clients":[["A","x"]],"stock":"STOCK","draws":"{"kd" * 13}","bids":["3","nil"],'
    '"plays":"PLAYS"},"ending":null}'
)


def test_a_snapshot_of_the_first_kind_is_still_read_and_written() -> None:
    seed = Seed(bytes([7]) * 32, (("A", "x"),))
    stock = seed.shuffled(terms(TWO).pack.deck)
    kept = KEPT.replace("STOCK", "".join(card.code for card in stock))

    before_play = fresh(TWO, kept.replace("PLAYS", ""))
    assert before_play.deal is not None
    led = before_play.play("A", before_play.deal.hand("A")[0])
    assert led.deal is not None
    text = kept.replace("PLAYS", led.deal.plays[0].code)

    assert (before_play.turn, before_play.deal.bids) == ("A", (Bid.number(3), Bid.nil()))
    assert codec.dump_match(led) == text
    assert fresh(TWO, text) == led


def test_a_snapshot_from_the_future_is_refused() -> None:
    with pytest.raises(ValueError, match="no way from snapshot format 2"):
        fresh(TWO, '{"format":2}')


def seeds(number: int) -> steps.SeedOf:
    """A seed of its own for every deal and attempt."""

    def seed_of(deal: int, attempt: int) -> steps.Drawn:
        return steps.Drawn(Seed(bytes([number, deal, attempt, *[0] * 29])), commitment(bytes([deal])))

    return seed_of


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 250))
def test_a_deal_is_played_again_from_its_actions(number: int) -> None:
    rng = random.Random(number)
    match = opening(random_ruleset(rng), rng)
    taken: list[tuple[str, dict[str, Any], list[Part]]] = []
    state = match
    while state.deal is not None and len(state.deal.plays) < 6:
        seat = rng.choice(state.turns)
        body = choose(state.deal.legal(seat), rng)
        action = codec.action_of(body)
        state, events = steps.step(state, seat, action, seeds(number))
        taken.append((seat, action, events))

    again = fresh(match.ruleset, codec.dump_match(match))
    for seat, action, events in taken:
        again, told = steps.step(again, seat, orjson.loads(orjson.dumps(action)), seeds(number))
        assert codec.entries(told) == codec.entries(events)

    assert again == state


def test_a_redeal_is_called_and_dealt_in_one_step() -> None:
    ruleset = Ruleset.resolve({"preset": "solo", "redeal": "no_spades"})
    rng = random.Random(1)
    spades = " ".join(f"{rank}S" for rank in "23456789TJQKA")
    match = replace(opening(ruleset, rng), deal=stacked(ruleset, {"S": spades}, dealer="N"))
    match = replace(match, sheet=replace(match.sheet, deals=0), dealer="N")

    after, events = steps.step(match, "W", {"redeal": True}, seeds(1))

    assert after.deal is not None
    assert (after.deal.number, after.deal.attempt, after.deal.seed) == (1, 2, seeds(1)(1, 2)[0])
    assert [event.type for event in events] == ["redeal_called", "deal_started"]
    assert events[1].public["attempt"] == 2


def test_a_proposal_with_a_hint_and_its_return_are_kept_as_they_were_asked() -> None:
    ruleset = Ruleset.resolve({"preset": "hoyle_partners", "blind_nil": "off"})
    match = replace(opening(ruleset, random.Random(1)), deal=stacked(ruleset, {}, dealer="N"))

    proposed, told = steps.step(match, "E", codec.action_of({"kind": "number", "tricks": 3, "hint_max": 5}), seeds(1))
    _, returned = steps.step(proposed, "W", codec.action_of({"kind": "reconsider"}), seeds(1))

    assert [(event.type, event.seat, event.public) for event in [*told, *returned]] == [
        ("bid_proposed", "E", {"bid": {"kind": "number", "tricks": 3}, "hint_max": 5}),
        ("bid_proposed", "W", {"bid": {"kind": "reconsider"}, "hint_max": None}),
    ]


def test_an_action_that_there_is_not_is_refused() -> None:
    match = opening(TWO, random.Random(1))

    for seat, action in (("A", {"fold": True}), (None, {"draw": "keep"})):
        with pytest.raises(ValueError, match=r"no such action|nobody can"):
            codec.apply(match, seat, action)
