"""A sheet as a value: whatever the way to what is written, the same follows from it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accounts.services import create_account
from contract.problems import Problem
from scoring import exports, selectors, services
from scoring.api.serializers import ExportedSerializer
from scoring.boards import Board, Content, KeptAdjustment, KeptDeal, Step, changed_lines, fold, told_of
from scoring.checks import standing
from scoring.selectors import read_own
from scoring.services import Ask
from spades import Ruleset, RuleViolation, ScoreSheet
from spades.bidding import nobody_bids
from spades.seats import table
from spades.terms import terms
from tests.scoring.test_questions import bids_of, rulesets, tricks_of

FAST = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def deals_of(draw: Any, ruleset: Ruleset, number: int) -> KeptDeal:
    bids = {} if nobody_bids(ruleset, number) else draw(bids_of(ruleset))
    sides = table(ruleset.players, ruleset.teams).sides
    blind = draw(st.sampled_from([(), (), (), sides[:1]])) if bids else ()
    note = draw(st.sampled_from([None, None, "slow", "=1+1", "'quoted'", 'a, "b"']))
    return KeptDeal({seat: bid.to_json() for seat, bid in bids.items()}, draw(tricks_of(ruleset)), blind, note)


def standings_of(sides: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    def by_side(least: int, most: int) -> st.SearchStrategy[dict[str, int]]:
        return st.dictionaries(st.sampled_from(sides), st.integers(least, most), max_size=len(sides))

    parts = {"scores": by_side(-300, 450), "bags": by_side(0, 12), "sets": by_side(0, 2)}
    return st.fixed_dictionaries({}, optional={**parts, "deal_number": st.integers(1, 8)})


@st.composite
def contents_of(draw: Any, ruleset: Ruleset) -> Content:
    seats, sides = (getattr(table(ruleset.players, ruleset.teams), what) for what in ("seats", "sides"))
    before = draw(st.none() | standings_of(sides))
    first = (before or {}).get("deal_number", 1)
    deals = [draw(deals_of(ruleset, number)) for number in range(first, draw(st.integers(0, 6)) + first)]
    if deals and draw(st.booleans()):
        deals[-1] = replace(deals[-1], tricks=None)
    one = st.builds(
        KeptAdjustment,
        st.integers(1, max(1, len(deals))),
        st.sampled_from(sides),
        st.integers(-50, 50),
        st.sampled_from([None, "late", "-1"]),
    )
    adjustments = sorted(draw(st.lists(one, max_size=3)), key=lambda each: each.deal)
    names = {seat: draw(st.sampled_from([None, "Ann", "Zoë"])) for seat in seats}
    note = draw(st.sampled_from([None, "rainy"]))
    return Content(names, draw(st.sampled_from(seats)), note, tuple(deals), tuple(adjustments), before=before)


def step(kind: str, data: dict[str, Any]) -> Step:
    return Step(kind, data, datetime(2026, 11, 30, tzinfo=UTC))


def empty(content: Content) -> Step:
    return step("sheet_made", replace(content, note=None, deals=(), adjustments=()).to_json())


def typed(content: Content) -> list[Step]:
    """The changes of somebody who writes a content down deal by deal."""
    steps = [empty(content), step("sheet_changed", {"note": content.note})]
    for number, deal in enumerate(content.deals, start=1):
        steps.append(step("deal_added", deal.to_json()))
        steps += [step("sheet_adjusted", each.to_json()) for each in content.adjustments if each.deal == number]
    steps += [step("sheet_adjusted", each.to_json()) for each in content.adjustments if each.deal > len(content.deals)]
    return steps


@FAST
@given(data=st.data())
def test_correcting_any_deal_equals_typing_the_corrected_sheet_from_the_start(data):
    ruleset = data.draw(rulesets)
    content = data.draw(contents_of(ruleset).filter(lambda each: each.deals))
    number = data.draw(st.integers(1, len(content.deals)))
    right = replace(data.draw(deals_of(ruleset, content.number_in_game(number))), note="corrected")
    if content.deals[number - 1].tricks is None:
        right = replace(right, tricks=content.deals[number - 1].tricks)
    corrected = replace(content, deals=(*content.deals[: number - 1], right, *content.deals[number:]))
    change = {**right.to_json()}
    if change["tricks"] is None:
        del change["tricks"]

    after = fold([*typed(content), step("deal_changed", {"deal": number, "change": change})]).content

    assert after == fold(typed(corrected)).content == corrected
    before, now = Board.of(ruleset, content), Board.of(ruleset, after)
    assert now == Board.of(ruleset, corrected)
    lines = changed_lines(before, now)
    assert all(line["deal"] >= number for line in lines)
    told = {(line["deal"], line["side"]) for line in lines}
    for place, (was, new) in enumerate(zip(before.answers, now.answers, strict=True), start=1):
        for side in now.sheet.sides:
            same = (was and was["sides"][side]) == (new and new["sides"][side])
            assert same == ((place, side) not in told)


@FAST
@given(data=st.data())
def test_what_is_taken_back_was_never_done(data):
    ruleset = data.draw(rulesets)
    steps = typed(data.draw(contents_of(ruleset)))
    kept = data.draw(st.integers(1, len(steps)))
    back = len(steps) - kept

    undone = fold([*steps, *[step("change_undone", {})] * back])
    redone = fold([*steps, *[step("change_undone", {})] * back, *[step("change_redone", {})] * back])

    assert (undone.content, undone.undo, undone.redo) == (fold(steps[:kept]).content, kept - 1, back)
    assert redone == fold(steps)


@FAST
@given(data=st.data())
def test_an_export_read_back_is_the_same(data):
    ruleset = data.draw(rulesets)
    content = data.draw(contents_of(ruleset))
    exported = exports.to_json(ruleset, content)

    read = exports.content_of(ruleset, ExportedSerializer().run_validation(exported))
    from_csv = exports.read_csv(ruleset, exports.rows_of(exports.to_csv(Board.of(ruleset, content))), content)

    assert read == content
    assert exports.to_json(ruleset, read) == exported
    assert Ruleset.resolve(exported["ruleset"]).hash == exported["ruleset_hash"]
    assert from_csv == content


@FAST
@given(data=st.data())
def test_a_board_scores_as_the_library_does_and_flags_what_it_refuses(data):
    ruleset = data.draw(rulesets)
    content = data.draw(contents_of(ruleset))
    board = Board.of(ruleset, content)

    before = content.before or {}
    sheet = ScoreSheet.at(ruleset, standing(before), before.get("deal_number", 1))
    over = bool(before) and sheet.ending() is not None
    for number, deal in enumerate(content.deals, start=1):
        reasons = {fault.reason for fault in board.flags[number - 1]}
        assert ("game_over" in reasons) == over
        if deal.tricks is None:
            assert board.answers[number - 1] is None
            continue
        told = told_of(content, number)
        more: dict[str, Any] = {"blind_sides": told.blind_sides, "adjustments": told.adjustments}
        try:
            after, score = sheet.after(told.bids, deal.tricks, **more)
        except RuleViolation as violation:
            refusal = violation.reason
            after, score = sheet.after(told.bids, deal.tricks, **more, strict=False)
        else:
            refusal = None
        assert (refusal in reasons) if refusal else (reasons <= {"game_over"})
        assert board.answers[number - 1]["sides"] == {side: each.to_json() for side, each in score.sides.items()}
        sheet, over = after, over or after.ending() is not None
    assert board.sheet == sheet
    assert board.over == over


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_stored_sheet_that_was_corrected_equals_one_typed_from_the_start(data):
    ruleset = data.draw(rulesets)
    content = data.draw(contents_of(ruleset).filter(lambda each: each.deals and each.deals[-1].tricks is not None))
    account, _ = create_account("Ann")
    blank = replace(content, deals=(), adjustments=())
    wrong, right = content, data.draw(deals_of(ruleset, content.number_in_game(1)))
    assume(right != wrong.deals[0])  # a correction of nothing is no change, and undo takes back what was one

    def keep(deals: tuple[KeptDeal, ...]) -> Any:
        made = services.create_sheet(account_id=account.id, ruleset=ruleset, content=blank)
        ask = Ask(account.id, made.sheet.id, mode=services.LENIENT)
        for deal in deals:
            services.add_deal(ask=ask, deal=deal.to_json())
        return ask

    typed_right = keep((right, *wrong.deals[1:]))
    ask = keep(wrong.deals)
    _, corrected = services.change_deal(ask=ask, number=1, change=right.to_json())
    _, undone = services.undo_change(ask=ask)

    def shown(reading: Any) -> dict[str, Any]:
        volatile = ("id", "version", "created_at", "changed_at", "undo", "redo")
        return {name: value for name, value in reading.to_json().items() if name not in volatile}

    assert shown(corrected) == shown(read_own(account.id, typed_right.sheet_id))
    assert shown(undone) == shown(read_own(account.id, keep(wrong.deals).sheet_id))
    assert shown(read_own(account.id, ask.sheet_id)) == shown(undone)


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_kept_beside_the_changes_is_what_they_come_to(data):
    ruleset = data.draw(rulesets)
    content = data.draw(contents_of(ruleset).filter(lambda each: each.deals and each.deals[-1].tricks is not None))
    account, _ = create_account("Ann")
    made = services.create_sheet(
        mode=services.LENIENT,
        account_id=account.id,
        ruleset=ruleset,
        content=replace(content, deals=content.deals[:1], adjustments=()),
    )
    ask = Ask(account.id, made.sheet.id, mode=services.LENIENT)
    number = content.number_in_game(1)
    changes = {
        "add": lambda: services.add_deal(ask=ask, deal=content.deals[-1].to_json()),
        "change": lambda: services.change_deal(
            ask=ask, number=1, change=data.draw(deals_of(ruleset, number)).to_json()
        ),
        "adjust": lambda: services.adjust_sheet(
            ask=ask, side=terms(ruleset).table.sides[0], points=data.draw(st.integers(1, 9))
        ),
        "note": lambda: services.change_sheet(ask=ask, change={"note": data.draw(st.sampled_from(["a", "b", None]))}),
        "import": lambda: services.import_content(ask=ask, read=lambda _: content),
        "undo": lambda: services.undo_change(ask=ask),
        "redo": lambda: services.redo_change(ask=ask),
    }

    for what in data.draw(st.lists(st.sampled_from([*changes, "undo", "undo", "redo"]), min_size=3, max_size=12)):
        try:
            _, after = changes[what]()
        except Problem:  # and then nothing is written
            assert read_own(account.id, ask.sheet_id).written == fold(selectors.steps(ask.sheet_id))
            continue
        steps = selectors.steps(ask.sheet_id)
        stored = read_own(account.id, ask.sheet_id)
        assert stored.written == after.written == fold(steps)
        assert stored.sheet.version == len(steps)
        assert stored.sheet.written == sum(len(orjson.dumps(each.data)) for each in steps)
        assert stored.to_json() == after.to_json()
