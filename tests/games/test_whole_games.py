"""Short games of bots at a table of every preset; `make games` plays thousands. See `tests.whole_games`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from spades import PRESETS, Ruleset
from tests import whole_games
from tests.whole_games import Game


@pytest.mark.parametrize("table", whole_games.TABLES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_game_of_bots_is_won_and_comes_out_of_its_actions_again(preset: str, table: str) -> None:
    ruleset = Ruleset.resolve({"preset": preset, "target_score": 60})

    told = whole_games.check(ruleset, table, f"short {preset} {table}")

    pack = {"cutthroat": 51, "six_solo": 48, "six_pairs": 102}.get(preset, 52)
    assert told["reason"] in whole_games.WON_BY
    assert told["played"] + told["discarded"] + told["left"] == pack * told["deals"]


def changed_seed(game: Game) -> None:
    _, clients, promised = game.rows.deals[2, 1]
    game.rows.deals[2, 1] = ("00" * 32, clients, promised)


def changed_client_seed(game: Game) -> None:
    seed, clients, promised = game.rows.deals[2, 1]
    game.rows.deals[2, 1] = (seed, clients.replace("hopes", "fears"), promised)


def changed_bid(game: Game) -> None:
    place = next(n for n, (_, action) in enumerate(game.rows.actions) if "bid" in action)
    seat, _ = game.rows.actions[place]
    game.rows.actions[place] = (seat, orjson.dumps({"bid": {"kind": "number", "tricks": 11}}).decode())


def changed_score(game: Game) -> None:
    game.rows.scores[1] = game.rows.scores[1].replace('"bags":', '"bags":1', 1)


def changed_result(game: Game) -> None:
    assert game.rows.result is not None
    game.rows.result = game.rows.result.replace("target", "deal_cap")


def changed_engine(game: Game) -> None:
    game.rows.engine += 1


def changed_event(game: Game) -> None:
    place = next(n for n, parts in enumerate(game.events) if parts[0].type == "card_played")
    first, *rest = game.events[place]
    game.events[place] = [replace(first, public={**first.public, "trick_number": 13}), *rest]


@pytest.mark.parametrize(
    "change",
    [
        changed_seed,
        changed_client_seed,
        changed_bid,
        changed_score,
        changed_result,
        changed_engine,
        changed_event,
    ],
)
def test_a_difference_is_noticed(change: Callable[[Game], None]) -> None:
    game = whole_games.play(Ruleset.resolve({"preset": "standard", "target_score": 150}), "mixed", "to be changed")
    whole_games.assert_rebuilds(game)
    assert len(game.rows.scores) > 1

    change(game)

    # A card may be refused where the cards lie otherwise: that is a ValueError.
    with pytest.raises((AssertionError, ValueError)):
        whole_games.assert_rebuilds(game)


@pytest.mark.parametrize(
    ("rules", "kind", "name"),
    [
        ({"preset": "standard"}, "card_played", "card"),
        ({"preset": "two_player"}, "deal_revealed", "discards"),
        ({"preset": "two_player", "deal_method": "deal_half"}, "deal_revealed", "stock"),
    ],
)
def test_a_card_that_is_there_twice_and_one_that_is_missing_are_noticed(
    rules: dict[str, Any], kind: str, name: str
) -> None:
    game = whole_games.play(Ruleset.resolve({**rules, "target_score": 60}), "mixed", "a card twice")
    counts = whole_games.assert_every_card_once(game)
    assert counts[{"card": "played", "discards": "discarded", "stock": "left"}[name]] > 0
    place, index = next(
        (n, index) for n, parts in enumerate(game.events) for index, part in enumerate(parts) if part.type == kind
    )
    part = game.events[place][index]
    value = part.public[name]
    another = "AS" if value == "2S" else "2S"
    wrong = another if name == "card" else [*value[:-1], value[0]]
    game.events[place][index] = replace(part, public={**part.public, name: wrong})

    with pytest.raises(AssertionError):
        whole_games.assert_every_card_once(game)


def test_too_many_games_at_the_deal_cap_are_a_failure() -> None:
    def told(capped: int) -> dict[str, dict[str, dict[str, object]]]:
        return {"standard": {"steady": {"games": 200, "reasons": {"target": 200 - capped, "deal_cap": capped}}}}

    assert whole_games.capped_too_often(told(0)) == whole_games.capped_too_often(told(4)) == []
    assert whole_games.capped_too_often(told(5)) == [
        {"preset": "standard", "bots": "steady", "error": "5 of 200 games ended at the deal cap"}
    ]
