"""Whole games checked over HTTP: what the library says, what is refused, and what may be sent."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from contract import records
from spades import Record, Ruleset, replay
from spades.notation import Action
from tests.client import Answer, ApiClient
from tests.spades.recording import PAGAT, finished, first_legal, random_game

pytestmark = pytest.mark.django_db

RECORDS = "/v1/rules/records"


def ask(api: ApiClient, record: Any, **kwargs: Any) -> Answer:
    return api.post(RECORDS, json={"record": record}, **kwargs)


def test_a_game_that_was_played_is_valid_in_both_forms(api: ApiClient) -> None:
    record = first_legal(Ruleset.resolve({"preset": "pagat", "max_hands": 2}), 2)
    assert record.result is not None

    as_json = ask(api, record.to_json(), example=True)
    as_text = ask(api, record.to_text())

    assert as_json.status == 200
    assert as_json.body == as_text.body == ask(api, record.to_text(compact=True)).body
    assert as_json.body["valid"] is True
    assert as_json.body["scores"] == record.result.scores
    assert as_json.body["result"] == record.result.to_json()
    assert as_json.body["deals"] == 2
    assert [(one["deal"], one["what"], one["passed"]) for one in as_json.body["shuffles"]] == [
        (1, "commitment", True),
        (1, "shuffle", True),
        (1, "dealer", True),
        (2, "commitment", True),
        (2, "shuffle", True),
    ]


@pytest.mark.parametrize("number", range(12))
def test_the_answer_is_that_of_the_library_for_games_of_any_ruleset(api: ApiClient, number: int) -> None:
    record, match = random_game(random.Random(number))

    answer = ask(api, record.to_json())

    assert answer.status == 200
    assert answer.body["scores"] == match.sheet.scores() == replay(record).scores
    assert answer.body["result"] == (record.result and record.result.to_json())
    assert all(one["passed"] for one in answer.body["shuffles"])


def test_a_revoke_is_found_with_what_could_have_been_played(api: ApiClient) -> None:
    record = finished()
    deal = record.deals[0]
    lead = next(place for place, action in enumerate(deal.actions) if action.kind == "play")
    led = deal.actions[lead].cards[0]
    right = deal.actions[lead + 1].cards[0]
    assert right.suit is led.suit
    wrong = next(action.cards[0] for action in deal.actions[lead + 4 :: 4] if action.cards[0].suit is not led.suit)
    bad = replace(deal, actions=(*deal.actions[: lead + 1], Action.play(wrong), *deal.actions[lead + 2 :]))

    answer = ask(api, replace(record, deals=(bad,)).to_text())

    assert answer.body["valid"] is False
    breach = answer.body["breach"]
    assert (breach["deal"], breach["action"], breach["kind"]) == (1, lead + 2, "play")
    assert breach["reason"] in ("must_follow_suit", "not_in_hand")
    assert {"card": right.code} in breach["legal"]
    assert "scores" not in answer.body


def test_a_wrong_score_and_a_wrong_seed_are_told_apart(api: ApiClient) -> None:
    record = finished()
    deal = record.deals[0]
    assert deal.score is not None
    score = {side: replace(one, delta=one.delta + 1) for side, one in deal.score.items()}

    scored = ask(api, record.scored(score).to_json())
    seeded = ask(api, replace(record, deals=(replace(deal, seed="11" * 32),)).to_json())

    assert scored.body["breach"]["kind"] == "score"
    assert all(one["passed"] for one in scored.body["shuffles"])
    assert seeded.body["valid"] is True
    assert not any(one["passed"] for one in seeded.body["shuffles"][:2])


@pytest.mark.parametrize(
    ("change", "pointer", "reason"),
    [
        ({"format": 2}, "/record/format", "not_allowed_value"),
        ({"colour": "red"}, "/record/colour", "unknown_field"),
        ({"deals": [{"number": 1, "dealer": "N"}]}, "/record/deals/0/stock", "missing_field"),
        ({"ruleset": {"preset": "none"}}, "/record/ruleset/preset", "not_allowed_value"),
        ({"ruleset": {"preset": "pagat", "bag_pints": 1}}, "/record/ruleset/bag_pints", "unknown_field"),
        ({"ruleset_hash": "0" * 64}, "/record/ruleset_hash", "not_allowed_value"),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(
    api: ApiClient, change: dict[str, Any], pointer: str, reason: str
) -> None:
    answer = ask(api, {**finished().to_json(), **change}, bad=True)

    assert (answer.status, answer.reason) == (400, "malformed")
    assert [(fault["pointer"], fault["reason"]) for fault in answer.body["errors"]] == [(pointer, reason)]


def test_what_is_no_text_of_a_record_is_refused_with_its_line(api: ApiClient) -> None:
    answer = ask(api, '[Spades 1]\n[Ruleset "pagat"]\n[Deal 1]\n[Dealer "Q"]\n[Stock ""]')
    option = ask(api, '[Spades 1]\n[Ruleset "pagat"]\n[players 3]')

    assert (answer.status, answer.body["errors"][0]["pointer"]) == (400, "/record")
    assert answer.body["errors"][0]["detail"].startswith("Line 4: the seats here are N, E, S, W")
    assert (option.status, option.reason) == (422, "ruleset_contradiction")
    assert {fault["pointer"] for fault in option.body["errors"]} == {"/record"}
    assert option.body["errors"][0]["detail"].startswith(("teams: ", "removed_cards: "))


@pytest.mark.parametrize("record", [None, 5, [], True])
def test_a_record_is_an_object_or_a_text(api: ApiClient, record: Any) -> None:
    answer = ask(api, record, bad=True)

    assert (answer.status, answer.body["errors"][0]["pointer"]) == (400, "/record")


def test_a_body_that_is_too_long_is_refused_and_the_longest_game_is_none(api: ApiClient) -> None:
    whole = finished().deals[0]
    bare = tuple(replace(whole, number=number, seed=None, commitment=None) for number in range(1, 201))
    record = replace(Record.of(PAGAT), deals=bare)

    fits = ask(api, record.to_text(compact=True))
    too_long = ask(api, record.to_json())

    assert (fits.status, fits.body["valid"]) == (200, False)  # the second deal is not that of the same dealer
    assert (too_long.status, too_long.reason) == (413, "payload_too_large")


def test_asking_takes_the_scope_of_the_other_questions() -> None:
    assert ask(ApiClient(), finished().to_json()).reason == "unauthenticated"


def test_any_text_gets_an_answer(api: ApiClient) -> None:
    text = finished().to_text()
    rng = random.Random(7)
    for _ in range(40):
        at = rng.randrange(len(text))
        damaged = text[:at] + rng.choice('[]":>^;{}k9é\n\\') + text[at + rng.randrange(3) :]
        assert ask(api, damaged).status in (200, 400, 422)
    assert ask(api, json.dumps(finished().to_json())).body["valid"] is True


def test_long_records_are_checked_one_after_the_other(api: ApiClient) -> None:
    rules = {"preset": "standard", "blind_nil": "off", "target_score": 10_000, "max_hands": 21}
    record = first_legal(Ruleset.resolve(rules), 21)
    assert len(record.deals) == 21
    short = replace(record, deals=record.deals[:20], result=None)

    with records._turn:
        refused = ask(api, record.to_text(compact=True))
        taken = ask(api, short.to_text(compact=True))
    again = ask(api, record.to_text(compact=True))

    assert (refused.status, refused.reason, refused.headers["retry-after"]) == (429, "rate_limited", "1")
    assert (taken.status, again.status) == (200, 200)
