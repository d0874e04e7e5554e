"""Who may come to a table: the tokens that let somebody act, sit down or watch. Each runs in the caller's transaction.

None of this is part of the game: it makes no event and leaves the version alone, and each act is kept as an `Audit`.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts import bearer as bearers
from contract.problems import ContractReason, Problem
from events import hints
from games import selectors, store
from games.models import Audit, Seat
from games.selectors import Viewer
from games.services import play
from games.store import Reading

__all__ = ["reissue_token"]


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
    game = play.changed(game, occupants=store.seated(game.occupants, seat, token_digest=digest))
    Seat.objects.filter(game_id=game.id, seat=seat).update(token_digest=digest)
    store.write_occupants(game)
    _audit(reading, Audit.Act.REISSUED, seat=seat, token_digest=digest)
    transaction.on_commit(lambda: hints.doubt(game.id), robust=True)
    return {"game": selectors.view(game, selectors.match_of(game), viewer), "seat": seat, "token": token}, viewer


def _audit(reading: Reading, act: Audit.Act, **values: Any) -> None:
    if reading.account_id is None:
        raise ValueError("an account does this, and no seat")
    game = reading.game
    Audit.objects.create(
        game_id=game.id,
        created_at=timezone.now(),
        version=game.version,
        act=act,
        account_id=reading.account_id,
        **values,
    )
