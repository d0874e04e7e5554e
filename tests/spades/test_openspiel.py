"""Some hundred deals beside OpenSpiel in every run of the tests; `make openspiel` plays many more."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from spades import Ruleset
from tests import openspiel


def test_openspiel_plays_and_scores_the_same_but_for_its_known_faults() -> None:
    counts: Counter[str] = sum((openspiel.check(7, number) for number in range(300)), Counter())

    assert (counts["deals"], counts["bids"], counts["plays"], counts["winners"]) == (300, 1200, 15600, 3900)
    assert counts["sides scored"] == 600
    rare = ("contracts made", "contracts set", "nils made", "nils failed", "penalties", *openspiel.KNOWN)
    assert min(counts[name] for name in rare) > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"spade_lead": "anytime"},
        {"must_trump": True},
        {"max_team_bid": None},
        {"zero_bid": "both"},
        {"failed_nil_tricks": "bags"},
        {"nil_fail": -50},
        {"set_points": "zero"},
        {"bag_limit": 5},
    ],
    ids=str,
)
def test_a_rule_that_openspiel_does_not_have_is_noticed(changes: dict[str, Any], monkeypatch: Any) -> None:
    monkeypatch.setattr(openspiel, "RULESET", Ruleset.resolve({"preset": "openspiel", **changes}))

    assert any(differs(number) for number in range(100))


def differs(number: int) -> bool:
    try:
        openspiel.check(7, number)
    except AssertionError:
        return True
    return False
