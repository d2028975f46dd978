"""The domain list of the console: filters, search, order and pages, one statement each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.store.database import Connection, Database

MOST = 10_000  # maximum rows of a paged list; a search is faster beyond

VIEWS = {  # frequent lists, each a condition
    "all": "true",
    "approved": "d.status = 'approved'",
    "pending": "d.status = 'pending_review' OR d.review_reason IS NOT NULL",
    "suspended": "d.status = 'suspended' OR d.paused",
    "refused": "d.status IN ('rejected', 'blacklisted')",
    "failing": "d.processing = 'processing_failed'",
    "unvisited": "d.status = 'approved' AND s.last_scraped_at IS NULL",
}
ORDERS = {
    "name": "d.domain",
    "newest": "d.created_at DESC, d.domain",
    "scraped": "s.last_scraped_at DESC NULLS LAST, d.domain",
    "pages": "d.pages_known DESC, d.domain",
}

# All hosts are joined only where the order or view needs it.
SCRAPED = """
  LEFT JOIN (SELECT domain_id, max(last_request_at) AS last_scraped_at FROM messor.hosts GROUP BY 1) s
         ON s.domain_id = d.id
"""

LIST = """
WITH chosen AS (
  SELECT d.*, count(*) OVER () AS found, row_number() OVER (ORDER BY {order}) AS place
    FROM messor.domains d {scraped}
   WHERE ({view}) AND ($1::text IS NULL OR strpos(d.domain, $1) > 0)
     AND ($2::text IS NULL OR d.submitter_type = $2) AND (NOT $3 OR d.is_trusted_domain)
   ORDER BY place LIMIT $4 OFFSET $5
)
SELECT c.id, c.domain, c.status, c.processing, c.submitter_type, c.is_trusted_domain, c.paused,
       c.review_reason, c.pages_known, c.page_budget, c.max_crawl_depth, c.created_at,
       h.last_scraped_at, h.risk, c.found
  FROM chosen c
 CROSS JOIN LATERAL (
   SELECT max(last_request_at) AS last_scraped_at,
          max(messor.risk_at(risk_score, risk_at, (SELECT messor.clock()))) AS risk
     FROM messor.hosts WHERE domain_id = c.id) h
 ORDER BY c.place
"""

COUNTS = "SELECT status, count(*)::int AS domains FROM messor.domains GROUP BY 1"


@dataclass(frozen=True, slots=True)
class Listed:
    """One row of the list."""

    id: UUID
    domain: str
    status: str
    processing: str
    submitter_type: str
    is_trusted_domain: bool
    paused: bool
    review_reason: str | None
    pages_known: int
    page_budget: int
    max_crawl_depth: int
    created_at: datetime
    last_scraped_at: datetime | None
    risk: float | None  # of its riskiest host


@dataclass(frozen=True, slots=True)
class DomainView:
    """Filters of the domain list; unknown values are ignored."""

    view: str = "all"
    order: str = "name"
    containing: str | None = None
    submitter_type: str | None = None
    trusted: bool = False


async def look_through(
    source: Connection | Database, look: DomainView, *, limit: int = 50, offset: int = 0
) -> tuple[list[Listed], int]:
    """A page of the list and the total; past the end both are empty."""
    view, order = VIEWS[look.view], ORDERS[look.order]
    scraped = SCRAPED if "s.last_scraped_at" in view + order else ""
    sql = LIST.format(view=view, order=order, scraped=scraped)
    rows = await source.fetch(
        sql, look.containing, look.submitter_type, look.trusted, limit, min(offset, MOST)
    )
    listed = [Listed(*tuple(row)[:-1]) for row in rows]
    return listed, rows[0]["found"] if rows else 0


async def counts(source: Connection | Database) -> dict[str, int]:
    """Number of domains by status."""
    return {row["status"]: row["domains"] for row in await source.fetch(COUNTS)}
