"""The monthly budget of a service: never more than was allowed, whoever spends it."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from messor.fetch.outcome import Outcome
from messor.fetch.provider import PROVIDER_FAULT
from messor.fetch.services import budget
from messor.fetch.services.firecrawl import Firecrawl
from messor.fetch.services.service import credits_for
from messor.store.database import Database
from simweb.services import FirecrawlStandIn
from tests.fetch.conftest import permit
from tests.fetch.service_bench import (
    BROWSER,
    KEY,
    bench,
    crawl4ai,
    firecrawl,
)


async def test_fifty_at_once_never_spend_more_than_the_budget(dsn: str) -> None:
    async with Database(dsn, pool_size=10) as database:
        cost, limit = Decimal("0.01"), Decimal("0.20")
        months = await asyncio.gather(
            *(budget.reserve(database, "firecrawl", cost, limit) for _ in range(50))
        )
        assert sum(month is not None for month in months) == 20
        row = await database.fetchrow("SELECT requests, cost FROM messor.provider_usage")
        assert row is not None
        assert (row["requests"], row["cost"]) == (20, limit)


async def test_a_refund_makes_room_again(database: Database) -> None:
    one = Decimal(1)
    month = await budget.reserve(database, "firecrawl", one, one)
    assert month is not None
    assert await budget.reserve(database, "firecrawl", one, one) is None
    assert await budget.reserve(database, "crawl4ai", one, one) is not None
    await budget.refund(database, "firecrawl", one, month)
    assert await budget.reserve(database, "firecrawl", one, one) is not None
    assert await budget.reserve(database, "firecrawl", one, None) is not None
    assert await budget.reserve(database, "firecrawl", Decimal(2), one) is None


async def test_a_new_month_has_a_new_budget(database: Database) -> None:
    one = Decimal(1)
    month = await budget.reserve(database, "firecrawl", one, one)
    assert month is not None
    assert month.day == 1
    async with database.connection() as connection:
        await connection.execute("SET messor.clock_offset = '32 days'")
        found = await connection.fetchval(budget.RESERVE, "firecrawl", one, one)
    assert found > month
    await budget.refund(database, "firecrawl", one, month)
    costs = await database.fetch("SELECT cost FROM messor.provider_usage ORDER BY month")
    assert [row["cost"] for row in costs] == [0, 1]


async def test_a_spent_budget_asks_nobody(database: Database) -> None:
    kind, standin = firecrawl()
    async with bench(kind, standin, database, monthly_budget=Decimal("0.0025")) as it:
        assert [(await it.get()).outcome for _ in range(2)] == [Outcome.OK, Outcome.OK]
        unused = permit()
        fetched = await it.get(allowed=unused)
        assert fetched.error_type == PROVIDER_FAULT
        assert "budget of 0.0025" in (fetched.error or "")
        assert unused.used_at == 0
        assert len(standin.asked) == 2
        assert it.service.breaker.available


async def test_credits_used_are_what_counts(database: Database) -> None:
    standin = FirecrawlStandIn(BROWSER, api_key=KEY)
    async with bench(Firecrawl, standin, database) as it:
        standin.credits_per_page = 5
        assert (await it.get()).cost == Decimal("0.005")
        assert await it.usage() == (1, Decimal("0.005"))


@pytest.mark.parametrize("said", [-3, 10**30, True, "many", None, [], 1e300, float("nan")])
def test_credits_that_make_no_sense_count_as_one(said: Any) -> None:
    assert credits_for(said) == 1


def test_credits_that_make_sense() -> None:
    assert [credits_for(said) for said in (0, 1, 5, 2.0)] == [0, 1, 5, 2]


async def test_a_budget_that_cannot_be_read_asks_nobody(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object) -> None:
        raise ConnectionResetError

    kind, standin = firecrawl()
    async with bench(kind, standin, database) as it:
        monkeypatch.setattr(budget, "reserve", lost)
        fetched = await it.get()
        assert fetched.error_type == PROVIDER_FAULT
        assert "cannot be read" in (fetched.error or "")
        assert standin.asked == []


async def test_a_service_without_a_price_is_free_and_counted(database: Database) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database, cost=Decimal(0)) as it:
        assert not it.service.paid
        assert (await it.get()).cost == 0
        assert await it.usage() == (1, Decimal(0))
    async with bench(kind, crawl4ai()[1], database) as it:
        assert it.service.paid
