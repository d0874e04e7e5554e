from __future__ import annotations

from uuid import UUID

import pytest
from django.test import RequestFactory

from contract.problems import Problem
from contract.queries import Parameter, read_query

ID = "018f3c5e-7a00-7cc3-98c5-0242ac120002"
PARAMETERS = [
    Parameter("limit", kind="integer", description="L", minimum=1, maximum=200, default=50),
    Parameter("dry_run", kind="boolean", description="D", default=False),
    Parameter("status", kind="string", description="S", choices=("waiting", "active")),
    Parameter("cursor", kind="string", description="C"),
    Parameter("game", kind="uuid", description="G"),
]
DEFAULTS = {"limit": 50, "dry_run": False, "status": None, "cursor": None, "game": None}


def read(query):
    return read_query(RequestFactory().get(f"/v1/games?{query}"), PARAMETERS)


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("", {}),
        ("limit=1", {"limit": 1}),
        ("limit=200&dry_run=true", {"limit": 200, "dry_run": True}),
        ("dry_run=false", {"dry_run": False}),
        ("status=active", {"status": "active"}),
        ("cursor=a%2Bb%20c", {"cursor": "a+b c"}),
        (f"game={ID}", {"game": UUID(ID)}),
    ],
)
def test_a_query_is_read_as_declared(query, given):
    assert read(query) == {**DEFAULTS, **given}


@pytest.mark.parametrize(
    ("query", "pointer", "reason"),
    [
        ("limits=1", "?limits", "unknown_field"),
        ("limit=1&limit=2", "?limit", "duplicate_field"),
        ("limit=", "?limit", "wrong_type"),
        ("limit=x", "?limit", "wrong_type"),
        ("limit=1.0", "?limit", "wrong_type"),
        ("limit=%2B1", "?limit", "wrong_type"),
        ("limit=01", "?limit", "wrong_type"),
        ("limit=%D9%A3", "?limit", "wrong_type"),
        ("limit=0", "?limit", "out_of_range"),
        ("limit=201", "?limit", "out_of_range"),
        ("limit=99999999999999999999999", "?limit", "wrong_type"),
        ("dry_run=True", "?dry_run", "not_allowed_value"),
        ("dry_run=1", "?dry_run", "not_allowed_value"),
        ("dry_run", "?dry_run", "not_allowed_value"),
        ("status=ended", "?status", "not_allowed_value"),
        ("cursor=%00", "?cursor", "forbidden_character"),
        ("cursor=%FF", "?cursor", "forbidden_character"),
        (f"cursor={'x' * 513}", "?cursor", "wrong_length"),
        ("game=7", "?game", "bad_format"),
    ],
)
def test_a_query_of_another_form_is_refused_with_the_parameter(query, pointer, reason):
    with pytest.raises(Problem) as refused:
        read(query)

    [fault] = refused.value.errors
    assert (fault.pointer, fault.reason) == (pointer, reason)


def test_every_fault_of_a_query_is_listed():
    with pytest.raises(Problem) as refused:
        read("limit=x&status=ended&a=1")

    assert [fault.pointer for fault in refused.value.errors] == ["?limit", "?status", "?a"]


def test_a_parameter_describes_what_it_reads():
    assert PARAMETERS[0].schema() == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
    assert PARAMETERS[2].schema() == {"type": "string", "enum": ["waiting", "active"]}
    assert PARAMETERS[4].schema() == {"type": "string", "format": "uuid"}
