"""Hypothesis strategies for records of what need not be possible."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from spades import Bid, DrawDecision, Ruleset
from spades.notation import Action, CalledOff, Record, RecordedDeal, RecordedResult, RecordedScore
from spades.terms import terms

from .playing import random_ruleset

TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)


@st.composite
def any_deals(draw: st.DrawFn, ruleset: Ruleset) -> RecordedDeal:
    """A deal that need not be possible: actions of every kind in any order that a record can hold."""
    facts = terms(ruleset)
    seats = st.sampled_from(facts.table.seats)
    cards = st.sampled_from([card.first for card in facts.pack.deck])
    bids = st.one_of(
        st.none(), st.sampled_from([Bid.nil(), Bid.parse("blind_nil"), Bid.parse("blind:6"), Bid.number(3)])
    )
    middle = st.one_of(
        st.builds(Action.look, seats),
        st.builds(Action.pass_cards, seats, st.lists(cards, max_size=3)),
        st.builds(Action.place_bid, seats, bids, st.one_of(st.none(), st.integers(0, 60))),
    )
    hexes = st.binary(min_size=32, max_size=32).map(bytes.hex)
    count = st.integers(-(10**9), 10**9)
    stock = draw(st.one_of(st.none(), st.lists(cards, max_size=60)))
    hands = None
    if stock is None:
        hands = {seat: tuple(draw(st.lists(cards, max_size=4))) for seat in facts.table.seats}
    chosen = draw(st.lists(seats, unique=True, max_size=4))
    return RecordedDeal(
        draw(st.integers(1, 300)),
        draw(seats),
        None if stock is None else tuple(stock),
        hands,
        (
            *draw(st.lists(st.builds(Action.draw, st.sampled_from(DrawDecision)), max_size=4)),
            *draw(st.lists(middle, max_size=12)),
            *draw(st.lists(st.builds(Action.play, cards), max_size=9)),
        ),
        {side: draw(st.builds(RecordedScore, count, count, count)) for side in facts.table.sides}
        if draw(st.booleans())
        else None,
        tuple(draw(st.lists(st.builds(CalledOff, seats, st.one_of(st.none(), hexes)), max_size=2))),
        draw(st.one_of(st.none(), hexes)),
        draw(st.one_of(st.none(), hexes)),
        tuple((seat, draw(TEXTS)) for seat in facts.table.seats if seat in chosen),
        draw(st.booleans()),
    )


@st.composite
def any_records(draw: st.DrawFn) -> Record:
    ruleset = random_ruleset(random.Random(draw(st.integers(0, 2**32))))
    facts = terms(ruleset)
    seats, sides = facts.table.seats, facts.table.sides
    result = None
    if draw(st.booleans()):
        result = RecordedResult(
            tuple(draw(st.lists(st.sampled_from(sides), max_size=2))),
            draw(TEXTS),
            {side: draw(st.integers(-999, 999)) for side in sides},
            draw(st.one_of(st.none(), st.sampled_from(seats))),
        )
    card = st.sampled_from([card.first for card in facts.pack.deck])
    rounds = st.lists(st.tuples(st.sampled_from(seats), card), min_size=1, max_size=4).map(tuple)
    return Record(
        ruleset,
        {seat: draw(st.one_of(st.none(), TEXTS)) for seat in seats},
        tuple(draw(st.lists(any_deals(ruleset), max_size=2))),
        result,
        draw(st.one_of(st.none(), st.permutations(seats).map(lambda got: dict(zip(seats, got, strict=True))))),
        tuple(draw(st.lists(rounds, max_size=2))),
        draw(st.dictionaries(st.sampled_from(["Event", "Site", "Date", "Round"]), TEXTS, max_size=2)),
    )
