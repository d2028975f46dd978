"""The inbox: where visits leave their harvests for the next flush, and wait when they must."""

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
from messor.ledger.errors import LoggedError
from messor.ledger.events import Event
from messor.politeness.friction import Friction
from messor.politeness.lanes import GivenBack, Lane, Silence
from messor.politeness.robots import Adopted, RobotsCache
from messor.politeness.robots_redirects import RobotsAnswer
from messor.web.urls import scheme_of


class FlushQueue:
    """Gathers a batch; wakes the flush when it is full, urgent or old."""

    def __init__(self, shelf: RobotsCache, *, pages: int) -> None:
        self._shelf = shelf
        self._pages = pages
        self._batch = FlushBatch()
        self.closed: set[int] = set()  # lanes whose domain may not be visited any more
        self.anything = asyncio.Event()
        self.urgent = asyncio.Event()
        self.room = asyncio.Event()  # clear while results cannot be stored as fast as they come
        self.room.set()

    def put(self, harvest: PageResult) -> None:
        unlogged = harvest.lane.pace.unlogged
        for fetched, _ in harvest.attempts:
            fetched.let_go()
            unlogged.pop(fetched.sent_at, None)
        self._batch.add(harvest)
        self.anything.set()
        if len(self._batch.harvests) >= self._pages:
            self.urgent.set()
            if len(self._batch.harvests) >= 2 * self._pages:
                self.room.clear()

    def cut_off(self, lane: Lane) -> None:
        """A visit is over: what it sent and did not bring home is logged all the same."""
        for permit in lane.pace.unlogged.values():
            if isinstance(permit.about, TaskInProgress):
                self._batch.cut_off.append(permit.about.cut_off(lane, permit))
        lane.pace.unlogged.clear()

    def refuse_links(self, counts: Counter[tuple[int, str]]) -> None:
        self._batch.refused_links.update(counts)

    async def find(self, pages: list[NewPage], runs: Sequence[UUID] = ()) -> None:
        """Put pages on the frontier that no fetch of their own has led to; they belong to `runs`."""
        batch = self._batch
        batch.find(pages)
        listed = [page for page in pages if page.kind == "page"]
        batch.joins += [Join(run, page.host, page.url_hash, 1) for run in runs for page in listed]
        await self._committed(batch)

    def read_sitemap(self, reading: SitemapReading) -> None:
        self._batch.sitemaps.append(reading)
        self.anything.set()

    async def meet(self, met: list[Friction], event: Event) -> None:
        """Friction raises the host's risk; committed before the lane's next request."""
        batch = self._batch
        batch.friction += met
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
        """Put versions in force for a lane; committed before its next request."""
        batch = self._batch
        batch.robots += adopted
        await self._committed(batch)
        for each in adopted:
            robots_id = batch.robots_ids.get((each.host_id, each.scheme))
            if robots_id is None:
                raise LeaseLostError("The lane was lost before its robots.txt was stored.")
            lane.adopt(each.scheme, self._shelf.put(robots_id, each.file))
            if each.spoke_https:
                lane.hear_https()

    def tell(self, event: Event) -> None:
        self._batch.events.append(event)
        self.anything.set()

    def answer_robots(self, answer: RobotsAnswer) -> None:
        """What a robots page says, for hosts that wait for it."""
        self._batch.robots_answers.append(answer)

    async def await_robots(
        self, lane: Lane, task: Task, target: NewPage, hops: int, *, own: bool
    ) -> None:
        """Whoever waits for this task's page waits for another."""
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

    def blame(self, harvest: PageResult, category: str, error: Exception) -> None:
        """Set a page aside for what it did, and keep the circumstances."""
        harvest.quarantine("cannot be read: its reader failed, see: messor jobs errors")
        harvest.schedule = cadence.after_failure(harvest.task, harvest.lane.policy.frequency)
        stack = "".join(traceback.format_exception(error))
        detail = {"url": harvest.task.url}
        fault = LoggedError.of_task(harvest.task.page_id, category, error, stack, detail)
        self._batch.faults.append(fault)

    def drop_snapshots(self) -> None:
        """Forget pages whose bytes lie in a segment that could not be written."""
        self._batch.drop_snapshots()

    def take(self) -> FlushBatch:
        """Everything so far; a new batch begins."""
        batch, self._batch = self._batch, FlushBatch()
        self.anything.clear()
        self.urgent.clear()
        return batch

    @property
    def size(self) -> int:
        return len(self._batch.harvests)

    async def _committed(self, batch: FlushBatch) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        batch.waiting.append(waiter)
        self.anything.set()
        self.urgent.set()
        await waiter
