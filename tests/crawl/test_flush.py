"""The flush: one bad row costs itself, a lost lane costs its rows, a lost answer costs nothing."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from messor.archive.segments import read_record, seal_abandoned
from messor.crawl.page_result import PageResult
from messor.errors import LeaseLostError, UnavailableError
from messor.ledger.decisions import denied
from messor.politeness import lanes
from messor.store.database import Connection, Database
from tests.crawl.conftest import HOST, Bench, make_bench
from tests.held_lanes import lane_row
from tests.moments import somebody_waits

EXPIRE = "UPDATE messor.worker_leases SET expires_at = messor.clock() - interval '1 second'"


def spoil_title(harvest: PageResult) -> None:
    assert harvest.snapshot is not None
    harvest.snapshot.title = "a\x00b"


def spoil_markdown(harvest: PageResult) -> None:
    assert harvest.snapshot is not None
    harvest.snapshot.markdown = "lone \ud800 surrogate"


def spoil_data(harvest: PageResult) -> None:
    assert harvest.snapshot is not None
    harvest.snapshot.data = '{"name": "\\u0000"}'


def spoil_size(harvest: PageResult) -> None:
    assert harvest.snapshot is not None
    harvest.snapshot.size = 2**40


def spoil_status(harvest: PageResult) -> None:
    assert harvest.fetched is not None
    harvest.fetched.status = 99_999


def spoil_found(harvest: PageResult) -> None:
    harvest.found[0] = harvest.found[0].__class__(
        harvest.found[0].domain_id, HOST, b"x", "http://\x00", "unheard_of", 1, 1, 0
    )


@pytest.mark.parametrize(
    "spoil", [spoil_title, spoil_markdown, spoil_data, spoil_size, spoil_status, spoil_found]
)
async def test_one_bad_row_is_set_aside_and_the_rest_commits(
    bench: Bench, spoil: Callable[[PageResult], None]
) -> None:
    harvests = [await bench.harvest(f"text {n}", links=1) for n in range(7)]
    bad = harvests[3]
    spoil(bad)
    await bench.flusher.flush(await bench.batch(*harvests, last=True))
    kept = await bench.database.fetch("SELECT page_id FROM messor.page_snapshots")
    assert {row["page_id"] for row in kept} == {h.task.page_id for h in harvests if h is not bad}
    task = await bench.database.fetchrow(
        "SELECT status, due_at, error_message FROM messor.crawl_tasks WHERE page_id = $1",
        bad.task.page_id,
    )
    assert task is not None
    assert (task["status"], task["due_at"]) == ("failed", None)
    assert "cannot be stored" in task["error_message"]
    fault = await bench.database.fetchrow("SELECT * FROM messor.error_logs")
    assert fault is not None
    assert (fault["crawl_task_id"], fault["category"]) == (bad.task.page_id, "storage")
    assert await bench.count("pages", "url LIKE '%/found-%'") == 6
    assert (await lane_row(bench.database, bench.host_id))["worker_id"] is None


async def test_a_batch_of_nothing_but_bad_rows_still_gives_the_lane_back(bench: Bench) -> None:
    harvests = [await bench.harvest(f"text {n}") for n in range(5)]
    for harvest in harvests:
        spoil_title(harvest)
    await bench.flusher.flush(await bench.batch(*harvests, last=True))
    assert await bench.count("error_logs") == 5
    assert await bench.count("page_snapshots") == 0
    assert (await lane_row(bench.database, bench.host_id))["worker_id"] is None


async def test_a_bad_refusal_is_set_aside_too(bench: Bench) -> None:
    """A rule quoted from a hostile robots.txt may hold anything."""
    harvest = await bench.harvest()
    harvest.decision, harvest.fetched, harvest.snapshot = denied("robots", "a\x00b"), None, None
    good = await bench.harvest("good")
    await bench.flusher.flush(await bench.batch(harvest, good))
    assert await bench.count("page_snapshots") == 1


async def test_a_reaped_worker_cannot_flush(bench: Bench) -> None:
    batch = await bench.batch(await bench.harvest(links=2), last=True)
    await bench.database.fetch(EXPIRE)
    await lanes.reap(bench.database)
    with pytest.raises(LeaseLostError):
        await bench.flusher.flush(batch)
    assert await bench.count("page_snapshots") == 0
    assert await bench.count("http_fetches") == 0
    assert await bench.count("pages", "url LIKE '%/found-%'") == 0
    assert len(bench.seen) == 0


async def test_rows_of_a_lane_that_was_lost_are_dropped_and_the_others_kept(
    bench: Bench,
) -> None:
    stale, good = await bench.harvest("stale"), await bench.harvest("good")
    old = bench.lane
    stale.lane = replace(old, token=old.token - 1)
    assert stale.snapshot is not None
    stale.snapshot.token -= 1
    await bench.flusher.flush(await bench.batch(stale, good))
    kept = await bench.database.fetch("SELECT page_id FROM messor.page_snapshots")
    assert [row["page_id"] for row in kept] == [good.task.page_id]
    assert await bench.count("http_fetches") == 2  # both requests were sent, whoever held the lane


async def test_the_lease_is_renewed_by_an_empty_flush(bench: Bench) -> None:
    before = bench.holder.deadline
    await asyncio.sleep(0.01)
    await bench.flusher.flush(await bench.batch())
    assert bench.holder.deadline > before


async def test_bytes_are_on_disk_before_the_rows_commit(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    sync, transaction = bench.archive.sync, bench.database.transaction

    def note_sync() -> None:
        sync()
        order.append("on disk")

    @asynccontextmanager
    async def note_commit() -> AsyncIterator[Connection]:
        async with transaction() as connection:
            yield connection
            order.append("commit")

    batch = await bench.batch(await bench.harvest())
    monkeypatch.setattr(bench.archive, "sync", note_sync)
    monkeypatch.setattr(bench.database, "transaction", note_commit)
    await bench.flusher.flush(batch)
    assert order == ["on disk", "commit"]


def full_disk(*_: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


async def test_without_bytes_on_disk_no_row_commits(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = await bench.batch(await bench.harvest(), last=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full_disk)
        with pytest.raises(UnavailableError):
            await bench.flusher.flush(batch)
    assert await bench.count("page_snapshots") == 0


async def test_a_bad_row_does_not_hide_a_full_disk(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both at once: the halves are flushed again, and their bytes still are not on disk."""
    bad = await bench.harvest("bad")
    spoil_title(bad)
    batch = await bench.batch(await bench.harvest("good"), bad)
    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(UnavailableError):
        await bench.flusher.flush(batch)
    assert await bench.count("page_snapshots") == 0


async def test_what_a_failed_write_took_along_is_not_believed_to_be_stored(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of the next batch was appended already when this one's write failed."""
    batch = await bench.batch(await bench.harvest("now"))
    following = await bench.batch(await bench.harvest("next"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full_disk)
        with pytest.raises(UnavailableError):
            await bench.flusher.flush(batch)
    batch.drop_snapshots()  # as the worker does
    bench.archive.abandon()
    await bench.flusher.flush(batch)
    await bench.archive.ready()
    with contextlib.suppress(UnavailableError):
        await bench.flusher.flush(following)
    for row in await bench.database.fetch(
        """SELECT g.name, s.segment_offset, s.segment_length FROM messor.page_snapshots s
             JOIN messor.segments g ON g.id = s.segment_id"""
    ):
        data = read_record(bench.folder, *row)
        assert len(data) == row["segment_length"]


async def test_a_flush_sent_twice_counts_once(bench: Bench) -> None:
    """The connection may be lost between the commit and its answer."""
    batch = await bench.batch(await bench.harvest(links=3))
    batch.refused_links[bench.host_id, "scope"] += 2
    await bench.flusher.flush(batch)
    await bench.flusher.flush(batch)
    assert await bench.count("http_fetches") == 1
    assert await bench.count("page_changes") == 1
    assert await bench.database.fetchval("SELECT links FROM messor.refused_links") == 2
    assert await bench.database.fetchval("SELECT pages_known FROM messor.domains") == 4


class Failing(Database):
    """A database that loses one chosen connection at its commit."""

    fails_at = 0
    transactions = 0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with super().transaction() as connection:
            yield connection
            self.transactions += 1
            if self.transactions == self.fails_at:
                raise ConnectionResetError("the server is gone")


@pytest.mark.parametrize("fails_at", range(1, 6))
async def test_a_connection_lost_while_halving_loses_nothing(
    dsn: str, tmp_path: Path, fails_at: int
) -> None:
    async with Failing(dsn) as database:
        bench = await make_bench(database, tmp_path)
        harvests = [await bench.harvest(f"text {n}", links=1) for n in range(4)]
        spoil_title(harvests[0])
        batch = await bench.batch(*harvests, last=True)
        database.transactions, database.fails_at = 0, fails_at
        for _ in range(3):  # as the worker does until it succeeds
            try:
                await bench.flusher.flush(batch)
                break
            except ConnectionError:
                continue
        kept = await database.fetch("SELECT page_id FROM messor.page_snapshots")
        assert {row["page_id"] for row in kept} == {h.task.page_id for h in harvests[1:]}
        assert (await lane_row(database, bench.host_id))["worker_id"] is None
        assert await bench.count("http_fetches") == 4  # that of the page that was refused, too
        assert await bench.count("pages", "url LIKE '%/found-%'") == 3
        bench.archive.abandon()


@pytest.mark.parametrize("budget, room", [(3, 3), (1, 1), (100, 20)])
async def test_the_budget_is_exact_at_the_flush(
    database: Database, tmp_path: Path, budget: int, room: int
) -> None:
    bench = await make_bench(database, tmp_path, budget + 1)  # the harvest's own page counts
    harvest = await bench.harvest(links=20)
    await bench.flusher.flush(await bench.batch(harvest))
    assert await bench.count("pages", "url LIKE '%/found-%'") == room
    refused = await database.fetchval(
        "SELECT coalesce(sum(links), 0)::int FROM messor.refused_links WHERE rule = 'budget'"
    )
    assert refused == 20 - room
    known = await database.fetchval("SELECT pages_known FROM messor.domains")
    assert known == room + 1
    bench.archive.abandon()


async def test_pages_known_already_take_no_budget_from_new_ones(
    database: Database, tmp_path: Path
) -> None:
    bench = await make_bench(database, tmp_path, budget=12)
    first = await bench.harvest(links=8)
    await bench.flusher.flush(await bench.batch(first))
    bench.seen._hosts.clear()  # as after a restart: the filter has to ask again
    second = await bench.harvest()
    second.found = [
        *(bench.link(second.task, page.url.partition(HOST)[2]) for page in first.found),
        *(bench.link(second.task, f"/new-{n}") for n in range(2)),
    ]
    await bench.flusher.flush(await bench.batch(second))
    assert await bench.count("pages", "url LIKE '%/new-%'") == 2
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == 12
    bench.archive.abandon()


async def test_the_seen_filter_learns_only_what_was_committed(
    database: Database, tmp_path: Path
) -> None:
    bench = await make_bench(database, tmp_path, budget=3)
    harvest = await bench.harvest(links=5)
    await bench.flusher.flush(await bench.batch(harvest))
    rows = await database.fetch("SELECT url_hash FROM messor.pages WHERE url LIKE '%/found-%'")
    assert bench.seen.of(HOST).keys() == {row["url_hash"] for row in rows}
    bench.archive.abandon()


async def test_two_workers_find_the_same_new_host_at_once(
    database: Database, tmp_path: Path
) -> None:
    """The one who comes second waits for the first and must then know the host's id."""
    bench = await make_bench(database, tmp_path)
    harvest = await bench.harvest()
    new = bench.link(harvest.task)
    harvest.found = [
        new.__class__(
            bench.domain, "new.example.test", new.url_hash, "http://new.example.test/", "link",
            harvest.task.page_id, 1, 0,
        )
    ]  # fmt: skip
    async with database.transaction() as other:
        await lanes.open_host(other, bench.domain, "new.example.test")
        flushing = asyncio.create_task(bench.flusher.flush(await bench.batch(harvest)))
        await somebody_waits(database)
    await flushing
    assert await bench.count("pages", "url = 'http://new.example.test/'") == 1
    bench.archive.abandon()


async def test_a_commit_under_way_is_not_cut_off_by_a_cleaner(bench: Bench) -> None:
    """A writer killed after it sent its COMMIT: the rows come, so the bytes must stay."""
    harvest = await bench.harvest()
    assert harvest.snapshot is not None
    place = harvest.snapshot.place
    async with bench.database.transaction() as blocker:
        await lanes.lock(blocker, [bench.host_id])
        flushing = asyncio.create_task(bench.flusher.flush(await bench.batch(harvest, last=True)))
        await somebody_waits(bench.database)  # synced, and waiting for the lane
        bench.archive.abandon()  # the kernel drops a dead process's lock
        await seal_abandoned(bench.folder, bench.database)
    await flushing
    assert await bench.count("page_snapshots") == 1
    name = await bench.database.fetchval("SELECT name FROM messor.segments")
    assert (bench.folder / str(name)).stat().st_size >= place.offset + place.length
