"""What a service may cost in a month: reserved before it is asked, settled when it has answered.

One row per provider and month; a reservation is one statement that succeeds only within the
budget, so many workers never spend more together. Months are those of UTC.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from messor.store.database import Database

# The condition of ON CONFLICT is judged on the locked row, after whoever was before us.
RESERVE = """
INSERT INTO messor.provider_usage AS u (provider, month, requests, cost)
SELECT $1, date_trunc('month', (SELECT messor.clock()) AT TIME ZONE 'UTC')::date, 1, $2::numeric
 WHERE $3::numeric IS NULL OR $2::numeric <= $3::numeric
ON CONFLICT (provider, month) DO UPDATE
   SET requests = u.requests + 1, cost = u.cost + excluded.cost
 WHERE $3::numeric IS NULL OR u.cost + excluded.cost <= $3::numeric
RETURNING u.month
"""

SETTLE = """
UPDATE messor.provider_usage
   SET cost = greatest(cost + $3::numeric, 0), requests = greatest(requests + $4::bigint, 0)
 WHERE provider = $1 AND month = $2
"""


async def reserve(
    database: Database, provider: str, cost: Decimal, budget: Decimal | None
) -> date | None:
    """Set a request's cost aside; the month it counts for, or None when the budget is spent."""
    month: date | None = await database.fetchval(RESERVE, provider, cost, budget)
    return month


async def refund(database: Database, provider: str, cost: Decimal, month: date) -> None:
    """The service did no work and counted none."""
    await database.fetch(SETTLE, provider, month, -cost, -1)


async def adjust(database: Database, provider: str, difference: Decimal, month: date) -> None:
    """The service charged another price than was set aside, whatever the budget says now."""
    await database.fetch(SETTLE, provider, month, difference, 0)
