"""Speaks to the Spades API through `spades_client`, which `make client` generates, and through nothing else.

The generated client knows every operation, field and answer. What it does not know is how to be safe when answers
get lost, and that is what stands here: a change is in the book before it is sent, and is sent until it is answered,
with the same `Idempotency-Key` and the same `If-Match` each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any, Final, TypeVar
from uuid import UUID

import httpx

from club.book import Book, PlayTable, Wish
from spades_client import AuthenticatedClient, Client
from spades_client.api.accounts import create_account
from spades_client.api.rulesets import resolve_ruleset
from spades_client.api.score_sheets import (
    add_deal,
    adjust_sheet,
    change_deal,
    create_share_link,
    create_sheet,
    get_sheet,
    list_sheet_events,
    undo_change,
)
from spades_client.models import (
    AddDealRequest,
    AdjustSheetRequest,
    ChangedSheet,
    ChangedSheetChangedItem,
    CreateAccountRequest,
    NewAccount,
    NewShareLink,
    PatchedChangeDealRequest,
    Problem,
    ResolvedRuleset,
    ResolveRulesetRequest,
    RulesetChoice,
    ShareLinkRequest,
    Sheet,
    SheetEvent,
    SheetEventPage,
    SheetRequest,
)
from spades_client.types import UNSET, Response

__all__ = ["Done", "NoAnswer", "Refused", "Service"]

T = TypeVar("T")

ATTEMPTS: Final = 6
FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 60.0
TIMEOUT_SECONDS: Final = 60.0
"""Longer than the service lets anybody wait for events."""


class Refused(Exception):
    """The service refused, and nothing has changed.

    Attributes:
        reason: stable, for programs.
        faults: everything that is wrong, each with its place in the request.
    """

    def __init__(self, reason: str, detail: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(reason, detail, faults)
        self.reason, self.detail, self.faults = reason, detail, faults

    def __str__(self) -> str:
        return "\n  ".join((f"{self.reason}: {self.detail}", *self.faults))


class NoAnswer(Exception):
    """The service could not be reached, or what came back could not be read. It may have done what was asked."""


@dataclass(frozen=True, slots=True)
class Done:
    """A change that was made."""

    wish: Wish
    changed: tuple[ChangedSheetChangedItem, ...] = ()
    """The lines that are others now, each with its score before and after."""
    found: bool = False
    """It stood on the sheet already: only the answer had been lost."""


class Service:
    """The service that the book names, with the token that it holds."""

    def __init__(self, book: Book) -> None:
        self.book = book

    def close(self) -> None:
        """Close the connection."""
        if "_client" in vars(self):  # it is opened by the first request
            self._client.get_httpx_client().close()

    def finish(self) -> Iterator[Done]:
        """Send all that has no answer yet, first what was asked for first.

        Raises:
            Refused: by the rules, or since the sheet has moved on; then the book has it as it is. The wish is gone.
            NoAnswer: the wishes stay.
        """
        for wish in self.book.wishes():
            try:
                yield self._finish(wish)
            except Refused as refused:
                if refused.reason == "stale_version" and wish.play_table is not None:
                    self.look(self.book.table(wish.play_table))
                    if wish.operation == "change_deal" and self._stands(wish):
                        self.book.drop(wish)
                        yield Done(wish, found=True)
                        continue
                self.book.drop(wish)
                raise

    def _finish(self, wish: Wish) -> Done:
        """Send one, and keep what is answered."""
        response = self._answered(lambda: self._send(wish))
        match response.parsed:
            case NewAccount() as made:
                self.book.keep(wish, token=made.token)
            case NewShareLink() as link:
                self.book.keep(wish, table=wish.play_table, share=link.token)
            case Sheet() as sheet:
                self.book.keep(wish, table=wish.play_table, sheet=(sheet.to_dict(), response.headers["etag"]))
            case ChangedSheet() as result:
                sheet = result.sheet
                self.book.keep(wish, table=wish.play_table, sheet=(sheet.to_dict(), response.headers["etag"]))
                return Done(wish, tuple(result.changed))
        return Done(wish)

    def _send(self, wish: Wish) -> Response[Any]:
        """Each time the same request: the same key where the operation takes one, the same tag where it takes one."""
        key, tag, body = wish.key, wish.if_match or UNSET, wish.body
        if wish.operation == "create_account":
            account = CreateAccountRequest.from_dict(body)
            with Client(self._account()[0], timeout=httpx.Timeout(TIMEOUT_SECONDS)) as anybody:
                return create_account.sync_detailed(client=anybody, body=account, idempotency_key=key)
        client = self._client
        if wish.operation == "create_sheet":
            return create_sheet.sync_detailed(client=client, body=SheetRequest.from_dict(body), idempotency_key=key)
        sheet = self._sheet_id(wish)
        match wish.operation:
            case "add_deal":
                bids = AddDealRequest.from_dict(body)
                return add_deal.sync_detailed(sheet, client=client, body=bids, idempotency_key=key, if_match=tag)
            case "change_deal":
                assert wish.deal is not None
                deal = PatchedChangeDealRequest.from_dict(body)
                return change_deal.sync_detailed(sheet, wish.deal, client=client, body=deal, if_match=tag)
            case "undo_change":
                return undo_change.sync_detailed(sheet, client=client, idempotency_key=key, if_match=tag)
            case "adjust_sheet":
                given = AdjustSheetRequest.from_dict(body)
                return adjust_sheet.sync_detailed(sheet, client=client, body=given, idempotency_key=key, if_match=tag)
            case "create_share_link":
                link = ShareLinkRequest.from_dict(body)
                return create_share_link.sync_detailed(sheet, client=client, body=link, idempotency_key=key)
        raise AssertionError(wish.operation)

    def _stands(self, wish: Wish) -> bool:
        """Whether the deal is as it was to be. A PATCH has no key, so this is how a lost answer is found out."""
        assert wish.play_table is not None
        table = self.book.table(wish.play_table)
        deals: list[dict[str, Any]] = table.sheet["deals"] if table.sheet is not None else []
        return any(
            deal["number"] == wish.deal and all(deal[name] == value for name, value in wish.body.items())
            for deal in deals
        )

    def _sheet_id(self, wish: Wish) -> UUID:
        assert wish.play_table is not None
        return self.book.table(wish.play_table).sheet_id

    # Reading.

    def look(self, table: PlayTable) -> None:
        """Bring the book up to date with a table's sheet; nothing is sent back if it is."""
        response = self._answered(
            lambda: get_sheet.sync_detailed(table.sheet_id, client=self._client, if_none_match=table.etag or UNSET)
        )
        if isinstance(response.parsed, Sheet):
            self.book.keep(None, table=table.id, sheet=(response.parsed.to_dict(), response.headers["etag"]))

    def rules(self, rules: Mapping[str, Any]) -> ResolvedRuleset:
        """What house rules come to.

        Raises:
            Refused: they contradict themselves, or name what no ruleset has.
        """
        try:
            choice = RulesetChoice.from_dict(rules)
        except ValueError as error:
            raise Refused("malformed", str(error)) from None
        # The generated models pass over fields that they do not know, and a misspelt house rule would be none.
        unknown = rules.keys() - choice.to_dict().keys()
        if unknown:
            raise Refused("malformed", f"no such options: {', '.join(sorted(unknown))}")
        asked = ResolveRulesetRequest(choice)
        answer = self._answered(lambda: resolve_ruleset.sync_detailed(client=self._client, body=asked)).parsed
        assert isinstance(answer, ResolvedRuleset)
        return answer

    def news(self, table: PlayTable, wait: int) -> Iterator[SheetEvent]:
        """The events of a table that were not told yet; while there is none, wait for one so many seconds at most."""
        after, more = table.told, True
        while more:
            page = self._page(table.sheet_id, after, wait)
            for event in page.items:
                yield event
                after = event.number
            more, wait = page.next_ is not None, 0

    def _page(self, sheet: UUID, after: int, wait: int) -> SheetEventPage:
        page = self._answered(
            lambda: list_sheet_events.sync_detailed(sheet, client=self._client, after=after, wait=wait or UNSET)
        ).parsed
        assert isinstance(page, SheetEventPage)
        return page

    def csv(self, table: PlayTable) -> str:
        """A sheet for a spreadsheet.

        `export_sheet` answers in JSON or in CSV, and of two media types the generator knows one: its function would
        read the CSV as JSON. So this asks by the generated client's own connection, and takes the text as it comes.
        """
        address = f"/v1/score_sheets/{table.sheet_id}/export"

        def export() -> Response[str | Problem]:
            got = self._client.get_httpx_client().get(address, params={"format": "csv"})
            parsed = got.text if got.is_success else Problem.from_dict(got.json())
            return Response(HTTPStatus(got.status_code), got.content, got.headers, parsed)

        text = self._answered(export).parsed
        assert isinstance(text, str)
        return text

    # What goes over the line.

    def _answered(self, ask: Callable[[], Response[T]]) -> Response[T]:
        """Send a request until it is answered. Only what may be sent twice comes here.

        Raises:
            Refused: the answer is a problem.
            NoAnswer: there was none, or none that can be read.
        """
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            wait = pause
            try:
                response = ask()
            except (httpx.TransportError, JSONDecodeError) as error:
                why = repr(error)
            except ValueError as error:  # enumerations get more values in time, and the generated ones are closed
                raise NoAnswer(f"generate the client anew, the service is newer: {error}") from error
            else:
                asked = _seconds(response.headers.get("retry-after"))
                if response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and asked is None:
                    break
                why, wait = f"the answer has status {response.status_code}", pause if asked is None else asked
            if attempt == ATTEMPTS or wait > LONGEST_PAUSE_SECONDS:
                raise NoAnswer(why)
            time.sleep(wait)
            pause *= 2
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise _refused(response)
        return response

    @cached_property
    def _client(self) -> AuthenticatedClient:
        url, token = self._account()
        if token is None:
            raise NoAnswer("the club has no account yet")
        return AuthenticatedClient(url, token=token, timeout=httpx.Timeout(TIMEOUT_SECONDS))

    def _account(self) -> tuple[str, str | None]:
        account = self.book.account()
        if account is None:
            raise NoAnswer("the club has no account yet")
        return account


def _refused(response: Response[Any]) -> Refused:
    if response.parsed is None:
        return Refused("unknown", f"the answer has status {response.status_code}")
    problem = response.parsed.to_dict()
    faults = (f"{fault['pointer']}: {fault['detail']}" for fault in problem.get("errors", ()) if fault["pointer"])
    return Refused(problem["reason"], problem["detail"], tuple(faults))


def _seconds(text: str | None) -> float | None:
    """The seconds of a `Retry-After`; the other form, a date, is not sent by this service."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
