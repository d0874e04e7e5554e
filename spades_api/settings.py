"""All settings. What differs between places is an environment variable, told in `.env.example`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import environ

from contract import configuration, shapes
from games.api import schemas as games
from rules.api import schemas as rules
from scoring.api import schemas as scoring
from spades_api import logs

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"
"""What a service keeps when nothing else is said: its database and its key."""

env = environ.Env()
env.read_env(str(BASE_DIR / ".env"))

DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
LOGGING = logs.configure(LOG_LEVEL)

# Embedded: this process is all there is. It holds the queue and runs the worker, and its own hub carries the hints.
REDIS_URL = env.str("REDIS_URL", default="")
BROKER_URL = env.str("BROKER_URL", default="") or REDIS_URL or "embedded://localhost"
EMBEDDED = BROKER_URL.startswith("embedded:")
THREADS = env.int("THREADS", default=4)
OPEN_REGISTRATION = env.bool("OPEN_REGISTRATION", default=EMBEDDED)

# Without a key whoever reads it is refused, so nothing starts. Only an embedded service makes one for itself, once:
# see the command `serve`.
SECRET_KEY_FILE = VAR_DIR / "secret_key"
SECRET_KEY = env.str("SECRET_KEY", default="")
if not SECRET_KEY and EMBEDDED and SECRET_KEY_FILE.exists():
    SECRET_KEY = SECRET_KEY_FILE.read_text(encoding="ascii").strip()

INSTALLED_APPS = [
    "spades_api",
    "contract",
    "accounts",
    "events",
    "rules",
    "games",
    "scoring",
    "drf_spectacular",
]
MIDDLEWARE = [
    *configuration.MIDDLEWARE,
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",  # refuses hosts that are not ours
]
ROOT_URLCONF = "spades_api.urls"
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
SECURE_REFERRER_POLICY = "no-referrer"
TEMPLATES: list[dict[str, Any]] = []
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def _database(url: str) -> dict[str, Any]:
    """A database that keeps one connection open for each thread, and gives up waiting before a client does."""
    database: dict[str, Any] = environ.Env.db_url_config(url)
    database["CONN_MAX_AGE"] = None
    if database["ENGINE"] == "django.db.backends.sqlite3":
        if database["NAME"] != ":memory:":
            path = BASE_DIR / database["NAME"]
            path.parent.mkdir(parents=True, exist_ok=True)
            database["NAME"] = str(path)
        synchronous = env.str("SQLITE_SYNCHRONOUS", default="FULL").upper()
        if synchronous not in {"OFF", "NORMAL", "FULL", "EXTRA"}:
            raise environ.ImproperlyConfigured("SQLITE_SYNCHRONOUS is OFF, NORMAL, FULL or EXTRA.")
        database["OPTIONS"] = {
            "timeout": 10,
            # A transaction that reads first and writes later would fail where it cannot wait.
            "transaction_mode": "IMMEDIATE",
            "init_command": f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}",
        }
    else:
        # A migration that needs longer says so itself: SET LOCAL statement_timeout = 0.
        limits = "-c statement_timeout=15s -c lock_timeout=5s -c idle_in_transaction_session_timeout=30s"
        database["OPTIONS"] = {
            **database.get("OPTIONS", {}),
            "application_name": "spades",
            "connect_timeout": 3,
            "options": limits,
            # Statements are planned once for each connection. Measured: 15 to 20 % more plays a second.
            "prepare_threshold": 1,
            "server_side_binding": True,
        }
    return database


DATABASES = {"default": _database(env.str("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'spades.sqlite3'}"))}

CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL, "KEY_PREFIX": "spades"}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
if REDIS_URL:
    CACHES["default"]["OPTIONS"] = {"socket_connect_timeout": 1, "socket_timeout": 1}

RATE_LIMITS: Any = env.json("RATE_LIMITS", default={})

REST_FRAMEWORK = configuration.REST_FRAMEWORK
SPECTACULAR_SETTINGS = {
    **configuration.SPECTACULAR,
    "APPEND_COMPONENTS": {
        "schemas": {**shapes.COMPONENTS, **games.COMPONENTS, **rules.COMPONENTS, **scoring.COMPONENTS}
    },
}

HEARTBEAT_FILE = env.str("HEARTBEAT_FILE", default="")

# Celery. Tasks are hints (see `spades_api.celery`), so sending one is tried once and fails within a second.
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
REMOTE_BROKER = {
    "max_retries": 0,
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    # What a killed worker had taken is given to another after this many seconds. A sweep comes first.
    "visibility_timeout": 60,
}
CELERY_BROKER_TRANSPORT_OPTIONS = {} if EMBEDDED else REMOTE_BROKER
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_STORE_ERRORS_EVEN_IF_IGNORED = False
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# One task at a time in hand would stop a worker for each acknowledgement: tasks take a millisecond.
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not EMBEDDED
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = "UTC"
# Else Celery closes the database connection before and after each task. `spades_api.celery` replaces broken ones.
CELERY_DB_REUSE_MAX = 2**40
# The schedule never changes while running, so the beat keeps no file.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep games": {"task": "games.sweep", "schedule": 2.0, "options": {"expires": 2.0}},
    "purge accounts": {"task": "accounts.purge", "schedule": 3600.0, "options": {"expires": 3600.0}},
}
