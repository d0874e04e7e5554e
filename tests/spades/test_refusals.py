"""Every refusal in the words in which it is told: reason, sentence, and the option that decided with its section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spades import Bid, Card, Deal, Ruleset, RuleViolation
from spades.legality import bid_refusal
from spades.rulings import rule_on_bid, rule_on_cards
from tests.spades.playing import act, stacked

SPADES = " ".join(f"{rank}S" for rank in "23456789TJQKA")
EVERYBODY = 0b1111
Told = tuple[str, str, tuple[str, Any, str] | None]


def rules(preset: str = "solo", **changes: Any) -> Ruleset:
    return Ruleset.resolve({"preset": preset, **changes})


def told(refusal: RuleViolation | None) -> Told:
    assert refusal is not None
    rule = refusal.rule
    value = rule and getattr(rule.value, "value", rule.value)
    return refusal.reason.value, refusal.detail, rule and (rule.option, value, rule.section)


def refused(deal: Deal, seat: str, body: dict[str, Any]) -> Told:
    before = vars(deal).copy()
    with pytest.raises(RuleViolation) as caught:
        act(deal, seat, body)
    assert {name: vars(deal)[name] for name in before} == before
    return told(caught.value)


def card(code: str) -> dict[str, Any]:
    return {"card": code}


def give(codes: str) -> dict[str, Any]:
    return {"cards": codes.split()}


def bid(text: str) -> dict[str, Any]:
    return Bid.parse(text).to_json()


LOOK, RECONSIDER = {"look": True}, {"kind": "reconsider"}


def table(
    preset: str = "solo",
    hands: dict[str, str] | None = None,
    behind: int = 0,
    **changes: Any,
) -> Deal:
    """The first deal of a table, dealt by its first seat."""
    ruleset = rules(preset, **changes)
    return stacked(ruleset, hands or {}, dealer="N" if ruleset.players == 4 else "A", behind=behind)


def bids(deal: Deal, *texts: str) -> Deal:
    for text in texts:
        deal = deal.bid(deal.turn or "", Bid.parse(text))
    return deal


# Cards, the situation told.


@pytest.mark.parametrize(
    ("changes", "hand", "trick", "number", "asked", "expected"),
    [
        (
            {},
            "2C AS",
            "",
            1,
            "AS",
            (
                "first_lead_spade",
                "The first trick is not led with a spade while you hold another suit.",
                ("first_lead", "no_spade", "leading"),
            ),
        ),
        (
            {"first_lead": "any"},
            "2C AS",
            "",
            1,
            "AS",
            (
                "spades_not_broken",
                "Spades are not broken, and you hold another suit to lead.",
                ("spade_lead", "when_broken", "leading"),
            ),
        ),
        (
            {},
            "2C AS",
            "",
            2,
            "AS",
            (
                "spades_not_broken",
                "Spades are not broken, and you hold another suit to lead.",
                ("spade_lead", "when_broken", "leading"),
            ),
        ),
        (
            {"spade_lead": "after_first_trick", "first_lead": "any"},
            "2C AS",
            "",
            1,
            "AS",
            (
                "spades_not_broken",
                "Spades may be led from the second trick on, and you hold another suit to lead.",
                ("spade_lead", "after_first_trick", "leading"),
            ),
        ),
        (
            {"spade_lead": "after_first_trick"},
            "2C AS",
            "",
            1,
            "AS",
            (
                "first_lead_spade",
                "The first trick is not led with a spade while you hold another suit.",
                ("first_lead", "no_spade", "leading"),
            ),
        ),
        (
            {"first_lead": "2C"},
            "2C AS 3D",
            "",
            1,
            "3D",
            (
                "must_lead_lowest_club",
                "The first trick is led with 2C, which you hold.",
                ("first_lead", "2C", "leading"),
            ),
        ),
        (
            {"first_lead": "2C", "removed_cards": ["2C", "2D", "2H", "2S"]},
            "3C AS 3D",
            "",
            1,
            "3D",
            (
                "must_lead_lowest_club",
                "The first trick is led with 3C, which you hold.",
                ("first_lead", "2C", "leading"),
            ),
        ),
        (
            {"first_lead": "lowest_club"},
            "3C 4C 3D",
            "2C",
            1,
            "4C",
            (
                "must_play_lowest_club",
                "Everybody plays the lowest club to the first trick.",
                ("first_lead", "lowest_club", "leading"),
            ),
        ),
        (
            {"first_lead": "lowest_club"},
            "3C 4C 3D",
            "2C",
            1,
            "3D",
            ("must_follow_suit", "You hold clubs and must follow the club lead.", None),
        ),
        (
            {"first_trick_spades": "forbidden"},
            "3D AS",
            "2C",
            1,
            "AS",
            (
                "first_trick_spade",
                "No spade is thrown on the first trick while you hold another suit.",
                ("first_trick_spades", "forbidden", "following"),
            ),
        ),
        (
            {"first_trick_spades": "forbidden", "must_trump": True},
            "3D AS",
            "2C",
            1,
            "AS",
            (
                "first_trick_spade",
                "No spade is thrown on the first trick while you hold another suit.",
                ("first_trick_spades", "forbidden", "following"),
            ),
        ),
        (
            {"must_trump": True},
            "3D AS",
            "2C",
            1,
            "3D",
            (
                "must_trump",
                "You cannot follow suit, so you must play a spade while you hold one.",
                ("must_trump", True, "following"),
            ),
        ),
        (
            {"must_trump": True},
            "3D AS",
            "2C",
            5,
            "3D",
            (
                "must_trump",
                "You cannot follow suit, so you must play a spade while you hold one.",
                ("must_trump", True, "following"),
            ),
        ),
        ({}, "3C 3D AS", "2C", 2, "3D", ("must_follow_suit", "You hold clubs and must follow the club lead.", None)),
        (
            {},
            "3C 3D AS",
            "4D",
            2,
            "3C",
            ("must_follow_suit", "You hold diamonds and must follow the diamond lead.", None),
        ),
        ({}, "3C 3H AS", "4H", 2, "3C", ("must_follow_suit", "You hold hearts and must follow the heart lead.", None)),
        ({}, "3C 3D AS", "4S", 2, "3C", ("must_follow_suit", "You hold spades and must follow the spade lead.", None)),
        ({}, "3C", "4S", 2, "4C", ("not_in_hand", "4C is not in your hand.", None)),
    ],
)
def test_a_card_is_refused_in_these_words(
    changes: dict[str, Any], hand: str, trick: str, number: int, asked: str, expected: Told
) -> None:
    ruling = rule_on_cards(
        rules(**changes),
        [Card.parse(code) for code in hand.split()],
        [Card.parse(code) for code in trick.split()],
        trick_number=number,
        spades_broken=False,
        asked=[Card.parse(asked)],
    )

    assert told(ruling.refused[asked]) == expected


# Bids, the situation told.


@pytest.mark.parametrize(
    ("changes", "seat", "situation", "asked", "expected"),
    [
        ({"preset": "books"}, "E", {}, "3", ("wrong_phase", "Nobody bids in this deal.", ("bid_mode", "none", "bids"))),
        (
            {"preset": "books"},
            "E",
            {},
            "nil",
            ("wrong_phase", "Nobody bids in this deal.", ("bid_mode", "none", "bids")),
        ),
        ({}, "E", {}, "14", ("bid_out_of_range", "A number bid is 1 to 13 here, not 14.", ("max_bid", 13, "bids"))),
        (
            {"min_bid": 2},
            "E",
            {},
            "1",
            ("bid_out_of_range", "A number bid is 2 to 13 here, not 1.", ("min_bid", 2, "bids")),
        ),
        (
            {"max_bid": 6},
            "E",
            {},
            "7",
            ("bid_out_of_range", "A number bid is 1 to 6 here, not 7.", ("max_bid", 6, "bids")),
        ),
        (
            {"preset": "standard"},
            "E",
            {},
            "0",
            (
                "bid_out_of_range",
                "A promise of no trick is the bid nil here, not the number 0.",
                ("zero_bid", "nil", "nil"),
            ),
        ),
        (
            {"nil_success": None, "nil_fail": None, "zero_bid": "forbidden"},
            "E",
            {},
            "0",
            ("bid_out_of_range", "A promise of no trick is no bid here.", ("zero_bid", "forbidden", "nil")),
        ),
        (
            {"nil_success": None, "nil_fail": None, "zero_bid": "forbidden"},
            "E",
            {},
            "nil",
            ("nil_not_offered", "Nil is not offered at this table.", ("nil_success", None, "nil")),
        ),
        (
            {"blind_nil": "off"},
            "E",
            {},
            "blind_nil",
            ("blind_nil_not_allowed", "The bid blind_nil is not open at this table.", ("blind_nil", "off", "blind")),
        ),
        (
            {},
            "E",
            {},
            "blind:4",
            ("blind_nil_not_allowed", "The bid blind:4 is not open at this table.", ("blind_bid_min", None, "blind")),
        ),
        (
            {"preset": "two_player"},
            "B",
            {},
            "blind_nil",
            ("blind_nil_not_allowed", "The bid blind_nil is not open at this table.", ("deal_method", "draw", "blind")),
        ),
        (
            {"preset": "standard", "blind_nil": "behind"},
            "E",
            {"hand_seen": False},
            "blind_nil",
            (
                "blind_not_behind",
                "A blind nil is open to a side that is 100 or more behind.",
                ("blind_nil_deficit", 100, "blind"),
            ),
        ),
        (
            {"preset": "standard", "blind_nil": "any"},
            "E",
            {"hand_seen": True},
            "blind_nil",
            ("hand_already_seen", "You have seen your hand, so you cannot bid blind.", ("blind_nil", "any", "blind")),
        ),
        (
            {"preset": "standard", "blind_nil": "any"},
            "E",
            {"hand_seen": False},
            "3",
            ("look_first", "Bid blind, or look at your hand first.", ("blind_nil", "any", "blind")),
        ),
        (
            {"preset": "standard", "blind_nil": "off", "blind_bid_min": 4},
            "E",
            {"hand_seen": False},
            "3",
            ("look_first", "Bid blind, or look at your hand first.", ("blind_bid_min", 4, "blind")),
        ),
        (
            {"preset": "standard", "blind_nil": "any", "blind_bid_min": 4},
            "E",
            {"hand_seen": True},
            "blind:4",
            ("hand_already_seen", "You have seen your hand, so you cannot bid blind.", ("blind_bid_min", 4, "blind")),
        ),
        (
            {"preset": "standard", "blind_nil": "off", "blind_bid_min": 4},
            "W",
            {"hand_seen": False, "bids": {"E": "blind:1", "S": "2"}},
            "blind:2",
            ("bid_out_of_range", "What your side bids blind must come to 4 at least.", ("blind_bid_min", 4, "blind")),
        ),
        (
            {"preset": "standard", "blind_nil": "off", "blind_bid_min": 4},
            "W",
            {"hand_seen": False, "bids": {"E": "3", "S": "2"}},
            "blind:2",
            ("blind_side_incomplete", "Partners bid blind together or not at all.", ("blind_bid_min", 4, "blind")),
        ),
        (
            {"preset": "standard", "blind_nil": "any", "both_nil": "forbidden"},
            "W",
            {"bids": {"E": "nil", "S": "2"}},
            "nil",
            (
                "nil_not_offered",
                "Your partner has bid nil, and a side may do so only once here.",
                ("both_nil", "forbidden", "nil"),
            ),
        ),
        (
            {"preset": "suicide"},
            "W",
            {"bids": {"E": "nil", "S": "2"}},
            "nil",
            (
                "suicide_needs_number",
                "Your partner bid nil, so you bid a number here.",
                ("bid_rule", "suicide", "bids"),
            ),
        ),
        (
            {"preset": "suicide"},
            "W",
            {"bids": {"E": "4", "S": "2"}},
            "4",
            ("suicide_needs_nil", "Your partner bid a number, so you bid nil here.", ("bid_rule", "suicide", "bids")),
        ),
        (
            {"preset": "suicide", "min_team_bid": 4},
            "E",
            {},
            "3",
            ("team_minimum", "The bids of a side come to 4 at least.", ("min_team_bid", 4, "bids")),
        ),
        (
            {"preset": "standard", "min_team_bid": 4},
            "W",
            {"bids": {"E": "2", "S": "2"}},
            "1",
            ("team_minimum", "The bids of a side come to 4 at least.", ("min_team_bid", 4, "bids")),
        ),
        (
            {"preset": "standard", "max_team_bid": 6},
            "W",
            {"bids": {"E": "3", "S": "2"}},
            "4",
            (
                "team_maximum",
                "The bids of a side come to 6 at most, whatever the partner has to bid included.",
                ("max_team_bid", 6, "bids"),
            ),
        ),
        (
            {
                "preset": "standard",
                "max_team_bid": 6,
                "nil_success": None,
                "nil_fail": None,
                "zero_bid": "forbidden",
                "blind_nil": "off",
            },
            "E",
            {},
            "6",
            (
                "team_maximum",
                "The bids of a side come to 6 at most, whatever the partner has to bid included.",
                ("max_team_bid", 6, "bids"),
            ),
        ),
        (
            {"total_bid_rule": "not_equal_tricks"},
            "N",
            {"bids": {"E": "3", "S": "3", "W": "3"}},
            "4",
            (
                "total_equals_tricks",
                "You bid last, and all bids may not add up to 13, the number of tricks.",
                ("total_bid_rule", "not_equal_tricks", "bids"),
            ),
        ),
        (
            {"preset": "whiz"},
            "E",
            {"hand": "2C 3S 4S 3C 4C 5C 6C 7C 8C 9C TC JC QC"},
            "3",
            ("bid_is_forced", "You hold 2 spades, and what you bid follows from that.", ("bid_rule", "whiz", "bids")),
        ),
        (
            {"preset": "whiz"},
            "E",
            {"hand": "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC"},
            "1",
            ("bid_is_forced", "You hold 0 spades, and what you bid follows from that.", ("bid_rule", "whiz", "bids")),
        ),
        (
            {"preset": "whiz", "zero_bid": "both"},
            "E",
            {"hand": "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC"},
            "0",
            ("bid_is_forced", "You hold 0 spades, and what you bid follows from that.", ("bid_rule", "whiz", "bids")),
        ),
    ],
)
def test_a_bid_is_refused_in_these_words(
    changes: dict[str, Any], seat: str, situation: dict[str, Any], asked: str, expected: Told
) -> None:
    made = {bidder: Bid.parse(text) for bidder, text in situation.get("bids", {}).items()}
    hand = [Card.parse(code) for code in situation["hand"].split()] if "hand" in situation else None

    ruling = rule_on_bid(
        rules(**changes),
        seat,
        hand=hand,
        hand_seen=situation.get("hand_seen", True),
        bids=made,
        bid=Bid.parse(asked),
    )

    assert told(ruling.refusal) == expected


@pytest.mark.parametrize(
    ("changes", "asked", "expected"),
    [
        (
            {"preset": "books"},
            "3",
            ("bid_out_of_range", "Nobody bids at this table.", ("bid_mode", "none", "bids")),
        ),
        (
            {"preset": "books"},
            "blind_nil",
            ("blind_nil_not_allowed", "Nobody bids at this table.", ("bid_mode", "none", "bids")),
        ),
        (
            {"preset": "mirror"},
            "blind_nil",
            ("blind_nil_not_allowed", "The bid blind_nil is not open at this table.", ("bid_rule", "mirror", "bids")),
        ),
        (
            {"preset": "whiz"},
            "blind:4",
            ("blind_nil_not_allowed", "The bid blind:4 is not open at this table.", ("bid_rule", "whiz", "bids")),
        ),
    ],
)
def test_a_bid_that_no_seat_could_make_is_refused_in_these_words(
    changes: dict[str, Any], asked: str, expected: Told
) -> None:
    assert told(bid_refusal(rules(**changes), Bid.parse(asked))) == expected


def test_a_bid_that_only_the_score_bars_could_be_made() -> None:
    behind = rules("standard", blind_nil="behind")

    assert bid_refusal(behind, Bid.parse("blind_nil")) is None
    assert told(bid_refusal(behind, Bid.parse("blind_nil"), behind=False))[0] == "blind_not_behind"


@pytest.mark.parametrize(
    ("changes", "hand", "legal"),
    [
        ({"preset": "whiz", "zero_bid": "both"}, "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC", ["nil"]),
        ({"preset": "whiz"}, "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KS AS", ["nil", "2"]),
        ({"preset": "mirror"}, "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC", ["nil"]),
        ({"preset": "mirror"}, "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KS AS", ["2"]),
        (
            {"preset": "mirror", "nil_success": None, "nil_fail": None, "zero_bid": "plain"},
            "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC",
            ["0"],
        ),
    ],
)
def test_what_is_left_to_bid_where_spades_are_counted(changes: dict[str, Any], hand: str, legal: list[str]) -> None:
    ruling = rule_on_bid(rules(**changes), "E", hand=[Card.parse(code) for code in hand.split()])

    assert [str(each) for each in ruling.legal] == legal


# Actions at a table.

ACTIONS: list[tuple[str, Callable[[], Deal], str, dict[str, Any], Told]] = [
    ("a bid out of turn", table, "S", bid("3"), ("not_your_turn", "It is the turn of seat E, not of seat S.", None)),
    (
        "a bid out of turn beside others who bid at once",
        lambda: bids(table(bid_order="simultaneous"), "3"),
        "N",
        bid("3"),
        ("already_bid", "You have bid in this deal, and a bid is final.", None),
    ),
    (
        "a second bid",
        lambda: bids(table(), "3"),
        "E",
        bid("4"),
        ("already_bid", "You have bid in this deal, and a bid is final.", None),
    ),
    (
        "a pass at a table that waits for two",
        lambda: bids(table("standard", nil_exchange=1, exchange_order="blind"), "nil", "3", "4", "3"),
        "S",
        give("2C"),
        ("not_your_turn", "It is the turn of seats E, W, not of seat S.", None),
    ),
    (
        "a card while bids are open",
        table,
        "E",
        card("2C"),
        ("wrong_phase", "The deal is bidding: seat E has to bid.", None),
    ),
    (
        "a card in the draw",
        lambda: table("two_player"),
        "B",
        card("2C"),
        ("wrong_phase", "The deal is drawing: seat B has to decide about a card.", None),
    ),
    (
        "a bid in the play",
        lambda: bids(table(), "3", "3", "3", "3"),
        "E",
        {"kind": "nil"},
        ("wrong_phase", "The deal is playing: seat E has to play a card.", None),
    ),
    (
        "a bid in the draw",
        lambda: table("two_player"),
        "B",
        bid("3"),
        ("wrong_phase", "The deal is drawing: seat B has to decide about a card.", None),
    ),
    (
        "a draw while bids are open",
        table,
        "E",
        {"decision": "keep"},
        ("wrong_phase", "The deal is bidding: seat E has to bid.", None),
    ),
    (
        "a pass while bids are open",
        table,
        "E",
        give("2C"),
        ("wrong_phase", "The deal is bidding: seat E has to bid.", None),
    ),
    (
        "a bid while cards are passed",
        lambda: table(pass_cycle=["left"], pass_count=1),
        "E",
        bid("3"),
        ("wrong_phase", "The deal is passing: seat E has to pass cards.", None),
    ),
    ("a look at a hand that is seen", table, "E", LOOK, ("hand_already_seen", "You see your hand already.", None)),
    (
        "a look in the play",
        lambda: bids(table(), "3", "3", "3", "3"),
        "E",
        LOOK,
        ("wrong_phase", "The deal is playing: seat E has to play a card.", None),
    ),
    (
        "a look beside a partner who bid blind",
        lambda: bids(table("standard", blind_nil="off", blind_bid_min=4), "blind:4").look("S").bid("S", Bid.number(2)),
        "W",
        LOOK,
        (
            "blind_side_incomplete",
            "Your partner bid a number blind, so you bid blind too.",
            ("blind_bid_min", 4, "blind"),
        ),
    ),
    (
        "cards given before the look where only numbers are bid blind",
        lambda: table("standard", blind_nil="off", blind_bid_min=4),
        "E",
        {"cards": ["2C"]},
        ("look_first", "Bid blind, or look at your hand first.", ("blind_bid_min", 4, "blind")),
    ),
    (
        "a look in the play out of turn",
        lambda: bids(table(), "3", "3", "3", "3"),
        "W",
        LOOK,
        ("wrong_phase", "The deal is playing.", None),
    ),
    (
        "a pass before the look",
        lambda: table("standard", blind_nil="any", pass_cycle=["across"], pass_count=1, behind=EVERYBODY),
        "S",
        give("2C"),
        ("look_first", "Bid blind, or look at your hand first.", ("blind_nil", "any", "blind")),
    ),
    (
        "a reconsideration before the look",
        lambda: table("hoyle_partners", blind_nil="any", behind=EVERYBODY),
        "E",
        RECONSIDER,
        ("look_first", "Bid blind, or look at your hand first.", ("blind_nil", "any", "blind")),
    ),
    (
        "a reconsideration without proposals",
        lambda: table("hoyle_partners", blind_nil="off"),
        "E",
        RECONSIDER,
        ("wrong_phase", "There is no proposal of a partner to reconsider.", ("bid_mode", "partnership", "bids")),
    ),
    (
        "a second reconsideration",
        lambda: bids(bids(table("hoyle_partners", blind_nil="off"), "3").reconsider("W"), "3"),
        "W",
        RECONSIDER,
        ("wrong_phase", "Your side has reconsidered once in this deal already.", ("bid_mode", "partnership", "bids")),
    ),
    (
        "a reconsideration out of turn",
        lambda: table("hoyle_partners", blind_nil="off"),
        "W",
        RECONSIDER,
        ("not_your_turn", "It is the turn of seat E, not of seat W.", None),
    ),
    (
        "too many cards",
        lambda: table(pass_cycle=["left"], pass_count=1, hands={"N": "2C 3C"}),
        "N",
        give("2C 3C"),
        ("pass_count_wrong", "Exactly 1 card is given, not 2.", ("pass_count", 1, "passing")),
    ),
    (
        "one card twice",
        lambda: table(pass_cycle=["left"], pass_count=2, hands={"N": "2C 3C"}),
        "N",
        give("2C 2C"),
        ("not_in_hand", "2C is not in your hand, or not so often.", None),
    ),
    (
        "a card that another holds",
        lambda: table(pass_cycle=["left"], pass_count=1, hands={"N": "2C 3C"}),
        "E",
        give("2C"),
        ("not_in_hand", "2C is not in your hand, or not so often.", None),
    ),
    (
        "too many cards for a nil",
        lambda: bids(table("standard", nil_exchange=1, hands={"E": "2C 3C"}), "nil", "3", "4", "3"),
        "E",
        give("2C 3C"),
        ("pass_count_wrong", "Exactly 1 card is given, not 2.", ("nil_exchange", 1, "exchange")),
    ),
    (
        "too many cards for a blind nil",
        lambda: bids(
            table("pagat", blind_nil="any", behind=EVERYBODY, hands={"E": "2C 3C 4C"}).look("S").look("W").look("N"),
            "blind_nil",
            "3",
            "4",
            "3",
        ),
        "E",
        give("2C 3C 4C"),
        ("pass_count_wrong", "Exactly 2 cards are given, not 3.", ("blind_nil_exchange", 2, "exchange")),
    ),
    (
        "both cards",
        lambda: table("two_player"),
        "B",
        {"decision": "keep_both"},
        ("one_card_per_turn", "A turn adds one card to your hand, never both.", ("deal_method", "draw", "draw")),
    ),
    (
        "a second card declined",
        lambda: table("two_player"),
        "B",
        {"decision": "decline_second"},
        (
            "second_card_is_forced",
            "Having declined the first card you must keep the second.",
            ("deal_method", "draw", "draw"),
        ),
    ),
    (
        "a card of the pile",
        lambda: table("two_player"),
        "B",
        {"decision": "take_discard"},
        ("discard_pile_closed", "No card may be drawn from the discard pile.", ("deal_method", "draw", "draw")),
    ),
    (
        "a look at the second card",
        lambda: table("two_player"),
        "B",
        {"decision": "peek_second"},
        ("decide_first", "Decide about the first card before the second is seen.", ("deal_method", "draw", "draw")),
    ),
    (
        "a draw out of turn",
        lambda: table("two_player"),
        "A",
        {"decision": "keep"},
        ("not_your_turn", "It is the turn of seat B, not of seat A.", None),
    ),
    (
        "a card out of turn",
        lambda: bids(table(), "3", "3", "3", "3"),
        "N",
        card("2C"),
        ("not_your_turn", "It is the turn of seat E, not of seat N.", None),
    ),
    (
        "a card of another",
        lambda: bids(table(hands={"S": "2C"}), "3", "3", "3", "3"),
        "E",
        card("2C"),
        ("not_in_hand", "2C is not in your hand.", None),
    ),
    (
        "a spade led too early",
        lambda: bids(table(hands={"E": "2C AS"}), "3", "3", "3", "3"),
        "E",
        card("AS"),
        (
            "first_lead_spade",
            "The first trick is not led with a spade while you hold another suit.",
            ("first_lead", "no_spade", "leading"),
        ),
    ),
]


@pytest.mark.parametrize(
    ("deal", "seat", "body", "expected"), [row[1:] for row in ACTIONS], ids=[row[0] for row in ACTIONS]
)
def test_an_action_is_refused_in_these_words(
    deal: Callable[[], Deal], seat: str, body: dict[str, Any], expected: Told
) -> None:
    assert refused(deal(), seat, body) == expected


def test_nothing_is_to_do_in_a_finished_deal() -> None:
    deal = table("two_player_closed", target_score=500)
    while deal.turn is not None:
        deal = act(deal, deal.turn, deal.legal()[0])

    assert (deal.phase, deal.turns, deal.action, deal.legal()) == ("finished", (), None, [])
    expected = ("not_your_turn", "The deal is finished.", None)
    assert [refused(deal, "A", body) for body in (card("2C"), {"decision": "keep"}, RECONSIDER, give("2C"))] == [
        expected
    ] * 4


def test_a_hint_beside_a_final_bid_is_refused_in_these_words() -> None:
    deal = bids(table("hoyle_partners", blind_nil="off"), "3")

    with pytest.raises(RuleViolation) as caught:
        deal.bid("W", Bid.number(3), hint_max=4)

    detail = "Only a proposal may have a hint, and this bid is final: no partner is to answer it."
    assert told(caught.value) == ("wrong_phase", detail, ("bid_mode", "partnership", "bids"))


@pytest.mark.parametrize("hint", [2, 14])
def test_a_hint_is_refused_in_these_words(hint: int) -> None:
    deal = table("hoyle_partners", blind_nil="off")

    with pytest.raises(RuleViolation) as caught:
        deal.bid("E", Bid.number(3), hint_max=hint)

    detail = "A hint says how far beyond its bid a seat would go, so with this one it is 3 to 13."
    assert told(caught.value) == ("bid_out_of_range", detail, ("bid_mode", "partnership", "bids"))


LATE = "A redeal may be called before anybody bids and before you pass, if the table has that rule."


@pytest.mark.parametrize(
    ("deal", "seat", "expected"),
    [
        (
            lambda: table("standard", redeal="no_spades", blind_nil="any", behind=EVERYBODY),
            "E",
            ("look_first", "Bid blind, or look at your hand first.", ("blind_nil", "any", "blind")),
        ),
        (
            lambda: table(redeal="no_spades", hands={"S": SPADES}),
            "S",
            (
                "redeal_not_allowed",
                "Your hand is not one that may ask for a redeal.",
                ("redeal", "no_spades", "redeal"),
            ),
        ),
        (
            lambda: bids(table(redeal="no_spades", hands={"S": SPADES}), "3"),
            "N",
            ("redeal_not_allowed", LATE, ("redeal", "no_spades", "redeal")),
        ),
        (table, "N", ("redeal_not_allowed", LATE, ("redeal", "none", "redeal"))),
    ],
    ids=["before the look", "with spades", "after a bid", "without the rule"],
)
def test_a_redeal_is_refused_in_these_words(deal: Callable[[], Deal], seat: str, expected: Told) -> None:
    with pytest.raises(RuleViolation) as caught:
        deal().require_redeal(seat)

    assert told(caught.value) == expected
