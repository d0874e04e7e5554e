"""A pytest plugin that is loaded before the settings are: it gives the tests a key, so that a bare `pytest` runs."""

from __future__ import annotations

import os

os.environ.setdefault("SECRET_KEY", "a key of no worth, for tests alone")
