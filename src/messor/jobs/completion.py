"""Completion: commits the effects of jobs with their completions, many per transaction.

Whatever becomes ready during one transaction goes into the next. If such a batch fails, each of
its jobs gets its own transaction, so one job's failure never affects another.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar
from uuid import UUID

import asyncpg

from messor.core.heartbeat import Heartbeat
from messor.errors import LeaseLostError, UnavailableError
from messor.jobs import leases, outcomes
from messor.jobs.handlers import Effects
from messor.jobs.jobs import Job
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database

WRITE_PAUSES = (0.25, 0.5, 1.0, 2.0, 4.0)
BATCH = 64

T = TypeVar("T")
Repair = Callable[[], Awaitable[None]]


def patient(repair: Repair) -> Repair:
    """Wrap a repair so that its failure is ignored: it is tried again soon."""

    async def try_to_repair() -> None:
        with contextlib.suppress(UnavailableError, *LOST_CONNECTION):
            await repair()

    return try_to_repair


class TransactionPool:
    """A few concurrent transactions."""

    def __init__(self, database: Database, transactions: int, repair: Repair) -> None:
        self._database = database
        self._slots = asyncio.Semaphore(transactions)
        self._repair = repair

    async def write(
        self,
        write: Callable[[Connection], Awaitable[T]],
        on_try: Callable[[], None] = lambda: None,
    ) -> T:
        """Run one transaction; retry a few times, and without limit during an outage.

        Finished work must not be lost to an outage, however long. If a commit's response was lost,
        the second attempt finds the token used and changes nothing.
        """
        tries, pauses = 0, len(WRITE_PAUSES)
        while True:
            on_try()
            try:
                return await self.write_once(write)
            except asyncpg.DiskFullError:
                pass  # there will be space again
            except LOST_CONNECTION:
                await self._repair()
                # The write itself may raise the same error as an outage; then the database is
                # available.
                if await self._is_there() and (tries := tries + 1) > pauses:
                    raise
            except TRY_AGAIN:
                if (tries := tries + 1) > pauses:
                    raise
            await asyncio.sleep(WRITE_PAUSES[min(tries, pauses - 1)])

    async def _is_there(self) -> bool:
        try:
            await self._database.fetchval("SELECT 1")
        except LOST_CONNECTION + TRY_AGAIN:
            return False
        return True

    async def write_once(self, write: Callable[[Connection], Awaitable[T]]) -> T:
        async with self._slots, self._database.transaction() as connection:
            return await write(connection)


class CompletedJob:
    """A job whose effects wait to be committed, and the result of that."""

    def __init__(self, job: Job, effects: Effects) -> None:
        self.job = job
        self.effects = effects
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_wanted(self) -> bool:
        """Whether anything still waits for it; an abandoned job has no waiter."""
        return not self.outcome.done()

    def settle(self, error: Exception | None = None) -> None:
        if self.outcome.done():
            return
        if error is None:
            self.outcome.set_result(None)
        else:
            self.outcome.set_exception(error)


class Completer:
    """Collects completed jobs and commits them; `run` it once per concurrent transaction."""

    def __init__(self, writer: TransactionPool, heartbeat: Heartbeat) -> None:
        self._writer = writer
        self._heartbeat = heartbeat
        self._ready: asyncio.Queue[CompletedJob] = asyncio.Queue()

    async def finish(self, job: Job, effects: Effects) -> None:
        """Return when effects and completion are committed; raise what prevented it."""
        ending = CompletedJob(job, effects)
        self._ready.put_nowait(ending)
        await ending.outcome

    async def run(self) -> None:
        while True:
            batch = [await self._ready.get()]
            while len(batch) < BATCH and not self._ready.empty():
                batch.append(self._ready.get_nowait())
            activity = f"committing job {batch[0].job.id}"
            beat = partial(self._heartbeat.beat, activity)
            with self._heartbeat.during(activity):
                await self._settle([ending for ending in batch if ending.is_wanted], beat)

    async def _settle(self, batch: Sequence[CompletedJob], beat: Callable[[], None]) -> None:
        if len(batch) > 1 and await self._settle_together(batch):
            return
        await asyncio.gather(*(self._settle_alone(ending, beat) for ending in batch))

    async def _settle_together(self, batch: Sequence[CompletedJob]) -> bool:
        try:
            committed = await self._writer.write_once(lambda connection: _commit(connection, batch))
        except Exception:  # noqa: BLE001 - effects may raise anything; retried alone, it shows whose it was
            return False
        for ending in batch:
            ending.settle(None if ending.job.id in committed else _lost(ending.job))
        return True

    async def _settle_alone(self, ending: CompletedJob, beat: Callable[[], None]) -> None:
        try:
            committed = await self._writer.write(
                lambda connection: _commit(connection, [ending]), on_try=beat
            )
        except Exception as error:  # noqa: BLE001 - passed on to whoever waits for the outcome
            ending.settle(error)
        else:
            ending.settle(None if committed else _lost(ending.job))
        beat()


async def _commit(connection: Connection, batch: Sequence[CompletedJob]) -> set[UUID]:
    """Commit effects, then completions, of the jobs still held; return those jobs."""
    ours = {job.id for job in await leases.confirm(connection, [e.job for e in batch])}
    finished = [(e.job, await e.effects(connection)) for e in batch if e.job.id in ours]
    lost = await outcomes.complete_all(connection, finished)
    if lost:  # its own effects ended it and must be rolled back with it
        raise _lost(lost[0])
    return ours


def _lost(job: Job) -> LeaseLostError:
    return LeaseLostError(f"Job {job.id} is no longer held with token {job.token}.")
