"""What an account's token may be used for."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["DEFAULT_SCOPES", "Scope"]


class Scope(StrEnum):
    """A permission of a token. Seats, watch links and invitations have none: their kind says what they open."""

    GAMES = "games"
    SCORING = "scoring"
    TOURNAMENTS = "tournaments"
    WEBHOOKS = "webhooks"
    ADMIN = "admin"


DEFAULT_SCOPES: tuple[Scope, ...] = (Scope.GAMES, Scope.SCORING, Scope.TOURNAMENTS, Scope.WEBHOOKS)
"""What an account gets that anybody may open: everything but `admin`."""
