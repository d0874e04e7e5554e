"""The bodies that the scoring app takes."""

from __future__ import annotations

from typing import Final

from contract.fields import MOST_TRICKS, BidField, BySeatField, BySideField, RulesetField, SideField
from contract.serializers import StrictCharField, StrictIntegerField, StrictListField, StrictSerializer
from spades.sheet import DEAL_CAP

__all__ = ["AdjustmentSerializer", "ScoreDealSerializer", "ScoreGameSerializer", "WhatIfSerializer"]

MOST_POINTS: Final = 1_000_000
"""No game comes near. It keeps sums within what every reader of JSON takes exactly."""


class StandingSerializer(StrictSerializer):
    """How the sides stand before a deal. A side left out stands at nothing."""

    scores = BySideField(
        child=StrictIntegerField(min_value=-MOST_POINTS, max_value=MOST_POINTS),
        required=False,
        help_text="Points by side.",
    )
    bags = BySideField(
        child=StrictIntegerField(min_value=0, max_value=10_000),
        required=False,
        help_text="Bags by side. Where there is a limit, full ones are taken to have been paid for.",
    )
    sets = BySideField(
        child=StrictIntegerField(min_value=0, max_value=DEAL_CAP),
        required=False,
        help_text="By side, how often it was set; where sets can lose a game.",
    )
    deal_number = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=DEAL_CAP,
        help_text="The number of this deal. Left out it is 1, or 2 where the first hand bids itself and somebody bid.",
    )


class AdjustmentSerializer(StrictSerializer):
    """Points that are given or taken for a reason of one's own."""

    side = SideField()
    points = StrictIntegerField(min_value=-MOST_POINTS, max_value=MOST_POINTS)
    why = StrictCharField(required=False, max_length=200, help_text="For people; the rules know nothing of it.")


class DealToldSerializer(StrictSerializer):
    """What happened in one deal."""

    bids = BySeatField(
        child=BidField(), required=False, help_text="Each seat's bid; left out, or empty, where nobody bids."
    )
    tricks = BySeatField(
        child=StrictIntegerField(min_value=0, max_value=MOST_TRICKS), help_text="The tricks that each seat took."
    )
    blind_sides = StrictListField(
        child=SideField(),
        required=False,
        unique=True,
        max_length=6,
        help_text="Sides whose numbers were bid blind: the same as bids of the kind `blind`.",
    )
    adjustments = StrictListField(child=AdjustmentSerializer(), required=False, max_length=20)


class ScoreDealSerializer(DealToldSerializer):
    """A deal to score."""

    ruleset = RulesetField(help_text="A preset's name and what differs from it.")
    before = StandingSerializer(required=False)


class ScoreGameSerializer(StrictSerializer):
    """A game to score, from its first deal on."""

    ruleset = RulesetField(help_text="A preset's name and what differs from it.")
    deals = StrictListField(child=DealToldSerializer(), max_length=DEAL_CAP)


class WhatIfSerializer(StrictSerializer):
    """A side that wonders what to bid."""

    ruleset = RulesetField(help_text="A preset's name and what differs from it.")
    before = StandingSerializer(required=False)
    side = SideField(help_text="The side that asks.")
    bids = BySeatField(child=BidField(), required=False, help_text="Bids that are known, of any seats.")
