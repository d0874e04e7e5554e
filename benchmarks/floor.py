"""The floor: the least that a play and a view can cost with Django, PostgreSQL and a durable commit.

A plain Django view without middleware and two statements written by hand, prepared, over connections that stay open. A
play locks token, seat and game in one join, changes a state of 1.5 kB of JSON, and writes it with an event in one
statement. A view is one SELECT and one JSON text. There are no rules, no checks of the body, no versions, nothing for
anybody who waits. What the service is measured against is this, under the WSGI server that runs it best::

    DATABASE_URL=postgres://... granian --interface wsgi --workers 2 --blocking-threads 4 benchmarks.floor:application
"""

from __future__ import annotations

import hashlib
import os
from typing import Any, Final
from uuid import UUID, uuid4

import django
import environ
import orjson
import psycopg
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone

__all__ = ["application", "create_tables"]

TABLES: Final = """
    CREATE TABLE floor_game (id uuid PRIMARY KEY, version integer NOT NULL, state text NOT NULL);
    CREATE TABLE floor_seat (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        game_id uuid NOT NULL REFERENCES floor_game (id) DEFERRABLE INITIALLY DEFERRED,
        seat varchar(1) NOT NULL,
        token_digest varchar(64) NOT NULL UNIQUE,
        UNIQUE (game_id, seat)
    );
    CREATE TABLE floor_event (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        game_id uuid NOT NULL REFERENCES floor_game (id) DEFERRABLE INITIALLY DEFERRED,
        number integer NOT NULL,
        at timestamptz NOT NULL,
        type varchar(24) NOT NULL,
        data text NOT NULL,
        UNIQUE (game_id, number)
    );
"""
_LOCK: Final = (
    "SELECT g.version, g.state, s.seat FROM floor_seat s JOIN floor_game g ON g.id = s.game_id "
    "WHERE s.token_digest = %s AND g.id = %s FOR UPDATE OF g"
)
_WRITE: Final = (
    "WITH changed AS (UPDATE floor_game SET version = %s, state = %s WHERE id = %s) "
    "INSERT INTO floor_event (game_id, number, at, type, data) VALUES (%s, %s, %s, %s, %s)"
)
_READ: Final = (
    "SELECT g.version, g.state, s.seat FROM floor_seat s JOIN floor_game g ON g.id = s.game_id "
    "WHERE s.token_digest = %s AND g.id = %s"
)
_RANKS: Final = "AKQJT98765432"
_CARDS: Final = [rank + suit for suit in "SHDC" for rank in _RANKS]


def create_tables(database_url: str, games: int) -> list[tuple[str, str]]:
    """Make the tables in an empty database, and games in them.

    Returns:
        For each game its id and the token of a seat.
    """
    state = orjson.dumps(_state()).decode()
    made = [(str(uuid4()), f"sps_{number:043}") for number in range(games)]
    with psycopg.connect(database_url) as database:
        database.execute(TABLES)
        for game_id, token in made:
            database.execute("INSERT INTO floor_game VALUES (%s, 1, %s)", (game_id, state))
            database.execute(
                "INSERT INTO floor_seat (game_id, seat, token_digest) VALUES (%s, 'A', %s)", (game_id, _digest(token))
            )
    return made


def _state() -> dict[str, Any]:
    """A state of 1.5 kB, in the middle of a deal."""
    return {
        "hands": {"A": _CARDS[:13], "B": _CARDS[13:26]},
        "discards": [{"seat": "AB"[place % 2], "card": card, "face": "up"} for place, card in enumerate(_CARDS[26:])],
        "bids": {"A": 4, "B": 5},
        "trick": [],
        "taken": {"A": 0, "B": 0},
        "scores": {"A": 120, "B": 95},
        "turn": "A",
    }


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _bearer(request: HttpRequest) -> str:
    return _digest(request.META["HTTP_AUTHORIZATION"].removeprefix("Bearer "))


def _json(body: bytes) -> HttpResponse:
    return HttpResponse(body, content_type="application/json", headers={"Content-Length": str(len(body))})


def play(request: HttpRequest, game_id: UUID) -> HttpResponse:
    """Play a card: any card, for ever."""
    card = orjson.loads(request.body)["card"]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK, (_bearer(request), game_id))
        version, text, seat = cursor.fetchone()
        state = orjson.loads(text)
        if state["turn"] != seat:
            return HttpResponse(status=422)
        state["trick"] = [*state["trick"][-1:], {"seat": seat, "card": card}]
        version += 1
        event = orjson.dumps({"seat": seat, "card": card}).decode()
        cursor.execute(
            _WRITE,
            (
                version,
                orjson.dumps(state).decode(),
                game_id,
                game_id,
                version,
                timezone.now(),
                "card_played",
                event,
            ),
        )
    return _json(orjson.dumps({"id": str(game_id), "version": version, **state}))


def view(request: HttpRequest, game_id: UUID) -> HttpResponse:
    """The state."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, (_bearer(request), game_id))
        version, text, seat = cursor.fetchone()
    return _json(orjson.dumps({"id": str(game_id), "version": version, "viewer": seat, **orjson.loads(text)}))


urlpatterns = [path("v1/games/<uuid:game_id>", view), path("v1/games/<uuid:game_id>/plays", play)]


def _make() -> WSGIHandler:
    database: dict[str, Any] = environ.Env.db_url_config(os.environ["DATABASE_URL"])
    database["CONN_MAX_AGE"] = None
    database["OPTIONS"] = {"prepare_threshold": 1, "server_side_binding": True}
    settings.configure(
        SECRET_KEY="a floor keeps no secret",
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": database},
        ROOT_URLCONF=__name__,
        MIDDLEWARE=[],
        USE_TZ=True,
        USE_I18N=False,
    )
    django.setup(set_prefix=False)
    return WSGIHandler()


application: WSGIHandler


def __getattr__(name: str) -> Any:
    """Make the application when a server asks for it, so that others may import this module without a database."""
    if name == "application":
        globals()[name] = _make()
        return globals()[name]
    raise AttributeError(name)
