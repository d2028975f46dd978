"""Crawl tasks: which are due, in what order, and what adding one twice does."""

from __future__ import annotations

from typing import Any

from messor.frontier import tasks
from messor.frontier.tasks import Task
from messor.store.database import Database
from messor.web.urls import Url, parse
from tests.held_lanes import lane_row, make_domain, make_lanes


def url(path: str) -> Url:
    parsed = parse(f"http://h1.example.test{path}")
    assert parsed is not None
    return parsed


async def make_tasks(database: Database, *rows: tuple[str, int, float]) -> int:
    """Tasks (path, priority, seconds overdue) on one lane; answers its host."""
    (host_id,) = await make_lanes(database, await make_domain(database))
    await database.fetch("DELETE FROM messor.pages")
    async with database.transaction() as connection:
        for path, priority, overdue in rows:
            page_id = await tasks.add(
                connection, host_id, url(path), found_by="manual", priority=priority
            )
            await connection.execute(
                """UPDATE messor.crawl_tasks SET due_at = messor.clock() - make_interval(secs => $2)
                    WHERE page_id = $1""",
                page_id,
                overdue,
            )
    return host_id


async def due(database: Database, host_id: int, limit: int = 50) -> list[Task]:
    return (await tasks.due(database, [host_id], limit, 0.25)).get(host_id, [])


def paths(found: list[Task]) -> list[str]:
    return [task.url.removeprefix("http://h1.example.test") for task in found]


async def test_due_tasks_come_by_priority_then_by_age(database: Database) -> None:
    host_id = await make_tasks(
        database,
        ("/low-old", 10, 900),
        ("/mid-new", 5, 10),
        ("/high-new", 1, 1),
        ("/mid-old", 5, 100),
        ("/high-old", 1, 50),
    )
    assert paths(await due(database, host_id)) == [
        "/high-old",
        "/high-new",
        "/mid-old",
        "/mid-new",
        "/low-old",
    ]


async def test_robots_come_before_everything(database: Database) -> None:
    host_id = await make_tasks(database, ("/high", 1, 900))
    async with database.transaction() as connection:
        await tasks.add_robots(connection, host_id, url("/robots.txt"))
        await tasks.add_robots(connection, host_id, url("/robots.txt"))
    found = await due(database, host_id)
    assert [task.kind for task in found] == ["robots", "page"]


async def test_the_limit_is_the_lanes_and_cuts_the_least_urgent(database: Database) -> None:
    host_id = await make_tasks(database, *((f"/{n}", 1 + n % 10, 5) for n in range(30)))
    found = await due(database, host_id, limit=7)
    assert len(found) == 7
    assert {task.priority for task in found} <= {1, 2, 3}


async def test_of_equals_the_oldest_is_taken_first(database: Database) -> None:
    host_id = await make_tasks(database, *((f"/{n}", 5, n) for n in range(1, 9)))
    found = await due(database, host_id, limit=3)
    assert [task.url[-1] for task in found] == ["8", "7", "6"]


async def test_what_is_not_due_or_not_scheduled_stays(database: Database) -> None:
    host_id = await make_tasks(database, ("/later", 5, -60), ("/soon", 5, -0.1), ("/now", 5, 1))
    assert paths(await due(database, host_id)) == ["/now", "/soon"]
    await database.fetch("UPDATE messor.crawl_tasks SET due_at = NULL")
    assert await due(database, host_id) == []


async def test_a_seed_asked_for_twice_is_one_page_made_due_again(database: Database) -> None:
    host_id = await make_tasks(database, ("/a", 5, -3600))
    known = await database.fetchval("SELECT pages_known FROM messor.domains")
    await database.fetch(
        "UPDATE messor.lanes SET due_at = messor.clock() + interval '1 h', claim_at = NULL"
    )
    async with database.transaction() as connection:
        await tasks.add(connection, host_id, url("/a#part"), found_by="manual", priority=1)
    (task,) = await due(database, host_id)
    assert (task.priority, task.retry_count) == (1, 0)
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == known
    assert (await lane_row(database, host_id))["claim_at"] is not None


def at(priority: int, **circumstances: Any) -> int:
    usual = {"depth": 3, "listed": False, "retry_count": 0, "lateness": 0.0}
    return tasks.urgency(priority, **{**usual, **circumstances})


def test_priority_is_raised_by_popularity_failure_and_staleness() -> None:
    assert at(5) == 5
    assert at(5, depth=1) == at(5, listed=True) == 4
    assert at(5, depth=2) == 5
    assert at(5, depth=0, listed=True) == 4, "both are signs of the same"
    assert at(5, retry_count=1) == 4
    assert [at(9, lateness=late) for late in (0.9, 1.0, 3.0, 7.0)] == [9, 8, 7, 6]
    assert at(6, depth=1, retry_count=2, lateness=1.0) == 3


def test_nothing_waits_for_ever_and_nothing_passes_who_waits() -> None:
    assert at(10, lateness=1e9) == 2
    assert at(2, depth=0, retry_count=3, lateness=1e9) == 2
    assert at(1, depth=5) == 1
    assert at(5, lateness=-3.0) == 5


async def test_a_stale_page_of_low_priority_comes_before_fresh_ones(database: Database) -> None:
    days = 86_400.0
    host_id = await make_tasks(
        database, *((f"/usual-{n}", 5, 60) for n in range(5)), ("/stale", 9, 40 * days)
    )
    assert paths(await due(database, host_id, limit=3))[0] == "/stale"


async def test_a_page_that_failed_comes_before_its_equals(database: Database) -> None:
    host_id = await make_tasks(database, ("/older", 5, 90), ("/failed", 5, 10))
    await database.fetch(
        """UPDATE messor.crawl_tasks t SET retry_count = 1 FROM messor.pages p
            WHERE p.id = t.page_id AND p.url LIKE '%failed'"""
    )
    assert paths(await due(database, host_id)) == ["/failed", "/older"]


async def test_tasks_carry_their_history_and_their_domains_track_level(database: Database) -> None:
    host_id = await make_tasks(database, ("/a", 5, 10))
    await database.fetch("UPDATE messor.domains SET track_level = 'C'")
    await database.fetch("UPDATE messor.crawl_tasks SET history = 13")
    (task,) = await due(database, host_id)
    assert (task.history, task.track_level) == (13, "C")


async def test_a_paused_seed_asked_for_again_stays_paused(database: Database) -> None:
    host_id = await make_tasks(database, ("/a", 5, 10))
    await database.fetch("UPDATE messor.crawl_tasks SET status = 'paused', due_at = NULL")
    async with database.transaction() as connection:
        await tasks.add(connection, host_id, url("/a"), found_by="manual")
    assert await due(database, host_id) == []
    held = await database.fetchrow("SELECT status, held_due_at FROM messor.crawl_tasks")
    assert held is not None
    assert held["status"] == "paused"
    assert held["held_due_at"] is not None
