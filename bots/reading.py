"""What a seat can tell from its view: its cards, what the others may hold, and what each side still needs.

The view has no memory: of the tricks of a deal it shows the last one and the current one. A card that was played
earlier may therefore still be among those that the others seem to hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bots.deck import Deck, deck_of

__all__ = ["Reading", "SideNeed"]


class SideNeed:
    """What a side promised in number bids and how far it is; nil bids are apart."""

    __slots__ = ("bags", "contract", "score", "taken")

    def __init__(self, score: int, bags: int) -> None:
        self.score = score
        self.bags = bags
        """Bags carried from earlier deals."""
        self.contract = 0
        self.taken = 0
        """Tricks of the seats that bid a number."""

    @property
    def need(self) -> int:
        """Tricks missing to the contract, 0 once it is made."""
        return max(0, self.contract - self.taken)


class Reading:
    """A view of a seat, read once."""

    __slots__ = (
        "broken",
        "deck",
        "hand",
        "held",
        "leader",
        "me",
        "my_side",
        "nils",
        "options",
        "out",
        "side_of",
        "sides",
        "trick",
        "view",
    )

    def __init__(self, view: Mapping[str, Any]) -> None:
        deal = view["deal"]
        self.view = view
        self.options: Mapping[str, Any] = view["ruleset"]
        self.deck: Deck = deck_of(self.options)
        self.me: str = view["viewer"]["seat"]
        self.hand = self.deck.mask(deal["hand"])
        self.broken: bool = deal["spades_broken"]
        self._seats(view)
        self._cards(deal)
        self.leader = self._leader(deal)

    def _seats(self, view: Mapping[str, Any]) -> None:
        self.sides = {side["side"]: SideNeed(side["score"], side["bags"]) for side in view["sides"]}
        self.side_of: dict[str, str] = {}
        self.nils: set[str] = set()
        """Seats whose nil still holds."""
        self.held = 0
        """How many cards the other seats hold together."""
        for seat in view["seats"]:
            name, bid, side = seat["seat"], seat["bid"], self.sides[seat["side"]]
            self.side_of[name] = seat["side"]
            if name != self.me:
                self.held += seat["card_count"]
            if not isinstance(bid, Mapping):
                continue
            if bid["kind"] in ("nil", "blind_nil"):
                if not seat["tricks"]:
                    self.nils.add(name)
            else:
                side.contract += bid["tricks"]
                side.taken += seat["tricks"]
        self.my_side = self.sides[self.side_of[self.me]]

    def _cards(self, deal: Mapping[str, Any]) -> None:
        deck, bit_of = self.deck, self.deck.bit_of
        gone, void = 0, deck.all
        draw = deal["draw"]
        if draw is not None:
            for discard in draw["discards"]:
                if discard["card"] is not None:
                    gone |= bit_of[discard["card"]]
        others = len(self.side_of) - 1
        for trick in (deal["last_trick"], deal["trick"]):
            cards: Sequence[Mapping[str, Any]] = trick["cards"] if trick is not None else ()
            for played in cards:
                card = bit_of[played["card"]]
                gone |= card
                led = deck.suit_of[bit_of[cards[0]["card"]]]
                if others == 1 and played["seat"] != self.me and not card & led:
                    void &= ~led
        self.trick: list[tuple[str, int]] = (
            [(played["seat"], bit_of[played["card"]]) for played in deal["trick"]["cards"]] if deal["trick"] else []
        )
        self.out = deck.all & ~self.hand & ~gone & void
        """The cards that the other seats may hold; in the draw phase also those of the stock, the one looked at too."""

    def _leader(self, deal: Mapping[str, Any]) -> str:
        """The seat that leads, or led, the current trick; before the play the one that will lead the first."""
        if deal["trick"] is not None:
            leader: str = deal["trick"]["leader"]
            return leader
        seats = list(self.side_of)
        after = 0 if self.options["first_leader"] == "dealer" else 1
        return seats[(seats.index(deal["dealer"]) + after) % len(seats)]

    @property
    def bag_worth(self) -> float:
        """What a bag is worth in the long run: its own points, less its part of the penalty."""
        options = self.options
        limit = options["bag_limit"]
        return float(options["bag_points"] - (options["bag_penalty"] / limit if limit else 0))

    @property
    def share(self) -> float:
        """How likely it is that a card of `out` is held by somebody."""
        count = self.out.bit_count()
        return min(1.0, self.held / count) if count else 0.0
