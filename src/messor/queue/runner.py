"""The runner: does jobs in this process, straight from PostgreSQL, until told to stop.

It claims batches, keeps their leases alive while handlers work, and has each job's effects
committed together with its completion. A process that dies says nothing: its leases run out, and the jobs
come back to others with that attempt counted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from messor.errors import LeaseLostError
from messor.queue import leases, outcomes
from messor.queue.faults import fault_of, is_retryable
from messor.queue.finishing import Finisher, Repair, Writer
from messor.queue.handlers import Handlers
from messor.queue.jobs import Job
from messor.queue.outcomes import Backoff
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

CANCEL_SECONDS = 5.0


async def _nothing_to_repair() -> None:
    await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a runner takes on, and how long it waits."""

    concurrency: int = 16
    transactions: int = 2  # at once; the pool needs more, so that heartbeats never wait for one
    lease_seconds: float = 60.0
    look_seconds: float = 0.5  # how often an idle runner looks for jobs
    drain_seconds: float = 25.0
    backoff: Backoff = field(default_factory=Backoff)


class Runner:
    """Runs the handlers of one process.

    `outcomes` counts jobs done, queued again, dead, lost to another worker and abandoned.
    """

    def __init__(
        self,
        database: Database,
        handlers: Handlers,
        worker_name: str,
        limits: Limits | None = None,
        *,
        repair: Repair = _nothing_to_repair,
    ) -> None:
        self._database = database
        self._handlers = handlers
        self._name = worker_name
        self._limits = limits or Limits()
        self._repair = repair
        self._running: dict[asyncio.Task[None], Job] = {}
        self._writer = Writer(database, self._limits.transactions, repair)
        self._finisher = Finisher(self._writer)
        self._roomy = asyncio.Event()
        self._stop = asyncio.Event()
        self.outcomes: Counter[str] = Counter()

    def stop(self) -> None:
        """Claim nothing more, let jobs under way finish, and return from `run`."""
        self._stop.set()
        self._roomy.set()

    async def run(self) -> None:
        claiming = asyncio.create_task(self._claim_loop())
        beating = asyncio.create_task(self._heartbeat_loop())
        stopping = asyncio.create_task(self._stop.wait())
        places = range(self._limits.transactions)
        finishing = [asyncio.create_task(self._finisher.run()) for _ in places]
        try:
            done, _ = await asyncio.wait(
                [claiming, beating, stopping, *finishing], return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            await self._drain(claiming, finishing)
        finally:
            await _cancel([claiming, beating, stopping, *finishing, *self._running])

    async def _drain(
        self, claiming: asyncio.Task[None], finishing: list[asyncio.Task[None]]
    ) -> None:
        """Let jobs finish; what takes too long goes back, to be begun anew elsewhere."""
        # A claim under way is awaited: cancelled, it might leave jobs with a lease and no runner.
        await claiming
        if self._running:
            await asyncio.wait(list(self._running), timeout=self._limits.drain_seconds)
        unfinished = dict(self._running)
        if unfinished:
            await _cancel([*unfinished, *finishing])  # whose transactions hold the jobs' rows
            jobs = list(unfinished.values())
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):  # else their leases run out
                await self._writer.write(lambda connection: leases.give_back(connection, jobs))

    async def _claim_loop(self) -> None:
        """Fill the free places; when all are taken, wait until half of them are free again.

        So claims stay batches even when jobs end one by one.
        """
        while not self._stop.is_set():
            free = self._limits.concurrency - len(self._running)
            claimed = await self._claim(free) if free else 0
            if self._stop.is_set():
                return
            if claimed == free:
                self._roomy.clear()
            await _wait(self._roomy if claimed == free else self._stop, self._limits.look_seconds)

    async def _claim(self, limit: int) -> int:
        types, seconds = self._handlers.job_types, self._limits.lease_seconds
        try:
            jobs = await leases.claim(self._database, self._name, types, limit, seconds)
        except LOST_CONNECTION:
            await self._repair()
            return 0
        except TRY_AGAIN:
            return 0
        for job in jobs:
            task = asyncio.create_task(self._do(job))
            self._running[task] = job
            task.add_done_callback(self._ended)
        return len(jobs)

    async def _do(self, job: Job) -> None:
        """One job, from its handler to its outcome."""
        try:
            effects = await self._handlers.prepare(job)
            await self._finisher.finish(job, effects)
            self.outcomes["done"] += 1
        except LeaseLostError:
            self.outcomes["lost"] += 1
        except Exception as error:  # noqa: BLE001 - a handler may raise anything; it is logged with the job
            await self._fail(job, error)

    async def _fail(self, job: Job, error: Exception) -> None:
        fault, retryable, backoff = fault_of(job, error), is_retryable(error), self._limits.backoff
        try:
            state = await self._writer.write(
                lambda connection: outcomes.fail(
                    connection, job, fault, retryable=retryable, backoff=backoff
                )
            )
        except (LeaseLostError, *LOST_CONNECTION, *TRY_AGAIN):
            state = "lost"  # or it will be, when its lease has run out
        self.outcomes[state] += 1

    async def _heartbeat_loop(self) -> None:
        """Extend all leases, and abandon jobs that were cancelled or went to another worker."""
        seconds = self._limits.lease_seconds
        while True:
            await asyncio.sleep(seconds / 3)
            try:
                lost = await leases.heartbeat(self._database, list(self._running.values()), seconds)
            except LOST_CONNECTION + TRY_AGAIN:
                continue
            lost_ids = {job.id for job in lost}
            for task, job in self._running.items():
                if job.id in lost_ids:
                    task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        job = self._running.pop(task)
        if len(self._running) * 2 <= self._limits.concurrency:
            self._roomy.set()
        if task.cancelled():
            self.outcomes["abandoned"] += 1
        elif (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": f"job {job.id} could not be settled", "exception": error, "task": task}
            )


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
