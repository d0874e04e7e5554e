from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from games.models import Game
from spades_api import health
from tests.games.rebuilding import create_bot_game


def test_a_living_process_says_so(client):
    response = client.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_a_service_that_can_work_is_ready(client):
    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {"status": "ready", "checks": dict.fromkeys(health.CHECKS, "ok")}


@pytest.mark.django_db
def test_a_service_that_cannot_work_says_what_is_wrong_and_not_why(client, monkeypatch):
    def broken() -> None:
        raise RuntimeError("password of the queue")

    monkeypatch.setitem(health.CHECKS, "queue", broken)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert response["Content-Type"] == "application/problem+json"
    assert response["Retry-After"]
    assert (response.json()["reason"], response.json()["detail"]) == ("unavailable", "Not ready: queue.")
    assert b"password" not in response.content


@pytest.mark.django_db
def test_a_service_whose_bots_do_not_move_is_not_ready(client):
    game_id = create_bot_game(("steady", "steady"))
    young = client.get("/readyz")
    Game.objects.filter(id=game_id).update(bot_due_at=timezone.now() - timedelta(seconds=61))

    old = client.get("/readyz")

    assert young.status_code == 200
    assert (old.status_code, old.json()["detail"]) == (503, "Not ready: bot_turns.")


def test_the_root_leads_to_the_docs(client):
    response = client.get("/")

    assert (response.status_code, response["Location"]) == (302, "/docs")
    assert client.get("/docs").status_code == 200
