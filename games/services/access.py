"""Who may come to a table: the tokens that let somebody act, sit down or watch. Each runs in the caller's transaction.

None of this is part of the game: it makes no event and leaves the version alone, and each act is kept as an `Audit`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts import bearer as bearers
from contract.problems import ContractReason, Problem
from events import hints
from games import selectors, store
from games.models import Audit, Game, Invitation, Seat, WatchLink
from games.selectors import Viewer
from games.store import GameRow, Reading

__all__ = [
    "MOST_LINKS",
    "create_invitation",
    "create_watch_link",
    "delete_link",
    "find_invitation",
    "reissue_token",
    "use_invitation",
]

MOST_LINKS: Final = 50
"""Invitations, and as many watch links, that a table may have in force."""

L = TypeVar("L", Invitation, WatchLink)

_MADE: Final = {Invitation: Audit.Act.INVITATION_MADE, WatchLink: Audit.Act.WATCH_LINK_MADE}
_DELETED: Final = {Invitation: Audit.Act.INVITATION_DELETED, WatchLink: Audit.Act.WATCH_LINK_DELETED}


def reissue_token(*, reading: Reading, seat: str) -> tuple[dict[str, Any], Viewer]:
    """Give a seat's holder a new token for it; the old one is dead, and whoever reads by it is cut off.

    Only the account that holds the seat may: a token that has leaked cannot make itself the only one, and neither the
    host nor anybody else gets at another's hand.

    Args:
        reading: the locked reading of the table, by an account's token.

    Returns:
        The answer ``{"game": view, "seat", "token"}``, and whose view it is.

    Raises:
        Problem: `not_your_seat`, `not_found`, `spectators_forbidden`.
    """
    game = reading.game
    occupant = game.occupant(seat)
    mine = selectors.seats_of(reading)
    viewer = selectors.viewer_of(reading, seat if seat in mine else next(iter(mine), None))
    if occupant is None:
        raise Problem(ContractReason.NOT_FOUND, "This table has no such seat.")
    if seat not in mine:
        raise Problem(ContractReason.NOT_YOUR_SEAT, "Only who holds the seat gets a token for it.")
    token, digest = bearers.make(bearers.SEAT)
    game = replace(game, occupants=store.seated(game.occupants, seat, token_digest=digest))
    Seat.objects.filter(game_id=game.id, seat=seat).update(token_digest=digest)
    store.write_occupants(game)
    _audit(reading, Audit.Act.REISSUED, seat=seat, token_digest=digest)
    transaction.on_commit(lambda: hints.doubt(game.id), robust=True)
    return {"game": selectors.view(game, selectors.match_of(game), viewer), "seat": seat, "token": token}, viewer


def create_invitation(
    *, reading: Reading, name: str | None, seat: str | None, uses: int, expires_in: int
) -> tuple[Invitation, str]:
    """Give out the right to sit down at a table that has not started.

    Args:
        reading: the locked reading of the table, by the host's token.
        seat: the one seat that it is for; None for any.
        uses: how many may sit down by it.
        expires_in: seconds from now.

    Returns:
        The invitation, and its token, which cannot be read again.

    Raises:
        Problem: `not_host`, `wrong_phase`, `game_over`, `malformed`, `too_many`, `not_found`.
    """
    viewer = selectors.require_host(reading)
    selectors.require_waiting(reading.game, viewer)
    if seat is not None and reading.game.occupant(seat) is None:
        raise selectors.no_such_seat(reading.game)
    return _create(reading, Invitation, bearers.INVITATION, name, expires_in, seat=seat, uses=uses)


def create_watch_link(*, reading: Reading, name: str | None, expires_in: int | None) -> tuple[WatchLink, str]:
    """Give out the right to see what is public at a table, to whoever has the link's token.

    Args:
        reading: the locked reading of the table, by the host's token.
        expires_in: seconds from now; None for a link that holds until it is deleted.

    Returns:
        The link, and its token, which cannot be read again.

    Raises:
        Problem: `not_host`, `spectators_forbidden`, `too_many`, `not_found`.
    """
    selectors.require_host(reading)
    if reading.game.spectators == Game.Spectators.FORBIDDEN:
        raise Problem(ContractReason.SPECTATORS_FORBIDDEN, "This table was made without spectators.")
    return _create(reading, WatchLink, bearers.WATCHER, name, expires_in)


def _create(
    reading: Reading, model: type[L], kind: str, name: str | None, expires_in: int | None, **values: Any
) -> tuple[L, str]:
    at = timezone.now()
    if selectors.links_in_force(model, reading.game.id, at).count() >= MOST_LINKS:
        raise Problem(ContractReason.TOO_MANY, f"A table has at most {MOST_LINKS} of these in force.")
    token, digest = bearers.make(kind)
    link = model(
        game_id=reading.game.id,
        token_digest=digest,
        name=name,
        created_at=at,
        expires_at=None if expires_in is None else at + timedelta(seconds=expires_in),
        **values,
    )
    link.save(force_insert=True)
    _audit(reading, _MADE[model], seat=values.get("seat"), subject=link.id)
    return link, token


def delete_link(*, reading: Reading, model: type[L], link_id: UUID) -> None:
    """Take an invitation or a watch link back; whoever watches by it is cut off.

    Args:
        reading: the locked reading of the table, by the host's token.

    Raises:
        Problem: `not_host`, `not_found`.
    """
    selectors.require_host(reading)
    link = selectors.get_link(model, reading.game.id, link_id)
    link.delete()
    game_id = reading.game.id
    _audit(reading, _DELETED[model], seat=getattr(link, "seat", None), subject=link_id)
    transaction.on_commit(lambda: hints.doubt(game_id), robust=True)


def find_invitation(game: GameRow, digest: str) -> Invitation | None:
    """The invitation to a locked table with this token, if it is one to it and still holds."""
    found = selectors.links_in_force(Invitation, game.id, timezone.now()).filter(token_digest=digest)
    return found.filter(used__lt=F("uses")).first()


def use_invitation(reading: Reading, invitation: Invitation, seat: str) -> None:
    """Count that somebody sat down by an invitation that `find_invitation` gave for the locked table."""
    Invitation.objects.filter(id=invitation.id).update(used=F("used") + 1)
    _audit(reading, Audit.Act.INVITATION_USED, seat=seat, subject=invitation.id, holder_id=reading.account_id)


def _audit(reading: Reading, act: Audit.Act, **values: Any) -> None:
    """Keep what the account behind a reading did, for the host and for whoever held the seat in question."""
    if reading.account_id is None:
        raise ValueError("an account does this, and no seat")
    game = reading.game
    occupant = game.occupant(values.get("seat") or "")
    if occupant is not None:
        values = {"holder_id": occupant.account_id, **values}
    Audit.objects.create(
        game_id=game.id,
        created_at=timezone.now(),
        version=game.version,
        act=act,
        account_id=reading.account_id,
        **values,
    )
