"""Writing on kept sheets. Each change is one row, written under the lock of the sheet, with one event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import connection, transaction
from django.utils import timezone

from accounts import bearer as bearers
from contract.etags import require_version
from contract.ids import uuid7
from contract.problems import ContractReason, Fault, Problem, malformed
from events import hints, log
from events.log import Entry
from scoring import checks, proofs, selectors
from scoring.boards import Board, Content, Flag, KeptDeal, Step, Written, fold, told_of
from scoring.models import Change, ShareLink, Sheet
from scoring.proofs import Proof
from scoring.selectors import Reading
from spades import Reason, Ruleset
from spades.bidding import nobody_bids
from spades.sheet import DEAL_CAP
from spades.terms import terms

__all__ = [
    "Ask",
    "add_deal",
    "adjust_sheet",
    "certify_sheet",
    "change_deal",
    "change_sheet",
    "create_share_link",
    "create_sheet",
    "delete_share_link",
    "delete_sheet",
    "import_content",
    "pointing_into",
    "redo_change",
    "undo_change",
]

MOST_CHANGES: Final = 5000
"""So many changes a sheet takes: what is written on it is found by going through them."""
MOST_WRITTEN: Final = 4_000_000
"""So many bytes of changes: to take one back means to go through all of them."""
MOST_CONTENT: Final = 250_000
"""So many bytes may be written on a sheet at a time: an import takes its export, whatever a client writes escaped."""
MOST_ADJUSTMENTS: Final = 1000
MOST_LINKS: Final = 50

STRICT, LENIENT = Change.Mode.STRICT, Change.Mode.LENIENT


@dataclass(frozen=True, slots=True)
class Ask:
    """Who wants to change which sheet, and what they decided upon."""

    account_id: UUID
    sheet_id: UUID
    version: int | None = None
    """That of `If-Match`."""
    mode: str = STRICT


def create_sheet(*, account_id: UUID, ruleset: Ruleset, content: Content, mode: str = STRICT) -> Reading:
    """Make a sheet.

    Args:
        content: what is written on it from the start.

    Raises:
        Problem: what `_refuse_misfits` finds, or, if `mode` is strict, what the rules forbid.
    """
    _refuse_misfits(ruleset, content)
    at = timezone.now()
    sheet = Sheet(
        id=uuid7(),
        account_id=account_id,
        created_at=at,
        version=0,
        preset=ruleset.preset,
        ruleset=ruleset.text,
        ruleset_hash=ruleset.hash,
    )
    step = Step(Change.Kind.MADE, content.to_json(), at)
    reading = Reading(sheet, True, _written=Written(content))
    if mode == STRICT:
        _refuse_new_flags(None, reading.board, deal=None, whole=True)
    _write(reading, step, mode, at)
    return reading


def _change(
    ask: Ask,
    kind: str,
    decide: Callable[[Reading], Mapping[str, Any] | None],
    *,
    deal: int | None = None,
    scored: bool = True,
) -> tuple[Reading, Reading]:
    """Lock a sheet, decide what to write, see what the rules say, and write it.

    Args:
        decide: gives the data of the change, None for no change, or raises. A change that leaves everything as it is is
            none either.
        deal: the number of the deal that the body speaks of, if it speaks of one; None for no deal, 0 for a new one.
        scored: whether it changes what is scored.

    Returns:
        The readings before and after.
    """
    before = selectors.read_own(ask.account_id, ask.sheet_id, lock=True)
    require_version(ask.version, before.sheet.version)
    full = before.sheet.version >= MOST_CHANGES or before.sheet.written >= MOST_WRITTEN
    if full and kind != Change.Kind.UNDONE:  # what was written last by mistake is not to stay
        detail = f"A sheet takes {MOST_CHANGES:,} changes, of {MOST_WRITTEN:,} bytes in all; export it and go on anew."
        raise Problem(ContractReason.TOO_MANY, detail)
    data, at = decide(before), timezone.now()
    if data is None:
        return before, before
    step = Step(kind, data, at)
    after = Reading(before.sheet, True, _written=_after(before, step))
    if kind in _REPLACES and after.content == before.content:
        return before, before
    if scored and ask.mode == STRICT and before.board.over:
        detail = "The game on this sheet is over. With `mode` `lenient` the sheet is changed all the same."
        raise Problem(Reason.GAME_OVER, detail, errors=[Fault("", Reason.GAME_OVER, detail)])
    if scored:
        number = len(after.content.deals) if deal == 0 else deal
        if number is not None:
            content = after.content
            deal_number, told = content.number_in_game(number), told_of(content, number)
            _refuse_deal_misfits(before.ruleset, content.deals[number - 1], told, deal_number)
        if ask.mode == STRICT:
            known = None if kind == Change.Kind.IMPORTED else before.board
            fields = frozenset(data.get("change", data)) if number is not None else frozenset()
            _refuse_new_flags(known, after.board, deal=number, told=fields, whole=kind == Change.Kind.IMPORTED)
    _write(after, step, ask.mode, at)
    return before, after


def _after(before: Reading, step: Step) -> Written:
    """What is written after one more change. To go back or forth takes all changes, and nothing else does."""
    if step.kind in (Change.Kind.UNDONE, Change.Kind.REDONE):
        return fold([*selectors.steps(before.sheet.id), step])
    return before.written.after(step, before.sheet.version + 1)


_REPLACES: Final = frozenset({Change.Kind.NAMED, Change.Kind.DEAL_CHANGED, Change.Kind.IMPORTED})
"""Changes that could put in the place of something the same."""


def add_deal(*, ask: Ask, deal: Mapping[str, Any]) -> tuple[Reading, Reading]:
    """Write down the bids of the next deal, and its tricks if they are known.

    Returns:
        The sheet before and after.

    Raises:
        Problem: `wrong_phase` while the last deal is not played, `game_over`, `too_many`, what this table does not
            have, or what the rules forbid.
    """

    def decide(before: Reading) -> Mapping[str, Any]:
        deals = before.content.deals
        if deals and deals[-1].tricks is None:
            detail = f"Deal {len(deals)} has no tricks yet. Write them down first, or take the deal back."
            raise Problem(Reason.WRONG_PHASE, detail)
        if before.content.number_in_game(len(deals)) >= DEAL_CAP:
            raise Problem(ContractReason.TOO_MANY, f"A game has {DEAL_CAP} deals at most.")
        return KeptDeal.from_json(deal).to_json()

    return _change(ask, Change.Kind.DEAL_ADDED, decide, deal=0)


def change_deal(*, ask: Ask, number: int, change: Mapping[str, Any]) -> tuple[Reading, Reading]:
    """Correct a deal, or write down its tricks; every later line follows.

    Raises:
        Problem: `not_found`, `game_over`, what this table does not have, or what the rules forbid, in a later deal too.
    """

    def decide(before: Reading) -> Mapping[str, Any]:
        if not 1 <= number <= len(before.content.deals):
            raise Problem(ContractReason.NOT_FOUND, "The sheet has no such deal.")
        return {"deal": number, "change": dict(change)}

    return _change(ask, Change.Kind.DEAL_CHANGED, decide, deal=number, scored=bool(change.keys() - {"note"}))


def adjust_sheet(*, ask: Ask, side: str, points: int, why: str | None = None) -> tuple[Reading, Reading]:
    """Give a side points, or take some. They are a line of the last deal that was played, or of the first one to be.

    Raises:
        Problem: `malformed`, `game_over`, or a later deal that the rules then forbid.
    """

    def decide(before: Reading) -> Mapping[str, Any]:
        faults = list(checks.sides_fault(before.ruleset, side, "/side", ContractReason.NOT_ALLOWED_VALUE))
        if faults:
            raise malformed(faults)
        if len(before.content.adjustments) >= MOST_ADJUSTMENTS:
            raise Problem(ContractReason.TOO_MANY, f"A sheet has {MOST_ADJUSTMENTS:,} adjustments at most.")
        deal = max(1, sum(each is not None for each in before.board.answers))
        return {"deal": deal, "side": side, "points": points, "why": why}

    return _change(ask, Change.Kind.ADJUSTED, decide)


def change_sheet(*, ask: Ask, change: Mapping[str, Any]) -> tuple[Reading, Reading]:
    """Name players, note something, or correct who dealt first or how the sides stood before the first deal.

    Raises:
        Problem: `malformed`; with another standing `game_over`, or a deal that the rules then forbid.
    """

    def decide(before: Reading) -> Mapping[str, Any]:
        faults = [
            *checks.seats_faults(before.ruleset, change.get("names") or {}, "/names", whole=False),
            *_dealer_fault(before.ruleset, change.get("dealer")),
            *checks.before_faults(before.ruleset, change.get("before") or {}),
        ]
        if faults:
            raise malformed(faults)
        content, data = before.content, dict(change)
        if "names" in change:
            data["names"] = {**content.names, **change["names"]}
        begun = replace(content, before=change.get("before"))
        if "before" in change and begun.number_in_game(len(content.deals)) > DEAL_CAP:
            detail = f"A game has {DEAL_CAP} deals at most, and {len(content.deals)} are on this sheet."
            raise malformed([Fault("/before/deal_number", ContractReason.OUT_OF_RANGE, detail)])
        for place, deal in enumerate(content.deals if "before" in change else ()):
            number = begun.number_in_game(place + 1)
            if not deal.bids and nobody_bids(before.ruleset, number) is None:
                detail = (
                    f"Deal {place + 1} would be number {number} of its game, in which seats bid, and it has no bids."
                )
                raise malformed([Fault("/before", ContractReason.NOT_ALLOWED_VALUE, detail)])
        return data

    return _change(ask, Change.Kind.NAMED, decide, scored="before" in change)


def undo_change(*, ask: Ask) -> tuple[Reading, Reading]:
    """Take the last change back.

    Raises:
        Problem: `nothing_to_undo`.
    """

    def decide(before: Reading) -> Mapping[str, Any]:
        if not before.written.undo:
            raise Problem(ContractReason.NOTHING_TO_UNDO, "Nothing was written since the sheet was made.")
        return {}

    return _change(ask, Change.Kind.UNDONE, decide, scored=False)


def redo_change(*, ask: Ask) -> tuple[Reading, Reading]:
    """Write again what was taken back last.

    Raises:
        Problem: `nothing_to_redo`.
    """

    def decide(before: Reading) -> Mapping[str, Any]:
        if not before.written.redo:
            raise Problem(ContractReason.NOTHING_TO_REDO, "Nothing was taken back, or something was written since.")
        return {}

    return _change(ask, Change.Kind.REDONE, decide, scored=False)


def import_content(*, ask: Ask, read: Callable[[Reading], Content]) -> tuple[Reading, Reading]:
    """Put another content in the place of a sheet's; it can be taken back like any change.

    Args:
        read: gives the content for this sheet, or raises.

    Raises:
        Problem: `game_over`, what this table does not have, or what the rules forbid.
    """

    def decide(before: Reading) -> Mapping[str, Any]:
        content = read(before)
        _refuse_misfits(before.ruleset, content)
        return content.to_json()

    return _change(ask, Change.Kind.IMPORTED, decide)


def certify_sheet(*, ask: Ask, proof: Proof) -> tuple[Reading, list[dict[str, Any]]]:
    """Write down that a sheet says what a record proves, if it does and that is not written there already.

    Returns:
        The sheet, and where it says otherwise; then nothing was written.

    Raises:
        Problem: `too_many`, `stale_version`, `not_found`.
    """
    found: list[dict[str, Any]] = []

    def decide(before: Reading) -> Mapping[str, Any] | None:
        found.extend(proofs.differences(before.board, proof))
        certificate = before.content.certificate
        known = certificate is not None and certificate.record_hash == proof.record.hash
        return None if found or known else {"record_hash": proof.record.hash}

    _, after = _change(ask, Change.Kind.CERTIFIED, decide, scored=False)
    return after, found


def delete_sheet(*, ask: Ask) -> None:
    """Delete a sheet with all that was ever written on it.

    Raises:
        Problem: `not_found`, `stale_version`.
    """
    reading = selectors.read_own(ask.account_id, ask.sheet_id, lock=True)
    require_version(ask.version, reading.sheet.version)
    reading.sheet.delete()
    transaction.on_commit(lambda: hints.doubt(ask.sheet_id), robust=True)


def create_share_link(*, ask: Ask, name: str | None, expires_in: int | None) -> tuple[ShareLink, str]:
    """Give out the right to read a sheet.

    Args:
        expires_in: seconds from now; None for a link that holds until it is deleted.

    Returns:
        The link, and its token, which cannot be read again.

    Raises:
        Problem: `too_many`, `not_found`.
    """
    selectors.read_own(ask.account_id, ask.sheet_id, lock=True)
    at = timezone.now()
    if selectors.links_in_force(ask.sheet_id, at).count() >= MOST_LINKS:
        raise Problem(ContractReason.TOO_MANY, f"A sheet has at most {MOST_LINKS} links in force.")
    token, digest = bearers.make(bearers.WATCHER)
    link = ShareLink.objects.create(
        sheet_id=ask.sheet_id,
        token_digest=digest,
        name=name,
        created_at=at,
        expires_at=None if expires_in is None else at + timedelta(seconds=expires_in),
    )
    return link, token


def delete_share_link(*, ask: Ask, link_id: UUID) -> None:
    """End a share link; whoever reads by it is cut off.

    Raises:
        Problem: `not_found`.
    """
    selectors.read_own(ask.account_id, ask.sheet_id, lock=True)
    selectors.get_link(ask.sheet_id, link_id).delete()
    transaction.on_commit(lambda: hints.doubt(ask.sheet_id), robust=True)


@contextmanager
def pointing_into(part: str, *, whole: bool = False) -> Iterator[None]:
    """Let pointers of a refusal lead into a part of the body; with `whole` to the part, since it has no pointers."""
    try:
        yield
    except Problem as problem:
        problem.errors = tuple(
            fault
            if fault.pointer.startswith(part)
            else Fault(part if whole else part + fault.pointer, fault.reason, f"{_within(fault, whole)}{fault.detail}")
            for fault in problem.errors
        )
        if problem.reason is ContractReason.MALFORMED:
            problem.detail = malformed(problem.errors).detail
        raise


def _within(fault: Fault, whole: bool) -> str:
    """Where in a file a fault is, in words: deals and adjustments counted from 1."""
    if not whole or not fault.pointer:
        return ""
    part, *rest = fault.pointer.split("/")[1:]
    if part not in ("deals", "adjustments") or not rest:
        return f"{part}: "
    return f"{part.removesuffix('s').capitalize()} {int(rest[0]) + 1}{''.join(f', {each}' for each in rest[1:])}: "


def _dealer_fault(ruleset: Ruleset, dealer: str | None) -> list[Fault]:
    seats = terms(ruleset).table.seats
    if dealer is None or dealer in seats:
        return []
    detail = f"The seats of this table are {', '.join(seats)}."
    return [Fault("/dealer", ContractReason.NOT_ALLOWED_VALUE, detail)]


def _refuse_misfits(ruleset: Ruleset, content: Content) -> None:
    """Refuse a content that this table cannot have.

    Raises:
        Problem: `malformed`, with everything.
    """
    faults = [
        *checks.seats_faults(ruleset, content.names, "/names", whole=False),
        *_dealer_fault(ruleset, content.dealer),
        *checks.before_faults(ruleset, content.before or {}),
    ]
    for place, deal in enumerate(content.deals):
        told = told_of(content, place + 1)
        faults += _deal_misfits(ruleset, deal, told, content.number_in_game(place + 1), f"/deals/{place}")
        if deal.tricks is None and place < len(content.deals) - 1:
            detail = "Only the last deal may be without tricks."
            faults.append(Fault(f"/deals/{place}/tricks", ContractReason.MISSING_FIELD, detail))
    if content.number_in_game(len(content.deals)) > DEAL_CAP:
        where = "/before/deal_number" if len(content.deals) <= DEAL_CAP else "/deals"
        faults.append(Fault(where, ContractReason.OUT_OF_RANGE, f"A game has {DEAL_CAP} deals at most."))
    if len(content.adjustments) > MOST_ADJUSTMENTS:
        detail = f"A sheet has {MOST_ADJUSTMENTS:,} adjustments at most."
        faults.append(Fault("/adjustments", ContractReason.OUT_OF_RANGE, detail))
    for place, adjustment in enumerate(content.adjustments):
        where = f"/adjustments/{place}"
        faults += checks.sides_fault(ruleset, adjustment.side, f"{where}/side", ContractReason.NOT_ALLOWED_VALUE)
        if adjustment.deal > max(1, len(content.deals)):
            detail = "The sheet has no such deal."
            faults.append(Fault(f"{where}/deal", ContractReason.NOT_ALLOWED_VALUE, detail))
    if faults:
        raise malformed(faults)


def _refuse_deal_misfits(ruleset: Ruleset, deal: KeptDeal, told: checks.Told, number: int) -> None:
    faults = _deal_misfits(ruleset, deal, told, number, "")
    if faults:
        raise malformed(faults)


def _deal_misfits(ruleset: Ruleset, deal: KeptDeal, told: checks.Told, number: int, pointer: str) -> list[Fault]:
    bidless = nobody_bids(ruleset, number) is not None
    faults = [*checks.seats_faults(ruleset, told.bids, f"{pointer}/bids", whole=not bidless)]
    if deal.tricks is not None:
        faults += checks.seats_faults(ruleset, deal.tricks, f"{pointer}/tricks", whole=True)
    for place, side in enumerate(told.blind_sides):
        where = f"{pointer}/blind_sides/{place}"
        faults += checks.sides_fault(ruleset, side, where, ContractReason.NOT_ALLOWED_VALUE)
    return faults


def _refuse_new_flags(
    before: Board | None,
    after: Board,
    *,
    deal: int | None,
    told: frozenset[str] = frozenset(),
    whole: bool = False,
) -> None:
    """Refuse a change after which the rules forbid something that they did not forbid before, or that it says itself.

    Args:
        deal: the deal that the body speaks of, into which pointers go; faults of others point to the whole body.
        told: what the body says of that deal.
        whole: the body has all deals, into which pointers go.

    Raises:
        Problem: the first of the reasons, with everything.
    """
    known = set() if before is None else {key for key, _ in _flags(before)}
    known -= {key for key in known if key[0] == deal and key[1].partition("/")[2].partition("/")[0] in told}
    new = [(number, flag) for key, (number, flag) in _flags(after) if key not in known]
    faults = []
    for number, flag in new:
        if whole:
            faults.append(Fault(f"/deals/{number - 1}{flag.pointer}", flag.reason, flag.detail))
        elif number == deal:
            faults.append(Fault(flag.pointer, flag.reason, flag.detail))
        else:
            faults.append(Fault("", flag.reason, f"Deal {number}: {flag.detail}"))
    if faults:
        raise Problem(Reason(faults[0].reason), faults[0].detail, errors=faults, rule=new[0][1].rule)


def _flags(board: Board) -> list[tuple[tuple[int, str, str], tuple[int, Flag]]]:
    return [
        ((number, flag.pointer, flag.reason), (number, flag))
        for number, found in enumerate(board.flags, start=1)
        for flag in found
    ]


def _write(reading: Reading, step: Step, mode: str, at: Any) -> None:
    """Write a change, what is written after it, where the sheet then stands, and an event.

    Raises:
        Problem: `too_many`; nobody could read it back.
    """
    sheet, board = reading.sheet, reading.board
    content, data = orjson.dumps(reading.content.to_kept_json()).decode(), orjson.dumps(step.data).decode()
    if len(content.encode()) > MOST_CONTENT:
        raise Problem(ContractReason.TOO_MANY, f"A sheet holds {MOST_CONTENT:,} bytes at most, notes and all.")
    sheet.content, sheet.undo, sheet.redo = content, reading.written.undo, reading.written.redo
    sheet.written = (sheet.written or 0) + len(data.encode())
    sheet.version += 1
    sheet.changed_at = at
    standing = {"deals": len(board.content.deals), "sides": board.sides(), "game": board.game()}
    sheet.standing = orjson.dumps({"names": dict(board.content.names), **standing}).decode()
    sheet.save(force_insert=sheet.version == 1, force_update=sheet.version > 1)
    Change.objects.create(sheet_id=sheet.id, number=sheet.version, at=at, kind=step.kind, mode=mode, data=data)
    deal = {"deal_added": len(board.content.deals), "deal_changed": step.data.get("deal")}.get(step.kind)
    public = {"mode": mode, **standing}
    sql, values = log.insertion(sheet.version, [Entry(step.kind, None, deal, public)])
    identity = sheet.id if connection.features.has_native_uuid_field else sheet.id.hex
    with connection.cursor() as cursor:
        cursor.execute(sql, {**values, "id": identity, "at": connection.ops.adapt_datetimefield_value(at)})
    number = sheet.version
    transaction.on_commit(lambda: hints.publish(sheet.id, number), robust=True)
