"""Strict bodies: JSON types exactly, no unknown field, every fault with its pointer.

The fields are DRF's, so that drf-spectacular can describe them, but they convert nothing: `"3"`, `3.0` and `true` are
no integers. A serializer is built once a class and then only read, which is what makes a body cheap; so a field or a
`validate` here must keep nothing of one request and must not look at `context`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import SkipField, empty

from contract.problems import MOST_FAULTS, ContractReason, faults_of, malformed

__all__ = [
    "NothingSerializer",
    "ParsedField",
    "StrictBooleanField",
    "StrictCharField",
    "StrictChoiceField",
    "StrictIntegerField",
    "StrictListField",
    "StrictSerializer",
    "StrictUUIDField",
    "prepare",
    "read_body",
    "refuse",
]

# Marks that change the direction of the text around them, so that a name could rewrite what stands beside it.
_DIRECTIONS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Marks that show nothing (but for the joiner that emoji are made with), and letters that look like a blank: two names
# would look alike, or like none.
_INVISIBLE: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_JOINER: Final = "\u200d"
_FORBIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Cn"})
_JSON_TYPES: Final = {
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


_BEYOND: Final = 2**63


def refuse(reason: ContractReason, detail: str) -> ValidationError:
    """Make the exception by which a field, or a serializer's `validate`, refuses a value."""
    return ValidationError([ErrorDetail(detail, code=reason.value)])


def _wrong_type(expected: str, value: Any) -> ValidationError:
    return refuse(
        ContractReason.WRONG_TYPE, f"Expected {expected}, got {_JSON_TYPES.get(type(value), 'something else')}."
    )


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer. `min_value` and `max_value` are what any ruleset could allow, not what this table's does."""

    def to_internal_value(self, data: Any) -> int:
        """Take an integer; `true` and `3.0` are none."""
        low, high = self.min_value, self.max_value
        if type(data) is not int:
            # The reader of JSON makes a float of an integer that has not 64 bits to stand in, which no field allows.
            if type(data) is not float or abs(data) < _BEYOND:
                raise _wrong_type("an integer", data)
            low, high = (-_BEYOND if low is None else low), (_BEYOND if high is None else high)
        if (low is not None and data < low) or (high is not None and data > high):
            if low is None or high is None:
                bounds = f"at least {low}" if high is None else f"at most {high}"
            else:
                bounds = f"between {low} and {high}"
            raise refuse(ContractReason.OUT_OF_RANGE, f"Expected a number {bounds}.")
        return data


class StrictBooleanField(serializers.BooleanField):
    """`true` or `false`."""

    def to_internal_value(self, data: Any) -> bool:
        """Take a boolean; 0, 1 and "true" are none."""
        if type(data) is not bool:
            raise _wrong_type("a boolean", data)
        return data


class StrictCharField(serializers.CharField):
    """A text without control characters, line ends, half surrogate pairs, unassigned characters and direction marks.

    White space at both ends is removed unless `trim_whitespace` is false; lengths are counted after that.
    """

    def run_validation(self, data: Any = empty) -> Any:
        """Leave out DRF's reading of an empty text as no text: its length is too small, like any other."""
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> Any:
        """Take a string."""
        if type(data) is not str:
            raise _wrong_type("a string", data)
        if not (data.isascii() and data.isprintable()):
            for character in data:
                forbidden = unicodedata.category(character) in _FORBIDDEN and character != _JOINER
                if forbidden or character in _DIRECTIONS or character in _INVISIBLE:
                    raise refuse(
                        ContractReason.FORBIDDEN_CHARACTER, f"The character U+{ord(character):04X} is not allowed."
                    )
        text = data.strip() if self.trim_whitespace else data
        low = self.min_length if self.min_length is not None else 0 if self.allow_blank else 1
        if len(text) < low:
            raise refuse(ContractReason.WRONG_LENGTH, f"Expected at least {low} character{'s' * (low != 1)}.")
        if self.max_length is not None and len(text) > self.max_length:
            raise refuse(
                ContractReason.WRONG_LENGTH, f"Expected at most {self.max_length} characters, got {len(text)}."
            )
        return text


class StrictChoiceField(serializers.ChoiceField):
    """One of a list of texts, spelt exactly."""

    def to_internal_value(self, data: Any) -> str:
        """Take one of the choices."""
        if type(data) is not str:
            raise _wrong_type("a string", data)
        if data not in self.choices:
            raise refuse(ContractReason.NOT_ALLOWED_VALUE, f"Expected one of {', '.join(map(str, self.choices))}.")
        return data


class StrictUUIDField(serializers.UUIDField):
    """An id in its usual form: 32 hexadecimal digits in five groups."""

    def to_internal_value(self, data: Any) -> UUID:
        """Take an id; braces, `urn:uuid:` and numbers are refused."""
        if type(data) is not str:
            raise _wrong_type("a string", data)
        try:
            value = UUID(data)
        except ValueError:
            value = None
        if value is None or str(value) != data.lower():
            raise refuse(ContractReason.BAD_FORMAT, "Expected an id, such as 018f3c5e-7a00-7cc3-98c5-0242ac120002.")
        return value


class ParsedField(serializers.CharField):
    """A text that a function of the domain reads, such as `Card.parse`; gives what that returns.

    Args:
        parse: raises ValueError (a `NotationError` is one) for a text that it cannot read.
        pattern: the regular expression of what it can read, for the schema.
        expected: what to say that was expected, such as "a card such as QH".
    """

    def __init__(self, *, parse: Callable[[str], Any], pattern: str, expected: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.parse = parse
        self.pattern = pattern
        self.expected = expected

    def run_validation(self, data: Any = empty) -> Any:
        """Hand the text to `parse` as it is."""
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> Any:
        """Take a string that `parse` can read."""
        if type(data) is not str:
            raise _wrong_type("a string", data)
        try:
            return self.parse(data)
        except ValueError:
            raise refuse(ContractReason.BAD_FORMAT, f"Expected {self.expected}.") from None


class StrictListField(serializers.ListField):
    """An array, each element read by `child`; with `unique`, no two alike."""

    def __init__(self, *, unique: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.unique = unique

    def to_internal_value(self, data: Any) -> list[Any]:
        """Take an array; every element that is refused has its fault."""
        if type(data) is not list:
            raise _wrong_type("an array", data)
        if (self.min_length is not None and len(data) < self.min_length) or (
            self.max_length is not None and len(data) > self.max_length
        ):
            raise refuse(
                ContractReason.WRONG_LENGTH,
                f"Expected {self.min_length or 0} to {self.max_length or 'any number of'} elements, got {len(data)}.",
            )
        values: list[Any] = []
        errors: dict[Any, Any] = {}
        for index, element in enumerate(data):
            try:
                value = self.child.run_validation(element)
            except ValidationError as exc:
                errors[index] = exc.detail
                continue
            if self.unique and value in values:
                errors[index] = refuse(ContractReason.NOT_ALLOWED_VALUE, "The element is there already.").detail
            values.append(value)
        if errors:
            raise ValidationError(errors)
        return values


def _read_field(field: Any, raw: Any) -> Any:
    if field.read_only:
        if raw is empty:
            raise SkipField
        raise refuse(ContractReason.UNKNOWN_FIELD, "This field is answered, never accepted.")
    if raw is empty and field.required:
        raise refuse(ContractReason.MISSING_FIELD, "This field is required.")
    if raw is None and not field.allow_null:
        raise refuse(ContractReason.WRONG_TYPE, "This field may not be null.")
    return field.run_validation(raw)


class StrictSerializer(serializers.Serializer[Any]):
    """An object whose fields are those declared, and no others.

    A subclass may define `validate(values)` for what concerns several fields; it raises `refuse(...)`, or a
    `ValidationError` of a dict by field name.
    """

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Take an object; collect every fault before refusing."""
        if type(data) is not dict:
            raise _wrong_type("an object", data)
        values: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        fields = self.fields
        known = 0
        for name, field in fields.items():
            raw = data.get(name, empty)
            known += raw is not empty
            try:
                values[field.source or name] = _read_field(field, raw)
            except SkipField:
                pass
            except ValidationError as exc:
                errors[name] = exc.detail
        if known != len(data):
            unknown = [ErrorDetail("There is no such field here.", code="unknown_field")]
            errors |= dict.fromkeys(islice((name for name in data if name not in fields), MOST_FAULTS), unknown)
        if errors:
            raise ValidationError(errors)
        return values

    def run_validation(self, data: Any = empty) -> Any:
        """Read `data`, then let `validate` look at the whole."""
        (is_empty, data) = self.validate_empty_values(data)
        if is_empty:
            return data
        return self.validate(self.to_internal_value(data))


class NothingSerializer(StrictSerializer):
    """An empty object, or no body at all."""


_built: dict[type[serializers.Serializer[Any]], serializers.Serializer[Any]] = {}


def read_body(request: Any, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """Read the body of a request as `serializer` has it; an empty body reads as `{}`.

    Args:
        request: a request as an `Endpoint` gets it.
        serializer: the class, not an instance; one instance is made of it and kept.

    Raises:
        Problem: `malformed` with every fault, `payload_too_large` or `unsupported_media_type`.
    """
    instance = _built.get(serializer)
    if instance is None:
        instance = serializer()
        prepare(instance.fields.values())
        _built[serializer] = instance
    try:
        values: dict[str, Any] = instance.run_validation(request.data)
    except ValidationError as exc:
        raise malformed(faults_of(exc.detail)) from None
    return values


def prepare(fields: Iterable[Any]) -> None:
    """Make lazily built parts of fields now, before several threads share them."""
    for field in fields:
        _ = field.validators, field.root
        if isinstance(field, StrictListField):
            prepare([field.child])
        if isinstance(field, serializers.ListSerializer):
            prepare([field.child])
        elif isinstance(field, serializers.Serializer):
            prepare(field.fields.values())
