"""The log of fetches of a page or a domain, newest first.

A domain's fetches are found through its hosts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from messor.store.database import Connection, Database

_COLUMNS = """f.id, f.fetched_at, f.page_id, p.url, f.outcome, f.status_code, f.size,
  f.duration_ms, f.waited_ms, f.delay_ms, f.fetch_provider, f.provider_cost, f.quality_gate_failed,
  f.rule, f.policy_version, f.robots_id, f.final_url, f.proxy_id,
  f.error_json::text AS error, f.detail::text AS detail"""

OF_PAGE = f"""
SELECT {_COLUMNS} FROM messor.http_fetches f LEFT JOIN messor.pages p ON p.id = f.page_id
 WHERE f.page_id = $1 AND ($2::timestamptz IS NULL OR (f.fetched_at, f.id) < ($2, $3::bigint))
   AND ($4::text IS NULL OR f.outcome = $4)
 ORDER BY f.fetched_at DESC, f.id DESC LIMIT $5
"""
# $5 rows are returned and $6 scanned, an equal share per host: that bounds the search for a rare
# outcome. A host with more rows to scan ends the scan for all.
OF_DOMAIN = f"""
WITH hosts AS MATERIALIZED (
  SELECT h.id, greatest($6::bigint / count(*) OVER (), $5::bigint + 1) AS most
    FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id WHERE d.domain = $1
), looked AS MATERIALIZED (
  SELECT h.most, f.* FROM hosts h CROSS JOIN LATERAL (
    SELECT n.* FROM messor.http_fetches n
     WHERE n.host_id = h.id AND n.fetched_at <= coalesce($2::timestamptz, 'infinity')
       AND ($2 IS NULL OR (n.fetched_at, n.id) < ($2, $3::bigint))
     ORDER BY n.fetched_at DESC LIMIT h.most) f
), edge AS MATERIALIZED (
  SELECT max(e.oldest) AS at FROM (
    SELECT min(l.fetched_at) AS oldest FROM looked l GROUP BY l.host_id, l.most
    HAVING count(*) >= l.most) e
)
SELECT {_COLUMNS}, (SELECT at FROM edge) AS edge
  FROM (SELECT 1) once LEFT JOIN (
    SELECT l.* FROM looked l
     WHERE ($4::text IS NULL OR l.outcome = $4)
       AND l.fetched_at > coalesce((SELECT at FROM edge), '-infinity')
     ORDER BY l.fetched_at DESC, l.id DESC LIMIT $5) f ON true
  LEFT JOIN messor.pages p ON p.id = f.page_id
 ORDER BY f.fetched_at DESC, f.id DESC
"""

SCAN_LIMIT = 3_000  # fetches scanned per query
LAST_ID = 2**63 - 1

Place = tuple[datetime, int]


@dataclass(frozen=True, slots=True)
class LoggedFetch:
    """One attempt to fetch a page."""

    id: int
    fetched_at: datetime
    page_id: int
    url: str | None  # None when the page was erased
    outcome: str
    status_code: int | None
    size: int | None
    duration_ms: int
    waited_ms: int
    delay_ms: int | None
    fetch_provider: str
    provider_cost: Decimal | None
    quality_gate_failed: str | None
    rule: str
    policy_version: int
    robots_id: int | None
    final_url: str | None
    proxy_id: int | None
    error: dict[str, Any] | None
    detail: dict[str, Any] | None

    @classmethod
    def of(cls, row: Any) -> LoggedFetch:
        decoded = {name: _decode(row[name]) for name in ("error", "detail")}
        return cls(**{**row, **decoded})


async def of_page(
    source: Connection | Database,
    page_id: int,
    *,
    before: Place | None = None,
    outcome: str | None = None,
    limit: int = 50,
) -> list[LoggedFetch]:
    """Fetches of a page; `before` is (fetched_at, id) of the last one seen."""
    since, last = before or (None, None)
    rows = await source.fetch(OF_PAGE, page_id, since, last, outcome, limit)
    return [LoggedFetch.of(row) for row in rows]


@dataclass(frozen=True, slots=True)
class FetchSlice:
    """Matching fetches, and where the next slice begins; None at the end of the log."""

    fetches: list[LoggedFetch]
    reached: Place | None


async def of_domain(
    source: Connection | Database,
    domain: str,
    *,
    before: Place | None = None,
    outcome: str | None = None,
    limit: int = 50,
    scan_limit: int = SCAN_LIMIT,
) -> FetchSlice:
    """Fetches of a domain's pages."""
    since, last = before or (None, None)
    scan = scan_limit if outcome is not None else 0
    rows = await source.fetch(OF_DOMAIN, domain, since, last, outcome, limit + 1, scan)
    edge: datetime | None = rows[0]["edge"]
    found = [LoggedFetch.of(_without_edge(row)) for row in rows if row["id"] is not None]
    if len(found) > limit:
        return FetchSlice(found[:limit], (found[limit - 1].fetched_at, found[limit - 1].id))
    return FetchSlice(found, None if edge is None else (edge, LAST_ID))


def _without_edge(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "edge"}


def _decode(text: str | None) -> dict[str, Any] | None:
    found = None if text is None else msgspec.json.decode(text)
    return found if found is None or isinstance(found, dict) else {"value": found}
