"""Ranks: a domain's position per keyword over time, and losses with their page changes.

Only good snapshots count: between two of them nothing is known, and a failed one is not a rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.insight.visibility import TimeSpan
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied
from messor.web.urls import url_hash

HISTORY = """
SELECT k.keyword_text AS keyword, p.name AS profile, s.captured_at AS seen_at, r.rank, r.block, r.url
  FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
  JOIN messor.serp_profiles p ON p.id = s.serp_profile_id
  JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
  LEFT JOIN LATERAL (
    SELECT r.rank_position AS rank, r.block_type AS block, r.url FROM messor.serp_results r
     WHERE r.snapshot_id = s.id AND r.domain = $4 AND r.block_type IN ('organic', 'local_pack')
     ORDER BY r.rank_position, r.block_type DESC LIMIT 1) r ON true
 WHERE k.vertical_id = $1 AND s.outcome <> 'failed' AND s.captured_at >= $2 AND s.captured_at < $3
   AND ($5::text IS NULL OR k.keyword_text = $5)
 ORDER BY keyword, profile, seen_at LIMIT $6
"""

# The last good page before the window against the last one in it; a page that is no longer listed
# counts as lost below all others.
LOSSES = """
WITH looks AS (
  SELECT DISTINCT ON (s.keyword_id, w.now) s.keyword_id, s.id, s.captured_at, w.now
    FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
    JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
   CROSS JOIN LATERAL (SELECT s.captured_at >= $2 AS now) w
   WHERE k.vertical_id = $1 AND s.outcome <> 'failed'
     AND s.captured_at >= $5 AND s.captured_at < $3
   ORDER BY s.keyword_id, w.now, s.captured_at DESC
), places AS (
  SELECT l.keyword_id, l.now, l.captured_at, r.rank, r.url FROM looks l
    LEFT JOIN LATERAL (
      SELECT r.rank_position AS rank, r.url FROM messor.serp_results r
       WHERE r.snapshot_id = l.id AND r.domain = $4 AND r.block_type IN ('organic', 'local_pack')
       ORDER BY r.rank_position LIMIT 1) r ON true
)
SELECT k.keyword_text AS keyword, p.name AS profile, b.rank AS before, a.rank AS after, b.url,
       b.captured_at AS since, a.captured_at AS until
  FROM places b JOIN places a ON a.keyword_id = b.keyword_id AND a.now AND NOT b.now
  JOIN messor.keywords k ON k.id = b.keyword_id JOIN messor.serp_profiles p ON p.id = k.serp_profile_id
 WHERE b.rank IS NOT NULL AND (a.rank IS NULL OR a.rank > b.rank)
 ORDER BY a.rank IS NOT NULL, b.rank, keyword, profile LIMIT $6
"""

# The last change of each page that held a position: from a week before it was last seen there,
# since an engine needs time to notice, until the loss was seen.
CHANGES = """
SELECT l.number, c.state, c.seen_at
  FROM unnest($2::int[], $3::bytea[], $4::timestamptz[], $5::timestamptz[])
         AS l (number, url_hash, since, until)
 CROSS JOIN LATERAL (
   SELECT c.state, c.seen_at FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
     JOIN messor.pages g ON g.host_id = h.id AND g.url_hash = l.url_hash
     JOIN messor.page_changes c ON c.page_id = g.id AND c.state <> 'new'
      AND c.seen_at >= l.since - interval '7 days' AND c.seen_at < l.until
    WHERE d.domain = $1 ORDER BY c.seen_at DESC LIMIT 1) c
"""


@dataclass(frozen=True, slots=True)
class Rank:
    """A domain's position on one page; None: a good page without it."""

    keyword: str
    profile: str
    seen_at: datetime
    rank: int | None
    block: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class RankLoss:
    """A lost position, and the change of the page that held it, if known."""

    keyword: str
    profile: str
    before: int
    after: int | None  # None: no longer on the page
    url: str | None
    page_state: str | None  # changed or removed
    page_changed_at: datetime | None


async def history(
    source: Connection | Database,
    applied: Applied,
    window: TimeSpan,
    domain: str,
    *,
    keyword: str | None = None,
    limit: int = 1000,
) -> list[Rank]:
    """The ranks of a domain in a window, by keyword and time."""
    given = (applied.id, window.since, window.until, domain, keyword, limit)
    return [Rank(**row) for row in await source.fetch(HISTORY, *given)]


async def losses(
    source: Connection | Database,
    applied: Applied,
    window: TimeSpan,
    domain: str,
    *,
    limit: int = 100,
) -> list[RankLoss]:
    """Losses of a domain since the previous window, complete losses first."""
    given = (applied.id, window.since, window.until, domain, window.before.since, limit)
    rows = await source.fetch(LOSSES, *given)
    held = [(number, row) for number, row in enumerate(rows) if row["url"]]
    changes = await source.fetch(
        CHANGES,
        domain,
        [number for number, _ in held],
        [url_hash(row["url"]) for _, row in held],
        [row["since"] for _, row in held],
        [row["until"] for _, row in held],
    )
    changed = {row["number"]: (row["state"], row["seen_at"]) for row in changes}
    return [
        RankLoss(
            row["keyword"],
            row["profile"],
            row["before"],
            row["after"],
            row["url"],
            *changed.get(number, (None, None)),
        )
        for number, row in enumerate(rows)
    ]
