"""A sheet and the record of its game: what a record puts on a sheet, and where the two say otherwise. No database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rest_framework.exceptions import ValidationError

from contract import records
from contract.problems import ContractReason, Fault, Problem, faults_of, malformed
from contract.serializers import StrictCharField
from scoring.boards import NAME_MOST, Board, Content, KeptDeal, changed_lines, told_of, turns
from spades import Bid, Record, Ruleset, check_shuffles, replay, require_supported
from spades.bidding import with_blind_sides
from spades.bids import BidKind
from spades.replay import ShuffleCheck
from spades.terms import terms

__all__ = ["Proof", "content_of", "differences", "read"]

_NAME: Final = StrictCharField(max_length=NAME_MOST)


@dataclass(frozen=True, slots=True)
class Proof:
    """A record of what could have been played, and the sheet that says the same."""

    record: Record
    board: Board
    """Every finished deal, and the bids of one in progress once all are in. Names are those of the record."""
    false_shuffles: tuple[ShuffleCheck, ...]
    """What the record's seeds do not come to though they should."""


def read(given: Any) -> Proof:
    """Read and replay the record of a body.

    Raises:
        Problem: as `contract.records` has it; `record_has_breach`.
    """
    record = records.read(given)
    with records.replaying(record, given):
        require_supported(record.ruleset)
        played = replay(record)
        shuffles = check_shuffles(record)
    if played.breach is not None:
        told = str(played.breach)
        raise Problem(ContractReason.RECORD_HAS_BREACH, f"{told[:1].upper()}{told[1:]}", breach=played.breach.to_json())
    deals = [_kept(result.bids, result.tricks) for result in played.results]
    if played.bids is not None:
        deals.append(_kept(played.bids, None))
    first = record.deals[0].dealer if record.deals else terms(record.ruleset).table.seats[0]
    board = Board.of(record.ruleset, Content(record.names, first, deals=tuple(deals)))
    return Proof(record, board, tuple(check for check in shuffles if not check.passed))


def _kept(bids: Mapping[str, Bid], tricks: Mapping[str, int] | None) -> KeptDeal:
    return KeptDeal({seat: bid.to_json() for seat, bid in bids.items()}, tricks)


def content_of(proof: Proof, names: Mapping[str, str], note: str | None) -> Content:
    """What a record puts on a sheet.

    Args:
        names: those that differ from the record's.

    Raises:
        Problem: `malformed` for what no sheet holds: a long name, or a deal that was set for another dealer than comes.
    """
    proven, faults = proof.board.content, []
    known: dict[str, str | None] = {}
    for seat, name in proven.names.items():
        try:
            known[seat] = _NAME.run_validation(name) if name and seat not in names else None
        except ValidationError as error:
            fault = faults_of(error.detail)[0]
            detail = f"The name of seat {seat} does not fit on a sheet; give another one in names. {fault.detail}"
            faults.append(Fault("/record", fault.reason, detail))
    for number, dealer, comes in _dealers(proof, proven):
        if dealer != comes:
            detail = f"Deal {number} is that of seat {dealer}; on a sheet the deal goes round, and {comes} comes next."
            faults.append(Fault("/record", ContractReason.NOT_ALLOWED_VALUE, detail))
    if faults:
        raise malformed(faults)
    return replace(proven, names={**known, **names}, note=note)


def _dealers(proof: Proof, content: Content) -> Iterator[tuple[int, str, str]]:
    """The number of each deal that both have, who dealt it by the record, and who did by the sheet."""
    both = min(len(content.deals), len(proof.board.content.deals))
    for number, recorded in enumerate(proof.record.deals[:both], start=1):
        yield number, recorded.dealer, turns(proof.board.ruleset, content, number)["dealer"]


def differences(board: Board, proof: Proof) -> list[dict[str, Any]]:
    """Where a sheet says otherwise than a record, deal by deal; nothing where they agree."""
    ruleset, proven, content = proof.board.ruleset, proof.board.content, board.content
    if board.ruleset.hash != ruleset.hash:
        return [_difference("ruleset", *_options(board.ruleset, ruleset))]
    found = [_difference("shuffle", None, check.what, deal=check.deal) for check in proof.false_shuffles]
    if content.start() != proven.start():
        found.append(_difference("before", content.before, proven.before))
    if len(content.deals) != len(proven.deals):
        found.append(_difference("deals", len(content.deals), len(proven.deals)))
    for number, dealer, comes in _dealers(proof, content):
        if dealer != comes:
            found.append(_difference("dealer", comes, dealer, deal=number))
        found += _of_deal(board, proof.board, number)
    for each in content.adjustments:
        found.append(_difference("adjustment", each.points, None, deal=each.deal, side=each.side))
    for line in changed_lines(proof.board, board):
        found.append(_difference("score", line["after"], line["before"], deal=line["deal"], side=line["side"]))
    return sorted(found, key=lambda difference: difference["deal"] or 0)


def _options(one: Ruleset, other: Ruleset) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options, and the preset, in which two rulesets differ: the values of each."""
    first, second = ({"preset": each.preset, **each.options()} for each in (one, other))
    names = [name for name in first if first[name] != second[name]]
    return {name: first[name] for name in names}, {name: second[name] for name in names}


def _of_deal(board: Board, proven: Board, number: int) -> Iterator[dict[str, Any]]:
    table = terms(board.ruleset).table
    bids, proven_bids = _bids(board, number), _bids(proven, number)
    tricks, proven_tricks = (each.content.deals[number - 1].tricks or {} for each in (board, proven))
    for seat in table.seats:
        if bids.get(seat) != proven_bids.get(seat):
            told = [bid.to_json() if bid else None for bid in (bids.get(seat), proven_bids.get(seat))]
            yield _difference("bid", *told, deal=number, seat=seat)
        if tricks.get(seat) != proven_tricks.get(seat):
            yield _difference("tricks", tricks.get(seat), proven_tricks.get(seat), deal=number, seat=seat)
    blind, proven_blind = _blind(board, number), _blind(proven, number)
    for side in table.sides:
        if (side in blind) != (side in proven_blind):
            yield _difference("blind", side in blind, side in proven_blind, deal=number, side=side)


def _blind(board: Board, number: int) -> set[str]:
    """The sides of which somebody bid a number blind, or of which that is said."""
    side_of = terms(board.ruleset).table.side_of
    blind = {side_of[seat] for seat, bid in _bids(board, number).items() if bid.kind is BidKind.BLIND}
    return blind | set(board.content.deals[number - 1].blind_sides)


def _bids(board: Board, number: int) -> Mapping[str, Bid]:
    """The bids of a deal, in one of the two ways to say that they were blind."""
    told = told_of(board.content, number)
    return with_blind_sides(board.ruleset, told.bids, told.blind_sides, strict=False)


def _difference(
    what: str, sheet: Any, record: Any, *, deal: int | None = None, seat: str | None = None, side: str | None = None
) -> dict[str, Any]:
    return {"deal": deal, "seat": seat, "side": side, "what": what, "sheet": sheet, "record": record}
