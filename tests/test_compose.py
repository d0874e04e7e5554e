"""What the compose file and the Dockerfile say, held to the schema of compose files, to code and documents."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest

from tests import compose
from tests.docs import markdown

DOCUMENT = compose.document()
SERVICES = DOCUMENT["services"]
LASTING = sorted(set(SERVICES) - {"migrate"})
SETTINGS = set(re.findall(r"^#?([A-Z][A-Z_]+)=", markdown.read(".env.example"), re.MULTILINE))
SECRETS = {"SECRET_KEY", "POSTGRES_PASSWORD"}
GIVEN = {"SECRET_KEY": "k", "POSTGRES_PASSWORD": "p"}


def schema():
    """The published schema of compose files, as check-jsonschema brings it."""
    file = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    return json.loads(file.read_text(encoding="utf-8"))


def problems(document):
    validator = jsonschema.validators.validator_for(schema())(schema())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


# The file.


def test_the_file_is_a_compose_file():
    assert problems(DOCUMENT) == []
    assert problems(compose.filled_in(DOCUMENT, GIVEN)) == []


@pytest.mark.parametrize("change", [{"helthcheck": {}}, {"command": {"a": 1}}, {"read_only": [1]}, {"ports": 8000}])
def test_the_schema_would_find_what_is_wrong(change):
    assert problems({"services": {"web": {**SERVICES["web"], **change}}}) != []


def test_nothing_starts_without_its_secrets():
    asked = compose.variables(DOCUMENT)

    assert {name for name, how in asked.items() if not all(rest.startswith(":-") for rest in how)} == SECRETS
    assert all(rest.startswith(":?") and len(rest) > len(":?") for name in SECRETS for rest in asked[name])
    for name in SECRETS:
        with pytest.raises(KeyError, match=name):
            compose.filled_in(DOCUMENT, {key: value for key, value in GIVEN.items() if key != name})


def test_no_value_in_an_environment_is_a_secret():
    values = {
        (service, key): value
        for service, told in SERVICES.items()
        for key, value in told.get("environment", {}).items()
        if value is not None
    }

    named = {at: value for at, value in values.items() if re.search("KEY|PASSWORD|SECRET|TOKEN", at[1])}
    assert {re.sub(r":\?[^}]*", "", value) for value in named.values()} == {f"${{{name}}}" for name in SECRETS}
    plain = {at: re.sub(r"\$\{[^}]*\}", "$", value) for at, value in values.items()}
    passwords = {urlsplit(value).password for value in plain.values() if "://" in value}
    assert passwords == {"$", None}


@pytest.mark.parametrize("name", compose.OURS)
def test_every_variable_is_a_setting(name):
    assert set(SERVICES[name]["environment"]) - SETTINGS == set()


@pytest.mark.parametrize("name", compose.OURS)
def test_every_program_exists(name):
    for command in (SERVICES[name]["command"], SERVICES[name]["healthcheck"].get("test", ["CMD"])[1:]):
        if not command:
            continue
        program, *arguments = command
        assert shutil.which(program, path=str(Path(sys.executable).parent)), command
        if program == "python" and arguments[0] == "-m":
            assert importlib.util.find_spec(arguments[1])
        elif program == "python":
            assert arguments[0] in compose.copied()
        elif program == "celery":
            assert arguments[:2] == ["-A", "spades_api"]
        else:
            assert (program, arguments[-1]) == ("granian", "spades_api.asgi:application")


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_may_do_nothing_that_it_need_not(name):
    service = SERVICES[name]

    may = {key: service.get(key) for key in ("read_only", "cap_drop", "security_opt", "privileged", "cap_add")}
    assert may == {
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "privileged": None,
        "cap_add": None,
    }
    # Ours have their user from the image.
    assert service.get("user", "") == ("" if name in compose.OURS else name)


@pytest.mark.parametrize("name", LASTING)
def test_a_service_that_lasts_is_looked_after(name):
    service = SERVICES[name]

    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"][0] == "CMD"
    assert all(compose.seconds(service["healthcheck"][key]) > 0 for key in ("interval", "timeout", "start_period"))
    assert compose.seconds(service["stop_grace_period"]) >= 10


def test_only_the_server_is_reached_from_outside_and_only_from_this_host():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    assert compose.filled_in(SERVICES["web"]["ports"], {}) == ["127.0.0.1:8000:8000"]
    assert [name for name, service in SERVICES.items() if service["networks"] != ["inside"]] == ["web"]
    assert DOCUMENT["networks"]["inside"] == {"internal": True}


def test_nothing_starts_on_an_old_database():
    wanted = {name: SERVICES[name]["depends_on"]["migrate"]["condition"] for name in ("web", "worker", "beat")}

    assert wanted == dict.fromkeys(wanted, "service_completed_successfully")
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_a_server_is_killed_by_granian_before_the_engine_would():
    command = SERVICES["web"]["command"]
    patience = int(command[command.index("--workers-kill-timeout") + 1])

    assert 15 < patience < compose.seconds(SERVICES["web"]["stop_grace_period"])


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_the_documents_tell_the_same_commands(name):
    told = " ".join(SERVICES[name]["command"])

    assert told in markdown.read("docs/operations.md")
    assert name == "web" or told in markdown.read("README.md")


def test_the_pages_that_it_names_exist():
    named = re.findall(r"\bdocs/[\w./-]+\.md\b", compose.FILE.read_text(encoding="utf-8"))

    assert named
    assert [page for page in named if not (compose.ROOT / page).exists()] == []


# The image.


def test_the_image_starts_from_a_tag_and_ends_without_privileges():
    every = compose.instructions()

    assert {rest.split()[0] for word, rest in every if word == "FROM"} == {"python:3.11-slim-bookworm"}
    assert [rest for word, rest in compose.final_stage() if word == "USER"] == ["10001:10001"]
    assert [word for word, _ in every if word in {"ARG", "ADD"}] == []
    assert [rest for word, rest in every if word in {"RUN", "CMD"} and not rest.startswith("[")] == []
    (install,) = [json.loads(rest) for word, rest in every if word == "RUN" and "install" in rest and "pip" in rest]
    assert "--require-hashes" in install


def test_the_image_sets_nothing_that_differs_between_places():
    assert set(compose.image_environment()) & SETTINGS == set()


def test_the_engine_is_sent_what_is_copied_and_no_more():
    lines = [line for line in markdown.read(".dockerignore").splitlines() if line and not line.startswith("#")]

    assert lines[0] == "*"
    sent = {line.removeprefix("!").rstrip("/") for line in lines if line.startswith("!")}
    assert sent == {*compose.copied(), "requirements/run.txt"}


def test_the_image_runs_the_check_that_the_file_names():
    (check,) = [rest for word, rest in compose.final_stage() if word == "HEALTHCHECK"]

    assert json.loads(check.partition(" CMD ")[2]) == SERVICES["web"]["healthcheck"]["test"][1:]


# Reading it.


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$$HOME", "$HOME"),
        ("a${SET}b", "a1b"),
        ("${SET:-x}", "1"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY-x}", ""),
        ("${UNSET-x}", "x"),
        ("${SET:?must}", "1"),
        ("${EMPTY?must}", ""),
    ],
)
def test_variables_are_filled_in_as_an_engine_does(text, filled):
    assert compose.filled_in({"a": [text]}, {"SET": "1", "EMPTY": ""}) == {"a": [filled]}


@pytest.mark.parametrize("text", ["${UNSET:?must}", "${EMPTY:?must}", "${UNSET?must}"])
def test_variables_that_must_be_set_are_missed(text):
    with pytest.raises(KeyError, match="must"):
        compose.filled_in(text, {"EMPTY": ""})


def test_durations():
    assert [compose.seconds(text) for text in ("15s", "1m30s", "500ms", "1h")] == [15, 90, 0.5, 3600]
    for text in ("15", "", "s", "1 s"):
        with pytest.raises(ValueError, match="duration"):
            compose.seconds(text or "?")


# Running it.

CHECK = {"interval": "100ms", "timeout": "20s", "start_period": "100ms", "retries": 3}
WAITS = "import signal; signal.sigwait({signal.SIGTERM})"


@pytest.fixture
def host_of(tmp_path):
    """Makes a host with one service `web` that is a line of Python."""
    hosts = []

    def make(program, check="pass", grace="20s"):
        host = compose.Host(tmp_path, "sqlite:///x", "redis://x")
        hosts.append(host)
        host.services = {
            "postgres": {},
            "redis": {},
            "web": {
                "command": ["python", "-c", program],
                "environment": {"DATABASE_URL": "postgres://postgres/x", "REDIS_URL": "redis://redis", "THREADS": None},
                "healthcheck": {**CHECK, "test": ["CMD", "python", "-c", check]},
                "stop_signal": "SIGTERM",
                "stop_grace_period": grace,
            },
        }
        return host

    yield make
    for host in hosts:
        host.kill()


def test_a_service_finds_the_addresses_that_hold_here(host_of):
    environment = host_of("pass").environment("web")

    assert {name: environment.get(name) for name in ("DATABASE_URL", "REDIS_URL", "THREADS", "PYTHONUNBUFFERED")} == {
        "DATABASE_URL": "sqlite:///x",
        "REDIS_URL": "redis://x",
        "THREADS": None,
        "PYTHONUNBUFFERED": "1",
    }


def test_a_service_that_names_a_host_of_elsewhere_fails(host_of):
    host = host_of("pass")
    host.services["web"]["environment"]["REDIS_URL"] = "redis://elsewhere"

    with pytest.raises(compose.Failed, match="no service"):
        host.start("web")


def test_a_service_that_ends_badly_fails(host_of):
    with pytest.raises(compose.Failed, match="ended with status 3"):
        host_of("raise SystemExit(3)").run("web")


def test_a_service_that_is_never_healthy_fails(host_of):
    host = host_of(WAITS, check="raise SystemExit('I am ill.')")
    host.start("web")

    with pytest.raises(compose.Failed, match="I am ill"):
        host.become_healthy("web")


def test_a_service_that_ends_before_it_is_healthy_fails(host_of):
    host = host_of("raise SystemExit(0)", check="raise SystemExit(1)")
    host.start("web")
    host.running["web"].wait(20)

    with pytest.raises(compose.Failed, match="ended with status 0"):
        host.become_healthy("web")


def test_a_service_that_ignores_its_signal_fails(host_of):
    ready = (
        "import signal, time, pathlib; signal.signal(15, signal.SIG_IGN); pathlib.Path('up').touch(); time.sleep(60)"
    )
    host = host_of(ready, check="import pathlib; raise SystemExit(not pathlib.Path('up').exists())", grace="500ms")
    host.services["web"]["healthcheck"]["start_period"] = "30s"
    host.start("web")
    host.become_healthy("web")

    with pytest.raises(compose.Failed, match="did not end within its grace period"):
        host.stop("web")


def test_a_service_that_dies_of_its_signal_fails(host_of):
    host = host_of("import time; time.sleep(60)")
    host.start("web")
    host.become_healthy("web")

    with pytest.raises(compose.Failed, match="ended with status -15"):
        host.stop("web")


def test_every_app_of_the_service_is_in_the_image(settings):
    ours = {app for app in settings.INSTALLED_APPS if (compose.ROOT / app).is_dir()}
    allowed = (compose.ROOT / ".dockerignore").read_text().splitlines()

    copied = {arguments.split("/")[0] for name, arguments in compose.instructions() if name == "COPY"}

    assert {"games", "scoring"} <= ours <= copied
    assert {f"!{app}/" for app in ours} <= set(allowed)
