"""Both servers that the specifications' schemas are tried on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from messor.store import migrate
from messor.store.database import Database
from messor.store.server import EmbeddedServer
from tests.specs.rows import fill
from tests.template_server import run_sql, with_database, with_password

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


async def _filled(dsn: str) -> None:
    async with Database(dsn) as database:
        await fill(database)


@pytest.fixture(scope="session", params=["embedded", "installed"])
def filled_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The DSN of a server, and a template database with rows behind every view."""
    if request.param == "embedded":
        dsn = request.getfixturevalue("server_dsn")
        asyncio.run(run_sql(dsn, "CREATE DATABASE specs TEMPLATE template_messor"))
        asyncio.run(_filled(with_database(dsn, "specs")))
        yield dsn
        asyncio.run(run_sql(dsn, "DROP DATABASE specs WITH (FORCE)"))
        return
    if not INSTALLED:
        pytest.skip("no PostgreSQL is installed; get it with: apt-get install postgresql")
    server = EmbeddedServer(tmp_path_factory.mktemp("installed"), bin_dir=INSTALLED[-1])
    try:
        dsn = with_password(server.acquire())
        asyncio.run(run_sql(dsn, "CREATE DATABASE specs"))
        migrate.upgrade(with_database(dsn, "specs"))
        asyncio.run(_filled(with_database(dsn, "specs")))
        yield dsn
    finally:
        server.release()


@pytest.fixture
async def filled(filled_server: str) -> AsyncIterator[Database]:
    """A database with rows behind every view, of this test's own."""
    await run_sql(filled_server, "CREATE DATABASE specs_test TEMPLATE specs")
    try:
        async with Database(with_database(filled_server, "specs_test")) as database:
            yield database
    finally:
        await run_sql(filled_server, "DROP DATABASE specs_test WITH (FORCE)")
