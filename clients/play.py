"""Play a whole game through the HTTP API: ``python -m clients.play``.

One side is this program, the others are house bots of the service. Without ``--base-url`` it starts a service of its
own in a temporary folder and stops it at the end. The exit status is 0 only if the game ended with a result.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from bots.player import bot
from clients.http import Answer, ApiClient, ApiProblem, NoAnswer

__all__ = ["main"]

ROOT: Final = Path(__file__).resolve().parent.parent
ANNOUNCEMENT: Final = "Listening on "
START_SECONDS: Final = 120
STOP_SECONDS: Final = 60
WAIT_SECONDS: Final = 20
PATIENCE: Final = 6
"""So many waits of `WAIT_SECONDS` in a row may bring nothing before the game is given up."""

ADDRESSES: Final = {"decision": "draws", "look": "looks", "cards": "passes", "kind": "bids", "card": "plays"}
"""Where a move is posted, by the field that tells its kind."""


class PlayError(Exception):
    """The game could not be played to its end."""


# A service of our own.


@contextmanager
def own_service() -> Iterator[str]:
    """Run a service in a temporary folder; gives its address.

    It has no more than this process needs, and it ends with it, whatever happens.

    Raises:
        PlayError: it does not start, or does not stop when told to.
    """
    with tempfile.TemporaryDirectory(prefix="spades-") as folder:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", "0"],
            cwd=ROOT,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 -- no thread runs yet
        )
        said: deque[str] = deque(maxlen=40)
        addresses: SimpleQueue[str | None] = SimpleQueue()
        listener = threading.Thread(target=_listen, args=(process, said, addresses), daemon=True)
        listener.start()
        failed = False
        try:
            yield _address(addresses, said)
        except (ApiProblem, NoAnswer):
            failed = True
            raise
        finally:
            process.terminate()
            try:
                status = process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            listener.join(STOP_SECONDS)
            if failed and said:
                print(f"The service said last:\n{''.join(said)}", file=sys.stderr)
        if status != 0:
            raise PlayError(f"The service ended with status {status}:\n{''.join(said)}")


def _environment(folder: str) -> dict[str, str]:
    """This environment, with all set that would make the service use another database or broker."""
    return {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{folder}/spades.sqlite3",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "REDIS_URL": "",
        "BROKER_URL": "",
        "OPEN_REGISTRATION": "true",
        "ALLOWED_HOSTS": "127.0.0.1",
        "DEBUG": "false",
        "LOG_LEVEL": "WARNING",
    }


def _end_with_parent() -> None:
    """In the child, before it becomes the service: ask Linux for a SIGTERM when this program dies by a SIGKILL."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def _listen(process: subprocess.Popen[str], said: deque[str], addresses: SimpleQueue[str | None]) -> None:
    """Read all that the service says: what it announces goes to `addresses`, None when it says no more."""
    if process.stdout is not None:
        with process.stdout as output:
            for line in output:
                if line.startswith(ANNOUNCEMENT):
                    addresses.put(line.removeprefix(ANNOUNCEMENT).strip())
                else:
                    said.append(line)
    addresses.put(None)


def _address(addresses: SimpleQueue[str | None], said: Sequence[str]) -> str:
    try:
        address = addresses.get(timeout=START_SECONDS)
    except Empty:
        raise PlayError(f"The service did not start within {START_SECONDS} seconds:\n{''.join(said)}") from None
    if address is None:
        raise PlayError(f"The service did not start:\n{''.join(said)}")
    return address


# The game.


class Game:
    """A game that we sit at, as far as we have seen it."""

    def __init__(self, client: ApiClient, made: Mapping[str, Any], etag: str | None) -> None:
        self.client = client
        self.address = f"/v1/games/{made['game']['id']}"
        self.seat: str = made["seats"][0]["seat"]
        self.view: Mapping[str, Any] = made["game"]
        self._etag = etag
        self._told = 0

    @property
    def ours(self) -> bool:
        """Whether we are on turn."""
        turn = self.view["turn"]
        return turn is not None and self.seat in turn["seats"]

    def act(self, body: Mapping[str, Any]) -> None:
        """Make our move, decided upon the view that we have."""
        field = next(field for field in ADDRESSES if field in body)
        sent = {} if field == "look" else body  # looking takes no more than the address
        try:
            self.see(self.client.post(f"{self.address}/{ADDRESSES[field]}", sent, if_match=self._etag))
        except ApiProblem as problem:
            if problem.reason != "stale_version":
                raise
            self.see(self.client.get(self.address))  # the table moved on: look, and decide anew

    def wait(self) -> None:
        """Wait until somebody else has moved, and look."""
        query = {"after": self.view["version"], "wait": WAIT_SECONDS}
        for _ in range(PATIENCE):
            if self.client.get(f"{self.address}/events", query).body["items"]:
                self.see(self.client.get(self.address))
                return
        raise PlayError(f"Nobody moved for {PATIENCE * WAIT_SECONDS} seconds; on turn: {self.view['turn']}")

    def news(self) -> Iterator[Mapping[str, Any]]:
        """The events since this was last asked, each once, in order."""
        more = True
        while more:
            page = self.client.get(f"{self.address}/events", {"after": self._told, "limit": 500}).body
            for event in page["items"]:
                self._told = event["number"]
                yield event
            more = page["next"] is not None

    def deals(self) -> Iterator[Mapping[str, Any]]:
        """The scored deals, in order."""
        query: dict[str, Any] = {}
        while True:
            page = self.client.get(f"{self.address}/deals", query).body
            yield from (deal for deal in page["items"] if deal["score"] is not None)
            if page["next"] is None:
                return
            query = {"cursor": page["next"]}

    def see(self, answer: Answer) -> None:
        self.view, self._etag = answer.body, answer.etag


def sit_down(client: ApiClient, ruleset: Mapping[str, Any]) -> Game:
    """Make an account and a table, with a bot in every other seat."""
    client.token = client.post("/v1/accounts", {"name": "You"}).body["token"]
    seats = [{"kind": "human", "name": "You"}, {"kind": "bot", "bot": "steady"}]
    made = client.post("/v1/games", {"ruleset": dict(ruleset), "seats": seats})
    game = Game(client, made.body, made.etag)
    for seat in made.body["game"]["seats"]:
        if seat["kind"] == "open":
            client.post(f"{game.address}/seats", {"kind": "bot", "bot": "steady", "seat": seat["seat"]})
    game.see(client.get(game.address))
    return game


def play(game: Game, rng: random.Random, reporter: Reporter) -> None:
    """Play the game to its end with the moves of `steady`, decided upon what the service shows us."""
    player = bot("steady")
    deal = None
    while game.view["result"] is None:
        if game.ours:
            game.act(player.choose(game.view, rng))
        else:
            game.wait()
        if game.view["deal"]["number"] != deal or game.view["result"] is not None:
            deal = game.view["deal"]["number"]
            for event in game.news():
                reporter.tell(event)


# What is told.


class Reporter:
    """Tells each deal in two lines once it is scored.

    Args:
        quiet: tell nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self._dealer = ""
        self._draws: dict[str, str] = {}
        self._tricks = ""

    def tell(self, event: Mapping[str, Any]) -> None:
        """Take the next event."""
        kind, seat, data = event["type"], event["seat"], event["data"]
        if kind == "deal_started":
            self._dealer, self._draws, self._tricks = data["dealer"], {}, ""
        elif kind == "card_drawn":
            self._draws[seat] = self._draws.get(seat, "") + ("k" if data["decision"] == "keep" else "d")
        elif kind == "trick_taken":
            self._tricks += data["winner"]
        elif kind == "deal_scored" and not self.quiet:
            self._scored(event["deal_number"], data)

    def _scored(self, number: int, data: Mapping[str, Any]) -> None:
        scores = "   ".join(
            f"{side} {score['delta']:+d} = {score['score']} ({score['bags']} bags)"
            for side, score in data["sides"].items()
        )
        draws = "".join(f"{seat} {text}  " for seat, text in sorted(self._draws.items()))
        promises = "  ".join(
            f"{seat} {bid_text(data['bids'].get(seat))}/{data['tricks'][seat]}" for seat in sorted(data["tricks"])
        )
        print(f"Deal {number:>2}, dealer {self._dealer}   {scores}")
        print(f"         {'draws ' if draws else ''}{draws}bid/taken {promises}  tricks {self._tricks}", flush=True)


def bid_text(bid: Mapping[str, Any] | None) -> str:
    """A bid, shortly: ``6``, ``nil`` or ``blind 6``; ``-`` where nobody bids."""
    if bid is None:
        return "-"
    words = [bid["kind"].replace("_", " ")] if bid["kind"] != "number" else []
    return " ".join([*words, *([str(bid["tricks"])] if "tricks" in bid else [])])


def print_sheet(game: Game) -> None:
    """Print the score sheet, every deal line by line."""
    names = {seat["seat"]: f"{seat['seat']} ({seat['name']})" for seat in game.view["seats"]}
    print("\nScore sheet: " + ", ".join(names.values()))
    for deal in game.deals():
        for side, score in deal["score"]["sides"].items():
            seats = [seat["seat"] for seat in game.view["seats"] if seat["side"] == side]
            bids = " + ".join(bid_text(deal["bids"].get(seat)) for seat in seats)
            taken = " + ".join(str(deal["tricks"][seat]) for seat in seats)
            lines = ", ".join(f"{line['what'].replace('_', ' ')} {line['points']:+d}" for line in score["lines"])
            heading = f"{deal['number']:>4}" if side == next(iter(deal["score"]["sides"])) else "    "
            columns = f"bid {bids:>{6 * len(seats) - 3}}  took {taken:>{5 * len(seats) - 3}}"
            print(f"{heading}  {side}  {columns}  {score['score']:>5}   {lines or 'nothing'}")


def print_result(game: Game) -> None:
    """Print who won.

    Raises:
        PlayError: nobody did.
    """
    result = game.view["result"]
    if not result["winners"]:
        raise PlayError("The game ended without a winner.")
    scores = ", ".join(f"{side} {points}" for side, points in result["scores"].items())
    side = next(seat["side"] for seat in game.view["seats"] if seat["seat"] == game.seat)
    who = " and ".join(result["winners"]) + (" (you)" if side in result["winners"] else "")
    print(f"\n{who} won, by {result['reason'].replace('_', ' ')}: {scores}")


# The command.


def _rule(text: str) -> tuple[str, Any]:
    """An option of the rules: ``nil=false``, ``pass_count=2``, ``bid_rule=free``."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m clients.play", description="Play a whole game through the HTTP API."
    )
    parser.add_argument("--preset", default="two_player", help="the rules to play by")
    parser.add_argument("--target", type=int, help="points that win, if not those of the preset")
    parser.add_argument(
        "--rule", action="append", default=[], type=_rule, metavar="NAME=VALUE", help="another option than the preset's"
    )
    parser.add_argument("--seed", type=int, help="what our own choices come from; the cards are the service's")
    parser.add_argument("--base-url", help="a running service; without it one is started and stopped again")
    parser.add_argument("--record", type=Path, help="a file to write the record of the game into, as JSON")
    parser.add_argument("--quiet", action="store_true", help="tell only who won")
    options = parser.parse_args(arguments)
    ruleset: dict[str, Any] = {"preset": options.preset, **dict(options.rule)}
    if options.target is not None:
        ruleset["target_score"] = options.target
    # A SIGTERM must go the way of every other end, past the `finally` that stops the service.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        service = nullcontext(options.base_url) if options.base_url else own_service()
        with service as address, ApiClient(address) as client:
            game = sit_down(client, ruleset)
            play(game, random.Random(options.seed), Reporter(quiet=options.quiet))
            if not options.quiet:
                print_sheet(game)
            print_result(game)
            if options.record is not None:
                record = client.get(f"{game.address}/record").body
                options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    except (ApiProblem, NoAnswer, PlayError, OSError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        if isinstance(error, ApiProblem):
            for fault in error.body.get("errors", ()):
                print(f"  {fault['pointer']}: {fault['detail']}", file=sys.stderr)
            print(f"  request {error.body.get('request_id', 'without an id')}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
