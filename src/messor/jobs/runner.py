"""The runner: performs jobs in this process until stopped.

A seeker fills its slots; the runner keeps the leases alive while handlers work, and commits each
job's effects with its completion. When a process dies, its leases expire, and the jobs return to
others with that attempt counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from logging import INFO, WARNING

from messor.core.heartbeat import PATIENCE_SECONDS, Heartbeat
from messor.core.logs import log, log_ids, room_logger
from messor.core.metrics import Metrics
from messor.errors import LeaseLostError
from messor.jobs import leases, outcomes
from messor.jobs.cancellation import cancel
from messor.jobs.completion import Completer, Repair, TransactionPool, patient
from messor.jobs.faults import backoff_of, fault_of, is_retryable
from messor.jobs.handlers import Handlers
from messor.jobs.jobs import Job
from messor.jobs.outcomes import Backoff
from messor.jobs.poller import DatabasePoller, JobSource
from messor.jobs.slots import JobSlots
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

AGAIN_SECONDS = 1.0  # before a heartbeat that did not reach the database is sent again
GIVE_BACK_SECONDS = 2.0

logger = room_logger(__name__)


async def _nothing_to_repair() -> None:
    await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """How many jobs a runner takes on, and how long it waits."""

    concurrency: int = 16
    transactions: int = 2  # at once; the pool needs more, so that heartbeats never wait for one
    lease_seconds: float = 60.0
    poll_seconds: float = 0.5  # how often an idle runner polls for jobs
    drain_seconds: float = (
        20.0  # shorter than a process's time to end, so that jobs can be given back
    )
    backoff: Backoff = field(default_factory=Backoff)


class Runner:
    """Runs the handlers of one process.

    `outcomes` counts jobs done, requeued, dead, lost to another worker and abandoned.
    """

    def __init__(
        self,
        database: Database,
        handlers: Handlers,
        worker_name: str,
        limits: RunnerLimits | None = None,
        *,
        job_source: JobSource | None = None,
        repair: Repair = _nothing_to_repair,
        heartbeat: Heartbeat | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._metrics = metrics or Metrics()
        self._database = database
        self._handlers = handlers
        self._limits = limits or RunnerLimits()
        self._stop = asyncio.Event()
        self.outcomes: Counter[str] = Counter()
        self.heartbeat = heartbeat or Heartbeat(self._limits.lease_seconds + PATIENCE_SECONDS)
        self._writer = TransactionPool(database, self._limits.transactions, patient(repair))
        self._finisher = Completer(self._writer, self.heartbeat)
        self._job_source = job_source or DatabasePoller(
            handlers.job_types, self._limits.poll_seconds
        )
        self._slots = JobSlots(
            database,
            worker_name,
            self._do,
            count=self._limits.concurrency,
            lease_seconds=self._limits.lease_seconds,
            repair=patient(repair),
            outcomes=self.outcomes,
        )
        self._slots.on_free = lambda: self._job_source.note_free(self._slots)

    def stop(self) -> None:
        """Claim nothing more, finish jobs in progress, and return from `run`."""
        self._stop.set()
        self._job_source.stop()

    async def run(self) -> None:
        filling = asyncio.create_task(self._job_source.fill(self._slots, self.heartbeat))
        beating = asyncio.create_task(self._heartbeat_loop())
        stopping = asyncio.create_task(self._stop.wait())
        slots = range(self._limits.transactions)
        finishing = [asyncio.create_task(self._finisher.run()) for _ in slots]
        try:
            done, _ = await asyncio.wait(
                [filling, beating, stopping, *finishing], return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            await self._drain(filling, finishing)
        finally:
            await cancel([filling, beating, stopping, *finishing])
            await self._slots.clear()

    async def _drain(
        self, filling: asyncio.Task[None], finishing: list[asyncio.Task[None]]
    ) -> None:
        """Let jobs finish; those that take too long are given back, to be restarted elsewhere."""
        # A claim in progress is awaited: if cancelled, it might leave jobs with a lease and no
        # runner.
        await filling
        await self._slots.drain(self._limits.drain_seconds)
        unfinished = await self._slots.clear()
        if unfinished:
            await cancel([*finishing])  # their transactions hold the jobs' rows
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):  # else their leases expire
                async with asyncio.timeout(GIVE_BACK_SECONDS):
                    await self._writer.write(lambda c: leases.give_back(c, unfinished))

    async def _do(self, job: Job) -> None:
        """Run one job, from its handler to its outcome."""
        with log_ids(job=job.id), self._measured(job):
            try:
                effects = await self._handlers.prepare(job)
                await self._finisher.finish(job, effects)
                self._count(job, "done")
                log(logger, INFO, "job done", type=job.job_type)
            except LeaseLostError:
                self._count(job, "lost")
                log(logger, INFO, "job lost to another worker", type=job.job_type)
            except Exception as error:  # noqa: BLE001 - a handler may raise anything; it is logged with the job
                await self._fail(job, error)

    def _count(self, job: Job, outcome: str) -> None:
        self.outcomes[outcome] += 1
        self._metrics.jobs_ended.labels(job.job_type, outcome).inc()

    @contextlib.contextmanager
    def _measured(self, job: Job) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._metrics.job_seconds.labels(job.job_type).observe(time.perf_counter() - began)

    async def _fail(self, job: Job, error: Exception) -> None:
        fault, retryable = fault_of(job, error), is_retryable(error)
        backoff = backoff_of(error, self._limits.backoff)
        try:
            state = await self._writer.write(
                lambda connection: outcomes.fail(
                    connection, job, fault, retryable=retryable, backoff=backoff
                )
            )
        except (LeaseLostError, *LOST_CONNECTION, *TRY_AGAIN):
            state = "lost"  # or it will be, when its lease has expired
        self._count(job, state)
        log(logger, WARNING, "job failed", type=job.job_type, state=state, error=str(error))

    async def _heartbeat_loop(self) -> None:
        """Extend all leases, and abandon jobs that were cancelled or taken by another worker."""
        seconds = self._limits.lease_seconds
        pause = seconds / 3
        while True:
            self.heartbeat.beat("renewing leases")
            await asyncio.sleep(pause)
            pause = seconds / 3
            try:
                lost = await leases.heartbeat(self._database, self._slots.jobs, seconds)
            except LOST_CONNECTION + TRY_AGAIN:
                pause = min(pause, AGAIN_SECONDS)
                continue
            self._slots.abandon({job.id for job in lost})
            if not self._stop.is_set():
                await self._slots.claim_suspect(self._handlers.job_types)
