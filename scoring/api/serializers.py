"""The bodies that the scoring app takes."""

from __future__ import annotations

from typing import Any, Final

from rest_framework.exceptions import ValidationError

from contract.fields import (
    MOST_POINTS,
    MOST_TRICKS,
    BidField,
    BySeatField,
    BySideField,
    RecordField,
    RulesetField,
    SeatField,
    SideField,
)
from contract.problems import ContractReason
from contract.serializers import (
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
    refuse,
)
from scoring.boards import NAME_MOST, NOTE_MOST, WHY_MOST
from spades.sheet import DEAL_CAP

__all__ = [
    "AddDealSerializer",
    "AdjustSheetSerializer",
    "CertifySheetSerializer",
    "ChangeDealSerializer",
    "ChangeSheetSerializer",
    "ImportIntoSheetSerializer",
    "ImportSheetSerializer",
    "ModeSerializer",
    "ScoreDealSerializer",
    "ScoreGameSerializer",
    "ShareLinkSerializer",
    "SheetSerializer",
    "WhatIfSerializer",
]


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


class SheetStandingSerializer(StandingSerializer):
    """How the sides stand before the first deal of a sheet. A side left out stands at nothing."""

    deal_number = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=DEAL_CAP,
        help_text="The number of that deal in its game; left out it is the first.",
    )


class AdjustmentSerializer(StrictSerializer):
    """Points that are given or taken for a reason of one's own."""

    side = SideField()
    points = StrictIntegerField(min_value=-MOST_POINTS, max_value=MOST_POINTS)
    why = StrictCharField(required=False, max_length=WHY_MOST, help_text="For people; the rules know nothing of it.")


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

    ruleset = RulesetField()
    before = StandingSerializer(required=False)


class ScoreGameSerializer(StrictSerializer):
    """A game to score, from its first deal on."""

    ruleset = RulesetField()
    deals = StrictListField(child=DealToldSerializer(), max_length=DEAL_CAP)


class WhatIfSerializer(StrictSerializer):
    """A side that wonders what to bid."""

    ruleset = RulesetField()
    before = StandingSerializer(required=False)
    side = SideField(help_text="The side that asks.")
    bids = BySeatField(child=BidField(), required=False, help_text="Bids that are known, of any seats.")


LINK_SECONDS_LEAST: Final = 60
LINK_SECONDS_MOST: Final = 365 * 24 * 3600


def _name() -> StrictCharField:
    return StrictCharField(max_length=NAME_MOST)


class SheetSerializer(StrictSerializer):
    """A sheet to keep: an empty one under a ruleset, or one with the deals of a record."""

    ruleset = RulesetField(required=False)
    record = RecordField(required=False, help_text="In place of `ruleset`: the game, as an object or as a text.")
    names = BySeatField(
        child=_name(), required=False, help_text="Who sits where; a seat left out has its name in the record, if any."
    )
    dealer = SeatField(required=False, help_text="Who deals first; by default the first seat. A record says who.")
    note = StrictCharField(required=False, max_length=NOTE_MOST, help_text="Whatever is worth noting about the game.")
    before = SheetStandingSerializer(
        required=False,
        help_text="Of a game begun elsewhere: how the sides stand before the sheet's first deal.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A ruleset or a record; a record has its dealer."""
        if ("ruleset" in attrs) == ("record" in attrs):
            raise refuse(ContractReason.MISSING_FIELD, "Either ruleset or record is required, and not both.")
        for name, told in (("dealer", "The record says who dealt first."), ("before", "A record begins its game.")):
            if "record" in attrs and name in attrs:
                raise ValidationError({name: refuse(ContractReason.UNKNOWN_FIELD, told).detail})
        return attrs


class CertifySheetSerializer(StrictSerializer):
    """The record that a sheet is held against."""

    record = RecordField(help_text="The JSON form as an object, or the text form as a string.")


class ModeSerializer(StrictSerializer):
    """Whether the rules are asked."""

    mode = StrictChoiceField(
        choices=["strict", "lenient"],
        required=False,
        help_text="`lenient` writes down what the rules forbid, and flags it; by default it is refused.",
    )


class ChangeSheetSerializer(ModeSerializer):
    """What is to be another about a sheet; what is left out stays."""

    names = BySeatField(child=_name(), required=False, help_text="Names to write over the old ones.")
    dealer = SeatField(required=False, help_text="Who dealt first.")
    note = StrictCharField(required=False, max_length=NOTE_MOST, allow_null=True)
    before = SheetStandingSerializer(
        required=False, allow_null=True, help_text="How the sides stood before the sheet's first deal; as a whole."
    )


class ChangeDealSerializer(ModeSerializer):
    """What is to be another about a deal; what is left out stays."""

    bids = BySeatField(child=BidField(), required=False, help_text="Every seat's bid.")
    tricks = BySeatField(
        child=StrictIntegerField(min_value=0, max_value=MOST_TRICKS),
        required=False,
        help_text="The tricks that each seat took.",
    )
    blind_sides = StrictListField(
        child=SideField(), required=False, unique=True, max_length=6, help_text="Sides whose numbers were bid blind."
    )
    note = StrictCharField(required=False, max_length=NOTE_MOST, allow_null=True)


class AddDealSerializer(ChangeDealSerializer):
    """The bids of the next deal, and its tricks if it has been played."""


class AdjustSheetSerializer(ModeSerializer):
    """Points to give or take."""

    side = SideField()
    points = StrictIntegerField(min_value=-MOST_POINTS, max_value=MOST_POINTS)
    why = StrictCharField(required=False, max_length=WHY_MOST)


class KeptDealSerializer(StrictSerializer):
    """A deal as exports have it."""

    bids = BySeatField(child=BidField(), required=False)
    tricks = BySeatField(child=StrictIntegerField(min_value=0, max_value=MOST_TRICKS), required=False, allow_null=True)
    blind_sides = StrictListField(child=SideField(), required=False, unique=True, max_length=6)
    note = StrictCharField(required=False, max_length=NOTE_MOST, allow_null=True)


class KeptAdjustmentSerializer(StrictSerializer):
    """An adjustment as exports have it."""

    deal = StrictIntegerField(min_value=1, max_value=DEAL_CAP)
    side = SideField()
    points = StrictIntegerField(min_value=-MOST_POINTS, max_value=MOST_POINTS)
    why = StrictCharField(required=False, max_length=WHY_MOST, allow_null=True)


class ExportedSerializer(StrictSerializer):
    """A sheet as `export_sheet` gives it."""

    format = StrictIntegerField(min_value=1, max_value=1)
    ruleset = RulesetField()
    ruleset_hash = StrictCharField(required=False, max_length=64, help_text="If it is given, it must be the ruleset's.")
    names = BySeatField(child=StrictCharField(max_length=NAME_MOST, allow_null=True), required=False)
    dealer = SeatField(required=False)
    note = StrictCharField(required=False, max_length=NOTE_MOST, allow_null=True)
    before = SheetStandingSerializer(required=False, allow_null=True)
    deals = StrictListField(child=KeptDealSerializer(), required=False, max_length=DEAL_CAP)
    adjustments = StrictListField(child=KeptAdjustmentSerializer(), required=False, max_length=1000)


class StrictTextField(StrictCharField):
    """A text of several lines."""

    def to_internal_value(self, data: Any) -> Any:
        """Take a string; what its cells hold is for whoever reads it to check."""
        if type(data) is not str:
            raise refuse(ContractReason.WRONG_TYPE, "Expected a string.")
        return data


class ImportSheetSerializer(ModeSerializer):
    """A sheet to make of an export."""

    sheet = ExportedSerializer()


class ImportIntoSheetSerializer(ModeSerializer):
    """What is to stand on the sheet instead: an export of one with these rules, as JSON or as CSV."""

    sheet = ExportedSerializer(required=False)
    csv = StrictTextField(
        required=False, allow_blank=True, help_text="The text that `export_sheet` gives with `format=csv`."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of the two."""
        if ("sheet" in attrs) == ("csv" in attrs):
            raise refuse(ContractReason.MISSING_FIELD, "Either sheet or csv is required, and not both.")
        return attrs


class ShareLinkSerializer(StrictSerializer):
    """A share link to give out."""

    name = StrictCharField(required=False, max_length=40, help_text="Your own note of what it is for.")
    expires_in = StrictIntegerField(
        required=False,
        min_value=LINK_SECONDS_LEAST,
        max_value=LINK_SECONDS_MOST,
        help_text="Seconds until it ends; by default it holds until you delete it.",
    )
