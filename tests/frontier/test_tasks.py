"""Crawl tasks: which are due, in what order, and what adding one twice does."""

from __future__ import annotations

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
