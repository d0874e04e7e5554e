"""The bodies that the games app takes."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts import bearer as bearers
from bots.player import REGISTRY
from contract.fields import MOST_TRICKS, CardField, RulesetField, SeatField
from contract.problems import ContractReason
from contract.serializers import (
    ParsedField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
    refuse,
)
from contract.shapes import ref
from games.models import Game
from spades import Bid, Card, DrawDecision

__all__ = [
    "BidSerializer",
    "ClientSeedSerializer",
    "DrawSerializer",
    "GameSerializer",
    "InvitationSerializer",
    "PassSerializer",
    "PlaySerializer",
    "TakeSeatSerializer",
    "WatchLinkSerializer",
]

DELAY_SECONDS_MOST = 3600

LINK_SECONDS_LEAST = 60
LINK_SECONDS_MOST = 30 * 24 * 3600


class GuestSerializer(StrictSerializer):
    """Who is to sit in a seat."""

    kind = StrictChoiceField(
        choices=["human", "bot", "open"], help_text="`human` is you: one seat, more with `hot_seat`."
    )
    name = StrictCharField(required=False, max_length=40, help_text="As the table sees it; by default your account's.")
    bot = StrictChoiceField(required=False, choices=sorted(REGISTRY), help_text="Which bot; only with `bot`.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A bot needs its name and a person has none; an open seat has nothing."""
        kind = attrs["kind"]
        foreign = {"human": {"bot"}, "bot": {"client_seed", "invitation", "accept_sandbox"}, "open": {"name", "bot"}}[
            kind
        ]
        extra = sorted(set(attrs) & foreign)
        if extra:
            raise serializers.ValidationError(
                {
                    name: refuse(ContractReason.UNKNOWN_FIELD, f"Not with a seat of kind {kind}.").detail
                    for name in extra
                }
            )
        if kind == "bot" and "bot" not in attrs:
            raise serializers.ValidationError(
                {"bot": refuse(ContractReason.MISSING_FIELD, "Which bot is to sit here?").detail}
            )
        return attrs


@extend_schema_field(ref("ScriptedHands"))
class HandsField(serializers.Field):
    """Hands by seat; which seats and how many cards there must be the ruleset says."""

    _hand = StrictListField(child=CardField(), max_length=54)

    def to_internal_value(self, data: Any) -> dict[str, list[Card]]:
        """Take an object of lists of cards."""
        if type(data) is not dict:
            raise refuse(ContractReason.WRONG_TYPE, "Expected an object of hands by seat.")
        hands, errors = {}, {}
        for seat, cards in data.items():
            try:
                hands[seat] = self._hand.run_validation(cards)
            except serializers.ValidationError as exc:
                errors[seat] = exc.detail
        if errors:
            raise serializers.ValidationError(errors)
        return hands

    def to_representation(self, value: Any) -> Any:
        """Never answered by this field."""
        return value


class ScriptedDealSerializer(StrictSerializer):
    """A deal that is set: who deals, and how the pack lies."""

    dealer = SeatField()
    stock = StrictListField(
        child=CardField(),
        required=False,
        max_length=108,
        help_text="The whole pack, top first, as it is drawn or dealt.",
    )
    hands = HandsField(
        required=False, help_text="Hands by seat, where cards are dealt; what is left stays out of play."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Either the stock or the hands."""
        return _either(attrs, "stock", "hands")


def _seed(text: str) -> str:
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        raise ValueError("no seed")
    return text


class SandboxSerializer(StrictSerializer):
    """What is set about a table's deals; no answer has it."""

    seed = ParsedField(
        parse=_seed,
        pattern="^[0-9a-f]{64}$",
        expected="64 hexadecimal digits in lower case",
        required=False,
        help_text="Every deal's seed follows from it.",
    )
    deals = StrictListField(
        child=ScriptedDealSerializer(),
        required=False,
        min_length=1,
        max_length=200,
        help_text="The first deals; later ones come from seeds of chance.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Either a seed or deals."""
        return _either(attrs, "seed", "deals")


def _either(attrs: dict[str, Any], one: str, other: str) -> dict[str, Any]:
    if one in attrs and other in attrs:
        detail = f"Not together with {one}."
        raise serializers.ValidationError({other: refuse(ContractReason.UNKNOWN_FIELD, detail).detail})
    if one not in attrs and other not in attrs:
        detail = f"Either {one} or {other} is required."
        raise serializers.ValidationError({one: refuse(ContractReason.MISSING_FIELD, detail).detail})
    return attrs


class GameSerializer(StrictSerializer):
    """A table to make."""

    ruleset = RulesetField()
    seats = StrictListField(
        child=GuestSerializer(), required=False, max_length=6, help_text="Who sits in the first seats, clockwise."
    )
    visibility = StrictChoiceField(
        choices=Game.Visibility.values,
        required=False,
        help_text="`public` tables are listed; `unlisted` ones may be watched by whoever knows the address.",
    )
    spectators = StrictChoiceField(choices=Game.Spectators.values, required=False)
    spectator_delay = StrictIntegerField(
        required=False,
        min_value=0,
        max_value=DELAY_SECONDS_MOST,
        help_text="Seconds by which watchers are told late what happens after the start; by default none.",
    )
    start = StrictChoiceField(choices=Game.Start.values, required=False, help_text="What starts a full table.")
    seating = StrictChoiceField(
        choices=Game.Seating.values,
        required=False,
        help_text="`by_draw` draws seats, and so partners, by lot when the game starts.",
    )

    hot_seat = StrictBooleanField(
        required=False, help_text="Whether one account may hold several seats, for people who share a device."
    )

    sandbox = SandboxSerializer(
        required=False, help_text="Sets the deals, for practice and tests; everybody sees that it was done."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A delay needs somebody who is told late."""
        if attrs.get("spectator_delay") and attrs.get("spectators") == Game.Spectators.FORBIDDEN:
            detail = "Nobody watches this table."
            raise serializers.ValidationError(
                {"spectator_delay": refuse(ContractReason.NOT_ALLOWED_VALUE, detail).detail}
            )
        return attrs


class TakeSeatSerializer(GuestSerializer):
    """Who sits down, and where."""

    kind = StrictChoiceField(choices=["human", "bot"], help_text="`human` is you; only the host seats a `bot`.")
    seat = SeatField(required=False, help_text="By default the first open seat.")
    client_seed = StrictCharField(
        required=False,
        max_length=64,
        help_text="A text of yours that enters the shuffles from deal 1 on; only with `human`.",
    )
    invitation = ParsedField(
        parse=bearers.invitation,
        pattern="^spi_[A-Za-z0-9_-]{43}$",
        expected="an invitation, which begins with spi_",
        required=False,
        help_text="The invitation that lets you sit here; only with `human`.",
    )
    accept_sandbox = StrictBooleanField(
        required=False, help_text="That you sit down although the deals were set; only with `human`."
    )


class InvitationSerializer(StrictSerializer):
    """An invitation to give out."""

    name = StrictCharField(required=False, max_length=40, help_text="Your own note of what it is for.")
    seat = SeatField(required=False, help_text="The one seat that it is for; by default any.")
    uses = StrictIntegerField(
        required=False, min_value=1, max_value=100, help_text="How many may sit down by it; by default one."
    )
    expires_in = StrictIntegerField(
        required=False,
        min_value=LINK_SECONDS_LEAST,
        max_value=LINK_SECONDS_MOST,
        help_text="Seconds until it ends; by default a week.",
    )


class WatchLinkSerializer(StrictSerializer):
    """A watch link to give out."""

    name = StrictCharField(required=False, max_length=40, help_text="Your own note of what it is for.")
    expires_in = StrictIntegerField(
        required=False,
        min_value=LINK_SECONDS_LEAST,
        max_value=LINK_SECONDS_MOST,
        help_text="Seconds until it ends; by default it holds until you delete it.",
    )


class DrawSerializer(StrictSerializer):
    """What to do with the card looked at."""

    decision = StrictChoiceField(
        choices=[decision.value for decision in DrawDecision],
        help_text="`keep` or `decline`; the others are always refused, each with the rule that forbids it.",
    )


class PassSerializer(StrictSerializer):
    """Cards to give away."""

    cards = StrictListField(
        child=CardField(),
        max_length=MOST_TRICKS,
        help_text="As many as `turn.legal` says.",
    )


class BidSerializer(StrictSerializer):
    """A bid, or the wish that the partners propose anew."""

    kind = StrictChoiceField(
        choices=["number", "nil", "blind_nil", "blind", "reconsider"],
        help_text="`reconsider` sends your partner's proposal back, once a deal.",
    )
    tricks = StrictIntegerField(
        required=False, min_value=0, max_value=MOST_TRICKS, help_text="With `number` and `blind`, and only with them."
    )
    hint_max = StrictIntegerField(
        required=False,
        min_value=0,
        max_value=MOST_TRICKS,
        help_text="With a proposal: the most that you would go to.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A number has its tricks, a nil has none, and who sends a proposal back has no bid at all."""
        counted = attrs["kind"] in ("number", "blind")
        if counted and "tricks" not in attrs:
            raise serializers.ValidationError({"tricks": refuse(ContractReason.MISSING_FIELD, "How many?").detail})
        if not counted and "tricks" in attrs:
            raise serializers.ValidationError(
                {"tricks": refuse(ContractReason.UNKNOWN_FIELD, "Only a number has tricks.").detail}
            )
        hint = {name: attrs.pop(name) for name in ("hint_max",) if name in attrs}
        if attrs["kind"] == "reconsider":
            if hint:
                raise serializers.ValidationError(
                    {"hint_max": refuse(ContractReason.UNKNOWN_FIELD, "A hint goes with a bid.").detail}
                )
            return {"bid": None}
        return {"bid": Bid.from_json(attrs), **hint}


class PlaySerializer(StrictSerializer):
    """A card to play."""

    card = CardField(help_text="Rank, then suit.")


class ClientSeedSerializer(StrictSerializer):
    """A text that enters shuffles."""

    client_seed = StrictCharField(max_length=64, help_text="Whatever nobody else would think of; others will see it.")


class LookSerializer(StrictSerializer):
    """`{"look": true}`, as `legal` has it; an empty object or no body asks for the same."""

    look = StrictBooleanField(required=False, help_text="True, if it is there.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take nothing but true, which is all that can be asked for."""
        if attrs.pop("look", True) is not True:
            detail = "Only true, or nothing, can be said here."
            raise serializers.ValidationError({"look": refuse(ContractReason.NOT_ALLOWED_VALUE, detail).detail})
        return attrs
