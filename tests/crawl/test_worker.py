"""A worker in trouble: a full disk, a database that drops it, a question that fails."""

from __future__ import annotations

import asyncio
import errno
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from warcio.archiveiterator import ArchiveIterator

from messor.archive.hashes import raw_hash
from messor.archive.segments import read_record
from messor.frontier import tasks
from messor.store.database import Database
from tests.crawling import admit, at_work, crawl, idle, outcomes, until
from tests.little_web import LittleWeb, Room, page

SNAPSHOTS = """
SELECT s.raw_hash, s.segment_offset, s.segment_length, g.name, p.url
  FROM messor.page_snapshots s JOIN messor.segments g ON g.id = s.segment_id
  JOIN messor.pages p ON p.id = s.page_id
"""


def street(folder: Path, hosts: int, pages: int) -> LittleWeb:
    links = [f"/{n}" for n in range(pages)]
    rooms: dict[str, Room] = {link: page(link, *links) for link in links}
    return LittleWeb(
        folder, {f"h{n}.test": {"/": page(f"{n}", *links), **rooms} for n in range(hosts)}
    )


async def every_snapshot_is_in_the_archive(database: Database, folder: Path) -> int:
    rows = await database.fetch(SNAPSHOTS)
    for row in rows:
        data = read_record(folder, row["name"], row["segment_offset"], row["segment_length"])
        assert len(data) == row["segment_length"], row["url"]
        path = folder / "one-record.warc.gz"
        path.write_bytes(data)
        with path.open("rb") as file:
            (body,) = [record.content_stream().read() for record in ArchiveIterator(file)]
        path.unlink()
        assert raw_hash(body) == row["raw_hash"], row["url"]
    return len(rows)


async def test_a_disk_that_is_full_for_a_while_loses_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what was fetched while the failing write was under way."""
    write, calls = os.write, 0

    def sometimes_full(file: int, data: Any) -> int:
        nonlocal calls
        calls += 1
        if calls in (2, 4, 5):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    async with street(tmp_path, 5, 30) as web:
        settings = web.settings(flush_pages=10)
        for number in range(5):
            await admit(database, f"http://h{number}.test/", delay=0.05)
        monkeypatch.setattr(os, "write", sometimes_full)
        await crawl(settings, database)
        monkeypatch.undo()
        assert calls > 5
        assert (
            await every_snapshot_is_in_the_archive(database, settings.data_dir / "archive") == 155
        )
        assert Counter((await outcomes(database)).values()) == {"ok": 160}


async def test_segments_that_fill_up_during_visits_lose_nothing(
    database: Database, tmp_path: Path
) -> None:
    """A record may come while one segment is being sealed and the next one opened."""
    async with street(tmp_path, 5, 30) as web:
        settings = web.settings(segment_bytes=1, flush_pages=5)
        for number in range(5):
            await admit(database, f"http://h{number}.test/", delay=0.001)
        await crawl(settings, database)
        assert (
            await every_snapshot_is_in_the_archive(database, settings.data_dir / "archive") == 155
        )


def replace_link(link: Path, target: Path) -> None:
    """At once: nobody finds nothing in its place, and makes a folder there."""
    new = link.with_name("new")
    new.symlink_to(target)
    new.replace(link)


async def test_an_archive_folder_that_vanishes_loses_nothing(
    database: Database, tmp_path: Path
) -> None:
    """Segments of one record each, and no place for the next one for a while."""
    async with street(tmp_path, 2, 20) as web:
        settings = web.settings(segment_bytes=1, flush_pages=5)
        archive = settings.data_dir / "archive"
        (tmp_path / "there").mkdir()
        (tmp_path / "a file").write_text("a file where the folder was")
        archive.parent.mkdir()
        archive.symlink_to(tmp_path / "there")
        for number in range(2):
            await admit(database, f"http://h{number}.test/", delay=0.01)
        async with at_work(settings, database):
            await until(lambda: len(web.requests()) >= 12)
            replace_link(archive, tmp_path / "a file")
            await asyncio.sleep(0.3)
            replace_link(archive, tmp_path / "there")
            await idle(database)
        assert await every_snapshot_is_in_the_archive(database, archive) == 42


async def test_connections_that_are_cut_cost_nothing_but_time(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    cut = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()"""
    async with street(tmp_path, 4, 20) as web, Database(dsn) as own:
        for number in range(4):
            await admit(database, f"http://h{number}.test/", delay=0.01)
        async with at_work(web.settings(), own):
            for _ in range(3):
                await asyncio.sleep(0.15)
                await database.fetch(cut)
            await idle(database)
        assert Counter((await outcomes(database)).values()) == {"ok": 88}
        doubled = "SELECT page_id FROM messor.page_changes GROUP BY 1 HAVING count(*) > 1"
        assert await database.fetch(doubled) == []


class Forgetful(Database):
    """A database that once fails to say what is due."""

    failed = False

    async def fetch(self, sql: str, *args: Any) -> Sequence[asyncpg.Record]:
        if sql == tasks.DUE and not self.failed:
            self.failed = True
            raise ConnectionResetError("the connection was lost")
        return await super().fetch(sql, *args)


async def test_lanes_claimed_before_a_failing_question_are_not_forgotten(
    dsn: str, tmp_path: Path
) -> None:
    async with street(tmp_path, 1, 2) as web, Forgetful(dsn) as database:
        await admit(database, "http://h0.test/")
        await crawl(web.settings(), database)
        assert len(web.requests()) == 5  # robots, a sitemap that is not there, three pages


async def test_a_worker_whose_lease_is_taken_away_starts_again(
    database: Database, tmp_path: Path
) -> None:
    async with street(tmp_path, 2, 20) as web:
        for number in range(2):
            await admit(database, f"http://h{number}.test/", delay=0.02)
        async with at_work(web.settings(), database):
            await until(lambda: len(web.requests()) >= 10)
            await database.fetch(
                "UPDATE messor.worker_leases SET expires_at = messor.clock() - interval '1 s'"
            )
            await database.fetch("SELECT messor.reap_workers()")
            await idle(database)
        assert Counter((await outcomes(database)).values()) == {"ok": 44}


async def test_a_segment_left_by_the_dead_is_sealed_by_the_next_worker(
    database: Database, tmp_path: Path
) -> None:
    async with street(tmp_path, 1, 2) as web:
        await database.fetch(
            """WITH dead AS (INSERT INTO messor.worker_leases (name, expires_at, ended_at)
                             VALUES ('dead', messor.clock(), messor.clock()) RETURNING id)
               INSERT INTO messor.segments (name, worker_id) SELECT 'dead.warc.gz', id FROM dead"""
        )
        archive = web.settings().data_dir / "archive"
        archive.mkdir(parents=True)
        (archive / "dead.warc.gz").write_bytes(b"half a rec")
        await admit(database, "http://h0.test/")
        await crawl(web.settings(), database)
        states = await database.fetch("SELECT state FROM messor.segments")
        assert {row["state"] for row in states} == {"sealed"}
        assert (archive / "dead.warc.gz").stat().st_size == 0
