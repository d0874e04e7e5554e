"""One deal, from the first card to the last trick. Each step returns a new `Deal`; a refused step changes nothing.

What happened is kept as it happened (the stock, the decisions, the cards given, the bids, the cards in order); hands,
tricks, the turn and whether spades are broken follow from it, so they can never disagree with it. What is asked again
and again is worked out once for each deal, since a deal never changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from spades import legality
from spades.bids import Bid, BidKind
from spades.cards import Card, cards_of, codes_of, each_its_own, held
from spades.errors import NotationError, Reason, Rule, RuleViolation
from spades.legality import Bidder, DrawDecision
from spades.ruleset import Ruleset
from spades.seats import Table
from spades.shuffle import Seed
from spades.terms import Terms, terms
from spades.tricks import Trick, breaks_spades, first_leader, winning_place

__all__ = ["Deal", "Discard", "Exchange", "Phase", "after_plays", "discards_of", "stock_of"]


class Phase(StrEnum):
    """Where a deal stands."""

    DRAWING = "drawing"
    PASSING = "passing"
    BIDDING = "bidding"
    EXCHANGING = "exchanging"
    PLAYING = "playing"
    FINISHED = "finished"


_KEPT, _DECLINED = "k", "d"
_DECISIONS = {_KEPT: DrawDecision.KEEP, _DECLINED: DrawDecision.DECLINE}

T = TypeVar("T")


class _Once(Generic[T]):
    """A property that is worked out once for each deal and kept among its attributes.

    `functools.cached_property` does the same, in Python 3.11 under a lock that costs more than most of what is kept.
    """

    def __init__(self, work: Callable[[Any], T]) -> None:
        self.work, self.name, self.__doc__ = work, work.__name__, work.__doc__

    def __get__(self, deal: Any, owner: type[Any]) -> T:
        value = deal.__dict__[self.name] = self.work(deal)
        return value


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
class Exchange:
    """So many cards that a nil bidder and its partner exchange; both by their places."""

    bidder: int
    partner: int
    count: int
    rule: Rule

    @property
    def places(self) -> tuple[int, int]:
        """The bidder's place, then the partner's."""
        return self.bidder, self.partner


@dataclass(frozen=True)  # without slots, so that what is worked out once has a place
class Deal:
    """A deal in progress or finished. Made by `Deal.begin`, or by `Deal.restore` from what was kept.

    >>> rules = Ruleset.resolve({"preset": "mirror"})
    >>> deal = Deal.begin(rules, number=1, attempt=1, dealer="N", seed=Seed(bytes(32)))
    >>> deal.phase.value, deal.turn, {seat: str(bid) for seat, bid in deal.bids_by_seat().items()}
    ('playing', 'E', {'N': '4', 'E': '4', 'S': '4', 'W': '1'})
    """

    ruleset: Ruleset
    number: int
    attempt: int
    dealer: str
    seed: Seed
    stock: tuple[Card, ...]
    """The shuffled pack, top first, as it lay before anything was drawn or dealt."""
    behind: int
    """The places whose side may bid a blind nil by the score, as a mask."""
    draws: str
    """The decisions of the draw turns so far, ``k`` keep or ``d`` decline."""
    passes: tuple[int, ...]
    """By place, the cards chosen to be passed, as masks; nothing while a seat has not chosen."""
    looks: int
    """The places that looked at their hands and gave up a blind bid by it, as a mask."""
    bids: tuple[Bid | None, ...]
    """By place: bids, sealed bids, and the proposals of partners who have not closed yet."""
    hints: tuple[int | None, ...]
    """By place, the most that a proposal said its seat would go to."""
    reconsidered: int
    """The places of those who sent a proposal back, as a mask."""
    gives: tuple[int, ...]
    """By place, the cards given in an exchange, as masks."""
    plays: tuple[Card, ...]
    """Every card played, in order."""
    hands: tuple[int, ...]
    """By place of the seat, the cards held now, as masks."""
    taken: tuple[int, ...]
    """By place of the seat, tricks taken."""
    leader: int
    """The place of the seat that leads, or led, the current trick. Before the play it means nothing."""
    spades_broken: bool

    # Making one.

    @classmethod
    def begin(cls, ruleset: Ruleset, *, number: int, attempt: int, dealer: str, seed: Seed, behind: int = 0) -> Deal:
        """Shuffle and lay out a deal.

        Args:
            number: the deal's number in its game, from 1.
            attempt: 1, and one more after each redeal of the same number.
            behind: the places that may bid a blind nil by the score, as `legality.behind` gives them.
        """
        stock = seed.shuffled(terms(ruleset).pack.deck)
        if ruleset.decks > 1:  # so that of two identical cards the upper one is the first pack's
            stock = each_its_own(stock, ruleset.decks)
        return _settled(cls._laid_out(ruleset, number, attempt, dealer, seed, stock, behind))

    @classmethod
    def restore(
        cls,
        ruleset: Ruleset,
        *,
        number: int,
        attempt: int,
        dealer: str,
        seed: Seed,
        stock: Sequence[Card],
        behind: int = 0,
        draws: str = "",
        passes: tuple[int, ...] = (),
        looks: int = 0,
        bids: tuple[Bid | None, ...] = (),
        hints: tuple[int | None, ...] = (),
        reconsidered: int = 0,
        gives: tuple[int, ...] = (),
        plays: Sequence[Card] = (),
    ) -> Deal:
        """The deal that had these steps, which were checked when they were taken.

        Args:
            stock: the whole pack as it lay, the top first. Where hands are dealt the cards go round one by one, from
                the seat on the dealer's left; where they are drawn each turn takes two.
            behind: as in `begin`.
            draws: a letter for each draw turn, ``k`` keep or ``d`` decline.
            passes: by place, the cards that were passed, as masks (`Hand.mask`).
            looks: the places that looked before they bid, as a mask, bit 0 for the first seat.
            bids: by place; None for whoever has not bid.
            hints: by place, what came with the proposals.
            reconsidered: the places that sent a proposal back, as a mask.
            gives: by place, the cards given in an exchange, as masks.
            plays: every card played, in order.

        Raises:
            NotationError: the stock is not the whole pack of this ruleset.
        """
        facts = terms(ruleset)
        own = each_its_own(stock, ruleset.decks)
        if set(own) != set(facts.pack.deck):
            raise NotationError("the stock is not the whole pack of this ruleset, each card once")
        deal = cls._laid_out(ruleset, number, attempt, dealer, seed, own, behind)
        players = ruleset.players
        hands = list(deal.hands)
        first = (facts.table.index(dealer) + 1) % players
        for turn, decision in enumerate(draws):
            hands[(first + turn) % players] |= own[2 * turn + (decision == _DECLINED)].bit
        deal = replace(
            deal,
            draws=draws,
            passes=passes or deal.passes,
            looks=looks,
            bids=bids or deal.bids,
            hints=hints or deal.hints,
            reconsidered=reconsidered,
            gives=gives or deal.gives,
            hands=tuple(hands),
        )
        if any(deal.passes) and deal.all_passed:
            deal = _after_passing(deal)
        for exchange in deal.exchanges:
            deal = _after_gift(_after_gift(deal, exchange, bidder=True), exchange, bidder=False)
        deal = _settled(deal)
        return after_plays(deal, plays) if plays else deal

    @classmethod
    def dealt(
        cls,
        ruleset: Ruleset,
        hands: Mapping[str, Iterable[Card]],
        *,
        dealer: str,
        number: int = 1,
        bids: Mapping[str, Bid] | None = None,
        plays: Sequence[Card] = (),
    ) -> Deal:
        """A deal in which the seats were dealt these hands, for whoever has no shuffle: a deal from elsewhere, a guess.

        Args:
            hands: by seat, all of its cards as they were dealt.
            number: the deal's number in its game, from 1.
            bids: by seat, the bids that were made.
            plays: the cards that were played, in order. Neither they nor the bids are checked.

        Raises:
            NotationError: the hands are not such as this ruleset deals.

        >>> rules = Ruleset.resolve(
        ...     {"preset": "books", "removed_cards": [f"{rank}{suit}" for rank in "23456789TJQ" for suit in "CDHS"]}
        ... )
        >>> hands = {"N": "AC KC", "E": "AD KD", "S": "AH KH", "W": "AS KS"}
        >>> hands = {seat: [Card.parse(code) for code in codes.split()] for seat, codes in hands.items()}
        >>> deal = Deal.dealt(rules, hands, dealer="N", plays=[Card.parse("KD")])
        >>> deal.turn, deal.legal()
        ('S', [{'card': 'KH'}, {'card': 'AH'}])
        """
        made = bids or {}
        return cls.restore(
            ruleset,
            number=number,
            attempt=1,
            dealer=dealer,
            seed=Seed(bytes(32)),
            stock=stock_of(ruleset, dealer, hands),
            bids=tuple(made.get(seat) for seat in terms(ruleset).table.seats),
            plays=plays,
        )

    @classmethod
    def _laid_out(
        cls,
        ruleset: Ruleset,
        number: int,
        attempt: int,
        dealer: str,
        seed: Seed,
        stock: tuple[Card, ...],
        behind: int,
    ) -> Deal:
        facts = terms(ruleset)
        players = ruleset.players
        hands = [0] * players
        first = facts.table.index(dealer) + 1
        if facts.dealing:
            dealt = stock[: ruleset.hand_size * players]
            for place in range(players):
                hands[(first + place) % players] = sum([card.bit for card in dealt[place::players]])
        nobody = (0,) * players
        return cls(
            ruleset=ruleset,
            number=number,
            attempt=attempt,
            dealer=dealer,
            seed=seed,
            stock=stock,
            behind=behind,
            draws="",
            passes=nobody,
            looks=0,
            bids=(None,) * players,
            hints=(None,) * players,
            reconsidered=0,
            gives=nobody,
            plays=(),
            hands=tuple(hands),
            taken=nobody,
            leader=first % players,
            spades_broken=False,
        )

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what follows from them is worked out anew wherever the deal is unpickled or copied."""
        return {name: self.__dict__[name] for name in _FIELDS}

    # Reading one.

    @_Once
    def _facts(self) -> Terms:
        return terms(self.ruleset)

    @property
    def table(self) -> Table:
        """The seats and sides."""
        return self._facts.table

    @property
    def dealer_place(self) -> int:
        """The dealer's place."""
        return self.table.index(self.dealer)

    @property
    def draw_turns(self) -> int:
        """How many draw turns the deal has in all."""
        return len(self.stock) // 2 if self._facts.drawing else 0

    @_Once
    def phase(self) -> Phase:
        """Where the deal stands."""
        if self.plays:
            return Phase.PLAYING if any(self.hands) or len(self.trick_cards) else Phase.FINISHED
        if len(self.draws) < self.draw_turns:
            return Phase.DRAWING
        if not self.all_passed:
            return Phase.PASSING
        if None in self.bids and self._facts.bids_in(self.number):
            return Phase.BIDDING
        return Phase.PLAYING if self.exchange is None else Phase.EXCHANGING

    @_Once
    def turns(self) -> tuple[str, ...]:
        """The seats that the table waits for: one, or several where they act without knowing of each other."""
        seats = self.table.seats
        return tuple(seats[place] for place in self._waiting)

    @property
    def turn(self) -> str | None:
        """The first of `turns`; None when the deal is finished."""
        places = self._waiting
        return self.table.seats[places[0]] if places else None

    @_Once
    def _waiting(self) -> Sequence[int]:
        """The places of `turns`."""
        players, phase = self.ruleset.players, self.phase
        if phase is Phase.PLAYING:
            return ((self.leader + len(self.plays)) % players,)
        if phase is Phase.DRAWING:
            return ((self.dealer_place + 1 + len(self.draws)) % players,)
        if phase is Phase.PASSING:
            return [place for place, cards in enumerate(self.passes) if not cards]
        if phase is Phase.BIDDING:
            facts = self._facts
            if facts.sealed:
                return [place for place, bid in enumerate(self.bids) if bid is None]
            return (next(place for place in facts.bid_order(self.dealer_place) if self.bids[place] is None),)
        exchange = self.exchange if phase is Phase.EXCHANGING else None
        if exchange is None:
            return ()
        waiting = [place for place in exchange.places if not self.gives[place]]
        return sorted(waiting) if self._facts.blind_exchange else waiting[:1]

    @property
    def action(self) -> str | None:
        """What the table waits for, as whoever is not on turn is told it.

        ``draw``, ``pass``, ``look`` where none of the seats on turn has seen its hand, ``propose_bid``, ``bid``,
        ``give_cards`` or ``play``; None when the deal is finished.
        """
        phase = self.phase
        if phase in _ACTIONS:
            return _ACTIONS[phase]
        actions = {self._action_at(place) for place in self._waiting}
        if len(actions) == 1:
            return actions.pop()
        return "pass" if phase is Phase.PASSING else "bid"

    def action_of(self, seat: str) -> str | None:
        """What a seat has to do, to which its `legal` belongs: as `action`, which it is for a seat not on turn.

        Seats that act without knowing of each other may have different things to do. A seat that has not seen its hand
        has to ``look``, or to ``bid`` blind; only where a partner's bid forbids it to look it is told to ``bid``.
        """
        place = self.table.index(seat)
        if self.phase in _ACTIONS or place not in self._waiting:
            return self.action
        return self._action_at(place)

    def _action_at(self, place: int) -> str:
        """What the seat at a place has to do, which is on turn while cards are passed or bids made."""
        if not self.has_seen(place):
            return "bid" if self._look_refusal(place) else "look"
        if self.phase is Phase.PASSING:
            return "pass"
        return "propose_bid" if self._proposes(place) else "bid"

    @property
    def trick_number(self) -> int:
        """The number of the current trick, from 1; the last one's when the deal is finished."""
        return min(len(self.plays) // self.ruleset.players + 1, self.ruleset.hand_size)

    @property
    def trick_cards(self) -> tuple[Card, ...]:
        """The cards of the current trick in order of play; empty when it waits for its lead."""
        plays = self.plays
        return plays[len(plays) - len(plays) % self.ruleset.players :]

    @property
    def stock_count(self) -> int:
        """Cards left in the stock: of a draw, or those that nobody was dealt."""
        if self._facts.drawing:
            return len(self.stock) - 2 * len(self.draws)
        return len(self.stock) - self.ruleset.hand_size * self.ruleset.players

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
        players = self.ruleset.players
        end = len(self.plays) - len(self.plays) % players
        if not end:
            return None
        facts = self._facts
        cards = self.plays[end - players : end]
        leader = (self.leader - winning_place(facts.pack, cards, self.ruleset.duplicate_winner)) % players
        seats = facts.table.from_(facts.table.seats[leader])
        return Trick(end // players, seats[0], tuple(zip(seats, cards, strict=True)), facts.table.seats[self.leader])

    @property
    def trick(self) -> Trick | None:
        """The current trick; None outside the play."""
        if self.phase is not Phase.PLAYING:
            return None
        seats = self.table.from_(self.table.seats[self.leader])
        return Trick(self.trick_number, seats[0], tuple(zip(seats, self.trick_cards, strict=False)))

    @property
    def pass_count(self) -> int:
        """How many cards each seat passes in this deal before it is bid; 0 where none are passed."""
        return self.ruleset.pass_count if self._facts.pass_step(self.number) else 0

    @property
    def all_passed(self) -> bool:
        """Whether no card is, or is any more, to be passed."""
        return all(self.passes) or not self.pass_count

    @_Once
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges that the bids call for, in order: the side of the seat on the dealer's left first.

        Two partners who both bid nil exchange nothing. Empty until all bids are in.

        Source: docs/rules.md#exchange
        """
        facts = self._facts
        if not facts.exchanging or None in self.bids:
            return ()
        found: dict[int, Exchange | None] = {}
        for place in _from_left(self.ruleset, self.dealer_place):
            (partner,) = facts.partners[place]
            if partner not in found:
                found[place] = self._exchange_between(place, partner)
        return tuple(exchange for exchange in found.values() if exchange is not None)

    def _exchange_between(self, place: int, partner: int) -> Exchange | None:
        for bidder, other in ((place, partner), (partner, place)):
            bid, beside = self.bids[bidder], self.bids[other]
            if bid is None or beside is None or not bid.is_nil or beside.is_nil:
                continue
            option = "blind_nil_exchange" if bid.kind is BidKind.BLIND_NIL else "nil_exchange"
            count = getattr(self.ruleset, option)
            return Exchange(bidder, other, count, Rule(option, count, "exchange")) if count else None
        return None

    @_Once
    def exchange(self) -> Exchange | None:
        """The exchange that is going on; None when there is none or all are done."""
        for exchange in self.exchanges:
            if not (self.gives[exchange.bidder] and self.gives[exchange.partner]):
                return exchange
        return None

    def hand(self, seat: str) -> tuple[Card, ...]:
        """The cards that a seat holds, in order, whether it has seen them or not."""
        return cards_of(self.hands[self.table.index(seat)])

    def has_seen(self, place: int) -> bool:
        """Whether the seat at `place` has seen its hand: always, unless a blind bid is still open to it.

        Source: docs/rules.md#blind
        """
        facts = self._facts
        if not facts.blind_bids or self.plays or self.bids[place] is not None or self.looks >> place & 1:
            return True
        if self.phase not in (Phase.PASSING, Phase.BIDDING) or not facts.bids_in(self.number):
            return True
        return not self._open_bids(place, seen=False)

    def is_sealed(self, place: int) -> bool:
        """Whether the bid of a place is made and nobody else may know it yet."""
        return self._facts.sealed and None in self.bids and self.bids[place] is not None

    def is_proposal(self, place: int) -> bool:
        """Whether the bid of a place waits for a partner to close the contract. A blind bid is final at once."""
        facts, bid = self._facts, self.bids[place]
        if not facts.partnership or bid is None or bid.is_blind:
            return False
        return any(self.bids[partner] is None for partner in facts.partners[place])

    def public_bid(self, place: int) -> Bid | None:
        """The bid of a place as the table knows it: neither sealed nor a proposal."""
        return None if self.is_sealed(place) or self.is_proposal(place) else self.bids[place]

    def may_call_redeal(self, seat: str) -> bool:
        """Whether `seat` could ask for another deal now."""
        offered = self._facts.redeal and not self.plays
        return offered and self._redeal_refusal(self.table.index(seat)) is None

    def given(self, place: int) -> tuple[Card, ...]:
        """The cards that a place gave away in this deal, or chose to, in order; one that went twice stands twice."""
        return cards_of(self.passes[place]) + cards_of(self.gives[place])

    def received(self, place: int) -> tuple[Card, ...]:
        """The cards that a place was given in this deal, in order; one that came twice stands twice."""
        facts = terms(self.ruleset)
        cards: tuple[Card, ...] = ()
        if any(self.passes) and self.all_passed:
            cards = cards_of(self.passes[(place - facts.pass_step(self.number)) % self.ruleset.players])
        for exchange in self.exchanges:
            if place in exchange.places and (_moved(self, exchange) or not facts.blind_exchange):
                cards += cards_of(self.gives[exchange.partner if place == exchange.bidder else exchange.bidder])
        return cards

    def kept(self, turn: int) -> Card:
        """The card that went into the hand in a draw turn, from 0."""
        return self.stock[2 * turn + (self.draws[turn] == _DECLINED)]

    def first_hands(self) -> tuple[int, ...]:
        """By place, the cards as they were dealt, or have been drawn so far, before any were given away."""
        facts, players = self._facts, self.ruleset.players
        hands = [0] * players
        if facts.dealing:
            for place, card in enumerate(self.stock[: self.ruleset.hand_size * players]):
                hands[(self.dealer_place + 1 + place) % players] |= card.bit
        for turn in range(len(self.draws)):
            hands[(self.dealer_place + 1 + turn) % players] |= self.kept(turn).bit
        return tuple(hands)

    def bids_by_seat(self) -> dict[str, Bid]:
        """The bids made so far, sealed ones and proposals too."""
        return {seat: bid for seat, bid in zip(self.table.seats, self.bids, strict=True) if bid is not None}

    def tricks_by_seat(self) -> dict[str, int]:
        """Tricks taken by each seat."""
        return dict(zip(self.table.seats, self.taken, strict=True))

    def legal(self, seat: str | None = None) -> list[dict[str, Any]]:
        """The requests that a seat on turn could make now, in the order of the lists in docs/rules.md#order.

        Args:
            seat: by default the first of those on turn.

        Returns:
            Nothing for a seat that is not on turn.
        """
        waiting = self._waiting
        if not waiting:
            return []
        place = waiting[0] if seat is None else self.table.index(seat)
        if place not in waiting:
            return []
        phase = self.phase
        if phase is Phase.PLAYING:
            return [{"card": code} for code in dict.fromkeys(codes_of(self.legal_cards()))]
        if phase is Phase.DRAWING:
            return [{"decision": DrawDecision.KEEP.value}, {"decision": DrawDecision.DECLINE.value}]
        if phase is Phase.EXCHANGING:
            count = self.exchange.count if self.exchange else 0
            return [{"choose": count, "from": codes_of(self.hands[place])}]
        seen = self.has_seen(place)
        if phase is Phase.PASSING and seen:
            return [{"choose": self.pass_count, "from": codes_of(self.hands[place])}]
        bodies = [bid.to_json() for bid in self._open_bids(place, seen=seen)]
        if not seen and self._look_refusal(place) is None:
            return [{"look": True}, *bodies]
        if not self._facts.partnership or self._reconsider_refusal(place):
            return bodies
        return [*bodies, {"kind": "reconsider"}]

    def legal_bids(self, seat: str | None = None) -> tuple[Bid, ...]:
        """The bids that a seat on turn may make now; none while it has something else to do.

        Args:
            seat: by default the first of those on turn.

        Returns:
            In order: nil, plain zero, numbers rising, blind bids. Nothing for a seat that is not on turn.
        """
        waiting, phase = self._waiting, self.phase
        if not waiting or phase not in (Phase.PASSING, Phase.BIDDING):
            return ()
        place = waiting[0] if seat is None else self.table.index(seat)
        seen = self.has_seen(place)
        if place not in waiting or (phase is Phase.PASSING and seen):
            return ()
        return self._open_bids(place, seen=seen)

    def _open_bids(self, place: int, *, seen: bool) -> tuple[Bid, ...]:
        return legality.legal_bids(self.ruleset, self._bidder(place, seen=seen))

    def legal_cards(self) -> int:
        """The cards that the seat on turn may play, as a mask."""
        return self._playable

    @_Once
    def _playable(self) -> int:
        trick = self.trick_cards
        return legality.legal_cards(
            self.ruleset,
            self._facts.pack,
            self.hands[(self.leader + len(trick)) % self.ruleset.players],
            trick,
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
        return _settled(_with(self, draws=self.draws + (_DECLINED if declined else _KEPT), hands=hands))

    def look(self, seat: str) -> Deal:
        """Look at the hand and give up the blind bid. It needs no turn.

        Raises:
            RuleViolation: the hand has been seen, another phase, or a partner's blind bid that needs this one blind.

        Source: docs/rules.md#blind
        """
        place = self.table.index(seat)
        refusal = self._look_refusal(place)
        if refusal:
            raise refusal
        return _with(self, looks=self.looks | 1 << place)

    def pass_cards(self, seat: str, cards: Iterable[Card]) -> Deal:
        """Give cards away: in the passing phase to the seat that the cycle names, in an exchange to the partner.

        Cards that are passed, and those of a blind exchange, stay where they are until the last seat has chosen.

        Raises:
            RuleViolation: not its turn, another phase, the hand not looked at, the wrong number of cards, or one that
                is not in the hand.

        Source: docs/rules.md#passing, docs/rules.md#exchange
        """
        waiting, place, phase = self._waiting, self.table.index(seat), self.phase
        if place not in waiting:
            raise self._not_your_turn(seat)
        self._require_seen(place)
        if phase not in (Phase.PASSING, Phase.EXCHANGING):
            raise self._wrong_phase(seat)
        own = self._own(place, cards)
        exchange = self.exchange if phase is Phase.EXCHANGING else None
        count = exchange.count if exchange else self.pass_count
        rule = exchange.rule if exchange else Rule("pass_count", count, "passing")
        refusal = legality.pass_refusal(self.hands[place], own, count, rule)
        if refusal:
            raise refusal
        mask = sum(card.bit for card in own)
        if exchange is None:
            passed = _with(self, passes=_changed(self.passes, place, mask))
            return _settled(_after_passing(passed)) if passed.all_passed else passed
        given = _with(self, gives=_changed(self.gives, place, mask))
        if self._facts.blind_exchange:
            return _settled(_after_gift(_after_gift(given, exchange, bidder=True), exchange, bidder=False))
        return _settled(_after_gift(given, exchange, bidder=place == exchange.bidder))

    def bid(self, seat: str, bid: Bid, hint_max: int | None = None) -> Deal:
        """Place a seat's bid, or propose it where partners settle a contract and others of the side are still to bid.

        Args:
            hint_max: with a proposal, the most that the seat would go to if the partner reconsiders.

        Raises:
            RuleViolation: not its turn, another phase, a bid that the rules forbid, or a hint that goes with no
                proposal (`wrong_phase`), is lower than the bid or higher than any (`bid_out_of_range`).

        Source: docs/rules.md#bids
        """
        place, phase = self.table.index(seat), self.phase
        if phase in (Phase.PASSING, Phase.BIDDING) and self.bids[place] is not None and not self.is_proposal(place):
            raise RuleViolation(Reason.ALREADY_BID, "You have bid in this deal, and a bid is final.")
        if place not in self._waiting:
            raise self._not_your_turn(seat)
        seen = self.has_seen(place)
        if phase is not Phase.BIDDING and (phase is not Phase.PASSING or seen):
            raise self._wrong_phase(seat)
        refusal = legality.seat_bid_refusal(self.ruleset, self._bidder(place, seen=seen), bid)
        if refusal:
            raise refusal
        if hint_max is not None:
            self._require_hint(place, bid, hint_max)
        return _settled(_with(self, bids=_changed(self.bids, place, bid), hints=_changed(self.hints, place, hint_max)))

    def reconsider(self, seat: str) -> Deal:
        """Send the partners' proposals back instead of closing the contract, which a side may do once in a deal.

        Raises:
            RuleViolation: not its turn, the hand not looked at, or nothing to reconsider.

        Source: docs/rules.md#bids
        """
        place = self.table.index(seat)
        if place not in self._waiting:
            raise self._not_your_turn(seat)
        self._require_seen(place)
        refusal = self._reconsider_refusal(place)
        if refusal:
            raise refusal
        bids, hints = self.bids, self.hints
        for partner in self._facts.partners[place]:
            if self.is_proposal(partner):
                bids, hints = _changed(bids, partner, None), _changed(hints, partner, None)
        return _with(self, bids=bids, hints=hints, reconsidered=self.reconsidered | 1 << place)

    def require_redeal(self, seat: str) -> None:
        """Refuse a call for another deal, unless `seat` may make it now.

        Raises:
            RuleViolation: the hand not looked at, or `redeal_not_allowed`.

        Source: docs/rules.md#redeal
        """
        refusal = self._redeal_refusal(self.table.index(seat))
        if refusal:
            raise refusal

    def play(self, seat: str, card: Card) -> Deal:
        """Play a card to the current trick; the last card of a trick also decides who leads the next.

        Raises:
            RuleViolation: not its turn, another phase, or a card that the rules forbid.

        Source: docs/rules.md#leading and docs/rules.md#following
        """
        place = self._require_turn(seat, Phase.PLAYING)
        hand = self.hands[place]
        if self.ruleset.decks > 1:
            card = held(hand, card)
        if not self._playable & card.bit:
            raise self._card_refusal(hand, card)
        return after_plays(self, (card,))

    # What steps ask.

    def _own(self, place: int, cards: Iterable[Card]) -> list[Card]:
        """The cards, of two identical ones those that the place holds."""
        own: list[Card] = []
        hand = self.hands[place]
        for named in cards:
            card = held(hand, named) if self.ruleset.decks > 1 else named
            hand &= ~card.bit
            own.append(card)
        return own

    def _card_refusal(self, hand: int, card: Card) -> RuleViolation:
        """Why a card that is not legal may not be played."""
        refusal = legality.card_refusal(
            self.ruleset,
            self._facts.pack,
            hand,
            card,
            self.trick_cards,
            trick_number=self.trick_number,
            spades_broken=self.spades_broken,
        )
        assert refusal is not None  # noqa: S101 -- both ask the same duties
        return refusal

    def _bidder(self, place: int, *, seen: bool) -> Bidder:
        facts = self._facts
        counts = facts.whiz and seen
        return Bidder(
            place=place,
            bids=self.bids,
            order=facts.bid_order(self.dealer_place),
            spades=(self.hands[place] & facts.pack.spades).bit_count() if counts else None,
            seen=seen,
            looked=self.looks,
            behind=self.behind,
            early=bool(facts.blind_bids) and self.phase is Phase.PASSING,
        )

    def _proposes(self, place: int) -> bool:
        """Whether a bid of `place` would leave partners still to bid."""
        facts = self._facts
        return facts.partnership and any(self.bids[partner] is None for partner in facts.partners[place])

    def _require_hint(self, place: int, bid: Bid, hint_max: int) -> None:
        rule, most = Rule("bid_mode", self.ruleset.bid_mode, "bids"), self.ruleset.max_bid or 0
        if bid.is_blind or not self._proposes(place):
            detail = "Only a proposal may have a hint, and this bid is final: no partner is to answer it."
            raise RuleViolation(Reason.WRONG_PHASE, detail, rule)
        if not bid.tricks <= hint_max <= most:
            detail = (
                f"A hint says how far beyond its bid a seat would go, so with this one it is {bid.tricks} to {most}."
            )
            raise RuleViolation(Reason.BID_OUT_OF_RANGE, detail, rule)

    def _look_refusal(self, place: int) -> RuleViolation | None:
        facts = self._facts
        if self.phase not in (Phase.PASSING, Phase.BIDDING):
            return self._wrong_phase(self.table.seats[place])
        if self.has_seen(place):
            return RuleViolation(Reason.HAND_ALREADY_SEEN, "You see your hand already.")
        partners = [bid for other in facts.units[place] if (bid := self.bids[other]) is not None]
        if any(bid.kind is BidKind.BLIND for bid in partners):
            detail = "Your partner bid a number blind, so you bid blind too."
            rule = Rule("blind_bid_min", self.ruleset.blind_bid_min, "blind")
            return RuleViolation(Reason.BLIND_SIDE_INCOMPLETE, detail, rule)
        return None

    def _reconsider_refusal(self, place: int) -> RuleViolation | None:
        facts, rule = self._facts, Rule("bid_mode", self.ruleset.bid_mode, "bids")
        partners = facts.partners[place]
        if self.phase is not Phase.BIDDING or not any(self.is_proposal(partner) for partner in partners):
            return RuleViolation(Reason.WRONG_PHASE, "There is no proposal of a partner to reconsider.", rule)
        if any(self.reconsidered >> other & 1 for other in (place, *partners)):
            return RuleViolation(Reason.WRONG_PHASE, "Your side has reconsidered once in this deal already.", rule)
        return None

    def _redeal_refusal(self, place: int) -> RuleViolation | None:
        facts, rule = self._facts, Rule("redeal", self.ruleset.redeal, "redeal")
        phase = self.phase
        if not self.has_seen(place):
            return self._look_first()
        early = phase in (Phase.PASSING, Phase.BIDDING) and not self.passes[place] and not any(self.bids)
        if not (facts.redeal and facts.bids_in(self.number) and early):
            detail = "A redeal may be called before anybody bids and before you pass, if the table has that rule."
            return RuleViolation(Reason.REDEAL_NOT_ALLOWED, detail, rule)
        if not legality.may_call_redeal(self.ruleset, self.hands[place]):
            return RuleViolation(Reason.REDEAL_NOT_ALLOWED, "Your hand is not one that may ask for a redeal.", rule)
        return None

    def _require_seen(self, place: int) -> None:
        if not self.has_seen(place):
            raise self._look_first()

    def _look_first(self) -> RuleViolation:
        option = "blind_nil" if self._facts.blind_nil else "blind_bid_min"
        rule = Rule(option, getattr(self.ruleset, option), "blind")
        return RuleViolation(Reason.LOOK_FIRST, "Bid blind, or look at your hand first.", rule)

    def _require_turn(self, seat: str, phase: Phase) -> int:
        """The place of `seat`, which is on turn in `phase`."""
        place = self.table.index(seat)
        if place not in self._waiting:
            raise self._not_your_turn(seat)
        if self.phase is not phase:
            raise self._wrong_phase(seat)
        return place

    def _not_your_turn(self, seat: str) -> RuleViolation:
        turns = self.turns
        if not turns:
            return RuleViolation(Reason.NOT_YOUR_TURN, "The deal is finished.")
        whose = f"seat {turns[0]}" if len(turns) == 1 else f"seats {', '.join(turns)}"
        return RuleViolation(Reason.NOT_YOUR_TURN, f"It is the turn of {whose}, not of seat {seat}.")

    def _wrong_phase(self, seat: str) -> RuleViolation:
        todo = f": seat {seat} has to {_TO_DO[self.action_of(seat) or '']}" if seat in self.turns else ""
        return RuleViolation(Reason.WRONG_PHASE, f"The deal is {self.phase.value}{todo}.")


def _with(deal: Deal, **changes: Any) -> Deal:
    """The deal with some fields changed, in a fifth of the time of `dataclasses.replace`."""
    made = object.__new__(Deal)
    known = made.__dict__
    known.update(deal.__dict__)
    for name in _WORKED_OUT:
        known.pop(name, None)
    known.update(changes)
    return made


def after_plays(deal: Deal, cards: Sequence[Card]) -> Deal:
    """With more cards played, each by the seat on turn, which may."""
    ruleset, facts = deal.ruleset, terms(deal.ruleset)
    players, pack, two_packs = ruleset.players, facts.pack, ruleset.decks > 1
    hands, taken = list(deal.hands), deal.taken
    leader, broken, trick = deal.leader, deal.spades_broken, list(deal.trick_cards)
    played = []
    for named in cards:
        place = (leader + len(trick)) % players
        card = held(hands[place], named) if two_packs else named
        hands[place] ^= card.bit
        broken = broken or breaks_spades(ruleset, pack, trick, card)
        trick.append(card)
        played.append(card)
        if len(trick) == players:
            leader = (leader + winning_place(pack, trick, ruleset.duplicate_winner)) % players
            taken = _changed(taken, leader, taken[leader] + 1)
            trick = []
    over = not trick and not any(hands)
    return _with(
        deal,
        plays=(*deal.plays, *played),
        hands=tuple(hands),
        taken=taken,
        leader=leader,
        spades_broken=broken,
        phase=Phase.FINISHED if over else Phase.PLAYING,
        _waiting=() if over else ((leader + len(trick)) % players,),
    )


def _after_passing(deal: Deal) -> Deal:
    """With all chosen cards moved at once."""
    players, step = deal.ruleset.players, terms(deal.ruleset).pass_step(deal.number)
    return _with(
        deal,
        hands=tuple(
            hand & ~deal.passes[place] | deal.passes[(place - step) % players] for place, hand in enumerate(deal.hands)
        ),
    )


def _after_gift(deal: Deal, exchange: Exchange, *, bidder: bool) -> Deal:
    """With the cards of one of the two partners moved to the other, if they move now."""
    giver, taker = exchange.places if bidder else (exchange.partner, exchange.bidder)
    cards = deal.gives[giver]
    if not cards or (terms(deal.ruleset).blind_exchange and not _moved(deal, exchange)):
        return deal
    hands = _changed(deal.hands, giver, deal.hands[giver] & ~cards)
    return _with(deal, hands=_changed(hands, taker, hands[taker] | cards))


def _settled(deal: Deal) -> Deal:
    """With whatever follows without anybody's choice: mirrored bids, and who leads the first trick."""
    facts = terms(deal.ruleset)
    if facts.mirror and None in deal.bids and deal.phase is Phase.BIDDING:
        spades = facts.pack.spades
        deal = _with(
            deal,
            bids=tuple(legality.forced_bid(deal.ruleset, (hand & spades).bit_count()) for hand in deal.hands),
        )
    if deal.phase is not Phase.PLAYING or deal.plays:
        return deal
    holders = [place for place, hand in enumerate(deal.hands) if hand & facts.pack.lowest_club]
    leader = first_leader(facts, deal.dealer_place, bids=deal.bids, holders=holders)
    return deal if leader == deal.leader else _with(deal, leader=leader)


def _moved(deal: Deal, exchange: Exchange) -> bool:
    """Whether both partners of an exchange have given."""
    return bool(deal.gives[exchange.bidder] and deal.gives[exchange.partner])


_FIELDS = tuple(field.name for field in fields(Deal))
_WORKED_OUT = tuple(name for name, value in vars(Deal).items() if isinstance(value, _Once) and name != "_facts")
"""What each step leaves to be worked out anew; the facts of the ruleset stay."""

_TO_DO = {
    "draw": "decide about a card",
    "look": "look at its hand or bid blind",
    "pass": "pass cards",
    "propose_bid": "propose a bid",
    "bid": "bid",
    "give_cards": "give its partner cards",
    "play": "play a card",
}
"""An action of the table, told in a refusal."""

_ACTIONS = {Phase.DRAWING: "draw", Phase.EXCHANGING: "give_cards", Phase.PLAYING: "play", Phase.FINISHED: None}
"""What is to do in the phases in which nobody waits with its hand unseen."""


def stock_of(ruleset: Ruleset, dealer: str, hands: Mapping[str, Iterable[Card]]) -> tuple[Card, ...]:
    """How the pack lay from which these hands were dealt; cards that nobody was dealt lie last, in listed order.

    Raises:
        NotationError: the hands are not such as this ruleset deals.
    """
    facts, held = terms(ruleset), {seat: tuple(cards) for seat, cards in hands.items()}
    if facts.drawing:
        raise NotationError("nobody is dealt a hand where hands are drawn: the stock is needed")
    seats = facts.table.seats
    if held.keys() != set(seats):
        raise NotationError(f"hands has one entry for each of {', '.join(seats)}, got {', '.join(held)}")
    order = [*facts.table.from_(dealer)[1:], dealer]
    for seat in order:
        if len(held[seat]) != ruleset.hand_size:
            raise NotationError(f"a hand has {ruleset.hand_size} cards, and seat {seat} has {len(held[seat])}")
    dealt = [held[seat][turn] for turn in range(ruleset.hand_size) for seat in order]
    left = Counter(card.code for card in facts.pack.deck)
    left.subtract(card.code for card in dealt)
    return (*dealt, *(Card.parse(code) for code in left.elements()))


def discards_of(ruleset: Ruleset, dealer: str, stock: tuple[Card, ...], draws: str) -> tuple[Discard, ...]:
    """What was thrown in the draw turns so far, in order. Arguments as the attributes of a `Deal`."""
    seating = terms(ruleset).table
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


def _from_left(ruleset: Ruleset, dealer: int) -> list[int]:
    """The places clockwise from the dealer's left."""
    return [(dealer + step) % ruleset.players for step in range(1, ruleset.players + 1)]


def _changed(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    return (*values[:place], value, *values[place + 1 :])
