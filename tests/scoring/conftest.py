from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts.services import create_account
from tests.client import Answer, ApiClient


@pytest.fixture(autouse=True)
def _open_service(settings: Any) -> None:
    settings.RATE_LIMITS = False
    settings.OPEN_REGISTRATION = True


@pytest.fixture
def client(api: ApiClient) -> ApiClient:
    """The API, with the token of an account."""
    api.token = create_account("Ann")[1]
    return api


@pytest.fixture
def ask(client: ApiClient) -> Callable[..., Answer]:
    """Asks a question about scores: `ask("deals", body)`."""

    def send(what: str, body: Any, **kwargs: Any) -> Answer:
        return client.post(f"/v1/scoring/{what}", json=body, **kwargs)

    return send
