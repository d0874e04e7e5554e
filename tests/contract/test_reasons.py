from __future__ import annotations

import pytest

from contract.reasons import CATALOGUE, ContractReason, join
from spades.errors import Reason

STATE_REASONS = {"not_your_turn", "wrong_phase", "game_over", "already_bid", "look_first", "redeal_not_allowed"}


@pytest.mark.parametrize("reason", [*Reason, *ContractReason])
def test_every_reason_has_a_title_and_says_what_to_do(reason):
    entry = CATALOGUE[reason]

    assert entry.reason == reason
    assert 5 < len(entry.title) < 60
    assert not entry.title.endswith(".")
    assert len(entry.help) > 40, "a page of a few words helps nobody"
    assert entry.help.endswith(".")
    assert 400 <= entry.status <= 503


def test_the_catalogue_has_no_other_reasons():
    assert set(CATALOGUE) == {*map(str, Reason), *map(str, ContractReason)}


@pytest.mark.parametrize("reason", list(Reason))
def test_a_rule_that_time_can_change_is_409_and_any_other_422(reason):
    assert CATALOGUE[reason].status == (409 if reason in STATE_REASONS else 422)


def test_a_rule_reason_that_the_contract_uses_is_refused():
    with pytest.raises(ValueError, match="not_found"):
        join(["not_in_hand", "not_found"])


def test_a_rule_reason_without_a_text_still_gets_a_title():
    entries = join(["a_new_rule"])

    assert entries["a_new_rule"].title == "A new rule"
    assert entries["a_new_rule"].status == 422
