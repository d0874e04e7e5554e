"""A pytest plugin for `make mutants`: each Hypothesis test tries a few examples, the same ones in every run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from spades import legality

EXAMPLES = 12


def pytest_runtest_setup(item):
    """Each test works everything out: what an earlier one did would hide a mutant, and the tests that reach it."""
    legality._open.cache_clear()


def pytest_collection_modifyitems(items):
    for item in items:
        function = getattr(item, "obj", None)
        usual = getattr(function, "_hypothesis_internal_use_settings", None)
        if usual is not None:
            function._hypothesis_internal_use_settings = settings(
                usual,
                max_examples=min(usual.max_examples, EXAMPLES),
                derandomize=True,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            )
