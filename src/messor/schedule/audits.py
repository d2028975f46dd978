"""O-Audit and O-Quality: request an audit of the last day's requests, and of all records.

An audit itself is a job: it may read millions of rows and must not block the leader.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection

JOB_TYPE = "audit"
SPAN = timedelta(days=1)
WINDOW = timedelta(hours=12)


async def step(connection: Connection, _: RunPosition) -> StepResult:
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    payload = {"since": (now - SPAN).isoformat()}
    return await _ask(connection, now, f"audit:{now:%Y-%m-%d}", "log", payload)


async def step_records(connection: Connection, _: RunPosition) -> StepResult:
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    return await _ask(
        connection, now, f"audit:records:{now:%Y-%m-%d}", "records", {"subject": "records"}
    )


async def _ask(
    connection: Connection, now: datetime, key: str, target: str, payload: dict[str, str]
) -> StepResult:
    job = NewJob(JOB_TYPE, key, target, payload=payload, priority=8, window_ends_at=now + WINDOW)
    return StepResult({"audits_asked_for": len(await jobs.enqueue(connection, [job]))})


AUDIT = Orchestrator(
    "O-Audit",
    "audits the last day's requests: delays, robots.txt, approval, Retry-After, risk",
    "20 3 * * *",
    step,
)
QUALITY = Orchestrator(
    "O-Quality",
    "audits all records: completeness, evidence, duplicate products, current prices",
    "50 3 * * 0",
    step_records,
)
