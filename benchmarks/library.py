"""Random whole deals through the library, in turn with OpenSpiel driven from Python: ``python -m benchmarks.library``.

One deal is a shuffle, four bids and 52 cards, each action chosen at random among those that the engine says are legal.
Both engines are called from the same kind of loop in one process on one core, in turns, so that what else the machine
does falls on both; the ratios of the rounds and their median are told. OpenSpiel is driven in three ways:

- `sampled`: chance is a node like others, and one of its outcomes is taken. This is the loop of its manual, our dice.
- `listed`: the card dealt next is chosen from the legal actions, with no look at its probability.
- `dealt`: it is told a shuffled pack, and asked nothing while it is dealt: the least that it can cost.

Then what single questions cost: the legal actions of a seat that plays a card and of one that bids, a play, and a bid.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata

import pyspiel

from benchmarks.http import conditions
from spades import PRESETS, Bid, Deal, Phase, Playout, Seed
from spades.cards import cards_of

RULESET = PRESETS["openspiel"].ruleset
GAME = pyspiel.load_game("spades")
LIMIT = 10.0
"""The most, in microseconds, that the legal actions of a seat may take to tell."""
RUNS, ASKED = 500, 10


def ours(rng: random.Random) -> None:
    """A whole deal of this library."""
    deal = begun(rng)
    while bids := deal.legal_bids():
        deal = deal.bid(deal.turn or "", rng.choice(bids))
    playout = Playout(deal)
    while cards := playout.legal():
        playout.play(rng.choice(cards))


def values(rng: random.Random) -> None:
    """The same, each card making another value, as the service has it."""
    deal = begun(rng)
    while bids := deal.legal_bids():
        deal = deal.bid(deal.turn or "", rng.choice(bids))
    while deal.phase is Phase.PLAYING:
        deal = deal.play(deal.turn or "", rng.choice(cards_of(deal.legal_cards())))


def begun(rng: random.Random) -> Deal:
    """A deal before its first bid."""
    return Deal.begin(RULESET, number=1, attempt=1, dealer="W", seed=Seed(rng.randbytes(32)))


def sampled(rng: random.Random) -> None:
    """A whole deal of OpenSpiel by the loop of its manual."""
    state = GAME.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(rng.choice(state.chance_outcomes())[0])  # all are equally likely
        else:
            state.apply_action(rng.choice(state.legal_actions()))


def listed(rng: random.Random) -> None:
    """The same, chance taken from the legal actions."""
    state = GAME.new_initial_state()
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))


def dealt(rng: random.Random) -> None:
    """The same, told a shuffled pack."""
    state = GAME.new_initial_state()
    for card in rng.sample(range(52), 52):
        state.apply_action(card)
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))


def rate(play: Callable[[random.Random], None], rng: random.Random, deals: int) -> float:
    """Deals a second of processor time, which other work on the machine takes nothing of."""
    begun_at = time.process_time()
    for _ in range(deals):
        play(rng)
    return deals / (time.process_time() - begun_at)


def question(deal: Deal, ask: Callable[[Deal], object], *, again: bool = False) -> float:
    """Microseconds that one question takes: the least of many short runs, as other work can only add to it.

    Args:
        again: ask the same deal over and over; else each is one that was never asked before.
    """
    best = float("inf")
    for _ in range(RUNS):
        deals = [deal if again else replace(deal) for _ in range(ASKED)]
        begun_at = time.perf_counter()
        for one in deals:
            ask(one)
        best = min(best, time.perf_counter() - begun_at)
    return best / ASKED * 1e6


def questions(rng: random.Random) -> dict[str, float]:
    """What single questions and steps cost, in microseconds."""
    bidding = begun(rng)
    leading = bidding
    while leading.phase is Phase.BIDDING:
        leading = leading.bid(leading.turn or "", Bid.from_json(rng.choice(leading.legal())))
    following = leading.play(leading.turn or "", cards_of(leading.legal_cards())[0])
    card, bid = cards_of(following.legal_cards())[0], Bid.from_json(bidding.legal()[3])
    return {
        "legal cards, leading": question(leading, Deal.legal_cards),
        "legal cards, following": question(following, Deal.legal_cards),
        "legal actions, leading": question(leading, Deal.legal),
        "legal actions, following": question(following, Deal.legal),
        "legal actions, bidding": question(bidding, Deal.legal),
        "legal actions, asked again": question(following, Deal.legal, again=True),
        "a card played": question(following, lambda deal: deal.play(deal.turn or "", card)),
        "a bid made": question(bidding, lambda deal: deal.bid(deal.turn or "", bid)),
    }


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library", description="Measure the library.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--deals", type=int, default=300, help="in each round, of each engine")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"{conditions()}, OpenSpiel {metadata.version('open_spiel')}")
    rates: dict[str, list[float]] = {play.__name__: [] for play in (ours, *WAYS)}
    for play in (ours, *WAYS):
        rate(play, rng, options.deals // 3)
    for _ in range(options.rounds):
        for play in (ours, *WAYS):
            rates[play.__name__].append(rate(play, rng, options.deals))
    print(f"\n{options.rounds} rounds of {options.deals} deals, medians")
    print(f"{'this library':28}{statistics.median(rates['ours']):8,.0f} deals a second")
    for play in WAYS:
        ratios = sorted(mine / theirs for mine, theirs in zip(rates["ours"], rates[play.__name__], strict=True))
        print(
            f"{'OpenSpiel, ' + play.__name__:28}{statistics.median(rates[play.__name__]):8,.0f} deals a second,"
            f" ratio {statistics.median(ratios):.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f}"
        )
    print("\nmicroseconds")
    for name, cost in questions(rng).items():
        over = f"  more than {LIMIT:.0f}" if name.startswith("legal") and cost > LIMIT else ""
        print(f"{name:28}{cost:8.1f}{over}")


WAYS = (sampled, listed, dealt)

if __name__ == "__main__":
    main()
