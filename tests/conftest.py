from __future__ import annotations

import os

import pytest
from django.conf import settings as django_settings

from tests.client import ApiClient
from tests.exercised import pytest_sessionfinish, pytest_terminal_summary, pytest_testnodedown
from tests.service import Service

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary", "pytest_testnodedown"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix, tmp_path_factory):
    """SQLite is tested in a file: threads do not share a database in memory as they share one on a disk."""
    database = django_settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
        database["OPTIONS"]["init_command"] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"


@pytest.fixture
def api():
    """A client of the API in this process; the test needs the database as well."""
    with ApiClient() as client:
        yield client


@pytest.fixture(scope="session")
def start_service(tmp_path_factory):
    """Starts a service of its own for a test that breaks something: `start_service(THREADS="2")`."""
    services = []

    def start(**settings: str) -> Service:
        service = Service(
            tmp_path_factory.mktemp("service"),
            os.environ.get("DATABASE_URL", ""),
            os.environ.get("REDIS_URL", ""),
            **settings,
        )
        services.append(service)
        return service.start()

    yield start
    for service in reversed(services):
        service.stop()


@pytest.fixture(scope="session")
def live_service(start_service):
    """The service that all tests share which break nothing: `ApiClient(live_service.url)`."""
    return start_service()
