"""A PostgreSQL server that says its disk is full (53100): work waits, and goes on by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from messor.errors import UnavailableError
from messor.extraction.component import ExtractionFollower
from messor.extraction.extract import Extractor
from messor.ledger.alarms import AlarmBoard
from messor.ops.disk_watch import DiskWatch
from messor.runtime.process_group import ProcessGroup
from messor.store import space
from messor.store.database import Database
from messor.store.session import Session
from messor.store.space import Space
from tests.crawling import admit, at_work, eventually, idle, outcomes, until
from tests.little_web import LittleWeb, page

# As PostgreSQL says it, from the table it could not extend.
FULL = """
CREATE FUNCTION messor.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END
$$;
CREATE TRIGGER full_disk BEFORE INSERT ON messor.{table} EXECUTE FUNCTION messor.full_disk();
"""
ROOM = "DROP FUNCTION messor.full_disk() CASCADE"
LINKS = tuple(f"/p{number}" for number in range(8))
ROOMS = {
    "/": page("home", *LINKS),
    **{link: page(f"Write to {link[1:]}@one.test") for link in LINKS},
}


async def is_extracted(database: Database) -> bool:
    return not await database.fetchval("SELECT count(*) FROM messor.extraction_due")


@pytest.mark.parametrize("table", ["http_fetches", "page_snapshots", "visits", "crawl_tasks"])
async def test_a_crawl_waits_for_room(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr(space, "FULL_SECONDS", 1.0)
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/")
        async with database.connection() as connection:
            await connection.execute(FULL.format(table=table))
        async with at_work(settings, database) as worker:
            await until(lambda: database.disk_full_at is not None)
            assert Space.of(settings, database).is_low
            async with database.connection() as connection:
                await connection.execute(ROOM)
            await until(lambda: worker.outcomes["ok"] >= len(ROOMS))
    found = await outcomes(database)
    assert [found[f"http://one.test{path}"] for path in ROOMS] == ["ok"] * len(ROOMS)
    rows = await database.fetchval("SELECT count(*) FROM messor.page_snapshots")
    assert rows == len(ROOMS)


async def test_extraction_waits_for_room_and_ends_nobody(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "FULL_SECONDS", 1.0)
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/")
        async with at_work(settings, database):
            await idle(database)
        async with database.connection() as connection:
            await connection.execute(FULL.format(table="extractions"))
        room, board = Space.of(settings, database), AlarmBoard()
        following = ExtractionFollower(settings, Session(database, None), space=room)
        company = ProcessGroup([following, DiskWatch(room, board)])
        running = asyncio.create_task(company.run())
        await until(lambda: board.standing)
        assert "the PostgreSQL server reports that its disk is full" in board.standing[0].message
        assert not running.done()
        async with database.connection() as connection:
            await connection.execute(ROOM)
        await eventually(lambda: is_extracted(database))
        await until(lambda: not board.standing)
        company.stop()
        await running
    assert await database.fetchval("SELECT count(*) FROM messor.extractions") == len(ROOMS)


async def test_extraction_by_hand_says_that_there_is_no_room(
    database: Database, tmp_path: Path
) -> None:
    low = Space({"archive": tmp_path}, space.MinimumFree(0.999999, 0))
    extractor = Extractor(database, tmp_path, None, space=low)  # type: ignore[arg-type]
    extractor._readers = type("None", (), {"count": 1})()
    with pytest.raises(UnavailableError, match=r"Extraction cannot run: the disk of the archive"):
        await extractor.run()
