from __future__ import annotations

import re

from tests.docs import markdown
from tests.docs.markdown import ROOT


def test_every_test_that_keeps_a_fault_out_is_there():
    told = [name for row in _rows() for name in markdown.codes(row[2])]
    defined = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert len(told) >= 30
    assert [name for name in told if name not in defined] == []


def _rows():
    text = markdown.read("docs/faults.md")
    sections = ("Illegal moves and wrong turns", "Hidden cards", "Scores", "Stuck games")
    return [row for title in sections for table in markdown.tables(markdown.section(text, title)) for row in table]
