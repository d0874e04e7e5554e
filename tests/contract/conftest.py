from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items):
    """What asks about the whole run runs last."""
    last = [item for item in items if item.path.name == "test_exercised.py"]
    items[:] = [item for item in items if item not in last] + last


pytest_collection_modifyitems = pytest.hookimpl(trylast=True)(pytest_collection_modifyitems)


@pytest.fixture(autouse=True)
def _no_limits(settings):
    settings.RATE_LIMITS = False
