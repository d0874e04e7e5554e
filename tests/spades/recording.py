"""Games in which every seat does something legal at random, written down as they go."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spades import Bid, Card, DrawDecision, Match, Ruleset, Seed
from spades.notation import Action, CalledOff, Record, RecordedResult
from spades.replay import recorded_score
from spades.terms import terms

from .playing import act, choose, random_ruleset

PAGAT = Ruleset.resolve({"preset": "pagat"})
NAMES = ("Ann", 'Bo "the Bag" Li', "Çağla", "D\\E", "[Eve]", "; Fay")


def action_of(seat: str, body: Mapping[str, Any]) -> Action:
    """What a request body of `seat` is in a record."""
    if "decision" in body:
        return Action.draw(DrawDecision(body["decision"]))
    if "look" in body:
        return Action.look(seat)
    if "cards" in body:
        return Action.pass_cards(seat, [Card.parse(code) for code in body["cards"]])
    if "card" in body:
        return Action.play(Card.parse(body["card"]))
    return Action.place_bid(seat, None if body["kind"] == "reconsider" else Bid.from_json(body))


def random_record(rng: random.Random, ruleset: Ruleset | None = None, *, deals: int = 2) -> Record:
    """A game of at most so many deals, perhaps stopped in the middle, resigned or aborted."""
    return random_game(rng, ruleset, deals=deals)[0]


def random_game(rng: random.Random, ruleset: Ruleset | None = None, *, deals: int = 2) -> tuple[Record, Match]:
    """The same with the match as it stood at the end."""
    rules = ruleset or random_ruleset(rng)
    seats = terms(rules).table.seats
    first = Seed(rng.randbytes(32), tuple((seat, f"from {seat}") for seat in seats if rng.random() < 0.3))
    match = Match.start(rules, first)
    cut = tuple(tuple((seat, card.first) for seat, card in drawn) for drawn in match.cut)
    record = replace(Record.of(rules, dict(zip(seats, NAMES, strict=False)), Event="At random"), cut=cut)
    redeals: list[CalledOff] = []
    steps = rng.choice((0, 3, 30, 70, 1000))
    seed = first
    while match.ending is None and steps > 0 and not (match.needs_deal and match.sheet.deals >= deals):
        steps -= 1
        if match.needs_deal:
            match = match.begin_deal(seed)
            assert match.deal is not None
            record = record.begin(match.deal, redeals=redeals, secrets=True)
            seed = Seed(rng.randbytes(32), first.clients)
            continue
        match, record, redeals = _step(match, record, redeals, rng)
    if match.ending is None and rng.random() < 0.3:
        match = match.abort() if rng.random() < 0.3 else match.resign(rng.choice(seats))
    if match.ending is not None:
        ending = match.ending
        record = record.ended(RecordedResult(ending.winners, ending.reason, match.sheet.scores(), ending.seat))
    return record, match


def _step(
    match: Match, record: Record, redeals: list[CalledOff], rng: random.Random
) -> tuple[Match, Record, list[CalledOff]]:
    deal = match.deal
    assert deal is not None
    callers = [seat for seat in deal.table.seats if deal.may_call_redeal(seat)]
    if callers:
        called = CalledOff(callers[0], deal.seed.commitment)
        return match.call_redeal(callers[0]), replace(record, deals=record.deals[:-1]), [*redeals, called]
    unseen = [seat for place, seat in enumerate(deal.table.seats) if not deal.has_seen(place)]
    looking = [seat for seat in unseen if rng.random() < 0.1 and {"look": True} in deal.legal(seat)]
    seat = looking[0] if looking else rng.choice(deal.turns)
    body = {"look": True} if looking else choose(deal.legal(seat), rng)
    match, record = act(match, seat, body), record.add(action_of(seat, body))
    if match.score is None:
        return match, record, redeals
    return match, record.scored(recorded_score(match.score)), []


def finished() -> Record:
    """A whole deal in which each seat does the first thing that is legal."""
    return first_legal(PAGAT, 1)


def first_legal(rules: Ruleset, deals: int) -> Record:
    """So many deals in which each seat bids 3 and then plays the first card that is legal."""
    match = Match.start(rules, Seed(bytes(32)))
    record = Record.of(rules)
    while match.sheet.deals < deals and match.ending is None:
        if match.needs_deal:
            match = match.begin_deal(Seed(bytes([match.sheet.deals] * 32)))
            assert match.deal is not None
            record = record.begin(match.deal, secrets=True)
        seat, deal = match.turn or "", match.deal
        assert deal is not None
        body = next(one for one in deal.legal() if one.get("tricks") == 3 or "card" in one)
        if "card" in body:
            match, record = (
                match.play(seat, Card.parse(body["card"])),
                record.add(Action.play(Card.parse(body["card"]))),
            )
        else:
            match, record = match.bid(seat, Bid.from_json(body)), record.add(Action.place_bid(seat, Bid.number(3)))
        if match.score is not None:
            record = record.scored(recorded_score(match.score))
    if match.ending is not None:
        record = record.ended(RecordedResult(match.ending.winners, match.ending.reason, match.sheet.scores()))
    return record
