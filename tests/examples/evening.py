"""A club evening kept by `examples/club` through the API, as evenings go: answers get lost, the app is killed, a card
is misread. In the end its standings must be what the library works out from the paper cards alone.

`python -m tests.examples.evening` starts a service and keeps the evening at it; the client must have been made.
"""

from __future__ import annotations

import csv
import os
import queue
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import httpx

from clients.http import ApiClient
from clients.play import own_service
from spades import Adjustment, Bid, Ruleset, ScoreSheet

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "examples" / "club"
PATIENCE = 60
PROMPT = "club> "
SEATS = "NESW"

RULES = {"max_hands": 3, "tie_rule": "shared", "bag_limit": 3, "bag_penalty": 30, "blind_nil": "any"}
NAMES = [["Ann", "Bea", "Cy", "Dan"], ["Eve", "Fay", "Gus", "Hal"], ["Ivy", "Jo", "Kim", "Lou"]]
# The paper cards: the deals of each table, bids and tricks in the order N E S W.
CARDS = [
    [("4 3 nil 4", "5 3 0 5"), ("4 3 3 3", "3 5 2 3"), ("2 4 4 2", "4 4 4 1")],
    [("3 3 3 3", "4 3 4 2"), ("nil 4 5 3", "1 4 5 3"), ("blind_nil 3 6 3", "0 3 7 3")],
    [("5 2 3 2", "5 2 3 3"), ("4 4 2 2", "4 4 2 3"), ("6 1 4 2", "6 1 5 1")],
]
MISREAD = "6 3 0 4"
"""The tricks of the first deal at table 1, as they are typed at first."""
PENALTY = (2, 2, Adjustment("EW", -20, "late again"))
"""The table, the deal after which it is given, and the points."""

LINE = re.compile(r"  deal (\d+) (NS|EW): (nothing|-?\d+)(?: \(.*\))? -> (nothing|-?\d+)(?: \(.*\))?")


class Line:
    """The line between the app and the service, on which one exchange at a time can be lost.

    Attributes:
        lost: what was lost, once it is.
        passed: the path and query of every request that was passed on.
    """

    def __init__(self, service: str) -> None:
        self.lost: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.passed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._losing: tuple[str, str, str] | None = None
        line = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _exchange(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                losing, line._losing = line._taken(self.command, self.path)
                if losing != "request":
                    headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                    line.passed.put(self.path)
                    got = httpx.request(
                        self.command, service + self.path, headers=headers, content=body, timeout=PATIENCE
                    )
                if losing == "gateway":
                    got = httpx.Response(502, headers={"Content-Type": "text/html"}, content=b"<p>Bad gateway")
                elif losing:
                    line.lost.put(f"{losing} of {self.command} {self.path}")
                    self.rfile.read(1)  # until whoever waits for the answer is gone
                    self.close_connection = True
                    return
                self.send_response(got.status_code)
                for name in ("Content-Type", "ETag", "Retry-After", "Content-Length"):
                    if name in got.headers:
                        self.send_header(name, got.headers[name])
                self.end_headers()
                self.wfile.write(got.content)

            do_GET = do_POST = do_PATCH = _exchange  # noqa: N815 -- the names that the library calls

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def lose(self, what: str, method: str, end: str) -> None:
        """Lose the `request` or the `answer` of the next exchange of this method whose path ends so.

        Or let a `gateway` give another answer than the service gave.
        """
        self._losing = (what, method, end)

    def _taken(self, method: str, path: str) -> tuple[str, tuple[str, str, str] | None]:
        losing = self._losing
        if losing is not None and (method, path[-len(losing[2]) :]) == losing[1:]:
            return losing[0], None
        return "", losing

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class App:
    """The app as a person has it: it prompts, and lines are typed at it.

    Args:
        folder: where it runs, and keeps its book.
        client: the folder in which `spades_client` was made.
        line: what lies between it and the service.
        tell: takes what is typed and what is said, as it goes.
    """

    def __init__(self, folder: Path, client: Path, line: Line, tell: Callable[[str], object]) -> None:
        self.folder, self.client, self.line, self.tell = folder, client, line, tell

    def __enter__(self) -> Self:
        self.goes_on()
        return self

    def __exit__(self, *error: object) -> None:
        """End it by the end of what is typed, or kill it when something has failed."""
        if error[0] is not None:
            self._process.kill()
        said, _ = self._process.communicate(timeout=PATIENCE)
        assert error[0] is not None or said == ""

    def goes_on(self) -> list[str]:
        """Start it; gives what it says before it prompts."""
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "club"],
            cwd=self.folder,
            env={**kept, "PYTHONPATH": os.pathsep.join((str(self.client), str(APP)))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self.hears()

    def says(self, typed: str) -> list[str]:
        """Type a line at it; gives what it says."""
        self.types(typed)
        return self.hears()

    def killed(self, typed: str, lost: str, method: str, end: str) -> list[str]:
        """Type a line, lose the request or the answer of an exchange, kill the app while it waits, and start it again.

        Returns:
            What it says when it goes on.
        """
        self.line.lose(lost, method, end)
        self.types(typed)
        self.line.lost.get(timeout=PATIENCE)
        self._process.send_signal(signal.SIGKILL)
        said, _ = self._process.communicate(timeout=PATIENCE)
        assert (self._process.returncode, said) == (-signal.SIGKILL, "")
        self.tell(f"(the {lost} was lost, and the app killed)")
        return self.goes_on()

    def types(self, typed: str) -> None:
        assert self._process.stdin is not None
        self.tell(f"> {typed}")
        self._process.stdin.write(f"{typed}\n")
        self._process.stdin.flush()

    def hears(self) -> list[str]:
        """All that it says until it prompts."""
        assert self._process.stdout is not None
        said, limit = "", threading.Timer(PATIENCE, self._process.kill)
        limit.start()
        while not said.endswith(PROMPT):
            letter = self._process.stdout.read(1)
            assert letter, f"the app ended, or said nothing more for {PATIENCE} s:\n{said}"
            said += letter
        limit.cancel()
        lines = said.removesuffix(PROMPT).splitlines()
        for text in lines:
            self.tell(text)
        return lines

    def token(self) -> str:
        """The token of the club's account, from its book."""
        book = sqlite3.connect(self.folder / "club.sqlite3")
        try:
            return str(book.execute("SELECT token FROM account").fetchone()[0])
        finally:
            book.close()


# The evening.


def keep(service: str, folder: Path, client: Path, tell: Callable[[str], object] = str) -> None:
    """Keep the whole evening, and hold it against the library."""
    line = Line(service)
    try:
        with App(folder, client, line, tell) as app:
            open_evening(app)
            first_deals(app)
            second_deals(app)
            third_deals(app)
            assert app.says("standings") == standings()
            with ApiClient(service, app.token()) as api:
                sheets = api.get("/v1/score_sheets").body["items"]
                nothing_was_done_twice(api, sheets)
            is_exported(app, folder / "sheets")
            is_shared(app, service, sheets[-1])
    finally:
        line.stop()


def open_evening(app: App) -> None:
    rules = " ".join(f"--rule {name}={value}" for name, value in RULES.items())
    tables = " ".join(f"--table {' '.join(names)}" for names in NAMES)
    assert app.says(f"account {app.line.url} 'Our club'") == ["the club has an account"]
    misspelt = app.says(f"open Monday --rule max_hand=3 {tables}")
    assert misspelt == ["Refused: malformed: no such options: max_hand"]

    # The first sheet is made and the app does not know, the others are not even asked for.
    said = app.killed(f"open Monday {rules} {tables}", "answer", "POST", "/v1/score_sheets")

    assert said == [f"table {table}: create_sheet is done" for table in (1, 2, 3)]


def first_deals(app: App) -> None:
    """The app is killed at another place at each table, and goes on. At table 1 the card is misread."""
    assert app.killed(bids(1, 1), "answer", "POST", "/deals") == ["table 1: add_deal is done"]
    app.says(f"tricks 1 {by_seat(MISREAD)}")

    app.says(bids(2, 1))
    said = app.killed(tricks(2, 1), "answer", "PATCH", "/deals/1")
    assert said == ["table 2: change_deal of deal 1 is done, and was before"]

    assert app.killed(bids(3, 1), "request", "POST", "/deals") == ["table 3: add_deal is done"]
    said = app.killed(tricks(3, 1), "request", "PATCH", "/deals/1")
    assert said[0] == "table 3: change_deal of deal 1 is done"


def second_deals(app: App) -> None:
    """Then the card is read again, a penalty is given, and points that were a mistake are taken back."""
    for table in (1, 2, 3):
        app.says(bids(table, 2))
        app.says(tricks(table, 2))

    corrected = app.says(f"correct 1 1 --tricks {by_seat(CARDS[0][0][1])}")

    wrong = scores([(CARDS[0][0][0], MISREAD), CARDS[0][1]])
    right = scores(CARDS[0][:2])
    assert corrected[0] == "table 1: change_deal of deal 1 is done"
    assert changes(corrected) == [
        (deal, side, str(wrong[deal - 1][side]), str(right[deal - 1][side])) for deal in (1, 2) for side in ("NS", "EW")
    ]

    table, _, penalty = PENALTY
    adjust = f"adjust {table} {penalty.side} {penalty.points} '{penalty.why}'"
    assert app.killed(adjust, "answer", "POST", "/adjustments")[0] == f"table {table}: adjust_sheet is done"

    ((deal, side, before, after),) = changes(app.says("adjust 3 NS 500 'a mistake'"))
    assert int(after) == int(before) + 500
    assert changes(app.says("undo 3")) == [(deal, side, after, before)]


def third_deals(app: App) -> None:
    """They end the games. At table 1 somebody follows what is written."""
    heard = app.says("events 1")
    assert [text.partition(";")[0] for text in heard] == [
        "event 1: sheet_made",
        "event 2: deal_added deal 1",
        "event 3: deal_changed deal 1",
        "event 4: deal_added deal 2",
        "event 5: deal_changed deal 2",
        "event 6: deal_changed deal 1",
    ]

    with App(app.folder, app.client, app.line, app.tell) as follower:
        follower.types("events 1 --wait 20")
        while "wait=" not in app.line.passed.get(timeout=PATIENCE):
            pass
        app.says(bids(1, 3))
        stands = ", ".join(f"{side} {points}" for side, points in scores(CARDS[0][:2])[-1].items())
        assert follower.hears() == [f"event 7: deal_added deal 3; {stands}"]

    app.says(tricks(1, 3))
    for table in (2, 3):
        app.line.lose("gateway", "POST", "/deals")
        assert app.says(bids(table, 3)) == [f"table {table}: add_deal is done"]
        assert app.says(tricks(table, 3))[-1] == "  the game is over, won by NS"
    assert app.says(bids(3, 3))[0].startswith("Refused: game_over: ")


def nothing_was_done_twice(api: ApiClient, sheets: Sequence[dict[str, Any]]) -> None:
    events = [api.get(f"/v1/score_sheets/{sheet['id']}/events").body["items"] for sheet in reversed(sheets)]

    deal = ["deal_added", "deal_changed"]
    assert [[event["type"] for event in table] for table in events] == [
        ["sheet_made", *deal, *deal, "deal_changed", *deal],
        ["sheet_made", *deal, *deal, "sheet_adjusted", *deal],
        ["sheet_made", *deal, *deal, "sheet_adjusted", "change_undone", *deal],
    ]


def is_exported(app: App, folder: Path) -> None:
    app.says(f"export {folder}")

    for table, cards in enumerate(CARDS, start=1):
        with (folder / f"table-{table}.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["row"] == "deal"]
        told = [
            tuple(" ".join(row[f"{column}_{seat}"] for seat in SEATS) for column in ("bid", "tricks")) for row in rows
        ]
        assert told == cards


def is_shared(app: App, service: str, sheet: dict[str, Any]) -> None:
    """Whoever has the token reads the sheet, which is that of table 1, and does no more."""
    link, again = app.says("share 1")[-1], app.says("share 1")
    assert again == [link]

    with ApiClient(service, link.split()[4]) as reader:
        shown = reader.get(f"/v1/score_sheets/{sheet['id']}").body

    assert (shown["viewer"], shown["sides"]) == ({"role": "reader"}, sheet["sides"])


# What is typed, what is said, and what the library says about the same cards.


def by_seat(marks: str) -> str:
    """``N=4 E=3 S=nil W=4`` for ``4 3 nil 4``."""
    return " ".join(f"{seat}={mark}" for seat, mark in zip(SEATS, marks.split(), strict=True))


def bids(table: int, deal: int) -> str:
    return f"bids {table} {by_seat(CARDS[table - 1][deal - 1][0])}"


def tricks(table: int, deal: int) -> str:
    return f"tricks {table} {by_seat(CARDS[table - 1][deal - 1][1])}"


def changes(said: Sequence[str]) -> list[tuple[int, str, str, str]]:
    """The lines that are others now: deal, side, score before and after."""
    found = [match.groups() for text in said if (match := LINE.fullmatch(text))]
    return [(int(deal), side, before, after) for deal, side, before, after in found]


def sheets_of(cards: Sequence[tuple[str, str]], table: int | None = None) -> Iterator[ScoreSheet]:
    """The library's sheet after each deal, with the penalty if the table is given that has it."""
    sheet = ScoreSheet.start(Ruleset.resolve({"preset": "standard", **RULES}))
    for number, (bid, taken) in enumerate(cards, start=1):
        sheet, _ = sheet.after(
            {seat: _bid(text) for seat, text in zip(SEATS, bid.split(), strict=True)},
            {seat: int(text) for seat, text in zip(SEATS, taken.split(), strict=True)},
            adjustments=[PENALTY[2]] if (table, number) == PENALTY[:2] else [],
        )
        yield sheet


def _bid(text: str) -> Bid:
    return Bid.number(int(text)) if text.isdecimal() else Bid.from_json({"kind": text})


def scores(cards: Sequence[tuple[str, str]]) -> list[dict[str, int]]:
    return [sheet.scores() for sheet in sheets_of(cards)]


def standings() -> list[str]:
    """The standings, line by line."""
    pairs = []
    for table, (names, cards) in enumerate(zip(NAMES, CARDS, strict=True), start=1):
        *_, sheet = sheets_of(cards, table)
        assert sheet.ending() is not None
        for side, told in sheet.sides.items():
            who = " and ".join(names[SEATS.index(seat)] for seat in side)
            pairs.append((-told.score, told.bags, f"{who}, table {table}: {told.score} points, {told.bags} bags"))
    pairs.sort()
    places = [1 + sum(other[:2] < pair[:2] for other in pairs) for pair in pairs]
    return [f"{place:>3}. {text}" for place, (_, _, text) in zip(places, pairs, strict=True)]


def main() -> int:
    """Keep an evening at a service of its own."""
    with own_service() as service, tempfile.TemporaryDirectory(prefix="club-") as folder:
        keep(service, Path(folder), APP, print)
    print("The standings are what the library works out from the cards.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
