"""Databases that tests borrow are as the template is, whatever the last test did to them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from messor.store.database import Database
from tests.lent_databases import LentDatabases
from tests.template_server import TEMPLATE, with_database

TABLES = """
SELECT c.oid::regclass::text FROM pg_class c
 WHERE c.relkind = 'r' AND c.relnamespace = 'messor'::regnamespace
"""
SEQUENCES = """
SELECT count(*) FROM pg_sequence WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""
WRITE = """
INSERT INTO messor.events (type, actor) SELECT 'domain.approved', 'somebody' FROM generate_series(1, 5)
"""


@pytest.fixture
async def lender(server_dsn: str) -> AsyncIterator[LentDatabases]:
    made = LentDatabases(server_dsn)
    yield made
    await made.close()


async def counted(dsn: str) -> dict[str, int]:
    """The number of rows of each table."""
    async with Database(dsn) as database:
        names = [each[0] for each in await database.fetch(TABLES)]
        counts = ", ".join(f"(SELECT count(*) FROM {name})" for name in names)
        return dict(zip(names, (await database.fetch(f"SELECT {counts}"))[0], strict=True))


async def after(lender: LentDatabases, *statements: str) -> tuple[str, str]:
    """The name of a database that a test changes so, and of the one that the next test gets."""
    name = await lender.lend()
    async with Database(with_database(lender.server_dsn, name)) as database:
        for statement in statements:
            await database.fetch(statement)
    await lender.take_back(name)
    return name, await lender.lend()


async def test_what_was_written_is_gone_and_what_migrations_wrote_is_back(
    lender: LentDatabases,
) -> None:
    pristine = await counted(with_database(lender.server_dsn, TEMPLATE))
    assert pristine["fetch_rollup"] == 1
    for _ in range(2):
        first, second = await after(lender, WRITE, "DELETE FROM messor.fetch_rollup")
        assert second == first
        dsn = with_database(lender.server_dsn, second)
        assert await counted(dsn) == pristine
        async with Database(dsn) as database:
            assert await database.fetchval(SEQUENCES) == 0
        await lender.take_back(second)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE messor.more (id int)",
        "ALTER TABLE messor.fetch_rollup ADD COLUMN more int",
        "CREATE OR REPLACE FUNCTION messor.more() RETURNS int LANGUAGE sql RETURN 1",
        "ANALYZE messor.alembic_version",
        "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = ''8MB''', current_database()); END$$",
    ],
)
async def test_a_database_that_was_changed_otherwise_is_not_lent_again(
    lender: LentDatabases, statement: str
) -> None:
    first, second = await after(lender, statement)
    assert second != first
    await lender.take_back(second)
