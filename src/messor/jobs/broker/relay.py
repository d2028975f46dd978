"""The relay: carries hints from the outbox to the broker, and replaces lost ones.

It runs with the schedule; the row `outbox_relay` lets one work at a time. Hints are by type: any
of them may lead to any job of its type, so a queue that still holds some needs no more, and the
sweep adds to empty queues only. That bounds what is sent however long jobs wait.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import asyncpg

from messor.core.heartbeat import Heartbeat
from messor.core.logs import room_logger
from messor.jobs.broker import outbox
from messor.jobs.broker.options import Options
from messor.jobs.broker.outbox import Hint
from messor.jobs.broker.publisher import BrokerAwayError, BrokerFullError, Publisher
from messor.jobs.completion import patient
from messor.jobs.poller import wait
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

BATCH = 200
SWEEP_BATCH = 100
FULL_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 15.0

log = room_logger(__name__)


class Relay:
    """`counts` says how many hints were `sent` from the outbox and how many `swept`."""

    def __init__(
        self,
        database: Database,
        publisher: Publisher,
        holder: str,
        job_types: Sequence[str],
        options: Options,
        *,
        repair: Callable[[], Awaitable[None]],
    ) -> None:
        self._database = database
        self._publisher = publisher
        self._holder = holder
        self._job_types = list(job_types)
        self._options = options
        self._repair = patient(repair)
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()
        self._thread = ThreadPoolExecutor(1, "relay")  # the publisher's
        self._next_sweep = 0.0
        self._is_open = False
        self._works = False
        self._full: dict[str, float] = {}
        self.counts: Counter[str] = Counter()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        failures = 0
        try:
            while not self._stop.is_set():
                self.heartbeat.beat("sending hints")
                went_well, is_busy = await self._round()
                failures = 0 if went_well else failures + 1
                await wait(self._stop, self._pause_seconds(failures, is_busy=is_busy))
        finally:
            await self._let_go()

    async def work(self) -> bool:
        """One round, if this process is the relay; return whether there is more to do at once."""
        seconds = self._options.relay_seconds
        self._works = await outbox.hold(self._database, self._holder, seconds)
        if not self._works:
            return False
        sent = await self._carry()
        if (now := asyncio.get_running_loop().time()) >= self._next_sweep:
            self._next_sweep = now + self._options.sweep_seconds
            await self._sweep()
        return sent == BATCH

    async def _round(self) -> tuple[bool, bool]:
        """Whether all went well, and whether there is more to do at once."""
        try:
            if not self._is_open:
                await outbox.open_outbox(self._database)
                self._is_open = True
            return True, await self.work()
        except LOST_CONNECTION:
            await self._repair()
        except asyncpg.PostgresError as error:
            # It restarts, fails over or is being migrated: wait.
            log.warning("The outbox cannot be read: %s", error)
        except BrokerAwayError as error:
            log.warning("%s Workers poll for jobs meanwhile.", error)
        return False, False

    async def _carry(self) -> int:
        hints = await outbox.waiting(self._database, BATCH, self._full_types())
        if not hints:
            return 0
        sent = await self._send(list(hints.values()))
        await outbox.forget(self._database, list(hints)[:sent])
        self.counts["sent"] += sent
        return sent

    async def _sweep(self) -> None:
        """Hint again at unclaimed jobs whose queues are empty."""
        seconds = self._options.overdue_seconds
        hints = await outbox.overdue(self._database, self._job_types, seconds, SWEEP_BATCH)
        for job_type in sorted({hint.job_type for hint in hints}):
            if await self._in_thread(self._publisher.length, job_type) == 0:
                missing = [hint for hint in hints if hint.job_type == job_type]
                self.counts["swept"] += await self._send(missing)

    async def _send(self, hints: list[Hint]) -> int:
        """How many the broker accepted; a type whose queue is full is left alone for a while."""
        try:
            return await self._in_thread(self._publisher.send, hints)
        except BrokerFullError as error:
            log.warning("%s Its hints wait in the outbox.", error)
            self._full[error.job_type] = asyncio.get_running_loop().time() + FULL_SECONDS
            return 0

    def _full_types(self) -> list[str]:
        now = asyncio.get_running_loop().time()
        self._full = {job_type: until for job_type, until in self._full.items() if until > now}
        return list(self._full)

    async def _in_thread(self, function: Callable[..., int], argument: list[Hint] | str) -> int:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, function, argument)

    async def _let_go(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._publisher.close)
        self._thread.shutdown(wait=False)
        try:
            await outbox.let_go(self._database, self._holder)
        except LOST_CONNECTION + TRY_AGAIN:
            log.warning(
                "The outbox could not be handed over; another relay takes over within seconds."
            )

    def _pause_seconds(self, failures: int, *, is_busy: bool) -> float:
        if failures:
            return float(min(0.5 * 2 ** min(failures - 1, 8), LONGEST_PAUSE_SECONDS))
        if not self._works:  # many may stand by, at little cost
            return self._options.relay_seconds / 3
        return 0.0 if is_busy else self._options.poll_seconds
