from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 120
SHEET_LINE = re.compile(r"^ [ \d]{3}  ([A-Z]+)  bid .*?  took .*?  +(-?\d+)   (.*)$", re.MULTILINE)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clients.play", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(
    ("preset", "sides", "players"),
    [
        ("two_player", ["A", "B"], "A (You), B (Steady)"),
        ("standard", ["NS", "EW"], "N (You), E (Steady), S (Steady), W (Steady)"),
    ],
)
def test_a_whole_game_is_played_with_a_service_of_its_own(preset: str, sides: list[str], players: str) -> None:
    played = run("--preset", preset, "--target", "100", "--seed", "1")

    assert (played.returncode, played.stderr) == (0, "")
    deals = re.findall(r"^Deal +(\d+), dealer [A-Z] +[A-Z]+ [+-]\d+ = -?\d+", played.stdout, re.MULTILINE)
    assert deals == [str(number) for number in range(1, len(deals) + 1)]
    assert deals
    sheet = played.stdout[played.stdout.index(f"Score sheet: {players}") :]
    totals = dict.fromkeys(sides, 0)
    for side, score, lines in SHEET_LINE.findall(sheet):
        totals[side] += sum(int(points) for points in re.findall(r"[+-]\d+", lines))
        assert totals[side] == int(score)
    won = re.search(r"^([A-Z]+)(?: \(you\))? won, by target: (.*)$", played.stdout, re.MULTILINE)
    assert won
    assert ", ".join(f"{side} {points}" for side, points in totals.items()) == won[2]
    assert totals[won[1]] == max(totals.values()) >= 100


def test_the_record_of_the_game_is_left_and_verifies(live_service, tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    arguments = ["--base-url", live_service.url, "--preset", "standard", "--target", "50", "--quiet"]

    played = run(*arguments, "--record", str(file))
    nowhere = run(*arguments, "--record", str(tmp_path / "no" / "game.json"))
    verified = subprocess.run(
        [sys.executable, "-m", "spades", "verify", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (played.returncode, played.stderr) == (0, "")
    assert verified.returncode == 0, verified.stdout
    assert nowhere.returncode == 1
    assert nowhere.stderr.startswith("FileNotFoundError: ")


def test_a_game_in_which_nobody_bids_is_told_as_well(live_service) -> None:
    played = run("--base-url", live_service.url, "--preset", "books", "--target", "10")

    assert (played.returncode, played.stderr) == (0, "")
    assert "bid/taken E -/" in played.stdout
    assert "bid     - + -  took" in played.stdout


def test_a_game_is_played_against_a_running_service(live_service) -> None:
    played = run("--base-url", live_service.url, "--target", "50", "--quiet")

    assert (played.returncode, played.stderr) == (0, "")
    assert re.fullmatch(r"[AB]( \(you\))? won, by target: A -?\d+, B -?\d+", played.stdout.strip())


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(["--preset", "cutthroat"], id="blind bids, so that hands are looked at"),
        pytest.param(
            ["--preset", "standard", "--rule", "pass_count=2", "--rule", 'pass_cycle=["left"]'], id="cards are passed"
        ),
    ],
)
def test_moves_of_every_kind_are_made(live_service, rules: list[str]) -> None:
    played = run("--base-url", live_service.url, "--target", "50", "--quiet", *rules)

    assert (played.returncode, played.stderr) == (0, "")
    assert " won, by target: " in played.stdout


def test_a_refused_game_is_told_and_fails(live_service) -> None:
    played = run("--base-url", live_service.url, "--preset", "nobody")

    assert played.returncode == 1
    assert played.stdout == ""
    assert "400 malformed" in played.stderr
    assert "/ruleset/preset" in played.stderr


def test_a_service_that_is_not_there_is_told_and_fails() -> None:
    played = run("--base-url", "http://127.0.0.1:9")

    assert (played.returncode, played.stdout) == (1, "")
    assert played.stderr.startswith("NoAnswer: POST /v1/accounts")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are watched through /proc and pidfd")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_service_is_left_behind_however_the_client_ends(number: signal.Signals) -> None:
    arguments = [sys.executable, "-m", "clients.play", "--target", "5000"]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as client:
        assert client.stdout is not None
        assert client.stdout.readline().startswith("Deal  1")
        child = int(Path(f"/proc/{client.pid}/task/{client.pid}/children").read_text().split()[0])
        watch = os.pidfd_open(child)
        try:
            client.send_signal(number)

            assert select.select([watch], [], [], PATIENCE)[0] == [watch]
        finally:
            os.close(watch)
        assert client.wait(PATIENCE) == (-signal.SIGKILL if number == signal.SIGKILL else 1)
