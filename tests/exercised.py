"""Hooks of `tests/conftest.py`: a run of the whole suite fails if an operation never answered with success in it.

What the schema promises must have been seen to work, in whichever process: of several, each tells what it saw when it
ends. It is no test, since no process could tell before the others have ended.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.client import EXERCISED, contract

_missing: set[str] = set()


def pytest_testnodedown(node: Any) -> None:
    """Take what a process saw."""
    for operation_id, status, count in getattr(node, "workeroutput", {}).get("exercised", ()):
        EXERCISED[operation_id, status] += count


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Tell what this process saw, or judge what all saw."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["exercised"] = [(*key, count) for key, count in EXERCISED.items()]
        return
    option = config.option
    whole = config.args_source is config.ArgsSource.TESTPATHS and not (option.keyword or option.markexpr)
    if exitstatus != pytest.ExitCode.OK or not whole or option.collectonly:
        return
    succeeded = {operation_id for operation_id, status in EXERCISED if 200 <= status < 300}
    _missing.update({operation.id for operation in contract().operations.values()} - succeeded)
    if _missing:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what is missing."""
    if _missing:
        terminalreporter.section("operations that no test has seen to succeed", red=True, bold=True)
        terminalreporter.line(", ".join(sorted(_missing)))
