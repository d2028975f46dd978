"""Looking through the domains: filters, search, order, and pages of a list, one statement each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.store.database import Connection, Database

MOST = 10_000  # rows that a list can be paged through; a search is quicker

VIEWS = {  # lists that people want often, each a condition of its own
    "all": "true",
    "approved": "d.status = 'approved'",
    "pending": "d.status = 'pending_review' OR d.review_reason IS NOT NULL",
    "suspended": "d.status = 'suspended' OR d.paused",
    "refused": "d.status IN ('rejected', 'blacklisted')",
    "failing": "d.processing = 'processing_failed'",
    "unvisited": "d.status = 'approved' AND h.last_scraped_at IS NULL",
}
ORDERS = {
    "name": "d.domain",
    "newest": "d.created_at DESC, d.domain",
    "scraped": "h.last_scraped_at DESC NULLS LAST, d.domain",
    "pages": "d.pages_known DESC, d.domain",
}

LIST = """
SELECT d.domain, d.status, d.processing, d.submitter_type, d.is_trusted_domain, d.paused,
       d.review_reason, d.pages_known, d.page_budget, d.max_crawl_depth, d.created_at,
       h.last_scraped_at, h.risk, count(*) OVER () AS found
  FROM messor.domains d
  LEFT JOIN (SELECT domain_id, max(last_request_at) AS last_scraped_at,
                    max(messor.risk_at(risk_score, risk_at, n.t)) AS risk
               FROM messor.hosts CROSS JOIN (SELECT messor.clock() AS t) n GROUP BY 1) h
         ON h.domain_id = d.id
 WHERE ({view}) AND ($1::text IS NULL OR strpos(d.domain, $1) > 0)
   AND ($2::text IS NULL OR d.submitter_type = $2) AND (NOT $3 OR d.is_trusted_domain)
 ORDER BY {order} LIMIT $4 OFFSET $5
"""

COUNTS = "SELECT status, count(*)::int AS domains FROM messor.domains GROUP BY 1"


@dataclass(frozen=True, slots=True)
class Listed:
    """One row of the list."""

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
class Look:
    """What somebody wants to see of the domains; what is not known is left out."""

    view: str = "all"
    order: str = "name"
    containing: str | None = None
    submitter_type: str | None = None
    trusted: bool = False


async def look_through(
    source: Connection | Database, look: Look, *, limit: int = 50, offset: int = 0
) -> tuple[list[Listed], int]:
    """A page of the list, and how many there are in all; past the end both are empty."""
    sql = LIST.format(view=VIEWS[look.view], order=ORDERS[look.order])
    rows = await source.fetch(
        sql, look.containing, look.submitter_type, look.trusted, limit, min(offset, MOST)
    )
    listed = [Listed(*tuple(row)[:-1]) for row in rows]
    return listed, rows[0]["found"] if rows else 0


async def counts(source: Connection | Database) -> dict[str, int]:
    """Domains by status."""
    return {row["status"]: row["domains"] for row in await source.fetch(COUNTS)}
