"""A flush without a web: a held lane, pages of it, and what a visit would hand over."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest

from messor.archive import hashes, warc
from messor.archive.segments import SegmentWriter
from messor.archive.snapshots import Snapshot
from messor.core import clock
from messor.crawl.batch import FlushBatch
from messor.crawl.flush import Flusher
from messor.crawl.page_result import PageResult
from messor.crawl.rules import ALLOWED
from messor.fetch.outcome import Fetched
from messor.frontier import tasks
from messor.frontier.cadence import after_success
from messor.frontier.pages import NewPage
from messor.frontier.seen import SeenFilter
from messor.frontier.tasks import Task
from messor.politeness.lanes import GivenBack, Lane
from messor.politeness.lease import WorkerLease
from messor.store.database import Database
from messor.web.urls import parse, url_hash
from tests.held_lanes import claim, lease, make_domain, make_lanes

HOST = "h1.example.test"


@dataclass
class Bench:
    """One worker's means of flushing, with its lane in hand."""

    database: Database
    folder: Path
    domain: UUID
    host_id: int
    holder: WorkerLease
    lane: Lane
    archive: SegmentWriter
    seen: SeenFilter
    flusher: Flusher
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def task(self) -> Task:
        """A page of the lane, due now."""
        url = parse(f"http://{HOST}/page-{next(self.numbers)}")
        assert url is not None
        async with self.database.transaction() as connection:
            page_id = await tasks.add(connection, self.host_id, url, found_by="link")
        due = await tasks.due(self.database, [self.host_id], 1000, 1.0)
        return next(task for task in due[self.host_id] if task.page_id == page_id)

    async def harvest(self, text: str = "text", *, links: int = 0) -> PageResult:
        """A page that was fetched, kept and read."""
        task = await self.task()
        fetched = Fetched(status=200, sent_at=clock.now(), began_at=clock.now())
        again = after_success(task, None)
        harvest = PageResult(self.lane, task, ALLOWED, again, fetched)
        body = f"<p>{text} of {task.url}".encode()
        harvest.raw_hash = hashes.raw_hash(body)
        harvest.snapshot = Snapshot(
            page_id=task.page_id,
            host_id=self.host_id,
            token=self.lane.token,
            content_hash=hashes.content_hash(text, None, text),
            data_hash=hashes.data_hash(b""),
            raw_hash=harvest.raw_hash,
            place=self.archive.append(warc.response(task.url, 200, "OK", (), body=body)),
            size=len(body),
            status_code=200,
            content_type="text/html",
            title="title",
            description=None,
            language=None,
            markdown=text,
            data=None,
            state="new",
            previous_id=None,
        )
        harvest.found = [self.link(task) for _ in range(links)]
        return harvest

    def link(self, task: Task, path: str | None = None) -> NewPage:
        href = f"http://{HOST}{path or f'/found-{next(self.numbers)}'}"
        return NewPage(
            self.domain, HOST, url_hash(href), href, "link", task.page_id, 1, 0, finder=task.host_id
        )

    async def batch(self, *harvests: PageResult, last: bool = False) -> FlushBatch:
        batch = FlushBatch()
        for harvest in harvests:
            batch.add(harvest)
        if last:
            batch.given_back.append(GivenBack(self.lane, len(harvests), "done"))
        return batch

    async def count(self, table: str, where: str = "true") -> int:
        found: int = await self.database.fetchval(
            f"SELECT count(*) FROM messor.{table} WHERE {where}"
        )
        return found


async def make_bench(database: Database, folder: Path, budget: int = 10_000) -> Bench:
    domain = await make_domain(database, budget=budget)
    (host_id,) = await make_lanes(database, domain)
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    archive = SegmentWriter(
        folder, database, worker_id=holder.id, name="bench", limit=10**9, software="Messor/1"
    )
    await archive.ready()
    seen = SeenFilter()
    flusher = Flusher(database, holder, archive, seen)
    flusher.remember_host(HOST, host_id)
    return Bench(database, folder, domain, host_id, holder, lane, archive, seen, flusher)


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Bench]:
    made = await make_bench(database, tmp_path)
    yield made
    made.archive.abandon()
