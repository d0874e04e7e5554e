"""Whether every card is as likely at every place: many shuffles from fixed seeds, counted by card and place.

For n cards the counts fill a table of n times n whose rows and columns all have the same sum. With every order equally
likely, (n - 1) / n times the sum of (found - expected)^2 / expected has the chi-square distribution of (n - 1)^2
degrees of freedom. A run fails above `LIMIT`, which happens by chance once in a million runs, and as far below it:
numbers may not be too even either. Wilson and Hilferty's cube root makes a normal deviate of the sum. Seeds are fixed,
so a result is the same in every run of the same code.

``python -m tests.shuffles`` shuffles 100,000 packs of 52 and fewer of 54 and 108; it writes
tests/results/shuffles.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from spades import Card, Seed
from spades.cards import pack
from tests.soak import ROOT, commit, machine

RESULT = ROOT / "tests" / "results" / "shuffles.json"
SHUFFLES = {52: 100_000, 54: 30_000, 108: 30_000}
"""By number of cards, how many shuffles."""
LIMIT = 4.892
"""Normal deviate beyond which, on both sides together, one run in a million lies."""
CHUNK = 1000


def deck(cards: int) -> tuple[Card, ...]:
    """One pack without or with jokers, or two with them, each card told from its twin."""
    return pack(0 if cards == 52 else 2, (), ("BJ", "LJ") if cards > 52 else (), 2 if cards == 108 else 1).deck


def seed_of(seed: int, cards: int, number: int) -> Seed:
    """The seed of one shuffle; every other one has what clients add to it."""
    server = hashlib.sha256(f"{seed} {cards} {number}".encode()).digest()
    return Seed(server, (("N", "north"), ("E", f"{number}")) if number % 2 else ())


def table_of(seed: int, cards: int, numbers: Iterable[int]) -> list[int]:
    """How often each card lay at each place, card by card."""
    pack_of = deck(cards)
    order = {card: index * cards for index, card in enumerate(pack_of)}
    found = [0] * cards**2
    for number in numbers:
        for place, card in enumerate(seed_of(seed, cards, number).shuffled(pack_of)):
            found[order[card] + place] += 1
    return found


def deviate(found: Sequence[int], cards: int, shuffles: int) -> float:
    """The chi-square sum of a table as a normal deviate."""
    expected = shuffles / cards
    total = (cards - 1) / cards * sum((count - expected) ** 2 for count in found) / expected
    freedom = (cards - 1) ** 2
    spread = 2 / (9 * freedom)
    return (math.cbrt(total / freedom) - (1 - spread)) / math.sqrt(spread)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.shuffles", description="Count cards by place.")
    parser.add_argument("--seed", type=int, default=1, help="what all shuffles follow from")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file to write")
    options = parser.parse_args(arguments)
    begun, shuffled = time.monotonic(), commit()
    packs: dict[str, dict[str, Any]] = {}
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        for cards, shuffles in SHUFFLES.items():
            work = [(options.seed, cards, range(first, first + CHUNK)) for first in range(0, shuffles, CHUNK)]
            found = [sum(counts) for counts in zip(*pool.starmap(table_of, work), strict=True)]
            value = deviate(found, cards, shuffles)
            packs[str(cards)] = {
                "shuffles": shuffles,
                "deviate": round(value, 3),
                "least": min(found),
                "expected": round(shuffles / cards, 1),
                "most": max(found),
            }
    failures = [cards for cards, told in packs.items() if abs(told["deviate"]) > LIMIT]
    result = {
        "commit": shuffled,
        "seed": options.seed,
        "limit": LIMIT,
        "packs": packs,
        "failures": failures,
        "seconds": round(time.monotonic() - begun, 1),
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    options.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{packs}, {len(failures)} failed, {result['seconds']} s. Written to {options.result}.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
