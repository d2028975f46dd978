"""Queries of result pages: the list of them, gaps included, and one page as seen.

A page that failed is a gap: it has a reason, and no results. Nothing is written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.errors import NotFoundError
from messor.scout.keyword_queries import KeywordPart
from messor.scout.keywords import Tier
from messor.scout.serps import Outcome
from messor.store.database import Connection, Database
from messor.store.listing import DomainText, Filters, Listing, Moment, both_ways, where
from messor.verticals.queries import VerticalText, of_vertical
from messor.verticals.verticals import Applied

MAX_RESULTS = 500  # of a page

_COLUMNS = """s.id, s.keyword_id, k.keyword_text AS keyword, v.name AS vertical, p.name AS profile,
  k.tier, s.engine, s.outcome, s.message, s.result_count, s.window_key, s.captured_at"""
_JOINS = """JOIN messor.keywords k ON k.id = s.keyword_id
  JOIN messor.serp_profiles p ON p.id = s.serp_profile_id
  JOIN messor.verticals v ON v.id = k.vertical_id"""
ONE = f"""
SELECT {_COLUMNS}, p.gl, p.hl, p.device, p.location, q.page,
       encode(s.raw_hash, 'hex') AS raw_hash, s.judged_in,
       (SELECT o.id FROM messor.serp_snapshots o
         WHERE o.keyword_id = s.keyword_id AND o.captured_at < s.captured_at
         ORDER BY o.captured_at DESC LIMIT 1) AS earlier,
       (SELECT n.id FROM messor.serp_snapshots n
         WHERE n.keyword_id = s.keyword_id AND n.captured_at > s.captured_at
         ORDER BY n.captured_at LIMIT 1) AS later,
       (SELECT sum(c.cost)::float8 FROM messor.search_spend c WHERE c.request_id = s.request_id) AS cost
  FROM messor.serp_snapshots s {_JOINS}
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
SELECT s.outcome, count(*)::int AS pages FROM messor.serp_snapshots s
 WHERE s.serp_profile_id IN (SELECT id FROM messor.serp_profiles WHERE vertical_id = $1)
   AND s.captured_at >= $2 AND s.captured_at < $3 GROUP BY 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serp:
    """A result page; `failed` is a gap: it has a reason and no results."""

    id: UUID
    keyword_id: UUID
    keyword: str
    vertical: str
    profile: str
    tier: Tier
    engine: str
    outcome: Outcome
    message: str | None
    result_count: int
    window_key: str
    captured_at: datetime

    @property
    def is_gap(self) -> bool:
        return self.outcome == "failed"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SerpDetails(Serp):
    """A result page with its results, block by block."""

    gl: str
    hl: str
    device: str
    location: str
    page: int
    raw_hash: str | None
    judged_in: UUID | None
    earlier: UUID | None  # of the same keyword
    later: UUID | None
    cost: float | None
    results: list[SeenResult]


class SerpFilter(Filters):
    """Filters of result pages."""

    q: KeywordPart | None = where(
        "s.keyword_id IN (SELECT id FROM messor.keywords WHERE strpos(keyword_text, {}) > 0)",
        "Part of the keyword",
    )
    # By profile rather than keyword: a vertical has few profiles and many keywords.
    vertical: VerticalText | None = where(
        f"""s.serp_profile_id IN (
              SELECT x.id FROM messor.serp_profiles x WHERE {of_vertical("x")})""",
        "Vertical",
    )
    keyword_id: UUID | None = where("s.keyword_id = {}", "Keyword", indexed=True)
    outcome: Outcome | None = where("s.outcome = {}", "Outcome")
    profile: str | None = where(
        "s.serp_profile_id IN (SELECT id FROM messor.serp_profiles WHERE name = {})",
        "Profile", max_length=100,
    )  # fmt: skip
    engine: str | None = where("s.engine = {}", "Search engine", max_length=100)
    domain: DomainText | None = where(
        """EXISTS (SELECT FROM messor.serp_results r
                    WHERE r.snapshot_id = s.id AND r.domain = {})""",
        "Domain among the results",
    )
    since: Moment | None = where("s.captured_at >= {}", "Captured since", indexed=True)
    until: Moment | None = where("s.captured_at < {}", "Captured before", indexed=True)


SERPS = Listing(
    name="result pages",
    item=Serp,
    filters=SerpFilter,
    table="messor.serp_snapshots",
    alias="s",
    columns=_COLUMNS,
    joins=_JOINS,
    key_type="uuid",
    orders=both_ways(
        "-captured_at", "s.captured_at", "timestamptz", "Newest first", "Oldest first"
    ),
)  # fmt: skip


async def get(source: Connection | Database, snapshot_id: UUID) -> SerpDetails:
    """A result page with its results; raises if there is none."""
    row = await source.fetchrow(ONE, snapshot_id)
    if row is None:
        raise NotFoundError(f"Unknown result page {snapshot_id}.")
    seen = await source.fetch(RESULTS, snapshot_id, MAX_RESULTS)
    return SerpDetails(**row, results=[SeenResult(**one) for one in seen])


async def tally(
    source: Connection | Database, applied: Applied, since: datetime, until: datetime
) -> dict[str, int]:
    """Pages by outcome in a period."""
    rows = await source.fetch(TALLY, applied.id, since, until)
    return {row["outcome"]: row["pages"] for row in rows}
