"""Games through the services, without HTTP, and the proof that a game follows from its actions."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from accounts.services import create_account
from events import log
from games import codec, selectors, store
from games.models import Action, Audit, Deal, Game
from games.services import bot_turns, tables
from games.services.tables import Guest
from games.store import Occupant


def create_bot_game(bots: tuple[str, str], **ruleset: object) -> UUID:
    """A started game of two bots, whose host only looks on."""
    account, _ = create_account("host")
    with transaction.atomic():
        made, _ = tables.create_game(
            account_id=account.id,
            account_name=account.name,
            ruleset={"preset": "two_player", **ruleset},
            seats=[Guest("bot", bot=name) for name in bots],
        )
    return UUID(made["game"]["id"])


def play_bot_game(bots: tuple[str, str], **ruleset: object) -> UUID:
    """A finished game of two bots."""
    game_id = create_bot_game(bots, **ruleset)
    while (game := store.read_game(game_id, lock=False)) is not None and game.status == Game.Status.ACTIVE:
        assert bot_turns.take_turn(game_id=game_id, version=game.version)
    return game_id


def assert_rebuilds(game_id: UUID) -> None:
    """The game's snapshot, score rows and every event come out again, exactly, from its actions."""
    game = store.read_game(game_id, lock=False)
    assert game is not None
    stored = log.rows_after(game_id, 0, game.version + 1)
    assert [row.number for row in stored] == list(range(1, game.version + 1))
    assert_seated_by_actions(game_id)
    steps = selectors.replay(game)
    last_version, match, _ = steps[-1]
    assert last_version == game.version
    assert codec.dump_match(match) == game.state
    first = steps[0][0] - len(steps[0][2])
    again = [(part.type, part.seat, part.deal_number, part.public, part.own) for _, _, parts in steps for part in parts]
    assert [(row.type, row.seat, row.deal_number, row.public, row.own) for row in stored[first:]] == again
    scored = {row.deal_number: row.public for row in stored if row.type == "deal_scored"}
    for deal in selectors.list_deals(game_id, after=0, limit=1000):
        if deal["score"] is not None:
            told = scored.pop(deal["number"])
            assert told == {**deal["score"], "bids": deal["bids"], "tricks": deal["tricks"]}
    assert not scored


def assert_seated_by_actions(game_id: UUID) -> None:
    """Who sits where, started or not, is what people did."""
    game = store.read_game(game_id, lock=False)
    assert game is not None
    assert [occupant.to_row() for occupant in game.occupants] == seated_by_actions(game_id, game.version)


def seated_by_actions(game_id: UUID, version: int) -> list[dict[str, object]]:
    """Who sits where, and by which token, from what people did."""
    seats: dict[str, dict[str, object]] = {}
    reissued = list(Audit.objects.filter(game_id=game_id, act=Audit.Act.REISSUED).order_by("created_at", "id"))

    def reissue(before: int) -> None:
        while reissued and reissued[0].version < before:
            done = reissued.pop(0)
            seats[str(done.seat)] = {**seats[str(done.seat)], "token": done.token_digest}

    for at, seat, action in store.read_actions(game_id, version):
        reissue(at)
        if "create" in action:
            seats = {row["seat"]: row for row in action["create"]["seats"]}
        elif "sit" in action:
            seats[action["sit"]["seat"]] = action["sit"]
        elif "leave" in action and seat is not None:
            seats[seat] = {**Occupant(seat).to_row(), "client_seed": ""}
        elif "drawn" in action:
            moved = {action["drawn"][was]: row for was, row in seats.items()}
            seats = {seat: {**moved[seat], "seat": seat} for seat in seats}
    reissue(version + 1)
    return [{name: value for name, value in row.items() if name != "client_seed"} for row in seats.values()]


def rows_of(game_id: UUID | str) -> dict[str, list[object]]:
    """Everything that is kept of a game, to compare before and after."""
    return {
        "game": list(Game.objects.filter(id=game_id).values()),
        "actions": list(Action.objects.filter(game_id=game_id).order_by("version").values()),
        "deals": list(Deal.objects.filter(game_id=game_id).order_by("number").values()),
        "events": list(log.rows_after(UUID(str(game_id)), 0, 10**6)),
    }
