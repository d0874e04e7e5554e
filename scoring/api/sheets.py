"""Kept score sheets over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from accounts import bearer as bearers
from accounts import idempotency
from accounts import selectors as accounts
from contract import pages, rulesets
from contract.endpoint import JSON, MOST_BYTES_OF_A_FILE, Endpoint, answer, no_content, not_modified
from contract.etags import etag, if_match_version, matches_none
from contract.limits import charge
from contract.problems import ContractReason, Fault, Problem, malformed
from contract.queries import Parameter
from contract.reasons import RULESET_REASONS, TOLD_BID_REASONS
from contract.schema import ACCOUNT, WATCHER, operation
from contract.scopes import Scope
from contract.serializers import NothingSerializer, read_body
from contract.shapes import ref
from events import api as events_api
from events.stream import Reader
from events.writes import write_turn
from scoring import exports, proofs, selectors, services
from scoring.api.serializers import (
    AddDealSerializer,
    AdjustSheetSerializer,
    CertifySheetSerializer,
    ChangeDealSerializer,
    ChangeSheetSerializer,
    ImportIntoSheetSerializer,
    ImportSheetSerializer,
    ShareLinkSerializer,
    SheetSerializer,
)
from scoring.boards import Content
from scoring.proofs import Proof
from scoring.selectors import Reading
from scoring.services import Ask
from spades import Reason
from spades.terms import terms

__all__ = [
    "AdjustmentsView",
    "CertifyView",
    "ChangesView",
    "DealView",
    "DealsView",
    "EventsView",
    "ExportView",
    "ImportIntoSheetView",
    "ImportSheetView",
    "RedoView",
    "ShareLinkView",
    "ShareLinksView",
    "SheetView",
    "SheetsView",
    "UndoView",
]

CSV = "text/csv"
READERS = (ACCOUNT, WATCHER)
RULES = (*TOLD_BID_REASONS, Reason.TRICKS_DO_NOT_ADD_UP, Reason.GAME_OVER)


def _tag(reading: Reading) -> dict[str, str]:
    return {"ETag": etag(reading.sheet.version, reading.role)}


def _kept(request: Request, effect: Callable[[UUID], idempotency.Answer]) -> HttpResponse:
    """Run an effect of an account in its turn and in one transaction, once for each `Idempotency-Key`."""
    principal = accounts.principal_of(request, Scope.SCORING)
    with write_turn():
        return idempotency.answered(request, principal.key, lambda: effect(principal.account_id))


def _change(
    request: Request,
    serializer: Any,
    sheet_id: UUID,
    service: Callable[..., tuple[Reading, Reading]],
    **more: Any,
) -> HttpResponse:
    """Change a sheet by a POST."""
    version, body = if_match_version(request), read_body(request, serializer)
    mode = body.pop("mode", services.STRICT)

    def effect(account_id: UUID) -> idempotency.Answer:
        before, after = service(ask=Ask(account_id, sheet_id, version, mode), **more, **body)
        return idempotency.Answer(200, selectors.result(before, after), _tag(after))

    return _kept(request, effect)


def _patch(
    request: Request, serializer: Any, sheet_id: UUID, service: Callable[..., tuple[Reading, Reading]], **more: Any
) -> HttpResponse:
    principal = accounts.principal_of(request, Scope.SCORING)
    version, body = if_match_version(request), read_body(request, serializer)
    mode = body.pop("mode", services.STRICT)
    with write_turn(), transaction.atomic():
        before, after = service(ask=Ask(principal.account_id, sheet_id, version, mode), **more, change=body)
        shown = selectors.result(before, after)
    return answer(shown, headers=_tag(after))


def _jsonable(deal: dict[str, Any]) -> dict[str, Any]:
    """The parts of a deal as they are kept: bids in JSON."""
    if "bids" in deal:
        deal["bids"] = {seat: bid.to_json() for seat, bid in deal["bids"].items()}
    return deal


class SheetsView(Endpoint):
    """`/v1/score_sheets`."""

    @operation(
        "list_sheets",
        summary="List your sheets",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        parameters=[pages.CURSOR, pages.LIMIT],
        responses={200: ref("SheetPage")},
    )
    def get(self, request: Request) -> HttpResponse:
        """Your own sheets, newest first, and where each stands."""
        principal = accounts.principal_of(request, Scope.SCORING)
        read = partial(selectors.list_sheets, principal.account_id)
        return answer(pages.listed(self.query, read, selectors.summary))

    @operation(
        "create_sheet",
        summary="Begin a sheet",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=SheetSerializer,
        responses={201: ref("Sheet")},
        reasons=(*RULESET_REASONS, ContractReason.RECORD_HAS_BREACH),
        tagged=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Begin a sheet under any ruleset, or one with the deals of a record. Only your account writes on it.

        Of a record it has the ruleset, every finished deal, and the bids of one in progress once all are in; such a
        request counts as checking a record does. Share links let others read.
        """
        body = read_body(request, SheetSerializer)
        names, note, proof = body.get("names", {}), body.get("note"), None
        if "record" in body:
            charge(request, "records")
            proof = _proven(request, body["record"])

        def effect(account_id: UUID) -> idempotency.Answer:
            if proof is not None:
                ruleset, content = proof.record.ruleset, proofs.content_of(proof, names, note)
            else:
                ruleset = rulesets.read(body["ruleset"])
                seats = terms(ruleset).table.seats
                dealer, before = body.get("dealer", seats[0]), body.get("before")
                content = Content({**dict.fromkeys(seats), **names}, dealer, note, before=before)
            return _made(services.create_sheet(account_id=account_id, ruleset=ruleset, content=content))

        return _kept(request, effect)


def _proven(request: Request, given: Any) -> Proof:
    """Replay a record for who may ask for it, before the turn to write is taken."""
    accounts.principal_of(request, Scope.SCORING)
    return proofs.read(given)


def _made(reading: Reading) -> idempotency.Answer:
    location = {"Location": f"/v1/score_sheets/{reading.sheet.id}"}
    return idempotency.Answer(201, reading.to_json(), {**location, **_tag(reading)})


class ImportSheetView(Endpoint):
    """`/v1/score_sheets/import`."""

    @operation(
        "import_sheet",
        summary="Make a sheet of an export",
        most_bytes=MOST_BYTES_OF_A_FILE,
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=ImportSheetSerializer,
        responses={201: ref("Sheet")},
        reasons=(*RULESET_REASONS, *RULES, ContractReason.TOO_MANY),
        tagged=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Make a sheet of what `export_sheet` gave as JSON, here or elsewhere. Exported again it is the same."""
        accounts.principal_of(request, Scope.SCORING)  # a large body is read for who may send it
        body = read_body(request, ImportSheetSerializer)

        def effect(account_id: UUID) -> idempotency.Answer:
            exported = body["sheet"]
            ruleset = rulesets.read(exported["ruleset"], "/sheet/ruleset")
            content = exports.content_of(ruleset, exported)
            mode = body.get("mode", services.STRICT)
            with services.pointing_into("/sheet"):
                exports.require_hash(ruleset, exported)
                made = services.create_sheet(account_id=account_id, ruleset=ruleset, content=content, mode=mode)
            return _made(made)

        return _kept(request, effect)


class SheetView(Endpoint):
    """`/v1/score_sheets/{sheet_id}`."""

    @operation(
        "get_sheet",
        summary="View a sheet",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=READERS,
        responses={200: ref("Sheet")},
        conditional=True,
    )
    def get(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """The whole sheet: every deal line by line, what the rules forbid about it, and who has won."""
        reading = selectors.read(bearers.require(request), sheet_id)
        tag = _tag(reading)
        if matches_none(request, tag["ETag"]):
            return not_modified(tag["ETag"])
        return answer(reading.to_json(), headers=tag)

    @operation(
        "change_sheet",
        summary="Name players, note something",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=ChangeSheetSerializer,
        responses={200: ref("ChangedSheet")},
        reasons=(*RULES, ContractReason.TOO_MANY),
        versioned=True,
    )
    def patch(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Change names, the note, who dealt first, or how the sides stood before that; what is left out stays."""
        return _patch(request, ChangeSheetSerializer, sheet_id, services.change_sheet)

    @operation(
        "delete_sheet",
        summary="Delete a sheet",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        responses={204: None},
        versioned=True,
    )
    def delete(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Delete a sheet, all that was ever written on it, and its share links."""
        principal = accounts.principal_of(request, Scope.SCORING)
        with write_turn(), transaction.atomic():
            services.delete_sheet(ask=Ask(principal.account_id, sheet_id, if_match_version(request)))
        return no_content()


class DealsView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/deals`."""

    @operation(
        "add_deal",
        summary="Write a deal down",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=AddDealSerializer,
        responses={201: ref("ChangedSheet")},
        reasons=(*RULES, Reason.WRONG_PHASE, ContractReason.TOO_MANY),
        versioned=True,
    )
    def post(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Write down the bids of the next deal, and its tricks now or later by `change_deal`.

        What the rules forbid is refused, with a pointer and the reason; with `mode` `lenient` it is written down,
        scored as it stands, and flagged.
        """
        version, body = if_match_version(request), read_body(request, AddDealSerializer)
        mode = body.pop("mode", services.STRICT)

        def effect(account_id: UUID) -> idempotency.Answer:
            before, after = services.add_deal(ask=Ask(account_id, sheet_id, version, mode), deal=_jsonable(body))
            number = len(after.content.deals)
            location = {"Location": f"/v1/score_sheets/{sheet_id}/deals/{number}"}
            return idempotency.Answer(201, selectors.result(before, after), {**location, **_tag(after)})

        return _kept(request, effect)


class DealView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/deals/{number}`."""

    @operation(
        "get_kept_deal",
        summary="View a deal of a sheet",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=READERS,
        responses={200: ref("KeptDeal")},
        conditional=True,
    )
    def get(self, request: Request, sheet_id: UUID, number: int) -> HttpResponse:
        """One deal of a sheet, with its score."""
        reading = selectors.read(bearers.require(request), sheet_id)
        if not 1 <= number <= len(reading.content.deals):
            raise Problem(ContractReason.NOT_FOUND, "The sheet has no such deal.")
        tag = _tag(reading)
        if matches_none(request, tag["ETag"]):
            return not_modified(tag["ETag"])
        return answer(reading.board.deal(number), headers=tag)

    @operation(
        "change_deal",
        summary="Correct a deal, or tell its tricks",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=ChangeDealSerializer,
        responses={200: ref("ChangedSheet")},
        reasons=(*RULES, ContractReason.TOO_MANY),
        versioned=True,
    )
    def patch(self, request: Request, sheet_id: UUID, number: int) -> HttpResponse:
        """Change bids, tricks, blind sides or the note of a deal; what is left out stays.

        Every later line is worked out anew, and `changed` lists each that is another one now. A correction after which
        the rules would forbid a later deal is refused, unless `mode` is `lenient`.
        """
        return _patch(request, ChangeDealSerializer, sheet_id, _change_deal, number=number)


def _change_deal(*, ask: Ask, number: int, change: dict[str, Any]) -> tuple[Reading, Reading]:
    return services.change_deal(ask=ask, number=number, change=_jsonable(change))


class AdjustmentsView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/adjustments`."""

    @operation(
        "adjust_sheet",
        summary="Give points, or take some",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=AdjustSheetSerializer,
        responses={200: ref("ChangedSheet")},
        reasons=(*RULES, ContractReason.TOO_MANY),
        versioned=True,
    )
    def post(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Give a side points, or take some, for a reason of your own.

        They are a line of the last deal that was played, and count before the end of the game is tested; before the
        first deal they wait for it.
        """
        return _change(request, AdjustSheetSerializer, sheet_id, services.adjust_sheet)


class UndoView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/undo`."""

    @operation(
        "undo_change",
        summary="Take the last change back",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=NothingSerializer,
        responses={200: ref("ChangedSheet")},
        reasons=(ContractReason.NOTHING_TO_UNDO, ContractReason.TOO_MANY),
        versioned=True,
    )
    def post(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Take the last change back, as if it had never been made; again for the one before it."""
        return _change(request, NothingSerializer, sheet_id, services.undo_change)


class RedoView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/redo`."""

    @operation(
        "redo_change",
        summary="Write again what was taken back",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=NothingSerializer,
        responses={200: ref("ChangedSheet")},
        reasons=(ContractReason.NOTHING_TO_REDO, ContractReason.TOO_MANY),
        versioned=True,
    )
    def post(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Write again what was taken back last, unless something new was written since."""
        return _change(request, NothingSerializer, sheet_id, services.redo_change)


class CertifyView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/certify`."""

    @operation(
        "certify_sheet",
        summary="Hold a sheet against a record",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=CertifySheetSerializer,
        responses={200: ref("Certification")},
        reasons=(*RULESET_REASONS, ContractReason.RECORD_HAS_BREACH, ContractReason.TOO_MANY),
        limit="records",
        versioned=True,
    )
    def post(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Compare a sheet with what the record of its game proves: rules, dealers, bids, tricks and every score.

        Where they agree that is written down, and the sheet has a `certificate` until what was certified is written
        anew. Where they do not, every difference is told and nothing is written.
        """
        version, body = if_match_version(request), read_body(request, CertifySheetSerializer)
        proof = _proven(request, body["record"])

        def effect(account_id: UUID) -> idempotency.Answer:
            sheet, found = services.certify_sheet(ask=Ask(account_id, sheet_id, version), proof=proof)
            shown = {} if found else {"sheet": sheet.to_json()}
            return idempotency.Answer(200, {"certified": not found, "differences": found, **shown}, _tag(sheet))

        return _kept(request, effect)


class ChangesView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/changes`."""

    @operation(
        "list_changes",
        summary="List what was written on a sheet",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=READERS,
        parameters=[pages.CURSOR, pages.LIMIT],
        responses={200: ref("ChangePage")},
    )
    def get(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Everything that was written on a sheet, or taken back, oldest first. None of it is ever lost or changed."""
        selectors.read(bearers.require(request), sheet_id)
        read = partial(selectors.list_changes, sheet_id)
        place = lambda change: (change.at, UUID(int=change.number))  # noqa: E731
        return answer(pages.listed(self.query, read, selectors.change_json, place))


class ExportView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/export`."""

    @operation(
        "export_sheet",
        summary="Export a sheet",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=READERS,
        parameters=[
            Parameter("format", kind="string", description="What to give.", choices=("json", "csv"), default="json")
        ],
        responses={(200, JSON): ref("ExportedSheet"), (200, CSV): {"type": "string"}},
        conditional=True,
        produces=(JSON, CSV),
    )
    def get(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """What is written on a sheet: JSON with everything, or CSV for a spreadsheet, with the scores beside it.

        `import_sheet` and `import_into_sheet` read it back, and the sheet is the same.
        """
        reading = selectors.read(bearers.require(request), sheet_id)
        kind = self.query["format"]
        tag = etag(reading.sheet.version, kind)
        if matches_none(request, tag):
            return not_modified(tag)
        if kind == "json":
            return answer(exports.to_json(reading.ruleset, reading.content), headers={"ETag": tag})
        response = HttpResponse(exports.to_csv(reading.board), content_type=f"{CSV}; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{sheet_id}.csv"'
        response["ETag"] = tag
        return response


class ImportIntoSheetView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/import`."""

    @operation(
        "import_into_sheet",
        summary="Put an export in place of what is written",
        most_bytes=MOST_BYTES_OF_A_FILE,
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=ImportIntoSheetSerializer,
        responses={200: ref("ChangedSheet")},
        reasons=(*RULESET_REASONS, *RULES, ContractReason.TOO_MANY),
        versioned=True,
    )
    def post(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Put an export of a sheet with these rules in the place of what is written. It can be taken back.

        A CSV has neither names nor rules: those of the sheet stay.
        """
        accounts.principal_of(request, Scope.SCORING)  # a large body is read for who may send it
        version, body = if_match_version(request), read_body(request, ImportIntoSheetSerializer)
        mode = body.get("mode", services.STRICT)
        rows = exports.rows_of(body["csv"]) if "csv" in body else []

        def read(before: Reading) -> Content:
            if "csv" in body:
                return exports.read_csv(before.ruleset, rows, before.content)
            exported = body["sheet"]
            ruleset = rulesets.read(exported["ruleset"], "/sheet/ruleset")
            if ruleset.hash != before.sheet.ruleset_hash:
                detail = "This sheet is kept by other rules."
                raise malformed([Fault("/sheet/ruleset", ContractReason.NOT_ALLOWED_VALUE, detail)])
            with services.pointing_into("/sheet"):
                exports.require_hash(ruleset, exported)
            return exports.content_of(ruleset, exported)

        def effect(account_id: UUID) -> idempotency.Answer:
            ask = Ask(account_id, sheet_id, version, mode)
            with services.pointing_into("/csv" if "csv" in body else "/sheet", whole="csv" in body):
                before, after = services.import_content(ask=ask, read=read)
            return idempotency.Answer(200, selectors.result(before, after), _tag(after))

        return _kept(request, effect)


class ShareLinksView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/share_links`."""

    @operation(
        "list_share_links",
        summary="List share links",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        parameters=[pages.CURSOR, pages.LIMIT],
        responses={200: ref("ShareLinkPage")},
    )
    def get(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """The links that you gave out, oldest first, ended ones too, without their tokens."""
        principal = accounts.principal_of(request, Scope.SCORING)
        selectors.read_own(principal.account_id, sheet_id)
        return answer(pages.listed(self.query, partial(selectors.list_links, sheet_id), selectors.link_json))

    @operation(
        "create_share_link",
        summary="Let others read a sheet",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        request=ShareLinkSerializer,
        responses={201: ref("NewShareLink")},
        reasons=(ContractReason.TOO_MANY,),
    )
    def post(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """Give out a token by which whoever has it reads this sheet and its events, and writes nothing.

        It goes into the `Authorization` header like any other. The answer has it, this once.
        """
        asked = {"name": None, "expires_in": None, **read_body(request, ShareLinkSerializer)}

        def effect(account_id: UUID) -> idempotency.Answer:
            link, token = services.create_share_link(ask=Ask(account_id, sheet_id), **asked)
            body = {"share_link": selectors.link_json(link), "token": token}
            return idempotency.Answer(201, body, {"Location": f"/v1/score_sheets/{sheet_id}/share_links/{link.id}"})

        return _kept(request, effect)


class ShareLinkView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/share_links/{link_id}`."""

    @operation(
        "get_share_link",
        summary="View a share link",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        responses={200: ref("ShareLink")},
    )
    def get(self, request: Request, sheet_id: UUID, link_id: UUID) -> HttpResponse:
        """One share link, without its token."""
        principal = accounts.principal_of(request, Scope.SCORING)
        selectors.read_own(principal.account_id, sheet_id)
        return answer(selectors.link_json(selectors.get_link(sheet_id, link_id)))

    @operation(
        "delete_share_link",
        summary="End a share link",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=(ACCOUNT,),
        responses={204: None},
    )
    def delete(self, request: Request, sheet_id: UUID, link_id: UUID) -> HttpResponse:
        """End a share link at once: streams and long polls that were opened with it end too."""
        principal = accounts.principal_of(request, Scope.SCORING)
        with write_turn(), transaction.atomic():
            services.delete_share_link(ask=Ask(principal.account_id, sheet_id), link_id=link_id)
        return no_content()


class EventsView(Endpoint):
    """`/v1/score_sheets/{sheet_id}/events`."""

    @operation(
        "list_sheet_events",
        summary="Read a sheet's events, wait for them, or stream them",
        tag="Score sheets",
        scope=Scope.SCORING,
        tokens=READERS,
        responses=events_api.responses("SheetEventPage"),
        parameters=events_api.PARAMETERS,
        headers=events_api.HEADERS,
        produces=events_api.PRODUCES,
    )
    def get(self, request: Request, sheet_id: UUID) -> HttpResponse:
        """What was done to a sheet after event number `after`, and where it then stood; as `list_events` of a game.

        With `wait` the answer comes as soon as something happens, with `Accept: text/event-stream` it is a stream.
        """
        reading = selectors.read(bearers.require(request), sheet_id)
        ends_in = None if reading.ends_at is None else (reading.ends_at - timezone.now()).total_seconds()
        reader = Reader(sheet_id, None, self.query["after"], self.query["limit"], finished=False, ends_in=ends_in)
        return events_api.give(reader, reading.sheet.version, of="sheet", else_read="sheet")
