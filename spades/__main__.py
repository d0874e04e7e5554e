"""`python -m spades verify RECORD` and `show RECORD`: check or read a record without any server."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spades.errors import NotationError, RulesetError
from spades.notation import Record
from spades.replay import Replay, ShuffleCheck, annotated, check_shuffles, replay

__all__ = ["main"]

VALID, BREACH, UNREADABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0 when everything checked is right, 1 when something is not, 2 for a record that cannot be
        read, and when what was found cannot be written.
    """
    parser = argparse.ArgumentParser(prog="python -m spades", description="The card game Spades.")
    commands = parser.add_subparsers(dest="command", required=True)
    verify = commands.add_parser(
        "verify",
        help="check a record: the rules, the scores, the result, and the shuffles where their seeds are revealed",
        description="Exit status: 0 all right, 1 something is wrong, 2 the record cannot be read.",
    )
    show = commands.add_parser("show", help="write a record as text, with who led and who took each trick")
    for command in (verify, show):
        command.add_argument("record", help="a file with a record as JSON or text; - for standard input")
    given = parser.parse_args(arguments)
    try:
        record = Record.read(_text(given.record))
        told, status = ([annotated(record)], VALID) if given.command == "show" else _verified(record)
    except (NotationError, RulesetError, OSError) as error:
        _complain(f"cannot read the record: {error}")
        return UNREADABLE
    try:
        if sys.stdout is not None:  # whoever closed it asks for the status alone
            sys.stdout.writelines(told)
            sys.stdout.flush()
    except OSError as error:
        _complain(f"cannot write what was found: {error}")
        # What is still in the buffer would fail once more when Python ends, with a status of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREADABLE
    return status


def _complain(sentence: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{sentence}\n")


def _text(name: str) -> str:
    if name == "-" and sys.stdin is None:
        raise NotationError("standard input is closed")
    content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise NotationError("this is not UTF-8") from None


def _verified(record: Record) -> tuple[list[str], int]:
    """What there is to tell of a record, and the exit status."""
    played, checks = replay(record), check_shuffles(record)
    right = played.valid and all(check.passed for check in checks)
    return [f"{line}\n" for line in _report(record, played, checks)], VALID if right else BREACH


def _report(record: Record, played: Replay, checks: Sequence[ShuffleCheck]) -> Iterator[str]:
    actions = sum(len(deal.actions) for deal in record.deals)
    yield f"ruleset   {record.ruleset.preset} {record.ruleset.hash}"
    yield f"deals     {len(record.deals)}, {played.deals} of them finished; {actions} actions"
    if played.breach is not None:
        yield f"WRONG     {played.breach}"
        if played.breach.legal:
            yield f"          legal: {', '.join(json.dumps(body) for body in played.breach.legal)}"
    else:
        yield "rules     every action is allowed, every stated score and result is right"
        yield f"scores    {_points(played.scores)}"
        if played.result is not None:
            yield f"result    {played.result.reason}: {' and '.join(played.result.winners) or 'nobody'}"
    for check in checks:
        if not check.passed:
            yield f"WRONG     deal {check.deal}: it is not so that {check.detail}"
    passed, seeded = sum(check.passed for check in checks), len({check.deal for check in checks})
    yield f"shuffles  {passed} of {len(checks)} checks passed; deals with a seed: {seeded}"
    for deal in record.deals:
        if deal.commitment is not None:
            yield f"          deal {deal.number}: compare what you were promised before it: {deal.commitment}"


def _points(scores: Mapping[str, int]) -> str:
    return ", ".join(f"{side} {points}" for side, points in scores.items())


if __name__ == "__main__":
    sys.exit(main())
