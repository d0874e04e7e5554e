"""A match: deals until somebody wins. The whole state of one table as a value; each step returns the next one.

A match never draws random numbers. Whoever runs it hands in a `Seed` for the cut and for each deal, so that the same
seeds and the same actions always give the same match.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from spades.bids import Bid
from spades.cards import Card, pack
from spades.deal import Deal, Phase
from spades.errors import Reason, RuleViolation
from spades.legality import DrawDecision
from spades.ruleset import Ruleset, require_supported
from spades.scoring import DealScore
from spades.seats import Table, table
from spades.sheet import Ending, ScoreSheet
from spades.shuffle import Seed

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

    @classmethod
    def start(cls, ruleset: Ruleset, seed: Seed) -> Match:
        """Settle who deals first by cutting, and wait for the first deal.

        Each seat draws a card; the highest deals, suits counting nothing; level cards draw again.

        Args:
            seed: the seed of the first deal; the cut reads another part of its stream.

        Raises:
            RulesetError: the ruleset has options that this engine does not play yet; each is named.

        Source: docs/rules.md#dealer
        """
        require_supported(ruleset)
        seats = table(ruleset.players, ruleset.teams)
        deck = pack(ruleset.jokers, ruleset.removed_cards, ruleset.high_trumps)
        ranks = list(type(deck.deck[0].rank))
        contenders, rounds = seats.seats, []
        draw = seed.cut(deck.deck, seats.seats)
        while len(contenders) > 1:
            drawn = tuple((seat, card) for seat, card in (next(draw) for _ in seats.seats) if seat in contenders)
            rounds.append(drawn)
            best = max(ranks.index(card.rank) for _, card in drawn)
            contenders = tuple(seat for seat, card in drawn if ranks.index(card.rank) == best)
        return cls(ruleset, ScoreSheet.start(ruleset), contenders[0], tuple(rounds))

    @property
    def table(self) -> Table:
        """The seats and sides."""
        return table(self.ruleset.players, self.ruleset.teams)

    @property
    def turn(self) -> str | None:
        """The seat that the table waits for; None between deals and after the end."""
        return self.deal.turn if self.deal is not None and self.ending is None else None

    @property
    def needs_deal(self) -> bool:
        """Whether the match waits for `begin_deal`."""
        return self.ending is None and (self.deal is None or self.score is not None)

    @property
    def next_deal_number(self) -> int:
        """The number of the deal that `begin_deal` would begin."""
        return self.sheet.deals + 1

    def begin_deal(self, seed: Seed) -> Match:
        """Begin the next deal.

        Raises:
            RuleViolation: a deal is in progress, or the match is over.
        """
        if not self.needs_deal:
            raise RuleViolation(Reason.WRONG_PHASE, "A deal is in progress, or the match is over.")
        number = self.next_deal_number
        deal = Deal.begin(self.ruleset, number=number, attempt=1, dealer=self.dealer, seed=seed)
        return replace(self, deal=deal, score=None, cut=())

    def draw(self, seat: str, decision: DrawDecision) -> Match:
        """Keep or decline the card looked at. Raises as `Deal.draw`, and `game_over`."""
        return self._with(self._deal_in_progress().draw(seat, decision))

    def bid(self, seat: str, bid: Bid) -> Match:
        """Place a bid. Raises as `Deal.bid`, and `game_over`."""
        return self._with(self._deal_in_progress().bid(seat, bid))

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
        if self.deal is None or self.score is not None:
            raise RuleViolation(Reason.WRONG_PHASE, "No deal is in progress.")
        return self.deal

    def _require_running(self) -> None:
        if self.ending is not None:
            raise RuleViolation(Reason.GAME_OVER, "The game is over.")
