"""The flush queue: collects page results for the next flush, and lets visits wait for a commit."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from messor.crawl.batch import FlushBatch, RobotsWait
from messor.crawl.in_progress import TaskInProgress
from messor.crawl.page_result import PageResult
from messor.errors import LeaseLostError
from messor.frontier import cadence
from messor.frontier.pages import NewPage
from messor.frontier.runs import Join
from messor.frontier.sitemaps import SitemapReading
from messor.frontier.tasks import Task
from messor.ledger.errors import Category, LoggedError
from messor.ledger.events import Event
from messor.politeness.friction import Friction
from messor.politeness.lanes import GivenBack, Lane, Silence
from messor.politeness.robots import Adopted, RobotsCache
from messor.politeness.robots_redirects import RobotsResult
from messor.web.urls import scheme_of


class FlushQueue:
    """Collects a batch; wakes the flush when it is full or urgent."""

    def __init__(self, robots_cache: RobotsCache, *, pages: int) -> None:
        self._robots_cache = robots_cache
        self._pages = pages
        self._batch = FlushBatch()
        self.closed: set[int] = set()  # lanes whose domain may no longer be visited
        self.anything = asyncio.Event()
        self.urgent = asyncio.Event()
        self.room = asyncio.Event()  # cleared while results arrive faster than they can be stored
        self.room.set()

    def put(self, result: PageResult) -> None:
        unlogged = result.lane.pace.unlogged
        for fetched, _ in result.attempts:
            fetched.let_go()
            unlogged.pop(fetched.sent_at, None)
        self._batch.add(result)
        self.anything.set()
        if len(self._batch.results) >= self._pages:
            self.urgent.set()
            if len(self._batch.results) >= 2 * self._pages:
                self.room.clear()

    def cut_off(self, lane: Lane) -> None:
        """Log requests that a finished visit sent but got no result for."""
        for permit in lane.pace.unlogged.values():
            if isinstance(permit.about, TaskInProgress):
                self._batch.cut_off.append(permit.about.cut_off(lane, permit))
        lane.pace.unlogged.clear()

    def refuse_links(self, counts: Counter[tuple[int, str]]) -> None:
        self._batch.refused_links.update(counts)

    async def find(self, pages: list[NewPage], runs: Sequence[UUID] = ()) -> None:
        """Put pages on the frontier that were not found by a page fetch; they belong to `runs`."""
        batch = self._batch
        batch.find(pages)
        listed = [page for page in pages if page.kind == "page"]
        batch.joins += [Join(run, page.host, page.url_hash, 1) for run in runs for page in listed]
        await self._committed(batch)

    def read_sitemap(self, reading: SitemapReading) -> None:
        self._batch.sitemaps.append(reading)
        self.anything.set()

    async def add_friction(self, friction: list[Friction], event: Event) -> None:
        """Friction raises the host's risk; committed before the lane's next request."""
        batch = self._batch
        batch.friction += friction
        batch.events.append(event)
        await self._committed(batch)

    def give_back(self, lane: Lane, pages: int, reason: str) -> None:
        self._batch.given_back.append(GivenBack(lane, pages, reason))
        self.closed.discard(lane.host_id)
        self.anything.set()

    def hurry_if_idle(self, visits: int) -> None:
        """Flush at once when more lanes wait to be given back than are being visited."""
        if len(self._batch.given_back) >= visits:
            self.urgent.set()

    async def adopt_robots(self, lane: Lane, adopted: list[Adopted]) -> None:
        """Apply robots.txt versions to a lane; committed before its next request."""
        batch = self._batch
        batch.robots += adopted
        await self._committed(batch)
        for each in adopted:
            robots_id = batch.robots_ids.get((each.host_id, each.scheme))
            if robots_id is None:
                raise LeaseLostError("The lane was lost before its robots.txt was stored.")
            lane.adopt(each.scheme, self._robots_cache.put(robots_id, each.file))
            if each.spoke_https:
                lane.note_https()

    def record_event(self, event: Event) -> None:
        self._batch.events.append(event)
        self.anything.set()

    def resolve_robots(self, answer: RobotsResult) -> None:
        """Pass a robots.txt on to the hosts that wait for it."""
        self._batch.robots_results.append(answer)

    async def await_robots(
        self, lane: Lane, task: Task, target: NewPage, hops: int, *, own: bool
    ) -> None:
        """Make everything that waits for this robots.txt wait for its redirect target."""
        batch = self._batch
        batch.robots_waits.append(
            RobotsWait(lane, task.page_id, target, hops, own, scheme_of(task.url))
        )
        await self._committed(batch)

    async def silence(self, lane: Lane, seconds: float, reason: str) -> None:
        lane.pace.be_silent(seconds)
        batch = self._batch
        batch.silences.append(Silence(lane, seconds, reason))
        await self._committed(batch)

    def blame(self, result: PageResult, category: Category, error: Exception) -> None:
        """Quarantine a page that broke its reader, and log the error."""
        result.quarantine("cannot be parsed: its parser failed; see: messor jobs errors", category)
        result.schedule = cadence.after_failure(result.task, result.lane.policy.frequency)
        stack = "".join(traceback.format_exception(error))
        detail = {"url": result.task.url}
        fault = LoggedError.of_task(result.task.page_id, category, error, stack, detail)
        self._batch.faults.append(fault)

    def drop_snapshots(self) -> None:
        """Drop pages whose bytes are in a segment that could not be written."""
        self._batch.drop_snapshots()

    def take(self) -> FlushBatch:
        """Take the current batch and start a new one."""
        batch, self._batch = self._batch, FlushBatch()
        self.anything.clear()
        self.urgent.clear()
        return batch

    @property
    def size(self) -> int:
        return len(self._batch.results)

    async def _committed(self, batch: FlushBatch) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        batch.waiting.append(waiter)
        self.anything.set()
        self.urgent.set()
        await waiter
