"""Unproductive pages: crawled for months without ever yielding a record.

They are still crawled, but rarely. A page that links to others, is new, was never read well or has
changed according to its sitemap is left unchanged: no result is not zero. On a domain of some
verticals only records of kinds that they want count.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from messor.insight.relevance.topics import BELONGS
from messor.store.database import Connection

WINDOW = timedelta(days=90)  # without a record
RARELY = timedelta(days=90)  # between two crawls

# The specification's query (snapshots of the last 90 days without an extraction) in terms of stored
# data: the page was crawled within the window, its newest content was read, and no record of the
# wanted kinds was seen in it within the window.
UNPRODUCTIVE = f"""
  FROM messor.crawl_tasks t
  JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.extractions x ON x.page_id = t.page_id AND x.snapshot_id = t.snapshot_id
 CROSS JOIN LATERAL (
   SELECT coalesce({{kinds}}::text[], array_agg(DISTINCT k.kind)) AS kinds FROM messor.domains d
    CROSS JOIN messor.verticals v
    CROSS JOIN LATERAL jsonb_array_elements_text(v.definition -> 'record_kinds') k (kind)
    WHERE d.id = h.domain_id AND {BELONGS}) w
 WHERE t.kind = 'page' AND t.status = 'completed'
   AND t.last_fetched_at > (SELECT messor.clock()) - {{window}}
   AND p.found_at <= (SELECT messor.clock()) - {{window}}
   AND p.depth > 0 AND x.warnings = '[]'::jsonb
   AND ({{domain}}::uuid IS NULL OR h.domain_id = {{domain}}) AND ({{hosts}}::bigint[] IS NULL OR h.id = ANY ({{hosts}}::bigint[]))
   AND (x.last_record_at IS NULL OR x.last_record_at <= (SELECT messor.clock()) - {{window}}
        OR w.kinds IS NOT NULL)
   AND NOT EXISTS (SELECT FROM messor.records r WHERE r.page_id = t.page_id
                      AND (w.kinds IS NULL OR r.kind = ANY (w.kinds))
                      AND (r.state = 'current'
                           OR r.last_seen > (SELECT messor.clock()) - {{window}}))
   AND NOT EXISTS (SELECT FROM messor.extraction_due q WHERE q.page_id = t.page_id)
   AND NOT EXISTS (SELECT FROM messor.pages n WHERE n.host_id = p.host_id AND n.found_on = p.id
                      AND n.found_at > (SELECT messor.clock()) - {{window}})
   AND (p.sitemap_lastmod IS NULL OR p.sitemap_lastmod <= t.last_fetched_at)
"""
_PARAMETERS = UNPRODUCTIVE.format(window="$1::interval", domain="$2::uuid", kinds="$3", hosts="$5")
# A person's setting is kept.
PUT_OFF = f"""
WITH barren AS MATERIALIZED (
  SELECT t.page_id, t.last_fetched_at + $6::interval AS until {_PARAMETERS}
     AND t.crawl_frequency IS NULL AND t.due_at < t.last_fetched_at + $6::interval
   ORDER BY t.page_id LIMIT $4 FOR UPDATE OF t SKIP LOCKED
), later AS (
  UPDATE messor.crawl_tasks c SET due_at = b.until FROM barren b WHERE c.page_id = b.page_id
)
INSERT INTO messor.barren_pages AS o (page_id, until)
SELECT page_id, until FROM barren ORDER BY page_id
ON CONFLICT (page_id) DO UPDATE SET until = excluded.until, put_off_at = (SELECT messor.clock())
"""
# Their time has come, or they have yielded something after all.
BRING_BACK = """
DELETE FROM messor.barren_pages WHERE page_id = ANY (ARRAY(
  SELECT b.page_id FROM messor.barren_pages b
    LEFT JOIN messor.extractions x ON x.page_id = b.page_id
   WHERE b.until < (SELECT messor.clock()) OR x.last_record_at > b.put_off_at
   ORDER BY b.page_id LIMIT $1 FOR UPDATE OF b SKIP LOCKED))
"""


async def put_off(
    connection: Connection,
    *,
    domain_id: UUID | None = None,
    host_ids: Sequence[int] | None = None,
    kinds: Sequence[str] | None = None,
    window: timedelta = WINDOW,
    rarely: timedelta = RARELY,
    most: int = 1_000,
) -> int:
    """Crawl such pages rarely; returns how many were postponed."""
    wanted = None if kinds is None else list(kinds)
    status = await connection.execute(PUT_OFF, window, domain_id, wanted, most, host_ids, rarely)
    return int(status.rpartition(" ")[2])


async def bring_back(connection: Connection, most: int = 1_000) -> int:
    """Return pages to their usual frequency that need not be postponed any more.

    Returns how many.
    """
    status = await connection.execute(BRING_BACK, most)
    return int(status.rpartition(" ")[2])
