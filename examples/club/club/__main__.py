"""The commands: ``python -m club --help``. Without a command they are read from standard input, one a line."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from club.book import SEATS, Book, PlayTable
from club.service import Done, NoAnswer, Refused, Service
from spades_client.models import BidRequest, BidRequestKind, SheetEvent, SideScore
from spades_client.types import UNSET

__all__ = ["main"]

PROMPT: Final = "club> "


class Wrong(Exception):
    """The command makes no sense here."""


# What is typed in.


def _bid(text: str) -> BidRequest:
    """A bid as people write it: ``4``, ``nil``, ``blind_nil``, ``blind:6``."""
    if text.isdecimal():
        return BidRequest(BidRequestKind.NUMBER, int(text))
    kind, _, tricks = text.partition(":")
    return BidRequest(BidRequestKind(kind), int(tricks) if tricks else UNSET)


def _by_seat(text: str) -> tuple[str, str]:
    """A seat's mark on the card: ``N=4``."""
    seat, _, mark = text.partition("=")
    if seat not in SEATS or not mark:
        raise argparse.ArgumentTypeError(f"expected a seat and its mark, such as N=4, got {text!r}")
    return seat, mark


def _rule(text: str) -> tuple[str, Any]:
    """A house rule: ``bag_limit=5``, ``blind_nil=any``."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _bids(marks: Sequence[tuple[str, str]]) -> dict[str, Any]:
    try:
        return {"bids": {seat: _bid(mark).to_dict() for seat, mark in marks}}
    except ValueError as error:
        raise Wrong(f"that is no bid: {error}") from None


def _tricks(marks: Sequence[tuple[str, str]]) -> dict[str, Any]:
    try:
        return {"tricks": {seat: int(mark) for seat, mark in marks}}
    except ValueError as error:
        raise Wrong(f"tricks are numbers: {error}") from None


# What is done. Each command takes what was typed and gives the lines to print.


class Club:
    """The club's book, the service, and the commands between them."""

    def __init__(self, path: Path) -> None:
        self.book = Book(path)
        self.service = Service(self.book)

    def close(self) -> None:
        """Close the connection and the book."""
        self.service.close()
        self.book.close()

    def finish(self) -> Iterator[str]:
        """Send what has no answer yet, and tell what came of it."""
        for done in self.service.finish():
            yield from self._told(done)

    def account(self, given: argparse.Namespace) -> Iterator[str]:
        """Make an account at the service, once and for all."""
        known = self.book.account()
        if known is not None and known[1] is not None:
            raise Wrong("the club has an account")
        self.book.begin_account(given.url, given.name)
        yield from self.finish()

    def open(self, given: argparse.Namespace) -> Iterator[str]:
        """Begin an evening: a sheet for each table."""
        rules = {"preset": given.preset, **dict(given.rule)}
        members = [name for names in given.table for name in names]
        if len(set(members)) != len(members):
            raise Wrong("somebody would sit twice")
        for warning in self.service.rules(rules).warnings:
            yield f"note: {warning.detail}"
        self.book.begin_evening(given.name, rules, given.table)
        yield from self.finish()

    def bids(self, given: argparse.Namespace) -> Iterator[str]:
        """Write down the bids of the next deal."""
        table, _ = self._table(given.number)
        self.book.wish("add_deal", table, _bids(given.marks))
        yield from self.finish()

    def tricks(self, given: argparse.Namespace) -> Iterator[str]:
        """Write down the tricks of the deal that was bid."""
        table, sheet = self._table(given.number)
        if not sheet["deals"] or sheet["deals"][-1]["tricks"] is not None:
            raise Wrong("nobody has bid for the next deal yet")
        self.book.wish("change_deal", table, _tricks(given.marks), deal=sheet["deals"][-1]["number"])
        yield from self.finish()

    def correct(self, given: argparse.Namespace) -> Iterator[str]:
        """Correct a deal that was typed wrong."""
        table, _ = self._table(given.number)
        body = {**(_bids(given.bids) if given.bids else {}), **(_tricks(given.tricks) if given.tricks else {})}
        if not body:
            raise Wrong("say which --bids or --tricks are right")
        self.book.wish("change_deal", table, body, deal=given.deal)
        yield from self.finish()

    def undo(self, given: argparse.Namespace) -> Iterator[str]:
        """Take the last change back."""
        table, _ = self._table(given.number)
        self.book.wish("undo_change", table, {})
        yield from self.finish()

    def adjust(self, given: argparse.Namespace) -> Iterator[str]:
        """Give points, or take them, for a reason."""
        table, _ = self._table(given.number)
        self.book.wish("adjust_sheet", table, {"side": given.side, "points": given.points, "why": given.why})
        yield from self.finish()

    def events(self, given: argparse.Namespace) -> Iterator[str]:
        """Tell what was done since this was last asked."""
        table, _ = self._table(given.number)
        for event in self.service.news(table, given.wait):
            yield _event(event)
            self.book.told(table, event.number)

    def share(self, given: argparse.Namespace) -> Iterator[str]:
        """Let others read a sheet."""
        table, _ = self._table(given.number)
        if table.share is None:
            self.book.wish("create_share_link", table, {"name": given.name})
            yield from self.finish()
            table, _ = self._table(given.number)
        yield f"table {table.number}: whoever has {table.share} may read the sheet"

    def export(self, given: argparse.Namespace) -> Iterator[str]:
        """Write each sheet into a file for a spreadsheet."""
        given.folder.mkdir(parents=True, exist_ok=True)
        for table in self._tables():
            path = given.folder / f"table-{table.number}.csv"
            path.write_text(self.service.csv(table), encoding="utf-8", newline="")
            yield f"wrote {path}"

    def standings(self, given: argparse.Namespace) -> Iterator[str]:
        """Rank the pairs of all tables: by points, and of equals who has fewer bags stands higher."""
        for table in self._tables():
            self.service.look(table)
        pairs = [
            (side["score"], side["bags"], " and ".join(table.names[seat] for seat in side["side"]), table.number)
            for table in self.book.tables()
            if table.sheet is not None
            for side in table.sheet["sides"]
        ]
        pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
        for points, bags, names, number in pairs:
            place = 1 + sum((-other[0], other[1]) < (-points, bags) for other in pairs)
            yield f"{place:>3}. {names}, table {number}: {points} points, {bags} bags"

    # What is told.

    def _told(self, done: Done) -> Iterator[str]:
        wish = done.wish
        if wish.play_table is None:
            yield "the club has an account"
            return
        table = self.book.table(wish.play_table)
        deal = f" of deal {wish.deal}" if wish.deal is not None else ""
        yield f"table {table.number}: {wish.operation}{deal} is done{', and was before' if done.found else ''}"
        for line in done.changed:
            yield f"  deal {line.deal} {line.side}: {_score(line.before)} -> {_score(line.after)}"
        if done.changed and table.sheet is not None and table.sheet["game"]["over"]:
            yield f"  the game is over, won by {' and '.join(table.sheet['game']['winners'])}"

    def _tables(self) -> list[PlayTable]:
        tables = [table for table in self.book.tables() if table.sheet is not None]
        if not tables:
            raise Wrong("no evening is open")
        return tables

    def _table(self, number: int) -> tuple[PlayTable, Mapping[str, Any]]:
        for table in self._tables():
            if table.number == number and table.sheet is not None:
                return table, table.sheet
        raise Wrong(f"there is no table {number} this evening")


def _score(score: SideScore | None) -> str:
    if score is None:
        return "nothing"
    lines = ", ".join(f"{line.what.value} {line.points:+d}" for line in score.lines)
    return f"{score.score} ({lines or 'no line'})"


def _event(event: SheetEvent) -> str:
    deal = f" deal {event.deal_number}" if event.deal_number is not None else ""
    scores = ", ".join(f"{side.side} {side.score}" for side in event.data.sides)
    return f"event {event.number}: {event.type_.value}{deal}; {scores}"


# The command line.


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="club", description="A club evening.")
    parser.add_argument("--book", type=Path, default=Path("club.sqlite3"), help="the club's file")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(function: Any, *, at_table: bool = True) -> argparse.ArgumentParser:
        made = commands.add_parser(function.__name__, help=function.__doc__.rstrip("."), description=function.__doc__)
        if at_table:
            made.add_argument("number", type=int, metavar="TABLE")
        return made

    account = command(Club.account, at_table=False)
    account.add_argument("url", metavar="URL")
    account.add_argument("name", metavar="NAME")
    evening = command(Club.open, at_table=False)
    evening.add_argument("name", metavar="NAME")
    evening.add_argument("--preset", default="standard")
    evening.add_argument("--rule", type=_rule, action="append", default=[], metavar="NAME=VALUE")
    evening.add_argument("--table", nargs=4, action="append", required=True, metavar=SEATS)
    for entering in (Club.bids, Club.tricks):
        command(entering).add_argument("marks", type=_by_seat, nargs=4, metavar="SEAT=MARK")
    correct = command(Club.correct)
    correct.add_argument("deal", type=int, metavar="DEAL")
    for option in ("--bids", "--tricks"):
        correct.add_argument(option, type=_by_seat, nargs=4, metavar="SEAT=MARK")
    command(Club.undo)
    adjust = command(Club.adjust)
    adjust.add_argument("side", choices=["NS", "EW"])
    adjust.add_argument("points", type=int, metavar="POINTS")
    adjust.add_argument("why", metavar="WHY")
    command(Club.events).add_argument(
        "--wait", type=int, default=0, metavar="SECONDS", help="for the first, if there is none"
    )
    command(Club.share).add_argument("--name", default="for the club")
    command(Club.export, at_table=False).add_argument("folder", type=Path, metavar="FOLDER")
    command(Club.standings, at_table=False)
    return parser


def _run(club: Club, given: argparse.Namespace) -> int:
    """Do one command, after whatever has no answer yet.

    Returns:
        An exit status: 0 done, 1 refused or wrong, 2 not known to be done: the same again, or any other, finishes it.
    """
    try:
        if given.command != "account":  # whose address may be what was wrong
            _print(club.finish())
        if given.command is not None:
            _print(getattr(club, given.command)(given))
    except (Refused, Wrong) as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return 1
    except NoAnswer as error:
        print(f"NoAnswer: {error}", flush=True)
        return 2
    return 0


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, or those of standard input; gives the exit status, of several the highest."""
    parser = _parser()
    given = parser.parse_args(arguments)
    with closing(Club(given.book)) as club:
        status = _run(club, given)
        if given.command is not None:
            return status
        print(PROMPT, end="", flush=True)
        for line in sys.stdin:
            try:
                status = max(status, _run(club, parser.parse_args(shlex.split(line))))
            except ValueError as error:
                print(f"Wrong: {error}", flush=True)
                status = max(status, 1)
            except SystemExit:  # argparse has told what is wrong
                status = max(status, 1)
            print(PROMPT, end="", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
