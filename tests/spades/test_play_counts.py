"""Complete plays of small endings, as chess counts moves: by the library, and by a count that shares no code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spades import PRESETS, Bid, Card, Deal, Hand, Phase, Ruleset, Seed
from tests.spades.play_counts import FILE, RULES, ending_of, plain

CASES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))


def cards(text: str) -> list[Card]:
    return [Card.parse(code) for code in text.split()]


def masks(texts: list[str], hands: tuple[int, ...]) -> tuple[int, ...]:
    """The cards of each seat, as it holds them: with two packs a text is one of two cards."""
    return tuple(Hand.from_cards(cards(text)).mask for text in texts) if any(texts) else ()


def deal_of(case: dict[str, Any]) -> Deal:
    """The deal of a case before the first lead."""
    return Deal.restore(
        Ruleset.resolve(case["ruleset"]),
        number=case["deal_number"],
        attempt=1,
        dealer=case["dealer"],
        seed=Seed(bytes(32)),
        stock=cards(case["stock"]),
        draws=case["draws"],
        passes=masks(case["passes"], ()),
        bids=tuple(None if bid is None else Bid.parse(bid) for bid in case["bids"]),
        gives=masks(case["gives"], ()),
    )


def count(deal: Deal) -> int:
    """Complete plays from here on, asked of the library alone."""
    if deal.phase is Phase.FINISHED:
        return 1
    seat = deal.turn or ""
    return sum(count(deal.play(seat, Card.parse(body["card"]))) for body in deal.legal(seat))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_the_library_and_a_brute_force_count_the_same_plays(case: dict[str, Any]) -> None:
    deal = deal_of(case)
    assert {option: plain(getattr(deal.ruleset, option)) for option in RULES} == case["rules"]
    assert {seat: str(Hand.from_cards(deal.hand(seat))) for seat in deal.table.seats} == case["hands"]
    assert (deal.phase, deal.turn) == (Phase.PLAYING, case["leader"])

    for card in cards(case["plays"]):
        deal = deal.play(deal.turn or "", card)

    assert count(deal) == case["count"]
    assert ending_of(case).count() == case["count"]


def test_endings_are_of_every_preset_and_every_number_of_seats() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 40
    assert {case["ruleset"]["preset"] for case in CASES} == set(PRESETS)
    assert {len(case["hands"]) for case in CASES} == {2, 3, 4, 5, 6}
    for option, values in {
        "first_lead": {"no_spade", "any", "2C", "lowest_club"},
        "spade_lead": {"when_broken", "after_first_trick", "anytime"},
        "forced_lead_breaks": {True, False},
        "first_trick_spades": {"allowed", "forbidden"},
        "must_trump": {True, False},
        "decks": {1, 2},
        "duplicate_winner": {None, "first", "last"},
        "jokers": {0, 1, 2},
    }.items():
        assert {case["rules"][option] for case in CASES} == values
