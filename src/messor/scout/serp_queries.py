"""Queries of result pages: the list of them, gaps included, and one page as seen.

A page that failed is a gap: it has a reason, and no results. Nothing is written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.errors import NotFoundError
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied

OUTCOMES = ("ok", "partial", "failed")
Before = tuple[datetime, UUID]

_PAGE = """s.id, s.keyword_id, k.keyword_text AS keyword, p.name AS profile, k.tier, s.engine,
  s.outcome, s.said, s.result_count, s.window_key, s.captured_at"""
PAGES = f"""
SELECT {_PAGE}
  FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
  JOIN messor.serp_profiles p ON p.id = s.serp_profile_id
 WHERE k.vertical_id = $1 AND ($2::text IS NULL OR s.outcome = $2)
   AND ($3::uuid IS NULL OR s.keyword_id = $3)
   AND ($4::text IS NULL OR strpos(k.keyword_text, $4) > 0)
   AND ($5::timestamptz IS NULL OR (s.captured_at, s.id) < ($5, $6))
 ORDER BY s.captured_at DESC, s.id DESC LIMIT $7
"""
ONE = f"""
SELECT {_PAGE}, v.name AS vertical, p.gl, p.hl, p.device, p.location, q.page, s.raw_hash, s.judged_in,
       (SELECT o.id FROM messor.serp_snapshots o
         WHERE o.keyword_id = s.keyword_id AND o.captured_at < s.captured_at
         ORDER BY o.captured_at DESC LIMIT 1) AS earlier,
       (SELECT n.id FROM messor.serp_snapshots n
         WHERE n.keyword_id = s.keyword_id AND n.captured_at > s.captured_at
         ORDER BY n.captured_at LIMIT 1) AS later,
       (SELECT sum(c.cost)::float8 FROM messor.search_spend c WHERE c.request_id = s.request_id) AS cost
  FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
  JOIN messor.serp_profiles p ON p.id = s.serp_profile_id
  JOIN messor.verticals v ON v.id = k.vertical_id
  JOIN messor.search_requests q ON q.id = s.request_id
 WHERE s.id = $1
"""
RESULTS = """
SELECT r.rank_position AS rank, r.block_type AS block, r.domain, r.url, r.title, r.snippet,
       r.published_at, d.status, o.name AS organisation
  FROM messor.serp_results r JOIN messor.serp_snapshots s ON s.id = r.snapshot_id
  JOIN messor.keywords k ON k.id = s.keyword_id
  LEFT JOIN messor.domains d ON d.domain = r.domain
  LEFT JOIN messor.organisation_domains w ON w.vertical_id = k.vertical_id AND w.domain = r.domain
  LEFT JOIN messor.organisations o ON o.id = w.organisation_id
 WHERE r.snapshot_id = $1 ORDER BY r.block_type, r.rank_position LIMIT $2
"""
TALLY = """
SELECT s.outcome, count(*)::int AS pages
  FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
 WHERE k.vertical_id = $1 AND s.captured_at >= $2 AND s.captured_at < $3 GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class SerpRow:
    """A result page in a list; `failed` is a gap."""

    id: UUID
    keyword_id: UUID
    keyword: str
    profile: str
    tier: str
    engine: str
    outcome: str
    said: str | None
    result_count: int
    window_key: str
    captured_at: datetime

    @property
    def is_gap(self) -> bool:
        return self.outcome == "failed"


@dataclass(frozen=True, slots=True)
class SerpFacts(SerpRow):
    """Everything known of one, except its results."""

    vertical: str
    gl: str
    hl: str
    device: str
    location: str
    page: int
    raw_hash: bytes | None
    judged_in: UUID | None
    earlier: UUID | None  # of the same keyword
    later: UUID | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class SeenResult:
    """One result, with what is known of its domain today."""

    rank: int
    block: str
    domain: str | None
    url: str | None
    title: str | None
    snippet: str | None
    published_at: datetime | None
    status: str | None
    organisation: str | None


async def pages(
    source: Connection | Database,
    applied: Applied,
    *,
    outcome: str | None = None,
    keyword_id: UUID | None = None,
    containing: str | None = None,
    before: Before | None = None,
    limit: int = 50,
) -> list[SerpRow]:
    """Result pages and gaps, newest first."""
    rows = await source.fetch(
        PAGES, applied.id, outcome, keyword_id, containing, *(before or (None, None)), limit
    )
    return [SerpRow(**row) for row in rows]


async def get(source: Connection | Database, snapshot_id: UUID) -> SerpFacts:
    row = await source.fetchrow(ONE, snapshot_id)
    if row is None:
        raise NotFoundError(f"Unknown result page {snapshot_id}.")
    return SerpFacts(**row)


async def results(
    source: Connection | Database, snapshot_id: UUID, limit: int = 500
) -> list[SeenResult]:
    """The results of a page, block by block."""
    return [SeenResult(**row) for row in await source.fetch(RESULTS, snapshot_id, limit)]


async def tally(
    source: Connection | Database, applied: Applied, since: datetime, until: datetime
) -> dict[str, int]:
    """Pages by outcome in a period."""
    rows = await source.fetch(TALLY, applied.id, since, until)
    return {row["outcome"]: row["pages"] for row in rows}
