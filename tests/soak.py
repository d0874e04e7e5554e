"""Bot games by the hundred, each made again from its actions: ``python -m tests.soak --games 300``.

They go through the services, steady against steady and steady against random in turn. Each game must end by itself, and
its snapshot, its score rows and every one of its events must come out of its actions again. What came of it is told and
written to tests/results/soak.json, which tests/test_results.py holds against the code. The exit status is 1 on any
difference.

All chance of this process comes from the seed, one generator a game, so that a game that fails can be played again:
``--seed N --first K --games 1``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import secrets
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import django
from django.core.management import call_command
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "tests" / "results" / "soak.json"
ASIDE = tuple(f":!spades/{name}.py" for name in ("__main__", "notation", "playout", "replay", "rulings", "what_if"))
"""What no table needs: questions about the rules, and records of games that are over."""
MEASURED = ("spades", "bots", "games", "events/log.py", *ASIDE)
"""What a result tells about, as git has paths: it is old once any of this has changed."""

PAIRS = (("steady", "steady"), ("steady", "random"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Play many bot games and rebuild each.")
    parser.add_argument("--games", type=int, default=300, help="how many to play")
    parser.add_argument("--seed", type=int, help="what all chance comes from; by default another each time")
    parser.add_argument("--first", type=int, default=1, help="the number of the first game")
    parser.add_argument("--result", type=Path, default=RESULT, help="the file to write")
    options = parser.parse_args(arguments)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory(prefix="spades-soak-") as folder:
        prepare(f"sqlite:///{folder}/soak.sqlite3")
        try:
            result = soak(range(options.first, options.first + options.games), seed)
        finally:
            connection.close()
    options.result.parent.mkdir(parents=True, exist_ok=True)
    options.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    report(result)
    print(f"Written to {options.result}.")
    return 1 if result["failures"] else 0


def prepare(database_url: str) -> None:
    """Set up Django on this database, or on the one of DATABASE_URL, which must be there and keeps what is played."""
    os.environ.setdefault("DATABASE_URL", database_url)
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(50))
    os.environ.setdefault("SQLITE_SYNCHRONOUS", "OFF")
    os.environ.update(DJANGO_SETTINGS_MODULE="spades_api.settings", LOG_LEVEL="WARNING", REDIS_URL="", BROKER_URL="")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)


def soak(numbers: range, seed: int) -> dict[str, Any]:
    """Play the games of these numbers and hold each against its actions; gives the result."""
    rebuilding = import_module("tests.games.rebuilding")  # these need Django to be set up
    queues = import_module("spades_api.transport").queues
    games: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    begun, played = time.monotonic(), commit()
    for number in numbers:
        bots = PAIRS[number % len(PAIRS)]
        secrets.token_bytes = random.Random(f"{seed} {number}").randbytes  # the services' only source of chance
        try:
            game_id = rebuilding.play_bot_game(bots)
            rebuilding.assert_rebuilds(game_id)
        except Exception:  # noqa: BLE001 -- whatever it was, the other games tell more
            failures.append({"game": number, "bots": bots, "error": traceback.format_exc()})
            print(f"Game {number}, {bots}, failed:\n{failures[-1]['error']}", file=sys.stderr, flush=True)
            continue
        finally:
            queues.clear("celery")  # wakes that no worker will take
        games.append({"bots": bots, **outcome(game_id)})
        if number % 25 == 0:
            minutes = (time.monotonic() - begun) / 60
            print(f"{len(games)} games, {len(games) / minutes:.0f} a minute, {len(failures)} failed", flush=True)
    seconds = time.monotonic() - begun
    return {
        "commit": played,
        "seed": seed,
        "first": numbers.start,
        "games": len(games),
        "failures": failures,
        "seconds": round(seconds, 1),
        "games_a_minute": round(len(games) / seconds * 60, 1),
        "pairs": {" against ".join(pair): tally([game for game in games if game["bots"] == pair]) for pair in PAIRS},
        "database": connection.vendor,
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def outcome(game_id: Any) -> dict[str, Any]:
    """How long a game was and how it ended."""
    models = import_module("games.models")
    game = models.Game.objects.get(id=game_id)
    deals = models.Deal.objects.filter(game_id=game_id, score__isnull=False).count()
    result = json.loads(game.result)
    return {"deals": deals, "events": game.version, "reason": result["reason"], "winners": tuple(result["winners"])}


def tally(games: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The games of one pair of bots, counted."""
    deals = sorted(game["deals"] for game in games)
    return {
        "games": len(games),
        "reasons": dict(sorted(Counter(game["reason"] for game in games).items())),
        "winners": dict(sorted(Counter("".join(game["winners"]) for game in games).items())),
        "deals": {str(number): count for number, count in sorted(Counter(deals).items())},
        "deals_median": deals[len(deals) // 2] if deals else None,
        "events": sum(game["events"] for game in games),
    }


def report(result: dict[str, Any]) -> None:
    """Tell the result."""
    for pair, counts in result["pairs"].items():
        spread = ", ".join(f"{number}: {count}" for number, count in counts["deals"].items())
        print(f"{pair}: {counts['games']} games, ended by {counts['reasons']}, won by {counts['winners']}")
        print(f"  games by number of deals (median {counts['deals_median']}): {spread}")
    print(
        f"{result['games']} games rebuilt without a difference, {len(result['failures'])} failed, in "
        f"{result['seconds']} s: {result['games_a_minute']} a minute. Seed {result['seed']}, commit {result['commit']}."
    )


def commit() -> str:
    """The commit that is played, with a mark if the checkout has other changes than new results."""

    def git(*arguments: str) -> str:
        found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return found.stdout.strip()

    changed = git("diff", "--name-only", "HEAD", "--", ".", ":!tests/results")
    return (git("describe", "--always") or "unknown") + ("-dirty" if changed else "")


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
    }


if __name__ == "__main__":
    sys.exit(main())
