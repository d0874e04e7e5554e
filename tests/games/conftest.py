from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from accounts.models import Account
from accounts.services import create_account
from tests.client import Answer, ApiClient

PATHS = {"draw": "draws", "look": "looks", "pass": "passes", "redeal": "redeals", "bid": "bids", "play": "plays"}


@dataclass
class Person:
    """An account with its token."""

    name: str
    id: UUID
    token: str


@dataclass
class Table:
    """A game over HTTP, with a token for each seat that a person holds."""

    api: ApiClient
    id: str
    host: Person
    guest: Person
    tokens: dict[str, str] = field(default_factory=dict)

    def url(self, *parts: object) -> str:
        return "/".join(["/v1/games", self.id, *map(str, parts)])

    def view(self, seat: str = "A") -> dict[str, Any]:
        body: dict[str, Any] = self.api.get(self.url(), token=self.tokens[seat]).body
        return body

    def on_turn(self) -> tuple[str, dict[str, Any]]:
        """The seat on turn and its own view."""
        seat = self.view()["turn"]["seat"]
        return seat, self.view(seat)

    def act(self, seat: str, body: dict[str, Any], *, action: str | None = None, **kwargs: Any) -> Answer:
        """Send an action of a seat; `action` defaults to what the body is for."""
        if action is None:
            action = "draw" if "decision" in body else "play" if "card" in body else "bid"
        query = kwargs.pop("query", "")
        return self.api.post(self.url(PATHS[action]) + query, json=body or None, token=self.tokens[seat], **kwargs)

    def play_to(self, phase: str, *, deal: int = 1, draw: str = "keep", bid: int = 3) -> None:
        """Go on by the first legal thing until the deal is in a phase."""
        while True:
            seat, view = self.on_turn()
            if (view["deal"]["number"], view["deal"]["phase"]) == (deal, phase):
                return
            legal = view["turn"]["legal"]
            wanted: dict[str, Any] = {"draw": {"decision": draw}, "bid": {"kind": "number", "tricks": bid}}.get(
                view["turn"]["action"], legal[0]
            )
            assert self.act(seat, wanted).status == 200


@pytest.fixture(autouse=True)
def _open_service(settings: Any) -> None:
    settings.RATE_LIMITS = False
    settings.OPEN_REGISTRATION = True


@pytest.fixture
def person() -> Callable[..., Person]:
    """Makes an account: `person("Ann")`."""

    def make(name: str = "Ann", **kwargs: Any) -> Person:
        account, token = create_account(name, **kwargs)
        assert isinstance(account, Account)
        return Person(name, account.id, token)

    return make


@pytest.fixture
def table(api: ApiClient, person: Callable[..., Person]) -> Callable[..., Table]:
    """Makes a table of two people, which has started: `table(target_score=60)`."""

    def make(**ruleset: Any) -> Table:
        host, guest = person("Ann"), person("Bea")
        made = api.post(
            "/v1/games",
            json={"ruleset": {"preset": "two_player", **ruleset}, "seats": [{"kind": "human", "name": "Ann"}]},
            token=host.token,
        )
        assert made.status == 201
        game_id = made.body["game"]["id"]
        joined = api.post(f"/v1/games/{game_id}/seats", json={"kind": "human"}, token=guest.token)
        assert joined.status == 201
        tokens = {"A": made.body["seats"][0]["token"], "B": joined.body["token"]}
        return Table(api, game_id, host, guest, tokens)

    return make
