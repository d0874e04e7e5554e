"""Reads of kept sheets: who may read one, what is written on it, and lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q
from django.utils import timezone

from accounts import selectors as accounts
from accounts.bearer import WATCHER, Bearer
from contract.pages import Place, rows_behind
from contract.problems import ContractReason, Problem
from contract.scopes import Scope
from scoring.boards import Board, Content, Step, Written, changed_lines
from scoring.models import Change, ShareLink, Sheet
from spades import Ruleset

__all__ = [
    "Reading",
    "change_json",
    "get_link",
    "link_json",
    "links_in_force",
    "list_changes",
    "list_links",
    "list_sheets",
    "read",
    "read_own",
    "result",
    "steps",
    "summary",
]


@dataclass(slots=True)
class Reading:
    """A sheet, who reads it, and what is written on it."""

    sheet: Sheet
    owner: bool
    ends_at: datetime | None = None
    """When the right to read it ends, where it does."""
    _written: Written | None = field(default=None)
    _board: Board | None = field(default=None)

    @property
    def ruleset(self) -> Ruleset:
        """The rules of the sheet."""
        return Ruleset.parse(self.sheet.ruleset)

    @property
    def written(self) -> Written:
        """What is written, and how far back one could go."""
        if self._written is None:
            sheet = self.sheet
            self._written = Written(Content.from_json(orjson.loads(sheet.content)), sheet.undo, sheet.redo)
        return self._written

    @property
    def content(self) -> Content:
        """What is written."""
        return self.written.content

    @property
    def board(self) -> Board:
        """What follows from what is written."""
        if self._board is None:
            self._board = Board.of(self.ruleset, self.content)
        return self._board

    @property
    def role(self) -> str:
        """Who reads: part of the tag of what is answered."""
        return "owner" if self.owner else "reader"

    def to_json(self) -> dict[str, Any]:
        """The sheet as it is answered."""
        sheet, certificate = self.sheet, self.content.certificate
        return {
            "id": sheet.id,
            "version": sheet.version,
            "created_at": sheet.created_at,
            "changed_at": sheet.changed_at,
            "viewer": {"role": self.role},
            "ruleset": self.ruleset.resolved(),
            **self.board.to_json(),
            "certificate": None if certificate is None else certificate.to_json(),
            "undo": self.written.undo,
            "redo": self.written.redo,
        }


def read(bearer: Bearer, sheet_id: UUID) -> Reading:
    """Read a sheet by its owner's token, or by that of a share link.

    Raises:
        Problem: `not_found`, `unauthenticated` or `scope_missing`.
    """
    if bearer.kind != WATCHER:
        return read_own(accounts.principal_for(bearer, Scope.SCORING).account_id, sheet_id)
    now = timezone.now()
    link = ShareLink.objects.filter(token_digest=bearer.digest).select_related("sheet").first()
    if link is None or (link.expires_at is not None and link.expires_at <= now):
        raise accounts.unknown_token()
    if link.sheet_id != sheet_id:
        raise _unknown()
    return Reading(link.sheet, False, link.expires_at)


def read_own(account_id: UUID, sheet_id: UUID, *, lock: bool = False) -> Reading:
    """Read one of an account's own sheets.

    Args:
        lock: hold the sheet's row until the transaction ends.

    Raises:
        Problem: `not_found`.
    """
    # Nobody changes the key, so rows that refer to the sheet need not wait for the lock.
    sheets = Sheet.objects.select_for_update(no_key=True) if lock else Sheet.objects.all()
    sheet = sheets.filter(id=sheet_id, account_id=account_id).first()
    if sheet is None:
        raise _unknown()
    return Reading(sheet, True)


def steps(sheet_id: UUID) -> list[Step]:
    """Every change of a sheet in order. The caller holds the sheet's lock."""
    rows = Change.objects.filter(sheet_id=sheet_id).order_by("number").values_list("kind", "data", "at")
    return [Step(kind, orjson.loads(data), at) for kind, data, at in rows]


def _unknown() -> Problem:
    return Problem(ContractReason.NOT_FOUND, "There is no such sheet that you may know of.")


def result(before: Reading, after: Reading) -> dict[str, Any]:
    """The answer to a change: the sheet, and every line that is another one now."""
    return {"sheet": after.to_json(), "changed": changed_lines(before.board, after.board)}


def list_sheets(account_id: UUID, *, after: Place | None, limit: int) -> list[Sheet]:
    """An account's own sheets, newest first."""
    found = Sheet.objects.filter(account_id=account_id).defer("content")
    return rows_behind(after, found, limit, newest_first=True)


def summary(sheet: Sheet) -> dict[str, Any]:
    """A sheet in a list."""
    return {
        "id": sheet.id,
        "version": sheet.version,
        "created_at": sheet.created_at,
        "changed_at": sheet.changed_at,
        "preset": sheet.preset,
        "ruleset_hash": sheet.ruleset_hash,
        **orjson.loads(sheet.standing),
    }


def list_changes(sheet_id: UUID, *, after: Place | None, limit: int) -> list[Change]:
    """The changes of a sheet, oldest first. The second part of a cursor is the change's number."""
    found = Change.objects.filter(sheet_id=sheet_id)
    if after is not None:
        found = found.filter(number__gt=after[1].int)
    return list(found.order_by("number")[:limit])


def change_json(change: Change) -> dict[str, Any]:
    """A change as it is answered."""
    return {
        "number": change.number,
        "at": change.at,
        "type": change.kind,
        "mode": change.mode,
        "data": orjson.loads(change.data),
    }


def links_in_force(sheet_id: UUID, at: datetime) -> Any:
    """The share links of a sheet that have not ended."""
    return ShareLink.objects.filter(Q(expires_at=None) | Q(expires_at__gt=at), sheet_id=sheet_id)


def list_links(sheet_id: UUID, *, after: Place | None, limit: int) -> list[ShareLink]:
    """The share links of a sheet, oldest first, ended ones too."""
    return rows_behind(after, ShareLink.objects.filter(sheet_id=sheet_id), limit)


def get_link(sheet_id: UUID, link_id: UUID) -> ShareLink:
    """One share link of a sheet.

    Raises:
        Problem: `not_found`.
    """
    link = ShareLink.objects.filter(sheet_id=sheet_id, id=link_id).first()
    if link is None:
        raise Problem(ContractReason.NOT_FOUND, "The sheet has no such share link.")
    return link


def link_json(link: ShareLink) -> dict[str, Any]:
    """A share link as its owner sees it, without its token."""
    return {"id": link.id, "name": link.name, "created_at": link.created_at, "expires_at": link.expires_at}
