"""Hosts with pages whose tasks were done some time ago, made by the thousand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Database
from tests.held_lanes import make_domain

MAKE_HOST = """
WITH host AS (
  INSERT INTO messor.hosts (domain_id, host, robots_checked_at) VALUES ($1, $2, messor.clock())
  RETURNING id, domain_id
)
INSERT INTO messor.lanes (host_id, domain_id, due_at, claim_at)
SELECT id, domain_id, t.due_at, t.due_at
  FROM host, (SELECT messor.clock() + interval '50 days' AS due_at) t RETURNING host_id
"""

MAKE_PAGES = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  SELECT $1::bigint, sha256((u.url)::bytea), u.url, 'link'
    FROM (SELECT 'http://x' || $1::bigint || '.test/' || $2::text || '/' || n AS url
            FROM generate_series(1, $3::int) n) u
  RETURNING id, host_id
)
INSERT INTO messor.crawl_tasks (page_id, host_id, kind, status, outcome, completed_at,
                                last_fetched_at, due_at, crawl_frequency)
SELECT id, host_id, $4, $5, $6, messor.clock() - $7::interval, messor.clock() - $7::interval,
       messor.clock() + $8::interval, $9 FROM page RETURNING page_id
"""


async def make_host(
    database: Database, name: str, *, level: str | None = None, **terms: Any
) -> tuple[int, UUID]:
    """A host of a domain of its own, whose lane sleeps for fifty days."""
    domain_id = await make_domain(database, name.partition(":")[0], **terms)
    await database.fetch(
        "UPDATE messor.domains SET track_level = $2 WHERE id = $1", domain_id, level
    )
    host_id: int = await database.fetchval(MAKE_HOST, domain_id, name)
    return host_id, domain_id


async def make_pages(
    database: Database,
    host_id: int,
    count: int = 1,
    *,
    what: str = "p",
    kind: str = "page",
    status: str = "completed",
    outcome: str | None = "ok",
    done: timedelta = timedelta(days=2),
    due_in: timedelta | None = timedelta(days=50),
    frequency: timedelta | None = None,
) -> list[int]:
    """Pages that were done `done` ago and are due in `due_in`."""
    rows = await database.fetch(
        MAKE_PAGES, host_id, what, count, kind, status, outcome, done, due_in, frequency
    )
    return [row["page_id"] for row in rows]


async def due_in(database: Database, page_id: int) -> float | None:
    """Hours until a task is due; None when it is not scheduled."""
    hours: float | None = await database.fetchval(
        """SELECT extract(epoch FROM due_at - messor.clock())::float8 / 3600
             FROM messor.crawl_tasks WHERE page_id = $1""",
        page_id,
    )
    return None if hours is None else round(hours, 1)


async def run_steps(database: Database, orchestrator: Orchestrator) -> dict[str, int]:
    """All steps of a run, each in its transaction; what they did in all, and how many there were."""
    place: RunPosition | None = RunPosition()
    total: dict[str, int] = {"steps": 0}
    while place is not None:
        async with database.transaction() as connection:
            done: StepResult = await orchestrator.step(connection, place)
        for name, count in done.counts.items():
            total[name] = total.get(name, 0) + count
        total["steps"] += 1
        place = done.next
    return total
