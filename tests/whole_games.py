"""Whole games of bots at a table of every preset, each made again from its actions: ``python -m tests.whole_games``.

No service and no database: a game lives in the texts that rows hold. Each step takes the action that a bot chose from
its view, and keeps the next snapshot, the action and, of a scored deal, its score. One step in eight goes on from the
text of the snapshot, read as by a process that has never seen it. Then four things must hold:

- The game ended with a winner, or at the deal cap with its leaders as winners; of the games of `steady` alone at most
  one in fifty at the cap.
- From ruleset, seeds and actions alone come the same snapshots and events after every action, and at the end the same
  match, scores and result.
- In each deal every card of the pack was played, discarded or left over, once.
- Each deal has as many tricks as a hand has cards.

Of each preset that is played often 200 games are steady's alone, of each other 40, since a game of six takes ten times
as long; in an eighth as many more `steady` and `random` sit at the same table. What came of it is
written to tests/results/games.json, which tests/test_results.py holds against the code. The exit status is 1 on any
difference. All chance comes from the seed, by preset, bots and number of the game, so that a game that fails can be
played again: ``--seed N --first K --games 1 --others 1 --preset P``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from bots.arena import seat_view
from bots.player import bot
from spades import PRESETS, Match, Ruleset, Seed, commitment
from spades.match import ENGINE
from spades.sheet import DEAL_CAP
from spades.shuffle import SEED_BYTES
from spades.terms import Terms, terms
from spades.view import Part, result
from tests.soak import ROOT, commit, machine, prepare

RESULT = ROOT / "tests" / "results" / "games.json"
WON_BY = {"target", "losing_score", "max_hands", "set_limit", "moon"}
OFTEN = (
    *("two_player", "two_player_closed", "standard", "sandbag_deduction", "hoyle_partners", "hoyle_individuals"),
    *("bicycle", "pagat", "books"),
)
"""The presets of which the most games are played: those of the texts, and the one that is nearly everybody's."""
CAPPED_AT_MOST = 0.02
"""The share of the games of `steady` alone that may end at the deal cap."""
READ_ANEW = 0.125
"""The share of the steps before which the snapshot is read anew; tests/games/test_codec.py reads every kind of it."""
TABLES = ("steady", "mixed")
"""Who plays: `steady` in every seat, or `steady` and `random` at the same table."""


@dataclass
class Rows:
    """A game as its rows hold it."""

    ruleset: str
    engine: int = ENGINE
    actions: list[tuple[str | None, str]] = field(default_factory=list)
    """The seat, and the action as JSON."""
    deals: dict[tuple[int, int], tuple[str, str, str]] = field(default_factory=dict)
    """By number and attempt: the seed in hex, the client seeds as JSON, the commitment of the deal after it."""
    state: str = ""
    """The last snapshot."""
    scores: dict[int, str] = field(default_factory=dict)
    """By number of the deal: bids, tricks and the scoring answer, as JSON."""
    result: str | None = None


@dataclass
class Game:
    """A game that was played: its rows, and what stood in them and was told after each action."""

    rows: Rows
    states: list[str] = field(default_factory=list)
    events: list[list[Part]] = field(default_factory=list)


def play(ruleset: Ruleset, table: str, name: str) -> Game:
    """Play a game to its end.

    Args:
        table: one of `TABLES`.
        name: what all chance of the game comes from.
    """
    steps, codec = import_module("games.steps"), import_module("games.codec")
    chance = random.Random(name)
    seats = terms(ruleset).table.seats
    players = _seated(seats, table, chance)
    own = {seat: random.Random(f"{name} {seat}") for seat in seats}
    clients = tuple((seat, f"{seat} hopes for {name}") for seat in seats)
    line = [chance.randbytes(SEED_BYTES)]
    rows = Rows(ruleset.text)
    game = Game(rows)

    def seed_of(number: int, attempt: int) -> Any:
        server, following = line[-1], chance.randbytes(SEED_BYTES)
        line.append(following)
        rows.deals[number, attempt] = (server.hex(), orjson.dumps(clients).decode(), commitment(following))
        return steps.Drawn(Seed(server, clients), commitment(following))

    def keep(seat: str | None, action: Mapping[str, Any], match: Match, events: list[Part]) -> None:
        rows.actions.append((seat, orjson.dumps(action).decode()))
        rows.state = codec.dump_match(match)
        rows.result = orjson.dumps(result(match)).decode() if match.ending is not None else None
        rows.scores |= _scores(events)
        game.states.append(rows.state)
        game.events.append(events)

    keep(None, {"start": True}, *steps.start(ruleset, Seed(line[0], clients), seed_of))
    match = _read(codec, rows)
    while match.ending is None:
        if chance.random() < READ_ANEW:
            match = _read(codec, rows)
        seat = match.turn
        assert seat is not None
        assert match.deal is not None
        if match.deal.may_call_redeal(seat) and chance.random() < 0.5:
            action: dict[str, Any] = {"redeal": True}
        else:
            action = codec.action_of(players[seat].choose(seat_view(match, seat), own[seat]))
        match, events = steps.step(match, seat, action, seed_of)
        keep(seat, action, match, events)
    return game


def _seated(seats: Sequence[str], table: str, chance: random.Random) -> dict[str, Any]:
    names = ["steady"] * len(seats)
    if table == "mixed":
        names[: len(seats) // 2] = ["random"] * (len(seats) // 2)
        chance.shuffle(names)
    return {seat: bot(name) for seat, name in zip(seats, names, strict=True)}


def _read(codec: Any, rows: Rows) -> Match:
    """The match of the rows, as a process reads it that has never seen it."""
    codec._recent.clear()
    match = codec.load_match(Ruleset.parse(rows.ruleset), rows.state)
    assert isinstance(match, Match)
    return match


def _scores(events: Sequence[Part]) -> dict[int, str]:
    return {
        part.deal_number: orjson.dumps(part.public).decode()
        for part in events
        if part.type == "deal_scored" and part.deal_number is not None
    }


def rebuild(rows: Rows) -> Iterator[tuple[Match, list[Part]]]:
    """The match and the events after each action, from nothing but ruleset, seeds and actions."""
    steps = import_module("games.steps")

    def seed_of(number: int, attempt: int) -> Any:
        seed, clients, promised = rows.deals[number, attempt]
        return steps.Drawn(_seed(seed, clients), promised)

    match: Match | None = None
    for seat, text in rows.actions:
        action = orjson.loads(text)
        if match is None:
            assert action == {"start": True}
            first, clients, _ = rows.deals[1, 1]
            match, events = steps.start(Ruleset.parse(rows.ruleset), _seed(first, clients), seed_of)
        else:
            match, events = steps.step(match, seat, action, seed_of)
        yield match, events


def _seed(seed: str, clients: str) -> Seed:
    return Seed(bytes.fromhex(seed), tuple((seat, text) for seat, text in orjson.loads(clients)))


def assert_rebuilds(game: Game) -> None:
    """Everything that is kept of the game, and everything that was told of it, comes out of its actions again."""
    codec = import_module("games.codec")
    rows = game.rows
    match: Match | None = None
    again = Rows(rows.ruleset, ENGINE, list(rows.actions), dict(rows.deals))
    for number, (match, events) in enumerate(rebuild(rows)):
        again.state = codec.dump_match(match)
        again.scores |= _scores(events)
        assert again.state == game.states[number], f"the snapshot after action {number}"
        assert events == game.events[number], f"the events of action {number}"
    assert match is not None
    assert match.ending is not None
    again.result = orjson.dumps(result(match)).decode()
    assert again == rows
    kept = _read(codec, rows)
    assert (kept.sheet, kept.deal, kept.dealer, kept.ending) == (match.sheet, match.deal, match.dealer, match.ending)


def assert_every_card_once(game: Game) -> Counter[str]:
    """Each deal used every card of the pack once; gives what was counted."""
    facts = terms(Ruleset.parse(game.rows.ruleset))
    pack = Counter(card.code for card in facts.pack.deck)
    counts: Counter[str] = Counter(actions=len(game.rows.actions), deals=0, played=0, discarded=0, left=0)
    played: list[str] = []
    for part in (part for events in game.events for part in events):
        if part.type == "deal_started":
            assert not played, "a deal began before the last one was over"
        elif part.type == "card_played":
            played.append(part.public["card"])
        elif part.type == "deal_scored":
            assert sum(part.public["tricks"].values()) == facts.ruleset.hand_size
        elif part.type == "deal_revealed":
            discards, left = part.public["discards"], _left(facts, part.public["stock"])
            assert len(played) == facts.ruleset.hand_size * facts.ruleset.players
            assert Counter(played) + Counter(discards) + Counter(left) == pack
            counts.update(deals=1, played=len(played), discarded=len(discards), left=len(left))
            played = []
    assert not played
    return counts


def _left(facts: Terms, stock: Sequence[str]) -> Sequence[str]:
    """The cards that this ruleset gives to nobody: of every two that are drawn one is kept."""
    dealt = facts.ruleset.hand_size * facts.ruleset.players
    return stock[dealt * 2 if facts.drawing else dealt :]


def assert_won(game: Game) -> tuple[str, int]:
    """Somebody won, in time; gives for which reason, and after how many deals."""
    ending, deals = json.loads(game.rows.result or "null"), len(game.rows.scores)
    best = max(ending["scores"].values())
    assert ending["winners"]
    if ending["reason"] == "deal_cap":
        assert deals == DEAL_CAP
        assert ending["winners"] == [side for side, score in ending["scores"].items() if score == best]
    else:
        assert ending["reason"] in WON_BY
        assert deals < DEAL_CAP
    return ending["reason"], deals


def check(ruleset: Ruleset, table: str, name: str) -> dict[str, Any]:
    """Play one game and hold it against everything above; gives what came of it.

    Raises:
        AssertionError: something does not hold.
    """
    game = play(ruleset, table, name)
    assert_rebuilds(game)
    counts = assert_every_card_once(game)
    reason, deals = assert_won(game)
    assert counts["deals"] == deals
    return {"reason": reason, **counts}


# Many of them.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.whole_games", description="Play many games of each preset.")
    parser.add_argument("--games", type=int, default=200, help="of each preset in OFTEN, with steady in every seat")
    parser.add_argument("--others", type=int, default=40, help="of each other preset")
    parser.add_argument("--first", type=int, default=1, help="the number of the first game")
    parser.add_argument("--preset", choices=list(PRESETS), action="append", help="only this one; can be given again")
    parser.add_argument("--seed", type=int, help="what all chance comes from; by default another each time")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file to write")
    options = parser.parse_args(arguments)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    presets = options.preset or list(PRESETS)
    steady = {preset: options.games if preset in OFTEN else options.others for preset in presets}
    numbers = {(preset, "steady"): count for preset, count in steady.items()}
    numbers |= {(preset, "mixed"): -(-count // 8) for preset, count in steady.items()}
    begun, played = time.monotonic(), commit()
    work = [
        (preset, table, number, seed)
        for number in range(options.first, options.first + max(numbers.values()))
        for preset in presets
        for table in TABLES
        if number < options.first + numbers[preset, table]
    ]
    games: dict[tuple[str, str], list[dict[str, Any]]] = {(preset, table): [] for preset in presets for table in TABLES}
    failures: list[dict[str, Any]] = []
    with get_context("spawn").Pool(os.cpu_count(), prepare, ("sqlite://:memory:",)) as pool:
        for done, (task, outcome, error) in enumerate(pool.imap_unordered(_checked, work, chunksize=4), 1):
            preset, table, number, _ = task
            if outcome is not None:
                games[preset, table].append(outcome)
            else:
                failures.append({"preset": preset, "bots": table, "game": number, "error": error})
                print(f"Game {number} of {preset}, {table}, failed:\n{error}", file=sys.stderr, flush=True)
            if done % 100 == 0 or done == len(work):
                seconds = time.monotonic() - begun
                print(f"{done} of {len(work)} games, {seconds:.0f} s, {len(failures)} failed", flush=True)
    told = {preset: {table: tally(games[preset, table]) for table in TABLES} for preset in presets}
    failures += capped_too_often(told)
    answer = {
        "commit": played,
        "seed": seed,
        "first": options.first,
        "games": sum(map(len, games.values())),
        "engine": ENGINE,
        "failures": failures,
        "presets": told,
        "seconds": round(time.monotonic() - begun, 1),
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    options.result.parent.mkdir(parents=True, exist_ok=True)
    options.result.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    report(answer)
    print(f"Written to {options.result}.")
    return 1 if failures else 0


def _checked(
    task: tuple[str, str, int, int],
) -> tuple[tuple[str, str, int, int], dict[str, Any] | None, str | None]:
    preset, table, number, seed = task
    try:
        return task, check(PRESETS[preset].ruleset, table, f"{seed} {preset} {table} {number}"), None
    except Exception:  # noqa: BLE001 -- whatever it was, the other games tell more
        return task, None, traceback.format_exc()


def tally(games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The games of one preset and one kind of table, counted."""
    deals = sorted(game["deals"] for game in games)
    return {
        "games": len(games),
        "reasons": dict(sorted(Counter(game["reason"] for game in games).items())),
        "deals": sum(deals),
        "deals_median": deals[len(deals) // 2] if deals else None,
        "deals_most": deals[-1] if deals else None,
        **{name: sum(game[name] for game in games) for name in ("actions", "played", "discarded", "left")},
    }


def capped_too_often(told: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The presets of which too many games of `steady` ended at the deal cap, as failures."""
    failures = []
    for preset, counts in told.items():
        games, capped = counts["steady"]["games"], counts["steady"]["reasons"].get("deal_cap", 0)
        if capped > CAPPED_AT_MOST * games:
            error = f"{capped} of {games} games ended at the deal cap"
            failures.append({"preset": preset, "bots": "steady", "error": error})
    return failures


def report(answer: Mapping[str, Any]) -> None:
    """Tell the result."""
    for preset, tables in answer["presets"].items():
        for table, counts in tables.items():
            if counts["games"]:
                print(
                    f"{preset}, {table}: {counts['games']} games of {counts['deals_median']} deals (median; at most "
                    f"{counts['deals_most']}), ended by {counts['reasons']}"
                )
    for failure in answer["failures"]:
        print(f"Failed: {failure['preset']}, {failure['bots']}: {failure['error'].splitlines()[-1]}", file=sys.stderr)
    print(
        f"{answer['games']} games rebuilt without a difference, {len(answer['failures'])} failures, in "
        f"{answer['seconds']} s. Seed {answer['seed']}, commit {answer['commit']}."
    )


if __name__ == "__main__":
    sys.exit(main())
