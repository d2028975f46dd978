"""Slow queries: what runs now, what finished statements cost, what is read without an index."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from messor.ops import slow_queries
from messor.store import migrate
from messor.store.database import Database
from messor.store.embedded import cluster
from messor.store.server import EmbeddedServer
from tests.crawling import eventually
from tests.specs.conftest import INSTALLED
from tests.template_server import with_password

SLEEPING = "SELECT pg_sleep(20), 'password=hunter2'"


async def test_what_runs_now_is_shown_without_secrets(dsn: str, database: Database) -> None:
    busy = await asyncpg.connect(dsn, ssl=False)
    running = asyncio.create_task(busy.execute(SLEEPING))

    async def seen() -> bool:
        return bool((await slow_queries.look(database, running_seconds=0.05)).running)

    try:
        await eventually(seen)
        (one,) = (await slow_queries.look(database, running_seconds=0.05)).running
        assert one.query.startswith("SELECT pg_sleep(20)")
        assert "hunter2" not in one.query
        assert (one.state, one.wait_event) == ("active", "PgSleep")
        assert one.seconds >= 0.05
        assert (await slow_queries.look(database, running_seconds=15)).running == []
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        busy.terminate()


async def test_without_statistics_tables_and_indexes_tell(database: Database) -> None:
    await database.fetch("SELECT count(*) FROM messor.verticals")
    found = await slow_queries.look(database)
    assert found.statements is None
    assert "shared_preload_libraries" in (found.advice or "")
    assert found.unused
    assert [index.bytes for index in found.unused] == sorted(
        (index.bytes for index in found.unused), reverse=True
    )


@pytest.fixture
def with_statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An installed server that keeps statistics of statements, whose role may create extensions."""
    if not INSTALLED:
        pytest.skip("no PostgreSQL is installed; get it with: apt-get install postgresql")
    usual = cluster._role_and_database
    monkeypatch.setattr(
        cluster,
        "_role_and_database",
        lambda password: usual(password).replace(" LOGIN ", " LOGIN SUPERUSER ", 1),
    )
    server = EmbeddedServer(tmp_path / "installed", bin_dir=INSTALLED[-1])
    server.acquire()
    with (server.status().data_folder / "postgresql.auto.conf").open("a") as conf:
        conf.write("shared_preload_libraries = 'pg_stat_statements'\n")
    server.release()  # the last user stops it
    try:
        yield with_password(server.acquire())
    finally:
        server.release()


async def test_with_statistics_the_costliest_statements_come_first(with_statistics: str) -> None:
    await asyncio.to_thread(migrate.upgrade, with_statistics)
    async with Database(with_statistics) as database:
        assert (await slow_queries.look(database)).statements is None, "not created yet"
        await database.fetch("CREATE EXTENSION pg_stat_statements")
        for _ in range(2):
            await database.fetch("SELECT pg_sleep(0.06)")
        found = await slow_queries.look(database, mean_ms=50)
        assert found.advice is None
        assert found.statements is not None
        (one,) = [each for each in found.statements if "pg_sleep" in each.query]
        assert one.calls == 2
        assert one.seconds >= 0.12
        assert one.max_ms >= one.mean_ms >= 60
        assert found.statements == sorted(found.statements, key=lambda each: -each.seconds)
        assert (await slow_queries.look(database, mean_ms=3_600_000)).statements == []
