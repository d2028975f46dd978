"""Finishing: commits the effects of jobs together with their completions, many in a transaction.

Whatever is ready while one transaction runs becomes the next one. When such a batch fails, each of
its jobs gets a transaction of its own, so one job's failure never touches another.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import UUID

import asyncpg

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
    """The same repair, whose failure is no news: it is tried again soon."""

    async def try_to_repair() -> None:
        with contextlib.suppress(UnavailableError, *LOST_CONNECTION):
            await repair()

    return try_to_repair


class TransactionPool:
    """Transactions, a few at once."""

    def __init__(self, database: Database, transactions: int, repair: Repair) -> None:
        self._database = database
        self._places = asyncio.Semaphore(transactions)
        self._repair = repair

    async def write(self, write: Callable[[Connection], Awaitable[T]]) -> T:
        """One transaction, tried again a few times, and while the database is away for ever.

        Work that is done must not be lost to an outage, however long. When a commit's answer was
        lost, the second try finds the token used and changes nothing.
        """
        tries, pauses = 0, len(WRITE_PAUSES)
        while True:
            try:
                return await self.write_once(write)
            except asyncpg.DiskFullError:
                pass  # there will be room again
            except LOST_CONNECTION:
                await self._repair()
                # The write itself may raise what an outage does; then the database is there.
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
        async with self._places, self._database.transaction() as connection:
            return await write(connection)


class CompletedJob:
    """A job whose effects wait to be committed, and the word of how that went."""

    def __init__(self, job: Job, effects: Effects) -> None:
        self.job = job
        self.effects = effects
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_wanted(self) -> bool:
        """Nobody waits for an abandoned one."""
        return not self.outcome.done()

    def settle(self, error: Exception | None = None) -> None:
        if self.outcome.done():
            return
        if error is None:
            self.outcome.set_result(None)
        else:
            self.outcome.set_exception(error)


class Completer:
    """Gathers endings and commits them; `run` it once for each transaction at a time."""

    def __init__(self, writer: TransactionPool) -> None:
        self._writer = writer
        self._ready: asyncio.Queue[CompletedJob] = asyncio.Queue()

    async def finish(self, job: Job, effects: Effects) -> None:
        """Returns when effects and completion are committed, and raises what kept them from it."""
        ending = CompletedJob(job, effects)
        self._ready.put_nowait(ending)
        await ending.outcome

    async def run(self) -> None:
        while True:
            batch = [await self._ready.get()]
            while len(batch) < BATCH and not self._ready.empty():
                batch.append(self._ready.get_nowait())
            await self._settle([ending for ending in batch if ending.is_wanted])

    async def _settle(self, batch: Sequence[CompletedJob]) -> None:
        if len(batch) > 1 and await self._settle_together(batch):
            return
        await asyncio.gather(*(self._settle_alone(ending) for ending in batch))

    async def _settle_together(self, batch: Sequence[CompletedJob]) -> bool:
        try:
            committed = await self._writer.write_once(lambda connection: _commit(connection, batch))
        except Exception:  # noqa: BLE001 - effects may raise anything; alone, it shows whose it was
            return False
        for ending in batch:
            ending.settle(None if ending.job.id in committed else _lost(ending.job))
        return True

    async def _settle_alone(self, ending: CompletedJob) -> None:
        try:
            committed = await self._writer.write(lambda connection: _commit(connection, [ending]))
        except Exception as error:  # noqa: BLE001 - passed on to whoever waits for the outcome
            ending.settle(error)
        else:
            ending.settle(None if committed else _lost(ending.job))


async def _commit(connection: Connection, batch: Sequence[CompletedJob]) -> set[UUID]:
    """Effects, then completions, of those jobs that are still ours; answers which these are."""
    ours = {job.id for job in await leases.confirm(connection, [e.job for e in batch])}
    finished = [(e.job, await e.effects(connection)) for e in batch if e.job.id in ours]
    lost = await outcomes.complete_all(connection, finished)
    if lost:  # its own effects ended it, and must go with it
        raise _lost(lost[0])
    return ours


def _lost(job: Job) -> LeaseLostError:
    return LeaseLostError(f"Job {job.id} is no longer held with token {job.token}.")
