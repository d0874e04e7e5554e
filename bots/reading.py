"""What a seat can tell from its view: its cards, what the others may hold, and what each side still needs.

The view has no memory: of the tricks of a deal it shows the last one and the current one. A card that was played
earlier may therefore still be among those that the others seem to hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bots.deck import Deck, deck_of

__all__ = ["Contract", "Reading", "Standing"]


class Standing:
    """A side's points, and its bags carried from earlier deals."""

    __slots__ = ("bags", "score")

    def __init__(self, score: int, bags: int) -> None:
        self.score = score
        self.bags = bags


class Contract:
    """What seats promised together in number bids and how far they are; nil bids are apart."""

    __slots__ = ("known", "promised", "seats", "side", "taken")

    def __init__(self, side: str, seats: tuple[str, ...]) -> None:
        self.side = side
        self.seats = seats
        self.promised = 0
        self.taken = 0
        """Tricks that count towards it."""
        self.known = True
        """Whether all of its seats have bid."""

    @property
    def need(self) -> int:
        """Tricks missing, 0 once it is made."""
        return max(0, self.promised - self.taken)


class Reading:
    """A view of a seat, read once."""

    __slots__ = (
        "bids",
        "broken",
        "contracts",
        "counts",
        "deck",
        "hand",
        "held",
        "leader",
        "me",
        "mine",
        "nils",
        "options",
        "out",
        "seats",
        "side_of",
        "sides",
        "trick",
        "tricks",
        "view",
        "voids",
    )

    def __init__(self, view: Mapping[str, Any]) -> None:
        deal = view["deal"]
        self.view = view
        self.options: Mapping[str, Any] = view["ruleset"]
        self.deck: Deck = deck_of(self.options)
        self.me: str = view["viewer"]["seat"]
        self.broken: bool = deal["spades_broken"]
        self._seats(view)
        self._cards(deal)
        self.leader = self._leader(deal)

    def _seats(self, view: Mapping[str, Any]) -> None:
        self.sides = {side["side"]: Standing(side["score"], side["bags"]) for side in view["sides"]}
        self.side_of: dict[str, str] = {seat["seat"]: seat["side"] for seat in view["seats"]}
        self.seats: list[str] = list(self.side_of)
        self.bids: dict[str, Mapping[str, Any]] = {}
        """By seat, the bids that this seat knows of; a partner's proposal is as good as a bid."""
        self.tricks: dict[str, int] = {seat["seat"]: seat["tricks"] for seat in view["seats"]}
        self.counts: dict[str, int] = {seat["seat"]: seat["card_count"] for seat in view["seats"]}
        self.held = sum(count for seat, count in self.counts.items() if seat != self.me)
        """How many cards the other seats hold together."""
        for seat in view["seats"]:
            for bid in (seat["bid"], seat["proposal"]):
                if isinstance(bid, Mapping):
                    self.bids.setdefault(seat["seat"], bid)
        self.nils = {seat for seat, bid in self.bids.items() if _is_nil(bid) and not self.tricks[seat]}
        """Seats whose nil still holds."""
        self.contracts = self._contracts()
        self.mine = next(contract for contract in self.contracts if self.me in contract.seats)
        """The contract that this seat plays for."""

    def _contracts(self) -> list[Contract]:
        apart = self.options["bid_mode"] == "individual"
        groups: dict[str, list[str]] = {}
        for seat in self.seats:
            groups.setdefault(seat if apart else self.side_of[seat], []).append(seat)
        contracts = []
        for seats in groups.values():
            contract = Contract(self.side_of[seats[0]], tuple(seats))
            for seat in seats:
                bid = self.bids.get(seat)
                if bid is None:
                    contract.known = False
                elif not _is_nil(bid):
                    contract.promised += bid["tricks"]
                    contract.taken += self.tricks[seat]
                elif self.options["failed_nil_tricks"] == "help_partner":
                    contract.taken += self.tricks[seat]
            contracts.append(contract)
        return contracts

    def _cards(self, deal: Mapping[str, Any]) -> None:
        # Of two equal cards the one that wins is to be the larger bit: the earlier one, or the later.
        earlier_wins = self.options["duplicate_winner"] != "last"
        copies = {code: list(bits if earlier_wins else reversed(bits)) for code, bits in self.deck.bits_of.items()}

        def read(codes: Iterable[str]) -> list[int]:
            return [copies[code].pop() for code in codes]

        trick: Sequence[Mapping[str, Any]] = deal["trick"]["cards"] if deal["trick"] else ()
        last: Sequence[Mapping[str, Any]] = deal["last_trick"]["cards"] if deal["last_trick"] else ()
        played = read(card["card"] for card in trick)
        self.trick: list[tuple[str, int]] = [(card["seat"], bit) for card, bit in zip(trick, played, strict=True)]
        self.hand = sum(read(deal["hand"] or ()))
        gone = sum(played) + sum(read(card["card"] for card in last))
        if deal["draw"] is not None:
            gone += sum(read(discard["card"] for discard in deal["draw"]["discards"] if discard["card"] is not None))
        self.voids: dict[str, int] = dict.fromkeys(self.seats, 0)
        """By seat, the suits that it has just shown to hold nothing of, as a mask."""
        for cards in (trick, last):
            self._note_voids(cards)
        self.out = self.deck.all & ~self.hand & ~gone
        """The cards that the other seats may hold; in the draw phase also those of the stock, the one looked at too."""
        others = [void for seat, void in self.voids.items() if seat != self.me]
        for suit in (*self.deck.side_suits, self.deck.spades):
            if all(void & suit for void in others):
                self.out &= ~suit

    def _note_voids(self, cards: Sequence[Mapping[str, Any]]) -> None:
        deck = self.deck
        suits = [deck.suit_of[deck.bits_of[played["card"]][0]] for played in cards]
        for played, suit in zip(cards, suits, strict=True):
            if suit != suits[0]:
                self.voids[played["seat"]] |= suits[0]

    def _leader(self, deal: Mapping[str, Any]) -> str:
        """The seat that leads, or led, the current trick; before the play the one that is taken to lead the first."""
        if deal["trick"] is not None:
            leader: str = deal["trick"]["leader"]
            return leader
        after = 0 if self.options["first_leader"] == "dealer" else 1
        return self.seats[(self.seats.index(deal["dealer"]) + after) % len(self.seats)]

    def friend(self, seat: str) -> bool:
        """Whether a seat is on our side; we are ourselves."""
        return self.side_of[seat] == self.side_of[self.me]

    @property
    def standing(self) -> Standing:
        """Where our side stands."""
        return self.sides[self.side_of[self.me]]

    @property
    def rivals(self) -> list[Contract]:
        """The contracts of other sides."""
        return [contract for contract in self.contracts if contract.side != self.side_of[self.me]]

    @property
    def partners(self) -> list[str]:
        """The other seats of our side."""
        return [seat for seat in self.seats if seat != self.me and self.friend(seat)]

    @property
    def waiting(self) -> list[str]:
        """The seats that play to the current trick after us."""
        return self.after(self.me)[: len(self.seats) - len(self.trick) - 1]

    def after(self, seat: str) -> list[str]:
        """The other seats clockwise from the left of `seat`."""
        place = self.seats.index(seat)
        return self.seats[place + 1 :] + self.seats[:place]

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


def _is_nil(bid: Mapping[str, Any]) -> bool:
    return bid["kind"] in ("nil", "blind_nil")
