"""Tables of two people that are played through the API: real games, legal actions, decided from the answers."""

from __future__ import annotations

from typing import Any, Final

import orjson

from benchmarks.load import Broken, request
from clients.http import ApiClient

__all__ = ["Players", "Table"]

_OPERATIONS: Final = {"draw": "draws", "bid": "bids", "play": "plays"}
_NAMES: Final = {"draw": "draw_card", "bid": "place_bid", "play": "play_card"}
_ENDLESS: Final = 100_000
"""A target that no measurement reaches, so that no table needs to be replaced in the middle of one."""


class Players:
    """Two accounts that sit down at tables, and one that watches."""

    def __init__(self, url: str) -> None:
        self._clients = []
        for name in ("North", "South", "Watcher"):
            client = ApiClient(url)
            client.token = client.post("/v1/accounts", {"name": name}).body["token"]
            self._clients.append(client)

    @property
    def token(self) -> str:
        """The token of the account that watches."""
        return str(self._clients[2].token)

    def sit_down(self, *, keys: bool = False) -> Table:
        """Make a table, and take both seats.

        Args:
            keys: send an Idempotency-Key with each action.
        """
        host, guest, _ = self._clients
        ruleset = {"preset": "two_player", "target_score": _ENDLESS}
        made = host.post("/v1/games", {"ruleset": ruleset, "seats": [{"kind": "human"}, {"kind": "open"}]}).body
        game_id = made["game"]["id"]
        joined = guest.post(f"/v1/games/{game_id}/seats", {"kind": "human"}).body
        own = made["seats"][0]
        tokens = {own["seat"]: own["token"], joined["seat"]: joined["token"]}
        return Table(game_id, tokens, guest.get(f"/v1/games/{game_id}").body, keys=keys)


class Table:
    """One game, played for both seats by turns: a `Source` of its actions.

    A player decides from what the answers have shown: the table from the newest one, its own hand from the answer to
    its own last action, since nobody else's action changes it.
    """

    def __init__(self, game_id: str, tokens: dict[str, str], view: dict[str, Any], *, keys: bool) -> None:
        self.game_id, self.tokens = game_id, tokens
        self._keys = keys
        self._view = view
        self._hands: dict[str, list[str]] = {}
        self._deal = 0
        self._action = ""

    def next(self) -> bytes:
        """The action of the seat on turn."""
        view = self._view
        seat, self._action = view["turn"]["seat"], view["turn"]["action"]
        headers = {"If_Match": f'"{view["version"]}-{seat}"'}
        if self._keys:
            headers["Idempotency_Key"] = f"{self.game_id}-{view['version']}"
        path = f"/v1/games/{self.game_id}/{_OPERATIONS[self._action]}"
        return request("POST", path, self.tokens[seat], orjson.dumps(self._decide(seat)), **headers)

    def take(self, status: int, body: bytes) -> str:
        """Look at the table after it."""
        if status != 200:
            raise Broken(f"{self._action}: {status}: {body.decode(errors='replace')}")
        view = self._view = orjson.loads(body)
        deal = view["deal"]
        if deal["number"] != self._deal:
            self._deal = deal["number"]
            self._hands = {}
        self._hands[view["viewer"]["seat"]] = deal["hand"]
        return _NAMES[self._action]

    def _decide(self, seat: str) -> dict[str, Any]:
        deal, hand = self._view["deal"], self._hands.get(seat, [])
        if self._action == "draw":
            return {"decision": "keep" if self._view["version"] % 3 else "decline"}
        if self._action == "bid":
            return {"kind": "number", "tricks": max(1, sum(card[0] in "AK" or card[1] == "S" for card in hand) // 2)}
        trick = deal["trick"]
        cards = trick["cards"] if trick is not None else []
        if cards:
            legal = [card for card in hand if card[1] == cards[0]["card"][1]]
        elif deal["spades_broken"] and trick is not None and trick["number"] > 1:
            legal = hand
        else:
            legal = [card for card in hand if card[1] != "S"]
        return {"card": (legal or hand)[0]}
