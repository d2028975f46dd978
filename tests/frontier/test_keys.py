"""No page without its host, no task without its page: checked for a statement, not for each row."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from messor.store.database import Database
from tests.held_lanes import make_domain, make_lanes

PAGE = """
INSERT INTO messor.pages (host_id, url_hash, url, found_by)
SELECT host_id, sha256(($2 || host_id)::bytea), 'http://example.test/' || $2, 'seed'
  FROM unnest($1::bigint[]) AS host_id RETURNING id
"""
TASK = "INSERT INTO messor.crawl_tasks (page_id, host_id) SELECT id, 1 FROM unnest($1::bigint[]) id"
COUNTS = """
SELECT (SELECT count(*) FROM messor.hosts), (SELECT count(*) FROM messor.pages),
       (SELECT count(*) FROM messor.crawl_tasks)
"""
BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"
NO_ONE = 10**15


async def counts(database: Database) -> tuple[int, ...]:
    row = await database.fetchrow(COUNTS)
    assert row is not None
    return tuple(row)


async def until_blocked(database: Database) -> None:
    async with asyncio.timeout(20):
        while not await database.fetchval(BLOCKED):  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.01)


@pytest.fixture
async def hosts(database: Database) -> list[int]:
    """Two hosts with a page and a task each."""
    return await make_lanes(database, await make_domain(database), count=2)


async def test_a_page_needs_its_host(database: Database, hosts: list[int]) -> None:
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="a page needs its host"):
        await database.fetch(PAGE, [*hosts, NO_ONE], "a")
    assert await counts(database) == (2, 2, 2)


async def test_a_task_needs_its_page(database: Database, hosts: list[int]) -> None:
    pages = [row["id"] for row in await database.fetch(PAGE, hosts, "a")]
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="a task needs its page"):
        await database.fetch(TASK, [*pages, NO_ONE])
    await database.fetch(TASK, pages)
    assert await counts(database) == (2, 4, 4)


async def test_a_page_and_its_task_may_come_in_one_transaction(
    database: Database, hosts: list[int]
) -> None:
    async with database.transaction() as connection:
        pages = [row["id"] for row in await connection.fetch(PAGE, hosts, "a")]
        await connection.execute(TASK, pages)
    assert await counts(database) == (2, 4, 4)


async def test_pages_and_tasks_go_with_their_host(database: Database, hosts: list[int]) -> None:
    await database.fetch("DELETE FROM messor.hosts WHERE id = $1", hosts[0])
    assert await counts(database) == (1, 1, 1)
    assert await database.fetchval("SELECT host_id FROM messor.crawl_tasks") == hosts[1]
    await database.fetch("DELETE FROM messor.domains")
    assert await counts(database) == (0, 0, 0)


async def test_a_task_goes_with_its_page(database: Database, hosts: list[int]) -> None:
    await database.fetch("DELETE FROM messor.pages WHERE host_id = $1", hosts[0])
    assert await counts(database) == (2, 1, 1)


@pytest.mark.parametrize(
    "move",
    ["UPDATE messor.pages SET host_id = $1", "UPDATE messor.crawl_tasks SET page_id = $1"],
)
async def test_keys_do_not_change(database: Database, hosts: list[int], move: str) -> None:
    assert hosts
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="stays where it is"):
        await database.fetch(move, NO_ONE)


GO = {
    "host": ("DELETE FROM messor.hosts WHERE id = $1", PAGE),
    "page": ("DELETE FROM messor.pages WHERE id = $1", TASK),
}


@pytest.mark.parametrize("what", GO)
async def test_what_is_being_deleted_gets_nothing_more(
    database: Database, hosts: list[int], what: str
) -> None:
    delete, insert = GO[what]
    (page,) = [row["id"] for row in await database.fetch(PAGE, hosts[:1], "a")]
    key = hosts[0] if what == "host" else page
    given: list[Any] = [[key], "b"] if what == "host" else [[key]]
    async with database.transaction() as connection:
        await connection.execute(delete, key)
        inserting = asyncio.create_task(database.fetchrow(insert, *given))
        await until_blocked(database)
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="needs its"):
        await inserting


@pytest.mark.parametrize("what", GO)
async def test_what_is_being_added_goes_with_what_it_needs(
    database: Database, hosts: list[int], what: str
) -> None:
    delete, insert = GO[what]
    (page,) = [row["id"] for row in await database.fetch(PAGE, hosts[:1], "a")]
    key = hosts[0] if what == "host" else page
    given: list[Any] = [[key], "b"] if what == "host" else [[key]]
    async with database.transaction() as connection:
        await connection.execute(insert, *given)
        deleting = asyncio.create_task(database.fetchrow(delete, key))
        await until_blocked(database)
    await deleting
    kept = (1, 1, 1) if what == "host" else (2, 2, 2)
    assert await counts(database) == kept
