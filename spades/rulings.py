"""Single questions about the rules, for whoever has no match: a whole ruleset, one situation, the answer.

A `Match` answers the same questions in the course of a game, from the same functions. Here the situation is told
instead of played, so it is only checked to be one that the table could have: cards of its deck, seats of its table.

>>> from spades import Card, Ruleset
>>> from spades.rulings import rule_on_cards
>>> hand = [Card.parse(code) for code in ("4H", "AS")]
>>> ruling = rule_on_cards(Ruleset.resolve({}), hand, [Card.parse("KH")], trick_number=3, spades_broken=False)
>>> ruling.legal, {code: refusal.reason.value for code, refusal in ruling.refused.items()}
((Card.parse('4H'),), {'AS': 'must_follow_suit'})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spades.bidding import nobody_bids
from spades.bids import Bid
from spades.cards import Card, Suit, cards_of, each_its_own, held
from spades.deal import Deal, Phase
from spades.errors import NotationError, Reason, RuleViolation
from spades.legality import Bidder, DrawDecision, behind, card_refusal, legal_bids, legal_cards, seat_bid_refusal
from spades.ruleset import FirstLeader, Ruleset
from spades.shuffle import SEED_BYTES, Seed
from spades.terms import Terms, terms
from spades.tricks import breaks_spades, first_leader, winning_place

__all__ = [
    "BidRuling",
    "CardRuling",
    "DrawRuling",
    "LeaderRuling",
    "TrickRuling",
    "rule_on_bid",
    "rule_on_cards",
    "rule_on_draws",
    "rule_on_leader",
    "rule_on_trick",
]


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
        NotationError: a card that the deck does not have, or has not so often; a trick that is complete already.

    Source: docs/rules.md#leading, docs/rules.md#following
    """
    facts = terms(ruleset)
    played = list(trick)
    if len(played) >= ruleset.players:
        raise NotationError(f"a trick in progress has at most {ruleset.players - 1} cards here, got {len(played)}")
    on_table = _of_deck(facts, [*played, *hand])
    played, own = list(on_table[: len(played)]), on_table[len(played) :]
    mask = sum(card.bit for card in own)
    legal = cards_of(
        legal_cards(ruleset, facts.pack, mask, played, trick_number=trick_number, spades_broken=spades_broken)
    )
    refused = {}
    for named in (*cards_of(mask), *asked):
        card = held(mask, named)
        refusal = card_refusal(
            ruleset, facts.pack, mask, card, played, trick_number=trick_number, spades_broken=spades_broken
        )
        if refusal:
            refused[card.code] = refusal
    return CardRuling(tuple({card.code: card.first for card in legal}.values()), refused)


@dataclass(frozen=True, slots=True)
class TrickRuling:
    """Who won a trick, the suit that was led, whether spades are broken after it, and why it was won, in a sentence."""

    winner: str
    led_suit: Suit
    spades_broken_after: bool
    why: str


def rule_on_trick(ruleset: Ruleset, trick: Sequence[tuple[str, Card]], *, spades_broken: bool) -> TrickRuling:
    """Say who won a complete trick, its cards in order of play, each with its seat.

    Raises:
        NotationError: not one card from each seat, or a card that the deck does not have, or has not so often.

    Source: docs/rules.md#following, docs/rules.md#leading

    >>> trick = [("W", Card.parse("KH")), ("N", Card.parse("4H")), ("E", Card.parse("3S")), ("S", Card.parse("AH"))]
    >>> ruling = rule_on_trick(Ruleset.resolve({}), trick, spades_broken=False)
    >>> ruling.winner, ruling.spades_broken_after, ruling.why
    ('E', True, '3S is the highest spade.')
    """
    facts = terms(ruleset)
    seats = [seat for seat, _ in trick]
    if sorted(seats) != sorted(facts.table.seats):
        raise NotationError(f"a trick has one card from each of {', '.join(facts.table.seats)}")
    cards = _of_deck(facts, [card for _, card in trick])
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
        bids: by seat; needed for the first trick where the highest bidder leads it. A seat left out bid nothing.

    Raises:
        NotationError: something needed is missing, or a seat is not of this table.

    Source: docs/rules.md#leading

    >>> rule_on_leader(Ruleset.resolve({"preset": "standard"}), "N", trick_number=1).leader
    'E'
    """
    facts = terms(ruleset)
    index, seats = facts.table.index, facts.table.seats
    place = index(dealer)
    if trick_number > 1:
        if last_winner is None:
            raise NotationError("who leads a later trick depends on who won the one before: give last_winner")
        return LeaderRuling(seats[index(last_winner)], "The winner of a trick leads to the next.")
    if facts.club_lead:
        if holder_of_lowest_club is None:
            raise NotationError("the lowest club leads here: give holder_of_lowest_club")
        club = cards_of(facts.pack.lowest_club)[0]
        return LeaderRuling(seats[index(holder_of_lowest_club)], f"The holder of {club} leads it to the first trick.")
    if bids is None and ruleset.first_leader is FirstLeader.HIGH_BIDDER:
        raise NotationError("the highest bidder leads here: give bids")
    made = [None] * ruleset.players if bids is None else _by_place(facts, bids)
    leader = first_leader(facts, place, bids=made, holders=())
    return LeaderRuling(seats[leader], _WHY_FIRST[ruleset.first_leader])


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


def rule_on_bid(
    ruleset: Ruleset,
    seat: str,
    *,
    hand: Iterable[Card] | None = None,
    hand_seen: bool = True,
    bids: Mapping[str, Bid] | None = None,
    scores: Mapping[str, int] | None = None,
    deal_number: int = 1,
    bid: Bid | None = None,
) -> BidRuling:
    """Say which bids a seat on turn may make.

    Args:
        hand: its cards; needed where bids follow from them.
        hand_seen: whether it has seen them. If not, only blind bids are legal.
        bids: those made so far, by seat; the seats that are left bid after this one, clockwise.
        scores: points of each side before the deal; a side left out has none.
        deal_number: from 1.
        bid: one to answer about.

    Raises:
        NotationError: the hand is needed and missing, or a seat, side or card is not of this table.

    Source: docs/rules.md#bids, docs/rules.md#blind

    >>> rules = Ruleset.resolve({"preset": "openspiel", "max_team_bid": 4})
    >>> ruling = rule_on_bid(rules, "S", bids={"N": Bid.number(2)}, bid=Bid.number(3))
    >>> ruling.legal, ruling.refusal.reason.value
    ((Bid.parse('nil'), Bid.parse('1'), Bid.parse('2')), 'team_maximum')
    """
    facts = terms(ruleset)
    place, players = facts.table.index(seat), ruleset.players
    unknown = set(scores or ()) - set(facts.table.sides)
    if unknown:
        raise NotationError(f"the sides are {', '.join(facts.table.sides)}, got {', '.join(sorted(unknown))}")
    bidless = nobody_bids(ruleset, deal_number)
    if bidless:
        return BidRuling((), RuleViolation(Reason.WRONG_PHASE, "Nobody bids in this deal.", bidless) if bid else None)
    spades = None
    if facts.mirror or facts.whiz:
        if hand is None:
            raise NotationError("a bid follows from the spades held here: give the hand")
        spades = sum(bool(facts.pack.spades & card.bit) for card in _of_deck(facts, hand))
    bidder = Bidder(
        place=place,
        bids=tuple(_by_place(facts, bids or {})),
        order=tuple((place + step) % players for step in range(players)),
        spades=spades,
        seen=hand_seen,
        behind=behind(ruleset, scores or {}),
    )
    refusal = None if bid is None else seat_bid_refusal(ruleset, bidder, bid)
    return BidRuling(tuple(legal_bids(ruleset, bidder)), refusal)


@dataclass(frozen=True, slots=True)
class DrawRuling:
    """A draw phase after some decisions, and why the decision that was proposed is refused."""

    deal: Deal
    refusal: RuleViolation | None = None

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
        NotationError: the stock is not the pack of this ruleset, or a seat is not of this table.
        RuleViolation: one of `decisions` was not allowed.

    Source: docs/rules.md#draw

    >>> rules = Ruleset.resolve({"preset": "two_player"})
    >>> ruling = rule_on_draws(rules, Seed(bytes(32)).shuffled(terms(rules).pack.deck), "A", [DrawDecision.KEEP])
    >>> ruling.deal.turn, ruling.deal.stock_count, ruling.cards_seen
    ('A', 50, {'A': 1, 'B': 2})
    """
    deal = Deal.restore(ruleset, number=1, attempt=1, dealer=dealer, seed=Seed(bytes(SEED_BYTES)), stock=tuple(stock))
    for decision in decisions:
        deal = deal.draw(deal.turn or dealer, decision)
    if proposed is not None:
        try:
            deal.draw(*proposed)
        except RuleViolation as refusal:
            return DrawRuling(deal, refusal)
    return DrawRuling(deal)


def _of_deck(facts: Terms, cards: Iterable[Card]) -> tuple[Card, ...]:
    """The cards, each told from its twin.

    Raises:
        NotationError: the deck does not have them, or not so often.
    """
    own = each_its_own(cards, facts.ruleset.decks)
    strange = [str(card) for card in own if not facts.pack.mask & card.bit]
    if strange:
        raise NotationError(f"not in the deck of this table, or not so often: {', '.join(strange)}")
    return own


def _by_place(facts: Terms, bids: Mapping[str, Bid]) -> list[Bid | None]:
    for seat in bids:
        facts.table.index(seat)
    return [bids.get(seat) for seat in facts.table.seats]
