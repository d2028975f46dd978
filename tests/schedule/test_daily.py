"""O-Daily: the track level decides when a page is due, and nothing else is touched."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from messor.schedule import daily
from messor.schedule.daily import DAILY
from messor.store.database import Database
from tests.held_lanes import claim, give_back, lane_row, lease
from tests.moments import somebody_waits
from tests.schedule.sites import due_in, make_host, make_pages, run_steps

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    "level, done, hours",
    [
        ("A", 2 * DAY, 0),  # overdue: now
        ("A", 0.75 * DAY, 6),  # before the next run: at its exact time
        ("B", 8 * DAY, 0),
        ("B", 6.5 * DAY, 12),
        ("B", 5 * DAY, 1200),  # not today
        ("C", 32 * DAY, 0),
        ("C", 20 * DAY, 1200),
        ("D", 93 * DAY, 0),
        ("D", 80 * DAY, 1200),
        (None, 200 * DAY, 1200),  # its own cadence does it
    ],
)
async def test_a_level_says_when(
    database: Database, level: str | None, done: timedelta, hours: float
) -> None:
    host_id, _ = await make_host(database, "a.test", level=level)
    (page_id,) = await make_pages(database, host_id, done=done)
    counts = await run_steps(database, DAILY)
    assert await due_in(database, page_id) == pytest.approx(hours, abs=0.1)
    assert counts["tasks_due"] == counts["lanes_woken"] == (hours < 1200)
    lane = await lane_row(database, host_id)
    moment = await database.fetchval("SELECT due_at FROM messor.crawl_tasks")
    assert (lane["due_at"] == moment) == (hours < 1200)
    assert lane["claim_at"] == max(lane["due_at"], lane["ready_at"])


@pytest.mark.parametrize(
    "kept",
    [
        {"frequency": 90 * DAY},
        {"status": "paused", "due_in": None},
        {"status": "cancelled", "due_in": None},
        {"status": "pending", "outcome": "timeout"},
        {"status": "failed", "outcome": "error"},
        {"outcome": "not_found"},
        {"outcome": "scope"},
        {"kind": "sitemap"},
        {"kind": "robots"},
        {"due_in": timedelta(hours=-3)},
    ],
)
async def test_what_is_left_alone(database: Database, kept: dict[str, Any]) -> None:
    host_id, _ = await make_host(database, "a.test", level="A")
    (page_id,) = await make_pages(database, host_id, **kept)
    before = await due_in(database, page_id)
    assert (await run_steps(database, DAILY))["tasks_due"] == 0
    assert await due_in(database, page_id) == before


@pytest.mark.parametrize("closing", ["status = 'suspended'", "active = false"])
async def test_domains_that_may_not_be_visited_are_left_alone(
    database: Database, closing: str
) -> None:
    host_id, _ = await make_host(database, "a.test", level="A")
    await make_pages(database, host_id)
    await database.fetch(f"UPDATE messor.domains SET {closing}")
    assert (await run_steps(database, DAILY))["pages_looked_at"] == 0


async def test_a_task_that_is_not_scheduled_becomes_due(database: Database) -> None:
    """As where only pages are harvested that somebody asked for."""
    host_id, _ = await make_host(database, "a.test", level="A")
    (page_id,) = await make_pages(database, host_id, due_in=None)
    await run_steps(database, DAILY)
    assert await due_in(database, page_id) == 0


async def test_a_second_run_finds_nothing_left(database: Database) -> None:
    host_id, _ = await make_host(database, "a.test", level="A")
    await make_pages(database, host_id, 20)
    assert (await run_steps(database, DAILY))["tasks_due"] == 20
    assert (await run_steps(database, DAILY))["tasks_due"] == 0


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "PAGES_PER_STEP", 7)
    monkeypatch.setattr(daily, "HOSTS_PER_STEP", 3)


@pytest.mark.usefixtures("small_steps")
async def test_steps_end_anywhere_and_leave_nothing_out(database: Database) -> None:
    pages: list[int] = []
    for number, count in enumerate([0, 0, 0, 0, 20, 7, 0, 14, 1, 0, 0, 3]):
        host_id, _ = await make_host(database, f"s{number}.test", level="A")
        pages += await make_pages(database, host_id, count) if count else []
        untracked, _ = await make_host(database, f"u{number}.test")
        await make_pages(database, untracked, 2)
    counts = await run_steps(database, DAILY)
    assert (counts["tasks_due"], counts["pages_looked_at"]) == (45, 45)
    assert counts["steps"] > 7
    assert {await due_in(database, page_id) for page_id in pages} == {0}


async def test_a_held_lane_learns_it_when_it_is_given_back(database: Database) -> None:
    host_id, _ = await make_host(database, "a.test", level="A")
    (page_id,) = await make_pages(database, host_id)
    await database.fetch("UPDATE messor.lanes SET claim_at = messor.clock()")
    holder = await lease(database)
    held = await claim(database, holder)
    before = await lane_row(database, host_id)
    await run_steps(database, DAILY)
    assert (await lane_row(database, host_id))["claim_at"] == before["claim_at"]
    await give_back(database, holder, held)
    lane = await lane_row(database, host_id)
    assert lane["claim_at"] == max(
        lane["ready_at"],
        await database.fetchval(
            "SELECT due_at FROM messor.crawl_tasks WHERE page_id = $1", page_id
        ),
    )


async def test_a_page_that_is_fetched_meanwhile_keeps_the_time_of_that_fetch(
    database: Database, dsn: str
) -> None:
    """The flush holds the lane; the step waits for it, and then looks again."""
    host_id, _ = await make_host(database, "a.test", level="A")
    (page_id,) = await make_pages(database, host_id)
    async with Database(dsn) as worker:
        async with worker.transaction() as flush:
            await flush.execute("SELECT FROM messor.lanes FOR NO KEY UPDATE")
            running = asyncio.create_task(run_steps(database, DAILY))
            await somebody_waits(flush)
            await flush.execute(
                """UPDATE messor.crawl_tasks SET completed_at = messor.clock(),
                          due_at = messor.clock() + interval '30 days'"""
            )
        assert (await running)["tasks_due"] == 0
    assert await due_in(database, page_id) == pytest.approx(720, abs=0.1)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


async def test_a_hundred_thousand_tasks_are_looked_at_by_key(database: Database) -> None:
    for number in range(20):
        host_id, _ = await make_host(database, f"s{number}.test", level="A" if number < 2 else None)
        await make_pages(database, host_id, 5000)
    await database.fetch("ANALYZE messor.pages, messor.crawl_tasks, messor.hosts, messor.domains")
    row = await database.fetchval(
        f"EXPLAIN (ANALYZE, FORMAT JSON) {daily.SCAN}",
        0,
        b"",
        daily.HOSTS_PER_STEP,
        daily.PAGES_PER_STEP,
    )
    plan = msgspec.json.decode(row)[0]["Plan"]
    scans = [
        (node["Node Type"], node["Relation Name"])
        for node in nodes(plan)
        if "Relation Name" in node
    ]
    assert ("Seq Scan", "crawl_tasks") not in scans
    assert ("Seq Scan", "pages") not in scans
    read = sum(
        node["Actual Rows"] * node["Actual Loops"]
        for node in nodes(plan)
        if node.get("Relation Name") == "crawl_tasks"
    )
    assert read == daily.PAGES_PER_STEP
    counts = await run_steps(database, DAILY)
    assert (counts["pages_looked_at"], counts["tasks_due"]) == (10_000, 10_000)
