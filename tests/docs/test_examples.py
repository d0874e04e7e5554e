"""What the documents show is run: Python as doctests, the game by curl against a service."""

from __future__ import annotations

import doctest
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.client import contract
from tests.docs import markdown
from tests.docs.markdown import FILES, ROOT

PYTHON = [
    pytest.param(content, id=f"{markdown.name(path)}-{index}")
    for path in FILES
    for index, (label, content) in enumerate(markdown.blocks(path.read_text(encoding="utf-8")))
    if label == "python"
]
GAME = dict(markdown.blocks(markdown.section(markdown.read("README.md"), "A whole game by curl")))["bash"]

# For a machine without curl: the options that the game uses.
CURL = f"""#!{sys.executable}
import argparse, sys, httpx
parser = argparse.ArgumentParser()
parser.add_argument("-s", action="store_true")
parser.add_argument("-f", action="store_true")
parser.add_argument("-H", action="append", default=[])
parser.add_argument("-d")
parser.add_argument("url")
given = parser.parse_args()
headers = dict(header.split(": ", 1) for header in given.H)
answer = httpx.request("GET" if given.d is None else "POST", given.url, headers=headers, content=given.d, timeout=60)
sys.stdout.write(answer.text if answer.status_code < 400 else "")
sys.exit(22 if answer.status_code >= 400 else 0)
"""


@pytest.mark.parametrize("content", PYTHON)
def test_python_examples_are_true(content):
    example = doctest.DocTestParser().get_doctest(content, {}, "example", None, 0)
    said: list[str] = []

    results = doctest.DocTestRunner(verbose=False).run(example, out=said.append)

    assert results.failed == 0, "".join(said)
    assert results.attempted > 0


def test_the_game_of_the_readme_can_be_pasted_and_is_played_to_its_end(live_service, tmp_path):
    environment = dict(os.environ)
    if shutil.which("curl") is None:
        (tmp_path / "curl").write_text(CURL, encoding="utf-8")
        (tmp_path / "curl").chmod(0o755)
        environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    assert GAME.startswith("url=http://127.0.0.1:8000 ")
    script = GAME.replace("http://127.0.0.1:8000", live_service.url)

    run = subprocess.run(
        ["bash", "-eu"],
        input=script,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, "")
    result, deals = _documents(run.stdout)
    assert _valid("DealPage", deals)
    scores = {side: score["score"] for side, score in deals["items"][-1]["score"]["sides"].items()}
    assert result == {"winners": result["winners"], "reason": "target", "scores": scores}
    assert [scores[side] for side in result["winners"]] == [max(scores.values())]
    assert max(scores.values()) >= 50


def _documents(text):
    """The JSON documents of a text in which one follows the other."""
    found, place = [], 0
    while place < len(text):
        value, place = json.JSONDecoder().raw_decode(text, place)
        found.append(value)
        place += len(text[place:]) - len(text[place:].lstrip())
    return found


def _valid(component, value):
    return contract().validator({"$ref": f"#/components/schemas/{component}"})().is_valid(value)
