"""Complete plays of an ending, counted one by one from the rules alone. It imports nothing of the library.

Cards are texts, hands are lists of them, and every question is answered anew from the options of the table, as
docs/rules.md tells them: slow, short, and written without a look at how the library does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ACE_HIGH = "23456789TJQKA"
DEALT_OUT = [rank + suit for suit in "CDHS" for rank in ACE_HIGH]


@dataclass
class Ending:
    """A table in the middle of a deal: the options, the seats clockwise, and what each still holds."""

    rules: dict[str, Any]
    seats: list[str]
    hands: dict[str, list[str]]
    leader: str
    trick: list[str]
    trick_number: int
    broken: bool

    @classmethod
    def after(cls, rules: dict[str, Any], hands: dict[str, list[str]], leader: str, plays: list[str]) -> Ending:
        """The ending after these plays of a whole deal, whose hands were these when the first trick was led."""
        ending = cls(rules, list(hands), {seat: list(cards) for seat, cards in hands.items()}, leader, [], 1, False)
        for card in plays:
            ending = ending.with_card(card)
        return ending

    @property
    def turn(self) -> str:
        return self.seats[(self.seats.index(self.leader) + len(self.trick)) % len(self.seats)]

    def suit(self, card: str) -> str:
        """The suit that a card belongs to: jokers and high trumps are spades."""
        return "S" if card in self.rules["high_trumps"] or card[1] == "J" else card[1]

    def height(self, card: str) -> int:
        """Where a card stands among the cards of its suit; the high trumps, strongest first, stand above all."""
        if card in self.rules["high_trumps"]:
            return 200 - self.rules["high_trumps"].index(card)
        return {"LJ": 100, "BJ": 101}.get(card) or ACE_HIGH.index(card[0])

    def lowest_club(self) -> str | None:
        """The lowest club that the table plays with."""
        gone = list(self.rules["removed_cards"])
        for card in DEALT_OUT[:13]:
            if gone.count(card) < self.rules["decks"] and self.suit(card) == "C":
                return card
        return None

    def choices(self) -> list[str]:
        """The cards that the seat on turn may play; of two equal ones one."""
        hand = self.hands[self.turn]
        return sorted(set(self._leads(hand) if not self.trick else self._answers(hand)))

    def _leads(self, hand: list[str]) -> list[str]:
        rules, first = self.rules, self.trick_number == 1
        if first and rules["first_lead"] in ("2C", "lowest_club") and self.lowest_club() in hand:
            return [card for card in hand if card == self.lowest_club()]
        plain = [card for card in hand if self.suit(card) != "S"]
        if not plain:
            return hand
        if first and rules["first_lead"] == "no_spade":
            return plain
        if first and rules["spade_lead"] == "after_first_trick":
            return plain
        if rules["spade_lead"] == "when_broken" and not self.broken:
            return plain
        return hand

    def _answers(self, hand: list[str]) -> list[str]:
        rules, first, led = self.rules, self.trick_number == 1, self.suit(self.trick[0])
        same = [card for card in hand if self.suit(card) == led]
        if same and first and rules["first_lead"] == "lowest_club" and led == "C":
            low = min(self.height(card) for card in same)
            return [card for card in same if self.height(card) == low]
        if same:
            return same
        trumps = [card for card in hand if self.suit(card) == "S"]
        plain = [card for card in hand if self.suit(card) != "S"]
        if first and rules["first_trick_spades"] == "forbidden" and plain:
            return plain
        if rules["must_trump"] and trumps:
            return trumps
        return hand

    def winner(self, trick: list[str]) -> int:
        """The place of the card that takes a trick: spades before the suit led, the higher before the lower."""

        def worth(place: int) -> tuple[int, int, int]:
            card = trick[place]
            rank = 2 if self.suit(card) == "S" else 1 if self.suit(card) == self.suit(trick[0]) else 0
            return rank, self.height(card), place if self.rules["duplicate_winner"] == "last" else -place

        return max(range(len(trick)), key=worth)

    def with_card(self, card: str) -> Ending:
        """What is left after the seat on turn has played a card."""
        hands = {seat: list(cards) for seat, cards in self.hands.items()}
        hands[self.turn].remove(card)
        broken, trick = self.broken, [*self.trick, card]
        if self.suit(card) == "S":
            broken = broken or self.suit(trick[0]) != "S" or self.rules["forced_lead_breaks"]
        if len(trick) < len(self.seats):
            return Ending(self.rules, self.seats, hands, self.leader, trick, self.trick_number, broken)
        leader = self.seats[(self.seats.index(self.leader) + self.winner(trick)) % len(self.seats)]
        return Ending(self.rules, self.seats, hands, leader, [], self.trick_number + 1, broken)

    def ways(self) -> Iterator[None]:
        """Once for each way in which the deal can be played to its end."""
        if not any(self.hands.values()):
            yield None
        for card in self.choices():
            yield from self.with_card(card).ways()

    def count(self) -> int:
        """In how many ways the deal can be played to its end."""
        return sum(1 for _ in self.ways())
