"""Deals of every preset, looked at by everybody, for cards that the one who looks has not seen.

One process, no database: the library, what it lets each reader know, and the JSON that is answered. Each deal is
played at random. At moments of it every reader (each seat, the host without one, a watcher, a stranger at a private
table) gets the view, the events of the step, the answers to dry runs and to requests that are refused. Two things must
hold:

- No byte shows a card that the reader has not seen, as the rules count what is seen, nor a seed that is not revealed.
- Nothing changes, not a byte and no bot's decision, when the cards that the reader has not seen lie otherwise.

``python -m tests.leaks --deals 100`` goes through that many deals of each preset and writes tests/results/leaks.json.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import UUID

from spades import PRESETS, Match, Ruleset, RuleViolation, Seed
from spades.cards import codes_of
from spades.terms import terms
from spades.view import Part
from tests.soak import ROOT, commit, machine, prepare
from tests.spades.playing import choose
from tests.spades.secrecy import moved, seen_by

RESULT = ROOT / "tests" / "results" / "leaks.json"
CARD = re.compile(rb"(?<![0-9A-Za-z])(?:[2-9TJQKA][CDHS]|LJ|BJ)(?![0-9A-Za-z])")
HEX = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
BOTS = ("random", "steady")
MOMENTS = 0.15
"""The share of the steps of the play that are looked at; of what comes before it, all are."""


@dataclass(frozen=True)
class Step:
    """One step of a game: the match before and after it, its events, and the card that it played."""

    before: Match
    after: Match
    events: list[Part]
    played: str | None = None


class Renderer:
    """What the service makes of a match for its readers. It needs Django, and so imports late."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._selectors = import_module("games.selectors")
        self._steps = import_module("games.steps")
        self._codec = import_module("games.codec")
        self._store = import_module("games.store")
        self._play = import_module("games.services.play")
        self._log = import_module("events.log")
        self._dump = import_module("contract.endpoint").dump
        self._problem = import_module("contract.problems").Problem
        self._bot = import_module("bots.player").bot
        self.ruleset = ruleset
        self.rules = self._dump(ruleset.resolved())
        """The ruleset as it stands in every view: it names cards and has a hash, and is no secret."""
        table = terms(ruleset).table
        self.sides = set(table.sides)
        """Among them may be `AD`, which is also a card."""
        seats = table.seats
        self.game = self._table(seats)
        self.readers = [
            *(self._selectors.Viewer("seat", seat, UUID(int=place + 1)) for place, seat in enumerate(seats)),
            self._selectors.Viewer("host", None, UUID(int=99)),
            self._selectors.Viewer("watcher", None, UUID(int=98)),
        ]

    def _table(self, seats: Sequence[str]) -> Any:
        """The row of a table of people, as far as views need it."""
        then = datetime(2026, 1, 1, tzinfo=UTC)
        people = tuple(self._store.Occupant(seat, "human", seat, UUID(int=n)) for n, seat in enumerate(seats, 1))
        values = {
            **dict.fromkeys(self._store.GameRow.__slots__),
            "id": UUID(int=1),
            "created_at": then,
            "started_at": then,
            "version": 1,
            "status": "active",
            "host_id": UUID(int=99),
            "visibility": "public",
            "spectators": "allowed",
            "spectator_delay": 0,
            "start": "when_full",
            "seating": "as_taken",
            "hot_seat": False,
            "preset": self.ruleset.preset,
            "ruleset": self.ruleset.text,
            "occupants": people,
            "open_seats": 0,
        }
        return self._store.GameRow(**values)

    def _drawn_by(self, rng: random.Random) -> Any:
        return lambda _number, _attempt: self._steps.Drawn(Seed(rng.randbytes(32)), "0" * 64)

    def begin(self, rng: random.Random) -> tuple[Match, list[Part]]:
        """A game of this ruleset."""
        return self._steps.start(self.ruleset, Seed(rng.randbytes(32)), self._drawn_by(rng))

    def step(self, match: Match, seat: str, action: Mapping[str, Any], rng: random.Random) -> tuple[Match, list[Part]]:
        """The game after an action."""
        return self._steps.step(match, seat, action, self._drawn_by(rng))

    def view(self, match: Match, reader: Any) -> bytes:
        """The view, as it is answered."""
        return self._dump(self._selectors.view(self.game, match, reader))

    def events(self, events: Sequence[Part], reader: Any) -> bytes:
        """The events, as this reader gets them."""
        rows = [
            self._log.Row(
                self.game.id, number, number, "then", part.type, part.deal_number, part.seat, part.public, part.own
            ).seen_by(reader.seat)
            for number, part in enumerate(events, 1)
        ]
        return self._dump(rows)

    def answer(self, match: Match, reader: Any, action: Mapping[str, Any]) -> bytes:
        """What a dry run of an action is answered, a problem when it is refused."""
        try:
            self._codec.apply(match, reader.seat, action)
        except RuleViolation as violation:
            return self._dump(self._play.refusal(violation, self.game, match, reader).body("id"))
        return self._dump({"allowed": True, "legal": self._play.legal(match, reader)})

    def decision(self, view: bytes, name: str, number: int) -> Any:
        """What a bot would do at this view."""
        return self._bot(name).choose(json.loads(view), random.Random(number))

    def stranger(self) -> bytes:
        """What somebody is told who asks for a private table."""
        private = replace(self.game, visibility="private")
        reading = self._store.Reading(private, UUID(int=97), frozenset({"games"}), None)
        try:
            self._selectors.viewer_of(reading, None)
        except self._problem as problem:
            return self._dump(problem.body("id"))
        raise AssertionError("a stranger was let in")


def actions_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """A request body as an action is kept."""
    names = {"decision": "draw", "look": "look", "cards": "pass", "card": "play"}
    for name, verb in names.items():
        if name in body:
            return {verb: body[name]}
    return {"bid": dict(body)}


def attempts(match: Match, seat: str, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Requests that a seat might try, most of them wrong."""
    deck = codes_of(terms(match.ruleset).pack.mask)
    yield {"play": rng.choice(deck)}
    yield {"pass": rng.sample(deck, max(1, match.ruleset.pass_count or 1))}
    yield {"draw": "keep"}
    yield {"look": True}
    yield {"redeal": True}
    yield {
        "bid": rng.choice([{"kind": "nil"}, {"kind": "blind_nil"}, {"kind": "number", "tricks": rng.randint(0, 14)}])
    }


def play(renderer: Renderer, rng: random.Random) -> Iterator[Step]:
    """Every step of the first deal of a game, up to its being scored."""
    match, events = renderer.begin(rng)
    yield Step(match, match, events)
    while match.ending is None and match.deal is not None and match.deal.number == 1:
        seat = rng.choice(match.turns)
        redeal = match.deal.may_call_redeal(seat) and rng.random() < 0.5 and match.deal.attempt < 4
        action = {"redeal": True} if redeal else actions_of(choose(match.deal.legal(seat), rng))
        before = match
        match, events = renderer.step(before, seat, action, rng)
        yield Step(before, match, events, action.get("play"))


def check(preset: str, number: int) -> Counter[str]:
    """Play one deal of a preset and look at it as everybody; gives what was looked at, counted.

    Raises:
        AssertionError: something was told that must not be.
    """
    rng = random.Random(f"{preset} {number}")
    renderer = Renderer(PRESETS[preset].ruleset)
    counts: Counter[str] = Counter(deals=1)
    stranger = renderer.stranger()
    assert not CARD.findall(stranger)
    for step in play(renderer, rng):
        deal = step.after.deal
        over = deal is None or deal.number != 1 or step.after.ending is not None
        if not over and deal is not None and deal.plays and rng.random() > MOMENTS:
            continue
        for reader in renderer.readers:
            _check_events(renderer, step, reader, counts)
            if not over:
                _check_moment(renderer, step, reader, rng, counts)
    return counts


def _check_events(renderer: Renderer, step: Step, reader: Any, counts: Counter[str]) -> None:
    """Of the events of a step, those before the deal is revealed show only what the reader has seen of it."""
    known = {*codes_of(seen_by(step.before, reader.seat)), *codes_of(seen_by(step.after, reader.seat)), step.played}
    known |= renderer.sides
    names = [part.type for part in step.events]
    hidden = step.events[: names.index("deal_revealed")] if "deal_revealed" in names else step.events
    shown = cards_in(renderer.events([part for part in hidden if part.type != "dealer_cut"], reader))
    assert shown <= known, (reader, hidden)
    counts["events"] += len(hidden)
    counts["cards"] += len(shown)


def _check_moment(renderer: Renderer, step: Step, reader: Any, rng: random.Random, counts: Counter[str]) -> None:
    """A view, and answers to what the reader might try: what they show, and that unseen cards do not matter."""
    match = step.after
    known = {*codes_of(seen_by(match, reader.seat)), *renderer.sides}
    elsewhere = moved(match, reader.seat, rng)
    view = renderer.view(match, reader)
    shown = view.replace(renderer.rules, b"")
    assert cards_in(shown) <= known, (reader, cards_in(shown) - known)
    assert not HEX.findall(shown), reader
    assert renderer.view(elsewhere, reader) == view, reader
    counts["views"] += 1
    counts["cards"] += len(cards_in(shown))
    if reader.seat is None:
        return
    for action in attempts(match, reader.seat, rng):
        answer = renderer.answer(match, reader, action)
        asked = set(re.findall(r"[2-9TJQKA][CDHS]|LJ|BJ", json.dumps(action)))
        assert cards_in(answer) <= known | asked, (reader, action, answer)
        assert renderer.answer(elsewhere, reader, action) == answer, (reader, action)
        counts["answers"] += 1
    if reader.seat in match.turns:
        for name in BOTS:
            seed = rng.randrange(2**32)
            decided = renderer.decision(view, name, seed)
            assert renderer.decision(renderer.view(elsewhere, reader), name, seed) == decided
            counts["decisions"] += 1


def cards_in(text: bytes) -> set[str]:
    """Every card that a text names."""
    return {found.decode() for found in CARD.findall(text)}


# Many of them.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.leaks", description="Look for leaks in many deals.")
    parser.add_argument("--deals", type=int, default=100, help="of each preset")
    parser.add_argument("--first", type=int, default=1, help="the number of the first deal")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file to write")
    options = parser.parse_args(arguments)
    begun, looked = time.monotonic(), commit()
    work = [(preset, number) for number in range(options.first, options.first + options.deals) for preset in PRESETS]
    counts: dict[str, Counter[str]] = {preset: Counter() for preset in PRESETS}
    failures = []
    with get_context("spawn").Pool(os.cpu_count(), prepare, ("sqlite://:memory:",)) as pool:
        for preset, number, found, error in pool.imap_unordered(_checked, work, chunksize=10):
            counts[preset] += found
            if error:
                failures.append({"preset": preset, "deal": number, "error": error})
                print(f"Deal {number} of {preset} failed:\n{error}", file=sys.stderr, flush=True)
    result = {
        "commit": looked,
        "first": options.first,
        "deals": options.deals,
        "failures": failures,
        "presets": {preset: dict(sorted(found.items())) for preset, found in counts.items()},
        "seconds": round(time.monotonic() - begun, 1),
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    options.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    total: Counter[str] = sum(counts.values(), Counter())
    print(f"{dict(total)}, {len(failures)} failed, {result['seconds']} s. Written to {options.result}.")
    return 1 if failures else 0


def _checked(work: tuple[str, int]) -> tuple[str, int, Counter[str], str | None]:
    preset, number = work
    try:
        return preset, number, check(preset, number), None
    except Exception:  # noqa: BLE001 -- whatever it was, the other deals tell more
        return preset, number, Counter(), traceback.format_exc()


if __name__ == "__main__":
    sys.exit(main())
