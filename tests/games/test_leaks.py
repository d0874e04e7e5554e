"""The leak suite on a few deals of each preset; `make leaks` looks at thousands. See `tests.leaks`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spades import PRESETS
from spades.view import Part
from tests import leaks

DEALS = 5


@pytest.mark.parametrize("preset", PRESETS)
def test_nobody_is_told_what_they_have_not_seen(preset: str) -> None:
    counts = sum((leaks.check(preset, number) for number in range(1, DEALS + 1)), leaks.Counter())

    assert counts["deals"] == DEALS
    assert counts["views"] > 100
    assert counts["cards"] > 1000


@pytest.mark.parametrize("leak", ["a card in the view", "a seed in the view", "a card in an event", "the legal cards"])
def test_a_leak_is_noticed(monkeypatch: pytest.MonkeyPatch, leak: str) -> None:
    view, legal, step = leaks.Renderer.view, leaks.Renderer.answer, leaks.Renderer.step

    def view_of(self, match, reader):
        told = view(self, match, reader)
        if leak == "a card in the view" and match.deal is not None:
            return told + b'"' + match.deal.stock[-1].code.encode() + b'"'
        if leak == "a seed in the view" and match.deal is not None:
            return told + b'"' + match.deal.seed.server.hex().encode() + b'"'
        return told

    def step_of(self, match, seat, action, rng):
        after, events = step(self, match, seat, action, rng)
        if leak == "a card in an event" and after.deal is not None:
            return after, [Part("note", None, 1, {"card": after.deal.stock[-1].code}), *events]
        return after, events

    def answer_of(self, match, reader, action):
        if leak == "the legal cards" and match.turn is not None:
            reader = replace(reader, seat=match.turn)
        return legal(self, match, reader, action)

    monkeypatch.setattr(leaks.Renderer, "view", view_of)
    monkeypatch.setattr(leaks.Renderer, "step", step_of)
    monkeypatch.setattr(leaks.Renderer, "answer", answer_of)

    with pytest.raises(AssertionError):
        leaks.check("standard", 1)
