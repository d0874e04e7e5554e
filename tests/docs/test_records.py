"""The grammar of records shows records that can be read, and says of them what is so."""

from __future__ import annotations

import json

from spades import Record, check_shuffles, replay
from spades.replay import BreachReason
from tests.docs import markdown

BLOCKS = dict(markdown.blocks(markdown.read("docs/records.md")))


def test_the_two_forms_of_the_example_are_the_same_record_and_are_written_like_that():
    text, value = BLOCKS["text record"], json.loads(BLOCKS["json Record"])

    assert Record.read(text) == Record.read(BLOCKS["json Record"])
    assert Record.read(text).to_text() == text
    assert Record.read(text).to_json() == value


def test_the_example_is_a_game_that_could_have_been_played_with_its_shuffle():
    record = Record.read(BLOCKS["text record"])

    assert replay(record).breach is None
    assert replay(record).result == record.result
    assert [(check.what, check.passed) for check in check_shuffles(record)] == [
        ("commitment", True),
        ("shuffle", True),
        ("dealer", True),
    ]


def test_actions_of_the_example_are_counted_as_the_page_says():
    actions = Record.read(BLOCKS["text record"]).deals[0].actions

    assert (actions[2].kind, actions[2].seat) == ("look", "E")
    assert actions[8].kind == "play"
    assert actions[7].kind != "play"


def test_every_reason_of_a_breach_is_explained():
    table = markdown.tables(markdown.section(markdown.read("docs/records.md"), "Breaches"))[0]
    named = {code for row in table for code in markdown.codes(row[1])}

    assert {str(reason) for reason in BreachReason} <= named
