"""What readers who wait cost those who play: ``python -m benchmarks.polls``.

One client plays: alone, while 200 long polls are open on other games, and, at the pace of a quick table, while 200 are
open on its own game, so that each of its actions is told to 200 readers, who ask again at once. The readers are another
process. The cases are measured in turn, as many rounds as asked for, and the percentiles are those of all rounds.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from typing import Final

import orjson

from benchmarks import load, servers
from benchmarks.http import DATABASE_URL, REDIS_URL, conditions
from benchmarks.load import Broken, Source, Tally
from benchmarks.tables import Players, Table

__all__ = ["main"]

WAIT_SECONDS: Final = 20
OTHER_TABLES: Final = 20
HOLD_SECONDS: Final = 3600.0
READY_SECONDS: Final = 60.0
WARM_UP_SECONDS: Final = 1.0
PLAYED: Final = "play_card"


class Poll:
    """A reader of one game that asks again as soon as it was answered."""

    def __init__(self, game_id: str, token: str) -> None:
        self._path, self._token = f"/v1/games/{game_id}/events", token
        self._after = 0
        self.waiting = False

    def next(self) -> bytes:
        """The next request: without waiting until it has caught up."""
        query = f"?after={self._after}&limit=500" + (f"&wait={WAIT_SECONDS}" if self.waiting else "")
        return load.request("GET", self._path + query, self._token)

    def take(self, status: int, body: bytes) -> str:
        """Take a page of events."""
        if status != 200:
            raise Broken(f"{status}: {body[:400]!r}")
        page = orjson.loads(body)
        if page["items"]:
            self._after = page["items"][-1]["number"]
        self.waiting = self.waiting or page["next"] is None
        return "poll"


class _Announced(Poll):
    """The reader that says when all of them wait: they are asked in turn, and it comes last."""

    def __init__(self, game_id: str, token: str, others: Sequence[Poll], ready: Event) -> None:
        super().__init__(game_id, token)
        self._others, self._ready = others, ready

    def next(self) -> bytes:
        """The next request; until the others wait, one that does not wait."""
        if self.waiting and not self._ready.is_set():
            self.waiting = all(other.waiting for other in self._others)
            if self.waiting:
                self._ready.set()
        return super().next()


def _hold(url: str, games: Sequence[str], token: str, ready: Event) -> None:
    polls = [Poll(game, token) for game in games[1:]]
    load.run(url, [*polls, _Announced(games[0], token, polls, ready)], HOLD_SECONDS)


@contextmanager
def _waiting(url: str, games: Sequence[str], token: str) -> Iterator[None]:
    """A process of readers, one for each game named.

    Raises:
        RuntimeError: they do not come to wait.
    """
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_hold, args=(url, games, token, ready), daemon=True)
    process.start()
    try:
        if not ready.wait(READY_SECONDS):
            raise RuntimeError(f"the readers do not wait after {READY_SECONDS} seconds")
        yield
        if not process.is_alive():
            raise RuntimeError("the readers ended before the measurement")
    finally:
        process.terminate()
        process.join()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement")
    parser.add_argument("--polls", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two actions of the watched table")
    parser.add_argument("--server", choices=sorted(servers.SERVERS), default="granian")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--database-url", default=DATABASE_URL, help="any database of the cluster to measure on")
    parser.add_argument("--redis-url", default=REDIS_URL)
    options = parser.parse_args(arguments)

    results: dict[str, list[Tally]] = {}
    with servers.product(options.server, options.processes, options.database_url, options.redis_url) as product:
        players = Players(product.url)
        others = [players.sit_down().game_id for _ in range(OTHER_TABLES)]
        elsewhere = [others[number % OTHER_TABLES] for number in range(options.polls)]

        def measure(case: str, table: Table, pause: float) -> None:
            sources: list[Source] = [table]
            load.run(product.url, sources, WARM_UP_SECONDS, pause)
            results.setdefault(case, []).append(load.run(product.url, sources, options.seconds, pause))

        for _ in range(options.rounds):
            measure("alone", players.sit_down(), 0.0)
            with _waiting(product.url, elsewhere, players.token):
                measure("polls on other games", players.sit_down(), 0.0)
            measure("alone, with pauses", players.sit_down(), options.pause)
            watched = players.sit_down()
            with _waiting(product.url, [watched.game_id] * options.polls, players.token):
                measure("polls on this game", watched, options.pause)

    print(conditions(options.database_url))
    print(f"{options.server}, {options.processes} processes of {servers.THREADS} threads, {options.polls} polls")
    print(f"one client, milliseconds, {options.rounds} rounds of {options.seconds:g} s")
    print(f"{'':36}{'actions':>8}{'p50':>9}{'p99':>9}{'p50 and p99 against alone':>28}")
    wholes = {case: Tally.of(tallies) for case, tallies in results.items()}
    for case, alone, name in (
        ("alone", "alone", PLAYED),
        ("polls on other games", "alone", PLAYED),
        ("alone, with pauses", "alone, with pauses", None),
        ("polls on this game", "alone, with pauses", None),
    ):
        whole = wholes[case]
        p50, p99 = (whole.percentile(percent, name) for percent in (50, 99))
        base50, base99 = (wholes[alone].percentile(percent, name) for percent in (50, 99))
        count = len(whole.times[name]) if name is not None else whole.count
        ratios = f"{p50 / base50:.2f} and {p99 / base99:.2f}" if case != alone else ""
        print(f"{case}, {name or 'any action'}".ljust(36) + f"{count:8}{p50:9.2f}{p99:9.2f}{ratios:>28}")


if __name__ == "__main__":
    main()
