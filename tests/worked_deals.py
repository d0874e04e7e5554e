"""Whole deals for the worked scores: ``python -m tests.worked_deals`` writes tests/golden/deals.json.

A case of tests/golden/scoring.json says who bid and took what, not with which cards. For each case of the presets in
`PRESETS` that a game can come to, this looks for cards and a line of play in which every seat takes the tricks of the
case, all four seats together. The spades are dealt more or less as the tricks are to fall; at each trick the search
tries who of those that still need one shall win it, and goes back when the rest cannot come out.

A case that begins with a score needs deals before it that lead there: ordinary bids and tricks whose points come to the
score. As each of them takes several deals, `FROM_A_SCORE` stand for all that can be reached.

All chance comes from the case's id, so the file comes out the same again.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from spades import Bid, Card, Deal, DrawDecision, Phase, Rank, Ruleset, RuleViolation, ScoreSheet, Seed, Suit
from spades.legality import behind
from spades.ruleset import BidMode
from spades.terms import terms
from tests.spades.playing import act, choose

GOLDEN = Path(__file__).parent / "golden"
RESULT = GOLDEN / "deals.json"
PRESETS = (
    "standard",
    "two_player_closed",
    "sandbag_deduction",
    "hoyle_partners",
    "hoyle_individuals",
    "bicycle",
    "pagat",
    "books",
)
FROM_A_SCORE = ("S050", "S063", "S099", "S110")
"""A blind nil of the side that is behind, and games that end by a losing score, at a target, after so many deals."""
BEFORE_MOST = 2
"""How many deals may go before the one of a case, where it does not say."""
TRIES = 400
"""How many hands are tried for one deal."""
BACK = 1500
"""How many tricks are tried with one set of hands."""
RANKS = list(Rank)

Bids = Mapping[str, Bid]
Tricks = Mapping[str, int]


def main() -> int:
    """Write the file; gives the exit status."""
    lines, left_out = [], []
    for case in json.loads((GOLDEN / "scoring.json").read_text(encoding="utf-8")):
        if case["preset"] not in PRESETS:
            continue
        deals = deals_for(case) if from_nothing(case) or case["id"] in FROM_A_SCORE else None
        if deals is None:
            left_out.append(case["id"])
        else:
            lines.append(f'"{case["id"]}": [\n  ' + ",\n  ".join(map(json.dumps, deals)) + "\n ]")
        print(case["id"], "none" if deals is None else len(deals), flush=True)
    RESULT.write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} cases written to {RESULT}; left out: {', '.join(left_out)}.")
    return 0


def ruleset_of(case: Mapping[str, Any]) -> Ruleset:
    """The ruleset of a case."""
    overrides = {name: value for name, value in case["options_overrides"].items() if name != "hand_size"}
    return Ruleset.resolve({"preset": case["preset"], **overrides})


def bids_of(case: Mapping[str, Any]) -> dict[str, Bid]:
    """The bids of a case; none where nobody bids."""
    return {seat: read_bid(bid) for seat, bid in case["hands"]["bids"].items() if bid is not None}


def read_bid(value: int | str) -> Bid:
    """A bid as a case tells it."""
    return Bid.number(value) if isinstance(value, int) else Bid.parse(value)


def deals_for(case: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Deals that come to the case, its own the last; None where none are found."""
    ruleset, chance = ruleset_of(case), random.Random(case["id"])
    table = terms(ruleset).table
    before = way_to(ruleset, case["before"], chance)
    if before is None:
        return None
    sheet, found = ScoreSheet.start(ruleset), []
    dealer = table.seats[-1]
    for bids, tricks in [*before, (bids_of(case), case["hands"]["tricks"])]:
        deal = find(ruleset, sheet, dealer, bids, tricks, chance)
        if deal is None:
            return None
        found.append(deal)
        sheet, _ = sheet.after(bids, tricks)
        dealer = table.after(dealer)
    return found


# Deals that lead to a score.


def from_nothing(case: Mapping[str, Any]) -> bool:
    """Whether the deal of a case is the first of its game."""
    return stands(ScoreSheet.start(ruleset_of(case)), case["before"]) and case["before"].get("hand_no", 1) == 1


def way_to(ruleset: Ruleset, before: Mapping[str, Any], chance: random.Random) -> list[tuple[Bids, Tricks]] | None:
    """Bids and tricks of deals after which the game stands as it does before the case."""
    start = ScoreSheet.start(ruleset)
    if stands(start, before):
        return []
    outcomes = list(some_outcomes(ruleset))
    chance.shuffle(outcomes)
    deals: dict[tuple[int, ...], tuple[Bids, Tricks]] = {}
    for bids, tricks in outcomes:
        sheet, _ = start.after(bids, tricks)
        deals.setdefault(tuple(sheet.scores().values()), (bids, tricks))
    aim = tuple(before["scores"].values())
    lengths = (before["hand_no"] - 1,) if "hand_no" in before else range(1, BEFORE_MOST + 1)
    paths = (path for length in lengths for path in _paths(deals, aim, length))
    return next((path for path in paths if _leads(start, path, before)), None)


def _paths(
    deals: Mapping[tuple[int, ...], tuple[Bids, Tricks]], aim: tuple[int, ...], length: int
) -> Iterator[list[tuple[Bids, Tricks]]]:
    """So many deals whose points come to `aim`, if bags do nothing else."""
    if length == 1:
        if aim in deals:
            yield [deals[aim]]
        return
    for points, deal in deals.items():
        rest = tuple(total - part for total, part in zip(aim, points, strict=True))
        for path in _paths(deals, rest, length - 1):
            yield [deal, *path]


def _leads(sheet: ScoreSheet, path: Sequence[tuple[Bids, Tricks]], before: Mapping[str, Any]) -> bool:
    for bids, tricks in path:
        if sheet.ending() is not None:
            return False
        sheet, _ = sheet.after(bids, tricks)
    return sheet.ending() is None and stands(sheet, before)


def stands(sheet: ScoreSheet, before: Mapping[str, Any]) -> bool:
    """Whether a game stands as it does before the case."""
    asked = before.get("sets", {})
    return (
        all(sheet.sides[side].score == score for side, score in before["scores"].items())
        and all(sheet.sides[side].bags == bags for side, bags in before["bags"].items())
        and all(sheet.sides[side].sets == sets for side, sets in asked.items())
    )


def some_outcomes(ruleset: Ruleset) -> Iterator[tuple[Bids, Tricks]]:
    """Ordinary bids and tricks of two sides, shared evenly by partners."""
    table = terms(ruleset).table
    sides = [[seat for seat in table.seats if table.side_of[seat] == side] for side in table.sides]
    if len(sides) != 2:
        return
    (ours, theirs), size = sides, ruleset.hand_size
    for taken in range(size + 1):
        tricks = {**_shared(ours, taken), **_shared(theirs, size - taken)}
        if ruleset.bid_mode is BidMode.NONE:
            yield {}, tricks
            continue
        low = len(ours)
        for our, their in product(range(low, size), repeat=2):
            if abs(our + their - size) <= 4:
                numbers = {**_shared(ours, our), **_shared(theirs, their)}
                yield {seat: Bid.number(number) for seat, number in numbers.items()}, tricks


def _shared(seats: Sequence[str], number: int) -> dict[str, int]:
    each, more = divmod(number, len(seats))
    return {seat: each + (place < more) for place, seat in enumerate(seats)}


# One deal.


def find(
    ruleset: Ruleset, sheet: ScoreSheet, dealer: str, bids: Bids, tricks: Tricks, chance: random.Random
) -> dict[str, Any] | None:
    """Cards and a line of play with these bids in which every seat takes these tricks."""
    for _ in range(TRIES):
        hands = some_hands(ruleset, tricks, chance)
        stock = stock_of(ruleset, dealer, hands)
        deal = Deal.restore(
            ruleset,
            number=sheet.deals + 1,
            attempt=1,
            dealer=dealer,
            seed=Seed(bytes(32)),
            stock=stock,
            behind=behind(ruleset, sheet.scores()),
        )
        try:
            ready, passes = _to_play(deal, bids, chance)
        except RuleViolation as violation:
            print(violation, file=sys.stderr)
            return None
        over = _play(ready, tricks, chance, [BACK])
        if over is not None:
            return {
                "dealer": dealer,
                "stock": " ".join(card.code for card in stock),
                "bids": {seat: str(bid) for seat, bid in bids.items()},
                "passes": passes,
                "plays": " ".join(card.code for card in over.plays),
            }
    return None


def some_hands(ruleset: Ruleset, tricks: Tricks, chance: random.Random) -> dict[str, list[Card]]:
    """Hands in which a seat is the likelier to hold spades the more tricks it shall take."""
    deck = [card.first for card in terms(ruleset).pack.deck]
    chance.shuffle(deck)
    hands: dict[str, list[Card]] = {seat: [] for seat in tricks}
    spades = [card for card in deck if card.suit is Suit.SPADES]
    rest = [card for card in deck if card.suit is not Suit.SPADES]
    if len(tricks) < 4:
        rest = rest[: ruleset.hand_size * len(tricks) - len(spades)]
    due = [seat for seat, number in tricks.items() for _ in range(number)]
    chance.shuffle(due)
    for card, seat in zip(spades, due, strict=False):
        hands[seat if chance.random() < 0.8 else chance.choice(list(tricks))].append(card)
    for seat, hand in hands.items():
        rest += hand[ruleset.hand_size :]
        hands[seat] = hand[: ruleset.hand_size]
    chance.shuffle(rest)
    for hand in hands.values():
        while len(hand) < ruleset.hand_size:
            hand.append(rest.pop())
    return hands


def stock_of(ruleset: Ruleset, dealer: str, hands: Mapping[str, Sequence[Card]]) -> list[Card]:
    """The pack that gives these hands: dealt one by one, or drawn with every first card kept."""
    facts = terms(ruleset)
    order = [*facts.table.from_(dealer)[1:], dealer]
    dealt = [hands[seat][turn] for turn in range(ruleset.hand_size) for seat in order]
    rest = [card for card in (card.first for card in facts.pack.deck) if card not in dealt]
    if not facts.drawing:
        return [*dealt, *rest]
    return [card for pair in zip(dealt, rest, strict=True) for card in pair]


def _to_play(deal: Deal, bids: Bids, chance: random.Random) -> tuple[Deal, list[list[str]]]:
    """The deal when the play begins, and the cards that were given away."""
    passes = []
    while deal.phase is not Phase.PLAYING:
        seat = deal.turns[0]
        body = next_step(deal.legal(seat), bids.get(seat))
        if "choose" in body:
            body = choose([body], chance)
            passes.append([seat, " ".join(body["cards"])])
        deal = act(deal, seat, body)
    return deal, passes


def next_step(legal: Sequence[Mapping[str, Any]], bid: Bid | None) -> dict[str, Any]:
    """What a seat does before the play that shall keep every first card and come to this bid."""
    if "decision" in legal[0]:
        return {"decision": DrawDecision.KEEP.value}
    if {"look": True} in legal and (bid is None or bid.to_json() not in legal):
        return {"look": True}
    return dict(legal[0]) if "choose" in legal[0] or bid is None else dict(bid.to_json())


def _play(deal: Deal, tricks: Tricks, chance: random.Random, left: list[int]) -> Deal | None:
    """The deal played out so that every seat takes its tricks; None if that was not found."""
    if deal.phase is Phase.FINISHED:
        return deal
    need = {seat: tricks[seat] - taken for seat, taken in deal.tricks_by_seat().items()}
    wanting = [seat for seat, number in need.items() if number > 0]
    chance.shuffle(wanting)
    for seat in sorted(wanting, key=lambda seat: -need[seat] * chance.random()):
        for _ in range(2):
            left[0] -= 1
            if left[0] < 0:
                return None
            after = _trick(deal, seat, chance)
            won = after.tricks_by_seat()
            if won[seat] > deal.tricks_by_seat()[seat]:
                over = _play(after, tricks, chance, left)
                if over is not None:
                    return over
    return None


def _trick(deal: Deal, winner: str, chance: random.Random) -> Deal:
    """The deal after one trick that `winner` tries to take, and everybody lets it."""
    number = deal.trick_number
    while deal.phase is Phase.PLAYING and deal.trick_number == number:
        seat = deal.turns[0]
        cards = [Card.parse(body["card"]) for body in deal.legal(seat)]
        chance.shuffle(cards)
        strength = sorted(cards, key=lambda card: (card.suit is Suit.SPADES, RANKS.index(card.rank)))
        wanted = strength[-1] if seat == winner else strength[0]
        deal = deal.play(seat, cards[0] if chance.random() < 0.15 else wanted)
    return deal


if __name__ == "__main__":
    sys.exit(main())
