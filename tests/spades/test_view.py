"""Secrecy: what a reader gets never depends on, or shows, a card that this reader has not seen."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import PRESETS, Bid, Card, Match, Phase, Ruleset
from spades.cards import codes_of
from spades.view import Part, before_start, parts

from .playing import DECKS, opening, random_ruleset
from .playing import play_on as play_deal
from .secrecy import mapped, moved, seen_by, shuffle_unseen, view
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


SECRETIVE: dict[str, dict[str, Any]] = {
    "redeals": {"preset": "solo", **DECKS["poor"], "redeal": "no_spades"},
    "passing": {"preset": "solo", "pass_cycle": ["left"], "pass_count": 2, "blind_nil": "any"},
    "exchanges": {"preset": "suicide", "nil_exchange": 2},
    "blind exchanges": {"preset": "suicide", "nil_exchange": 2, "exchange_order": "blind"},
    "sealed bids": {"preset": "standard", "bid_order": "simultaneous"},
    "unseen discards": {"preset": "two_player_closed", "draw_second_card": "unseen"},
}


@pytest.mark.parametrize("ruleset", SECRETIVE.values(), ids=SECRETIVE)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32))
def test_nothing_told_at_a_table_with_secrets_depends_on_unseen_cards(ruleset: dict[str, Any], number: int) -> None:
    rng = random.Random(number)
    assert_unseen_cards_do_not_matter(opening(Ruleset.resolve(ruleset), rng), rng)


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


def test_a_sealed_bid_is_shown_to_its_own_seat_and_to_nobody_else() -> None:
    rules = Ruleset.resolve({"preset": "standard", "bid_order": "simultaneous", "blind_nil": "off"})
    match = Match.start(rules, seed(5)).begin_deal(seed(6)).bid("S", Bid.number(4)).bid("N", Bid.number(2))

    shown = {reader: [row["bid"] for row in view(match, reader)["seats"]] for reader in ("N", "E", "S", None)}

    hidden, two, four = "hidden", Bid.number(2).to_json(), Bid.number(4).to_json()
    assert shown["N"] == [two, None, hidden, None]
    assert shown["S"] == [hidden, None, four, None]
    assert shown["E"] == shown[None] == [hidden, None, hidden, None]
    for reader in ("N", "E", "S", None):
        assert [row["contract_tricks"] for row in view(match, reader)["sides"]] == [None, None]


def test_cards_that_go_twice_stand_twice_in_what_was_given_and_received() -> None:
    rules = {"preset": "standard", "blind_nil": "off", "pass_cycle": ["across"], "pass_count": 2, "nil_exchange": 2}
    match = Match.start(Ruleset.resolve(rules), seed(5)).begin_deal(seed(6))
    hands = {seat: [Card.parse(code) for code in view(match, seat)["deal"]["hand"][:2]] for seat in "NESW"}
    own, other = ([card.code for card in hands[seat]] for seat in "NS")
    for seat in "NESW":
        match = match.pass_cards(seat, hands[seat])
    while match.deal is not None and match.deal.phase is Phase.BIDDING:
        match = match.bid(match.turns[0], Bid.parse("nil") if match.turns == ("N",) else Bid.number(3))

    match = match.pass_cards("N", hands["S"]).pass_cards("S", hands["S"])

    shown = {seat: view(match, seat)["deal"] for seat in "NS"}
    assert (shown["N"]["given"], shown["N"]["received"]) == ([*own, *other], [*other, *other])
    assert (shown["S"]["given"], shown["S"]["received"]) == ([*other, *other], [*own, *other])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_what_was_given_and_received_is_what_the_events_told(number: int) -> None:
    rng = random.Random(number)
    rules = {"preset": rng.choice(["standard", "six_pairs"]), "pass_cycle": ["left"], "pass_count": 2}
    rules |= {"nil_exchange": 2, "zero_bid": "nil", "nil_success": 100, "nil_fail": -100, "blind_nil": "off"}
    before = opening(Ruleset.resolve({**rules, "exchange_order": rng.choice(["sequential", "blind"])}), rng)
    given_away: dict[str, list[str]] = {seat: [] for seat in before.table.seats}
    received: dict[str, list[str]] = {seat: [] for seat in before.table.seats}
    sealed: set[tuple[str, str]] = set()
    for earlier, match in some_steps(before, rng):
        assert match.deal is not None
        if match.deal.plays:
            break
        for event in parts(earlier, match):
            giver = event.seat or ""
            if event.type == "pass_sealed":
                sealed.add((event.public["kind"], giver))
                given_away[giver] += event.own[giver]["cards"]
            if event.type == "cards_passed":
                if (event.public["kind"], giver) not in sealed:
                    given_away[giver] += event.own[giver]["cards"]
                received[event.public["to"]] += event.own[event.public["to"]]["cards"]
        for seat in match.table.seats:
            deal = view(match, seat)["deal"]
            assert (deal["given"], deal["received"]) == (given_away[seat], received[seat])


FITS = {
    "draw": {"decision"},
    "look": {"look", "kind"},
    "pass": {"choose"},
    "propose_bid": {"kind"},
    "bid": {"kind"},
    "give_cards": {"choose"},
    "play": {"card"},
}
"""By action, which of its first fields a legal body may have."""


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_the_action_that_a_seat_on_turn_is_told_fits_all_that_it_may_do(number: int) -> None:
    rng = random.Random(number)
    before = opening(random_ruleset(rng), rng)
    for match in (before, *(after for _, after in some_steps(before, rng))):
        for seat in match.turns:
            turn = view(match, seat)["turn"]
            assert {next(iter(body)) for body in turn["legal"]} <= FITS[turn["action"]]
            assert (turn["action"] == "look") == ({"look": True} in turn["legal"])


def test_seats_that_pass_are_each_told_whether_they_have_to_look_first() -> None:
    rules = {"preset": "standard", "blind_nil": "any", "pass_cycle": ["left"], "pass_count": 2}
    match = Match.start(Ruleset.resolve(rules), seed(5)).begin_deal(seed(6))
    readers = ["N", "E", "S", "W", None]
    assert {view(match, reader)["turn"]["action"] for reader in readers} == {"look"}

    looked = match.look("N")

    assert [view(looked, reader)["turn"]["action"] for reader in readers] == ["pass", "look", "look", "look", "pass"]
    passed = looked.pass_cards("N", [Card.parse(code) for code in view(looked, "N")["deal"]["hand"][:2]])
    assert [view(passed, reader)["turn"]["action"] for reader in readers] == ["look"] * 5


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
