"""Going back a revision: what it takes away is known before, and what can be made again is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from messor.errors import UsageError
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.insight import search
from messor.insight.search_index import index_waiting
from messor.settings import Settings
from messor.store import migrate, revisions
from messor.store.database import Database
from messor.store.losses import dropped, losses, revisions_below
from tests.conftest import with_database
from tests.crawling import admit, crawl
from tests.extraction.test_extract import SHOP, product
from tests.little_web import LittleWeb, page

COLUMNS = """
SELECT c.relname::text, a.attname::text FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""


@pytest.fixture
async def fresh_dsn(server_dsn: str) -> AsyncIterator[str]:
    """A database of its own that many processes of this module may change."""
    name = f"downgraded_{os.getpid()}"
    raw = await asyncpg.connect(server_dsn, ssl=False)
    try:
        await raw.execute(f"CREATE DATABASE {name} TEMPLATE template_messor STRATEGY file_copy")
        yield with_database(server_dsn, name)
        await raw.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await raw.close()


async def columns(dsn: str) -> set[tuple[str, str]]:
    raw = await asyncpg.connect(dsn, ssl=False)
    try:
        return {(row[0], row[1]) for row in await raw.fetch(COLUMNS)}
    finally:
        await raw.close()


async def test_what_each_step_takes_away_is_known_before(fresh_dsn: str) -> None:
    first, *others = revisions.numbers()
    for revision, target in zip(reversed(others), [*reversed(others[:-1]), first], strict=True):
        before = await columns(fresh_dsn)
        await asyncio.to_thread(migrate.downgrade, fresh_dsn, target)
        gone = before - (after := await columns(fresh_dsn))
        gone_tables = {table for table, _ in gone} - {table for table, _ in after}
        tables, taken, _ = dropped(revision)
        assert tables == gone_tables, revision
        assert taken == {(t, c) for t, c in gone if t not in gone_tables}, revision


async def test_losses_are_counted_table_by_table(database: Database) -> None:
    await admit(database, "https://shop.example/")
    async with database.connection() as connection:
        undone = revisions_below(revisions.newest(), "base")[1]
        found = {loss.what: loss for loss in await losses(connection, undone)}
    assert found["table domains"].rows == 1
    assert found["table domains"].revision == "001"
    assert found["table domain_submissions"].revision == "009"
    assert not found["table records"].is_made_again
    assert found["table search_documents"].is_made_again


def test_targets_are_named_in_several_ways() -> None:
    assert revisions_below("005", "-1") == ("004", ["005"])
    assert revisions_below("005", "-9") == ("base", ["005", "004", "003", "002", "001"])
    assert revisions_below("005", "003") == ("003", ["005", "004"])
    for wrong in ("006", "nonsense", "head", "+1"):
        with pytest.raises(UsageError, match="cannot be downgraded"):
            revisions_below("005", wrong)


async def found_words(database: Database) -> set[tuple[str, str | None, str]]:
    """What search finds: documents of pages and of records."""
    answers = [await search.search(database, words) for words in ("kettle", "water", "home")]
    return {(hit.kind, hit.title, hit.url) for found in answers for hit in found.hits}


async def read_and_index(settings: Settings, database: Database, readers: ReaderPool) -> None:
    """What workers do with what waits, and nothing that they would not do by themselves."""
    await Extractor(database, settings.data_dir / "archive", readers).run()
    async with database.transaction() as connection:
        while await index_waiting(connection, 1000):
            pass


async def lose_search(dsn: str) -> None:
    """As a downgrade and upgrade by an earlier release left it: nothing indexed, nothing queued."""
    (healing,) = revisions.MIGRATIONS.glob("versions/*_search_again.py")
    number = healing.name.partition("_")[0]
    before = revisions.numbers()[revisions.numbers().index(number) - 1]
    await asyncio.to_thread(migrate.downgrade, dsn, before)
    async with Database(dsn) as database:
        await database.fetch("TRUNCATE messor.search_documents, messor.search_due")
    await asyncio.to_thread(migrate.upgrade, dsn)


async def test_search_finds_the_same_after_any_downgrade_and_upgrade(
    fresh_dsn: str, tmp_path: Path
) -> None:
    rooms = {f"/{name}": product(name=f"{name.title()} kettle") for name in ("copper", "steel")}
    readers = ReaderPool(1)
    async with LittleWeb(tmp_path, {SHOP: {"/": page("Home", *rooms), **rooms}}) as web:
        settings = web.settings()
        async with Database(fresh_dsn) as database:
            await admit(database, f"http://{SHOP}/")
            await crawl(settings, database)
            await read_and_index(settings, database, readers)
            expected = await found_words(database)
    assert {kind for kind, _, _ in expected} >= {"page", "product"}
    await lose_search(fresh_dsn)
    try:
        for target in reversed(revisions.numbers()[:-1]):
            await asyncio.to_thread(migrate.downgrade, fresh_dsn, target)
            await asyncio.to_thread(migrate.upgrade, fresh_dsn)
            async with Database(fresh_dsn) as database:
                await read_and_index(settings, database, readers)
                assert await found_words(database) == expected, target
    finally:
        await readers.close()
