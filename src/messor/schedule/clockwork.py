"""The clockwork of a process: it stands by, leads if nobody does, and runs what is due.

Orchestrators run one after another; every step and poll renews the lead. It waits for a database
that is unavailable.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import asyncpg

from messor.core.heartbeat import Heartbeat
from messor.errors import LeaseLostError, UnavailableError
from messor.schedule import leader, plan
from messor.schedule.leader import Leadership
from messor.schedule.orchestrators import Registry
from messor.schedule.runs import ScheduleRunner, begin_due
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

LEASE_SECONDS = 30.0
POLL_SECONDS = 5.0  # how soon a new override takes effect
LOST_SECONDS = 1.0
STEP_SECONDS = 3600.0  # for one step of an orchestrator; its statements may take 15 minutes

TURN = "running what is due"

Repair = Callable[[], Awaitable[None]]


class Clockwork:
    """One process's part in running the schedule."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        stop: asyncio.Event,
        *,
        repair: Repair | None = None,
        lease_seconds: float = LEASE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
        holder: str | None = None,
    ) -> None:
        self._database = database
        self._registry = registry
        self._stop = stop
        self._repair = repair
        self._lease_seconds = lease_seconds
        self._poll_seconds = min(poll_seconds, lease_seconds / 3)
        self.holder = holder or leader.holder_name()
        self._lead: Leadership | None = None
        self.heartbeat = Heartbeat(STEP_SECONDS)

    @property
    def leads(self) -> bool:
        return self._lead is not None

    def stop(self) -> None:
        """End after the current step, and let another process lead."""
        self._stop.set()

    async def run(self) -> None:
        while not self._stop.is_set():
            self.heartbeat.beat(TURN)
            try:
                wait = await self.turn()
            except LOST_CONNECTION:
                wait = LOST_SECONDS
                await self._repair_database()
            except asyncpg.PostgresError:
                # It restarts, fails over or is being migrated: wait, as for a lost connection.
                wait = LOST_SECONDS
            await self._pause(wait)
        await self._resign()

    async def turn(self) -> float:
        """Take the lead if it is free; while leading, run what is due. Returns how long to wait."""
        if self._lead is None:
            wait = await leader.remaining(self._database)
            if wait > 0:
                return min(wait, self._poll_seconds)
            self._lead = await leader.take(self._database, self.holder, self._lease_seconds)
            if self._lead is None:
                return self._poll_seconds
        try:
            return await self._run_due(self._lead)
        except LeaseLostError:
            self._lead = None
            return 0.0

    async def _run_due(self, lead: Leadership) -> float:
        async with self._database.transaction() as connection:
            await lead.hold(connection)
            due, wait = await plan.keep(connection, self._registry)
        runner = ScheduleRunner(
            self._database,
            lead,
            repair=self._repair,
            stop=self._stop,
            on_step=lambda: self.heartbeat.beat(TURN),
        )
        for orchestrator in due:
            if self._stop.is_set():
                return 0.0
            run = await begin_due(self._database, orchestrator, lead, self.holder)
            if run is not None:
                await runner.carry_out(run)
        return 0.0 if due else min(max(wait, 0.0), self._poll_seconds)

    async def _repair_database(self) -> None:
        if self._repair is not None:
            with contextlib.suppress(UnavailableError, *LOST_CONNECTION):  # tried again soon
                await self._repair()

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()

    async def _resign(self) -> None:
        """Let a standby lead at once; without a database the lease just expires."""
        if self._lead is None:
            return
        with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):
            async with self._database.connection() as connection:
                await self._lead.resign(connection)
        self._lead = None
