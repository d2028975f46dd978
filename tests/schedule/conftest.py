"""Sessions of a test's database at another time, and a schedule in miniature."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest

from messor.schedule.clockwork import Clockwork
from messor.schedule.orchestrators import Orchestrator, Registry, RunPosition, StepResult
from messor.store.database import Connection, Database
from tests import crawling

Later = Callable[[timedelta], Awaitable[Database]]


@pytest.fixture
async def later(dsn: str) -> AsyncIterator[Later]:
    """The same database, seen by sessions whose clock is ahead."""
    async with AsyncExitStack() as opened:

        async def ahead(by: timedelta) -> Database:
            return await opened.enter_async_context(Database(crawling.later(dsn, by), pool_size=2))

        yield ahead


def failing(name: str, error: Exception, cadence: str = "0 * * * *") -> Orchestrator:
    async def step(connection: Connection, _: RunPosition) -> StepResult:
        await connection.execute(
            "INSERT INTO messor.events (type, actor) VALUES ('test.ran', $1)", name
        )
        raise error

    return Orchestrator(name, "fails", cadence, step)


def clockwork(database: Database, *orchestrators: Orchestrator, holder: str = "h") -> Clockwork:
    return Clockwork(database, Registry(*orchestrators), asyncio.Event(), holder=holder)


async def ran(database: Database) -> int:
    """How often the counting ones left their mark."""
    found: int = await database.fetchval(
        "SELECT count(*) FROM messor.events WHERE type = 'test.ran'"
    )
    return found


async def history(database: Database) -> list[dict[str, Any]]:
    rows = await database.fetch("SELECT * FROM messor.schedule_runs ORDER BY started_at, name")
    return [dict(row) for row in rows]


async def schedule_row(database: Database, name: str) -> dict[str, Any]:
    row = await database.fetchrow("SELECT * FROM messor.schedules WHERE name = $1", name)
    assert row is not None
    return dict(row)
