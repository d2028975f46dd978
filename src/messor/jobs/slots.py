"""The job slots of a process: the jobs in progress, and the claims that fill the slots.

The runner performs jobs; its seeker decides when to claim more.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from uuid import UUID

from messor.jobs import leases
from messor.jobs.cancellation import cancel
from messor.jobs.completion import Repair
from messor.jobs.jobs import Job
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database


class JobSlots:
    """`outcomes` counts abandoned jobs only; the runner counts the rest."""

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
    def is_half_free(self) -> bool:
        """Whether at least half of the slots are free."""
        return len(self._running) * 2 <= self._count

    @property
    def jobs(self) -> list[Job]:
        return list(self._running.values())

    async def claim(self, job_types: Sequence[str], limit: int) -> int | None:
        """Claim and start up to `limit` jobs; None if the database was unavailable."""
        name, seconds = self._name, self._lease_seconds
        claimed = await self._ask(leases.claim(self._database, name, job_types, limit, seconds))
        for job in claimed or ():
            self._begin(job)
        return None if claimed is None else len(claimed)

    async def claim_suspect(self, job_types: Sequence[str]) -> None:
        """Claim one of the jobs that may be killing their workers, unless one is held here.

        Kept apart from each other, those that merely died beside it succeed.
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
        """Wait for the jobs in progress, within a time limit."""
        if self._running:
            await asyncio.wait(list(self._running), timeout=seconds)

    async def clear(self) -> list[Job]:
        """Abandon the jobs in progress; return them."""
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
