"""A seat's own text for the shuffles to come."""

from __future__ import annotations

from contract.problems import ContractReason, Problem
from games import selectors
from games.models import Seat
from games.selectors import Viewer
from games.store import Reading
from spades import Reason

__all__ = ["give_client_seed"]


def give_client_seed(*, reading: Reading, viewer: Viewer, text: str) -> None:
    """Let a text of the seat's enter every deal that has not started, instead of the one it gave before.

    The commitment of the next deal is published already, so the text cannot have been known when its seed was chosen.

    Args:
        reading: the locked reading of the table: no deal starts meanwhile.

    Raises:
        Problem: `not_your_seat` or `game_over`.
    """
    game = reading.game
    if viewer.seat is None:
        known = selectors.version_told(game, viewer)
        raise Problem(ContractReason.NOT_YOUR_SEAT, "You hold no seat at this table.", version=known)
    if game.finished_at is not None:
        raise Problem(Reason.GAME_OVER, "The game is over.", version=game.version)
    Seat.objects.filter(game_id=game.id, seat=viewer.seat).update(client_seed=text)
