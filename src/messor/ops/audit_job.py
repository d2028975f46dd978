"""The job `audit`: audits the requests since a time, or all records, and records an event.

A process runs one at a time: each holds two connections while it reads.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import Any, Literal

import msgspec

from messor.archive.storage import Archive
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ledger.events import Event, record
from messor.ops import politeness, record_audit
from messor.settings import Settings
from messor.store.database import Connection, Database

JOB_TYPE = "audit"


class AuditRequest(msgspec.Struct):
    """The job's payload: `since` for an audit of requests; an audit of records has none."""

    since: datetime | None = None
    subject: Literal["requests", "records"] = "requests"

    def __post_init__(self) -> None:
        if (self.subject == "requests") != (self.since is not None):
            raise ValueError("Give since for an audit of requests, and for no other.")


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process."""
    turn = asyncio.Lock()

    @handlers.prepares(JOB_TYPE, limit_seconds=LONG_SECONDS)
    async def audit(job: Job) -> Effects:
        order = msgspec.convert(job.payload, AuditRequest)
        async with turn:
            if order.since is None:
                archive = Archive.of(settings)
                records = await record_audit.audit(database, archive)
                return partial(_store, "records.audited", "O-Quality", records.as_dict())
            requests = await politeness.audit(
                database, agent=settings.agent_token, since=order.since
            )
        found = {
            "since": order.since.isoformat(),
            "verdict": requests.verdict,
            "clean": requests.is_clean,
            "requests": requests.requests,
            "found": dict(requests.found),
        }
        return partial(_store, "audit.completed", "O-Audit", found)


async def _store(kind: str, actor: str, found: dict[str, Any], connection: Connection) -> Result:
    await record(connection, [Event(kind, actor, data=found)])
    return found
