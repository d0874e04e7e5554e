"""The worked cases: played where this engine has every option that they need, refused by name where it has not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spades import (
    Bid,
    Card,
    Deal,
    DrawDecision,
    Hand,
    Match,
    Reason,
    Ruleset,
    RulesetError,
    RuleViolation,
    ScoreSheet,
    Seed,
    SideBefore,
)
from spades.cards import pack
from spades.legality import bid_refusal, card_refusal, draw_refusal, legal_bids, legal_cards
from spades.ruleset import require_supported
from spades.tricks import breaks_spades, winning_place

GOLDEN = Path(__file__).parent.parent / "golden"
SCORING = json.loads((GOLDEN / "scoring.json").read_text())
PLAY = json.loads((GOLDEN / "play.json").read_text())


def ruleset_of(case: dict[str, Any]) -> Ruleset:
    overrides = {name: value for name, value in case["options_overrides"].items() if name != "hand_size"}
    return Ruleset.resolve({"preset": case["preset"], **overrides})


def is_played(case: dict[str, Any]) -> bool:
    return case["preset"] == "two_player" and not case["options_overrides"]


def of(cases: list[dict[str, Any]], *, played: bool, kind: str | None = None) -> list[Any]:
    chosen = [case for case in cases if is_played(case) == played and kind in (None, case.get("kind"))]
    assert chosen
    return [pytest.param(case, id=case["id"]) for case in chosen]


def read_bid(value: Any, tricks: int) -> Bid:
    if value == "moon":
        return Bid.number(tricks)
    return Bid.number(value) if isinstance(value, int) else Bid.parse(value)


@pytest.mark.parametrize("case", of(PLAY, played=False))
def test_a_case_for_an_option_that_is_not_built_is_refused_by_name(case: dict[str, Any]) -> None:
    ruleset = ruleset_of(case)

    with pytest.raises(RulesetError) as caught:
        require_supported(ruleset)

    assert {problem.reason for problem in caught.value.problems} == {Reason.OPTION_NOT_SUPPORTED}
    for problem in caught.value.problems:
        plain = ruleset.options()[problem.option]
        assert problem.value == plain
        assert plain != Ruleset.resolve({"preset": "two_player"}).options()[problem.option]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in SCORING])
def test_a_deal_scores_as_worked(case: dict[str, Any]) -> None:
    ruleset, standing, tricks = ruleset_of(case), case["before"], case["hands"]["tricks"]
    before = {
        side: SideBefore(score, standing["bags"][side], standing.get("sets", {}).get(side, 0))
        for side, score in standing["scores"].items()
    }
    bids = {seat: read_bid(bid, sum(tricks.values())) for seat, bid in case["hands"]["bids"].items() if bid is not None}

    sheet, score = ScoreSheet.at(ruleset, before, standing.get("hand_no", 1)).after(
        bids, tricks, blind_sides=case["hands"].get("blind_sides", ())
    )
    ending = sheet.ending()

    for side, expected in case["expected"].items():
        found = score.sides[side].to_json()
        assert {name: found[name] for name in expected} == expected
        assert sum(line["points"] for line in found["lines"]) == found["delta"]
    assert (ending is not None) == case["game"]["over"]
    if ending is not None:
        assert (list(ending.winners), ending.reason) == ([case["game"]["winner"]], case["game"]["reason"])
    if "round_winners" in case:
        assert list(score.closest_bidders) == case["round_winners"]
    if "set_seats" in case:
        seats = {
            seat: part.to_json() for side in score.sides.values() if side.seats for seat, part in side.seats.items()
        }
        assert [seat for seat, part in seats.items() if part["set"]] == case["set_seats"]


@pytest.mark.parametrize("case", of(PLAY, played=True, kind="legality"))
def test_cards_are_allowed_or_refused_as_worked(case: dict[str, Any]) -> None:
    ruleset = ruleset_of(case)
    hand = Hand.of(*case["hand"]).mask
    trick = [Card.parse(played["card"]) for played in case["trick"]]
    cards, table = pack(0, (), ()), {"trick_number": case["trick_no"], "spades_broken": case["spades_broken"]}

    legal = Hand(legal_cards(ruleset, cards, hand, trick, **table))
    refusals = {
        code: violation.reason.value
        for code in case["hand"]
        if (violation := card_refusal(ruleset, cards, hand, Card.parse(code), trick, **table))
    }

    assert {str(card) for card in legal} == set(case["expected"]["legal"])
    assert refusals == {code: reason for code, reason in case["expected"]["illegal"].items() if code in case["hand"]}


@pytest.mark.parametrize("case", of(PLAY, played=True, kind="winner"))
def test_a_trick_is_won_as_worked(case: dict[str, Any]) -> None:
    ruleset, cards = ruleset_of(case), pack(0, (), ())
    trick = [Card.parse(played["card"]) for played in case["trick"]]
    seats = [played["seat"] for played in case["trick"]]

    winner = seats[winning_place(cards, trick)]
    broken = case["spades_broken"] or any(
        breaks_spades(ruleset, cards, trick[:place], card) for place, card in enumerate(trick)
    )

    assert winner == case["expected"]["winner"]
    assert cards.suits[trick[0].index].value == case["expected"]["led_suit"]
    assert broken == case["expected"]["spades_broken_after"]


@pytest.mark.parametrize("case", of(PLAY, played=True, kind="bid"))
def test_bids_are_open_as_worked(case: dict[str, Any]) -> None:
    ruleset = ruleset_of(case)

    bids = legal_bids(ruleset)

    assert [bid.tricks if not bid.is_nil else str(bid) for bid in bids] == case["expected"]["legal_bids"]
    assert all(bid_refusal(ruleset, bid) is None for bid in bids)


def deal_with_stock(ruleset: Ruleset, stock: list[str], dealer: str) -> Deal:
    return Deal.restore(
        ruleset,
        number=1,
        attempt=1,
        dealer=dealer,
        seed=Seed(bytes(32)),
        stock=tuple(Card.parse(code) for code in stock),
        draws="",
        bids=(None,) * ruleset.players,
        plays=(),
    )


@pytest.mark.parametrize("case", of(PLAY, played=True, kind="draw"))
def test_hands_are_drawn_as_worked(case: dict[str, Any]) -> None:
    deal = deal_with_stock(ruleset_of(case), case["deck"], case["dealer"])
    for decision in case["decisions"]:
        assert deal.turn is not None
        deal = deal.draw(deal.turn, DrawDecision(decision))
    expected = case["expected"]

    for seat, hand in expected["hands"].items():
        assert {card.code for card in deal.hand(seat)} == set(hand)
    found = {
        "discards": [{"card": d.card.code, "face": d.face, "visible_to": list(d.visible_to)} for d in deal.discards],
        "next_turn": deal.turn if deal.phase == "drawing" else None,
        "deck_left": deal.stock_count,
        "phase": {"drawing": "draw"}.get(deal.phase.value, deal.phase.value),
        "first_bidder": deal.turn if deal.phase == "bidding" else None,
        "cards_seen": {seat: 13 + sum(seat in discard.visible_to for discard in deal.discards) for seat in ("A", "B")},
    }
    assert {name: found[name] for name in expected if name != "hands"} == {
        name: value for name, value in expected.items() if name != "hands"
    }


@pytest.mark.parametrize("case", of(PLAY, played=True, kind="leader"))
def test_the_first_lead_is_as_worked(case: dict[str, Any]) -> None:
    stock = [card.code for card in pack(0, (), ()).deck]
    deal = deal_with_stock(ruleset_of(case), stock, case["dealer"])
    while deal.phase == "drawing":
        assert deal.turn is not None
        deal = deal.draw(deal.turn, DrawDecision.KEEP)
    for _ in range(2):
        assert deal.turn is not None
        deal = deal.bid(deal.turn, Bid.number(3))

    assert deal.turn == case["expected"]["leader"]


REFUSED = {
    "draw_from_discard": DrawDecision.TAKE_DISCARD,
    "decline_second": DrawDecision.DECLINE_SECOND,
    "keep_both": DrawDecision.KEEP_BOTH,
    "peek_second_first": DrawDecision.PEEK_SECOND,
}


@pytest.mark.parametrize("case", of(PLAY, played=True, kind="draw_refusal"))
def test_a_wrong_draw_is_refused_as_worked(case: dict[str, Any]) -> None:
    match = Match.start(ruleset_of(case), Seed(bytes(32))).begin_deal(Seed(bytes(32)))
    seat, deal = match.turn, match.deal
    assert seat is not None
    assert deal is not None

    def attempt() -> Match:
        if case["action"] == "play_during_draw":
            return match.play(seat, deal.stock[0])
        return match.draw(seat, REFUSED[case["action"]])

    with pytest.raises(RuleViolation) as caught:
        attempt()

    assert caught.value.reason == case["expected"]["reason"]
    if case["action"] in REFUSED:
        ruling = draw_refusal(REFUSED[case["action"]])
        assert ruling is not None
        assert ruling.reason == case["expected"]["reason"]


def test_every_case_is_tried() -> None:
    assert len(SCORING) + len(PLAY) == 284
    kinds = {case["kind"] for case in PLAY}
    assert kinds == {"legality", "winner", "leader", "bid", "draw", "draw_refusal"}
