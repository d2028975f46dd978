"""Twenty writers and five readers, killed and started again: nothing missed, doubled, disordered."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import asyncpg

from messor.feed.queries import ChangeFilter, read_feed
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import PATIENCE, admit
from tests.feed.crew import BATCHES, PARTS, READERS, WRITERS

ROOT = Path(__file__).parents[2]
# No constraint forbids an entry twice: the readers' cursors have to.
TABLES = f"""
CREATE TABLE public.written (writer int, batch int, PRIMARY KEY (writer, batch));
CREATE TABLE public.consumed (number serial, reader int, id text);
CREATE TABLE public.cursors (reader int PRIMARY KEY, cursor text);
INSERT INTO public.cursors SELECT generate_series(0, {READERS} - 1), NULL;
"""


async def test_nothing_is_missed_doubled_or_out_of_order(dsn: str, database: Database) -> None:
    raw = await asyncpg.connect(dsn, ssl=False)
    await raw.execute(TABLES)
    domain = await admit(database, "shop.example")
    for number in range(WRITERS):
        await seeding.add_page(database, domain, f"https://shop.example/{number}")
    crew = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.feed.crew", dsn, "7", cwd=ROOT
    )
    assert await asyncio.wait_for(crew.wait(), 2 * PATIENCE) == 0
    whole = (await read_feed(database, ChangeFilter(kinds="page"))).items
    expected = [one.id for one in whole]
    assert len(set(expected)) == WRITERS * BATCHES * PARTS
    for reader in range(READERS):
        rows = await raw.fetch(
            "SELECT id FROM public.consumed WHERE reader = $1 ORDER BY number", reader
        )
        assert [row["id"] for row in rows] == expected
    await raw.close()
