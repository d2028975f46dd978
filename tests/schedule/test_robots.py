"""O-Robots: what is older than a day is read again, and nobody is hurried who waits for a retry."""

from __future__ import annotations

from datetime import timedelta

import pytest

from messor.schedule import robots
from messor.schedule.robots import ROBOTS
from messor.store.database import Database
from tests.held_lanes import lane_row
from tests.schedule.sites import due_in, make_host, run_steps

MAKE_ROBOTS = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  SELECT h.id, sha256(u.url::bytea), u.url, 'robots'
    FROM messor.hosts h, LATERAL (SELECT $2 || '://' || h.host || '/robots.txt' AS url) u
   WHERE h.id = $1 RETURNING id, host_id
), checked AS (
  UPDATE messor.hosts SET robots_checked_at = messor.clock() - $3::interval WHERE id = $1
)
INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, status, outcome, completed_at,
                                last_fetched_at, due_at)
SELECT id, host_id, 'robots', 0, $5, 'ok', messor.clock() - $6::interval,
       messor.clock() - $6::interval, messor.clock() + $4::interval FROM page RETURNING page_id
"""


async def make_robots(
    database: Database,
    host_id: int,
    *,
    scheme: str = "https",
    age: timedelta | None = timedelta(days=2),
    tried: timedelta | None = timedelta(days=2),
    due_in: timedelta | None = None,
    status: str = "completed",
) -> int:
    page_id: int = await database.fetchval(MAKE_ROBOTS, host_id, scheme, age, due_in, status, tried)
    return page_id


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["a.test", "a.test:8080"])
@pytest.mark.parametrize("planned", [None, timedelta(days=20)])
async def test_one_that_lost_its_turn_is_due_now(
    database: Database, scheme: str, host: str, planned: timedelta | None
) -> None:
    host_id, _ = await make_host(database, host)
    page_id = await make_robots(database, host_id, scheme=scheme, due_in=planned)
    counts = await run_steps(database, ROBOTS)
    assert (counts["hosts_stale"], counts["robots_due"]) == (1, 1)
    assert await due_in(database, page_id) == 0
    lane = await lane_row(database, host_id)
    assert lane["claim_at"] < await database.fetchval("SELECT messor.clock()")
    assert (await run_steps(database, ROBOTS))["robots_due"] == 0


async def test_one_that_was_never_read_is_due_now(database: Database) -> None:
    host_id, _ = await make_host(database, "a.test")
    page_id = await make_robots(database, host_id, age=None, tried=None, status="pending")
    await run_steps(database, ROBOTS)
    assert await due_in(database, page_id) == 0


@pytest.mark.parametrize(
    "kept",
    [
        {"age": timedelta(hours=23)},
        {"tried": timedelta(minutes=10), "due_in": timedelta(minutes=10)},
        {"status": "paused"},
        {"status": "cancelled"},
        {"due_in": timedelta(hours=-2)},
    ],
)
async def test_what_is_left_alone(database: Database, kept: dict[str, timedelta | str]) -> None:
    host_id, _ = await make_host(database, "a.test")
    page_id = await make_robots(database, host_id, **kept)  # type: ignore[arg-type]
    before = await due_in(database, page_id)
    assert (await run_steps(database, ROBOTS))["robots_due"] == 0
    assert await due_in(database, page_id) == before


async def test_hosts_nobody_may_visit_are_left_alone(database: Database) -> None:
    host_id, _ = await make_host(database, "a.test", status="suspended")
    await make_robots(database, host_id)
    assert (await run_steps(database, ROBOTS))["hosts_stale"] == 0


async def test_many_hosts_in_steps(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "HOSTS_PER_STEP", 4)
    for number in range(12):
        host_id, _ = await make_host(database, f"r{number}.test")
        await make_robots(database, host_id)
    counts = await run_steps(database, ROBOTS)
    assert (counts["robots_due"], counts["steps"]) == (12, 4)
