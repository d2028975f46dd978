"""The inventory of a domain: its pages, for display."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from messor.frontier.depth import KNOWN_DEPTH_SQL
from messor.store.database import Database

PAGES = f"""
SELECT t.url, t.url_hash, t.kind, t.status, t.outcome, t.last_http_status, t.last_crawled_at,
       t.next_crawl_at, t.refusal, t.error_message, {KNOWN_DEPTH_SQL} AS depth,
       p.found_by, p.category, p.sitemap_lastmod, s.title, messor.count_words(x.markdown) AS word_count,
       f.quality_gate_failed AS gate, coalesce(s.provider, f.fetch_provider) AS provider
  FROM messor.crawl_task_status t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.crawl_tasks k ON k.page_id = t.page_id
  LEFT JOIN messor.page_snapshots s ON s.id = k.snapshot_id
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = k.snapshot_id
  LEFT JOIN LATERAL (SELECT f.quality_gate_failed, f.fetch_provider FROM messor.http_fetches f
                      WHERE f.page_id = t.page_id ORDER BY f.fetched_at DESC, f.id DESC LIMIT 1) f
         ON true
 WHERE t.domain_id = $1 AND ($2::text IS NULL OR coalesce(t.outcome, 'waiting') = $2)
   AND ($3::text IS NULL OR p.category = $3)
 ORDER BY t.page_id LIMIT $4
"""


async def pages_of(
    database: Database,
    domain_id: UUID,
    *,
    outcome: str | None = None,
    category: str | None = None,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """The pages of a domain in the order they were found.

    `provider` delivered the current content, `gate` is what the last fetch failed.
    """
    rows = await database.fetch(PAGES, domain_id, outcome, category, limit)
    return [dict(row) for row in rows]
