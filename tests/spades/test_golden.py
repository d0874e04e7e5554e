"""The worked cases: played where this engine has every option that they need, refused by name where it has not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spades import (
    Bid,
    Card,
    DrawDecision,
    Match,
    Ruleset,
    RuleViolation,
    ScoreSheet,
    Seed,
    SideBefore,
)
from spades.rulings import rule_on_bid, rule_on_cards, rule_on_draws, rule_on_leader, rule_on_trick
from spades.terms import terms
from spades.view import for_seat

GOLDEN = Path(__file__).parent.parent / "golden"
SCORING = json.loads((GOLDEN / "scoring.json").read_text())
PLAY = json.loads((GOLDEN / "play.json").read_text())


def ruleset_of(case: dict[str, Any]) -> Ruleset:
    overrides = {name: value for name, value in case["options_overrides"].items() if name != "hand_size"}
    return Ruleset.resolve({"preset": case["preset"], **overrides})


def of_kind(kind: str) -> list[Any]:
    chosen = [case for case in PLAY if case["kind"] == kind]
    assert chosen
    return [pytest.param(case, id=case["id"]) for case in chosen]


def read_bid(value: Any, tricks: int) -> Bid:
    if value == "moon":
        return Bid.number(tricks)
    return Bid.number(value) if isinstance(value, int) else Bid.parse(value)


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


def cards_of_trick(case: dict[str, Any]) -> list[tuple[str, Card]]:
    return [(played["seat"], Card.parse(played["card"])) for played in case["trick"]]


@pytest.mark.parametrize("case", of_kind("legality"))
def test_cards_are_allowed_or_refused_as_worked(case: dict[str, Any]) -> None:
    ruleset = ruleset_of(case)
    if "lowest_club_in_deck" in case:
        assert terms(ruleset).pack.lowest_club == Card.parse(case["lowest_club_in_deck"]).bit

    ruling = rule_on_cards(
        ruleset,
        [Card.parse(code) for code in case["hand"]],
        [card for _, card in cards_of_trick(case)],
        trick_number=case["trick_no"],
        spades_broken=case["spades_broken"],
        asked=[Card.parse(code) for code in case.get("not_in_hand", ())],
    )

    assert {str(card) for card in ruling.legal} == set(case["expected"]["legal"])
    assert list(ruling.legal) == sorted(ruling.legal)
    reasons = {code: violation.reason.value for code, violation in ruling.refused.items()}
    assert reasons == case["expected"]["illegal"]


@pytest.mark.parametrize("case", of_kind("winner"))
def test_a_trick_is_won_as_worked(case: dict[str, Any]) -> None:
    ruling = rule_on_trick(ruleset_of(case), cards_of_trick(case), spades_broken=case["spades_broken"])

    found = {
        "winner": ruling.winner,
        "led_suit": ruling.led_suit.value,
        "spades_broken_after": ruling.spades_broken_after,
    }
    assert found == case["expected"]


@pytest.mark.parametrize("case", of_kind("bid"))
def test_bids_are_open_as_worked(case: dict[str, Any]) -> None:
    ruleset = ruleset_of(case)
    side = terms(ruleset).table.side_of[case["seat"]]
    scores = {}
    if "scores" in case:
        scores = {name: case["scores"]["own" if name == side else "other"] for name in terms(ruleset).table.sides}
    bids = {seat: read_bid(bid, ruleset.hand_size) for seat, bid in case.get("bids_so_far", {}).items()}
    hand = [Card.parse(code) for code in case["hand"]] if "hand" in case else None
    question: dict[str, Any] = {
        "hand": hand,
        "hand_seen": case.get("hand_seen", True),
        "bids": bids,
        "scores": scores,
    }

    legal = rule_on_bid(ruleset, case["seat"], **question).legal

    assert [str(bid) if bid.is_nil else bid.tricks for bid in legal] == case["expected"]["legal_bids"]
    possible = [Bid.parse(text) for text in ("nil", "blind_nil", *(str(n) for n in range(20)), "blind:6")]
    for bid in possible:
        refusal = rule_on_bid(ruleset, case["seat"], **question, bid=bid).refusal
        assert (refusal is None) == (bid in legal)


@pytest.mark.parametrize("case", of_kind("draw"))
def test_hands_are_drawn_as_worked(case: dict[str, Any]) -> None:
    ruling = rule_on_draws(
        ruleset_of(case),
        [Card.parse(code) for code in case["deck"]],
        case["dealer"],
        [DrawDecision(decision) for decision in case["decisions"]],
    )
    deal, expected = ruling.deal, case["expected"]

    for seat, hand in expected.get("hands", {}).items():
        assert {card.code for card in deal.hand(seat)} == set(hand)
    found = {
        "discards": [{"card": d.card.code, "face": d.face, "visible_to": list(d.visible_to)} for d in deal.discards],
        "next_turn": deal.turn if deal.phase == "drawing" else None,
        "deck_left": deal.stock_count,
        "phase": {"drawing": "draw"}.get(deal.phase.value, deal.phase.value),
        "first_bidder": ruling.first_bidder,
        "cards_seen": ruling.cards_seen,
    }
    assert {name: found[name] for name in expected if name != "hands"} == {
        name: value for name, value in expected.items() if name != "hands"
    }


@pytest.mark.parametrize("case", of_kind("leader"))
def test_the_leader_is_as_worked(case: dict[str, Any]) -> None:
    ruleset = ruleset_of(case)
    assert list(terms(ruleset).table.seats) == case["seats"]

    ruling = rule_on_leader(
        ruleset,
        case["dealer"],
        trick_number=case["trick_no"],
        last_winner=case.get("last_winner"),
        holder_of_lowest_club=case.get("holder_of_lowest_club"),
        bids={seat: read_bid(bid, 13) for seat, bid in case["bids"].items()} if "bids" in case else None,
    )

    assert ruling.leader == case["expected"]["leader"]


REFUSED = {
    "draw_from_discard": DrawDecision.TAKE_DISCARD,
    "decline_second": DrawDecision.DECLINE_SECOND,
    "keep_both": DrawDecision.KEEP_BOTH,
    "peek_second_first": DrawDecision.PEEK_SECOND,
}


def refused(case: dict[str, Any]) -> RuleViolation | None:
    """What the library answers to the action of a case, in the draw phase of a deal."""
    ruleset = ruleset_of(case)
    stock = Seed(bytes(32)).shuffled(terms(ruleset).pack.deck)
    keep = DrawDecision.KEEP
    match case["action"]:
        case "wrong_player":
            return rule_on_draws(ruleset, stock, "A", [], proposed=("A", keep)).refusal
        case "draw_after_end":
            return rule_on_draws(ruleset, stock, "A", [keep] * 26, proposed=("B", keep)).refusal
        case action if action in REFUSED:
            return rule_on_draws(ruleset, stock, "A", [], proposed=("B", REFUSED[action])).refusal
    deal = rule_on_draws(ruleset, stock, "A", []).deal
    attempts = {
        "bid_during_draw": lambda: deal.bid("B", Bid.number(3)),
        "play_during_draw": lambda: deal.play("B", stock[0]),
    }
    with pytest.raises(RuleViolation) as caught:
        attempts[case["action"]]()
    return caught.value


@pytest.mark.parametrize("case", [case for case in of_kind("draw_refusal") if case.values[0]["id"] != "R009"])
def test_a_wrong_draw_is_refused_as_worked(case: dict[str, Any]) -> None:
    refusal = refused(case)

    assert refusal is not None
    assert refusal.reason == case["expected"]["reason"]


def test_a_hand_that_is_not_ones_own_is_hidden_as_worked() -> None:
    (case,) = [case for case in PLAY if case["id"] == "R009"]
    ruleset = ruleset_of(case)
    match = Match(ruleset, ScoreSheet.start(ruleset), "A").begin_deal(Seed(bytes(32)))
    while match.deal is not None and match.deal.phase == "drawing":
        match = match.draw(match.turn or "", DrawDecision.KEEP)
    assert match.deal is not None

    seen = json.dumps(for_seat(match, "A"))

    assert case["expected"] == {"reason": "hidden"}
    assert not [card for card in match.deal.hand("B") if f'"{card}"' in seen]


def test_every_case_is_tried() -> None:
    assert len(SCORING) + len(PLAY) == 284
    kinds = {case["kind"] for case in PLAY}
    assert kinds == {"legality", "winner", "leader", "bid", "draw", "draw_refusal"}
