"""Rolled-up counts say what the log says, whenever they are asked and however often they are made."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from messor.fetch import rollups
from messor.ops import domain_figures, overview
from messor.registry.domains import Domain
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import admit, later

# Every seven minutes for three days back, and some in the last minutes.
LOG = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, duration_ms,
                                 waited_ms, rule, policy_version)
SELECT messor.clock() - make_interval(mins => n * 7, secs => 20), $1, t.host_id, 1,
       CASE WHEN n % 5 = 0 THEN 'blocked' ELSE 'ok' END, 1, 0, 'approved', 1
  FROM generate_series(0, 600) n CROSS JOIN messor.crawl_tasks t WHERE t.page_id = $1
"""


async def _site(database: Database, name: str = "shop.example") -> Domain:
    domain = await admit(database, name)
    page = await seeding.add_page(database, domain, f"https://{name}/a")
    await database.fetch(LOG, page)
    return domain


async def _charts(database: Database, domain: Domain) -> tuple[object, object, object]:
    days = await domain_figures.outcomes(database, domain.id)
    rates = await overview.rates(database)
    counted = Counter({(one.day, one.outcome): one.fetches for one in days})
    return counted, rates.by_outcome, rates.total


async def _roll_all(database: Database) -> None:
    more = True
    while more:
        async with database.transaction() as connection:
            more = await rollups.roll_up(connection)


async def test_charts_are_the_same_before_and_after(database: Database) -> None:
    domain, other = await _site(database), await _site(database, "other.example")
    before = [await _charts(database, one) for one in (domain, other)]
    await _roll_all(database)
    assert await database.fetchval("SELECT sum(fetches) FROM messor.fetch_days") > 1_000
    assert [await _charts(database, one) for one in (domain, other)] == before
    await _roll_all(database)  # nothing is counted twice
    assert [await _charts(database, one) for one in (domain, other)] == before


async def test_what_comes_later_is_counted_once(database: Database, dsn: str) -> None:
    domain = await _site(database)
    await _roll_all(database)
    page = await database.fetchval("SELECT max(id) FROM messor.pages WHERE depth = 1")
    await seeding.add_page(database, domain, "https://shop.example/b")
    assert page is not None
    async with Database(later(dsn, timedelta(hours=3))) as tomorrow:
        await _roll_all(tomorrow)
        raw = await tomorrow.fetchval(
            "SELECT count(*) FROM messor.http_fetches WHERE fetched_at > messor.clock() - interval '29 days'"
        )
        days = await domain_figures.outcomes(tomorrow, domain.id)
    assert sum(one.fetches for one in days) == raw


async def test_old_counts_go(database: Database, dsn: str) -> None:
    await _site(database)
    await _roll_all(database)
    async with Database(later(dsn, timedelta(days=200))) as much_later:
        await _roll_all(much_later)
        assert await much_later.fetchval("SELECT count(*) FROM messor.fetch_days") == 0
        assert await much_later.fetchval("SELECT count(*) FROM messor.fetch_minutes") == 0
