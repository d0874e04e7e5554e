from __future__ import annotations

import pytest

from accounts import services
from tests.client import ApiClient


@pytest.fixture(autouse=True)
def _no_limits(settings):
    settings.RATE_LIMITS = False


@pytest.fixture
def api(db):
    """A client whose token may ask and do nothing else."""
    account, _ = services.create_account("Asker")
    with ApiClient(token=services.create_token(account.id, ["scoring"])) as client:
        yield client
