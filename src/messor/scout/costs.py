"""Search costs, summed from the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from messor.store.database import Database

BY_MONTH = """
SELECT month, engine, count(*) AS asked, count(*) FILTER (WHERE state = 'answered') AS answered,
       count(*) FILTER (WHERE state = 'refused') AS refused,
       count(*) FILTER (WHERE state IN ('lost', 'asked')) AS lost, sum(cost) AS cost
  FROM messor.search_spend GROUP BY month, engine ORDER BY month DESC, engine LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class MonthlySpend:
    """One engine in one month; `lost` counts searches without a response."""

    month: date
    engine: str
    asked: int
    answered: int
    refused: int
    lost: int
    cost: Decimal


async def by_month(database: Database, limit: int = 200) -> list[MonthlySpend]:
    return [MonthlySpend(**row) for row in await database.fetch(BY_MONTH, limit)]
