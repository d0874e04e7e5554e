"""Records: both forms hold the same, reading is the inverse of writing, and what is no record is named by its place."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import Bid, Card, Deal, Ruleset, RulesetError, Seed
from spades.notation import (
    Action,
    Record,
    RecordedScore,
    RecordError,
)
from spades.terms import terms

from .any_records import any_records
from .recording import finished, random_record


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_both_forms_of_a_game_read_back_as_they_were_written(number: int) -> None:
    record = random_record(random.Random(number))

    for full in (False, True):
        text, value = record.to_text(full=full), record.to_json(full=full)
        assert Record.from_json(value) == record
        assert Record.read(json.dumps(value)) == record
        assert Record.read(text) == record
        assert Record.read(text).to_text(full=full) == text
        assert Record.read(record.to_text(full=full, compact=True)) == record
        assert Record.from_text(text).to_json(full=full) == value


@settings(max_examples=40, deadline=None)
@given(any_records())
def test_a_record_of_what_cannot_happen_is_kept_as_exactly(record: Record) -> None:
    assert Record.from_json(json.loads(json.dumps(record.to_json()))) == record
    assert Record.from_text(record.to_text()) == record
    assert Record.from_text(record.to_text(compact=True)) == record


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(["N", "AS"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None)
@given(any_records(), st.data())
def test_any_json_is_read_or_refused_and_never_fails_otherwise(record: Record, data: st.DataObject) -> None:
    body = record.to_json()
    part: Any = body
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if not isinstance(part[key], dict | list) or not part[key] or data.draw(st.booleans()):
            break
        part = part[key]
    part[key] = data.draw(JSON)

    try:
        read = Record.from_json(body)
    except (RecordError, RulesetError):
        return
    assert Record.from_json(read.to_json()) == read == Record.from_text(read.to_text())


def start(preset: str = "pagat", **changes: Any) -> Record:
    rules = Ruleset.resolve({"preset": preset, **changes})
    dealer = terms(rules).table.seats[0]
    deal = Deal.begin(rules, number=1, attempt=1, dealer=dealer, seed=Seed(bytes(32)))
    return Record.of(rules, {dealer: "Ann"}).begin(deal)


@pytest.mark.parametrize(
    ("path", "value", "where", "reason"),
    [
        (("format",), 2, "/format", "not_allowed_value"),
        (("format",), True, "/format", "wrong_type"),
        (("colour",), "red", "/colour", "unknown_field"),
        (("deals",), {}, "/deals", "wrong_type"),
        (("ruleset_hash",), "0" * 64, "/ruleset_hash", "not_allowed_value"),
        (("seats", 0, "seat"), "X", "/seats/0/seat", "not_allowed_value"),
        (("seats", 1, "seat"), "N", "/seats/1/seat", "not_allowed_value"),
        (("seats", 0, "name"), "a\nb", "/seats/0/name", "forbidden_character"),
        (("seats", 0, "name"), "x" * 201, "/seats/0/name", "wrong_length"),
        (("deals", 0, "number"), 0, "/deals/0/number", "out_of_range"),
        (("deals", 0, "number"), 1.0, "/deals/0/number", "wrong_type"),
        (("deals", 0, "number"), None, "/deals/0/number", "wrong_type"),
        (("deals", 0, "dealer"), None, "/deals/0/dealer", "wrong_type"),
        (("deals", 0, "stock", 3), "ZZ", "/deals/0/stock/3", "bad_format"),
        (("deals", 0, "hands"), {}, "/deals/0/stock", "missing_field"),
        (("deals", 0, "plays"), ["AS", 5], "/deals/0/plays/1", "wrong_type"),
        (
            ("deals", 0, "bids"),
            [{"seat": "E", "bid": {"kind": "number", "tricks": "3"}}],
            "/deals/0/bids/0/bid",
            "bad_format",
        ),
        (
            ("deals", 0, "bids"),
            [{"seat": "E", "bid": {"kind": "number", "tricks": 55}}],
            "/deals/0/bids/0/bid/tricks",
            "out_of_range",
        ),
        (("deals", 0, "bids"), [{"seat": "E"}], "/deals/0/bids/0/bid", "missing_field"),
        (("deals", 0, "looks"), [{"seat": "E", "action": 2}], "/deals/0/looks/0/action", "out_of_range"),
        (("deals", 0, "looks"), [{"seat": "E", "action": 1}] * 2, "/deals/0/looks/1/action", "not_allowed_value"),
        (("deals", 0, "draws"), ["perhaps"], "/deals/0/draws/0", "bad_format"),
        (("deals", 0, "seed"), "AB", "/deals/0/seed", "bad_format"),
        (("deals", 0, "score"), {"NS": {}}, "/deals/0/score/EW", "missing_field"),
        (
            ("deals", 0, "client_seeds"),
            [{"seat": "E", "seed": "a"}, {"seat": "N", "seed": "b"}],
            "/deals/0/client_seeds",
            "not_allowed_value",
        ),
        (("result",), {"winners": ["N"], "reason": "target", "scores": {}}, "/result/winners/0", "not_allowed_value"),
        (("tags",), {"Deal": "1"}, "/tags/Deal", "not_allowed_value"),
        (("seating",), [{"was": "N", "seat": "N"}], "/seating", "not_allowed_value"),
    ],
)
def test_what_is_no_record_is_refused_with_its_pointer(
    path: tuple[str | int, ...], value: Any, where: str, reason: str
) -> None:
    body = start().to_json()
    part: Any = body
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value

    with pytest.raises(RecordError) as caught:
        Record.from_json(body)

    assert (caught.value.where, caught.value.reason) == (where, reason)


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("", "line 1", "missing_field"),
        ('[Spades 2]\n[Ruleset "pagat"]', "line 1", "not_allowed_value"),
        ("[Spades 1]\n[Ruleset pagat]", "line 2", "bad_format"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[bag_pints 1]', "line 3", "unknown_field"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[N "a"]\n[N "b"]', "line 4", "duplicate_field"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[A "a"]', "line 3", "not_allowed_value"),
        ('[Spades 1]\n[Ruleset "pagat"]\nN:4', "line 3", "bad_format"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Dealer "N"]', "line 3", "bad_format"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Stock ""]', "line 3", "missing_field"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Dealer "N"]', "line 3", "missing_field"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Dealer "N"]\n[Hand.N "AS"]', "line 3", "missing_field"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Dealer "N"]\n[Stock "AS ZZ"]', "line 5", "bad_format"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Dealer "N"]\n[Stock "AS"]\nE:4 Q:3', "line 6", "not_allowed_value"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Dealer "N"]\n[Stock "AS"]\n2. AS', "line 6", "not_allowed_value"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Dealer "N"]\n[Stock "AS"]\nAS\nE:4', "line 7", "bad_format"),
        ('[Spades 1]\n[Ruleset "pagat"]\n[Result "target"]', "line 3", "missing_field"),
    ],
)
def test_what_is_no_text_of_a_record_is_refused_with_its_line(text: str, where: str, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        Record.read(text)

    assert (caught.value.where, caught.value.reason) == (where, reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"format": 1, "format": 1}', "duplicate_field"),
        ('{"format": NaN}', "bad_format"),
        ("{" * 3, "bad_format"),
        ('{"a":' * 100_000, "bad_format"),
        ('{"format": ' + "9" * 5000 + "}", "bad_format"),
    ],
)
def test_what_is_no_json_is_refused(text: str, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        Record.read(text)

    assert caught.value.reason == reason


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_text_is_read_or_refused_and_never_fails_otherwise(data: st.DataObject) -> None:
    record = start(blind_nil="any").add(Action.look("E")).add(Action.place_bid("E", Bid.number(3)))
    text = record.add(Action.play(Card.parse("AS"))).to_text()
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(max_size=4)) + text[at + data.draw(st.integers(0, 4)) :]

    try:
        read = Record.read(damaged)
    except (RecordError, RulesetError):
        return
    assert Record.from_text(read.to_text()) == read


def test_comments_blank_lines_and_missing_trick_numbers_change_nothing() -> None:
    record = start().add(Action.place_bid("E", Bid.number(3))).add(Action.play(Card.parse("2C")))
    text = record.to_text()

    assert Record.read("; from the table by the window\n\n" + text.replace("1. 2C", "  2C ; low")) == record
    assert Record.read("\ufeff" + text) == record


def test_the_longest_game_of_four_can_be_sent_to_be_checked() -> None:
    whole = finished().deals[0]
    assert whole.score is not None
    score = {side: RecordedScore(-100, -20_000, 12) for side in whole.score}
    deals = tuple(replace(whole, number=number, score=score, seed=None, commitment=None) for number in range(1, 201))
    record = replace(Record.of(Ruleset.resolve({"preset": "pagat"}), dict.fromkeys("NESW", "x" * 40)), deals=deals)

    assert len(record.to_text(compact=True).encode()) < 65_000
    assert Record.read(record.to_text(compact=True)) == record


def test_a_changed_preset_cannot_pass_for_the_rules_that_were_meant() -> None:
    record = start()
    value = record.to_json()
    value["ruleset"]["bag_limit"] = 7

    with pytest.raises(RecordError, match="hash"):
        Record.from_json(value)


def test_bids_that_were_made_while_others_passed_keep_their_place() -> None:
    record = start("standard", pass_cycle=["left"], pass_count=1, blind_nil="any")
    for action in (
        Action.pass_cards("N", [Card.parse("2C")]),
        Action.place_bid("E", Bid.parse("blind_nil")),
        Action.look("S"),
        Action.pass_cards("S", [Card.parse("3C")]),
        Action.pass_cards("E", [Card.parse("4C")]),
        Action.pass_cards("W", [Card.parse("5C")]),
        Action.place_bid("S", Bid.number(3)),
    ):
        record = record.add(action)
    deal = record.to_json()["deals"][0]

    assert [row["seat"] for row in deal["passes"]] == ["N", "S", "E", "W"]
    assert deal["looks"] == [{"seat": "S", "action": 3}]
    assert deal["bids"] == [
        {"seat": "E", "bid": {"kind": "blind_nil"}, "action": 2},
        {"seat": "S", "bid": {"kind": "number", "tricks": 3}},
    ]
    assert Record.from_json(record.to_json()) == record


def test_a_deal_is_recorded_with_either_stock_or_hands() -> None:
    deal = start().deals[0]

    for wrong in ({"stock": None}, {"hands": {}}):
        with pytest.raises(ValueError, match="either"):
            replace(deal, **wrong)
