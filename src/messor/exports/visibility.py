"""Visibility as rows: one per vertical, week and domain, by the definition of `insight.visibility`.

Weeks begin on Monday, in UTC. A week is recomputed as long as result pages are added to it, and an
increment has every week to which one was added.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.store.listing import DomainText, Filters, Listing, Moment, both_ways, where
from messor.verticals.queries import VerticalText

# Rank and tier weights come from the vertical in force, as the counted classes do.
TABLE = """(
  WITH looks AS (
    SELECT s.id, k.vertical_id, date_trunc('week', s.captured_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS week,
           age(s.xmin) AS age, (t.definition #>> ARRAY['scoring', 'tier_weights', k.tier])::float8
             / count(*) OVER (PARTITION BY s.keyword_id, date_trunc('week', s.captured_at AT TIME ZONE 'UTC'))
             AS share
      FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
      JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
      JOIN messor.verticals t ON t.id = k.vertical_id
     WHERE s.outcome <> 'failed'
  ), whole AS (
    SELECT l.vertical_id, l.week, count(*) AS pages, min(l.age) AS age,
           sum(l.share) * (t.definition #>> '{scoring,rank_weights,0}')::float8 AS greatest
      FROM looks l JOIN messor.verticals t ON t.id = l.vertical_id GROUP BY l.vertical_id, l.week, t.definition
  ), seen AS (
    SELECT l.vertical_id, l.week, r.domain, count(*) AS pages, min(r.rank_position) AS best_rank,
           sum((t.definition #>> ARRAY['scoring', 'rank_weights', (r.rank_position - 1)::text])::float8
               * l.share) AS points
      FROM looks l JOIN messor.verticals t ON t.id = l.vertical_id
      JOIN messor.serp_results r ON r.snapshot_id = l.id AND r.is_best AND r.domain IS NOT NULL
       AND r.block_type IN ('organic', 'local_pack')
       AND r.rank_position <= jsonb_array_length(t.definition #> '{scoring,rank_weights}')
     GROUP BY l.vertical_id, l.week, r.domain
  )
  SELECT s.vertical_id, s.week, s.domain, s.pages, s.best_rank, w.pages AS pages_of_week, w.age, v.name AS vertical,
         s.points / nullif(w.greatest, 0) AS visibility, s.points / nullif(sum(s.points) OVER (
           PARTITION BY s.vertical_id, s.week), 0) AS share_of_voice, o.organisation_id
    FROM seen s JOIN whole w ON w.vertical_id = s.vertical_id AND w.week = s.week
    JOIN messor.verticals v ON v.id = s.vertical_id
    LEFT JOIN messor.domains d ON d.domain = s.domain
    LEFT JOIN messor.domain_classes c ON c.domain = s.domain
    LEFT JOIN messor.organisation_domains o ON o.vertical_id = s.vertical_id AND o.domain = s.domain
   WHERE v.definition -> 'counted_classes' ? coalesce(nullif(d.domain_class, 'unknown'), c.class, 'unknown')
) v"""


@dataclass(frozen=True, slots=True)
class WeeklyVisibility:
    """How visible a domain was in a week."""

    week: datetime
    vertical: str
    domain: str
    visibility: float


class VisibilityFilter(Filters):
    """Filters of weekly visibility."""

    vertical: VerticalText | None = where("v.vertical = {}", "Vertical")
    domain: DomainText | None = where("v.domain = {}", "Domain")
    since: Moment | None = where("v.week >= {}", "Weeks that began since, such as 90d")


VISIBILITY = Listing(
    name="visibility",
    item=WeeklyVisibility,
    filters=VisibilityFilter,
    table=TABLE.removesuffix(" v"),
    alias="v",
    orders=both_ways("week", "v.week", "timestamptz", "Oldest first", "Newest first"),
)
