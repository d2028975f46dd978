"""A runner that claims when hints tell it to, and by itself only when none can come.

A hint stands for one job of its type, whichever is most urgent, so it matters neither which hint
arrives nor in what order. Hints that come while a claim is under way become one claim.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from messor.queue import leases
from messor.queue.broker.options import Options
from messor.queue.finishing import Repair
from messor.queue.handlers import Handlers
from messor.queue.runner import Limits, Runner
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

AGAIN_SECONDS = 0.5

Asking = tuple[str, "asyncio.Future[bool]"]


class HintedRunner(Runner):
    """`outcomes` also counts the jobs `hinted` at and those `found` without a hint."""

    def __init__(
        self,
        database: Database,
        handlers: Handlers,
        worker_name: str,
        limits: Limits,
        options: Options,
        *,
        repair: Repair,
    ) -> None:
        super().__init__(database, handlers, worker_name, limits, repair=repair)
        self._options = options
        self._asked: list[Asking] = []
        self._wake = asyncio.Event()
        self._is_hinted = False
        self._look_at = 0.0

    @property
    def job_types(self) -> list[str]:
        return self._handlers.job_types

    def stop(self) -> None:
        super().stop()
        self._wake.set()

    def set_hinted(self, is_hinted: bool) -> None:
        """Whether the broker is there; when it is not, jobs are looked for at once."""
        self._is_hinted = is_hinted
        now = asyncio.get_running_loop().time()
        self._look_at = now + self._look_seconds if is_hinted else now
        self._wake.set()

    async def take(self, job_type: str, seconds: float) -> bool:
        """Wait for a free place, and claim the most urgent job of a type, should there be one.

        False when the hint should go to another worker.
        """
        if self._stop.is_set():
            return False
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked.append((job_type, answer))
        self._wake.set()
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            return False

    async def _claim_loop(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            if (free := self._limits.concurrency - len(self._running)) > 0:
                await self._follow(self._next_asked(free))
            await self._look_around()
            await self._rest()
        for _, answer in self._asked:
            _settle(answer, False)

    def _next_asked(self, limit: int) -> list[Asking]:
        """The hints to follow now, oldest first; those that gave up are dropped."""
        asked = [asking for asking in self._asked if not asking[1].done()]
        self._asked = asked[limit:]
        return asked[:limit]

    async def _follow(self, asked: Sequence[Asking]) -> None:
        """Claim as many jobs of each type as there are hints at it."""
        by_type: dict[str, list[asyncio.Future[bool]]] = defaultdict(list)
        for job_type, answer in asked:
            by_type[job_type].append(answer)
        for job_type, answers in by_type.items():
            claimed = await self._claim_of([job_type], len(answers))
            self.outcomes["hinted"] += claimed or 0
            for answer in answers:
                _settle(answer, claimed is not None)

    async def _look_around(self) -> None:
        """Look without a hint, when it is time to."""
        now = asyncio.get_running_loop().time()
        free = self._limits.concurrency - len(self._running)
        if now < self._look_at or free <= 0 or self._stop.is_set():
            return
        claimed = await self._claim_of(self.job_types, free)
        self.outcomes["found"] += claimed or 0
        if claimed != free or self._is_hinted:
            self._look_at = now + self._look_seconds

    @property
    def _look_seconds(self) -> float:
        options = self._options
        return options.hinted_look_seconds if self._is_hinted else options.away_look_seconds

    async def _rest(self) -> None:
        """Until a hint comes, a place becomes free, or it is time to look around."""
        seconds = max(0.0, self._look_at - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(seconds or self._look_seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _claim_of(self, job_types: Sequence[str], limit: int) -> int | None:
        """Claim and begin jobs; None when the database could not be asked."""
        seconds = self._limits.lease_seconds
        try:
            jobs = await leases.claim(self._database, self._name, job_types, limit, seconds)
        except LOST_CONNECTION:
            await self._repair()
        except TRY_AGAIN:
            pass
        else:
            for job in jobs:
                task = asyncio.create_task(self._do(job))
                self._running[task] = job
                task.add_done_callback(self._ended)
            return len(jobs)
        await asyncio.sleep(AGAIN_SECONDS)
        return None

    def _ended(self, task: asyncio.Task[None]) -> None:
        super()._ended(task)
        self._wake.set()


def _settle(answer: asyncio.Future[bool], is_taken: bool) -> None:
    if not answer.done():
        answer.set_result(is_taken)
