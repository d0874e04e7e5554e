"""Fields for the words of the game: a ruleset, a bid, and things said of each seat or side.

Like all fields of `contract.serializers` they refuse what no table could have. Whether this table has such a seat, and
whether its rules allow such a bid, is for whoever knows the ruleset.
"""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from contract.problems import MOST_FAULTS, ContractReason
from contract.serializers import ParsedField, StrictChoiceField, StrictIntegerField, StrictSerializer, prepare, refuse
from contract.shapes import CARD, SEAT, SIDE, ref
from spades.bids import Bid, BidKind
from spades.cards import Card
from spades.seats import SEATS, SIDES

__all__ = [
    "MOST_POINTS",
    "MOST_TRICKS",
    "BidField",
    "BySeatField",
    "BySideField",
    "CardField",
    "MapField",
    "RecordField",
    "RulesetField",
    "SeatField",
    "SideField",
]

MOST_TRICKS: Final = 54
"""No deal has more tricks than a pack has cards."""
MOST_POINTS: Final = 1_000_000
"""No game comes near. It keeps sums within what every reader of JSON takes exactly."""

_NUMBERS: Final = {"number": BidKind.NUMBER, "blind": BidKind.BLIND}
_NILS: Final = {"nil": Bid.nil(), "blind_nil": Bid(BidKind.BLIND_NIL)}


@extend_schema_field(ref("RulesetChoice"))
class RulesetField(serializers.Field):
    """A ruleset, flat; the rules themselves read it."""

    def __init__(self, *, help_text: str = "A preset's name and what differs from it.", **kwargs: Any) -> None:
        super().__init__(help_text=help_text, **kwargs)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Take an object."""
        if type(data) is not dict:
            raise refuse(ContractReason.WRONG_TYPE, "Expected an object of options by name.")
        return data

    def to_representation(self, value: Any) -> Any:
        """Never answered by this field."""
        return value


@extend_schema_field({"oneOf": [ref("RecordChoice"), {"type": "string"}]})
class RecordField(serializers.Field):
    """A record as JSON or as text; the library reads it."""

    def to_internal_value(self, data: Any) -> dict[str, Any] | str:
        """Take an object or a text."""
        if type(data) not in (dict, str):
            raise refuse(ContractReason.WRONG_TYPE, "Expected an object or a string.")
        given: dict[str, Any] | str = data
        return given

    def to_representation(self, value: Any) -> Any:
        """Never answered by this field."""
        return value


class _BidSerializer(StrictSerializer):
    """A bid, read slowly: it tells what is wrong with one."""

    kind = StrictChoiceField(choices=[*_NUMBERS, *_NILS])
    tricks = StrictIntegerField(required=False, min_value=0, max_value=MOST_TRICKS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A number has its tricks, and a nil has none."""
        counted = attrs["kind"] in _NUMBERS
        if counted and "tricks" not in attrs:
            raise ValidationError({"tricks": refuse(ContractReason.MISSING_FIELD, "How many?").detail})
        if not counted and "tricks" in attrs:
            raise ValidationError({"tricks": refuse(ContractReason.UNKNOWN_FIELD, "Only a number has tricks.").detail})
        return attrs


_bid: Final = _BidSerializer()
prepare(_bid.fields.values())


@extend_schema_field(ref("BidChoice"))
class BidField(serializers.Field):
    """A bid of any table; gives a `Bid`."""

    def to_internal_value(self, data: Any) -> Bid:
        """Take an object that is a bid."""
        if type(data) is dict:
            kind = data.get("kind")
            if type(kind) is str:
                if len(data) == 1 and kind in _NILS:
                    return _NILS[kind]
                tricks = data.get("tricks")
                if len(data) == 2 and kind in _NUMBERS and type(tricks) is int and 0 <= tricks <= MOST_TRICKS:
                    return Bid(_NUMBERS[kind], tricks)
        return Bid.from_json(dict(_bid.run_validation(data)))

    def to_representation(self, value: Any) -> Any:
        """Never answered by this field."""
        return value


class MapField(serializers.Field):
    """An object with a value for each of some seats or sides. Use `BySeatField` or `BySideField`.

    Args:
        child: the field of a value.
    """

    keys: frozenset[str]
    """All keys that any table could have."""
    pattern: str
    """Of a key, for the schema."""
    unknown: str

    def __init__(self, *, child: serializers.Field, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.child = child

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Take an object; every value that is refused has its fault, and so has every key that no table has."""
        if type(data) is not dict:
            raise refuse(ContractReason.WRONG_TYPE, "Expected an object.")
        values: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        read, keys, nulls = self.child.to_internal_value, self.keys, self.child.allow_null
        for key, value in data.items():
            if len(errors) >= MOST_FAULTS:
                break
            if key not in keys:
                errors[key] = [ErrorDetail(self.unknown, code=ContractReason.UNKNOWN_FIELD.value)]
                continue
            try:
                values[key] = None if value is None and nulls else read(value)
            except ValidationError as exc:
                errors[key] = exc.detail
        if errors:
            raise ValidationError(errors)
        return values

    def to_representation(self, value: Any) -> Any:
        """Never answered by this field."""
        return value


class BySeatField(MapField):
    """An object with a value for each of some seats."""

    keys = SEATS
    pattern = SEAT["pattern"]
    unknown = "No table has such a seat."


class BySideField(MapField):
    """An object with a value for each of some sides."""

    keys = SIDES
    pattern = SIDE["pattern"]
    unknown = "No table has such a side."


class CardField(ParsedField):
    """A card; gives a `Card`."""

    def __init__(self, **kwargs: Any) -> None:
        expected = "a card such as QH, T for the ten"
        super().__init__(parse=Card.parse, pattern=CARD["pattern"], expected=expected, **kwargs)


def _seat(text: str) -> str:
    if text not in SEATS:
        raise ValueError(text)
    return text


class SeatField(ParsedField):
    """A seat of any table."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(parse=_seat, pattern=SEAT["pattern"], expected="a seat such as N", **kwargs)


def _side(text: str) -> str:
    if text not in SIDES:
        raise ValueError(text)
    return text


class SideField(ParsedField):
    """A side, named by its seats."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(parse=_side, pattern=SIDE["pattern"], expected="a side such as NS", **kwargs)
