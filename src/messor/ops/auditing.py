"""The job `audit`: judges the requests since a time, and says so in an event.

A process does one at a time: each holds two connections for as long as it reads.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from messor.ledger.events import Event, record
from messor.ops import politeness
from messor.queue.handlers import Effects, Handlers, Result
from messor.queue.jobs import Job
from messor.settings import Settings
from messor.store.database import Connection, Database

JOB_TYPE = "audit"


class Order(msgspec.Struct):
    """What the job's payload must say."""

    since: datetime


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Take part in a process's jobs."""
    turn = asyncio.Lock()

    @handlers.prepares(JOB_TYPE)
    async def audit(job: Job) -> Effects:
        order = msgspec.convert(job.payload, Order)
        async with turn:
            report = await politeness.audit(database, agent=settings.agent_token, since=order.since)
        found = {
            "since": order.since.isoformat(),
            "verdict": report.verdict,
            "clean": report.is_clean,
            "requests": report.requests,
            "found": dict(report.found),
        }
        return partial(_store, found)


async def _store(found: dict[str, Any], connection: Connection) -> Result:
    await record(connection, [Event("audit.completed", "O-Audit", data=found)])
    return found
