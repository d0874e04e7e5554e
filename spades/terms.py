"""What follows from a ruleset once and for all: its pack, its seats, and which of its options are in force.

The rules ask these facts at every step of a deal, so they are worked out once for each ruleset.
"""

from __future__ import annotations

from collections.abc import Iterable

from spades.bids import Bid, BidKind
from spades.cards import Pack, pack
from spades.limits import SideLimits
from spades.ruleset import (
    BidMode,
    BidOrder,
    BidRule,
    BlindNil,
    BothNil,
    DealMethod,
    ExchangeOrder,
    FirstLead,
    PassDirection,
    Redeal,
    Ruleset,
    Teams,
    TotalBidRule,
    ZeroBid,
)
from spades.seats import Table, table

__all__ = ["Terms", "terms"]


class Terms:
    """The facts of one ruleset. Made by `terms`, once for each. Seats are meant by their places, 0 for the first."""

    __slots__ = (
        "blind_bids",
        "blind_exchange",
        "blind_limits",
        "blind_nil",
        "blind_numbers",
        "choosing",
        "club_lead",
        "dealing",
        "drawing",
        "exchanging",
        "limits",
        "mirror",
        "nil",
        "offered",
        "one_nil",
        "open_bids",
        "orders",
        "pack",
        "partners",
        "partnership",
        "passing",
        "redeal",
        "ruleset",
        "sealed",
        "suicide",
        "table",
        "together",
        "totals",
        "units",
        "whiz",
    )

    def __init__(self, ruleset: Ruleset) -> None:  # noqa: PLR0915 -- a statement for each fact
        r = self.ruleset = ruleset
        self.table: Table = table(r.players, r.teams)
        self.pack: Pack = pack(r.jokers, r.removed_cards, r.high_trumps, r.decks)
        self.drawing = r.deal_method is DealMethod.DRAW
        self.dealing = not self.drawing
        self.passing = any(step is not PassDirection.NONE for step in r.pass_cycle)
        self.club_lead = r.first_lead in (FirstLead.TWO_OF_CLUBS, FirstLead.LOWEST_CLUB)

        bidding = r.bid_mode is not BidMode.NONE
        self.mirror = bidding and r.bid_rule is BidRule.MIRROR
        self.choosing = bidding and not self.mirror
        """Whether seats say what they bid."""
        self.whiz = self.choosing and r.bid_rule is BidRule.WHIZ
        self.suicide = self.choosing and r.bid_rule is BidRule.SUICIDE
        self.sealed = self.choosing and r.bid_order is BidOrder.SIMULTANEOUS
        self.partnership = self.choosing and r.bid_mode is BidMode.PARTNERSHIP
        self.totals = self.choosing and r.total_bid_rule is TotalBidRule.NOT_EQUAL_TRICKS
        self.redeal = self.choosing and r.redeal is not Redeal.NONE

        together = r.teams is not Teams.NONE and bidding and r.bid_mode is not BidMode.INDIVIDUAL
        self.together = together
        """Whether the bids of partners make one contract."""
        sides = self.table.places_of.values()
        by_place = {place: tuple(other for other in side if other != place) for side in sides for place in side}
        self.partners: tuple[tuple[int, ...], ...] = tuple(by_place[place] for place in range(r.players))
        """By place, the partners."""
        self.units = self.partners if together else ((),) * r.players
        """By place, the others whose bids make one contract with its own."""

        self.nil = bidding and r.nil_success is not None and r.zero_bid in (ZeroBid.NIL, ZeroBid.BOTH)
        self.one_nil = self.nil and r.teams is not Teams.NONE and r.both_nil is BothNil.FORBIDDEN
        """Whether a side may bid nil only once."""
        blind = self.choosing and self.dealing
        self.blind_nil = blind and self.nil and r.blind_nil is not BlindNil.OFF
        self.blind_numbers = blind and not self.whiz and r.blind_bid_min is not None
        exchange = r.nil_exchange > 0 or (self.blind_nil and r.blind_nil_exchange > 0)
        self.exchanging = self.nil and exchange and len(self.partners[0]) == 1
        self.blind_exchange = self.exchanging and r.exchange_order is ExchangeOrder.BLIND

        self.orders: tuple[tuple[int, ...], ...] = tuple(self._bid_order(dealer) for dealer in range(r.players))
        """By the place of the dealer, the places in the order in which they bid."""

        numbers = range(max(r.min_bid or 0, 1), (r.max_bid or 0) + 1) if bidding else range(0)
        plain = [Bid.number(0)] if bidding and r.zero_bid in (ZeroBid.PLAIN, ZeroBid.BOTH) else []
        nils = [Bid.nil()] if self.nil else []
        self.open_bids: tuple[Bid, ...] = (*nils, *plain, *(Bid.number(tricks) for tricks in numbers))
        """Every bid that is not blind, in listed order."""
        blind_nils = [Bid(BidKind.BLIND_NIL)] if self.blind_nil else []
        blind_numbers = [Bid(BidKind.BLIND, tricks) for tricks in numbers] if self.blind_numbers else []
        self.blind_bids: tuple[Bid, ...] = (*blind_nils, *blind_numbers)
        """Every blind bid, in listed order."""
        self.offered = frozenset((*self.open_bids, *self.blind_bids))
        self.limits = self._limits([Bid.nil()] if self.whiz else self.open_bids, r.min_team_bid)
        """What the bids of partners who make one contract keep to."""
        least = max(r.min_team_bid, r.blind_bid_min or 0)
        self.blind_limits = (self._limits(blind_numbers, least), self._limits(self.blind_bids, least))
        """The same for a side that bids blind numbers, first without and then with a blind nil open to it."""

    def _limits(self, bids: Iterable[Bid], least: int) -> SideLimits:
        return SideLimits(
            bids=tuple((bid.tricks, bid.is_nil) for bid in bids),
            least=least,
            most=self.ruleset.max_team_bid,
            least_nils=int(self.suicide),
            most_nils=1 if self.suicide or self.one_nil else None,
        )

    def bid_order(self, dealer: int) -> tuple[int, ...]:
        """The places in the order in which they bid.

        `non_dealing_side` goes side by side: whoever is first from the dealer's left, then its partners, and the
        dealer's own side last. Bids that are made all at once are listed from the dealer's left.

        Source: docs/rules.md#bids
        """
        return self.orders[dealer]

    def _bid_order(self, dealer: int) -> tuple[int, ...]:
        players = self.ruleset.players
        if self.ruleset.bid_order is BidOrder.DEALER:
            return tuple((dealer + step) % players for step in range(players))
        left = [(dealer + step) % players for step in range(1, players + 1)]
        if self.ruleset.bid_order is not BidOrder.NON_DEALING_SIDE:
            return tuple(left)
        ordered: list[int] = []
        for place in left:
            if place not in ordered:
                side = (place, *self.partners[place])
                ordered += [other for other in left if other in side]
        return tuple(ordered)

    def pass_step(self, deal_number: int) -> int:
        """How many places to the left cards are passed in a deal; 0 where none are."""
        if not self.passing:
            return 0
        cycle, players = self.ruleset.pass_cycle, self.ruleset.players
        steps = {
            PassDirection.LEFT: 1,
            PassDirection.RIGHT: players - 1,
            PassDirection.ACROSS: players // 2,
            PassDirection.NONE: 0,
        }
        return steps[cycle[(deal_number - 1) % len(cycle)]]

    def bids_in(self, deal_number: int) -> bool:
        """Whether anybody bids, or is bid for, in a deal."""
        first = self.ruleset.first_hand_bids_itself and deal_number == 1
        return (self.choosing or self.mirror) and not first


_MOST = 1024
_known: dict[int, Terms] = {}
"""By identity of the ruleset, which the terms keep alive: to hash one would cost more than to find its terms."""


def terms(ruleset: Ruleset) -> Terms:
    """The facts of a ruleset.

    >>> terms(Ruleset.resolve({"preset": "standard"})).bid_order(dealer=0)
    (1, 2, 3, 0)
    >>> terms(Ruleset.resolve({"preset": "hoyle_partners"})).bid_order(dealer=0)
    (1, 3, 2, 0)
    """
    found = _known.get(id(ruleset))
    if found is None:
        if len(_known) >= _MOST:
            _known.clear()
        found = _known[id(ruleset)] = Terms(ruleset)
    return found
