"""Makes tests/golden/play_counts.json: ``python -m tests.spades.play_counts``.

Positions come from deals in which every seat does something legal at random, by the seed that is the name of the
ending; the counts come from `brute_force`, which shares nothing with the library. The file is kept, so that the
positions do not change with the code; a test counts them again in both ways.
"""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path
from typing import Any

from spades import Phase, Ruleset
from spades.cards import codes_of

from .brute_force import Ending
from .playing import opening, play_on

FILE = Path(__file__).parent.parent / "golden" / "play_counts.json"
RULES = (
    "jokers",
    "removed_cards",
    "high_trumps",
    "decks",
    "duplicate_winner",
    "first_lead",
    "spade_lead",
    "forced_lead_breaks",
    "first_trick_spades",
    "must_trump",
)
"""The options that the play depends on, once somebody leads the first trick."""

PLAIN = [rank + suit for rank in "23456789TJQKA" for suit in "CDHS"]
TWELVE = [card for card in PLAIN if card[0] not in "QKA"]
SIXTEEN = [card for card in PLAIN if card[0] not in "2QKA"]
MANY_SPADES = [card for card in PLAIN if card not in ("2S", "3S", "4S", "5S", "6S", "2C", "3C", "2D", "3D", "2H")]
TWO_SEATS = {"preset": "books", "players": 2, "teams": "none"}
TWELVE_WITH_JOKERS = {"jokers": 2, "removed_cards": [*TWELVE, "QC", "QD"], "high_trumps": ["BJ", "LJ"]}
TWO_PACKS = {"decks": 2, "removed_cards": [*TWELVE, *TWELVE, "KD", "KD", "QD", "QD", "QH", "QH", "QC", "QC"]}

ENDINGS: list[tuple[str, dict[str, Any], int]] = [
    # An ending of every preset: the last tricks of a deal that was played at random up to there.
    ("two_player", {"preset": "two_player"}, 4),
    ("two_player again", {"preset": "two_player"}, 5),
    ("two_player_closed", {"preset": "two_player_closed"}, 4),
    ("hoyle_partners", {"preset": "hoyle_partners"}, 3),
    ("hoyle_individuals", {"preset": "hoyle_individuals"}, 3),
    ("books", {"preset": "books"}, 3),
    ("standard", {"preset": "standard"}, 3),
    ("standard again", {"preset": "standard"}, 4),
    ("bicycle", {"preset": "bicycle"}, 3),
    ("pagat", {"preset": "pagat"}, 3),
    ("bicycle_jokers", {"preset": "bicycle_jokers"}, 3),
    ("sandbag_deduction", {"preset": "sandbag_deduction"}, 3),
    ("solo", {"preset": "solo"}, 3),
    ("suicide", {"preset": "suicide"}, 3),
    ("mirror", {"preset": "mirror"}, 3),
    ("whiz", {"preset": "whiz"}, 3),
    ("cutthroat", {"preset": "cutthroat"}, 4),
    ("cutthroat again", {"preset": "cutthroat"}, 4),
    ("joker_joker_deuce_deuce", {"preset": "joker_joker_deuce_deuce"}, 3),
    ("joker_joker_deuce_deuce again", {"preset": "joker_joker_deuce_deuce"}, 4),
    ("joker_joker_deuce_deuce_tournament", {"preset": "joker_joker_deuce_deuce_tournament"}, 3),
    ("six_solo", {"preset": "six_solo"}, 2),
    ("six_pairs", {"preset": "six_pairs"}, 2),
    ("openspiel", {"preset": "openspiel"}, 3),
    # Whole deals of small packs, from the first lead on.
    ("a spade may not lead first", {"preset": "books", "removed_cards": TWELVE}, 3),
    ("four cards each", {"preset": "books", "removed_cards": SIXTEEN, "spade_lead": "when_broken"}, 4),
    ("any first lead", {"preset": "books", "removed_cards": TWELVE, "first_lead": "any", "spade_lead": "anytime"}, 3),
    ("spades at any time", {"preset": "books", "removed_cards": TWELVE, "spade_lead": "anytime"}, 3),
    ("after the first trick", {"preset": "books", "removed_cards": TWELVE, "spade_lead": "after_first_trick"}, 3),
    ("a forced lead breaks", {**TWO_SEATS, "removed_cards": MANY_SPADES, "forced_lead_breaks": True}, 5),
    ("a forced lead breaks nothing", {**TWO_SEATS, "removed_cards": MANY_SPADES, "forced_lead_breaks": False}, 5),
    ("no spade on the first trick", {"preset": "books", "removed_cards": TWELVE, "first_trick_spades": "forbidden"}, 3),
    ("must trump", {"preset": "books", "removed_cards": TWELVE, "must_trump": True}, 3),
    (
        "must trump but not at first",
        {"preset": "books", "removed_cards": TWELVE, "must_trump": True, "first_trick_spades": "forbidden"},
        3,
    ),
    ("the lowest club leads", {"preset": "books", "removed_cards": TWELVE, "first_lead": "2C"}, 3),
    ("the two of clubs leads", {"preset": "books", "removed_cards": PLAIN[16:], "first_lead": "2C"}, 4),
    ("everybody's lowest club", {"preset": "books", "removed_cards": PLAIN[16:], "first_lead": "lowest_club"}, 4),
    ("jokers", {"preset": "books", **TWELVE_WITH_JOKERS}, 3),
    ("one joker", {"preset": "books", "jokers": 1, "removed_cards": [*TWELVE, "QC"], "high_trumps": ["BJ"]}, 3),
    ("a red ace above the spades", {"preset": "books", "removed_cards": TWELVE, "high_trumps": ["AH", "QD"]}, 3),
    ("a club above the spades", {"preset": "books", "removed_cards": TWELVE, "high_trumps": ["QC"]}, 3),
    (
        "the lowest club is a trump",
        {"preset": "books", "removed_cards": TWELVE, "high_trumps": ["QC"], "first_lead": "lowest_club"},
        3,
    ),
    ("two packs, the first wins", {"preset": "books", **TWO_PACKS, "duplicate_winner": "first"}, 4),
    ("two packs, the last wins", {"preset": "books", **TWO_PACKS, "duplicate_winner": "last"}, 4),
    (
        "two packs and the lowest club",
        {"preset": "books", **TWO_PACKS, "duplicate_winner": "last", "first_lead": "lowest_club"},
        4,
    ),
    ("two seats", {"preset": "books", "players": 2, "teams": "none", "removed_cards": PLAIN[10:]}, 5),
    (
        "two seats must trump",
        {"preset": "books", "players": 2, "teams": "none", "removed_cards": PLAIN[10:], "must_trump": True},
        5,
    ),
    ("three seats", {"preset": "books", "players": 3, "teams": "none", "removed_cards": TWELVE}, 4),
    ("five seats", {"preset": "books", "players": 5, "teams": "none", "removed_cards": PLAIN[10:]}, 2),
    (
        "five seats, two jokers",
        {"preset": "books", "players": 5, "teams": "none", **TWELVE_WITH_JOKERS, "removed_cards": PLAIN[13:]},
        3,
    ),
    ("six seats", {"preset": "books", "players": 6, "teams": "trios", "removed_cards": TWELVE}, 2),
    ("six seats in pairs", {"preset": "books", "players": 6, "teams": "pairs", "removed_cards": PLAIN[18:]}, 3),
]

OTHERWISE: dict[str, dict[str, Any]] = {
    "a spade may not lead first": {"first_lead": "any", "spade_lead": "anytime"},
    "any first lead": {"first_lead": "no_spade"},
    "spades at any time": {"spade_lead": "when_broken"},
    "after the first trick": {"spade_lead": "when_broken"},
    "a forced lead breaks": {"forced_lead_breaks": False},
    "a forced lead breaks nothing": {"forced_lead_breaks": True},
    "no spade on the first trick": {"first_trick_spades": "allowed"},
    "must trump": {"must_trump": False},
    "must trump but not at first": {"first_trick_spades": "allowed"},
    "the lowest club leads": {"first_lead": "any"},
    "the two of clubs leads": {"first_lead": "any"},
    "everybody's lowest club": {"first_lead": "2C"},
    "a red ace above the spades": {"high_trumps": []},
    "a club above the spades": {"high_trumps": []},
    "two packs, the first wins": {"duplicate_winner": "last"},
    "two packs, the last wins": {"duplicate_winner": "first"},
    "two packs and the lowest club": {"first_lead": "2C"},
    "two seats must trump": {"must_trump": False},
}
"""By the name of an ending, other rules under which its number of plays is another one."""


def position(name: str, options: dict[str, Any], left: int, most: int = 1500) -> dict[str, Any]:
    """A random ending with so many cards left in a hand; the first that is not too many plays to count."""
    for number in range(1000):
        rng = random.Random(f"{name} {number}")
        ruleset = Ruleset.resolve(options)
        match = opening(ruleset, rng)
        first = ending = None
        for state in (match, *play_on(match, rng)):
            deal = state.deal
            assert deal is not None
            if deal.phase is not Phase.PLAYING:
                continue
            first = first or deal
            if not ending and max(hand.bit_count() for hand in deal.hands) == left:
                ending = deal
        assert first is not None
        assert ending is not None
        case = {
            "id": name,
            "ruleset": options,
            "rules": {option: plain(getattr(ruleset, option)) for option in RULES},
            "dealer": first.dealer,
            "deal_number": first.number,
            "stock": " ".join(card.code for card in first.stock),
            "draws": first.draws,
            "passes": [codes(cards) for cards in first.passes],
            "bids": [bid and str(bid) for bid in first.bids],
            "gives": [codes(cards) for cards in first.gives],
            "hands": {seat: codes(cards) for seat, cards in zip(first.table.seats, first.hands, strict=True)},
            "leader": first.turn,
            "plays": " ".join(card.code for card in ending.plays),
        }
        count = sum(1 for _ in islice(ending_of(case).ways(), most))
        if most / 100 < count < most and matters(name, case, count):
            return {**case, "count": count}
    raise AssertionError(name)


def matters(name: str, case: dict[str, Any], count: int) -> bool:
    """Whether the rule that an ending is named for changes the number of its plays."""
    if name not in OTHERWISE:
        return True
    otherwise = {**case, "rules": {**case["rules"], **OTHERWISE[name]}}
    return sum(1 for _ in islice(ending_of(otherwise).ways(), count + 1)) != count


def plain(value: Any) -> Any:
    """The value of an option as in JSON."""
    return list(value) if isinstance(value, tuple) else getattr(value, "value", value)


def codes(cards: int) -> str:
    return " ".join(codes_of(cards))


def ending_of(case: dict[str, Any]) -> Ending:
    """The ending of a case, for the brute force."""
    hands = {seat: cards.split() for seat, cards in case["hands"].items()}
    return Ending.after(case["rules"], hands, case["leader"], case["plays"].split())


def main() -> None:
    cases = []
    for name, options, left in ENDINGS:
        cases.append(position(name, options, left))
        print(name, cases[-1]["count"], flush=True)
    FILE.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n", encoding="utf-8")
    print(f"{len(cases)} endings, {sum(case['count'] for case in cases)} plays. Written to {FILE}.")


if __name__ == "__main__":
    main()
