from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from spades_api import settings

ROOT = Path(settings.__file__).resolve().parent.parent
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
ASSIGNMENT = re.compile(r"^#?([A-Z][A-Z_]+)=", re.MULTILINE)


def variables_read() -> set[str]:
    """The names in `env.str("NAME", ...)` and its like."""
    tree = ast.parse(Path(settings.__file__).read_text(encoding="utf-8"))
    return {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "env"
        and isinstance(node.args[0], ast.Constant)
    }


def test_the_example_has_every_variable_and_no_other():
    assert sorted(ASSIGNMENT.findall(EXAMPLE)) == sorted(variables_read())


def test_the_example_tells_what_each_variable_is_for():
    blocks = EXAMPLE.strip().split("\n\n")[1:]

    assert [len(ASSIGNMENT.findall(block)) for block in blocks] == [1] * len(blocks)
    assert [block for block in blocks if not block.startswith("# ")] == []


def test_sqlite_keeps_its_promise_to_write_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("SQLITE_SYNCHRONOUS", raising=False)

    options = settings._database("sqlite:///var/test.sqlite3")["OPTIONS"]

    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["init_command"] == "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"


def test_sqlite_takes_no_other_word(monkeypatch):
    monkeypatch.setenv("SQLITE_SYNCHRONOUS", "OFF; DROP TABLE games_game")

    with pytest.raises(ImproperlyConfigured):
        settings._database("sqlite://:memory:")


def test_a_relative_path_begins_where_the_code_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert settings._database("sqlite:///var/test.sqlite3")["NAME"] == str(ROOT / "var" / "test.sqlite3")
    assert settings._database(f"sqlite:///{tmp_path}/a/b.sqlite3")["NAME"] == str(tmp_path / "a" / "b.sqlite3")


def test_postgresql_connections_are_kept_and_give_up():
    database = settings._database("postgres://me:secret@db.example:5433/spades?sslmode=require")

    assert (database["NAME"], database["HOST"], database["PORT"]) == ("spades", "db.example", 5433)
    assert database["CONN_MAX_AGE"] is None
    assert database["OPTIONS"] == {
        "sslmode": "require",
        "application_name": "spades",
        "connect_timeout": 3,
        "options": "-c statement_timeout=15s -c lock_timeout=5s -c idle_in_transaction_session_timeout=30s",
        "prepare_threshold": 1,
        "server_side_binding": True,
    }
