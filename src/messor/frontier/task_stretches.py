"""Tasks of one status over the whole frontier, a stretch at a time.

The hot table has no index by status, which every fetch would pay for. So each answer looks at a
bounded stretch of it, and says where the next one begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.frontier.reading import KnownTask
from messor.store.database import Connection, Database

STRETCH = 100_000  # tasks that one answer looks at
POSSIBLE = 2_000  # of these, those that are read in full

# What the status in the view can be made of; the view then decides.
CHOOSE = """
WITH stretch AS MATERIALIZED (
  SELECT t.page_id, t.host_id, t.status, t.due_at FROM messor.crawl_tasks t
   WHERE t.page_id > $1 ORDER BY t.page_id LIMIT $2
), held AS MATERIALIZED (
  SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
   WHERE $3 = 'paused' AND NOT d.active
), possible AS MATERIALIZED (
  SELECT s.page_id FROM stretch s
   WHERE CASE WHEN $3 IN ('queued', 'crawling') THEN s.due_at <= (SELECT messor.clock())
              WHEN $3 = 'paused' THEN s.status = 'paused' OR s.host_id IN (SELECT id FROM held)
              ELSE s.status = $3 END
   ORDER BY s.page_id LIMIT $4
)
SELECT (SELECT count(*) FROM stretch) AS looked, (SELECT max(page_id) FROM stretch) AS last_looked,
       count(*) AS possible, max(page_id) AS last_possible,
       coalesce(array_agg(page_id ORDER BY page_id), '{}') AS page_ids
  FROM possible
"""
READ = """
SELECT t.page_id, d.domain, t.url, t.kind, t.status, t.outcome, t.priority, t.retry_count,
       t.max_retries, t.scheduled_at, t.next_crawl_at, t.last_crawled_at, t.completed_at,
       t.crawl_frequency, t.last_http_status, t.refusal, t.error_message
  FROM messor.crawl_task_status t JOIN messor.domains d ON d.id = t.domain_id
 WHERE t.page_id = ANY ($1::bigint[]) AND t.status = $2 ORDER BY t.page_id LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tasks that fit, and where the next stretch begins; None at the frontier's end."""

    tasks: list[KnownTask]
    reached: int | None


async def read(
    source: Connection | Database,
    status: str,
    *,
    after: int = 0,
    limit: int = 50,
    stretch: int = STRETCH,
) -> Stretch:
    """Tasks in the order their pages were found."""
    chosen = await source.fetchrow(CHOOSE, after, stretch, status, POSSIBLE)
    assert chosen is not None
    rows = await source.fetch(READ, chosen["page_ids"], status, limit)
    found = [KnownTask(**row) for row in rows]
    reached: int | None
    if len(found) == limit:
        reached = found[-1].page_id
    elif chosen["possible"] == POSSIBLE:
        reached = chosen["last_possible"]
    else:
        reached = chosen["last_looked"] if chosen["looked"] == stretch else None
    return Stretch(found, reached)
