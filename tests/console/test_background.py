"""Work that outlasts its request: ended with the console, and never too much of it."""

from __future__ import annotations

import asyncio

import pytest

from messor.console.context import MAX_TASKS, BackgroundTasks
from messor.errors import UnavailableError
from messor.ingest import IngestRequest, Mode, ingest
from messor.settings import Settings
from messor.store.database import Database
from tests.crawling import until


async def test_an_ingestion_under_way_is_ended_and_leaves_nothing_due(database: Database) -> None:
    background = BackgroundTasks()
    begun: list[str] = []
    request = IngestRequest("https://one.example/", "tester", Mode.LIGHT, may_approve=True)
    task = background.begin(
        ingest(database, Settings(), request, watch=lambda now: begun.append(now.trace_id))
    )
    await until(lambda: begun)
    await background.close()
    assert task.cancelled()
    row = await database.fetchrow("SELECT outcome, completed_at FROM messor.ingestion_runs")
    assert row is not None
    assert row["outcome"] == "error"
    assert row["completed_at"] is not None
    due = "SELECT count(*) FROM messor.crawl_tasks WHERE due_at IS NOT NULL AND kind = 'page'"
    assert await database.fetchval(due) == 0


async def test_there_is_an_end_to_what_is_taken_on() -> None:
    background, gate = BackgroundTasks(), asyncio.Event()
    for _ in range(MAX_TASKS):
        background.require_room()
        background.begin(gate.wait())
    with pytest.raises(UnavailableError):
        background.require_room()
    gate.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    background.require_room()
    await background.close()
