"""Pre-flight reports, stored for the reviewer of a domain.

`crawl.preflight` performs the pre-flight within its limits.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.registry.domains import Domain
from messor.registry.similar import Similar
from messor.store.database import Connection, Database

MOST_REQUESTS = 3

NEWEST = """
SELECT id, requested_by, requested_at, finished_at, requests, report::text AS report
  FROM messor.preflights
 WHERE domain_id = $1 ORDER BY requested_at DESC, id DESC LIMIT 1
"""
FINISH = """
UPDATE messor.preflights p
   SET finished_at = messor.clock(), requests = $2, report = $3::jsonb
 WHERE p.id = $1 AND p.finished_at IS NULL
RETURNING p.domain_id
"""


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """What at most three requests reveal about a site."""

    url: str
    reachable: bool
    message: str  # one sentence for the reviewer
    robots: str | None = None  # rules, allow_all, deny_all
    robots_reason: str | None = None
    robots_allows: bool | None = None  # whether it allows the homepage
    crawl_delay: float | None = None
    status_code: int | None = None
    title: str | None = None
    description: str | None = None
    language: str | None = None
    leads_to: str | None = None  # where the homepage redirects
    leads_out: str | None = None  # the other domain, when it redirects to one
    challenge: str | None = None  # bot protection and its evidence
    login: bool = False
    signals: list[str] = field(default_factory=list)
    sitemap: str | None = None  # its address
    sitemap_urls: int | None = None
    sitemap_sitemaps: int | None = None  # of a sitemap index; their pages are not counted
    https_error: str | None = None  # why http was used
    similar: list[Similar] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Preflight:
    """A requested pre-flight, with its report once performed."""

    id: UUID
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None
    requests: int
    report: PreflightReport | None


async def newest(source: Connection | Database, domain: Domain) -> Preflight | None:
    row = await source.fetchrow(NEWEST, domain.id)
    return None if row is None else Preflight(**{**row, "report": decode(row["report"])})


def decode(report: str | None) -> PreflightReport | None:
    return None if report is None else msgspec.json.decode(report, type=PreflightReport)


async def finish(
    connection: Connection, preflight_id: UUID, report: PreflightReport, requests: int
) -> UUID | None:
    """Store a report; returns its domain, or None if it was already stored."""
    data: dict[str, Any] = asdict(report)
    domain_id: UUID | None = await connection.fetchval(
        FINISH, preflight_id, requests, msgspec.json.encode(data).decode()
    )
    return domain_id
