"""The extraction queue: filled by transactions that store changes, emptied by the extractor.

A row is claimed in the transaction that writes its results, so that work and completion commit
together. A page's rows are claimed one after another; a row whose page cannot be read is retried
later, and set aside after MAX_ATTEMPTS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from messor.store.database import Connection, Database

MAX_ATTEMPTS = 3
RETRY_SECONDS = 30.0  # multiplied by the number of attempts
ELSEWHERE_SECONDS = 3.0  # until another machine may try

# Run in the transaction that stores the changes. `snapshot_id` NULL: the page is gone.
FEED = """
INSERT INTO messor.extraction_due (page_id, snapshot_id)
SELECT * FROM unnest($1::bigint[], $2::bigint[])
"""

# Rows of removed pages are claimed too, and dropped. Columns in the order of `QueuedPage`. Few
# installations have pins: that is checked once, not per page.
CLAIM = """
SELECT d.id, d.page_id, d.snapshot_id, d.attempts, d.cause, d.pin, p.url, p.url_hash, h.domain_id,
       s.status_code, s.content_type, d.seen_at, t.kind,
       g.name AS segment, s.segment_offset, s.segment_length,
       CASE WHEN EXISTS (SELECT FROM messor.parser_pins) THEN
         (SELECT jsonb_object_agg(n.parser, n.version ORDER BY n.domain_id NULLS FIRST)
            FROM messor.parser_pins n
           WHERE n.domain_id IS NULL OR n.domain_id = h.domain_id)::text END AS pins
  FROM (SELECT q.* FROM messor.extraction_due q
         WHERE q.due_at <= (SELECT messor.clock())
           AND ($2::bigint[] IS NULL OR q.page_id = ANY ($2))
           AND NOT EXISTS (SELECT FROM messor.extraction_due e
                            WHERE e.page_id = q.page_id AND e.id < q.id)
         ORDER BY q.id LIMIT $1 FOR UPDATE SKIP LOCKED) d
  LEFT JOIN messor.pages p ON p.id = d.page_id LEFT JOIN messor.hosts h ON h.id = p.host_id
  LEFT JOIN messor.crawl_tasks t ON t.page_id = d.page_id
  LEFT JOIN messor.page_snapshots s ON s.id = d.snapshot_id
  LEFT JOIN messor.segments g ON g.id = s.segment_id
 ORDER BY d.id
"""
AWAITED = """
SELECT EXISTS (SELECT FROM messor.extraction_due
                WHERE page_id = ANY ($1::bigint[]) AND attempts = 0)
"""
DONE = "DELETE FROM messor.extraction_due WHERE id = ANY ($1::bigint[])"
LATER = """
UPDATE messor.extraction_due SET attempts = attempts + 1,
       due_at = (SELECT messor.clock()) + make_interval(secs => $2 * (attempts + 1))
 WHERE id = ANY ($1::bigint[])
"""
# Not the page's fault: no attempt is counted. Rows unreadable for long are tried rarely.
WAIT = """
UPDATE messor.extraction_due SET due_at = (SELECT messor.clock()) + make_interval(secs => greatest(
         $2::float8, least(300, extract(epoch FROM (SELECT messor.clock()) - seen_at) / 4)::float8))
 WHERE id = ANY ($1::bigint[])
"""

# These scan all tasks.
WHOLE_FRONTIER = "SET LOCAL statement_timeout = '15min'"
# Pages whose newest content, or removal, was never extracted and is not queued.
CATCH_UP = """
INSERT INTO messor.extraction_due (page_id, snapshot_id, seen_at)
SELECT t.page_id, n.snapshot_id, coalesce(c.seen_at, t.last_fetched_at, (SELECT messor.clock()))
  FROM messor.crawl_tasks t
  LEFT JOIN LATERAL (SELECT c.state, c.seen_at FROM messor.page_changes c
                      WHERE c.page_id = t.page_id ORDER BY c.seen_at DESC LIMIT 1) c ON true
  CROSS JOIN LATERAL (SELECT CASE WHEN c.state = 'removed' THEN NULL ELSE t.snapshot_id END
                             AS snapshot_id) n
  LEFT JOIN messor.extractions x ON x.page_id = t.page_id
 WHERE t.snapshot_id IS NOT NULL AND t.kind = 'page'
   AND x.snapshot_id IS DISTINCT FROM n.snapshot_id
   AND NOT EXISTS (SELECT FROM messor.extraction_due q WHERE q.page_id = t.page_id)
"""

# The newest good snapshot of each page, in archive order. Rows left by a stopped replay are updated
# to this one; rows queued for another reason are left alone.
REPLAY = """
WITH chosen AS (
  SELECT t.page_id, t.snapshot_id, coalesce(c.seen_at, s.crawled_at) AS seen_at,
         s.segment_id, s.segment_offset
    FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
    JOIN messor.page_snapshots s ON s.id = t.snapshot_id
    LEFT JOIN LATERAL (SELECT c.state, c.seen_at FROM messor.page_changes c
                        WHERE c.page_id = t.page_id ORDER BY c.seen_at DESC LIMIT 1) c ON true
   WHERE t.kind = 'page' AND s.misfiled_at IS NULL AND ($1::uuid IS NULL OR h.domain_id = $1)
     AND ($2::timestamptz IS NULL OR s.crawled_at >= $2)
     AND ($3::text IS NULL OR EXISTS (SELECT FROM messor.records r WHERE r.page_id = t.page_id
                                       AND r.parser = $3 AND r.state = 'current'))
     AND c.state IS DISTINCT FROM 'removed'
), left_over AS (
  UPDATE messor.extraction_due q SET pin = $4 FROM chosen
   WHERE q.page_id = chosen.page_id AND q.cause = 'parser' AND q.pin IS DISTINCT FROM $4
  RETURNING q.id
), added AS (
  INSERT INTO messor.extraction_due (page_id, snapshot_id, cause, pin, seen_at)
  SELECT page_id, snapshot_id, 'parser', $4, seen_at FROM chosen
   WHERE NOT EXISTS (SELECT FROM messor.extraction_due q WHERE q.page_id = chosen.page_id)
   ORDER BY segment_id, segment_offset RETURNING id
)
SELECT (SELECT count(*) FROM left_over) + (SELECT count(*) FROM added)
"""
# Among the newest rows only: those of a crawl that is going on.
WAITING_OF = """
SELECT q.page_id
  FROM (SELECT page_id, due_at FROM messor.extraction_due ORDER BY id DESC LIMIT 20000) q
  JOIN messor.pages p ON p.id = q.page_id JOIN messor.hosts h ON h.id = p.host_id
 WHERE h.domain_id = $1 AND q.due_at <= (SELECT messor.clock()) LIMIT 256
"""
WAITING = """
SELECT count(*)::int AS waiting, count(*) FILTER (WHERE cause = 'parser')::int AS replayed,
       min(due_at) AS oldest FROM messor.extraction_due
"""


class QueuedPage(NamedTuple):
    """A page to extract; without a URL it has been removed since."""

    id: int
    page_id: int
    snapshot_id: int | None
    attempts: int
    cause: str
    pin: str | None
    url: str | None
    url_hash: bytes | None
    domain_id: UUID | None
    status_code: int | None
    content_type: str | None
    seen_at: datetime
    kind: str | None  # task kind: page or image
    segment: str | None
    segment_offset: int | None
    segment_length: int | None
    pins: str | None  # pinned parser versions by name, as JSON


@dataclass(frozen=True, slots=True)
class QueueSize:
    """The size of the queue."""

    waiting: int
    replayed: int
    oldest: datetime | None


async def feed(
    connection: Connection, page_ids: Sequence[int], snapshot_ids: Sequence[int | None]
) -> None:
    """Queue pages whose change is stored in the caller's transaction."""
    if page_ids:
        await connection.execute(FEED, page_ids, snapshot_ids)


async def claim(
    connection: Connection, most: int, page_ids: Sequence[int] | None = None
) -> list[QueuedPage]:
    """Claim due rows, optionally of these pages only, until the end of the transaction."""
    return [QueuedPage(*row) for row in await connection.fetch(CLAIM, most, page_ids)]


async def waiting_of(database: Database, domain_id: UUID) -> list[int]:
    """Pages of a domain that are due, some at a time."""
    return [row["page_id"] for row in await database.fetch(WAITING_OF, domain_id)]


async def is_awaited(database: Database, page_ids: Sequence[int]) -> bool:
    """Whether any of these pages waits for its first attempt, or is being read."""
    awaited: bool = await database.fetchval(AWAITED, page_ids)
    return awaited


async def finish(connection: Connection, ids: Sequence[int]) -> None:
    if ids:
        await connection.execute(DONE, ids)


async def put_off(connection: Connection, ids: Sequence[int]) -> None:
    """Retry later."""
    if ids:
        await connection.execute(LATER, ids, RETRY_SECONDS)


async def wait(connection: Connection, ids: Sequence[int], seconds: float = RETRY_SECONDS) -> None:
    """Leave rows to another machine, or to this one once it can read them."""
    if ids:
        await connection.execute(WAIT, ids, seconds)


async def catch_up(database: Database) -> int:
    """Queue pages stored before extraction existed, or missed by it."""
    async with database.transaction() as connection:
        await connection.execute(WHOLE_FRONTIER)
        return _count(await connection.execute(CATCH_UP))


async def replay(
    database: Database,
    *,
    domain_id: UUID | None = None,
    since: datetime | None = None,
    parser: str | None = None,
    pin: str | None = None,
) -> int:
    """Queue pages to be read again from the archive; returns how many."""
    async with database.transaction() as connection:
        await connection.execute(WHOLE_FRONTIER)
        queued: int = await connection.fetchval(REPLAY, domain_id, since, parser, pin)
        return queued


async def waiting(source: Connection | Database) -> QueueSize:
    row = await source.fetchrow(WAITING)
    assert row is not None
    return QueueSize(**row)


def _count(status: str) -> int:
    return int(status.rpartition(" ")[2])
