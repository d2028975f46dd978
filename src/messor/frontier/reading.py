"""Reading the frontier page by page: pages, their crawl tasks, and batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from messor.errors import NotFoundError
from messor.store.database import Connection, Database
from messor.web.urls import Url, url_hash

# Which rows is asked of the tables, with their indexes; how each stands is then asked of the view,
# whose clock keeps the planner from looking into it.
PAGES = """
SELECT p.id, d.domain, h.host, p.url, encode(p.url_hash, 'hex') AS url_hash, p.found_by,
       p.found_on, p.depth, p.category, p.found_at, p.sitemap_lastmod, t.kind, t.status, t.outcome,
       t.last_http_status, t.last_crawled_at, t.next_crawl_at, t.refusal, t.error_message,
       k.snapshot_id, s.title
  FROM messor.crawl_task_status t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.crawl_tasks k ON k.page_id = p.id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.page_snapshots s ON s.id = k.snapshot_id
 WHERE t.page_id = ANY ($1::bigint[]) ORDER BY t.page_id
"""
CHOOSE_PAGES = """
SELECT p.id FROM messor.pages p JOIN messor.crawl_tasks k ON k.page_id = p.id
 WHERE p.id > $1 AND {whose}
   AND ($3::text IS NULL OR coalesce(k.outcome, 'waiting') = $3)
   AND ($4::text IS NULL OR p.category = $4) AND ($5::text IS NULL OR k.kind = $5)
   AND ($6::text IS NULL OR strpos(p.url, $6) > 0)
 ORDER BY p.id LIMIT $7
"""
_OF_ALL = "$2::text IS NULL"
_OF_DOMAIN = """{column} IN (
         SELECT o.id FROM messor.pages o JOIN messor.hosts h ON h.id = o.host_id
           JOIN messor.domains n ON n.id = h.domain_id WHERE n.domain = $2::text)"""
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
# The status as the view derives it; what it cannot be is passed over before.
CHOOSE_TASKS = """
SELECT k.page_id FROM messor.crawl_tasks k
  JOIN messor.lanes l ON l.host_id = k.host_id JOIN messor.domains d ON d.id = l.domain_id
 WHERE k.page_id > $1 AND {whose}
   AND ($4::uuid IS NULL OR k.page_id IN (
         SELECT b.page_id FROM messor.batch_pages b WHERE b.batch_id = $4))
   AND CASE WHEN $3::text IS NULL OR $3 = 'paused' THEN true
            WHEN $3 IN ('queued', 'crawling') THEN k.due_at <= (SELECT messor.clock())
            ELSE k.status = $3 END
   AND ($3 IS NULL OR $3 =
        CASE WHEN k.status IN ('paused', 'cancelled') THEN k.status
             WHEN NOT d.active AND k.due_at IS NOT NULL THEN 'paused'
             WHEN k.status <> 'pending' AND k.due_at > (SELECT messor.clock()) THEN k.status
             WHEN l.worker_id IS NOT NULL AND k.due_at <= (SELECT messor.clock()) THEN 'crawling'
             WHEN k.due_at <= (SELECT messor.clock()) THEN 'queued'
             ELSE k.status END)
 ORDER BY k.page_id LIMIT $5
"""

BATCHES = """
SELECT id, name, submitted_by, source, format, lines, accepted, fresh, duplicates, rejected,
       created_at, finished_at,
       (SELECT count(*) FROM messor.batch_pages b JOIN messor.crawl_tasks t USING (page_id)
         WHERE b.batch_id = k.id AND t.last_fetched_at >= k.created_at) AS fetched
  FROM messor.task_batches k
 WHERE ($1::uuid IS NULL OR k.id = $1) AND ($2::uuid IS NULL OR k.id < $2)
 ORDER BY k.id DESC LIMIT $3
"""
BATCH_ERRORS = """
SELECT line, text, reason FROM messor.batch_errors WHERE batch_id = $1 AND line > $2
 ORDER BY line LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page and how it stands."""

    id: int
    domain: str
    host: str
    url: str
    url_hash: str
    found_by: str
    found_on: int | None
    depth: int
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
    """A crawl task as people read it."""

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
class Batch:
    """A batch and what came of its lines."""

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


async def pages(
    source: Connection | Database,
    *,
    after: int = 0,
    domain: str | None = None,
    outcome: str | None = None,
    category: str | None = None,
    kind: str | None = None,
    containing: str | None = None,
    limit: int = 50,
) -> list[KnownPage]:
    """Pages in the order they were found."""
    sql = CHOOSE_PAGES.format(whose=_whose(domain, "p.id"))
    rows = await source.fetch(sql, after, domain, outcome, category, kind, containing, limit)
    return await _pages(source, [row["id"] for row in rows])


def _whose(domain: str | None, column: str) -> str:
    """A domain's own are asked for by a statement of its own: planned for it, not for all."""
    return _OF_ALL if domain is None else _OF_DOMAIN.format(column=column)


async def _pages(source: Connection | Database, page_ids: Sequence[int]) -> list[KnownPage]:
    return [KnownPage(**row) for row in await source.fetch(PAGES, page_ids)] if page_ids else []


async def page(source: Connection | Database, page_id: int) -> KnownPage:
    found = await _pages(source, [page_id])
    if not found:
        raise NotFoundError(f"There is no page {page_id}.")
    return found[0]


async def find(source: Connection | Database, url: Url) -> int:
    """The page that stands for a URL."""
    page_id: int | None = await source.fetchval(FIND, url.authority, url_hash(url))
    if page_id is None:
        raise NotFoundError(f"{url.href} is not known.")
    return page_id


async def tasks(
    source: Connection | Database,
    *,
    after: int = 0,
    domain: str | None = None,
    status: str | None = None,
    batch_id: UUID | None = None,
    limit: int = 50,
) -> list[KnownTask]:
    """Tasks in the order their pages were found."""
    sql = CHOOSE_TASKS.format(whose=_whose(domain, "k.page_id"))
    rows = await source.fetch(sql, after, domain, status, batch_id, limit)
    return await _tasks(source, [row["page_id"] for row in rows])


async def _tasks(source: Connection | Database, page_ids: Sequence[int]) -> list[KnownTask]:
    return [KnownTask(**row) for row in await source.fetch(TASKS, page_ids)] if page_ids else []


async def task(source: Connection | Database, page_id: int) -> KnownTask:
    found = await _tasks(source, [page_id])
    if not found:
        raise NotFoundError(f"There is no task of a page {page_id}.")
    return found[0]


async def batches(
    source: Connection | Database, *, before: UUID | None = None, limit: int = 50
) -> list[Batch]:
    """Batches, the newest first."""
    return [Batch(**row) for row in await source.fetch(BATCHES, None, before, limit)]


async def batch(source: Connection | Database, batch_id: UUID) -> Batch:
    rows = await source.fetch(BATCHES, batch_id, None, 1)
    if not rows:
        raise NotFoundError(f"There is no batch {batch_id}.")
    return Batch(**rows[0])


async def batch_errors(
    source: Connection | Database, batch_id: UUID, *, after: int = 0, limit: int = 50
) -> list[dict[str, Any]]:
    """The lines of a batch that were not taken, in their order."""
    await batch(source, batch_id)
    return [dict(row) for row in await source.fetch(BATCH_ERRORS, batch_id, after, limit)]
