"""Crawl tasks: what is to be done about a page and when, and how it went last time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from messor.store.database import Connection, Database
from messor.web.urls import Url, url_hash

ROBOTS_PRIORITY = 0  # before everything a person can ask for
ASKED_PRIORITY = 1  # a person waits for it
SITEMAP_PRIORITY = 2
DEFAULT_PRIORITY = 5

# One index probe per priority and lane: tasks that are not due are never looked at.
DUE = """
SELECT t.page_id, t.host_id, t.kind, t.priority, p.url, p.depth, p.hops, t.retry_count,
       t.max_retries, t.crawl_frequency, t.outcome, t.snapshot_id, t.raw_hash, t.etag,
       t.last_modified, t.refusal, t.provider, t.deaths
  FROM unnest($1::bigint[]) AS lane (host_id)
 CROSS JOIN generate_series(0, 10) AS rank (priority)
 CROSS JOIN LATERAL (
   SELECT * FROM messor.crawl_tasks t
    WHERE t.host_id = lane.host_id AND t.priority = rank.priority
      AND t.due_at <= (SELECT messor.clock()) + make_interval(secs => $3)
    ORDER BY t.due_at LIMIT $2) t
  JOIN messor.pages p ON p.id = t.page_id
 ORDER BY t.host_id, t.priority, t.due_at, t.page_id
"""

# A page that is known already is made due again instead (a seed asked for twice).
ADD = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by) VALUES ($1, $2, $3, $4)
  ON CONFLICT (host_id, url_hash) DO UPDATE SET url = messor.pages.url
  RETURNING id, host_id, xmax = 0 AS fresh
), counted AS (
  UPDATE messor.domains d SET pages_known = d.pages_known + 1
    FROM page p JOIN messor.hosts h ON h.id = p.host_id WHERE d.id = h.domain_id AND p.fresh
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at)
  SELECT id, host_id, $5, $6, messor.clock() FROM page
  ON CONFLICT (page_id) DO UPDATE SET due_at = messor.clock(), status = 'pending',
     priority = excluded.priority, retry_count = 0
  RETURNING page_id, host_id, due_at
), lane AS (
  UPDATE messor.lanes l SET due_at = least(l.due_at, t.due_at),
         claim_at = CASE WHEN l.worker_id IS NULL
                         THEN greatest(l.ready_at, least(l.due_at, t.due_at)) ELSE l.claim_at END
    FROM task t WHERE l.host_id = t.host_id
)
SELECT page_id FROM task
"""


# A person asks for everything again, now. Cancelled and paused tasks stay as they are.
RECRAWL = """
WITH due AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM messor.hosts h
   WHERE h.id = t.host_id AND ($1::uuid[] IS NULL OR h.domain_id = ANY ($1))
     AND t.kind = 'page' AND t.status NOT IN ('paused', 'cancelled')
  RETURNING t.host_id
), woken AS (
  UPDATE messor.lanes l SET due_at = messor.clock(),
         claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                         ELSE l.claim_at END
   WHERE l.host_id IN (SELECT host_id FROM due)
)
SELECT count(*) FROM due
"""

# Only when the host has none yet: a known robots.txt keeps its own rhythm.
ADD_ROBOTS = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by) VALUES ($1, $2, $3, 'robots')
  ON CONFLICT (host_id, url_hash) DO NOTHING RETURNING id, host_id
)
INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at)
SELECT id, host_id, 'robots', $4, messor.clock() FROM page
"""


@dataclass(slots=True)
class Task:
    """One page's turn, as loaded for a visit."""

    page_id: int
    host_id: int
    kind: str
    priority: int
    url: str
    depth: int
    hops: int
    retry_count: int
    max_retries: int
    crawl_frequency: timedelta | None
    outcome: str | None
    snapshot_id: int | None
    raw_hash: bytes | None
    etag: str | None
    last_modified: str | None
    refusal: str | None
    provider: str | None = None  # who brought the newest good content, when not HTTP
    deaths: int = 0  # processes it killed


async def due(
    database: Database, host_ids: Sequence[int], limit: int, look_ahead: float
) -> dict[int, list[Task]]:
    """The due tasks of lanes, most urgent first, at most `limit` each."""
    tasks: dict[int, list[Task]] = defaultdict(list)
    for row in await database.fetch(DUE, host_ids, limit, look_ahead):
        lane = tasks[row["host_id"]]
        if len(lane) < limit:
            lane.append(Task(*row))
    return tasks


async def add(
    connection: Connection,
    host_id: int,
    url: Url,
    *,
    found_by: str,
    kind: str = "page",
    priority: int = DEFAULT_PRIORITY,
) -> int:
    """Put one URL on the frontier, due now; answers its page id."""
    page_id: int = await connection.fetchval(
        ADD, host_id, url_hash(url), url.href, found_by, kind, priority
    )
    return page_id


async def add_robots(connection: Connection, host_id: int, url: Url) -> None:
    """The task that reads a host's robots.txt; it is read before anything else, then daily."""
    await connection.execute(ADD_ROBOTS, host_id, url_hash(url), url.href, ROBOTS_PRIORITY)


async def recrawl(connection: Connection, domain_ids: Sequence[UUID] | None = None) -> int:
    """Make every page of domains (of all, by default) due now; answers how many."""
    pages: int = await connection.fetchval(RECRAWL, domain_ids)
    return pages
