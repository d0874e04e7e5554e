"""`docker-compose.yml` without an engine: the file as data, and each of its services run by hand as the file says.

    python -m tests.compose DATABASE_URL REDIS_URL

lays out the folder that the Dockerfile makes, runs `migrate` to its end, starts web, worker and beat there with the
command and the environment of the file, runs the health check of each until it passes, plays a game against a bot
through web, stops each with its signal, and wants each to end by itself, within its grace period, with status 0. Only
what an engine would do is done otherwise: the database and Redis are the ones given, /tmp is a folder, the port a free
one. Status 1 if anything of this does not hold.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from tests.service import end_with_the_tests

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docker-compose.yml"
OURS = ("migrate", "web", "worker", "beat")
"""The services that run our image."""

_VARIABLE = re.compile(r"\$(?:(\$)|\{([A-Z][A-Z0-9_]*)(?:(:?[-?])([^}]*))?\})")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


# The file.


def document(path: Path = FILE) -> dict[str, Any]:
    """The file, with its merges done and its variables as they stand."""
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def filled_in(value: Any, variables: Mapping[str, str]) -> Any:
    """The value with its variables filled in, as an engine does it.

    Raises:
        KeyError: one that must be set is not.
    """
    if isinstance(value, Mapping):
        return {name: filled_in(inner, variables) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled_in(inner, variables) for inner in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _fill_in(found, variables), value)
    return value


def _fill_in(found: re.Match[str], variables: Mapping[str, str]) -> str:
    escaped, name, operator, word = found.groups()
    if escaped:
        return "$"
    given = variables.get(name)
    if given or (given is not None and not (operator or "").startswith(":")):
        return given
    if operator and operator.endswith("-"):
        return word
    raise KeyError(f"{name}: {word}")


def variables(value: Any) -> dict[str, set[str]]:
    """The variables that are asked for in the value, each with what stands behind its name: ``":?sentence"``."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        asked: dict[str, set[str]] = {}
        for inner in value:
            for name, how in variables(inner).items():
                asked.setdefault(name, set()).update(how)
        return asked
    found = _VARIABLE.finditer(value) if isinstance(value, str) else ()
    return {name: {(operator or "") + (word or "")} for _, name, operator, word in (m.groups() for m in found) if name}


def seconds(duration: str) -> float:
    """How long ``"1m30s"`` is."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", duration)
    if "".join(number + unit for number, unit in parts) != duration:
        raise ValueError(f"expected a duration such as 1m30s, got {duration!r}")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


# The image.


def instructions(path: Path = ROOT / "Dockerfile") -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each with what stands behind it, in order."""
    text = re.sub(r"\\\n", " ", path.read_text(encoding="utf-8"))
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word.upper(), rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def final_stage() -> list[tuple[str, str]]:
    """The instructions of the image itself."""
    every = instructions()
    last = max(index for index, (word, _) in enumerate(every) if word == "FROM")
    return every[last:]


def copied() -> list[str]:
    """What the image has of the repository, each under its own name."""
    paths = []
    for word, rest in final_stage():
        if word == "COPY" and not rest.startswith("--from="):
            source, target = rest.split()
            if target not in (source, "./"):
                raise ValueError(f"expected a copy under the same name, got {rest!r}")
            paths.append(source.rstrip("/"))
    return paths


def image_environment() -> dict[str, str]:
    """The variables that the image sets."""
    return dict(pair.split("=", 1) for word, rest in final_stage() if word == "ENV" for pair in rest.split())


def lay_out(folder: Path) -> None:
    """Make the folder hold what the image holds of the repository."""
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, folder / name)


# Running it.


class Failed(Exception):
    """A service does not do what the file says."""


@dataclass
class Host:
    """Runs services of the file where there is no engine.

    Args:
        folder: for the code, for what stands for /tmp, and for what the processes write.
        database_url: what stands for the database of the file.
        redis_url: what stands for its Redis.
    """

    folder: Path
    database_url: str
    redis_url: str
    services: dict[str, Any] = field(init=False)
    port: str = field(init=False)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.code, self.scratch = self.folder / "app", self.folder / "tmp"
        self.code.mkdir()
        self.scratch.mkdir()
        lay_out(self.code)
        given = {
            "SECRET_KEY": secrets.token_urlsafe(50),
            "POSTGRES_PASSWORD": secrets.token_hex(16),
            "ALLOWED_HOSTS": "spades.example.org,127.0.0.1",
            "OPEN_REGISTRATION": "true",
        }
        self._given = given
        self.services = filled_in(document(), given)["services"]
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = str(free.getsockname()[1])

    def environment(self, name: str) -> dict[str, str]:
        """What the service would find in its environment, with the addresses that hold here."""
        told: dict[str, str | None] = self.services[name].get("environment", {})
        # Without a value in the file, a variable is passed on, or left out.
        passed = {key: self._given.get(key) if value is None else value for key, value in told.items()}
        found = image_environment() | {key: value for key, value in passed.items() if value is not None}
        for key, ours in (("DATABASE_URL", self.database_url), ("REDIS_URL", self.redis_url)):
            if urlsplit(found[key]).hostname not in self.services:
                raise Failed(f"{name}: {key} names a host that is no service of the file")
            found[key] = ours
        return {
            **{key: value.replace("/tmp/", f"{self.scratch}/") for key, value in found.items()},
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "TMPDIR": str(self.scratch),
            "HOME": str(self.scratch),
        }

    def here(self, command: Sequence[str]) -> list[str]:
        """The command, with the port that web has here."""
        return [self.port if word == "8000" else word for word in command]

    def run(self, name: str) -> None:
        """Run a service that ends by itself.

        Raises:
            Failed: it ends with another status than 0.
        """
        self.start(name)
        status = self.running.pop(name).wait(60)
        if status != 0:
            raise Failed(f"{name} ended with status {status}:\n{self.said(name)}")

    def start(self, name: str) -> None:
        """Start a service."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                self.here(self.services[name]["command"]),
                cwd=self.code,
                env=self.environment(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that all that it starts can be killed with it
                preexec_fn=end_with_the_tests,  # noqa: PLW1509 - it only makes a system call
            )

    def said(self, name: str) -> str:
        """The end of what a service wrote."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    def health(self, name: str) -> tuple[bool, str]:
        """Run the health check of a service once, as an engine does: whether it passed, and what it said."""
        check = self.services[name]["healthcheck"]
        kind, *command = check["test"]
        if kind != "CMD":
            raise Failed(f"{name}: a health check without a shell is expected, not {kind}")
        try:
            done = subprocess.run(
                self.here(command),
                cwd=self.code,
                env=self.environment(name),
                capture_output=True,
                text=True,
                timeout=seconds(check["timeout"]),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, "no answer in time"
        return done.returncode == 0, done.stdout + done.stderr

    def become_healthy(self, name: str) -> float:
        """Run the health check until it passes; gives the seconds that that took.

        Raises:
            Failed: an engine would have called the service unhealthy by then, or it has ended.
        """
        check = self.services[name]["healthcheck"]
        began = time.monotonic()
        patience = seconds(check["start_period"]) + check["retries"] * seconds(check["interval"])
        while True:
            passed, why = self.health(name)
            if passed:
                return time.monotonic() - began
            if self.running[name].poll() is not None:
                raise Failed(f"{name} ended with status {self.running[name].returncode}:\n{self.said(name)}")
            if time.monotonic() - began > patience:
                raise Failed(f"{name} is not healthy after {patience:.0f} s: {why}\n{self.said(name)}")
            time.sleep(0.2)

    def stop(self, name: str) -> float:
        """Stop a service as an engine does; gives the seconds that that took.

        Raises:
            Failed: it would have been killed, or it ended with another status than 0.
        """
        service, process = self.services[name], self.running[name]
        began = time.monotonic()
        process.send_signal(signal.Signals[service["stop_signal"]])
        try:
            status = process.wait(seconds(service["stop_grace_period"]))
        except subprocess.TimeoutExpired:
            raise Failed(f"{name} did not end within its grace period:\n{self.said(name)}") from None
        del self.running[name]
        if status != 0:
            raise Failed(f"{name} ended with status {status}:\n{self.said(name)}")
        return time.monotonic() - began

    def kill(self) -> None:
        """End what still runs."""
        for process in self.running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def rehearse(host: Host) -> None:
    """Do with the services what an engine and its users would do.

    Raises:
        Failed: something is not as it should be.
    """
    before = sorted(host.code.rglob("*"))
    host.run("migrate")
    print("migrate: ended well")
    names = [name for name in OURS if name != "migrate"]
    for name in names:
        host.start(name)
    for name in names:
        print(f"{name}: healthy after {host.become_healthy(name):.1f} s", flush=True)
    game = [sys.executable, "-m", "clients.play", "--base-url", f"http://127.0.0.1:{host.port}"]
    played = subprocess.run(
        [*game, "--target", "50", "--quiet"], cwd=ROOT, capture_output=True, text=True, timeout=90, check=False
    )
    if played.returncode != 0:
        raise Failed(f"the game failed: {played.stderr}\n{host.said('web')}\n{host.said('worker')}")
    print(f"game: {played.stdout.strip()}")
    for name in names:
        print(f"{name}: ended well, {host.stop(name):.1f} s after its signal", flush=True)
    for name in ("web", "worker"):
        if host.health(name)[0]:
            raise Failed(f"{name}: the health check passes although nothing runs")
    written = [str(path) for path in sorted(host.code.rglob("*")) if path not in before]
    if written:
        raise Failed(f"written into the image, which cannot be written to: {written}")
    for name in names:
        lost = [line for line in host.said(name).splitlines() if '"level":"error"' in line or "Traceback" in line]
        if lost:
            raise Failed(f"{name} logged errors: {json.dumps(lost)}")


def main(arguments: Sequence[str]) -> int:
    """Run the command; gives the exit status."""
    database_url, redis_url = arguments
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # past the `finally`, which leaves nothing behind
    with tempfile.TemporaryDirectory(prefix="spades-compose-") as folder:
        host = Host(Path(folder), database_url, redis_url)
        try:
            rehearse(host)
        except Failed as failure:
            print(f"FAILED: {failure}", file=sys.stderr)
            return 1
        finally:
            host.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
