"""The runner: does jobs in this process until told to stop.

A seeker fills its places; the runner keeps the leases alive while handlers work, and has each
job's effects committed together with its completion. A process that dies says nothing: its leases
run out, and the jobs come back to others with that attempt counted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field
from logging import INFO, WARNING

from messor.core.logs import log, log_ids, room_logger
from messor.errors import LeaseLostError
from messor.jobs import leases, outcomes
from messor.jobs.completion import Completer, Repair, TransactionPool, patient
from messor.jobs.faults import fault_of, is_retryable
from messor.jobs.handlers import Handlers
from messor.jobs.jobs import Job
from messor.jobs.outcomes import Backoff
from messor.jobs.places import JobSlots, cancel
from messor.jobs.poller import DatabasePoller, Seeker
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

AGAIN_SECONDS = 1.0  # before a heartbeat that did not reach the database is sent again
GIVE_BACK_SECONDS = 2.0

logger = room_logger(__name__)


async def _nothing_to_repair() -> None:
    await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """How much a runner takes on, and how long it waits."""

    concurrency: int = 16
    transactions: int = 2  # at once; the pool needs more, so that heartbeats never wait for one
    lease_seconds: float = 60.0
    look_seconds: float = 0.5  # how often an idle runner looks for jobs
    drain_seconds: float = 20.0  # less than a process has to end, so that jobs can be given back
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
        limits: RunnerLimits | None = None,
        *,
        seeker: Seeker | None = None,
        repair: Repair = _nothing_to_repair,
    ) -> None:
        self._database = database
        self._handlers = handlers
        self._limits = limits or RunnerLimits()
        self._stop = asyncio.Event()
        self.outcomes: Counter[str] = Counter()
        self._writer = TransactionPool(database, self._limits.transactions, patient(repair))
        self._finisher = Completer(self._writer)
        self._seeker = seeker or DatabasePoller(handlers.job_types, self._limits.look_seconds)
        self._places = JobSlots(
            database,
            worker_name,
            self._do,
            count=self._limits.concurrency,
            lease_seconds=self._limits.lease_seconds,
            repair=patient(repair),
            outcomes=self.outcomes,
        )
        self._places.on_free = lambda: self._seeker.note_free(self._places)

    def stop(self) -> None:
        """Claim nothing more, let jobs under way finish, and return from `run`."""
        self._stop.set()
        self._seeker.stop()

    async def run(self) -> None:
        seeking = asyncio.create_task(self._seeker.seek(self._places))
        beating = asyncio.create_task(self._heartbeat_loop())
        stopping = asyncio.create_task(self._stop.wait())
        places = range(self._limits.transactions)
        finishing = [asyncio.create_task(self._finisher.run()) for _ in places]
        try:
            done, _ = await asyncio.wait(
                [seeking, beating, stopping, *finishing], return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            await self._drain(seeking, finishing)
        finally:
            await cancel([seeking, beating, stopping, *finishing])
            await self._places.clear()

    async def _drain(
        self, seeking: asyncio.Task[None], finishing: list[asyncio.Task[None]]
    ) -> None:
        """Let jobs finish; what takes too long goes back, to be begun anew elsewhere."""
        # A claim under way is awaited: cancelled, it might leave jobs with a lease and no runner.
        await seeking
        await self._places.drain(self._limits.drain_seconds)
        unfinished = await self._places.clear()
        if unfinished:
            await cancel([*finishing])  # their transactions hold the jobs' rows
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):  # else their leases run out
                async with asyncio.timeout(GIVE_BACK_SECONDS):
                    await self._writer.write(lambda c: leases.give_back(c, unfinished))

    async def _do(self, job: Job) -> None:
        """One job, from its handler to its outcome."""
        with log_ids(job=job.id):
            try:
                effects = await self._handlers.prepare(job)
                await self._finisher.finish(job, effects)
                self.outcomes["done"] += 1
                log(logger, INFO, "job done", type=job.job_type)
            except LeaseLostError:
                self.outcomes["lost"] += 1
                log(logger, INFO, "job lost to another worker", type=job.job_type)
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
        log(logger, WARNING, "job failed", type=job.job_type, state=state, error=str(error))

    async def _heartbeat_loop(self) -> None:
        """Extend all leases, and abandon jobs that were cancelled or went to another worker."""
        seconds = self._limits.lease_seconds
        pause = seconds / 3
        while True:
            await asyncio.sleep(pause)
            pause = seconds / 3
            try:
                lost = await leases.heartbeat(self._database, self._places.jobs, seconds)
            except LOST_CONNECTION + TRY_AGAIN:
                pause = min(pause, AGAIN_SECONDS)
                continue
            self._places.abandon({job.id for job in lost})
            if not self._stop.is_set():
                await self._places.claim_suspect(self._handlers.job_types)
