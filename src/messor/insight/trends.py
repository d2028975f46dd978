"""Visibility and ranks over time for charts: summed in the database, a point per span.

A span without a good page is None: a gap, not a zero. `insight.visibility` defines visibility.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from messor.insight.visibility import TimeSpan
from messor.scout.keywords import Tier
from messor.scout.serps import Outcome
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied

WEEK = timedelta(days=7)
SPANS = 12
LOOKS = 30  # maximum pages of one keyword in a chart

# $1 vertical, $2 since, $3 until, $4 seconds of a span, $5 rank weights, $6 to $8 tier weights,
# $9 domains, or one.
_GOOD = """
good AS MATERIALIZED (
  SELECT s.id, s.keyword_id, b.span,
         CASE k.tier WHEN 'A' THEN $6::float8 WHEN 'B' THEN $7::float8 ELSE $8::float8 END
           / count(*) OVER (PARTITION BY s.keyword_id, b.span) AS share
    FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
    JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
   CROSS JOIN LATERAL (
     SELECT floor(extract(epoch FROM s.captured_at - $2::timestamptz) / $4::float8)::int AS span) b
   WHERE k.vertical_id = $1 AND s.outcome <> 'failed'
     AND s.captured_at >= $2 AND s.captured_at < $3
)"""
VISIBILITY = f"""
WITH {_GOOD}, place AS (
  SELECT g.span, r.domain, max(($5::float8[])[r.rank_position] * g.share) AS points
    FROM messor.serp_results r JOIN good g ON g.id = r.snapshot_id
   WHERE r.domain = ANY ($9::text[]) AND r.block_type IN ('organic', 'local_pack')
     AND r.rank_position <= cardinality($5::float8[])
   GROUP BY g.span, r.domain, r.snapshot_id
), whole AS (SELECT span, sum(share) * ($5::float8[])[1] AS greatest FROM good GROUP BY 1)
SELECT w.span, d.domain, coalesce(sum(p.points), 0) / nullif(w.greatest, 0) AS visibility
  FROM whole w CROSS JOIN unnest($9::text[]) AS d (domain)
  LEFT JOIN place p ON p.span = w.span AND p.domain = d.domain
 GROUP BY w.span, d.domain, w.greatest
"""
# A domain's visibility, and its keywords by the best position of the span.
PLACES = f"""
WITH {_GOOD}, place AS (
  SELECT g.span, g.keyword_id, g.share, min(r.rank_position) AS rank
    FROM good g LEFT JOIN messor.serp_results r ON r.snapshot_id = g.id AND r.domain = $9
     AND r.block_type IN ('organic', 'local_pack')
   GROUP BY g.id, g.span, g.keyword_id, g.share
), best AS (
  SELECT span, keyword_id, min(rank) AS rank, sum(share) AS share,
         coalesce(sum(($5::float8[])[rank] * share), 0) AS points
    FROM place GROUP BY 1, 2
)
SELECT span, coalesce(sum(points) / nullif(sum(share) * ($5::float8[])[1], 0), 0) AS visibility,
       count(*) FILTER (WHERE rank <= 3)::int AS first_three,
       count(*) FILTER (WHERE rank BETWEEN 4 AND 10)::int AS first_ten,
       count(*) FILTER (WHERE rank > 10)::int AS below,
       count(*) FILTER (WHERE rank IS NULL)::int AS absent
  FROM best GROUP BY 1
"""
# The last pages of one keyword, gaps included, and the ranks of the leading domains.
LEADERS = """
WITH looks AS MATERIALIZED (
  SELECT s.id, s.captured_at, s.outcome, row_number() OVER (ORDER BY s.captured_at DESC) AS age
    FROM messor.serp_snapshots s JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
   WHERE s.keyword_id = $1 ORDER BY s.captured_at DESC LIMIT $2
), chosen AS (
  SELECT domain FROM (
    SELECT r.domain, min(l.age) AS age, min(r.rank_position) AS rank
      FROM looks l JOIN messor.serp_results r ON r.snapshot_id = l.id
     WHERE r.domain IS NOT NULL AND r.block_type IN ('organic', 'local_pack')
       AND r.rank_position <= 20
     GROUP BY 1 ORDER BY (r.domain = $3::text) IS TRUE DESC, 2, 3, 1 LIMIT $4) t
)
SELECT l.id, l.captured_at, l.outcome, c.domain, min(r.rank_position) AS rank
  FROM looks l LEFT JOIN chosen c ON true
  LEFT JOIN messor.serp_results r ON r.snapshot_id = l.id AND r.domain = c.domain
   AND r.block_type IN ('organic', 'local_pack')
 GROUP BY 1, 2, 3, 4 ORDER BY l.captured_at, c.domain
"""
# The last good page of the window, and the one before it, which may be in the previous window.
STANDING = """
WITH looks AS (
  SELECT s.keyword_id, s.id, s.captured_at,
         row_number() OVER (PARTITION BY s.keyword_id ORDER BY s.captured_at DESC) AS age
    FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
    JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
   WHERE k.vertical_id = $1 AND s.outcome <> 'failed' AND s.captured_at >= $6 AND s.captured_at < $3
), place AS (
  SELECT l.keyword_id, l.age, l.id, l.captured_at,
         (SELECT min(r.rank_position) FROM messor.serp_results r
           WHERE r.snapshot_id = l.id AND r.domain = $4
             AND r.block_type IN ('organic', 'local_pack')) AS rank
    FROM looks l WHERE l.age <= 2
)
SELECT k.id AS keyword_id, k.keyword_text AS keyword, p.name AS profile, k.tier, n.id AS snapshot_id,
       n.captured_at AS seen_at, n.rank, b.rank AS before, b.keyword_id IS NOT NULL AS had_before
  FROM place n JOIN messor.keywords k ON k.id = n.keyword_id
  JOIN messor.serp_profiles p ON p.id = k.serp_profile_id
  LEFT JOIN place b ON b.keyword_id = n.keyword_id AND b.age = 2
 WHERE n.age = 1 AND n.captured_at >= $2 AND (n.rank IS NOT NULL OR b.rank IS NOT NULL)
 ORDER BY n.rank NULLS LAST, k.tier, k.keyword_text, p.name LIMIT $5
"""


@dataclass(frozen=True, slots=True)
class VisibilitySpan:
    """A domain's visibility in one span, and its keywords by position."""

    visibility: float
    first_three: int
    first_ten: int
    below: int
    absent: int


@dataclass(frozen=True, slots=True)
class KeywordLooks:
    """The last pages of a keyword, oldest first, and the ranks of the leading domains."""

    ids: list[UUID]
    times: list[datetime]
    outcomes: list[Outcome]
    ranks: dict[str, list[int | None]]  # None where it was not listed, or no page came


@dataclass(frozen=True, slots=True)
class KeywordRank:
    """A domain's rank for a keyword, and its rank on the page before."""

    keyword_id: UUID
    keyword: str
    profile: str
    tier: Tier
    snapshot_id: UUID
    seen_at: datetime
    rank: int | None
    before: int | None
    had_before: bool


def spans(until: datetime, count: int = SPANS, length: timedelta = WEEK) -> list[TimeSpan]:
    """Windows of equal length, oldest first, of which the last ends at `until`."""
    return [
        TimeSpan(until - length * ago, until - length * (ago - 1)) for ago in range(count, 0, -1)
    ]


async def visibility(
    source: Connection | Database,
    applied: Applied,
    windows: Sequence[TimeSpan],
    domains: Sequence[str],
) -> dict[str, list[float | None]]:
    """The visibility of some domains in each window; None without a good page."""
    drawn: dict[str, list[float | None]] = {name: [None] * len(windows) for name in domains}
    rows = await source.fetch(VISIBILITY, *_given(applied, windows), list(domains))
    for row in rows:
        if row["span"] < len(windows):
            drawn[row["domain"]][row["span"]] = row["visibility"]
    return drawn


async def places(
    source: Connection | Database, applied: Applied, windows: Sequence[TimeSpan], domain: str
) -> list[VisibilitySpan | None]:
    """A domain's positions in each window; None without a good page."""
    drawn: list[VisibilitySpan | None] = [None] * len(windows)
    for row in await source.fetch(PLACES, *_given(applied, windows), domain):
        span, *figures = row
        if span < len(windows):
            drawn[span] = VisibilitySpan(*figures)
    return drawn


async def looks(
    source: Connection | Database,
    keyword_id: UUID,
    *,
    domain: str | None = None,
    count: int = LOOKS,
    most: int = 5,
) -> KeywordLooks:
    """The last pages of a keyword with the leading domains; a requested domain is included."""
    found = KeywordLooks([], [], [], {})
    for row in await source.fetch(LEADERS, keyword_id, count, domain, most):
        if row["id"] not in found.ids[-1:]:
            found.ids.append(row["id"])
            found.times.append(row["captured_at"])
            found.outcomes.append(row["outcome"])
        if row["domain"] is not None:
            ranks = found.ranks.setdefault(row["domain"], [])
            ranks.append(row["rank"] if row["outcome"] != "failed" else None)
    return found


async def standing(
    source: Connection | Database, applied: Applied, window: TimeSpan, domain: str, limit: int = 50
) -> list[KeywordRank]:
    """Keywords on whose last two good pages a domain is, best positions first."""
    given = (applied.id, window.since, window.until, domain, limit, window.before.since)
    return [KeywordRank(**row) for row in await source.fetch(STANDING, *given)]


def _given(applied: Applied, windows: Sequence[TimeSpan]) -> tuple[object, ...]:
    first, last, scoring = windows[0], windows[-1], applied.vertical.scoring
    tiers = [scoring.tier_weights[tier] for tier in ("A", "B", "C")]
    length = (first.until - first.since).total_seconds()
    return applied.id, first.since, last.until, length, list(scoring.rank_weights), *tiers
