"""Rulesets at random, and deals in which every seat does something legal at random."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from spades import Bid, Card, Deal, DrawDecision, Match, Ruleset, RulesetError, ScoreSheet, Seed, SideBefore
from spades.legality import behind
from spades.ruleset import PRESETS
from spades.terms import terms

# What a table might change: all options, those of the deck as `deck` and those that go together under one of them.
CHANGES: dict[str, list[Any]] = {
    "teams": ["none", "pairs", "trios"],
    "players": [2, 3, 4, 5, 6],
    "deck": ["52", "51", "50", "48", "jokers", "trumps", "half", "small", "two", "tiny", "poor", "one joker", "twins"],
    "deal_method": ["deal_all", "draw", "deal_half"],
    "draw_declined_face": ["up", "down"],
    "draw_second_card": ["face_up", "seen_by_drawer", "unseen"],
    "first_dealer": ["random", "cut_high", "host", "first_diamond"],
    "redeal": ["none", "no_spades", "no_spades_no_faces"],
    "pass_cycle": [[], ["left"], ["left", "right", "none"], ["across"]],
    "pass_count": [0, 1, 2, 4],
    "bid_mode": ["individual_sum", "partnership", "individual", "none"],
    "bid_order": ["left_of_dealer", "non_dealer", "non_dealing_side", "dealer", "simultaneous"],
    "bid_rule": ["free", "free", "free", "suicide", "mirror", "whiz"],
    "min_bid": [0, 1, 2, 3, 4],
    "max_bid": [2, 4, 7],
    "zero_bid": ["nil", "plain", "forbidden", "both"],
    "min_team_bid": [0, 1, 4, 6],
    "max_team_bid": [None, 4, 6, 13],
    "total_bid_rule": ["free", "not_equal_tricks"],
    "first_hand_bids_itself": [True, False],
    "dealer_rotation": ["left", "alternate"],
    "nil_success": [None, 50, 100],
    "nil_fail": [None, -100],
    "nil_fails": [-50, 0],
    "failed_nil_tricks": ["bags", "help_partner", "bags_no_points", "ignored"],
    "blind_nil_deficit": [0, 50, 100],
    "blind_nil_success": [200, 150],
    "blind_nil_fail": [-200, 0],
    "both_nil_success": [200, 350],
    "both_nil_fail": [0, -200],
    "blind_bid_multiplier": [1, 2, 3],
    "moon": ["off", "bid_all"],
    "moon_success": [200, 250, "win"],
    "moon_fail": ["contract_set", "tricks_as_bags"],
    "ten_for_200": ["off", "exact", "at_least"],
    "ten_success": [200, 150],
    "ten_fail": [-200, -100],
    "points_per_bid": [10, 5],
    "set_points": ["minus", "zero"],
    "bag_points": [1, 0, -10],
    "bag_limit": [0, 5, 7, 10],
    "bag_penalty": [50, 100],
    "bag_carry": ["remainder", "reset"],
    "target_score": [60, 100, 500],
    "losing_score": [None, -200, -500],
    "tie_rule": ["play_another", "shared"],
    "max_hands": [None, 1, 4],
    "set_limit": [None, 1, 3],
    "blind_nil": ["off", "any", "behind"],
    "nil_exchange": [0, 1, 3],
    "blind_nil_exchange": [0, 1, 2],
    "exchange_order": ["sequential", "blind"],
    "both_nil": ["independent", "joint", "forbidden"],
    "blind_bid_min": [None, 2, 6],
    "first_leader": ["left_of_dealer", "non_dealer", "dealer", "high_bidder"],
    "first_lead": ["no_spade", "any", "2C", "lowest_club"],
    "spade_lead": ["when_broken", "after_first_trick", "anytime"],
    "forced_lead_breaks": [True, False],
    "first_trick_spades": ["allowed", "forbidden"],
    "must_trump": [True, False],
}

_LOW = [rank + suit for rank in "23456789TJQK" for suit in "CDHS"]
DECKS: dict[str, dict[str, Any]] = {
    "52": {"jokers": 0, "removed_cards": [], "high_trumps": []},
    "51": {"jokers": 0, "removed_cards": ["2C"], "high_trumps": []},
    "50": {"jokers": 0, "removed_cards": ["2C", "2D"], "high_trumps": []},
    "48": {"jokers": 0, "removed_cards": ["2C", "2D", "2H", "2S"], "high_trumps": []},
    "poor": {"jokers": 0, "removed_cards": [rank + "S" for rank in "23456789TJQK"], "high_trumps": []},
    "one joker": {"jokers": 1, "removed_cards": ["2C"], "high_trumps": ["BJ"]},
    "twins": {"decks": 2, "duplicate_winner": "first", "removed_cards": ["2C", "2C", "2D", "2D"], "high_trumps": []},
    "jokers": {"jokers": 2, "removed_cards": ["2C", "2D"], "high_trumps": ["BJ", "LJ"]},
    "trumps": {"jokers": 2, "removed_cards": ["2C", "2H"], "high_trumps": ["BJ", "LJ", "2D", "2S"]},
    "half": {"jokers": 0, "removed_cards": _LOW[:28], "high_trumps": []},
    "small": {"jokers": 0, "removed_cards": _LOW[:36], "high_trumps": ["AH"]},
    "two": {"decks": 2, "duplicate_winner": "last", "removed_cards": ["2C", "2C"], "high_trumps": []},
    "tiny": {"jokers": 0, "removed_cards": _LOW[:40], "high_trumps": []},
}

EVERY_OPTION = frozenset(name for name in PRESETS["standard"].ruleset.options() if name != "hand_size")
"""The options that a table can give."""

PAID = {"score_mode": "contract", "points_per_bid": 10, "set_points": "minus", "failed_nil_tricks": "bags"}


def random_ruleset(rng: random.Random) -> Ruleset:
    """A preset with random changes, those left out that contradict each other."""
    preset = rng.choice(list(PRESETS))
    names = rng.sample(list(CHANGES), rng.randint(0, 16))
    given: dict[str, Any] = {}
    for name in names:
        value = rng.choice(CHANGES[name])
        if name == "deck":
            given.update(DECKS[value])
        elif name == "nil_fails":
            given["nil_fail"] = value
        elif name.startswith("moon"):
            given = {"moon": "bid_all", "moon_success": 250, "moon_fail": "contract_set", **given, name: value}
        elif name in ("nil_success", "nil_fail"):
            given.update({"nil_success": value and abs(value), "nil_fail": value and -100, "failed_nil_tricks": "bags"})
            given.setdefault("zero_bid", "nil" if value else "forbidden")
        elif name == "bid_mode" and value == "none":
            given.update({"bid_mode": "none", "score_mode": "books"})
        elif name == "bid_mode":
            given.update({"bid_mode": value, **PAID})
        else:
            given[name] = value
    while True:
        try:
            return Ruleset.resolve({"preset": preset, **given})
        except RulesetError as error:
            at_fault = [problem.option for problem in error.problems if problem.option in given]
            given.pop(at_fault[0] if at_fault else rng.choice(list(given)))


def opening(ruleset: Ruleset, rng: random.Random) -> Match:
    """A match at the beginning of one of its deals, with any scores."""
    facts = terms(ruleset)
    sides = {side: SideBefore(rng.choice((0, 0, 40, 150, 250))) for side in facts.table.sides}
    sheet = replace(ScoreSheet.start(ruleset), sides=sides, deals=rng.choice((0, 0, 1, 2)))
    deal = Deal.begin(
        ruleset,
        number=sheet.deals + 1,
        attempt=1,
        dealer=rng.choice(facts.table.seats),
        seed=Seed(rng.randbytes(32)),
        behind=behind(ruleset, sheet.scores()),
    )
    return Match(ruleset, sheet, deal.dealer, deal=deal)


Table = TypeVar("Table", Deal, Match)


def act(table: Table, seat: str, body: Mapping[str, Any]) -> Table:
    """A deal, or a match, after a request body of `seat`."""
    if "decision" in body:
        return table.draw(seat, DrawDecision(body["decision"]))
    if "look" in body:
        return table.look(seat)
    if "cards" in body:
        return table.pass_cards(seat, [Card.parse(code) for code in body["cards"]])
    if "card" in body:
        return table.play(seat, Card.parse(body["card"]))
    if body["kind"] == "reconsider":
        return table.reconsider(seat)
    return table.bid(seat, Bid.from_json(body))


def choose(legal: list[dict[str, Any]], rng: random.Random) -> dict[str, Any]:
    """One of the legal actions, with the cards chosen where some are to be."""
    body = rng.choice(legal)
    return {"cards": rng.sample(body["from"], body["choose"])} if "choose" in body else body


def play_on(match: Match, rng: random.Random) -> Iterator[Match]:
    """Every state of a deal from `match` on to its end, unscored. At times somebody looks at its hand out of turn."""
    while match.deal is not None and match.deal.phase != "finished":
        deal = match.deal
        early = [seat for place, seat in enumerate(deal.table.seats) if not deal.has_seen(place) and rng.random() < 0.1]
        looking = [seat for seat in early if {"look": True} in _looks(deal, seat)]
        if looking:
            deal = deal.look(looking[0])
        else:
            seat = rng.choice(deal.turns)
            deal = act(deal, seat, choose(deal.legal(seat), rng))
        match = replace(match, deal=deal)
        yield match


def _looks(deal: Deal, seat: str) -> list[dict[str, Any]]:
    partners = terms(deal.ruleset).units[deal.table.index(seat)]
    bids = [bid for place in partners if (bid := deal.bids[place]) is not None]
    return [] if any(bid.kind.value == "blind" for bid in bids) else [{"look": True}]


def stacked(ruleset: Ruleset, hands: Mapping[str, str], *, dealer: str, number: int = 1, behind: int = 0) -> Deal:
    """A deal in which these seats were dealt at least these cards, ``"AS KS"``; the rest falls anyhow."""
    facts = terms(ruleset)
    full = {seat: [Card.parse(code) for code in hands.get(seat, "").split()] for seat in facts.table.seats}
    rest = [card.first for card in facts.pack.deck]
    for cards in full.values():
        for card in cards:
            rest.remove(card)
    for cards in full.values():
        cards += [rest.pop() for _ in range(ruleset.hand_size - len(cards))]
    order = [*facts.table.from_(dealer)[1:], dealer]
    stock = [full[seat][turn] for turn in range(ruleset.hand_size) for seat in order]
    return Deal.restore(
        ruleset,
        number=number,
        attempt=1,
        dealer=dealer,
        seed=Seed(bytes(32)),
        stock=[*stock, *rest],
        behind=behind,
    )
