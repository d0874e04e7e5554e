"""Sheets as files: JSON with everything, CSV for spreadsheets. Reading is the inverse of writing.

An export holds what was written down. A CSV has the scores beside it, which nobody reads back: they follow.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Final

from rest_framework.exceptions import ValidationError

from contract.fields import MOST_POINTS, MOST_TRICKS
from contract.problems import MOST_FAULTS, ContractReason, Fault, faults_of, malformed
from contract.serializers import StrictCharField
from scoring.boards import NOTE_MOST, WHY_MOST, Board, Content, KeptAdjustment, KeptDeal
from spades import Bid, NotationError, Ruleset
from spades.sheet import DEAL_CAP
from spades.terms import terms

__all__ = ["FORMAT", "content_of", "read_csv", "require_hash", "rows_of", "to_csv", "to_json"]

FORMAT: Final = 1
MOST_ROWS: Final = 1 + DEAL_CAP + 1000
"""Of a CSV: the columns, the deals, and the adjustments of a sheet."""

_NOTE: Final = StrictCharField(max_length=NOTE_MOST)
_WHY: Final = StrictCharField(max_length=WHY_MOST)
_DEAL, _ADJUSTMENT = "deal", "adjustment"
_FORMULA: Final = ("=", "+", "-", "@", *"\uff1d\uff0b\uff0d\uff20", "\t", "\r", "'")
"""Beginnings that a spreadsheet would run, those of full width too, and the mark that keeps it from doing so."""


def to_json(ruleset: Ruleset, content: Content) -> dict[str, Any]:
    """Everything that was written down, with the rules."""
    flat = {"preset": ruleset.preset, **ruleset.overrides()}
    return {"format": FORMAT, "ruleset": flat, "ruleset_hash": ruleset.hash, **content.to_json()}


def content_of(ruleset: Ruleset, exported: Mapping[str, Any]) -> Content:
    """The content of an export that a serializer has read."""
    seats = terms(ruleset).table.seats
    names = exported.get("names") or {}
    content = {**exported, "names": {**dict.fromkeys(seats), **names}, "dealer": exported.get("dealer") or seats[0]}
    content["deals"] = [
        {**deal, "bids": {seat: bid.to_json() for seat, bid in (deal.get("bids") or {}).items()}}
        for deal in exported.get("deals") or ()
    ]
    return Content.from_json(content)


def require_hash(ruleset: Ruleset, exported: Mapping[str, Any]) -> None:
    """Refuse an export that names another ruleset by its hash than it spells out.

    Raises:
        Problem: `malformed`.
    """
    if exported.get("ruleset_hash", ruleset.hash) != ruleset.hash:
        raise malformed(
            [
                Fault(
                    "/ruleset_hash",
                    ContractReason.NOT_ALLOWED_VALUE,
                    f"This is not the hash of the ruleset beside it, which is {ruleset.hash}.",
                )
            ]
        )


def _columns(ruleset: Ruleset) -> tuple[list[str], list[str]]:
    """The names of the columns that are read, and of those that only show what follows."""
    table = terms(ruleset).table
    read = ["row", "deal"]
    read += [f"bid_{seat}" for seat in table.seats]
    read += [f"tricks_{seat}" for seat in table.seats]
    read += ["blind_sides", "note", "side", "points", "why"]
    shown = ["dealer"]
    shown += [f"{what}_{side}" for what in ("delta", "score", "bags") for side in table.sides]
    return read, shown


def to_csv(board: Board) -> str:
    """A row for each deal and each adjustment, the latter behind the deal that they count in."""
    read, shown = _columns(board.ruleset)
    out = io.StringIO()
    writer = csv.DictWriter(out, [*read, *shown], restval="", lineterminator="\r\n")
    writer.writeheader()
    content = board.content
    rest = list(content.adjustments)
    for number in range(1, len(content.deals) + 1):
        writer.writerow(_deal_row(board, number))
        for adjustment in [each for each in rest if each.deal == number]:
            writer.writerow(_adjustment_row(adjustment))
        rest = [each for each in rest if each.deal != number]
    for adjustment in rest:
        writer.writerow(_adjustment_row(adjustment))
    return out.getvalue()


def _deal_row(board: Board, number: int) -> dict[str, Any]:
    deal, answer = board.content.deals[number - 1], board.answers[number - 1]
    row: dict[str, Any] = {"row": _DEAL, "deal": number, "note": _guarded(deal.note)}
    row |= {f"bid_{seat}": str(Bid.from_json(dict(bid))) for seat, bid in deal.bids.items()}
    row |= {f"tricks_{seat}": count for seat, count in (deal.tricks or {}).items()}
    row["blind_sides"] = " ".join(deal.blind_sides)
    row["dealer"] = board.deal(number)["dealer"]
    for side, score in (answer["sides"] if answer is not None else {}).items():
        row |= {f"{what}_{side}": score[what] for what in ("delta", "score", "bags")}
    return row


def _adjustment_row(adjustment: KeptAdjustment) -> dict[str, Any]:
    return {
        "row": _ADJUSTMENT,
        "deal": adjustment.deal,
        "side": adjustment.side,
        "points": adjustment.points,
        "why": _guarded(adjustment.why),
    }


def _guarded(text: str | None) -> str:
    """A text that no spreadsheet takes for a formula."""
    if text is None:
        return ""
    return f"'{text}" if text.startswith(_FORMULA) else text


def rows_of(text: str) -> list[list[str]]:
    """The cells of a CSV, row by row, without those that are empty throughout.

    Spreadsheets write semicolons or tabs between cells in some countries, and a mark before the first; both are read.

    Raises:
        Problem: `malformed`; it is no CSV, or has more rows than a sheet has lines.
    """
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    try:
        rows = list(islice(filter(any, reader), MOST_ROWS + 1))
    except csv.Error as error:
        raise _malformed([f"This is no CSV: {error}."]) from None
    if len(rows) > MOST_ROWS:
        raise _malformed([f"A sheet has {MOST_ROWS - 1:,} rows at most."])
    return rows


def read_csv(ruleset: Ruleset, lines: Sequence[Sequence[str]], before: Content) -> Content:
    """Read the deals and the adjustments of a sheet; the rest, which a CSV has not, stays as it is.

    Args:
        lines: as `rows_of` gives them.

    Raises:
        Problem: `malformed`, with the row of each fault in its detail.
    """
    read, shown = _columns(ruleset)
    header = lines[0] if lines else []
    if header not in (read, [*read, *shown]):
        missing = (f"{name} is missing" for name in read if name not in header)
        unknown = (f"there is no {name[:20]!r}" for name in header if name not in (*read, *shown))
        wrong = "; ".join(islice(chain(missing, unknown), 5)) or "they stand in another order"
        raise _malformed([f"The columns are {','.join(read)}, and perhaps those with scores: {wrong}."])
    deals: list[KeptDeal] = []
    adjustments: list[KeptAdjustment] = []
    faults = []
    place = 0
    for number, cells in enumerate(lines[1:], start=2):
        place += cells[0] == _DEAL
        try:
            _read_row(ruleset, header, cells, place, deals, adjustments)
        except (ValueError, NotationError) as error:
            faults.append(f"Line {number}: {error}.")
        except ValidationError as error:
            faults.append(f"Line {number}: {faults_of(error.detail)[0].detail}")
        if len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise _malformed(faults)
    return replace(before, deals=tuple(deals), adjustments=tuple(adjustments))


def _read_row(
    ruleset: Ruleset,
    header: Sequence[str],
    cells: Sequence[str],
    place: int,
    deals: list[KeptDeal],
    adjustments: list[KeptAdjustment],
) -> None:
    if len(cells) != len(header):
        raise ValueError(f"it has {len(cells)} cells, and the first line {len(header)}")
    row = dict(zip(header, cells, strict=True))
    if row["row"] == _ADJUSTMENT:
        adjustments.append(_read_adjustment(row))
    elif row["row"] != _DEAL:
        raise ValueError("its first cell must be deal or adjustment")
    elif row["deal"] != str(place):
        raise ValueError(f"deal {place} comes next, not {row['deal'][:20]!r}")
    else:
        deals.append(_read_deal(ruleset, row))


def _read_deal(ruleset: Ruleset, row: Mapping[str, str]) -> KeptDeal:
    seats = terms(ruleset).table.seats
    bids = dict(_told(row, "bid", seats))
    tricks = dict(_told(row, "tricks", seats))
    kept = {}
    for seat, text in bids.items():
        kept[seat] = Bid.parse(text).to_json()
        if kept[seat].get("tricks", 0) > MOST_TRICKS:
            raise ValueError(f"nobody bids {text[:20]}")
    blind = tuple(dict.fromkeys(row["blind_sides"].split()))
    note = _text(row["note"], _NOTE)
    return KeptDeal(kept, {seat: _count(text, MOST_TRICKS) for seat, text in tricks.items()} or None, blind, note)


def _told(row: Mapping[str, str], what: str, seats: Sequence[str]) -> Iterator[tuple[str, str]]:
    for seat in seats:
        if row[f"{what}_{seat}"]:
            yield seat, row[f"{what}_{seat}"]


def _read_adjustment(row: Mapping[str, str]) -> KeptAdjustment:
    points = row["points"]
    if not points.removeprefix("-").isdecimal() or not points.isascii() or len(points) > 8:
        raise ValueError(f"expected points, got {points[:20]!r}")
    if abs(int(points)) > MOST_POINTS:
        raise ValueError(f"points go up to {MOST_POINTS:,}, got {points}")
    return KeptAdjustment(max(1, _count(row["deal"], DEAL_CAP)), row["side"], int(points), _text(row["why"], _WHY))


def _count(text: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 4 or int(text) > most:
        raise ValueError(f"expected a number from 0 to {most}, got {text[:20]!r}")
    return int(text)


def _text(cell: str, field: StrictCharField) -> str | None:
    text = cell.removeprefix("'")  # the inverse of `_guarded`
    return field.to_internal_value(text) if text else None


def _malformed(details: Sequence[str]) -> Exception:
    return malformed([Fault("/csv", ContractReason.BAD_FORMAT, detail) for detail in details])
