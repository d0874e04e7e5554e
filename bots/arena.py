"""Duplicate boards and matches between two bots, without a service.

``python -m bots.arena --preset standard --boards 200 --seed 1`` plays boards: single deals from a score of nothing,
each at two tables with the same cards and the seats changed. With ``--games 200`` it plays whole games in such pairs.
So luck of the cards counts for both alike, and differences of the bots are seen sooner.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bots.player import REGISTRY, Bot, bot
from spades import PRESETS, Bid, Card, DrawDecision, Match, Ruleset, Seed
from spades.seats import Table
from spades.shuffle import SEED_BYTES
from spades.view import for_seat

__all__ = ["BoardTally", "Tally", "act", "compete", "main", "play_boards", "play_match", "seat_view"]


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
    if "cards" in body:
        return match.pass_cards(seat, [Card.parse(code) for code in body["cards"]])
    if "look" in body:
        return match.look(seat)
    if body.get("kind") == "reconsider":
        return match.reconsider(seat)
    return match.bid(seat, Bid.from_json(body))


Seconds = dict[str, list[float]]
"""By the name of a bot, the processor seconds of each decision."""


def play_match(
    ruleset: Ruleset, bots: Mapping[str, Bot], seed: int, seconds: Seconds | None = None, *, deals: int | None = None
) -> Match:
    """Play a match to its end.

    Args:
        bots: who sits in which seat.
        seed: what the cut, every deal and the chance of each seat come from.
        seconds: where the time of each decision is added.
        deals: stop when so many deals are scored, if the match is not over by then.
    """
    chance = random.Random(seed)
    match = Match.start(ruleset, Seed(chance.randbytes(SEED_BYTES)))
    own = {seat: random.Random(f"{seed} {seat}") for seat in bots}
    while match.ending is None and not (match.needs_deal and match.sheet.deals == deals):
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


def _tables(table: Table, first: Bot, second: Bot) -> Iterator[tuple[dict[str, Bot], list[str], list[str]]]:
    """Both tables of a pair: who sits where, the sides of `first`, those of `second`. Sides alternate."""
    for turn in range(2):
        ours, theirs = list(table.sides[turn::2]), list(table.sides[1 - turn :: 2])
        yield {seat: first if table.side_of[seat] in ours else second for seat in table.seats}, ours, theirs


def _more(scores: Mapping[str, int], ours: Sequence[str], theirs: Sequence[str]) -> float:
    """How many points more than the other sides ours have on average."""
    return statistics.mean(scores[side] for side in ours) - statistics.mean(scores[side] for side in theirs)


def _pace(seconds: Seconds) -> Iterator[str]:
    for name, times in seconds.items():
        average, most = 1000 * statistics.mean(times), 1000 * max(times)
        yield f"a decision takes  {average:.3f} ms on average, {most:.1f} ms at most ({name})"


@dataclass(slots=True)
class BoardTally:
    """What came out of a run of boards, for the first bot."""

    points: list[float] = field(default_factory=list)
    """For each board, the points more than the other bot's at one of its two tables, on average of both."""
    seconds: Seconds = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Points a board and table."""
        return statistics.mean(self.points)

    @property
    def error(self) -> float:
        """The standard error of `mean`; infinite for a single board."""
        return statistics.stdev(self.points) / len(self.points) ** 0.5 if len(self.points) > 1 else float("inf")

    def lines(self, first: str, second: str) -> Iterator[str]:
        """The report."""
        yield f"{first} against {second}: {len(self.points)} boards, each at two tables with the seats changed"
        yield f"points a board    {self.mean:+.1f} more than {second} at each table, standard error {self.error:.1f}"
        yield f"both tables       {2 * self.mean:+.1f} more together, standard error {2 * self.error:.1f}"
        yield from _pace(self.seconds)


def play_boards(ruleset: Ruleset, first: Bot, second: Bot, *, boards: int, seed: int) -> BoardTally:
    """Play single deals from a score of nothing, each at two tables: the same cards and dealer, the seats changed.

    A side's points are those of its scoring answer; where a bot has several sides, or seats without sides, their mean.
    """
    tally = BoardTally(seconds={first.name: [], second.name: []})
    table = _table(ruleset)
    for board in range(boards):
        gained = [
            _more(play_match(ruleset, bots, seed + board, tally.seconds, deals=1).sheet.scores(), ours, theirs)
            for bots, ours, theirs in _tables(table, first, second)
        ]
        tally.points.append(statistics.mean(gained))
    return tally


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
    seconds: Seconds = field(default_factory=dict)

    def lines(self, first: str, second: str) -> Iterator[str]:
        """The report."""
        yield f"{first} against {second}: {len(self.deals)} games in pairs with the same cards"
        yield f"games won         {_interval(self.wins, 100, '%')}"
        yield f"points a deal     {_interval(self.points, 1, '')} more than {second}"
        yield (
            f"deals a game      {statistics.mean(self.deals):.1f} on average, "
            f"{min(self.deals)} to {max(self.deals)}, half of them below {statistics.median(self.deals):g}"
        )
        yield "ended by          " + ", ".join(f"{reason} {count}" for reason, count in self.endings.most_common())
        yield from _pace(self.seconds)


def _interval(values: Sequence[float], factor: float, unit: str) -> str:
    """Mean and 95 % interval of independent values."""
    half = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return f"{factor * statistics.mean(values):.1f}{unit} ± {factor * half:.1f}"


def compete(ruleset: Ruleset, first: Bot, second: Bot, *, pairs: int, seed: int) -> Tally:
    """Play pairs of games, `first` with every other side in the one and with the remaining sides in the other.

    The winner's share of a game is divided where sides share the victory.
    """
    tally = Tally(seconds={first.name: [], second.name: []})
    table = _table(ruleset)
    for pair in range(pairs):
        won, gained = [], []
        for bots, ours, theirs in _tables(table, first, second):
            match = play_match(ruleset, bots, seed + pair, tally.seconds)
            if match.ending is None:
                raise ValueError("the match did not end")
            winners, deals = match.ending.winners, match.sheet.deals
            won.append(sum(side in winners for side in ours) / len(winners))
            gained.append(_more(match.sheet.scores(), ours, theirs) / deals)
            tally.deals.append(deals)
            tally.endings[match.ending.reason] += 1
        tally.wins.append(statistics.mean(won))
        tally.points.append(statistics.mean(gained))
    return tally


def _table(ruleset: Ruleset) -> Table:
    return Match.start(ruleset, Seed(bytes(SEED_BYTES))).table


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bots.arena", description="Compare two bots with the same cards.")
    parser.add_argument("first", nargs="?", choices=sorted(REGISTRY), default="steady")
    parser.add_argument("second", nargs="?", choices=sorted(REGISTRY), default="random")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--boards", type=int, default=200, help="single deals, each played at two tables")
    length.add_argument("--games", type=int, help="whole games instead, two for each set of cards")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--preset", choices=list(PRESETS), default="standard")
    options = parser.parse_args(arguments)
    ruleset, first, second = PRESETS[options.preset].ruleset, bot(options.first), bot(options.second)
    if options.games is None:
        lines = play_boards(ruleset, first, second, boards=max(1, options.boards), seed=options.seed).lines(
            options.first, options.second
        )
    else:
        pairs = max(1, options.games // 2)
        lines = compete(ruleset, first, second, pairs=pairs, seed=options.seed).lines(options.first, options.second)
    sys.stdout.write(f"{options.preset}, seed {options.seed}\n")
    for line in lines:
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
