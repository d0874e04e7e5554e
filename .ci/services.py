"""Find the database and the broker that a test run may use, and clean up behind it.

    services.py postgres [PORT]    print the URL of a server on 127.0.0.1 that lets us make databases
    services.py redis [PORT]       print the URL of an unused index of a Redis there
    services.py create URL NAME    make a database, print its URL
    services.py drop URL NAME      drop it, and what pytest made beside it
    services.py flush URL          empty the index
    services.py port               print a free port

Status 1 and a sentence on standard error when nothing fit answers. Nothing here waits longer than WAIT seconds.
"""

import os
import socket
import sys

import psycopg
import redis

WAIT = 3  # seconds for a server on this machine to answer
CLAIM = "spades-tests"  # held in an index while a run uses it
CLAIMED_FOR = 3600  # seconds; a run may not last longer


def postgres(port: str = "5432") -> str:
    """Return the URL of a server that trusts us, without a database name."""
    problems = []
    for user in ("postgres", "root"):
        url = f"postgres://{user}@127.0.0.1:{port}"
        try:
            with psycopg.connect(f"{url}/postgres", connect_timeout=WAIT) as connection:
                row = connection.execute(
                    "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
                ).fetchone()
        except psycopg.Error as error:
            problems.append(f"{user}: {str(error).strip()}")
            continue
        if row and row[0]:
            return url
        problems.append(f"{user}: may not make databases")
    raise SystemExit("; ".join(problems))


def index(port: str = "6379") -> str:
    """Return the URL of an empty index and claim it, so that two runs at once do not share one."""
    for number in range(1, 16):
        url = f"redis://127.0.0.1:{port}/{number}"
        with redis.Redis.from_url(url, socket_connect_timeout=WAIT, socket_timeout=WAIT) as client:
            try:
                if client.dbsize() == 0 and client.set(CLAIM, os.getppid(), nx=True, ex=CLAIMED_FOR):
                    return url
            except redis.RedisError as error:
                raise SystemExit(f"redis: {error}") from None
    raise SystemExit("redis: every index is in use")


def create(url: str, name: str) -> str:
    """Make an empty database."""
    with psycopg.connect(f"{url}/postgres", connect_timeout=WAIT, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{url}/{name}"


def drop(url: str, name: str) -> None:
    """Drop `name` and the test_`name` databases that pytest-django made and a killed run left."""
    with psycopg.connect(f"{url}/postgres", connect_timeout=WAIT, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT datname FROM pg_database WHERE datname = %(name)s OR datname = 'test_' || %(name)s"
            " OR starts_with(datname, 'test_' || %(name)s || '_')",
            {"name": name},
        ).fetchall()
        for (found,) in rows:
            connection.execute(f'DROP DATABASE IF EXISTS "{found}" WITH (FORCE)')


def flush(url: str) -> None:
    """Empty one index, which also gives up the claim."""
    with redis.Redis.from_url(url, socket_connect_timeout=WAIT, socket_timeout=WAIT) as client:
        client.flushdb()


def port() -> str:
    """Return a port that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


COMMANDS = {"postgres": postgres, "redis": index, "create": create, "drop": drop, "flush": flush, "port": port}

if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    answer = COMMANDS[command](*arguments)
    if answer:
        print(answer)
