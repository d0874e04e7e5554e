"""The questions that the rules app takes.

What they say of a table is told, not looked up. A field refuses what no table could have; what the table of the
ruleset cannot have, the library refuses.
"""

from __future__ import annotations

from typing import Any, Final

from contract.fields import (
    MOST_POINTS,
    MOST_TRICKS,
    BidField,
    BySeatField,
    BySideField,
    CardField,
    RecordField,
    RulesetField,
    SeatField,
)
from contract.serializers import (
    StrictBooleanField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
)
from spades import DrawDecision
from spades.ruleset import DEAL_CAP

__all__ = [
    "BidQuestionSerializer",
    "DrawQuestionSerializer",
    "LeaderQuestionSerializer",
    "PlayQuestionSerializer",
    "RecordQuestionSerializer",
    "ResolveRulesetSerializer",
    "TrickQuestionSerializer",
]

MOST_CARDS: Final = 108
"""Two packs with their jokers."""
MOST_SEATS: Final = 6


class DecisionField(StrictChoiceField):
    """What to do with the card looked at."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=[decision.value for decision in DrawDecision], **kwargs)

    def to_internal_value(self, data: Any) -> DrawDecision:
        """Take one of the words."""
        return DrawDecision(super().to_internal_value(data))


def _ruleset() -> RulesetField:
    return RulesetField(help_text="A preset's name and what differs from it. It is checked as a whole.")


def _trick_number(help_text: str) -> StrictIntegerField:
    return StrictIntegerField(min_value=1, max_value=MOST_TRICKS, help_text=help_text)


class ResolveRulesetSerializer(StrictSerializer):
    """A ruleset to complete and check."""

    ruleset = _ruleset()


class PlayedSerializer(StrictSerializer):
    """A card on the table, and who played it."""

    seat = SeatField()
    card = CardField()


class PlayQuestionSerializer(StrictSerializer):
    """Which cards may be played?"""

    ruleset = _ruleset()
    seat = SeatField(help_text="Who asks.")
    hand = StrictListField(
        child=CardField(), max_length=MOST_TRICKS, help_text="Its cards, in any order; none that were played."
    )
    trick = StrictListField(
        child=PlayedSerializer(),
        max_length=MOST_SEATS,
        help_text="The cards on the table, in order of play, or in any order with `leader`; empty when the seat leads.",
    )
    trick_number = _trick_number("From 1.")
    spades_broken = StrictBooleanField(help_text="Whether spades were broken before this card.")
    leader = SeatField(
        required=False,
        allow_null=True,
        help_text="Who leads or led the trick; by default who played its first card, or else the seat that asks.",
    )
    lowest_club_in_deck = CardField(
        required=False,
        allow_null=True,
        help_text="The lowest club of the deck as you have it, to be checked against what the ruleset says.",
    )
    card = CardField(required=False, allow_null=True, help_text="One to answer about, held or not.")


class TrickQuestionSerializer(StrictSerializer):
    """Who won the trick?"""

    ruleset = _ruleset()
    trick = StrictListField(
        child=PlayedSerializer(),
        max_length=MOST_SEATS,
        help_text="All its cards, in order of play, or in any order with `leader`.",
    )
    trick_number = _trick_number("From 1.")
    spades_broken = StrictBooleanField(help_text="Whether spades were broken before this trick.")
    leader = SeatField(required=False, allow_null=True, help_text="Who led; by default who played the first card.")


class LeaderQuestionSerializer(StrictSerializer):
    """Who leads?"""

    ruleset = _ruleset()
    dealer = SeatField()
    trick_number = _trick_number("From 1: of the trick that is to be led.")
    last_winner = SeatField(
        required=False, allow_null=True, help_text="Who won the trick before; needed from the second on."
    )
    holder_of_lowest_club = SeatField(
        required=False,
        allow_null=True,
        help_text="Needed for the first trick where the lowest club leads it; of two holders the first from the "
        "dealer's left.",
    )
    bids = BySeatField(
        child=BidField(),
        required=False,
        allow_null=True,
        help_text="Needed of every seat for the first trick where the highest bidder leads it; none where the first "
        "hand bids itself.",
    )


class BidQuestionSerializer(StrictSerializer):
    """What may be bid?"""

    ruleset = _ruleset()
    seat = SeatField(help_text="Who is to bid.")
    hand = StrictListField(
        child=CardField(),
        required=False,
        allow_null=True,
        max_length=MOST_TRICKS,
        help_text="All its cards, in any order; needed where bids follow from the spades held.",
    )
    hand_seen = StrictBooleanField(
        required=False,
        allow_null=True,
        help_text="Whether the seat has seen its hand, as by default; if not, it may only bid blind.",
    )
    bids = BySeatField(
        child=BidField(),
        required=False,
        allow_null=True,
        help_text="Bids made so far, a partner's proposal among them. The seats left out bid later, clockwise.",
    )
    scores = BySideField(
        child=StrictIntegerField(min_value=-MOST_POINTS, max_value=MOST_POINTS),
        required=False,
        allow_null=True,
        help_text="Points of each side before the deal; a side left out has none.",
    )
    deal_number = StrictIntegerField(
        required=False, allow_null=True, min_value=1, max_value=DEAL_CAP, help_text="From 1, which is the default."
    )
    reconsidered = StrictBooleanField(
        required=False,
        allow_null=True,
        help_text="Where partners settle a contract: whether the side has sent proposals back in this deal. If you say "
        "that it has not, `legal` ends with `reconsider` where the seat may.",
    )
    bid = BidField(required=False, allow_null=True, help_text="One to answer about.")


class ProposedSerializer(StrictSerializer):
    """What a seat would decide."""

    seat = SeatField()
    decision = DecisionField(
        help_text="`keep` or `decline`; the others are always refused, each with the rule that forbids it."
    )


class DrawQuestionSerializer(StrictSerializer):
    """Where does the draw stand?"""

    ruleset = _ruleset()
    stock = StrictListField(
        child=CardField(),
        max_length=MOST_CARDS,
        help_text="The whole shuffled pack as it was at the start, top first.",
    )
    dealer = SeatField()
    decisions = StrictListField(
        child=DecisionField(),
        max_length=MOST_TRICKS,
        help_text="What was decided so far, turn by turn; the dealer's opponent has the first turn.",
    )
    proposed = ProposedSerializer(required=False, allow_null=True, help_text="A decision to answer about.")


class RecordQuestionSerializer(StrictSerializer):
    """Could this game have been played?"""

    record = RecordField(help_text="The JSON form as an object, or the text form as a string.")
