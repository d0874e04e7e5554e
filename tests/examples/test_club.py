from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client import contract
from tests.docs import markdown

from .evening import APP, PROMPT, ROOT, App, Line, keep

CALLED = sorted(entry["operationId"] for item in contract().document["paths"].values() for entry in item.values())
IMPORTS = """
import importlib, pkgutil, spades_client
for module in pkgutil.walk_packages(spades_client.__path__, "spades_client."):
    importlib.import_module(module.name)
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Path:
    """The folder in which `spades_client` was made of the schema. A warning, so anything left out, fails it."""
    folder = tmp_path_factory.mktemp("client")
    made = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"),
            *("--path", str(ROOT / "openapi" / "schema.yaml"), "--config", str(APP / "client.yml")),
            *("--output-path", str(folder / "spades_client")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def test_every_operation_of_the_schema_is_in_the_generated_client(client: Path) -> None:
    modules = (client / "spades_client" / "api").rglob("*.py")

    assert sorted(path.stem for path in modules if path.stem != "__init__") == CALLED
    environment = {**os.environ, "PYTHONPATH": str(client)}
    subprocess.run([sys.executable, "-W", "error", "-c", IMPORTS], env=environment, check=True)


def test_a_club_evening_is_kept_though_answers_are_lost_and_the_app_is_killed(
    client: Path, live_service, tmp_path: Path
) -> None:
    keep(live_service.url, tmp_path, client)


def test_the_evening_in_the_readme_goes_as_it_is_told(client: Path, live_service, tmp_path: Path) -> None:
    text = next(text for _, text in markdown.blocks(markdown.read("examples/club/README.md")) if PROMPT in text)
    line = Line(live_service.url)
    try:
        with App(tmp_path, client, line, str) as app:
            for exchange in text.replace("http://127.0.0.1:8000", line.url).split(PROMPT)[1:]:
                typed, *told = exchange.splitlines()

                assert app.says(typed) == told
    finally:
        line.stop()
