"""A match: deals until somebody wins. The whole state of one table as a value; each step returns the next one.

A match never draws random numbers. Whoever runs it hands in a `Seed` for the cut and for each deal, so that the same
seeds and the same actions always give the same match.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from spades.bids import Bid
from spades.cards import Card, Rank, Suit
from spades.deal import Deal, Phase
from spades.errors import Reason, RuleViolation
from spades.legality import DrawDecision, behind
from spades.ruleset import FirstDealer, Ruleset, require_supported
from spades.scoring import DealScore
from spades.seats import Table
from spades.sheet import Ending, ScoreSheet
from spades.shuffle import Seed
from spades.terms import Terms, terms

__all__ = ["ENGINE", "Match"]

ENGINE = 1
"""The number of these rules as code. It is raised when a correction changes any outcome, and each game keeps the
number that it was played under."""


@dataclass(frozen=True, slots=True)
class Match:
    """One game at one table. Made by `Match.start`.

    >>> from spades import Card, Ruleset, Seed
    >>> match = Match.start(Ruleset.resolve({"preset": "two_player"}), Seed(bytes(32)))
    >>> match = match.begin_deal(Seed(bytes(31) + b"1"))
    >>> match.dealer, match.turn, match.deal.looked_at
    ('A', 'B', Card.parse('AD'))
    """

    ruleset: Ruleset
    sheet: ScoreSheet
    dealer: str
    """The dealer of the deal in progress, or of the next one between deals."""
    cut: tuple[tuple[tuple[str, Card], ...], ...] = ()
    """The rounds of the cut for the first deal, each the seats that drew and their cards; kept until that deal."""
    deal: Deal | None = None
    """The deal in progress; after it was scored it stays until the next one begins."""
    score: DealScore | None = None
    """The score of `deal` once it is finished."""
    ending: Ending | None = None
    """How the match ended, once it has."""
    redeal: str | None = None
    """The seat that called for `deal` to be dealt again, until that is done."""

    @classmethod
    def start(cls, ruleset: Ruleset, seed: Seed, *, dealer: str | None = None) -> Match:
        """Settle who deals first, and wait for the first deal.

        Args:
            seed: the seed of the first deal; the cut and the lot read other parts of its stream.
            dealer: the host's choice, where the ruleset leaves it to the host; by default the first seat.

        Raises:
            RulesetError: the ruleset has options that this engine does not play yet; each is named.

        Source: docs/rules.md#dealer
        """
        require_supported(ruleset)
        facts = terms(ruleset)
        if ruleset.first_dealer is FirstDealer.HOST and dealer is not None:
            return cls(ruleset, ScoreSheet.start(ruleset), facts.table.seats[facts.table.index(dealer)])
        first, rounds = _first_dealer(facts, seed)
        return cls(ruleset, ScoreSheet.start(ruleset), first, rounds)

    @property
    def table(self) -> Table:
        """The seats and sides."""
        return terms(self.ruleset).table

    @property
    def turns(self) -> tuple[str, ...]:
        """The seats that the table waits for: one, or several where they act without knowing of each other.

        None between deals and after the end.
        """
        return self.deal.turns if self.deal is not None and not self.needs_deal and self.ending is None else ()

    @property
    def turn(self) -> str | None:
        """The first of `turns`; None when there is none."""
        turns = self.turns
        return turns[0] if turns else None

    @property
    def needs_deal(self) -> bool:
        """Whether the match waits for `begin_deal`."""
        waiting = self.deal is None or self.score is not None or self.redeal is not None
        return self.ending is None and waiting

    @property
    def next_deal_number(self) -> int:
        """The number of the deal that `begin_deal` would begin."""
        return self.sheet.deals + 1

    @property
    def next_attempt(self) -> int:
        """The attempt of that deal: 1, and one more for each redeal that was called."""
        return self.deal.attempt + 1 if self.deal is not None and self.redeal is not None else 1

    def begin_deal(self, seed: Seed) -> Match:
        """Begin the next deal, or the same one again when a redeal was called.

        Raises:
            RuleViolation: a deal is in progress, or the match is over.
        """
        if not self.needs_deal:
            raise RuleViolation(Reason.WRONG_PHASE, "A deal is in progress, or the match is over.")
        deal = Deal.begin(
            self.ruleset,
            number=self.next_deal_number,
            attempt=self.next_attempt,
            dealer=self.dealer,
            seed=seed,
            behind=behind(self.ruleset, self.sheet.scores()),
        )
        return replace(self, deal=deal, score=None, cut=(), redeal=None)

    def draw(self, seat: str, decision: DrawDecision) -> Match:
        """Keep or decline the card looked at. Raises as `Deal.draw`, and `game_over`."""
        return self._with(self._deal_in_progress().draw(seat, decision))

    def look(self, seat: str) -> Match:
        """Look at the hand and give up the blind bid. Raises as `Deal.look`, and `game_over`."""
        return self._with(self._deal_in_progress().look(seat))

    def pass_cards(self, seat: str, cards: Iterable[Card]) -> Match:
        """Give cards away, before or after the bidding. Raises as `Deal.pass_cards`, and `game_over`."""
        return self._with(self._deal_in_progress().pass_cards(seat, cards))

    def call_redeal(self, seat: str) -> Match:
        """Call for another deal, which `begin_deal` begins. Raises as `Deal.require_redeal`, and `game_over`."""
        self._deal_in_progress().require_redeal(seat)
        return replace(self, redeal=seat)

    def bid(self, seat: str, bid: Bid, hint_max: int | None = None) -> Match:
        """Place or propose a bid. Raises as `Deal.bid`, and `game_over`."""
        return self._with(self._deal_in_progress().bid(seat, bid, hint_max))

    def reconsider(self, seat: str) -> Match:
        """Send the partners' proposals back. Raises as `Deal.reconsider`, and `game_over`."""
        return self._with(self._deal_in_progress().reconsider(seat))

    def play(self, seat: str, card: Card) -> Match:
        """Play a card; after the last card of a deal it is scored. Raises as `Deal.play`, and `game_over`."""
        return self._with(self._deal_in_progress().play(seat, card))

    def resign(self, seat: str) -> Match:
        """Give the match up for the side of `seat`; of the other sides the leaders win.

        Raises:
            RuleViolation: the match is over.
        """
        self._require_running()
        others = {name: side.score for name, side in self.sheet.sides.items() if name != self.table.side_of[seat]}
        best = max(others.values())
        winners = tuple(name for name, points in others.items() if points == best)
        return replace(self, ending=Ending(winners, "resignation", seat))

    def abort(self) -> Match:
        """End the match without a winner.

        Raises:
            RuleViolation: the match is over.
        """
        self._require_running()
        return replace(self, ending=Ending((), "aborted"))

    def _with(self, deal: Deal) -> Match:
        if deal.phase is not Phase.FINISHED:
            return replace(self, deal=deal)
        sheet, score = self.sheet.after(deal.bids_by_seat(), deal.tricks_by_seat())
        dealer = self.table.after(self.dealer)
        return replace(self, deal=deal, sheet=sheet, score=score, ending=sheet.ending(), dealer=dealer)

    def _deal_in_progress(self) -> Deal:
        self._require_running()
        if self.deal is None or self.needs_deal:
            raise RuleViolation(Reason.WRONG_PHASE, "No deal is in progress.")
        return self.deal

    def _require_running(self) -> None:
        if self.ending is not None:
            raise RuleViolation(Reason.GAME_OVER, "The game is over.")


_Rounds = tuple[tuple[tuple[str, Card], ...], ...]


def _first_dealer(facts: Terms, seed: Seed) -> tuple[str, _Rounds]:
    """Who deals first, and the cards that were drawn or turned to find out, round by round."""
    match facts.ruleset.first_dealer:
        case FirstDealer.CUT_HIGH:
            return _cut_high(facts, seed)
        case FirstDealer.FIRST_DIAMOND:
            return _first_diamond(facts, seed)
        case FirstDealer.RANDOM:
            return facts.table.seats[seed.lot(facts.ruleset.players)], ()
    return facts.table.seats[0], ()


def _cut_high(facts: Terms, seed: Seed) -> tuple[str, _Rounds]:
    """Each seat draws a card; the highest rank deals, suits counting nothing; those that are level draw again."""
    ranks, seats = list(Rank), facts.table.seats
    contenders, rounds = seats, []
    draw = seed.cut(facts.pack.deck, seats)
    while len(contenders) > 1:
        drawn = tuple((seat, card) for seat, card in (next(draw) for _ in seats) if seat in contenders)
        rounds.append(drawn)
        best = max(ranks.index(card.rank) for _, card in drawn)
        contenders = tuple(seat for seat, card in drawn if ranks.index(card.rank) == best)
    return contenders[0], tuple(rounds)


def _first_diamond(facts: Terms, seed: Seed) -> tuple[str, _Rounds]:
    """Cards are turned up around the table, the first seat's first; whoever gets the first diamond deals."""
    rounds: list[list[tuple[str, Card]]] = []
    seats = facts.table.seats
    for number, card in enumerate(seed.shuffled(facts.pack.deck, purpose="cut")):
        place = number % len(seats)
        if place == 0:
            rounds.append([])
        rounds[-1].append((seats[place], card))
        if card.suit is Suit.DIAMONDS:
            break
    return rounds[-1][-1][0], tuple(tuple(drawn) for drawn in rounds)
