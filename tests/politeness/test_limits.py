"""Crawl hours and megabytes per day: of a domain, of all together, and for every worker alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.errors import TrafficHaltedError, UsageError
from messor.explain.why import explain
from messor.governance import domain_terms
from messor.politeness import limits, prospects, traffic
from messor.registry import domains
from messor.registry.terms import hours_of
from messor.store.database import Database
from simweb.answers import SimResponse
from tests.crawling import admit, at_work, crawl, later
from tests.held_lanes import claim, lane_row, lease, make_domain, make_lanes
from tests.little_web import LittleWeb, page

NAME = "example.test"
KILOBYTES = 300
DAY = timedelta(days=1)
SPENT = "SELECT count(*) FROM messor.traffic_spent"


async def limit(database: Database, name: str = NAME, **terms: Any) -> None:
    reset = [term for term, value in terms.items() if value is None]
    async with database.transaction() as connection:
        domain = await domains.lock(connection, name)
        given = {term: value for term, value in terms.items() if value is not None}
        await domain_terms.change(connection, domain, actor="tester", reset=reset, **given)


async def limit_all(
    database: Database, hours: str | None = None, megabytes: int | None = None
) -> None:
    async with database.transaction() as connection:
        wanted = limits.understood(hours, "UTC", megabytes)
        await limits.set_limits(connection, wanted, actor="tester")


async def now(database: Database) -> datetime:
    found: datetime = await database.fetchval("SELECT messor.clock()")
    return found


async def hours_later(database: Database, hours: int) -> str:
    """Crawl hours that begin so many hours from now, for an hour."""
    first = ((await now(database)) + timedelta(hours=hours)).hour
    return f"{first}-{(first + 1) % 24}"


@pytest.mark.parametrize(
    "hours, zone, at, opens",
    [
        ("9-17", "UTC", "2026-03-02T10:00", None),
        ("9-17", "UTC", "2026-03-02T17:00", "2026-03-03T09:00"),
        ("9-17", "UTC", "2026-03-02T08:59", "2026-03-02T09:00"),
        ("22-6", "UTC", "2026-03-02T23:00", None),
        ("22-6", "UTC", "2026-03-02T05:59", None),
        ("22-6", "UTC", "2026-03-02T06:00", "2026-03-02T22:00"),
        ("20-24", "UTC", "2026-03-02T23:30", None),
        ("9-17", "Asia/Kolkata", "2026-03-02T03:30", None),
        ("9-17", "Asia/Kolkata", "2026-03-02T03:29", "2026-03-02T03:30"),
        ("9-17", "Europe/Berlin", "2026-03-28T16:00", "2026-03-29T07:00"),  # summer time begins
        ("9-17", "Europe/Berlin", "2026-10-24T15:00", "2026-10-25T08:00"),  # it ends
        (None, "UTC", "2026-03-02T23:30", None),
    ],
)  # fmt: skip
async def test_hours_are_of_the_domains_time_zone(
    database: Database, hours: str | None, zone: str, at: str, opens: str | None
) -> None:
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    found = await database.fetchval("SELECT messor.shut_until($1, $2, $3)", hours, zone, moment)
    assert found == (opens and datetime.fromisoformat(opens).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    "text, usual", [("22-6", "22-6"), (" 09 - 17 ", "9-17"), ("20-24", "20-24")]
)
def test_hours_have_a_usual_form(text: str, usual: str) -> None:
    assert hours_of(text) == usual


@pytest.mark.parametrize("text", ["", "9", "9-9", "0-24", "24-6", "9-25", "nine-ten", "9-17-20"])
def test_wrong_hours_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="two hours of the day"):
        hours_of(text)


async def test_lanes_wait_for_their_hours_without_being_asked_again(database: Database) -> None:
    (host,) = await make_lanes(database, await make_domain(database))
    await make_lanes(database, await make_domain(database, "open.test"), "open.test")
    await limit(database, crawl_hours=await hours_later(database, 2))
    worker = await lease(database)
    assert [lane.policy.domain for lane in await claim(database, worker)] == ["open.test"]
    opens = (await now(database) + timedelta(hours=2)).replace(minute=0, second=0, microsecond=0)
    assert (await lane_row(database, host))["claim_at"] == opens, "no worker looks at it before"


async def test_hours_that_begin_open_the_lane(database: Database, dsn: str) -> None:
    await make_lanes(database, await make_domain(database))
    await limit(database, crawl_hours=await hours_later(database, 2))
    assert await claim(database, await lease(database)) == []
    async with Database(later(dsn, timedelta(hours=2))) as then:
        assert len(await claim(then, await lease(then))) == 1


async def test_wider_hours_apply_at_once(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    await limit(database, crawl_hours=await hours_later(database, 2))
    worker = await lease(database)
    assert await claim(database, worker) == []
    await limit(database, crawl_hours=None)
    assert len(await claim(database, worker)) == 1


async def test_a_visit_ends_when_its_hours_do(database: Database) -> None:
    (host,) = await make_lanes(database, await make_domain(database))
    worker = await lease(database)
    assert len(await claim(database, worker)) == 1
    async with database.transaction() as connection:
        assert (await worker.renew(connection, 1)).closed == []
    await limit(database, crawl_hours=await hours_later(database, 2))
    async with database.transaction() as connection:
        assert (await worker.renew(connection, 2)).closed == [host]


async def test_limits_of_all_hold_every_domain(database: Database) -> None:
    (host,) = await make_lanes(database, await make_domain(database))
    worker = await lease(database)
    held = await claim(database, worker)
    await make_lanes(database, await make_domain(database, "b.test"), "b.test")
    await limit_all(database, hours=await hours_later(database, 2))
    assert held
    assert await claim(database, worker) == []
    async with database.transaction() as connection:
        assert (await worker.renew(connection, 1)).closed == [host]
    with pytest.raises(TrafficHaltedError, match="it goes on at"):
        await traffic.require_running(database)
    assert "Limits on all traffic" in str(await prospects.hindrance(database))
    await limit_all(database)
    assert len(await claim(database, worker)) == 1
    await traffic.require_running(database)


async def test_the_sums_of_all_workers_reach_the_cap(database: Database) -> None:
    domain = await make_domain(database)
    await make_lanes(database, domain, count=2)
    await limit(database, megabytes_per_day=3)
    workers = [await lease(database, "a"), await lease(database, "b")]
    for worker in workers:
        async with database.transaction() as connection:
            await limits.count(connection, worker.id, {domain: 1_400_000})
    assert len(await claim(database, workers[0], 1)) == 1, "2.8 of 3 MB"
    async with database.transaction() as connection:
        await limits.count(connection, workers[1].id, {domain: 200_000})
    assert await claim(database, workers[1]) == []
    midnight = (await now(database)).replace(hour=0, minute=0, second=0, microsecond=0) + DAY
    assert await database.fetchval("SELECT until FROM messor.traffic_spent") == midnight
    await limit(database, megabytes_per_day=3, time_zone="UTC", page_budget=5)
    assert await claim(database, workers[1]) == [], "the same cap stays used up"
    await limit(database, megabytes_per_day=4)
    assert len(await claim(database, workers[1])) == 1, "a higher cap applies at once"


async def test_sums_of_former_days_are_deleted(database: Database) -> None:
    domain = await make_domain(database)
    await limit(database, megabytes_per_day=3)
    async with database.transaction() as connection:
        await limits.count(connection, 1, {domain: 5})
    await database.fetch("UPDATE messor.traffic_days SET day = day - 8")
    async with database.transaction() as connection:
        await limits.count(connection, 1, {domain: 5})
        assert await limits.forget(connection, 100) == 1
        assert await limits.forget(connection, 100) == 0


class Heavy:
    """A site of heavy pages."""

    def __init__(self, web: LittleWeb, database: Database, dsn: str) -> None:
        self.web, self.database, self.dsn = web, database, dsn

    @property
    def megabytes(self) -> float:
        pages = [path for path in self.web.paths("one.test") if path.startswith("/p")]
        return len(pages) * KILOBYTES / 1000


def heavy_page() -> SimResponse:
    body = b"<title>heavy</title><p>" + b"word " * (KILOBYTES * 200)
    return SimResponse(200, (("Content-Type", "text/html"),), body)


@pytest.fixture
async def heavy(dsn: str, tmp_path: Path) -> AsyncIterator[Heavy]:
    names = [f"/p{number}" for number in range(12)]
    rooms = {"/": page("home", *names), **{name: heavy_page() for name in names}}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web, Database(dsn) as database:
        await admit(database, "http://one.test/")
        yield Heavy(web, database, dsn)


async def test_a_cap_ends_the_day_and_the_next_goes_on(heavy: Heavy) -> None:
    await limit(heavy.database, "one.test", megabytes_per_day=1, delay=0.06)
    settings = heavy.web.settings(flush_seconds=0.01)
    await crawl(settings, heavy.database)
    first = heavy.megabytes
    assert 1 <= first < 2.5, "it ends within a few flushes of the cap"
    said = await explain(heavy.database, settings, "http://one.test/p11")
    assert "megabytes of the day are used up; it goes on at" in str(said.facts)
    assert said.verdict == "deferred"
    async with Database(later(heavy.dsn, DAY)) as tomorrow:
        await crawl(settings, tomorrow)
    assert heavy.megabytes > first


async def test_two_workers_share_the_cap_of_all(heavy: Heavy) -> None:
    await limit_all(heavy.database, megabytes=1)
    await limit(heavy.database, "one.test", delay=0.06)
    settings = heavy.web.settings(flush_seconds=0.01)
    async with (
        Database(heavy.dsn) as other,
        at_work(settings, other),
        at_work(settings, heavy.database),
        asyncio.timeout(30),
    ):
        while not await heavy.database.fetchval(SPENT):  # noqa: ASYNC110 - other sessions write it
            await asyncio.sleep(0.05)
    assert 1 <= heavy.megabytes < 2.5
    found = await limits.find(heavy.database)
    assert found is not None
    assert found.bytes_today >= 1_000_000
    assert "megabytes of the day are used up" in str(found.message)


async def test_without_a_cap_nothing_is_added_up(heavy: Heavy) -> None:
    await crawl(heavy.web.settings(), heavy.database)
    assert heavy.megabytes == pytest.approx(3.6)
    assert await heavy.database.fetchval("SELECT count(*) FROM messor.traffic_days") == 0
