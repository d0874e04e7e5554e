"""The Markdown of the repository as data: files, fenced blocks, tables, links, headings."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        ROOT / "openapi" / "description.md",
        ROOT / "tests/golden/SOURCES.md",
        ROOT / "examples/club/README.md",
    ]
)

_FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks: what stands behind the fence, and the content without its indent."""
    return [(label.strip(), textwrap.dedent(content)) for _, label, content in _FENCE.findall(text)]


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return _FENCE.sub("", text)


def links(text: str) -> list[str]:
    return _LINK.findall(prose(text))


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The fragments by which headings are reached, as the usual renderers make them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(text)}


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    # A comment in a fenced block looks like a heading: look for headings where the blocks are blank.
    outline = _FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    found = re.search(rf"^(#+) {re.escape(heading)}$", outline, re.MULTILINE)
    assert found, f"there is no heading {heading!r}"
    end = re.compile(rf"^#{{1,{len(found[1])}}} ", re.MULTILINE).search(outline, found.end())
    return text[found.end() : end.start() if end else len(text)]


def tables(text: str) -> list[list[list[str]]]:
    """Every table: its rows without the head, each a list of cells."""
    found: list[list[list[str]]] = []
    lines: list[list[str]] = []
    for line in [*prose(text).splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in line.strip("|").split("|")])
        elif lines:
            found.append(lines[2:])
            lines = []
    return found


def codes(text: str) -> list[str]:
    """What stands between single backquotes."""
    return re.findall(r"`([^`\n]+)`", text)
