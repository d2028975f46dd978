"""Queries of the frontier: a page, a crawl task, and batches. Lists are read in slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from messor.errors import NotFoundError
from messor.frontier.depth import KNOWN_DEPTH_SQL
from messor.store.database import Connection, Database
from messor.web.urls import Url, url_hash

# The state of selected rows comes from the view, whose clock prevents the planner from inlining
# it.
PAGES = f"""
SELECT p.id, d.domain, h.host, p.url, encode(p.url_hash, 'hex') AS url_hash, p.found_by,
       p.found_on, {KNOWN_DEPTH_SQL} AS depth, p.category, p.found_at, p.sitemap_lastmod, t.kind,
       t.status, t.outcome, t.last_http_status, t.last_crawled_at, t.next_crawl_at, t.refusal, t.error_message,
       k.snapshot_id, s.title
  FROM messor.crawl_task_status t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.crawl_tasks k ON k.page_id = p.id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.page_snapshots s ON s.id = k.snapshot_id
 WHERE t.page_id = ANY ($1::bigint[]) ORDER BY t.page_id
"""
FIND = """
SELECT p.id FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
 WHERE h.host = $1 AND p.url_hash = $2
"""

TASKS = """
SELECT t.page_id, d.domain, t.url, t.kind, t.status, t.outcome, t.priority, t.retry_count,
       t.max_retries, t.scheduled_at, t.next_crawl_at, t.last_crawled_at, t.completed_at,
       t.crawl_frequency, t.last_http_status, t.refusal, t.error_message
  FROM messor.crawl_task_status t JOIN messor.domains d ON d.id = t.domain_id
 WHERE t.page_id = ANY ($1::bigint[]) ORDER BY t.page_id
"""
# For a large batch the share of fetched pages is estimated from a sample.
BATCHES = """
SELECT k.id, k.name, k.submitted_by, k.source, k.format, k.lines, k.accepted, k.fresh, k.duplicates,
       k.rejected, k.created_at, k.finished_at,
       CASE WHEN k.accepted <= $4 THEN f.fetched
            ELSE round(k.accepted * f.fetched / greatest(f.looked, 1)::numeric)::bigint END AS fetched,
       k.accepted > $4 AS is_reckoned
  FROM (SELECT * FROM messor.task_batches k
         WHERE ($1::uuid IS NULL OR k.id = $1) AND ($2::uuid IS NULL OR k.id < $2)
         ORDER BY k.id DESC LIMIT $3) k
 CROSS JOIN LATERAL (
   SELECT count(*) AS looked, count(*) FILTER (WHERE t.last_fetched_at >= k.created_at) AS fetched
     FROM (SELECT b.page_id FROM messor.batch_pages b WHERE b.batch_id = k.id AND k.accepted <= $4
           UNION ALL
           SELECT n.page_id FROM (
             SELECT min(b.page_id) AS least, max(b.page_id) AS most
               FROM messor.batch_pages b WHERE b.batch_id = k.id AND k.accepted > $4) e
            CROSS JOIN generate_series(0, $5 - 1) i
            CROSS JOIN LATERAL (SELECT b.page_id FROM messor.batch_pages b
                   WHERE b.batch_id = k.id AND b.page_id >= e.least + (e.most - e.least) * i / ($5 - 1)
                   ORDER BY b.page_id LIMIT 1) n) p
    CROSS JOIN LATERAL (
      SELECT c.last_fetched_at FROM messor.crawl_tasks c WHERE c.page_id = p.page_id LIMIT 1) t) f
 ORDER BY k.id DESC
"""
COUNTED = 500  # pages of a batch that are counted exactly
PROBES = 200  # sample size for a larger one
BATCH_ERRORS = """
SELECT line, text, reason FROM messor.batch_errors WHERE batch_id = $1 AND line > $2
 ORDER BY line LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page and its state."""

    id: int
    domain: str
    host: str
    url: str
    url_hash: str
    found_by: str
    found_on: int | None
    depth: int | None
    category: str | None
    found_at: datetime
    sitemap_lastmod: datetime | None
    kind: str
    status: str
    outcome: str | None
    last_http_status: int | None
    last_crawled_at: datetime | None
    next_crawl_at: datetime | None
    refusal: str | None
    error_message: str | None
    snapshot_id: int | None
    title: str | None


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A crawl task, for display."""

    page_id: int
    domain: str
    url: str
    kind: str
    status: str
    outcome: str | None
    priority: int
    retry_count: int
    max_retries: int
    scheduled_at: datetime | None
    next_crawl_at: datetime | None
    last_crawled_at: datetime | None
    completed_at: datetime | None
    crawl_frequency: timedelta | None
    last_http_status: int | None
    refusal: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """A batch and its results."""

    id: UUID
    name: str
    submitted_by: str
    source: str
    format: str
    lines: int
    accepted: int
    fresh: int
    duplicates: int
    rejected: int
    created_at: datetime
    finished_at: datetime | None
    fetched: int
    is_reckoned: bool  # estimated from a sample


async def _pages(source: Connection | Database, page_ids: Sequence[int]) -> list[KnownPage]:
    return [KnownPage(**row) for row in await source.fetch(PAGES, page_ids)] if page_ids else []


async def page(source: Connection | Database, page_id: int) -> KnownPage:
    found = await _pages(source, [page_id])
    if not found:
        raise NotFoundError(f"There is no page {page_id}.")
    return found[0]


async def find(source: Connection | Database, url: Url) -> int:
    """The page of a URL."""
    page_id: int | None = await source.fetchval(FIND, url.authority, url_hash(url))
    if page_id is None:
        raise NotFoundError(f"{url.href} is unknown.")
    return page_id


async def _tasks(source: Connection | Database, page_ids: Sequence[int]) -> list[KnownTask]:
    return [KnownTask(**row) for row in await source.fetch(TASKS, page_ids)] if page_ids else []


async def task(source: Connection | Database, page_id: int) -> KnownTask:
    found = await _tasks(source, [page_id])
    if not found:
        raise NotFoundError(f"There is no task of a page {page_id}.")
    return found[0]


async def batches(
    source: Connection | Database, *, before: UUID | None = None, limit: int = 50
) -> list[TaskBatch]:
    """Batches, newest first."""
    rows = await source.fetch(BATCHES, None, before, limit, COUNTED, PROBES)
    return [TaskBatch(**row) for row in rows]


async def batch(source: Connection | Database, batch_id: UUID) -> TaskBatch:
    rows = await source.fetch(BATCHES, batch_id, None, 1, COUNTED, PROBES)
    if not rows:
        raise NotFoundError(f"There is no batch {batch_id}.")
    return TaskBatch(**rows[0])


async def batch_errors(
    source: Connection | Database, batch_id: UUID, *, after: int = 0, limit: int = 50
) -> list[dict[str, Any]]:
    """The rejected lines of a batch, in order."""
    await batch(source, batch_id)
    return [dict(row) for row in await source.fetch(BATCH_ERRORS, batch_id, after, limit)]
