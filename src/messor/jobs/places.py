"""The places of a process: the jobs it has under way, and the claims that fill them.

What is done with a job is the runner's, when to claim more its seeker's.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any
from uuid import UUID

from messor.jobs import leases
from messor.jobs.completion import Repair
from messor.jobs.jobs import Job
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

CANCEL_SECONDS = 5.0


class JobSlots:
    """`outcomes` counts the jobs that were abandoned; the rest is the runner's to count."""

    def __init__(
        self,
        database: Database,
        worker_name: str,
        do: Callable[[Job], Awaitable[None]],
        *,
        count: int,
        lease_seconds: float,
        repair: Repair,
        outcomes: Counter[str],
    ) -> None:
        self._database = database
        self._name = worker_name
        self._do = do
        self._count = count
        self._lease_seconds = lease_seconds
        self._repair = repair
        self._outcomes = outcomes
        self._running: dict[asyncio.Task[None], Job] = {}
        self._suspect: UUID | None = None
        self.on_free: Callable[[], None] = lambda: None

    @property
    def free(self) -> int:
        return max(self._count - len(self._running), 0)

    @property
    def is_roomy(self) -> bool:
        """At least half of them are free."""
        return len(self._running) * 2 <= self._count

    @property
    def jobs(self) -> list[Job]:
        return list(self._running.values())

    async def claim(self, job_types: Sequence[str], limit: int) -> int | None:
        """Claim and begin up to `limit` jobs; None when the database could not be asked."""
        name, seconds = self._name, self._lease_seconds
        claimed = await self._ask(leases.claim(self._database, name, job_types, limit, seconds))
        for job in claimed or ():
            self._begin(job)
        return None if claimed is None else len(claimed)

    async def claim_suspect(self, job_types: Sequence[str]) -> None:
        """Take one of the jobs that may be killing their workers, unless one is held here.

        Apart from each other, those that only died beside it come through.
        """
        if self._suspect is not None:
            return
        name, seconds = self._name, self._lease_seconds
        for job in (
            await self._ask(leases.claim_suspect(self._database, name, job_types, seconds)) or ()
        ):
            self._suspect = job.id
            self._begin(job)

    def abandon(self, job_ids: Collection[UUID]) -> None:
        for task, job in self._running.items():
            if job.id in job_ids:
                task.cancel()

    async def drain(self, seconds: float) -> None:
        """Wait for the jobs under way, but not for ever."""
        if self._running:
            await asyncio.wait(list(self._running), timeout=seconds)

    async def clear(self) -> list[Job]:
        """Abandon what is under way; answers what that was."""
        unfinished = dict(self._running)
        await cancel(list(unfinished))
        return list(unfinished.values())

    async def _ask(self, claiming: Awaitable[list[Job]]) -> list[Job] | None:
        try:
            return await claiming
        except LOST_CONNECTION:
            await self._repair()
        except TRY_AGAIN:
            pass
        return None

    def _begin(self, job: Job) -> None:
        task = asyncio.ensure_future(self._do(job))
        self._running[task] = job
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        job = self._running.pop(task)
        if job.id == self._suspect:
            self._suspect = None
        self.on_free()
        if task.cancelled():
            self._outcomes["abandoned"] += 1
        elif (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": f"job {job.id} could not be settled", "exception": error, "task": task}
            )


async def cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
