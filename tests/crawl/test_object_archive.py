"""Crawls whose archive is an object store: killed at any moment, with a store that fails, read elsewhere."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messor.archive.hashes import raw_hash
from messor.archive.objects import StoreOptions
from messor.archive.segments import seal_abandoned
from messor.archive.snapshot_content import read_body
from messor.archive.storage import Archive
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.settings import Settings
from messor.store.database import Database
from tests.archive import stores
from tests.crawl.dying_worker import MOMENTS
from tests.crawling import admit, crawl, outcomes
from tests.little_web import LittleWeb, Room, page

HOSTS, PAGES = 3, 12
ALL = HOSTS * (PAGES + 1)
SNAPSHOTS = """
SELECT s.raw_hash, g.name, s.segment_offset, s.segment_length
  FROM messor.page_snapshots s JOIN messor.segments g ON g.id = s.segment_id
"""
OPEN = "SELECT count(*) FROM messor.segments WHERE state = 'open'"


@pytest.fixture(scope="module")
def moto() -> Iterator[StoreOptions]:
    with stores.moto() as options:
        yield options


@pytest.fixture(scope="module")
def rclone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreOptions]:
    with stores.rclone(tmp_path_factory.mktemp("rclone")) as options:
        yield options


def street(folder: Path) -> LittleWeb:
    links = [f"/{n}" for n in range(PAGES)]
    return LittleWeb(
        folder,
        {f"h{n}.test": _house(n, links) for n in range(HOSTS)},
    )


def _house(number: int, links: list[str]) -> dict[str, Room]:
    return {"/": page(f"{number}", *links), **{link: page(f"{link} {number}") for link in links}}


def on(options: StoreOptions, web: LittleWeb, **values: Any) -> Settings:
    """Settings of a machine whose archive is a store of its own."""
    return web.settings(
        archive_url=stores.fresh(options).url,
        archive_endpoint=options.endpoint,
        archive_key_id=options.key_id,
        archive_secret=options.secret,
        flush_pages=5,
        **values,
    )


async def admit_all(database: Database) -> None:
    for number in range(HOSTS):
        await admit(database, f"http://h{number}.test/", delay=0.01)


async def every_page_is_archived(database: Database, archive: Archive) -> None:
    rows = await database.fetch(SNAPSHOTS)
    assert len(rows) == ALL
    for row in rows:
        body = read_body(archive, row["name"], row["segment_offset"], row["segment_length"])
        assert raw_hash(body) == row["raw_hash"]


def elsewhere(settings: Settings, folder: Path) -> Archive:
    """The archive as another machine sees it."""
    return Archive.of(settings.model_copy(update={"data_dir": folder / "elsewhere"}))


@pytest.mark.parametrize("kind", ["moto", "rclone"])
async def test_pages_are_read_and_extracted_on_another_machine(
    database: Database, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    async with street(tmp_path) as web:
        settings = on(request.getfixturevalue(kind), web)
        await admit_all(database)
        await crawl(settings, database)
    other = elsewhere(settings, tmp_path)
    await every_page_is_archived(database, other)
    assert not (settings.data_dir / "archive").exists()
    readers = ReaderPool(1)
    try:
        await Extractor(database, other, readers).run()
    finally:
        await readers.close()
    assert await database.fetchval("SELECT count(*) FROM messor.extraction_due") == 0
    assert await database.fetchval("SELECT count(*) FROM messor.extractions") == ALL
    assert await database.fetchval(OPEN) == 0


@pytest.mark.wide
async def test_workers_killed_around_a_put_lose_nothing(
    database: Database, tmp_path: Path, moto: StoreOptions
) -> None:
    async with street(tmp_path) as web:
        settings = on(moto, web, worker_lease=1.0)
        await admit_all(database)
        for number, moment in enumerate(MOMENTS * 2):
            await asyncio.to_thread(run_until_killed, settings, database.dsn, moment, number)
        await crawl(settings, database)
        asked = Counter(request.path for request in web.requests())
    archive = elsewhere(settings, tmp_path)
    await every_page_is_archived(database, archive)
    assert Counter((await outcomes(database)).values()) == {"ok": ALL + HOSTS}
    # What died with a worker was fetched again, and nothing else.
    assert sum(asked.values()) > ALL
    await database.fetch("UPDATE messor.worker_leases SET ended_at = messor.clock()")
    await seal_abandoned(archive, database)
    assert await database.fetchval(OPEN) == 0
    store = archive.store
    assert store is not None
    rows = await database.fetch("SELECT name, bytes FROM messor.segments WHERE bytes > 0")
    assert {each.key: each.bytes for each in store.listed()} == {
        store.key_of(row["name"]): row["bytes"] for row in rows
    }


def run_until_killed(settings: Settings, dsn: str, moment: str, number: int) -> None:
    command = [sys.executable, "-m", "tests.crawl.dying_worker", moment, str(1 + number % 2), dsn]
    given = json.loads(settings.model_dump_json())
    secret = settings.archive_secret
    assert secret is not None
    given["archive_secret"] = secret.get_secret_value()
    done = subprocess.run(command, input=json.dumps(given).encode(), timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL


async def test_a_store_that_is_away_for_a_while_costs_no_page(
    database: Database, tmp_path: Path, moto: StoreOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes wait in memory: each page is fetched once."""
    import obstore  # noqa: PLC0415 - patched here

    put, calls = obstore.put, 0

    def sometimes_away(*given: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls in (2, 3, 6):
            raise obstore.exceptions.GenericError("503 Slow Down")
        return put(*given, **options)

    monkeypatch.setattr(obstore, "put", sometimes_away)
    async with street(tmp_path) as web:
        settings = on(moto, web)
        await admit_all(database)
        await crawl(settings, database)
        asked = Counter((request.host, request.path) for request in web.requests())
    assert calls > 6
    assert set(asked.values()) == {1}
    await every_page_is_archived(database, elsewhere(settings, tmp_path))
