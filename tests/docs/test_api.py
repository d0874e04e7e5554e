from __future__ import annotations

import json
import re

import pytest

from contract.reasons import CATALOGUE
from tests.client import contract
from tests.docs import markdown
from tests.docs.markdown import FILES

API = markdown.read("docs/api.md")
DOCUMENT = contract().document
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = sorted(entry["operationId"] for item in DOCUMENT["paths"].values() for entry in item.values())
EXAMPLES = [
    pytest.param(label, content, id=f"{markdown.name(path)}-{label.partition(' ')[2]}-{index}")
    for path in FILES
    for index, (label, content) in enumerate(markdown.blocks(path.read_text(encoding="utf-8")))
    if label.startswith("json")
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_told_of(operation):
    assert operation in markdown.codes(markdown.prose(API))


@pytest.mark.parametrize(("label", "content"), EXAMPLES)
def test_an_example_is_what_the_schema_says(label, content):
    component = label.removeprefix("json").strip()
    value = json.loads(content)

    assert component in SCHEMAS, "behind the fence stands the component that the example is one of"
    validator = contract().validator({"$ref": f"#/components/schemas/{component}"})()
    assert [error.message for error in validator.iter_errors(value)] == []
    if component == "Problem":
        entry = CATALOGUE[value["reason"]]
        told = value["type"], value["title"], value["status"]
        assert told == (f"/problems/{entry.reason}", entry.title, entry.status)


def test_every_type_of_event_is_told_of():
    told = [
        event
        for rows in markdown.tables(markdown.section(API, "Events"))
        for cells in rows
        for event in markdown.codes(cells[0])
    ]

    assert sorted(told) == sorted(SCHEMAS["Event"]["discriminator"]["mapping"])


def _given() -> set[str]:
    """The reasons that some operation lists, and the one of an address that knows no such method."""
    found = {"method_not_allowed"}
    for schema in SCHEMAS.values():
        for part in schema.get("allOf", ()):
            found.update(part.get("properties", {}).get("reason", {}).get("enum", ()))
    return found


def test_every_reason_is_told_of_with_its_status_title_and_section():
    tables = markdown.tables(markdown.section(API, "Reasons"))

    told = []
    for rows in tables:
        for status, link, title in rows:
            match = re.fullmatch(r"\[`(\w+)`\]\((?:rules\.md)?#[\w-]+\)", link)
            assert match, f"{link}: each reason links the section that explains it"
            told.append((int(status), match[1], title))

    assert sorted(told) == sorted((entry.status, entry.reason, entry.title) for entry in CATALOGUE.values())
    assert all(rows == sorted(rows) for rows in tables)


def test_the_reasons_told_as_given_are_those_that_operations_list():
    given, faults, reserved = (
        {markdown.codes(cells[1])[0] for cells in rows} for rows in markdown.tables(markdown.section(API, "Reasons"))
    )

    assert given == _given()
    assert faults | reserved == set(CATALOGUE) - given
    assert {CATALOGUE[reason].status for reason in faults} == {400}
