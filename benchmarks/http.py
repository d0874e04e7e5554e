"""Plays, views and scores a second, of the service and of the floor: ``python -m benchmarks.http``.

Both are up all the time and measured in turn, each cell a few seconds, as many rounds as asked for. The figures are the
medians of the rounds. What counts is the ratio: other work on the machine slows both. A score is one deal told in the
request and scored, with nothing kept; it is measured against the floor's view, which does one query too.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import orjson
import psycopg

from benchmarks import floor, load, servers
from benchmarks.load import Fixed, Source, Tally
from benchmarks.tables import Players

__all__ = ["DATABASE_URL", "REDIS_URL", "conditions", "main"]

DATABASE_URL: Final = os.environ.get("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
REDIS_URL: Final = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/1")
FLOOR: Final = (
    *("-m", "granian", "benchmarks.floor:application", "--interface", "wsgi", "--workers", "2"),
    *("--blocking-threads", str(servers.THREADS), "--host", "127.0.0.1", "--http", "1", "--no-ws"),
    *("--log-level", "warning"),
)
WARM_UP_SECONDS: Final = 1.0
SCORED: Final = orjson.dumps(
    {
        "ruleset": {"preset": "standard", "target_score": 300},
        "before": {"scores": {"NS": 120, "EW": 95}, "bags": {"NS": 3, "EW": 8}},
        "bids": {
            "N": {"kind": "number", "tricks": 4},
            "E": {"kind": "number", "tricks": 4},
            "S": {"kind": "nil"},
            "W": {"kind": "number", "tricks": 3},
        },
        "tricks": {"N": 4, "E": 4, "S": 0, "W": 5},
    }
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement."""

    tally: Tally
    cpu: float
    """Seconds of processor time of the server for each answer, without the database's."""


Sources = Callable[[int], Sequence[Source]]
"""Of a number of clients: what they send."""


def conditions(database_url: str | None = None) -> str:
    """What was measured on what, in one line; without a database where none is measured."""
    git = ["git", "-C", str(servers.ROOT)]
    commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False)
    told = (
        f"commit {commit.stdout.strip() or 'unknown'}{' and changes' if changed.stdout.strip() else ''}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}"
    )
    if database_url is None:
        return told
    with psycopg.connect(database_url) as database:
        return f"{told}, PostgreSQL {database.info.server_version // 10000}"


def _floor_sources(games: Sequence[tuple[str, str]]) -> dict[str, Sources]:
    def plays(clients: int) -> list[Source]:
        body = b'{"card":"QH"}'
        return [
            Fixed(load.request("POST", f"/v1/games/{game}/plays", token, body), "play")
            for game, token in games[:clients]
        ]

    def views(clients: int) -> list[Source]:
        return [Fixed(load.request("GET", f"/v1/games/{game}", token), "view") for game, token in games[:clients]]

    return {"plays": plays, "views": views, "scores": views}


def _product_sources(players: Players, *, keys: bool) -> dict[str, Sources]:
    def plays(clients: int) -> list[Source]:
        return [players.sit_down(keys=keys) for _ in range(clients)]

    def views(clients: int) -> list[Source]:
        tables = [players.sit_down() for _ in range(clients)]
        return [Fixed(load.request("GET", f"/v1/games/{t.game_id}", t.tokens["A"]), "view") for t in tables]

    def scores(clients: int) -> list[Source]:
        return [
            Fixed(load.request("POST", "/v1/scoring/deals", players.token, SCORED), "score") for _ in range(clients)
        ]

    return {"plays": plays, "views": views, "scores": scores}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--clients", default="1,32", help="numbers of clients, separated by commas")
    parser.add_argument("--what", default="plays,views,scores", help="what is measured, separated by commas")
    parser.add_argument("--server", choices=sorted(servers.SERVERS), default="uvicorn", help="what runs the service")
    parser.add_argument("--processes", type=int, default=2, help="of the service")
    parser.add_argument("--keys", action="store_true", help="send an Idempotency-Key with each action")
    parser.add_argument("--database-url", default=DATABASE_URL, help="any database of the cluster to measure on")
    parser.add_argument("--redis-url", default=REDIS_URL)
    options = parser.parse_args(arguments)
    clients = [int(number) for number in options.clients.split(",")]

    with ExitStack() as stack:
        database = stack.enter_context(servers.new_database(options.database_url, "floor"))
        games = floor.create_tables(database, max(clients))
        floor_server = stack.enter_context(servers.serve(FLOOR, {"DATABASE_URL": database}, "/"))
        product = stack.enter_context(
            servers.product(options.server, options.processes, options.database_url, options.redis_url)
        )
        sides = {
            "floor": (floor_server, _floor_sources(games)),
            "product": (product, _product_sources(Players(product.url), keys=options.keys)),
        }
        cells = [(what, number) for what in options.what.split(",") for number in clients]
        for server, sources in sides.values():
            for what in options.what.split(","):
                load.run(server.url, sources[what](max(clients)), WARM_UP_SECONDS)
        results: dict[tuple[str, str, int], list[Measured]] = {}
        for _ in range(options.rounds):
            for what, number in cells:
                for side, (server, sources) in sides.items():
                    senders = sources[what](number)
                    before = server.cpu_seconds()
                    tally = load.run(server.url, senders, options.seconds)
                    spent = server.cpu_seconds() - before
                    results.setdefault((side, what, number), []).append(Measured(tally, spent / tally.count))

    print(conditions(options.database_url))
    print(f"{options.server}, {options.processes} processes of {servers.THREADS} threads")
    print(f"medians of {options.rounds} rounds of {options.seconds:g} s")
    print(f"{'':18}{'answers a second':>24}{'ratio, lowest to highest':>28}{'ms of CPU an answer':>24}")
    print(f"{'':18}{'floor':>12}{'product':>12}{'':28}{'floor':>12}{'product':>12}")
    for what, number in cells:
        theirs, ours = results["floor", what, number], results["product", what, number]
        ratios = [our.tally.rate / their.tally.rate for our, their in zip(ours, theirs, strict=True)]
        print(
            f"{what}, {number:>2} clients".ljust(18)
            + "".join(f"{statistics.median(one.tally.rate for one in side):12,.0f}" for side in (theirs, ours))
            + f"{statistics.median(ratios):10.2f}, {min(ratios):.2f} to {max(ratios):.2f}".rjust(28)
            + "".join(f"{statistics.median(one.cpu for one in side) * 1000:12.2f}" for side in (theirs, ours))
        )
    print("milliseconds of the product by operation, p50 / p99")
    for what, number in cells:
        whole = Tally.of(one.tally for one in results["product", what, number])
        for name in sorted(whole.times):
            p50, p99 = (whole.percentile(percent, name) for percent in (50, 99))
            print(f"{name}, {number:>2} clients".ljust(24) + f"{p50:10.2f} /{p99:8.2f}")


if __name__ == "__main__":
    main()
