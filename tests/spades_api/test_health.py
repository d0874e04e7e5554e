from __future__ import annotations

import pytest

from spades_api import health


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
