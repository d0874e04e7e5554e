from __future__ import annotations

from types import SimpleNamespace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError

from contract.problems import ContractReason, Problem
from contract.serializers import (
    ParsedField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
    StrictUUIDField,
    read_body,
    refuse,
)


class SeatSerializer(StrictSerializer):
    name = StrictCharField(max_length=5)
    kind = StrictChoiceField(choices=["human", "bot"], default="human")


def _half(text: str) -> int:
    if not text.isdigit():
        raise ValueError(text)
    return int(text) // 2


class EverythingSerializer(StrictSerializer):
    tricks = StrictIntegerField(min_value=0, max_value=54, required=False)
    rated = StrictBooleanField(required=False)
    name = StrictCharField(min_length=2, max_length=5, required=False)
    kind = StrictChoiceField(choices=["human", "bot"], required=False)
    game = StrictUUIDField(required=False)
    half = ParsedField(parse=_half, pattern="^[0-9]+$", expected="digits", required=False)
    cards = StrictListField(child=StrictCharField(), min_length=1, max_length=3, unique=True, required=False)
    seat = SeatSerializer(required=False, allow_null=True)
    seats = SeatSerializer(many=True, required=False)
    made = StrictIntegerField(read_only=True)

    def validate(self, values):
        if values.get("tricks") == 13 and values.get("rated"):
            raise refuse(ContractReason.NOT_ALLOWED_VALUE, "Not together.")
        return values


def read(data):
    return read_body(SimpleNamespace(data=data), EverythingSerializer)


def faults(data):
    with pytest.raises(Problem) as refused:
        read(data)
    assert refused.value.reason == "malformed"
    return [(fault.pointer, fault.reason) for fault in refused.value.errors]


ID = "018f3c5e-7a00-7cc3-98c5-0242ac120002"

ACCEPTED = [
    ({}, {}),
    ({"tricks": 0}, {"tricks": 0}),
    ({"tricks": 54}, {"tricks": 54}),
    ({"rated": False}, {"rated": False}),
    ({"name": "  Zoë  "}, {"name": "Zoë"}),
    ({"name": "👩‍🚀"}, {"name": "👩‍🚀"}),
    ({"kind": "bot"}, {"kind": "bot"}),
    ({"game": ID.upper()}, {"game": UUID(ID)}),
    ({"half": "9"}, {"half": 4}),
    ({"cards": ["QH"]}, {"cards": ["QH"]}),
    ({"seat": None}, {"seat": None}),
    ({"seat": {"name": "Ann"}}, {"seat": {"name": "Ann", "kind": "human"}}),
    ({"seats": [{"name": "Ann", "kind": "bot"}]}, {"seats": [{"name": "Ann", "kind": "bot"}]}),
]

REFUSED = [
    ({"tricks": "3"}, "/tricks", "wrong_type"),
    ({"tricks": 3.0}, "/tricks", "wrong_type"),
    ({"tricks": True}, "/tricks", "wrong_type"),
    ({"tricks": None}, "/tricks", "wrong_type"),
    ({"tricks": [3]}, "/tricks", "wrong_type"),
    ({"tricks": -1}, "/tricks", "out_of_range"),
    ({"tricks": 55}, "/tricks", "out_of_range"),
    ({"tricks": 10**12}, "/tricks", "out_of_range"),
    ({"tricks": 10**20}, "/tricks", "out_of_range"),
    ({"tricks": -(10**20)}, "/tricks", "out_of_range"),
    ({"tricks": 1e12}, "/tricks", "wrong_type"),
    ({"rated": 1}, "/rated", "wrong_type"),
    ({"rated": "true"}, "/rated", "wrong_type"),
    ({"rated": None}, "/rated", "wrong_type"),
    ({"name": 3}, "/name", "wrong_type"),
    ({"name": ""}, "/name", "wrong_length"),
    ({"name": " a "}, "/name", "wrong_length"),
    ({"name": "abcdef"}, "/name", "wrong_length"),
    ({"name": "a\nb"}, "/name", "forbidden_character"),
    ({"name": "a\x00b"}, "/name", "forbidden_character"),
    ({"name": "a\x7fb"}, "/name", "forbidden_character"),
    ({"name": "a\x9fb"}, "/name", "forbidden_character"),
    ({"name": "a\u2028b"}, "/name", "forbidden_character"),
    ({"name": "a\u202eb"}, "/name", "forbidden_character"),
    ({"name": "a\ud800b"}, "/name", "forbidden_character"),
    ({"kind": "robot"}, "/kind", "not_allowed_value"),
    ({"kind": "Bot"}, "/kind", "not_allowed_value"),
    ({"kind": True}, "/kind", "wrong_type"),
    ({"kind": ["bot"]}, "/kind", "wrong_type"),
    ({"game": "urn:uuid:" + ID}, "/game", "bad_format"),
    ({"game": ID.replace("-", "")}, "/game", "bad_format"),
    ({"game": 7}, "/game", "wrong_type"),
    ({"half": "x"}, "/half", "bad_format"),
    ({"half": 8}, "/half", "wrong_type"),
    ({"cards": "QH"}, "/cards", "wrong_type"),
    ({"cards": {"0": "QH"}}, "/cards", "wrong_type"),
    ({"cards": []}, "/cards", "wrong_length"),
    ({"cards": ["1", "2", "3", "4"]}, "/cards", "wrong_length"),
    ({"cards": ["QH", "QH"]}, "/cards/1", "not_allowed_value"),
    ({"cards": ["QH", 7]}, "/cards/1", "wrong_type"),
    ({"seat": {}}, "/seat/name", "missing_field"),
    ({"seat": []}, "/seat", "wrong_type"),
    ({"seat": {"name": "Ann", "x": 1}}, "/seat/x", "unknown_field"),
    ({"seats": [{"name": "Ann"}, {"name": "Robert"}]}, "/seats/1/name", "wrong_length"),
    ({"seats": {}}, "/seats", "wrong_type"),
    ({"made": 1}, "/made", "unknown_field"),
    ({"a/b~c": 1}, "/a~1b~0c", "unknown_field"),
    ({"tricks": 13, "rated": True}, "", "not_allowed_value"),
    ([], "", "wrong_type"),
    ("text", "", "wrong_type"),
    (None, "", "wrong_type"),
]


@pytest.mark.parametrize(("data", "values"), ACCEPTED, ids=[str(data) for data, _ in ACCEPTED])
def test_what_is_declared_is_read(data, values):
    assert read(data) == values


@pytest.mark.parametrize(("data", "pointer", "reason"), REFUSED, ids=[ascii(data) for data, *_ in REFUSED])
def test_what_is_not_declared_is_refused_with_a_pointer(data, pointer, reason):
    assert faults(data) == [(pointer, reason)]


def test_every_fault_is_listed():
    assert faults({"tricks": "3", "seat": {"name": 1, "kind": 2}, "x": 1, "y": 2}) == [
        ("/tricks", "wrong_type"),
        ("/seat/name", "wrong_type"),
        ("/seat/kind", "wrong_type"),
        ("/x", "unknown_field"),
        ("/y", "unknown_field"),
    ]


def test_what_one_request_sent_is_not_seen_by_the_next():
    read({"tricks": 4, "name": "Ann"})

    assert read({"rated": True}) == {"rated": True}


def test_a_detail_never_repeats_a_whole_value():
    with pytest.raises(Problem) as refused:
        read({"name": "secret" * 1000})

    assert "secret" not in refused.value.errors[0].detail


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
    | st.dictionaries(
        st.sampled_from(["tricks", "rated", "name", "kind", "game", "half", "cards", "seat", "seats"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
    )
)
def test_any_value_is_read_or_refused(data):
    refused = None

    try:
        read(data)
    except Problem as problem:
        refused = problem

    assert refused is None or (refused.status == 400 and refused.errors)


def test_a_serializer_used_the_usual_way_refuses_alike():
    serializer = SeatSerializer(data={"name": 3})

    with pytest.raises(ValidationError):
        serializer.is_valid(raise_exception=True)
