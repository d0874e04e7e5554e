"""The play of one deal, changed in place and taken back: for bots that play a deal out thousands of times.

A `Deal` is a value, and each of its steps makes another, which is what a service wants that keeps and compares them. A
`Playout` is one state that a card changes and `undo` changes back. The rules are those of the deal: both ask
`spades.legality` and `spades.tricks`.
"""

from __future__ import annotations

from spades import legality
from spades.cards import Card, cards_of, held
from spades.deal import Deal, Phase, after_plays
from spades.errors import Reason, RuleViolation
from spades.terms import terms
from spades.tricks import breaks_spades, winning_place

__all__ = ["Playout"]


class Playout:
    """The play of a deal from where it stands, its bids being in.

    Attributes:
        hands: by place of the seat, the cards held now, as masks.
        taken: by place, tricks taken.
        plays: every card played, in order, those before the playout too.
        trick: the cards of the current trick, in order; empty when it waits for its lead.
        place: the place of the seat on turn; when the play is over, of the one that took the last trick.
        leader: the place of the seat that leads, or led, the current trick.
        spades_broken: whether spades are broken.

    They are to be read: `play` and `undo` change them. A bot that knows one hand deals the cards it has not seen at
    random, `Deal.dealt`, and plays each such deal out.

    Raises:
        RuleViolation: `wrong_phase`, the play of the deal has not begun.

    >>> from spades import PRESETS, Deal, Seed
    >>> rules = PRESETS["mirror"].ruleset
    >>> playout = Playout(Deal.begin(rules, number=1, attempt=1, dealer="N", seed=Seed(bytes(32))))
    >>> playout.turn, [str(card) for card in playout.legal()]
    ('E', ['2C', 'AC', '3D', 'KD', 'AD', '3H', '8H', 'JH', 'AH'])
    >>> while cards := playout.legal():
    ...     playout.play(cards[0])
    >>> playout.taken, playout.deal().phase.value
    ([3, 2, 3, 5], 'finished')
    >>> for _ in range(52):
    ...     card = playout.undo()
    >>> str(card), playout.turn, playout.taken
    ('2C', 'E', [0, 0, 0, 0])
    """

    __slots__ = (
        "_broken_by",
        "_leaders",
        "_legal",
        "_start",
        "_terms",
        "hands",
        "leader",
        "place",
        "plays",
        "spades_broken",
        "taken",
        "trick",
    )

    def __init__(self, deal: Deal) -> None:
        if deal.phase not in (Phase.PLAYING, Phase.FINISHED):
            detail = f"The deal is {deal.phase.value}, and a playout begins when the play has."
            raise RuleViolation(Reason.WRONG_PHASE, detail)
        self._start, self._terms = deal, terms(deal.ruleset)
        self.hands = list(deal.hands)
        self.taken = list(deal.taken)
        self.plays = list(deal.plays)
        self.trick = list(deal.trick_cards)
        self.leader = deal.leader
        self.place = (deal.leader + len(self.trick)) % deal.ruleset.players
        self.spades_broken = deal.spades_broken
        self._broken_by = 0
        """How many cards were played when spades broke, if they did here."""
        self._leaders: list[int] = []
        """The leaders of the tricks that were completed here."""
        self._legal = -1
        """What `legal_cards` gives, once it was asked; -1 before."""

    @property
    def turn(self) -> str | None:
        """The seat on turn; None when the play is over."""
        return self._terms.table.seats[self.place] if self.hands[self.place] else None

    def legal_cards(self) -> int:
        """The cards that the seat on turn may play, as a mask; 0 when the play is over."""
        legal = self._legal
        if legal < 0:
            facts = self._terms
            legal = self._legal = legality.legal_cards(
                facts.ruleset,
                facts.pack,
                self.hands[self.place],
                self.trick,
                trick_number=len(self.plays) // len(self.hands) + 1,
                spades_broken=self.spades_broken,
            )
        return legal

    def legal(self) -> tuple[Card, ...]:
        """The cards that the seat on turn may play, in order; none when the play is over."""
        return cards_of(self.legal_cards())

    def play(self, card: Card) -> None:
        """Play a card for the seat on turn; the last card of a trick also decides who leads the next.

        Raises:
            RuleViolation: the play is over, or a card that the rules forbid.

        Source: docs/rules.md#leading and docs/rules.md#following
        """
        facts, hands, trick = self._terms, self.hands, self.trick
        ruleset, place = facts.ruleset, self.place
        if ruleset.decks > 1:
            card = held(hands[place], card)
        if not self.legal_cards() & card.bit:
            raise self._refusal(card)
        hands[place] ^= card.bit
        self.plays.append(card)
        if not self.spades_broken and breaks_spades(ruleset, facts.pack, trick, card):
            self.spades_broken, self._broken_by = True, len(self.plays)
        trick.append(card)
        players = len(hands)
        if len(trick) == players:
            self._leaders.append(self.leader)
            place = (self.leader + winning_place(facts.pack, trick, ruleset.duplicate_winner)) % players
            self.leader = self.place = place
            self.taken[place] += 1
            trick.clear()
        else:
            self.place = (place + 1) % players
        self._legal = -1

    def undo(self) -> Card:
        """Take the last card back.

        Returns:
            The card, which its seat holds again and is on turn to play.

        Raises:
            IndexError: no card was played since the playout began.
        """
        if len(self.plays) == len(self._start.plays):
            raise IndexError("no card was played since the playout began")
        players, trick = len(self.hands), self.trick
        if not trick:
            self.taken[self.leader] -= 1
            self.leader = self.place = self._leaders.pop()
            trick += self.plays[-players:]
        if self._broken_by == len(self.plays):
            self.spades_broken, self._broken_by = False, 0
        card = self.plays.pop()
        trick.pop()
        self.place = (self.leader + len(trick)) % players
        self.hands[self.place] |= card.bit
        self._legal = -1
        return card

    def deal(self) -> Deal:
        """The deal as it stands now, a value of its own."""
        return after_plays(self._start, self.plays[len(self._start.plays) :])

    def _refusal(self, card: Card) -> RuleViolation:
        facts = self._terms
        if not self.hands[self.place]:
            return RuleViolation(Reason.NOT_YOUR_TURN, "The deal is finished.")
        refusal = legality.card_refusal(
            facts.ruleset,
            facts.pack,
            self.hands[self.place],
            card,
            self.trick,
            trick_number=len(self.plays) // len(self.hands) + 1,
            spades_broken=self.spades_broken,
        )
        assert refusal is not None  # noqa: S101 -- both ask the same duties
        return refusal
