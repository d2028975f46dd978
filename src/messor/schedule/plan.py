"""Plans: when each orchestrator runs next, by which cadence, and who set it.

A missed run is due once: the next time is always computed from now.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import msgspec

from messor.errors import ConflictError, UsageError
from messor.ledger.events import Event, record
from messor.schedule import cron
from messor.schedule.cron import Cadence
from messor.schedule.orchestrators import Orchestrator, Registry
from messor.store.database import Connection, Database

# A clock set back by less than this does not repeat the last run's minute.
CLOCK_SLIP = timedelta(hours=1)

COLUMNS = """name, cadence, enabled, planned_from, next_run_at, last_run_at, last_finished_at,
       last_outcome, last_detail, overridden_by, overridden_at"""

FIND = f"SELECT {COLUMNS}, messor.clock() AS now FROM messor.schedules"

NOW = "SELECT messor.clock()"

MAKE = "INSERT INTO messor.schedules (name) VALUES ($1) ON CONFLICT (name) DO NOTHING"

LOCK = f"SELECT {COLUMNS}, messor.clock() AS now FROM messor.schedules WHERE name = $1 FOR NO KEY UPDATE"

PLAN = "UPDATE messor.schedules SET planned_from = $2, next_run_at = $3 WHERE name = $1"

OVERRIDE = """
UPDATE messor.schedules SET cadence = $2, overridden_by = $3,
       overridden_at = CASE WHEN $3::text IS NOT NULL THEN messor.clock() END
 WHERE name = $1
"""

SWITCH = "UPDATE messor.schedules SET enabled = $2 WHERE name = $1"


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule at a point in time."""

    name: str
    cadence: str | None = None  # the override, if any
    enabled: bool = True
    planned_from: str | None = None
    next_run_at: datetime | None = None
    last_run_at: datetime | None = None
    last_finished_at: datetime | None = None
    last_outcome: str | None = None
    last_detail: dict[str, Any] | None = None
    overridden_by: str | None = None
    overridden_at: datetime | None = None

    def in_force(self, orchestrator: Orchestrator) -> Cadence:
        """Its cadence; an override that this release cannot parse is ignored."""
        if self.cadence is not None:
            with suppress(UsageError):
                return cron.parse(self.cadence)
        return cron.parse(orchestrator.cadence)

    def next_after(self, orchestrator: Orchestrator, now: datetime) -> datetime:
        """The next time by its cadence."""
        last = self.last_run_at
        if last is not None and now < last < now + CLOCK_SLIP:
            now = last
        return self.in_force(orchestrator).after(now)

    def next_run(self, orchestrator: Orchestrator, now: datetime) -> datetime:
        """The next run: as planned, unless its cadence changed or the clock was set back."""
        following = self.next_after(orchestrator, now)
        if self.next_run_at is None or self.planned_from != self.in_force(orchestrator).text:
            return following
        return min(self.next_run_at, following)

    @property
    def is_unfinished(self) -> bool:
        """Whether a run was started and not finished."""
        if self.last_run_at is None:
            return False
        return self.last_finished_at is None or self.last_finished_at < self.last_run_at


@dataclass(frozen=True, slots=True)
class Plans:
    """All schedules at one time of the database's clock."""

    now: datetime
    by_name: dict[str, Plan]

    def of(self, orchestrator: Orchestrator) -> Plan:
        return self.by_name.get(orchestrator.name) or Plan(orchestrator.name)


async def find(database: Database | Connection) -> Plans:
    rows = await database.fetch(FIND)
    now = rows[0]["now"] if rows else await database.fetchval(NOW)
    return Plans(now, {row["name"]: _plan(row) for row in rows})


async def lock(connection: Connection, orchestrator: Orchestrator) -> tuple[Plan, datetime]:
    """Lock a schedule until the transaction ends; return it and the time."""
    await connection.execute(MAKE, orchestrator.name)
    row = await connection.fetchrow(LOCK, orchestrator.name)
    assert row is not None
    return _plan(row), row["now"]


async def write_next(
    connection: Connection, plan: Plan, orchestrator: Orchestrator, at: datetime
) -> None:
    await connection.execute(PLAN, plan.name, plan.in_force(orchestrator).text, at)


async def keep(connection: Connection, registry: Registry) -> tuple[list[Orchestrator], float]:
    """Store every next time not stored yet; return what is due, and when more will be.

    Of those due, the one whose last run is longest ago comes first: one that never finishes does
    not block the others.
    """
    plans = await find(connection)
    due: list[tuple[datetime | None, Orchestrator]] = []
    wait = float("inf")
    for orchestrator in registry:
        plan = plans.of(orchestrator)
        at = plan.next_run(orchestrator, plans.now)
        if plan.next_run_at != at or plan.planned_from != plan.in_force(orchestrator).text:
            plan, now = await lock(connection, orchestrator)
            at = plan.next_run(orchestrator, now)
            await write_next(connection, plan, orchestrator, at)
        if not plan.enabled:
            continue
        if at <= plans.now:
            due.append((plan.last_run_at, orchestrator))
        wait = min(wait, (at - plans.now).total_seconds())
    due.sort(key=lambda pair: (pair[0] is not None, pair[0]))
    return [orchestrator for _, orchestrator in due], wait


async def override(
    connection: Connection, orchestrator: Orchestrator, text: str | None, *, actor: str
) -> None:
    """Override the cadence from now on, or None to restore the default."""
    cadence = None if text is None else cron.parse(text).text
    before, now = await lock(connection, orchestrator)
    if cadence is None and before.cadence is None:
        raise ConflictError(f"{orchestrator.name} already runs by its default cadence.")
    await connection.execute(OVERRIDE, orchestrator.name, cadence, actor if cadence else None)
    after = Plan(orchestrator.name, cadence, last_run_at=before.last_run_at)
    await write_next(connection, after, orchestrator, after.next_after(orchestrator, now))
    data = {
        "schedule": orchestrator.name,
        "cadence": cadence or orchestrator.cadence,
        "before": before.cadence or orchestrator.cadence,
    }
    kind = "schedule.overridden" if cadence else "schedule.reset"
    await record(connection, [Event(kind, actor, data=data)])


async def switch(
    connection: Connection, orchestrator: Orchestrator, *, enabled: bool, actor: str
) -> None:
    """Turn automatic runs on or off. Runs missed while off are not caught up."""
    plan, now = await lock(connection, orchestrator)
    if plan.enabled == enabled:
        raise ConflictError(f"{orchestrator.name} is {'on' if enabled else 'off'} already.")
    await connection.execute(SWITCH, orchestrator.name, enabled)
    await write_next(connection, plan, orchestrator, plan.next_after(orchestrator, now))
    kind = "schedule.enabled" if enabled else "schedule.disabled"
    await record(connection, [Event(kind, actor, data={"schedule": orchestrator.name})])


def _plan(row: asyncpg.Record) -> Plan:
    values = {name: value for name, value in row.items() if name != "now"}
    detail = values["last_detail"]
    values["last_detail"] = msgspec.json.decode(detail) if detail else None
    return Plan(**values)
