"""Every operation that needs a token, and every scope, as the schema has them, asked for without."""

from __future__ import annotations

import pytest

from accounts import services
from contract.schema import ACCOUNT, NO_SCOPE
from tests.client import ApiClient, contract

pytestmark = pytest.mark.django_db

UNKNOWN = "018f3c5e-7a00-7cc3-98c5-0242ac120002"
GUARDED = [operation for operation in contract().operations.values() if operation.entry["x-tokens"]]
SCOPED = [
    operation
    for operation in GUARDED
    if ACCOUNT in operation.entry["x-tokens"] and operation.entry["x-scope"] != NO_SCOPE
]


def example_of_body(operation):
    """A body that is right, so that nothing but the token can be refused."""
    content = operation.entry.get("requestBody", {}).get("content", {}).get("application/json", {})
    return next((example["value"] for example in content.get("examples", {}).values()), None)


def ask(operation, token, game_id=UNKNOWN):
    values = {
        "game_id": game_id,
        "sheet_id": UNKNOWN,
        "seat": "A",
        "number": "1",
        "name": "two_player",
        "link_id": UNKNOWN,
    }
    body = example_of_body(operation)
    return ApiClient().request(operation.method, operation.path.format_map(values), json=body, token=token, bad=True)


@pytest.mark.parametrize("operation", GUARDED, ids=lambda operation: operation.id)
@pytest.mark.parametrize(
    "token",
    ["", "spk_" + "A" * 43, "sps_" + "A" * 43, "spw_" + "A" * 43, "spi_" + "A" * 43, "nonsense", "spk_short"],
    ids=["none", "unknown", "unknown seat", "unknown watcher", "invitation", "nonsense", "short"],
)
def test_an_operation_that_needs_a_token_refuses_whoever_has_none(operation, token):
    answer = ask(operation, token)

    if answer.status == 403:  # told from its kind alone, without looking it up
        assert token[:3] in ("sps", "spw")
        assert token[:3] not in operation.entry["x-tokens"]
        assert answer.reason == "scope_missing"
    else:
        assert (answer.status, answer.reason) == (401, "unauthenticated")


@pytest.mark.parametrize("operation", SCOPED, ids=lambda operation: operation.id)
def test_an_operation_refuses_a_token_without_its_scope(operation):
    account, token = services.create_account("Ann")
    made = ApiClient(token=token).post(
        "/v1/games", json={"ruleset": {"preset": "two_player"}, "seats": [{"kind": "human", "name": "Ann"}]}
    )
    without = services.create_token(account.id, ["admin"])

    answer = ask(operation, without, made.body["game"]["id"])

    assert (answer.status, answer.reason) == (403, "scope_missing")
