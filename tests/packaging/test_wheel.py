"""The library as apps get it: the wheel of this checkout, alone in an environment that has nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import spades
from tests.spades.recording import finished

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).parent / "alone.py"
MODULES = sorted(path.name for path in (ROOT / "spades").glob("*.py"))
EXAMPLES = sum((ROOT / "spades" / name).read_text(encoding="utf-8").count(">>> ") for name in MODULES)
NOT_SOURCES = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "var", "node_modules")
# What this machine tells its pip, such as where more packages lie, is not part of what is proven.
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**PLAIN, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(
        [str(argument) for argument in arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built of a copy, since a build leaves folders beside the sources, and takes up what an older one left there."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "checkout", ignore=NOT_SOURCES)

    built = run(
        *(sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", folder, "."),
        cwd=folder / "checkout",
    )

    assert built.returncode == 0, built.stdout + built.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def alone(wheel: Path, tmp_path_factory) -> Run:
    """Runs a Python that has the wheel and nothing else: `alone("-m", "spades", ...)`."""
    folder = tmp_path_factory.mktemp("alone")
    made = run(sys.executable, "-m", "venv", "--without-pip", folder / "environment", cwd=folder)
    assert made.returncode == 0, made.stderr
    python = next((folder / "environment").glob("[bS]*/python*"))

    # With dependencies and without an index: one dependency would make it fail.
    installed = run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--no-index", wheel),
        cwd=folder,
    )

    assert installed.returncode == 0, installed.stdout + installed.stderr
    packages = next((folder / "environment").rglob("site-packages"))
    assert sorted(path.name for path in packages.iterdir()) == ["spades", f"{wheel.name.rsplit('-', 3)[0]}.dist-info"]
    # Neither this folder nor what the environment of the tests says leads it back to the checkout.
    return lambda *arguments: run(python, "-I", "-W", "error", *arguments, cwd=folder)


def test_the_wheel_holds_the_library_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    told = f"{wheel.name.rsplit('-', 3)[0]}.dist-info/"
    assert sorted(name for name in names if not name.startswith(told)) == sorted(
        f"spades/{name}" for name in (*MODULES, "presets.json", "py.typed")
    )
    assert f"{told}licenses/LICENSE" in names


def test_the_library_does_everything_where_nothing_else_is_installed(alone: Run) -> None:
    ran = alone(SCRIPT)

    assert (ran.returncode, ran.stderr) == (0, "")
    found = json.loads(ran.stdout)
    assert ROOT not in Path(found.pop("place")).parents
    assert found.pop("doctests") == {"failed": 0, "attempted": EXAMPLES}
    assert found == {
        "names": spades.__all__,
        "files": ["presets.json", "py.typed"],
        "presets": list(spades.PRESETS),
        "score": {"NS": 141, "EW": 71},
        "sheet": {"deals": 4, "scores": {"NS": 564, "EW": 284}, "winners": ["NS"]},
        "imported": ["spades"],
    }


def test_a_record_is_verified_where_nothing_else_is_installed(alone: Run, tmp_path: Path) -> None:
    record = finished().to_json()
    (tmp_path / "right.json").write_text(json.dumps(record), encoding="utf-8")
    record["deals"][0]["plays"].reverse()
    (tmp_path / "wrong.json").write_text(json.dumps(record), encoding="utf-8")

    right = alone("-m", "spades", "verify", tmp_path / "right.json")
    wrong = alone("-m", "spades", "verify", tmp_path / "wrong.json")

    assert (right.returncode, right.stderr, wrong.returncode, wrong.stderr) == (0, "", 1, "")
    assert "every action is allowed, every stated score and result is right" in right.stdout
    assert "checks passed; deals with a seed: 1" in right.stdout
    assert "WRONG" not in right.stdout
    assert "WRONG" in wrong.stdout
