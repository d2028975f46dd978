"""Runs: one orchestrator from its first step to its record, under a fence.

Every transaction holds the fence first. The last step's transaction also records the run and plans
the next one; a failed run is recorded with its error and waits for its next time.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from logging import INFO
from typing import Any

import msgspec

from messor.core.logs import log, room_logger
from messor.errors import LeaseLostError
from messor.jobs.faults import category_of
from messor.ledger import errors
from messor.ledger.errors import LoggedError
from messor.ledger.events import Event, record
from messor.schedule import cron, plan
from messor.schedule.leader import Fence
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.schedule.plan import Plan
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database

# Before a step is retried after a conflict or a lost connection.
PAUSES = (0.1, 0.5, 2.0)
LONGEST_ERROR = 2000

BEGIN = "UPDATE messor.schedules SET last_run_at = $2 WHERE name = $1"

FINISH = """
UPDATE messor.schedules
   SET last_run_at = greatest(last_run_at, $2), last_finished_at = $3, last_outcome = $4,
       last_detail = $5
 WHERE name = $1
"""

LOG = """
INSERT INTO messor.schedule_runs (name, due_at, started_at, finished_at, outcome, started_by, token,
                                  detail)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""


@dataclass(slots=True)
class ScheduledRun:
    """A run in progress."""

    orchestrator: Orchestrator
    started_by: str
    started_at: datetime
    due_at: datetime | None  # None for a manual run
    missed: int  # earlier times that passed without a run
    counts: Counter[str] = field(default_factory=Counter)

    def detail(self, counts: Counter[str]) -> dict[str, Any]:
        found: dict[str, Any] = dict(counts)
        return {**found, "missed": self.missed} if self.missed else found


async def begin_due(
    database: Database, orchestrator: Orchestrator, fence: Fence, holder: str
) -> ScheduledRun | None:
    """Begin the run that is due; None if it is not, or no longer."""
    async with database.transaction() as connection:
        await fence.hold(connection)
        found, now = await plan.lock(connection, orchestrator)
        due_at = found.next_run_at
        if not found.enabled or due_at is None or due_at > now:
            return None
        if found.is_unfinished:
            await _log_interrupted(connection, found)
        await connection.execute(BEGIN, orchestrator.name, now)
        missed = cron.missed(found.in_force(orchestrator), due_at, now) - 1
        return ScheduledRun(orchestrator, holder, now, due_at, missed)


async def begin_by_hand(database: Database, orchestrator: Orchestrator, actor: str) -> ScheduledRun:
    return ScheduledRun(orchestrator, actor, await database.fetchval(plan.NOW), None, 0)


logger = room_logger(__name__)


class ScheduleRunner:
    """Executes runs, a step at a time."""

    def __init__(
        self,
        database: Database,
        fence: Fence,
        *,
        repair: Callable[[], Awaitable[None]] | None = None,
        stop: asyncio.Event | None = None,
        on_step: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._fence = fence
        self._repair = repair
        self._stop = stop or asyncio.Event()
        self._on_step = on_step

    async def carry_out(self, run: ScheduledRun) -> str:
        """Run all steps; return the outcome: ok, failed or interrupted.

        Raises LeaseLostError if another process leads, and LOST_CONNECTION errors if there is no
        database to record a failure in. Neither leaves a record; the run stays due.
        """
        place: RunPosition | None = RunPosition()
        started = time.monotonic()
        try:
            while place is not None:
                if self._stop.is_set():
                    return await self._end(run, "interrupted", run.detail(run.counts))
                place = await self._persist(run, place)
        except LeaseLostError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever one does, the others must still run
            return await self._fail(run, error)
        seconds = round(time.monotonic() - started, 1)
        log(logger, INFO, "orchestrator done", name=run.orchestrator.name, seconds=seconds)
        return "ok"

    async def _persist(self, run: ScheduledRun, place: RunPosition) -> RunPosition | None:
        for pause in PAUSES:
            try:
                return await self._step(run, place)
            except LOST_CONNECTION:
                if self._repair is not None:
                    await self._repair()
            except TRY_AGAIN:
                pass
            await asyncio.sleep(pause)
        return await self._step(run, place)

    async def _step(self, run: ScheduledRun, place: RunPosition) -> RunPosition | None:
        """Run one step; the last one's transaction includes the record."""
        self._on_step()
        async with self._database.transaction() as connection:
            await self._fence.hold(connection)
            done: StepResult = await run.orchestrator.step(connection, place)
            counts = run.counts.copy()
            counts.update(done.counts)
            if done.next is None:
                await self._record(connection, run, "ok", run.detail(counts))
        run.counts = counts  # only now committed
        return done.next

    async def _end(self, run: ScheduledRun, outcome: str, detail: dict[str, Any]) -> str:
        async with self._database.transaction() as connection:
            await self._fence.hold(connection)
            await self._record(connection, run, outcome, detail)
        return outcome

    async def _fail(self, run: ScheduledRun, error: Exception) -> str:
        sentence = _storable(f"{type(error).__name__}: {error}")[:LONGEST_ERROR]
        detail = {**run.detail(run.counts), "error": sentence}
        name = run.orchestrator.name
        log(logger, INFO, "orchestrator failed", name=name, error=sentence)
        async with self._database.transaction() as connection:
            await self._fence.hold(connection)
            await self._record(connection, run, "failed", detail)
            await errors.log(connection, [_fault(run, error)])
            data = {"schedule": name, "error": sentence, "started_by": run.started_by}
            await record(connection, [Event("schedule.failed", name, data=data)])
        return "failed"

    async def _record(
        self, connection: Connection, run: ScheduledRun, outcome: str, detail: dict[str, Any]
    ) -> None:
        name = run.orchestrator.name
        found, now = await plan.lock(connection, run.orchestrator)
        stored = msgspec.json.encode(detail).decode()
        await connection.execute(FINISH, name, run.started_at, now, outcome, stored)
        if outcome != "interrupted":  # that run stays due
            following = found.next_after(run.orchestrator, now)
            await plan.write_next(connection, found, run.orchestrator, following)
        await connection.execute(
            LOG,
            name,
            run.due_at,
            run.started_at,
            now,
            outcome,
            run.started_by,
            self._fence.token,
            stored,
        )


async def _log_interrupted(connection: Connection, found: Plan) -> None:
    """Record a run whose process died in the history, too."""
    detail = '{"error": "its process was lost"}'
    await connection.execute(
        LOG,
        found.name,
        found.next_run_at,
        found.last_run_at,
        None,
        "interrupted",
        "unknown",
        None,
        detail,
    )


def _fault(run: ScheduledRun, error: Exception) -> LoggedError:
    return LoggedError(
        category_of(error),
        type(error).__name__,
        _storable(str(error)),
        _storable("".join(traceback.format_exception(error))),
        detail={"schedule": run.orchestrator.name},
    )


def _storable(text: str) -> str:
    """Text that PostgreSQL accepts: no NUL and no surrogates."""
    return text.replace("\x00", "").encode("utf-8", "backslashreplace").decode()
