"""Reading the log of fetches: of one page, or of a domain, the newest first.

The log has no index by domain, which every fetch would pay for: a domain's fetches are found
through its pages, which its budget bounds.
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
OF_DOMAIN = f"""
SELECT {_COLUMNS}
  FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
  JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.last_fetched_at IS NOT NULL
 CROSS JOIN LATERAL (
   SELECT n.* FROM messor.http_fetches n
    WHERE n.page_id = p.id AND ($2::timestamptz IS NULL OR (n.fetched_at, n.id) < ($2, $3::bigint))
      AND ($4::text IS NULL OR n.outcome = $4)
    ORDER BY n.fetched_at DESC, n.id DESC LIMIT $5) f
 WHERE d.domain = $1
 ORDER BY f.fetched_at DESC, f.id DESC LIMIT $5
"""


@dataclass(frozen=True, slots=True)
class LoggedFetch:
    """One attempt to get a page."""

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
        told = {name: _decode(row[name]) for name in ("error", "detail")}
        return cls(**{**row, **told})


async def of_page(
    source: Connection | Database,
    page_id: int,
    *,
    before: tuple[datetime, int] | None = None,
    outcome: str | None = None,
    limit: int = 50,
) -> list[LoggedFetch]:
    """What was tried of a page; `before` is (fetched_at, id) of the last one seen."""
    since, last = before or (None, None)
    rows = await source.fetch(OF_PAGE, page_id, since, last, outcome, limit)
    return [LoggedFetch.of(row) for row in rows]


async def of_domain(
    source: Connection | Database,
    domain: str,
    *,
    before: tuple[datetime, int] | None = None,
    outcome: str | None = None,
    limit: int = 50,
) -> list[LoggedFetch]:
    """What was tried of a domain's pages."""
    since, last = before or (None, None)
    rows = await source.fetch(OF_DOMAIN, domain, since, last, outcome, limit)
    return [LoggedFetch.of(row) for row in rows]


def _decode(text: str | None) -> dict[str, Any] | None:
    found = None if text is None else msgspec.json.decode(text)
    return found if found is None or isinstance(found, dict) else {"value": found}
