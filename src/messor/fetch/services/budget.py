"""Monthly budget of a service: reserved before a request, settled after it.

One row per provider and month; a reservation is one statement that succeeds only within the budget,
so concurrent workers never overspend. The same statement reports a hold. Months are those of UTC.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from messor.fetch.services.holds import HeldError
from messor.store.database import Connection, Database

# The condition of ON CONFLICT is evaluated on the locked row, after concurrent reservations.
RESERVE = """
WITH held AS (
  SELECT extract(epoch FROM held_until - messor.clock())::float8 AS seconds, reason
    FROM messor.provider_holds WHERE provider = $1 AND held_until > messor.clock()
), reserved AS (
  INSERT INTO messor.provider_usage AS u (provider, month, requests, cost)
  SELECT $1, date_trunc('month', (SELECT messor.clock()) AT TIME ZONE 'UTC')::date, 1, $2::numeric
   WHERE NOT EXISTS (SELECT FROM held) AND ($3::numeric IS NULL OR $2::numeric <= $3::numeric)
  ON CONFLICT (provider, month) DO UPDATE
     SET requests = u.requests + 1, cost = u.cost + excluded.cost
   WHERE $3::numeric IS NULL OR u.cost + excluded.cost <= $3::numeric
  RETURNING u.month
)
SELECT (SELECT month FROM reserved) AS month, (SELECT seconds FROM held) AS seconds,
       (SELECT reason FROM held) AS reason
"""

SETTLE = """
UPDATE messor.provider_usage
   SET cost = greatest(cost + $3::numeric, 0), requests = greatest(requests + $4::bigint, 0)
 WHERE provider = $1 AND month = $2
"""


async def reserve(
    source: Connection | Database, provider: str, cost: Decimal, budget: Decimal | None
) -> date | None:
    """Reserve a request's cost; returns the month it counts for, or None when the budget is spent.

    Raises HeldError while the service is held.
    """
    row = await source.fetchrow(RESERVE, provider, cost, budget)
    assert row is not None
    if row["seconds"] is not None:
        raise HeldError(row["seconds"], row["reason"])
    month: date | None = row["month"]
    return month


async def refund(database: Database, provider: str, cost: Decimal, month: date) -> None:
    """Return a reservation: the service did no work and charged nothing."""
    await database.fetch(SETTLE, provider, month, -cost, -1)


async def adjust(database: Database, provider: str, difference: Decimal, month: date) -> None:
    """Correct a reservation to the price charged, regardless of the budget."""
    await database.fetch(SETTLE, provider, month, difference, 0)
