"""A PostgreSQL of a test run's own, with a migrated database that is cloned for each test."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from messor.store import migrate
from messor.store.dsn import passfile_of
from messor.store.server import EmbeddedServer

TEMPLATE = "template_messor"


@contextmanager
def template_server(folder: Path) -> Iterator[str]:
    """The DSN of an embedded server whose database `TEMPLATE` is migrated and waits to be cloned."""
    server = EmbeddedServer(folder)
    dsn = with_password(server.acquire())
    try:
        _admit_superuser(server)
        waive_upkeep(server)
        asyncio.run(_let_triggers_rest(dsn))
        asyncio.run(_log_in_fast(dsn))
        asyncio.run(run_sql(dsn, f"CREATE DATABASE {TEMPLATE}"))
        migrate.upgrade(with_database(dsn, TEMPLATE))
        yield dsn
    finally:
        server.release()


def with_password(dsn: str) -> str:
    """A DSN as people write it for a server of their own: with the password, and nothing after it."""
    parts, passfile = urlsplit(dsn), passfile_of(dsn)
    assert passfile is not None
    password = passfile.read_text().strip().rpartition(":")[2]
    return f"postgresql://{parts.netloc.replace('@', f':{password}@')}{parts.path}"


def with_database(dsn: str, name: str) -> str:
    return f"{dsn.rpartition('/')[0]}/{name}"


async def run_sql(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def _let_triggers_rest(dsn: str) -> None:
    """Rows of lent databases are deleted without their triggers, which takes the superuser's leave."""
    for attempt in range(100):
        try:
            await run_sql(
                _superuser(dsn), "GRANT SET ON PARAMETER session_replication_role TO PUBLIC"
            )
        except (
            asyncpg.InvalidAuthorizationSpecificationError
        ):  # the new access rule is not read yet
            if attempt == 99:
                raise
            await asyncio.sleep(0.05)
        else:
            return


def _superuser(dsn: str) -> str:
    return f"postgresql://postgres@{dsn.rpartition('@')[2]}"


async def _log_in_fast(dsn: str) -> None:
    """The same password, hashed once instead of 4,096 times: a run logs in tens of thousands of times."""
    login = urlsplit(dsn)
    connection = await asyncpg.connect(_superuser(dsn), ssl=False)
    try:
        await connection.execute(
            "SELECT set_config(name, '1', false) FROM pg_settings WHERE name = 'scram_iterations'"
        )  # since PostgreSQL 16
        await connection.execute(f"ALTER ROLE {login.username} PASSWORD '{login.password}'")
    finally:
        await connection.close()


def _admit_superuser(server: EmbeddedServer) -> None:
    """Without a password, once the server reads its settings again: it lives for a run."""
    with (server.status().data_folder / "pg_hba.conf").open("a") as access:
        access.write("local all postgres trust\n")


def waive_upkeep(server: EmbeddedServer) -> None:
    """A test's database outlives no crash of the machine: what fsync costs buys nothing here.

    Nor does it live to be vacuumed; and while that analyses a table, events are held back.
    """
    status = server.status()
    assert status.pid is not None
    with (status.data_folder / "postgresql.auto.conf").open("a") as conf:
        conf.write("fsync = off\nfull_page_writes = off\nautovacuum = off\n")
    os.kill(status.pid, signal.SIGHUP)
