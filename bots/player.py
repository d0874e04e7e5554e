"""What a bot is, and the bots there are by name.

A bot is given the view of its seat, which is all that a person in that seat could see, and answers one request body out
of ``view["turn"]["legal"]``. It keeps nothing between two calls, so any process can answer any turn.

>>> bot("steady").name
'steady'
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bots.random_bot import RandomBot
from bots.steady import Steady

__all__ = ["REGISTRY", "Bot", "BotInfo", "bot"]


class Bot(Protocol):
    """A player of any seat at any table."""

    @property
    def name(self) -> str:
        """The name under which the bot takes a seat."""
        ...

    def choose(self, view: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        """Decide a turn.

        Args:
            view: the view of the bot's seat, which is on turn, with the options of the ruleset flat under ``"ruleset"``
                and the seat under ``"viewer"``. It is not changed.
            rng: all the chance a bot may use: the same view and the same state of `rng` give the same answer.

        Returns:
            One of the request bodies in ``view["turn"]["legal"]``.
        """
        ...


@dataclass(frozen=True, slots=True)
class BotInfo:
    """A bot as it is listed for whoever looks for an opponent, and how to make one."""

    name: str
    title: str
    """Its name at a table, when the host gives it none."""
    description: str
    make: Callable[[], Bot]


_BOTS = (
    BotInfo("random", "Random", "Plays any card that is allowed and bids near its fair share.", RandomBot),
    BotInfo("steady", "Steady", "Plays by rules of thumb: values its hand, takes its contract, then ducks.", Steady),
)

REGISTRY: dict[str, BotInfo] = {info.name: info for info in _BOTS}
"""Every bot by its name, weakest first."""


def bot(name: str) -> Bot:
    """Make the bot of that name.

    Raises:
        KeyError: there is none; the message lists those there are.
    """
    try:
        info = REGISTRY[name]
    except KeyError:
        raise KeyError(f"no bot is named {name!r}; there are {', '.join(sorted(REGISTRY))}") from None
    return info.make()
