"""Tasks of one status, scan by scan: none is missed, none is told twice."""

from __future__ import annotations

import pytest

from messor.frontier import control, scans
from messor.frontier.control import Scope
from messor.frontier.task_queries import TASKS, TaskFilter, TaskStatus
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import admit


async def _all(database: Database, status: TaskStatus, *, limit: int) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        wanted = TaskFilter(status=status)
        part = await TASKS.read(database, wanted, cursor=cursor, limit=limit)
        found += [task.url for task in part.items]
        assert all(task.status == status for task in part.items)
        if (cursor := part.next) is None:
            return found


@pytest.mark.parametrize("limit, stretch", [(50, 1_000), (2, 1_000), (50, 3), (1, 1)])
async def test_every_status_is_found_whole(
    database: Database, limit: int, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scans, "OF_ALL", stretch)
    one, two = await admit(database, "one.example"), await admit(database, "two.example")
    for number in range(7):
        await seeding.add_page(database, one, f"https://one.example/{number}")
        await seeding.add_page(database, two, f"https://two.example/{number}")
    await database.fetch(
        """UPDATE messor.crawl_tasks t SET status = 'failed' FROM messor.pages p
            WHERE p.id = t.page_id AND p.url LIKE 'https://one.example/_' AND t.kind = 'page'"""
    )
    await control.act(database, "pause", await Scope.domain(database, "two.example"), actor="x")
    failed = await _all(database, "failed", limit=limit)
    assert failed == [f"https://one.example/{number}" for number in range(7)]
    paused = await _all(database, "paused", limit=limit)
    assert {f"https://two.example/{number}" for number in range(7)} <= set(paused)
    assert not any("one.example" in url for url in paused)
    assert len(paused) == len(set(paused))
    assert "https://one.example/" in await _all(database, "queued", limit=limit)
    assert await _all(database, "cancelled", limit=limit) == []
