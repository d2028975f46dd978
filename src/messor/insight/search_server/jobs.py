"""Jobs: send what waits to the search server every minute, and rebuild its index on request."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from functools import partial
from typing import Literal
from uuid import UUID

from messor.errors import UsageError
from messor.insight.search_server import drift, indexes, outbox
from messor.insight.search_server.client import SearchServer, SearchServerSettings
from messor.insight.search_server.drift import Drift
from messor.insight.search_server.rebuild import rebuild
from messor.jobs import jobs
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job, NewJob
from messor.settings import Settings
from messor.store.database import Connection, Database

Request = Literal["search_rebuild", "search_check"]
SEND = "search_send"
REBUILD: Request = "search_rebuild"
CHECK: Request = "search_check"
SEND_WINDOW = timedelta(minutes=2)
REQUEST_WINDOW = timedelta(minutes=1)


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the handlers in a process, if a search server is configured."""
    options = SearchServerSettings.of(settings)
    if options is None:
        return
    turn = asyncio.Lock()  # one at a time: they share the process's connections

    @handlers.prepares(SEND, limit_seconds=LONG_SECONDS)
    async def send(_: Job) -> Effects:
        async with turn, SearchServer(options) as server:
            return _counted(await _send(database, server))

    @handlers.prepares(REBUILD, limit_seconds=LONG_SECONDS)
    async def rebuild_index(_: Job) -> Effects:
        async with turn, SearchServer(options) as server:
            done = await rebuild(database, server)
        return _counted(outbox.Sent(done.documents, done.refused))

    @handlers.prepares(CHECK, limit_seconds=LONG_SECONDS)
    async def check_index(_: Job) -> Effects:
        async with turn, SearchServer(options) as server:
            found = await drift.check(database, server)
        return partial(_repaired, found)


async def _repaired(found: Drift, connection: Connection) -> Result:
    await drift.repair(connection, found)
    return {
        "documents": found.documents,
        "missing": len(found.missing),
        "different": len(found.different),
        "extra": len(found.extra),
    }


async def ask_to_send(connection: Connection) -> int:
    """Enqueue the sending of this minute; returns how many jobs are new."""
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    key = f"{SEND}:{now:%Y-%m-%dT%H:%M}"
    job = NewJob(SEND, key, "search", priority=6, window_ends_at=now + SEND_WINDOW)
    return len(await jobs.enqueue(connection, [job]))


async def ask(connection: Connection, settings: Settings, job_type: Request) -> UUID | None:
    """Enqueue a rebuild, or a check with repair; None if one is asked for already."""
    require_server(settings)
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    job = NewJob(job_type, job_type, "search", window_ends_at=now + REQUEST_WINDOW)
    new = await jobs.enqueue(connection, [job])
    return new[0].id if new else None


def require_server(settings: Settings) -> SearchServerSettings:
    """The configured search server; raises if there is none."""
    options = SearchServerSettings.of(settings)
    if options is None:
        raise UsageError(
            "No search server is configured; PostgreSQL serves searches. To use one, set MESSOR_SEARCH_SERVER_URL."
        )
    return options


async def _send(database: Database, server: SearchServer) -> outbox.Sent:
    """Send what waits; without a live index, make it first."""
    name = await indexes.name_of(database, "live")
    if name is None:
        done = await rebuild(database, server)
        return outbox.Sent(done.documents, done.refused)
    return await outbox.send_waiting(database, server, name)


def _counted(sent: outbox.Sent) -> Effects:
    async def nothing(_: Connection) -> Result:
        return {"documents": sent.documents, "refused": sent.refused}

    return nothing
