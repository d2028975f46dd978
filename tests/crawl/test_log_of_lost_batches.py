"""Each request of a batch that could not be stored has one row in the fetch log, and a true one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from messor.core import clock
from messor.crawl.page_result import PageResult
from messor.errors import UnavailableError
from messor.fetch.outcome import Fetched, failed
from messor.store.database import Database
from tests.crawl.conftest import Bench, make_bench
from tests.crawl.test_flush import Failing, full_disk, spoil_title

LOGGED = """
SELECT page_id, count(*) AS rows FROM messor.http_fetches GROUP BY page_id
"""
ERRORS = "SELECT error_json ->> 'type' AS type FROM messor.http_fetches ORDER BY page_id"


async def each_is_logged_once(database: Database, harvests: list[PageResult]) -> None:
    logged = {row["page_id"]: row["rows"] for row in await database.fetch(LOGGED)}
    assert logged == {harvest.task.page_id: 1 for harvest in harvests}


async def test_an_archive_that_fails_after_a_bad_row_logs_each_request_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bad row split the batch before its bytes were found missing."""
    harvests = [await bench.harvest(f"text {n}") for n in range(4)]
    spoil_title(harvests[3])
    batch = await bench.batch(*harvests)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full_disk)
        with pytest.raises(UnavailableError):
            await bench.flusher.flush(batch)
    assert batch.parts is not None
    batch.drop_snapshots()  # as the worker does
    assert batch.cut_off == []  # they are in its halves
    assert [len(part.cut_off) for part in batch.parts] == [2, 2]
    bench.archive.abandon()
    await bench.flusher.flush(batch)
    await each_is_logged_once(bench.database, harvests)


async def test_halves_of_halves_are_logged_when_the_lease_is_lost(dsn: str, tmp_path: Path) -> None:
    """One quarter was committed; of the next the connection was lost."""
    async with Failing(dsn) as database:
        bench = await make_bench(database, tmp_path)
        harvests = [await bench.harvest(f"text {n}") for n in range(4)]
        spoil_title(harvests[1])
        batch = await bench.batch(*harvests)
        database.transactions, database.fails_at = 0, 2
        with pytest.raises(ConnectionError):
            await bench.flusher.flush(batch)
        assert await bench.count("page_snapshots") == 1
        await bench.flusher.log_sent([batch])
        await each_is_logged_once(database, harvests)
        bench.archive.abandon()


async def test_a_request_that_was_never_sent_is_not_said_to_have_been(bench: Bench) -> None:
    sent, unsent = await bench.harvest("sent"), await bench.harvest("unsent")
    unsent.snapshot, unsent.raw_hash = None, None
    unsent.fetched = Fetched(failed("dns", "no such name"), began_at=clock.now())
    await bench.flusher.log_sent([await bench.batch(sent, unsent)])
    rows = await bench.database.fetch(ERRORS)
    assert [row["type"] for row in rows] == ["cut_off", "dns"]


async def test_what_was_logged_is_not_logged_again_when_its_answer_was_lost(bench: Bench) -> None:
    harvests = [await bench.harvest("a"), await bench.harvest("b")]
    batches = [await bench.batch(harvest) for harvest in harvests]
    await bench.flusher.log_sent(batches)
    await bench.flusher.log_sent(batches)
    await each_is_logged_once(bench.database, harvests)
