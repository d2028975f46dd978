"""What proxies cost: requests and cost by day, domain and proxy, newest day first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from messor.store.database import Connection, Database

MAX_DAYS = 366
MAX_ROWS = 10_000
DEFAULT_DAYS = 30

# Today counts as the first day. A removed proxy or domain keeps its counts.
COSTS = """
SELECT (r.window_start AT TIME ZONE 'UTC')::date AS day, d.domain, r.proxy_id,
       p.proxy_protocol || '://' || p.proxy_url || ':' || p.proxy_port AS proxy,
       sum(r.requests)::bigint AS requests, sum(r.cost) AS cost
  FROM messor.proxy_requests r LEFT JOIN messor.domains d ON d.id = r.domain_id
  LEFT JOIN messor.proxies p ON p.id = r.proxy_id
 WHERE r.window_start >= date_trunc('day', (SELECT messor.clock()), 'UTC') - make_interval(days => $1 - 1)
   AND ($2::text IS NULL OR d.domain = $2)
 GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, cost DESC, d.domain, r.proxy_id LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class ProxyCost:
    """Requests to a domain through a proxy on one day (UTC), and what they cost."""

    day: date
    domain: str | None  # None if it was erased
    proxy_id: int
    proxy: str | None  # None if it was removed
    requests: int
    cost: Decimal


async def by_day(
    source: Connection | Database, days: int = DEFAULT_DAYS, domain: str | None = None
) -> list[ProxyCost]:
    """Costs of the last days, today included; optionally of one domain."""
    rows = await source.fetch(COSTS, min(max(days, 1), MAX_DAYS), domain, MAX_ROWS)
    return [ProxyCost(**row) for row in rows]
