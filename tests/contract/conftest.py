from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_limits(settings):
    settings.RATE_LIMITS = False
