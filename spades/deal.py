"""One deal: drawn, bid and played. Each step returns a new `Deal`; a refused step changes nothing.

What happened is kept as it happened (the stock, the decisions, the bids, the cards in order); hands, tricks, the turn
and whether spades are broken follow from it, so they can never disagree with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from spades import legality
from spades.bids import Bid
from spades.cards import Card, Pack, cards_of, pack
from spades.errors import NotationError, Reason, RuleViolation
from spades.legality import DrawDecision
from spades.ruleset import Ruleset
from spades.seats import Table, table
from spades.shuffle import Seed
from spades.tricks import Trick, breaks_spades, winning_place

__all__ = ["Deal", "Discard", "Phase", "discards_of"]


class Phase(StrEnum):
    """Where a deal stands."""

    DRAWING = "drawing"
    BIDDING = "bidding"
    PLAYING = "playing"
    FINISHED = "finished"


_ACTIONS = {Phase.DRAWING: "draw", Phase.BIDDING: "bid", Phase.PLAYING: "play"}
_KEPT, _DECLINED = "k", "d"
_DECISIONS = {_KEPT: DrawDecision.KEEP, _DECLINED: DrawDecision.DECLINE}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Discard:
    """A card thrown in the draw phase: by whom, after which decision, how it lies, and who has seen it."""

    number: int
    seat: str
    decision: DrawDecision
    face: str
    """``"up"`` or ``"down"``."""
    card: Card
    visible_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal in progress or finished. Made by `Deal.begin`, or by `Deal.restore` from what was kept."""

    ruleset: Ruleset
    number: int
    attempt: int
    dealer: str
    seed: Seed
    stock: tuple[Card, ...]
    """The shuffled pack, top first, as it lay before anything was drawn."""
    draws: str
    """The decisions of the draw turns so far, ``k`` keep or ``d`` decline."""
    bids: tuple[Bid | None, ...]
    """By place of the seat."""
    plays: tuple[Card, ...]
    """Every card played, in order."""
    hands: tuple[int, ...]
    """By place of the seat, the cards held now, as masks."""
    taken: tuple[int, ...]
    """By place of the seat, tricks taken."""
    leader: int
    """The place of the seat that leads, or led, the current trick."""
    spades_broken: bool

    # Making one.

    @classmethod
    def begin(cls, ruleset: Ruleset, *, number: int, attempt: int, dealer: str, seed: Seed) -> Deal:
        """Shuffle and lay out a deal.

        Args:
            number: the deal's number in its game, from 1.
            attempt: 1, and one more after each redeal of the same number.
        """
        return cls._laid_out(ruleset, number, attempt, dealer, seed, seed.shuffled(_pack(ruleset).deck))

    @classmethod
    def restore(
        cls,
        ruleset: Ruleset,
        *,
        number: int,
        attempt: int,
        dealer: str,
        seed: Seed,
        stock: tuple[Card, ...],
        draws: str,
        bids: tuple[Bid | None, ...],
        plays: tuple[Card, ...],
    ) -> Deal:
        """The deal that had these steps, which were checked when they were taken."""
        deal = cls._laid_out(ruleset, number, attempt, dealer, seed, stock)
        seats = deal.table
        hands = list(deal.hands)
        first = (seats.index(dealer) + 1) % seats.players
        for turn, decision in enumerate(draws):
            kept = stock[2 * turn + (decision == _DECLINED)]
            hands[(first + turn) % seats.players] |= kept.bit
        taken = list(deal.taken)
        leader, broken, cards = deal.leader, False, _pack(ruleset)
        for start in range(0, len(plays), seats.players):
            trick = plays[start : start + seats.players]
            for place, card in enumerate(trick):
                hands[(leader + place) % seats.players] ^= card.bit
                broken = broken or breaks_spades(ruleset, cards, trick[:place], card)
            if len(trick) == seats.players:
                leader = (leader + winning_place(cards, trick)) % seats.players
                taken[leader] += 1
        return replace(
            deal,
            draws=draws,
            bids=bids,
            plays=plays,
            hands=tuple(hands),
            taken=tuple(taken),
            leader=leader,
            spades_broken=broken,
        )

    @classmethod
    def _laid_out(
        cls, ruleset: Ruleset, number: int, attempt: int, dealer: str, seed: Seed, stock: tuple[Card, ...]
    ) -> Deal:
        seats = table(ruleset.players, ruleset.teams)
        cards, lying = _pack(ruleset), 0
        for card in stock:
            lying |= 1 << card.index
        if lying != cards.mask or len(stock) != len(cards.deck):
            raise NotationError("the stock is not the whole pack of this ruleset, each card once")
        nobody = (0,) * seats.players
        return cls(
            ruleset=ruleset,
            number=number,
            attempt=attempt,
            dealer=dealer,
            seed=seed,
            stock=stock,
            draws="",
            bids=(None,) * seats.players,
            plays=(),
            hands=nobody,
            taken=nobody,
            leader=(seats.index(dealer) + 1) % seats.players,
            spades_broken=False,
        )

    # Reading one.

    @property
    def table(self) -> Table:
        """The seats and sides."""
        return table(self.ruleset.players, self.ruleset.teams)

    @property
    def draw_turns(self) -> int:
        """How many draw turns the deal has in all."""
        return len(self.stock) // 2

    @property
    def phase(self) -> Phase:
        """Where the deal stands."""
        if len(self.draws) < self.draw_turns:
            return Phase.DRAWING
        if None in self.bids:
            return Phase.BIDDING
        return Phase.PLAYING if any(self.hands) or len(self.trick_cards) else Phase.FINISHED

    @property
    def turn(self) -> str | None:
        """The seat that the table waits for; None when the deal is finished."""
        seats, phase = self.table, self.phase
        first = seats.index(self.dealer) + 1
        if phase is Phase.DRAWING:
            return seats.seats[(first + len(self.draws)) % seats.players]
        if phase is Phase.BIDDING:
            made = sum(bid is not None for bid in self.bids)
            return seats.seats[(first + made) % seats.players]
        if phase is Phase.PLAYING:
            return seats.seats[(self.leader + len(self.trick_cards)) % seats.players]
        return None

    @property
    def action(self) -> str | None:
        """What the seat on turn has to do: ``draw``, ``bid`` or ``play``."""
        return _ACTIONS.get(self.phase)

    @property
    def trick_number(self) -> int:
        """The number of the current trick, from 1; the last one's when the deal is finished."""
        return min(len(self.plays) // self.table.players + 1, self.ruleset.hand_size)

    @property
    def trick_cards(self) -> tuple[Card, ...]:
        """The cards of the current trick in order of play; empty when it waits for its lead."""
        return self.plays[len(self.plays) - len(self.plays) % self.table.players :]

    @property
    def stock_count(self) -> int:
        """Cards left in the stock."""
        return len(self.stock) - 2 * len(self.draws)

    @property
    def looked_at(self) -> Card | None:
        """In the draw phase the top card, which the seat on turn looks at before it decides."""
        return self.stock[2 * len(self.draws)] if self.phase is Phase.DRAWING else None

    @property
    def discards(self) -> tuple[Discard, ...]:
        """What was thrown in the draw phase, in order."""
        return discards_of(self.ruleset, self.dealer, self.stock, self.draws)

    @property
    def last_trick(self) -> Trick | None:
        """The last complete trick."""
        players = self.table.players
        end = len(self.plays) - len(self.plays) % players
        if not end:
            return None
        cards = self.plays[end - players : end]
        leader = (self.leader - winning_place(_pack(self.ruleset), cards)) % players
        seats = self.table.from_(self.table.seats[leader])
        return Trick(end // players, seats[0], tuple(zip(seats, cards, strict=True)), self.table.seats[self.leader])

    @property
    def trick(self) -> Trick | None:
        """The current trick; None outside the play."""
        if self.phase is not Phase.PLAYING:
            return None
        seats = self.table.from_(self.table.seats[self.leader])
        return Trick(self.trick_number, seats[0], tuple(zip(seats, self.trick_cards, strict=False)))

    def hand(self, seat: str) -> tuple[Card, ...]:
        """The cards that a seat holds, in order."""
        return cards_of(self.hands[self.table.index(seat)])

    def kept(self, turn: int) -> Card:
        """The card that went into the hand in a draw turn, from 0."""
        return self.stock[2 * turn + (self.draws[turn] == _DECLINED)]

    def bids_by_seat(self) -> dict[str, Bid]:
        """The bids made so far."""
        return {seat: bid for seat, bid in zip(self.table.seats, self.bids, strict=True) if bid is not None}

    def tricks_by_seat(self) -> dict[str, int]:
        """Tricks taken by each seat."""
        return dict(zip(self.table.seats, self.taken, strict=True))

    def legal(self) -> list[dict[str, Any]]:
        """The requests that the seat on turn could make now, in the order of the lists in docs/rules.md#order."""
        phase = self.phase
        if phase is Phase.DRAWING:
            return [{"decision": DrawDecision.KEEP.value}, {"decision": DrawDecision.DECLINE.value}]
        if phase is Phase.BIDDING:
            return [bid.to_json() for bid in legality.legal_bids(self.ruleset)]
        if phase is Phase.PLAYING:
            return [{"card": card.code} for card in cards_of(self.legal_cards())]
        return []

    def legal_cards(self) -> int:
        """The cards that the seat on turn may play, as a mask."""
        turn = (self.leader + len(self.trick_cards)) % self.table.players
        return legality.legal_cards(
            self.ruleset,
            _pack(self.ruleset),
            self.hands[turn],
            self.trick_cards,
            trick_number=self.trick_number,
            spades_broken=self.spades_broken,
        )

    # Going on.

    def draw(self, seat: str, decision: DrawDecision) -> Deal:
        """Keep or decline the card that `seat` looks at. The other of the two goes to the discard pile.

        Raises:
            RuleViolation: not its turn, another phase, or a decision that the rules refuse.

        Source: docs/rules.md#draw
        """
        place = self._require_turn(seat, Phase.DRAWING)
        refusal = legality.draw_refusal(decision)
        if refusal:
            raise refusal
        declined = decision is DrawDecision.DECLINE
        card = self.stock[2 * len(self.draws) + declined]
        hands = _changed(self.hands, place, self.hands[place] | card.bit)
        return replace(self, draws=self.draws + (_DECLINED if declined else _KEPT), hands=hands)

    def bid(self, seat: str, bid: Bid) -> Deal:
        """Place a seat's bid.

        Raises:
            RuleViolation: not its turn, another phase, or a bid that the ruleset forbids.

        Source: docs/rules.md#bids
        """
        if self.bids[self.table.index(seat)] is not None and self.phase is Phase.BIDDING:
            raise RuleViolation(Reason.ALREADY_BID, "You have bid in this deal, and a bid is final.")
        place = self._require_turn(seat, Phase.BIDDING)
        refusal = legality.bid_refusal(self.ruleset, bid)
        if refusal:
            raise refusal
        return replace(self, bids=_changed(self.bids, place, bid))

    def play(self, seat: str, card: Card) -> Deal:
        """Play a card to the current trick; the last card of a trick also decides who leads the next.

        Raises:
            RuleViolation: not its turn, another phase, or a card that the rules forbid.

        Source: docs/rules.md#leading and docs/rules.md#following
        """
        place = self._require_turn(seat, Phase.PLAYING)
        cards, trick = _pack(self.ruleset), self.trick_cards
        refusal = legality.card_refusal(
            self.ruleset,
            cards,
            self.hands[place],
            card,
            trick,
            trick_number=self.trick_number,
            spades_broken=self.spades_broken,
        )
        if refusal:
            raise refusal
        players, leader, taken = self.table.players, self.leader, self.taken
        if len(trick) + 1 == players:
            leader = (leader + winning_place(cards, (*trick, card))) % players
            taken = _changed(taken, leader, taken[leader] + 1)
        return replace(
            self,
            plays=(*self.plays, card),
            hands=_changed(self.hands, place, self.hands[place] ^ card.bit),
            leader=leader,
            taken=taken,
            spades_broken=self.spades_broken or breaks_spades(self.ruleset, cards, trick, card),
        )

    def _require_turn(self, seat: str, phase: Phase) -> int:
        """The place of `seat`, which is on turn in `phase`."""
        turn = self.turn
        if seat != turn:
            detail = "The deal is finished." if turn is None else f"It is the turn of seat {turn}, not of seat {seat}."
            raise RuleViolation(Reason.NOT_YOUR_TURN, detail)
        if self.phase is not phase:
            detail = f"The deal is {self.phase.value}: seat {seat} has to {self.action}."
            raise RuleViolation(Reason.WRONG_PHASE, detail)
        return self.table.index(seat)


def discards_of(ruleset: Ruleset, dealer: str, stock: tuple[Card, ...], draws: str) -> tuple[Discard, ...]:
    """What was thrown in the draw turns so far, in order. Arguments as the attributes of a `Deal`."""
    seating = table(ruleset.players, ruleset.teams)
    seats = seating.from_(dealer)
    faces = {
        _KEPT: "up" if ruleset.draw_second_card == "face_up" else "down",
        _DECLINED: "up" if ruleset.draw_declined_face == "up" else "down",
    }
    discards = []
    for turn, decision in enumerate(draws):
        seat = seats[(turn + 1) % len(seats)]
        kept = decision == _KEPT
        if faces[decision] == "up":
            visible_to = seating.seats
        else:
            visible_to = () if kept and ruleset.draw_second_card == "unseen" else (seat,)
        discards.append(
            Discard(turn + 1, seat, _DECISIONS[decision], faces[decision], stock[2 * turn + kept], visible_to)
        )
    return tuple(discards)


def _pack(ruleset: Ruleset) -> Pack:
    return pack(ruleset.jokers, ruleset.removed_cards, ruleset.high_trumps)


def _changed(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    return (*values[:place], value, *values[place + 1 :])
