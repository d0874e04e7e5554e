"""Deals of the preset `openspiel`, played by this library and by OpenSpiel side by side.

Each deal has cards, standings, bids and plays at random. At every step both must wait for the same seat and offer it
the same actions; every trick must have the same winner, every seat the same tricks, and each side the same points.
Where OpenSpiel is known to be wrong, what it does is named here and expected exactly, so nothing is let through:

- `SPADES_NEVER_BREAK`: its flag for broken spades is never set, so it offers a spade to lead only to a hand of spades.
  Cards are chosen from those that this library allows; it accepts any card that is held, and goes on from there.
- `BAGS_FROM_THE_SCORE`: it carries no bags, but takes the last digit of the score for them; below zero that is not
  their number.

``python -m tests.openspiel --deals 20000 --seed 1`` plays that many and writes tests/results/openspiel.json. The exit
status is 1 on any difference.

Source: docs/sources.md, OSP
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyspiel

from spades import PRESETS, Bid, Deal, Phase, Seed, SideBefore, score_deal
from spades.cards import PACK, cards_of
from spades.legality import behind
from spades.terms import terms
from tests.soak import ROOT, commit, machine

RESULT = ROOT / "tests" / "results" / "openspiel.json"
RULESET = PRESETS["openspiel"].ruleset
GAME = pyspiel.load_game("spades")
SPADES_NEVER_BREAK, BAGS_FROM_THE_SCORE = "spades never break", "bags from the score"
BIDS = len(PACK) - 2
"""The number of the action that bids nil; the next ones bid 1, 2 and so on. Those before it are the 52 cards."""


def check(seed: int, number: int) -> Counter[str]:
    """Play one deal on both sides; gives what was compared, counted, and how often a known fault showed.

    Raises:
        AssertionError: they differ.
    """
    rng = random.Random(f"{seed} {number}")
    counts: Counter[str] = Counter(deals=1)
    before = {side: _standing(rng) for side in ("NS", "EW")}
    scores = {side: standing.score for side, standing in before.items()}
    deal = Deal.begin(  # West deals, so North is first, as OpenSpiel has it
        RULESET, number=1, attempt=1, dealer="W", seed=Seed(rng.randbytes(32)), behind=behind(RULESET, scores)
    )
    state = GAME.new_initial_state()
    state.set_current_scores([before["NS"].score, before["EW"].score])
    for card in deal.stock:
        state.apply_action(card.index)
    while deal.phase is Phase.BIDDING:
        deal = _bid(deal, state, rng, counts)
    while deal.phase is Phase.PLAYING:
        deal = _play(deal, state, rng, counts)
    assert state.is_terminal()
    _compare_results(deal, state, before, counts)
    return counts


def _standing(rng: random.Random) -> SideBefore:
    """Points and bags that belong together: but for bags, whose points are one each, all scores are full tens."""
    bags = rng.randrange(10)
    return SideBefore(10 * rng.randint(-30, 49) + bags, bags)


def _bid(deal: Deal, state: Any, rng: random.Random, counts: Counter[str]) -> Deal:
    assert deal.turn == deal.table.seats[state.current_player()]
    legal = [Bid.from_json(body) for body in deal.legal()]
    assert [BIDS + bid.tricks for bid in legal] == state.legal_actions()
    assert [bid.is_nil for bid in legal] == [bid.tricks == 0 for bid in legal]
    likely = legal[:5] if rng.random() < 0.8 else legal  # by all of them most contracts would be set
    bid = rng.choice(likely)
    state.apply_action(BIDS + bid.tricks)
    counts["bids"] += 1
    counts["actions compared"] += len(legal)
    return deal.bid(deal.turn or "", bid)


def _play(deal: Deal, state: Any, rng: random.Random, counts: Counter[str]) -> Deal:
    seat = deal.turn or ""
    assert seat == deal.table.seats[state.current_player()]
    legal = deal.legal_cards()
    expected = legal
    others = legal & ~terms(RULESET).pack.spades
    if not deal.trick_cards and deal.spades_broken and others != legal and others:
        counts[SPADES_NEVER_BREAK] += 1
        expected = others
    assert [card.index for card in cards_of(expected)] == state.legal_actions()
    card = rng.choice(cards_of(legal))
    state.apply_action(card.index)
    counts["plays"] += 1
    counts["actions compared"] += legal.bit_count()
    after = deal.play(seat, card)
    if not after.trick_cards and after.phase is Phase.PLAYING:  # the last trick shows in the tricks of the seats
        assert after.turn == deal.table.seats[state.current_player()]
        counts["winners"] += 1
    return after


def _compare_results(deal: Deal, state: Any, before: dict[str, SideBefore], counts: Counter[str]) -> None:
    told = re.search(r"Tricks taken:\s+North\s+East\s+South\s+West\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", str(state))
    assert told is not None
    assert tuple(int(tricks) for tricks in told.groups()) == deal.taken
    counts["winners"] += 1
    score = score_deal(RULESET, before, deal.bids_by_seat(), deal.tricks_by_seat(), deal_number=1)
    for side, total in zip(("NS", "EW"), state.get_current_scores(), strict=True):
        ours = score.sides[side]
        new = sum(line.points for line in ours.lines if line.what == "bags")
        penalty = ours.bag_penalty
        if before[side].score < 0:
            counts[BAGS_FROM_THE_SCORE] += 1
            penalty = _penalty_from_the_score(before[side].score, new)
        assert total == before[side].score + ours.contract + ours.bag_points + ours.nil_points + penalty, side
        assert ours.score == before[side].score + ours.delta
        counts["sides scored"] += 1
        counts["contracts made"] += ours.set is False
        counts["contracts set"] += ours.set is True
        counts["nils made"] += sum(line.what == "nil" and line.points > 0 for line in ours.lines)
        counts["nils failed"] += sum(line.what == "nil" and line.points < 0 for line in ours.lines)
        counts["penalties"] += ours.bag_penalty < 0


def _penalty_from_the_score(score: int, new: int) -> int:
    """What OpenSpiel takes below zero, where its language rounds towards zero: -7 has the last digit -7."""
    digit = -(-score % 10)
    return -100 * int((digit + new) / 10)


# Many of them.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.openspiel", description="Play deals beside OpenSpiel.")
    parser.add_argument("--deals", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1, help="what all chance comes from")
    parser.add_argument("--first", type=int, default=1, help="the number of the first deal")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file to write")
    options = parser.parse_args(arguments)
    begun, played = time.monotonic(), commit()
    work = [(options.seed, number) for number in range(options.first, options.first + options.deals)]
    counts: Counter[str] = Counter()
    failures = []
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        for number, found, error in pool.imap_unordered(_checked, work, chunksize=100):
            counts += found
            if error:
                failures.append({"deal": number, "error": error})
                print(f"Deal {number} differs:\n{error}", file=sys.stderr, flush=True)
    result = {
        "commit": played,
        "seed": options.seed,
        "first": options.first,
        "deals": counts["deals"],
        "failures": failures,
        "open_spiel": metadata.version("open_spiel"),
        "compared": {name: count for name, count in sorted(counts.items()) if name not in KNOWN},
        "known_faults": {name: counts[name] for name in KNOWN},
        "seconds": round(time.monotonic() - begun, 1),
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    options.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{dict(counts)}, {len(failures)} differ, {result['seconds']} s. Written to {options.result}.")
    return 1 if failures else 0


KNOWN = (SPADES_NEVER_BREAK, BAGS_FROM_THE_SCORE)


def _checked(work: tuple[int, int]) -> tuple[int, Counter[str], str | None]:
    seed, number = work
    try:
        return number, check(seed, number), None
    except Exception:  # noqa: BLE001 -- whatever it was, the other deals tell more
        return number, Counter(), traceback.format_exc()


if __name__ == "__main__":
    sys.exit(main())
