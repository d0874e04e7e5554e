"""What docs/api.md shows of questions and answers about the rules is asked and answered."""

from __future__ import annotations

import json

import pytest

from tests.docs import markdown

pytestmark = pytest.mark.django_db

API = markdown.read("docs/api.md")
STOCK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]


def shown(section):
    """The examples of a section, by the component that each is one of."""
    blocks = markdown.blocks(markdown.section(API, section))
    return {label.removeprefix("json "): json.loads(content) for label, content in blocks if label.startswith("json ")}


ASKING, RULESETS = shown("Asking about the rules"), shown("Rulesets")


@pytest.mark.parametrize("what", ["Play", "Bid", "Trick", "Leader"])
def test_a_question_that_is_shown_gets_the_answer_that_is_shown(api, what):
    answer = api.post(f"/v1/rules/{what.lower()}s", json=ASKING[f"{what}QuestionRequest"])

    assert answer.body == ASKING[f"{what}Ruling"]


def test_the_draw_that_is_told_stands_as_shown(api):
    question = {"ruleset": {"preset": "two_player"}, "stock": STOCK, "dealer": "A", "decisions": ["keep", "decline"]}

    answer = api.post("/v1/rules/draws", json={**question, "proposed": {"seat": "B", "decision": "keep_both"}})

    assert answer.body == ASKING["DrawRuling"]


def test_the_contradictions_that_are_shown_are_found(api):
    ruleset = {"teams": "trios", "moon": "bid_all", "moon_success": 200}

    answer = api.post("/v1/rules/plays", json={**ASKING["PlayQuestionRequest"], "ruleset": ruleset})

    assert {**answer.body, "request_id": ASKING["Problem"]["request_id"]} == ASKING["Problem"]


def test_the_option_that_is_shown_is_one_of_a_preset(api):
    preset = api.get("/v1/rulesets/two_player").body

    assert preset["options"][RULESETS["PresetOption"]["name"]] == RULESETS["PresetOption"]


def test_the_ruleset_that_is_shown_has_the_warning_that_is_shown(api):
    answer = api.post("/v1/rulesets/resolve", json=RULESETS["ResolveRulesetRequest"])

    assert answer.body["warnings"] == [RULESETS["RulesetWarning"]]
