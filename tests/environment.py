"""A pytest plugin that is loaded before the settings are: it gives the tests a key, so that a bare `pytest` runs.

And where several processes share the tests (`pytest -n 2`), each but the first gets an index of Redis of its own, as
pytest-django gives each a database of its own: what one clears is not the others'.
"""

from __future__ import annotations

import os

import redis

from tests.service import unused_index

os.environ.setdefault("SECRET_KEY", "a key of no worth, for tests alone")


_OWN_INDEX = bool(os.environ.get("REDIS_URL")) and os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0"
if _OWN_INDEX:
    os.environ["REDIS_URL"] = unused_index(os.environ["REDIS_URL"])


def pytest_unconfigure() -> None:
    """Leave the index as it was."""
    if _OWN_INDEX:
        with redis.Redis.from_url(os.environ["REDIS_URL"]) as server:
            server.flushdb()
