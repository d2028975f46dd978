"""The inbox: where visits leave their harvests for the next flush, and wait when they must."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter

from messor.courtesy.lanes import GivenBack, Lane, Silence
from messor.courtesy.robots import RobotsFile, RobotsInForce, RobotsShelf
from messor.engine.batch import Batch
from messor.engine.harvest import Harvest
from messor.errors import LeaseLostError
from messor.frontier import cadence
from messor.ledger.errors import Fault


class Inbox:
    """Gathers a batch; wakes the flush when it is full, urgent or old."""

    def __init__(self, shelf: RobotsShelf, *, pages: int) -> None:
        self._shelf = shelf
        self._pages = pages
        self._batch = Batch()
        self.closed: set[int] = set()  # lanes whose domain may not be visited any more
        self.anything = asyncio.Event()
        self.urgent = asyncio.Event()
        self.room = asyncio.Event()  # clear while results cannot be stored as fast as they come
        self.room.set()

    def put(self, harvest: Harvest) -> None:
        if harvest.fetched is not None:
            harvest.fetched.let_go()
        self._batch.add(harvest)
        self.anything.set()
        if len(self._batch.harvests) >= self._pages:
            self.urgent.set()
            if len(self._batch.harvests) >= 2 * self._pages:
                self.room.clear()

    def refuse_links(self, counts: Counter[tuple[int, str]]) -> None:
        self._batch.refused_links.update(counts)

    def give_back(self, lane: Lane, pages: int, reason: str) -> None:
        self._batch.given_back.append(GivenBack(lane, pages, reason))
        self.closed.discard(lane.host_id)
        self.anything.set()

    def hurry_if_idle(self, visits: int) -> None:
        """Flush at once when more lanes wait to be given back than are being visited."""
        if len(self._batch.given_back) >= visits:
            self.urgent.set()

    async def adopt_robots(self, lane: Lane, file: RobotsFile) -> RobotsInForce:
        batch = self._batch
        batch.robots.append((lane, file))
        await self._committed(batch)
        robots_id = batch.robots_ids.get(lane.host_id)
        if robots_id is None:
            raise LeaseLostError("The lane was lost before its robots.txt was stored.")
        return self._shelf.put(robots_id, file)

    async def silence(self, lane: Lane, seconds: float, reason: str) -> None:
        lane.pace.be_silent(seconds)
        batch = self._batch
        batch.silences.append(Silence(lane, seconds, reason))
        await self._committed(batch)

    def blame(self, harvest: Harvest, category: str, error: Exception) -> None:
        """Set a page aside for what it did, and keep the circumstances."""
        harvest.quarantine(f"cannot be read: {type(error).__name__}: {error}")
        harvest.schedule = cadence.after_failure(harvest.task, harvest.lane.policy.frequency)
        stack = "".join(traceback.format_exception(error))
        detail = {"url": harvest.task.url}
        fault = Fault.of_task(harvest.task.page_id, category, error, stack, detail)
        self._batch.faults.append(fault)

    def drop_snapshots(self) -> None:
        """Forget pages whose bytes lie in a segment that could not be written."""
        self._batch.drop_snapshots()

    def take(self) -> Batch:
        """Everything so far; a new batch begins."""
        batch, self._batch = self._batch, Batch()
        self.anything.clear()
        self.urgent.clear()
        return batch

    @property
    def size(self) -> int:
        return len(self._batch.harvests)

    async def _committed(self, batch: Batch) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        batch.waiting.append(waiter)
        self.anything.set()
        self.urgent.set()
        await waiter
