"""The model worker: runs model jobs beside extraction, with its reader processes."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter

from messor.core.heartbeat import Heartbeat
from messor.core.metrics import Metrics
from messor.extraction.model_jobs import ModelJobs
from messor.extraction.model_selection import JOB_TYPE
from messor.jobs.completion import Repair
from messor.jobs.handlers import Handlers
from messor.jobs.runner import Runner, RunnerLimits
from messor.store.database import Database

CONCURRENCY = 4  # questions in flight
POLL_SECONDS = 0.2

# Running or due jobs; those waiting for a retry do not count.
BUSY = """
SELECT EXISTS (SELECT FROM messor.jobs WHERE job_type = $1
                  AND (state = 'running'
                       OR (state = 'queued' AND available_at <= (SELECT messor.clock()))))
"""


async def _nothing_to_repair() -> None:
    await asyncio.sleep(0)


class ModelWorker:
    """Runs the model jobs of one process."""

    def __init__(
        self,
        database: Database,
        model_jobs: ModelJobs,
        *,
        repair: Repair = _nothing_to_repair,
        heartbeat: Heartbeat | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._database = database
        handlers = Handlers()
        model_jobs.register(handlers)
        name = f"{socket.gethostname()}:{os.getpid()}:asker"
        self._runner = Runner(
            database,
            handlers,
            name,
            RunnerLimits(CONCURRENCY),
            repair=repair,
            heartbeat=heartbeat,
            metrics=metrics,
        )

    @property
    def outcomes(self) -> Counter[str]:
        """Jobs by outcome: done, requeued, dead, lost and abandoned."""
        return self._runner.outcomes

    def stop(self) -> None:
        self._runner.stop()

    async def run(self, *, follow: bool = True) -> None:
        """Run until stopped, or without `follow` until nothing is due."""
        if follow:
            await self._runner.run()
            return
        running = asyncio.create_task(self._runner.run())
        try:
            while await self._database.fetchval(BUSY, JOB_TYPE) and not running.done():
                await asyncio.wait([running], timeout=POLL_SECONDS)
            self._runner.stop()
            await running
        finally:
            running.cancel()
            await asyncio.wait([running])
