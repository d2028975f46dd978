"""O-Audit: once a day, asks for an audit of the last day's requests.

The audit itself is a job: it may read millions of rows, and must not keep the leader from others.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from messor.queue import jobs
from messor.queue.jobs import NewJob
from messor.schedule.orchestrators import Done, Orchestrator, Place
from messor.store.database import Connection

JOB_TYPE = "audit"
SPAN = timedelta(days=1)
WINDOW = timedelta(hours=12)


async def step(connection: Connection, _: Place) -> Done:
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    asked = await jobs.enqueue(
        connection,
        [
            NewJob(
                JOB_TYPE,
                f"audit:{now:%Y-%m-%d}",
                "log",
                payload={"since": (now - SPAN).isoformat()},
                priority=8,
                window_ends_at=now + WINDOW,
            )
        ],
    )
    return Done({"audits_asked_for": len(asked)})


AUDIT = Orchestrator(
    "O-Audit",
    "has the last day's requests judged: pauses, robots.txt, approval, Retry-After, risk",
    "20 3 * * *",
    step,
)
