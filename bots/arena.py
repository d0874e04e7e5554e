"""Duplicate matches between two bots, without a service: ``python -m bots.arena --games 200 --seed 1 steady random``.

Games come in pairs with the same cards: the stock of each deal and the cut are the same, and the bots change seats. So
luck of the cards counts for both alike, and differences of the bots are seen sooner.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bots.player import REGISTRY, Bot, bot
from spades import Bid, Card, DrawDecision, Match, Ruleset, Seed
from spades.shuffle import SEED_BYTES
from spades.view import for_seat

__all__ = ["Tally", "act", "compete", "main", "play_match", "seat_view"]


def seat_view(match: Match, seat: str) -> dict[str, Any]:
    """The view that a bot at `seat` is given."""
    return {
        **for_seat(match, seat),
        "ruleset": match.ruleset.options(),
        "viewer": {"role": "seat", "seat": seat},
    }


def act(match: Match, seat: str, body: Mapping[str, Any]) -> Match:
    """Take an action given as a request body.

    Raises:
        RuleViolation: the rules forbid it.
        NotationError: it spells no action.
    """
    if "decision" in body:
        return match.draw(seat, DrawDecision(body["decision"]))
    if "card" in body:
        return match.play(seat, Card.parse(body["card"]))
    return match.bid(seat, Bid.from_json(body))


def play_match(
    ruleset: Ruleset, bots: Mapping[str, Bot], seed: int, seconds: dict[str, list[float]] | None = None
) -> Match:
    """Play a match to its end.

    Args:
        bots: who sits in which seat.
        seed: what the cut, every deal and the chance of each seat come from.
        seconds: where the processor time of each decision is added, by the name of the bot.
    """
    chance = random.Random(seed)
    match = Match.start(ruleset, Seed(chance.randbytes(SEED_BYTES)))
    own = {seat: random.Random(f"{seed} {seat}") for seat in bots}
    while match.ending is None:
        if match.needs_deal:
            match = match.begin_deal(Seed(chance.randbytes(SEED_BYTES)))
        seat = match.turn
        if seat is None:
            raise ValueError("a match that runs waits for a seat")
        view = seat_view(match, seat)
        started = time.process_time()
        body = bots[seat].choose(view, own[seat])
        if seconds is not None:
            seconds[bots[seat].name].append(time.process_time() - started)
        match = act(match, seat, body)
    return match


@dataclass(slots=True)
class Tally:
    """What came out of a run of pairs, for the first bot."""

    wins: list[float] = field(default_factory=list)
    """For each pair of games the share that was won: 0, 0.5 or 1."""
    points: list[float] = field(default_factory=list)
    """For each pair the points a deal more than the other bot's."""
    deals: list[int] = field(default_factory=list)
    """The deals of each game."""
    endings: Counter[str] = field(default_factory=Counter)
    """How often games ended for which reason."""
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """By the name of a bot, the processor seconds of each decision."""

    def lines(self, first: str, second: str) -> Iterable[str]:
        """The report."""
        yield f"{first} against {second}: {len(self.deals)} games in pairs with the same cards"
        yield f"games won         {_interval(self.wins, 100, '%')}"
        yield f"points a deal     {_interval(self.points, 1, '')} more than {second}"
        yield (
            f"deals a game      {statistics.mean(self.deals):.1f} on average, "
            f"{min(self.deals)} to {max(self.deals)}, half of them below {statistics.median(self.deals):g}"
        )
        yield "ended by          " + ", ".join(f"{reason} {count}" for reason, count in self.endings.most_common())
        for name, seconds in self.seconds.items():
            yield (
                f"a decision takes  {1000 * statistics.mean(seconds):.3f} ms on average, "
                f"{1000 * max(seconds):.1f} ms at most ({name})"
            )


def _interval(values: Sequence[float], factor: float, unit: str) -> str:
    """Mean and 95 % interval of independent values."""
    half = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return f"{factor * statistics.mean(values):.1f}{unit} ± {factor * half:.1f}"


def compete(ruleset: Ruleset, first: Bot, second: Bot, *, pairs: int, seed: int) -> Tally:
    """Play pairs of games, `first` in every other seat in the one and in the remaining seats in the other.

    The winner's share of a game counts half where sides share the victory.
    """
    tally = Tally(seconds={first.name: [], second.name: []})
    names = _seats(ruleset)
    for pair in range(pairs):
        won, gained = [], []
        for turn in range(2):
            bots = {name: (first, second)[(place + turn) % 2] for place, name in enumerate(names)}
            match = play_match(ruleset, bots, seed + pair, tally.seconds)
            if match.ending is None:
                raise ValueError("the match did not end")
            side, other = (match.table.side_of[names[place]] for place in ((0, 1), (1, 0))[turn])
            winners, scores, deals = match.ending.winners, match.sheet.scores(), match.sheet.deals
            won.append((side in winners) / len(winners))
            gained.append((scores[side] - scores[other]) / deals)
            tally.deals.append(deals)
            tally.endings[match.ending.reason] += 1
        tally.wins.append(statistics.mean(won))
        tally.points.append(statistics.mean(gained))
    return tally


def _seats(ruleset: Ruleset) -> tuple[str, ...]:
    return Match.start(ruleset, Seed(bytes(SEED_BYTES))).table.seats


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m bots.arena", description="Play duplicate matches between two bots."
    )
    parser.add_argument("first", choices=sorted(REGISTRY))
    parser.add_argument("second", choices=sorted(REGISTRY))
    parser.add_argument("--games", type=int, default=200, help="how many, two for each set of cards")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--preset", default="two_player")
    options = parser.parse_args(arguments)
    ruleset = Ruleset.resolve({"preset": options.preset})
    pairs = max(1, options.games // 2)
    tally = compete(ruleset, bot(options.first), bot(options.second), pairs=pairs, seed=options.seed)
    for line in tally.lines(options.first, options.second):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
