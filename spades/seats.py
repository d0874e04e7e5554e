"""Seats and sides: who sits where, who comes next, who scores with whom.

Four seats are N E S W, clockwise; any other number is A B C and so on. Partners face each other. A side is the unit
that has the score: two or three partners, or the seat itself. Source: docs/rules.md#players
"""

from __future__ import annotations

from functools import lru_cache

from spades.errors import NotationError

__all__ = ["SEATS", "SIDES", "Table", "seat_names", "table"]

_FOUR = ("N", "E", "S", "W")
_OTHERS = "ABCDEF"


def seat_names(players: int) -> tuple[str, ...]:
    """The seats of a table, clockwise.

    >>> seat_names(4), seat_names(2)
    (('N', 'E', 'S', 'W'), ('A', 'B'))
    """
    return _FOUR if players == len(_FOUR) else tuple(_OTHERS[:players])


class Table:
    """The seats and sides of a table of `players` in `teams`. Made by `table`, once for each pair of values."""

    __slots__ = ("places_of", "players", "seats", "seats_in", "side_of", "sides")

    def __init__(self, players: int, teams: str) -> None:
        self.players = players
        self.seats = seat_names(players)
        step = {"none": players, "pairs": players // 2, "trios": 2}[teams]
        groups = [tuple(self.seats[i] for i in range(start, players, step)) for start in range(step)]
        self.sides: tuple[str, ...] = tuple("".join(group) for group in groups)
        """The sides in the order of their first seat: ``("NS", "EW")``."""
        self.places_of: dict[str, tuple[int, ...]] = {
            "".join(group): tuple(self.seats.index(seat) for seat in group) for group in groups
        }
        """By side, the places of its seats."""
        self.seats_in: dict[str, tuple[str, ...]] = {"".join(group): group for group in groups}
        """By side, its seats."""
        self.side_of: dict[str, str] = {seat: "".join(group) for group in groups for seat in group}

    def index(self, seat: str) -> int:
        """The place of a seat, 0 for the first.

        Raises:
            NotationError: no such seat at this table.
        """
        try:
            return self.seats.index(seat)
        except ValueError:
            raise NotationError(f"expected one of {', '.join(self.seats)}, got {seat!r}") from None

    def after(self, seat: str) -> str:
        """The seat on the left of `seat`."""
        return self.seats[(self.index(seat) + 1) % self.players]

    def from_(self, seat: str) -> tuple[str, ...]:
        """All seats clockwise, `seat` first."""
        start = self.index(seat)
        return self.seats[start:] + self.seats[:start]

    def seats_of(self, side: str) -> tuple[str, ...]:
        """The seats of a side."""
        return self.seats_in.get(side, ())


@lru_cache(maxsize=32)
def table(players: int, teams: str) -> Table:
    """The seats and sides of a table.

    >>> table(4, "pairs").sides
    ('NS', 'EW')
    >>> table(6, "trios").sides
    ('ACE', 'BDF')
    """
    return Table(players, teams)


_TABLES = [table(players, "none") for players in (2, 3, 4, 5, 6)]
_TABLES += [table(4, "pairs"), table(6, "pairs"), table(6, "trios")]

SEATS = frozenset(seat for each in _TABLES for seat in each.seats)
"""The names of all seats that any table has."""
SIDES = frozenset(side for each in _TABLES for side in each.sides)
"""The names of all sides that any table has."""
