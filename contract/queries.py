"""Query parameters: declared once, read and documented from the same declaration.

Like fields of a body, they are strict: an unknown one, one given twice, or a value of another form is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal
from uuid import UUID

from django.http import HttpRequest, QueryDict
from rest_framework.request import Request

from contract.problems import ContractReason, Fault, malformed

__all__ = ["Parameter", "read_query"]

_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})\Z")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_MOST_CHARACTERS: Final = 512


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter of an operation.

    Attributes:
        kind: `boolean` is `true` or `false`; `integer` has no sign but a minus, and no leading zero.
        minimum, maximum: bounds of an integer.
        choices: the texts allowed.
        default: what the operation gets when the parameter is absent.
    """

    name: str
    kind: Literal["integer", "string", "boolean", "uuid"]
    description: str
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    default: Any = None

    def read(self, text: str) -> Any:
        """Read the value that `text` spells.

        Raises:
            ValueError: with the reason and a sentence.
        """
        if self.kind == "boolean":
            if text not in ("true", "false"):
                raise ValueError(ContractReason.NOT_ALLOWED_VALUE, "must be true or false")
            return text == "true"
        if self.kind == "integer":
            if not _INTEGER.match(text):
                raise ValueError(ContractReason.WRONG_TYPE, "must be an integer in digits")
            number = int(text)
            if (self.minimum is not None and number < self.minimum) or (
                self.maximum is not None and number > self.maximum
            ):
                raise ValueError(ContractReason.OUT_OF_RANGE, f"must lie between {self.minimum} and {self.maximum}")
            return number
        if self.kind == "uuid":
            if not _UUID.match(text):
                raise ValueError(
                    ContractReason.BAD_FORMAT, "must be an id, such as 018f3c5e-7a00-7cc3-98c5-0242ac120002"
                )
            return UUID(text)
        if self.choices and text not in self.choices:
            raise ValueError(ContractReason.NOT_ALLOWED_VALUE, f"must be one of {', '.join(self.choices)}")
        if len(text) > _MOST_CHARACTERS:
            raise ValueError(ContractReason.WRONG_LENGTH, f"may have {_MOST_CHARACTERS} characters")
        if "\x00" in text or "\ufffd" in text:  # Django reads bytes that are no UTF-8 as U+FFFD
            raise ValueError(ContractReason.FORBIDDEN_CHARACTER, "has a character that is not allowed")
        return text

    def schema(self) -> dict[str, Any]:
        """Describe the value as JSON Schema."""
        schema: dict[str, Any] = {"type": "string" if self.kind == "uuid" else self.kind}
        if self.kind == "uuid":
            schema["format"] = "uuid"
        if self.minimum is not None:
            schema["minimum"] = self.minimum
        if self.maximum is not None:
            schema["maximum"] = self.maximum
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default is not None:
            schema["default"] = self.default
        return schema


def defaults(parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    """Give what a request without any query asks for."""
    return MappingProxyType({parameter.name: parameter.default for parameter in parameters})


def read_query(request: HttpRequest | Request, parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    """Read the query of a request: a value for each parameter, its default where it is absent.

    Raises:
        Problem: `malformed`, with every fault.
    """
    values = dict(defaults(parameters))
    given = QueryDict(request.META.get("QUERY_STRING", ""))
    known = {parameter.name: parameter for parameter in parameters}
    faults = []
    for name, texts in given.lists():
        parameter = known.get(name)
        if parameter is None:
            faults.append(Fault(f"?{name[:80]}", ContractReason.UNKNOWN_FIELD, "This operation has no such parameter."))
        elif len(texts) > 1:
            faults.append(Fault(f"?{name}", ContractReason.DUPLICATE_FIELD, "The parameter is given more than once."))
        else:
            try:
                values[name] = parameter.read(str(texts[0]))
            except ValueError as exc:
                reason, sentence = exc.args
                faults.append(Fault(f"?{name}", reason, f"The parameter {sentence}."))
    if faults:
        raise malformed(faults)
    return values
