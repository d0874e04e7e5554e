"""Secrecy: what a reader gets never depends on, or shows, a card that this reader has not seen."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import PRESETS, Card, Deal, Match, Phase, Ruleset, Seed
from spades.cards import cards_of, codes_of
from spades.terms import terms
from spades.view import Part, before_start, for_public, for_seat, parts

from .playing import opening, random_ruleset
from .playing import play_on as play_deal
from .test_match import RULES, SHORT, play_on, seed

CARD = re.compile(r"(?:[2-9TJQKA][CDHS]|LJ|BJ)\Z")
READERS = ["A", "B", None]


def cards_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value that spells a card."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from cards_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from cards_in(inner)
    elif isinstance(value, str) and CARD.match(value):
        yield value


def seen_by(match: Match, reader: str | None) -> int:
    """The cards that a reader has seen, as a mask, counted from the rules and not from the view."""
    deal = match.deal
    if deal is None:
        return 0
    seen = sum(card.bit for card in deal.plays)
    seen |= sum(discard.card.bit for discard in deal.discards if discard.face == "up" or reader in discard.visible_to)
    if reader is None:
        return seen
    place = deal.table.index(reader)
    if deal.phase is Phase.DRAWING and deal.turn == reader and match.ending is None:
        seen |= deal.stock[2 * len(deal.draws)].bit
    blind = not deal.has_seen(place)
    return seen if blind else seen | deal.hands[place] | deal.passes[place] | deal.gives[place]


def view(match: Match, reader: str | None) -> dict[str, Any]:
    return for_public(match) if reader is None else for_seat(match, reader)


def mapped(match: Match, places: dict[Card, Card]) -> Match:
    """The same match with each card lying where another one lay."""
    deal = match.deal
    assert deal is not None

    def mask(cards: int) -> int:
        return sum(places[card].bit for card in cards_of(cards))

    other = Deal.restore(
        match.ruleset,
        number=deal.number,
        attempt=deal.attempt,
        dealer=deal.dealer,
        seed=deal.seed,
        stock=[places[card] for card in deal.stock],
        behind=deal.behind,
        draws=deal.draws,
        passes=tuple(mask(cards) for cards in deal.passes),
        looks=deal.looks,
        bids=deal.bids,
        hints=deal.hints,
        reconsidered=deal.reconsidered,
        gives=tuple(mask(cards) for cards in deal.gives),
        plays=deal.plays,
    )
    return replace(match, deal=other)


def shuffle_unseen(match: Match, seen: int, rng: random.Random) -> dict[Card, Card]:
    """Cards that were not seen, each in the place of another one; the others in their own."""
    deal = match.deal
    assert deal is not None
    facts = terms(match.ruleset)
    if facts.club_lead and deal.phase is Phase.PLAYING:
        seen |= facts.pack.lowest_club  # who has to lead it is known to hold it
    unseen = [card for card in deal.stock if not seen & card.bit]
    others = rng.sample(unseen, len(unseen))
    return {card: card for card in deal.stock} | dict(zip(unseen, others, strict=True))


def moved(match: Match, reader: str | None, rng: random.Random) -> Match:
    """The same match with the cards that a reader has not seen lying in other places, from another seed."""
    elsewhere = mapped(match, shuffle_unseen(match, seen_by(match, reader), rng))
    assert elsewhere.deal is not None
    return replace(elsewhere, deal=replace(elsewhere.deal, seed=Seed(rng.randbytes(32))))


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 130))
def test_a_view_is_the_same_however_unseen_cards_lie(reader: str | None, number: int, steps: int) -> None:
    rng = random.Random(number)
    states = play_on(Match.start(RULES, seed(number)), rng)
    for _ in range(steps):
        match = next(states)
    match = next(states)

    elsewhere = moved(match, reader, rng)

    assert view(elsewhere, reader) == view(match, reader)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_no_view_and_no_event_shows_a_card_before_its_reader_saw_it(number: int) -> None:
    rng = random.Random(number)
    before = Match.start(SHORT, seed(number))
    for match in play_on(before, rng):
        known = {reader: set(codes_of(seen_by(before, reader) | seen_by(match, reader))) for reader in READERS}
        events = parts(before, match, next_commitment="0" * 64)
        for reader in READERS:
            assert set(cards_in(view(match, reader))) <= known[reader]
            if any(event.type == "deal_revealed" for event in events):
                continue
            for event in events:
                shown = {**event.public, **event.own.get(reader or "", {})}
                assert set(cards_in(shown)) <= known[reader]
        if match.deal is not None and match.deal.phase is Phase.FINISHED:
            assert [event.type for event in events][-2:] != ["card_played", "trick_taken"]
        before = match


def some_steps(match: Match, rng: random.Random) -> Iterator[tuple[Match, Match]]:
    """Steps of a deal, each the match before and after it: all before the play, and some of the cards played."""
    before = match
    for after in play_deal(match, rng):
        if after.deal is not None and (not after.deal.plays or rng.random() < 0.1):
            yield before, after
        before = after


def assert_unseen_cards_do_not_matter(match: Match, rng: random.Random) -> None:
    """Neither views nor events of a deal depend on cards that their reader has not seen."""
    for before, after in some_steps(match, rng):
        reader = rng.choice((*after.table.seats, None))
        places = shuffle_unseen(after, seen_by(before, reader) | seen_by(after, reader), rng)
        before_elsewhere, after_elsewhere = mapped(before, places), mapped(after, places)

        assert view(moved(before, reader, rng), reader) == view(before, reader)
        events, elsewhere = parts(before, after), parts(before_elsewhere, after_elsewhere)
        assert [told(part, reader) for part in elsewhere] == [told(part, reader) for part in events]


@pytest.mark.parametrize("preset", PRESETS)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32))
def test_nothing_told_at_a_presets_table_depends_on_unseen_cards(preset: str, number: int) -> None:
    rng = random.Random(number)
    assert_unseen_cards_do_not_matter(opening(PRESETS[preset].ruleset, rng), rng)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_nothing_told_at_any_table_depends_on_unseen_cards(number: int) -> None:
    rng = random.Random(number)
    assert_unseen_cards_do_not_matter(opening(random_ruleset(rng), rng), rng)


def told(part: Part, reader: str | None) -> tuple[str, str | None, dict[str, Any]]:
    return part.type, part.seat, {**part.public, **part.own.get(reader or "", {})}


def test_only_the_drawer_learns_what_it_kept() -> None:
    before = Match.start(RULES, seed(5)).begin_deal(seed(6))
    drawer = before.turn
    assert drawer is not None
    assert before.deal is not None
    kept = before.deal.stock[1].code

    (event,) = parts(before, before.draw(drawer, __import__("spades").DrawDecision.DECLINE))

    assert event.type == "card_drawn"
    assert event.own[drawer]["kept"] == kept
    assert list(event.own) == [drawer]
    assert kept not in list(cards_in(event.public))
    assert event.public["discarded"] == {"card": before.deal.stock[0].code, "face": "up"}


def test_legal_actions_go_to_the_seat_on_turn_alone() -> None:
    match = Match.start(RULES, seed(5)).begin_deal(seed(6))
    turn = match.turn
    assert turn is not None

    assert view(match, turn)["turn"]["legal"] == [{"decision": "keep"}, {"decision": "decline"}]
    assert view(match, match.dealer)["turn"]["legal"] == view(match, None)["turn"]["legal"] == []


def test_a_deal_is_revealed_in_full_when_it_is_scored_and_when_the_game_stops() -> None:
    states = play_on(Match.start(RULES, seed(9)), random.Random(9))
    before = match = next(states)
    while match.score is None:
        before, match = match, next(states)
    assert match.deal is not None
    revealed = next(event for event in parts(before, match) if event.type == "deal_revealed")
    stock = [card.code for card in match.deal.stock]

    assert revealed.public["stock"] == stock
    assert revealed.public["seed"] == match.deal.seed.server.hex()
    assert sorted(
        revealed.public["hands"]["A"] + revealed.public["hands"]["B"] + revealed.public["discards"]
    ) == sorted(stock)

    stopped = next(states)
    events = parts(stopped, stopped.resign("A"))
    assert [event.type for event in events] == ["deal_revealed", "game_finished"]
    events = parts(stopped, stopped.abort())
    assert [event.type for event in events] == ["deal_revealed", "game_aborted"]


def test_before_the_start_there_is_nothing_to_see() -> None:
    waiting = before_start(Ruleset.resolve({"preset": "two_player"}))

    assert waiting["deal"] is waiting["turn"] is waiting["result"] is None
    assert [seat["seat"] for seat in waiting["seats"]] == ["A", "B"]
    assert list(cards_in(waiting)) == []
