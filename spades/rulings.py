"""Single questions about the rules, for whoever has no match: a whole ruleset, one situation, the answer.

A `Match` answers the same questions in the course of a game, from the same functions. Here the situation is told
instead of played, so it is only checked to be one that the table could have: cards of its deck, seats of its table,
bids that its rules know. What is wrong with a situation is told as a whole, by `SituationError`.

>>> from spades import Card, Ruleset
>>> from spades.rulings import rule_on_cards
>>> hand = [Card.parse(code) for code in ("4H", "AS")]
>>> ruling = rule_on_cards(Ruleset.resolve({}), hand, [Card.parse("KH")], trick_number=3, spades_broken=False)
>>> ruling.legal, {code: refusal.reason.value for code, refusal in ruling.refused.items()}
((Card.parse('4H'),), {'AS': 'must_follow_suit'})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from spades.bidding import nobody_bids
from spades.bids import Bid
from spades.cards import Card, Suit, cards_of, held
from spades.deal import Deal, Phase
from spades.errors import NotationError, Reason, Rule, RuleViolation
from spades.legality import (
    Bidder,
    DrawDecision,
    behind,
    bid_refusal,
    card_refusal,
    legal_bids,
    legal_cards,
    seat_bid_refusal,
)
from spades.ruleset import FirstLeader, Ruleset
from spades.shuffle import SEED_BYTES, Seed
from spades.terms import Terms, terms
from spades.tricks import breaks_spades, first_leader, winning_place

__all__ = [
    "BidRuling",
    "CardRuling",
    "DrawRuling",
    "LeaderRuling",
    "SituationError",
    "SituationFault",
    "SituationProblem",
    "TrickRuling",
    "rule_on_bid",
    "rule_on_cards",
    "rule_on_draws",
    "rule_on_leader",
    "rule_on_play",
    "rule_on_trick",
]


class SituationFault(StrEnum):
    """Why a situation is none that a table of this ruleset could have."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    NOT_ALLOWED = "not_allowed"
    OUT_OF_RANGE = "out_of_range"
    WRONG_LENGTH = "wrong_length"


@dataclass(frozen=True, slots=True)
class SituationProblem:
    """One thing wrong with a situation: where, a stable reason, a sentence, and the rule that decided if one did."""

    where: tuple[str | int, ...]
    """The argument, and the way down into it: ``("trick", 2, "card")``."""
    reason: str
    """A `SituationFault`; or, for a bid or a draw decision that the rules had refused, a `Reason`."""
    detail: str
    rule: Rule | None = None


class SituationError(NotationError):
    """A situation that no table of this ruleset could have. `problems` lists everything found, not the first alone."""

    def __init__(self, problems: tuple[SituationProblem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(f"{'/'.join(map(str, problem.where))}: {problem.detail}" for problem in self.problems)


@dataclass(frozen=True, slots=True)
class CardRuling:
    """The cards of a hand that may be played, in order, and for each of the others, by its text, why not."""

    legal: tuple[Card, ...]
    refused: Mapping[str, RuleViolation]


def rule_on_cards(
    ruleset: Ruleset,
    hand: Iterable[Card],
    trick: Iterable[Card],
    *,
    trick_number: int,
    spades_broken: bool,
    asked: Iterable[Card] = (),
) -> CardRuling:
    """Say which cards a seat on turn may play.

    Args:
        trick: the cards of the current trick in order of play; empty when the seat leads.
        trick_number: from 1.
        spades_broken: whether spades were broken before this card.
        asked: further cards to answer about; one that is not in the hand is refused as `not_in_hand`.

    Raises:
        SituationError: a card that the deck does not have, or has not so often; a trick that is complete already; more
            cards than a hand has; more tricks than a deal has.

    Source: docs/rules.md#leading, docs/rules.md#following
    """
    check = _Check(ruleset)
    named = list(trick)
    check.trick_number(trick_number)
    check.in_progress(len(named))
    played = check.cards(named, "trick")
    own = check.hand(list(hand))
    check.done()
    return _card_ruling(ruleset, own, played, trick_number, spades_broken, asked)


def _card_ruling(
    ruleset: Ruleset,
    own: Iterable[Card],
    played: Sequence[Card],
    trick_number: int,
    spades_broken: bool,
    asked: Iterable[Card],
) -> CardRuling:
    """The ruling for a hand and a trick whose cards are told from their twins."""
    pack, mask = terms(ruleset).pack, sum(card.bit for card in own)
    legal = cards_of(legal_cards(ruleset, pack, mask, played, trick_number=trick_number, spades_broken=spades_broken))
    refused = {}
    for question in (*cards_of(mask), *asked):
        card = held(mask, question)
        refusal = card_refusal(
            ruleset, pack, mask, card, played, trick_number=trick_number, spades_broken=spades_broken
        )
        if refusal:
            refused[question.code] = refusal
    return CardRuling(tuple({card.code: card.first for card in legal}.values()), refused)


def rule_on_play(
    ruleset: Ruleset,
    seat: str,
    hand: Iterable[Card],
    trick: Sequence[tuple[str, Card]],
    *,
    trick_number: int,
    spades_broken: bool,
    leader: str | None = None,
    lowest_club_in_deck: Card | None = None,
    card: Card | None = None,
) -> CardRuling:
    """Say which cards a seat may play to a trick, its turn included: out of turn each card is `not_your_turn`.

    Args:
        hand: the seat's cards, or as many of them as the question is about.
        trick: the cards on the table, each with its seat: in order of play, or in any order if `leader` is given.
        trick_number: from 1.
        spades_broken: whether spades were broken before this card.
        leader: who leads or led the trick; if not given, the first of `trick`, or `seat` itself.
        lowest_club_in_deck: to be held against this ruleset's deck, where somebody cares.
        card: one to answer about, held or not.

    Raises:
        SituationError: what is told is not possible at such a table.

    Source: docs/rules.md#leading, docs/rules.md#following

    >>> trick = [("N", Card.parse("KH"))]
    >>> hand = [Card.parse("4H"), Card.parse("AS")]
    >>> standard = Ruleset.resolve({})
    >>> rule_on_play(standard, "E", hand, trick, trick_number=3, spades_broken=False).legal
    (Card.parse('4H'),)
    >>> ruling = rule_on_play(standard, "S", hand, trick, trick_number=3, spades_broken=False)
    >>> {code: refusal.reason.value for code, refusal in ruling.refused.items()}
    {'4H': 'not_your_turn', 'AS': 'not_your_turn'}
    """
    facts, check = terms(ruleset), _Check(ruleset)
    cards = list(hand)
    check.seat(seat, "seat")
    check.trick_number(trick_number)
    check.in_progress(len(trick))
    order = check.order(trick, leader)
    played = check.cards([one for _, one in trick], "trick", field="card")
    own = check.hand(cards)
    lowest = cards_of(facts.pack.lowest_club)
    if lowest_club_in_deck is not None and lowest_club_in_deck not in lowest:
        detail = f"The lowest club of this deck is {lowest[0]}." if lowest else "This deck has no club."
        check.add(SituationFault.NOT_ALLOWED, detail, "lowest_club_in_deck")
    check.done()
    asked = () if card is None else (card,)
    turn = facts.table.after(trick[order[-1]][0]) if trick else leader or seat
    if turn == seat:
        in_order = [played[place] for place in order]
        return _card_ruling(ruleset, own, in_order, trick_number, spades_broken, asked)
    refusal = RuleViolation(Reason.NOT_YOUR_TURN, f"It is the turn of seat {turn}, not of seat {seat}.")
    return CardRuling((), {one.code: refusal for one in (*sorted(own), *asked)})


@dataclass(frozen=True, slots=True)
class TrickRuling:
    """Who won a trick, the suit that was led, whether spades are broken after it, and why it was won, in a sentence."""

    winner: str
    led_suit: Suit
    spades_broken_after: bool
    why: str


def rule_on_trick(
    ruleset: Ruleset,
    trick: Sequence[tuple[str, Card]],
    *,
    spades_broken: bool,
    trick_number: int = 1,
    leader: str | None = None,
) -> TrickRuling:
    """Say who won a complete trick, each of its cards with its seat: in order of play, or in any order with `leader`.

    Raises:
        SituationError: not one card from each seat, clockwise from who led; a card that the deck does not have, or has
            not so often; more tricks than a deal has.

    Source: docs/rules.md#following, docs/rules.md#leading

    >>> trick = [("W", Card.parse("KH")), ("N", Card.parse("4H")), ("E", Card.parse("3S")), ("S", Card.parse("AH"))]
    >>> ruling = rule_on_trick(Ruleset.resolve({}), trick, spades_broken=False)
    >>> ruling.winner, ruling.spades_broken_after, ruling.why
    ('E', True, '3S is the highest spade.')
    """
    facts, check = terms(ruleset), _Check(ruleset)
    check.trick_number(trick_number)
    if len(trick) != ruleset.players:
        detail = f"A trick has {ruleset.players} cards here, got {len(trick)}."
        check.add(SituationFault.WRONG_LENGTH, detail, "trick")
    order = check.order(trick, leader)
    told = check.cards([card for _, card in trick], "trick", field="card")
    check.done()
    seats, cards = [trick[place][0] for place in order], [told[place] for place in order]
    place = winning_place(facts.pack, cards, ruleset.duplicate_winner)
    broken = spades_broken or any(
        breaks_spades(ruleset, facts.pack, cards[:played], card) for played, card in enumerate(cards)
    )
    led, best = facts.pack.suits[cards[0].index], cards[place]
    twice = any(card is best.twin for card in cards)
    what = "spade" if facts.pack.spades & best.bit else "card of the suit led"
    which = f"the {ruleset.duplicate_winner} of two identical cards, the highest" if twice else "the highest"
    return TrickRuling(seats[place], led, broken, f"{best} is {which} {what}.")


@dataclass(frozen=True, slots=True)
class LeaderRuling:
    """Who leads to a trick, and why, in a sentence."""

    leader: str
    why: str


def rule_on_leader(
    ruleset: Ruleset,
    dealer: str,
    *,
    trick_number: int,
    last_winner: str | None = None,
    holder_of_lowest_club: str | None = None,
    bids: Mapping[str, Bid] | None = None,
) -> LeaderRuling:
    """Say who leads to a trick.

    Args:
        last_winner: who won the trick before, needed from the second trick on.
        holder_of_lowest_club: needed for the first trick where the lowest club leads it.
        bids: by seat; those of all seats are needed for the first trick where the highest bidder leads it. There are
            none in a first hand that bids itself.

    Raises:
        SituationError: something needed is missing; a seat is not of this table; a bid that nobody can make there.

    Source: docs/rules.md#leading

    >>> rule_on_leader(Ruleset.resolve({"preset": "standard"}), "N", trick_number=1).leader
    'E'
    """
    facts, check = terms(ruleset), _Check(ruleset)
    high = ruleset.first_leader is FirstLeader.HIGH_BIDDER and not facts.club_lead
    check.seat(dealer, "dealer")
    check.trick_number(trick_number)
    if last_winner is not None:
        check.seat(last_winner, "last_winner")
    if holder_of_lowest_club is not None:
        check.seat(holder_of_lowest_club, "holder_of_lowest_club")
    check.bids(bids or {})
    if trick_number > 1 and last_winner is None:
        check.add(SituationFault.MISSING, "Who won the trick before leads the next: say who did.", "last_winner")
    elif trick_number == 1 and facts.club_lead and holder_of_lowest_club is None:
        check.add(SituationFault.MISSING, "The lowest club leads here: say who holds it.", "holder_of_lowest_club")
    elif trick_number == 1 and high and bids is None:
        check.add(SituationFault.MISSING, "The highest bidder leads here: say what was bid.", "bids")
    elif trick_number == 1 and high and (bids or not ruleset.first_hand_bids_itself):
        for seat in facts.table.seats:
            if seat not in (bids or {}):
                check.add(SituationFault.MISSING, f"The highest bidder leads here: say what {seat} bid.", "bids", seat)
    check.done()
    if last_winner is not None and trick_number > 1:
        return LeaderRuling(last_winner, "The winner of a trick leads to the next.")
    if holder_of_lowest_club is not None and facts.club_lead:
        club = cards_of(facts.pack.lowest_club)[0]
        return LeaderRuling(holder_of_lowest_club, f"The holder of {club} leads it to the first trick.")
    leader = first_leader(facts, facts.table.index(dealer), bids=_by_place(facts, bids or {}), holders=())
    return LeaderRuling(facts.table.seats[leader], _WHY_FIRST[ruleset.first_leader])


_WHY_FIRST = {
    FirstLeader.LEFT_OF_DEALER: "The seat on the dealer's left leads to the first trick.",
    FirstLeader.NON_DEALER: "Of two players the one who did not deal leads to the first trick.",
    FirstLeader.DEALER: "The dealer leads to the first trick.",
    FirstLeader.HIGH_BIDDER: "The highest bidder leads to the first trick, the first from the dealer's left if level.",
}


@dataclass(frozen=True, slots=True)
class BidRuling:
    """The bids that a seat may make, in order, and why it may not make the one that was asked about."""

    legal: tuple[Bid, ...]
    refusal: RuleViolation | None = None
    reconsider: bool = False
    """Whether the seat may send the partners' proposals back instead; only where it was told if they were before."""


def rule_on_bid(
    ruleset: Ruleset,
    seat: str,
    *,
    hand: Iterable[Card] | None = None,
    hand_seen: bool = True,
    bids: Mapping[str, Bid] | None = None,
    scores: Mapping[str, int] | None = None,
    deal_number: int = 1,
    reconsidered: bool | None = None,
    bid: Bid | None = None,
) -> BidRuling:
    """Say which bids a seat on turn may make.

    Args:
        hand: all of its cards; needed where bids follow from them, once it has seen them.
        hand_seen: whether it has seen them. If not, only blind bids are legal.
        bids: those made so far, by seat; the seats that are left bid after this one, clockwise. In partnership bidding
            a partner's proposal is one of them.
        scores: points of each side before the deal; a side left out has none.
        deal_number: from 1.
        reconsidered: whether the side has sent proposals back in this deal; None for who does not ask about that.
        bid: one to answer about.

    Raises:
        SituationError: the hand is needed and missing; a seat, side or card is not of this table; a bid that nobody
            can have made there.

    Source: docs/rules.md#bids, docs/rules.md#blind

    >>> rules = Ruleset.resolve({"preset": "openspiel", "max_team_bid": 4})
    >>> ruling = rule_on_bid(rules, "S", bids={"N": Bid.number(2)}, bid=Bid.number(3))
    >>> ruling.legal, ruling.refusal.reason.value
    ((Bid.parse('nil'), Bid.parse('1'), Bid.parse('2')), 'team_maximum')
    """
    facts, check = terms(ruleset), _Check(ruleset)
    bidless = nobody_bids(ruleset, deal_number)
    counted = (facts.mirror or facts.whiz) and hand_seen and not bidless
    check.seat(seat, "seat")
    check.bids(bids or {})
    check.sides(scores or {})
    cards = check.whole_hand(list(hand)) if hand is not None else ()
    if hand is None and counted:
        check.add(SituationFault.MISSING, "A bid follows from the spades held here: give the hand.", "hand")
    check.done()
    if bidless:
        return BidRuling((), RuleViolation(Reason.WRONG_PHASE, "Nobody bids in this deal.", bidless) if bid else None)
    if bids and seat in bids:
        return BidRuling((), RuleViolation(Reason.ALREADY_BID, f"Seat {seat} has bid.") if bid else None)
    place, players = facts.table.index(seat), ruleset.players
    spades = sum(bool(facts.pack.spades & card.bit) for card in cards) if counted else None
    bidder = Bidder(
        place=place,
        bids=tuple(_by_place(facts, bids or {})),
        order=tuple((place + step) % players for step in range(players)),
        spades=spades,
        seen=hand_seen,
        behind=behind(ruleset, scores or {}),
    )
    refusal = None if bid is None else seat_bid_refusal(ruleset, bidder, bid)
    proposals = [made for other in facts.partners[place] if (made := bidder.bids[other]) and not made.is_blind]
    reconsider = facts.partnership and hand_seen and bool(proposals) and reconsidered is False
    return BidRuling(legal_bids(ruleset, bidder), refusal, reconsider)


@dataclass(frozen=True, slots=True)
class DrawRuling:
    """A draw phase after some decisions, and why the decision that was proposed is refused."""

    deal: Deal
    refusal: RuleViolation | None = None

    @property
    def hands(self) -> dict[str, tuple[Card, ...]]:
        """By seat, the cards that it kept, in the order in which it did; where hands are dealt, those it was dealt."""
        deal = self.deal
        if not deal.draws:
            return {seat: deal.hand(seat) for seat in deal.table.seats}
        kept: dict[str, list[Card]] = {seat: [] for seat in deal.table.seats}
        for discard in deal.discards:
            declined = discard.decision is DrawDecision.DECLINE
            kept[discard.seat].append(deal.stock[2 * (discard.number - 1) + declined])
        return {seat: tuple(cards) for seat, cards in kept.items()}

    @property
    def next_turn(self) -> str | None:
        """Who looks at the next card; None when the stock is used up."""
        return self.deal.turn if self.deal.phase is Phase.DRAWING else None

    @property
    def first_bidder(self) -> str | None:
        """Who bids first, once the stock is used up."""
        return self.deal.turn if self.deal.phase is Phase.BIDDING else None

    @property
    def cards_seen(self) -> dict[str, int]:
        """How many cards each seat has seen: those it kept and the discards that were shown to it."""
        return {
            seat: len(self.deal.hand(seat)) + sum(seat in discard.visible_to for discard in self.deal.discards)
            for seat in self.deal.table.seats
        }


def rule_on_draws(
    ruleset: Ruleset,
    stock: Iterable[Card],
    dealer: str,
    decisions: Iterable[DrawDecision],
    proposed: tuple[str, DrawDecision] | None = None,
) -> DrawRuling:
    """Say where a draw phase stands after some decisions, each by the seat whose turn it was.

    Args:
        stock: the whole shuffled pack, top first.
        proposed: a seat and what it would decide next.

    Raises:
        SituationError: the stock is not the pack of this ruleset; a seat is not of this table; one of `decisions` was
            not allowed.

    Source: docs/rules.md#draw

    >>> from spades import Match, Ruleset, Seed
    >>> rules = Ruleset.resolve({"preset": "two_player"})
    >>> stock = Match.start(rules, Seed(bytes(32))).begin_deal(Seed(bytes(32))).deal.stock
    >>> ruling = rule_on_draws(rules, stock, "A", [DrawDecision.KEEP])
    >>> ruling.deal.turn, ruling.deal.stock_count, ruling.cards_seen
    ('A', 50, {'A': 1, 'B': 2})
    """
    check = _Check(ruleset)
    cards = list(stock)
    check.seat(dealer, "dealer")
    if proposed is not None:
        check.seat(proposed[0], "proposed", "seat")
    check.stock(cards)
    check.done()
    deal = Deal.restore(ruleset, number=1, attempt=1, dealer=dealer, seed=Seed(bytes(SEED_BYTES)), stock=cards)
    for place, decision in enumerate(decisions):
        try:
            deal = deal.draw(deal.turn or dealer, decision)
        except RuleViolation as refusal:
            check.refuse(refusal, "decisions", place)
            check.done()
    if proposed is not None:
        try:
            deal.draw(*proposed)
        except RuleViolation as refusal:
            return DrawRuling(deal, refusal)
    return DrawRuling(deal)


class _Check:
    """Looks whether what is told of a table is possible under its ruleset, and collects what is not."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.facts = terms(ruleset)
        self.named: Counter[Card] = Counter()
        self.problems: list[SituationProblem] = []

    def add(self, reason: SituationFault, detail: str, *where: str | int) -> None:
        self.problems.append(SituationProblem(where, reason, detail))

    def refuse(self, refusal: RuleViolation, *where: str | int) -> None:
        self.problems.append(SituationProblem(where, refusal.reason, refusal.detail, refusal.rule))

    def done(self) -> None:
        """Refuse the situation if anything is wrong with it."""
        if self.problems:
            raise SituationError(tuple(self.problems))

    def seat(self, seat: str, *where: str | int) -> bool:
        """Whether there is such a seat."""
        seats = self.facts.table.seats
        if seat not in seats:
            self.add(SituationFault.NOT_ALLOWED, f"The seats here are {', '.join(seats)}.", *where)
        return seat in seats

    def order(self, trick: Sequence[tuple[str, Card]], leader: str | None) -> list[int]:
        """The places of a trick's cards in order of play; the seats go round clockwise from who led."""
        table = self.facts.table
        places = list(range(len(trick)))
        if leader is not None and not self.seat(leader, "leader"):
            return places
        if not trick or (leader is None and not self.seat(trick[0][0], "trick", 0, "seat")):
            return places
        seats = table.from_(leader or trick[0][0])
        told = [seat for seat, _ in trick]
        for place, seat in enumerate(told[: len(seats)]):
            due = seats[place : place + 1] if leader is None else seats[: len(trick)]
            if seat not in due or seat in told[:place]:
                detail = f"The trick goes round from {seats[0]}: {', '.join(seats)}."
                self.add(SituationFault.NOT_ALLOWED, detail, "trick", place, "seat")
        return sorted(places, key=lambda place: seats.index(told[place]) if told[place] in seats else 0)

    def trick_number(self, number: int) -> None:
        tricks = self.ruleset.hand_size
        if not 1 <= number <= tricks:
            self.add(SituationFault.OUT_OF_RANGE, f"A deal has {tricks} tricks here.", "trick_number")

    def in_progress(self, played: int) -> None:
        """A card is still to come to the trick."""
        most = self.ruleset.players - 1
        if played > most:
            detail = f"A trick in progress has at most {most} cards here, got {played}."
            self.add(SituationFault.WRONG_LENGTH, detail, "trick")

    def cards(self, named: Iterable[Card], *where: str | int, field: str | None = None) -> list[Card]:
        """The cards, each told from its twin, without those that the deck does not have, or has not so often."""
        own = []
        for place, card in enumerate(named):
            first = card.first
            before = self.named[first]
            self.named[first] += 1
            one = first.twin if before else first
            if before < self.ruleset.decks and self.facts.pack.mask & one.bit:
                own.append(one)
            else:
                detail = f"{first} is not in the deck of this table, or not so often."
                self.add(SituationFault.NOT_ALLOWED, detail, *where, place, *((field,) if field else ()))
        return own

    def hand(self, cards: Sequence[Card]) -> list[Card]:
        """The cards of a hand, or of a part of one."""
        most = self.ruleset.hand_size
        if len(cards) > most:
            detail = f"A hand has {most} cards here, got {len(cards)}."
            self.add(SituationFault.WRONG_LENGTH, detail, "hand")
        return self.cards(cards, "hand")

    def whole_hand(self, cards: Sequence[Card]) -> list[Card]:
        """The cards of a hand before the first trick."""
        if len(cards) < self.ruleset.hand_size:
            detail = f"A seat that bids has {self.ruleset.hand_size} cards here, got {len(cards)}."
            self.add(SituationFault.WRONG_LENGTH, detail, "hand")
        return self.hand(cards)

    def stock(self, cards: Sequence[Card]) -> None:
        """The whole deck, in any order."""
        self.cards(cards, "stock")
        size = len(self.facts.pack.deck)
        if len(cards) < size:
            self.add(SituationFault.WRONG_LENGTH, f"The whole deck is needed, {size} cards; got {len(cards)}.", "stock")

    def bids(self, bids: Mapping[str, Bid]) -> None:
        """Bids by seat, each of which somebody at the table could make."""
        seats = self.facts.table.seats
        for seat, bid in bids.items():
            if seat not in seats:
                self.add(SituationFault.UNKNOWN, f"The seats here are {', '.join(seats)}.", "bids", seat)
            elif refusal := bid_refusal(self.ruleset, bid):
                self.refuse(refusal, "bids", seat)

    def sides(self, scores: Iterable[str]) -> None:
        """Scores are by side."""
        sides = self.facts.table.sides
        for side in scores:
            if side not in sides:
                self.add(SituationFault.UNKNOWN, f"The sides here are {', '.join(sides)}.", "scores", side)


def _by_place(facts: Terms, bids: Mapping[str, Bid]) -> list[Bid | None]:
    for seat in bids:
        facts.table.index(seat)
    return [bids.get(seat) for seat in facts.table.seats]
