"""The circuit breaker: when a service is left alone, and for how long."""

from __future__ import annotations

import pytest

from messor.fetch.outcome import Outcome
from messor.fetch.provider import PROVIDER_FAULT
from messor.fetch.services import breaker as breakers
from messor.fetch.services import holds
from messor.fetch.services.breaker import Breaker
from messor.store.database import Database
from simweb.services import Crawl4AIStandIn, Failure
from tests.fetch.conftest import permit
from tests.fetch.service_bench import (
    HOME,
    Clock,
    Make,
    allow,
    bench,
    both,
    crawl4ai,
    firecrawl,
)


def fail(breaker: Breaker, times: int = 1, hold: float = 0.0) -> None:
    for _ in range(times):
        ticket = breaker.admit()
        assert ticket is not None
        ticket.failed("it broke", hold)


def may_ask(breaker: Breaker) -> bool:
    return breaker.available


def test_it_opens_after_five_faults_in_a_row() -> None:
    now = Clock()
    breaker = Breaker(now=now)
    fail(breaker, 4)
    ticket = breaker.admit()
    assert ticket is not None
    ticket.answered()
    fail(breaker, 4)
    assert may_ask(breaker)
    fail(breaker)
    assert not may_ask(breaker)
    assert breaker.admit() is None
    assert breaker.sentence == "it is paused for another 60 s: it broke"


def test_it_waits_twice_as_long_each_time_up_to_an_hour() -> None:
    now = Clock()
    breaker = Breaker(now=now)
    fail(breaker, 5)
    waits = []
    for _ in range(8):
        waits.append(breaker.remaining)
        now.time += breaker.remaining
        fail(breaker)
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    now.time += breaker.remaining
    probe = breaker.admit()
    assert probe is not None
    probe.answered()
    fail(breaker, 5)
    assert breaker.remaining == 60


def test_one_request_finds_out_whether_it_is_back() -> None:
    now = Clock()
    breaker = Breaker(now=now)
    fail(breaker, 5)
    now.time += 60
    probe = breaker.admit()
    assert probe is not None
    assert not may_ask(breaker)
    assert breaker.admit() is None
    probe.give_back()
    assert may_ask(breaker)
    probe = breaker.admit()
    assert probe is not None
    probe.answered()
    assert [breaker.admit() is not None for _ in range(3)] == [True] * 3


def test_requests_under_way_when_it_opens_neither_close_nor_prolong_it() -> None:
    now = Clock()
    breaker = Breaker(now=now)
    tickets = [breaker.admit() for _ in range(8)]
    for ticket in tickets[:6]:
        assert ticket is not None
        ticket.failed("it broke")
    for ticket in tickets[6:]:
        assert ticket is not None
        ticket.answered()
    assert breaker.remaining == 60


def test_a_service_is_left_alone_as_long_as_it_asks() -> None:
    now = Clock()
    breaker = Breaker(now=now)
    fail(breaker, hold=5)
    assert breaker.remaining == 5
    now.time += 5
    fail(breaker, hold=7200)
    assert breaker.remaining == 7200
    now.time += 7200
    fail(breaker, hold=1e9)
    assert breaker.remaining == breakers.MAX_HOLD


@both
async def test_an_open_breaker_answers_at_once_without_the_permit(
    make: Make, database: Database
) -> None:
    kind, standin = make()
    async with bench(kind, standin, database, contract="current") as it:
        standin.failure = Failure.BAD_GATEWAY
        for _ in range(5):
            assert it.service.available
            await it.get()
        assert not it.service.available
        unused = permit()
        fetched = await it.get(allowed=unused)
        assert fetched.error_type == PROVIDER_FAULT
        assert "paused for another 60 s" in (fetched.error or "")
        assert (unused.used_at, fetched.sent_at, fetched.cost) == (0, 0, None)
        assert len(standin.asked) == 5
        it.clock.time += 60
        standin.failure = None
        assert (await it.get()).outcome is Outcome.OK
        assert it.service.available


@both
@pytest.mark.parametrize(
    "failure, seconds",
    [
        (Failure.UNAUTHORIZED, 3600),
        (Failure.NO_CREDITS, 3600),
        (Failure.TOO_MANY, 60),
        (Failure.TOO_MANY_UNTIL, 90),
        (Failure.BUSY, 5),
    ],
)
async def test_some_answers_open_it_at_once(
    make: Make,
    failure: Failure,
    seconds: float,
    database: Database,
) -> None:
    kind, standin = make()
    async with bench(kind, standin, database, contract="current") as it:
        standin.failure = failure
        first = await it.get()
        assert it.service.breaker.remaining == pytest.approx(seconds, abs=2)
        second = await it.get()
        assert first.error is not None
        assert first.error in (second.error or "")
        assert len(standin.asked) == 1


async def test_a_page_that_is_refused_says_nothing_of_the_service(database: Database) -> None:
    kind, standin = firecrawl()
    async with bench(kind, standin, database) as it:
        standin.failure = Failure.FORBIDDEN
        for _ in range(2 * breakers.FAULTS_IN_A_ROW):
            assert (await it.get()).error_type == PROVIDER_FAULT
        assert it.service.available


async def test_one_sites_failing_pages_leave_the_service_to_the_others(database: Database) -> None:
    kind, standin = crawl4ai()
    assert isinstance(standin, Crawl4AIStandIn)
    standin.unrenderable = {"shop.test"}
    async with bench(kind, standin, database, contract="current") as it:
        for number in range(3 * breakers.FAULTS_IN_A_ROW):
            failed = await it.get(f"http://shop.test/{number}")
            assert (failed.error_type, failed.status) == (PROVIDER_FAULT, None)
            assert "failed with 500" in (failed.error or "")
        assert it.service.available
        assert (await it.get("http://other.test/")).outcome is Outcome.OK


async def test_failing_pages_of_many_sites_are_an_outage(database: Database) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database, contract="current") as it:
        standin.failure = Failure.INTERNAL
        for number in range(breakers.FAULTS_IN_A_ROW):
            assert it.service.available
            # Subdomains cost nothing, so they do not count as other sites.
            await it.get(f"http://a{number}.shop{number}.example/")
        assert not it.service.available
        it.clock.time += 60
        await it.get("http://one-more.example/")
        assert it.service.breaker.remaining == 120
        it.clock.time += 120
        standin.failure = None
        assert (await it.get()).outcome is Outcome.OK
        assert it.service.available


async def test_a_service_that_answers_again_is_back_though_it_fails_at_a_page(
    database: Database,
) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database, contract="current") as it:
        standin.failure = Failure.BAD_GATEWAY
        for _ in range(breakers.FAULTS_IN_A_ROW):
            await it.get()
        assert not it.service.available
        it.clock.time += 60
        standin.failure = Failure.INTERNAL
        assert "failed with 500" in ((await it.get()).error or "")
        assert it.service.available


async def test_subdomains_of_one_site_are_one_site(database: Database) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database, contract="current") as it:
        standin.failure = Failure.INTERNAL
        for number in range(2 * breakers.FAULTS_IN_A_ROW):
            await it.get(f"http://a{number}.shop.example/")
        assert it.service.available


async def test_a_service_that_is_not_well_is_left_alone_after_one_sites_pages(
    database: Database,
) -> None:
    kind, standin = crawl4ai()
    assert isinstance(standin, Crawl4AIStandIn)
    standin.unrenderable = {"shop.test"}
    standin.is_well = False
    async with bench(kind, standin, database, contract="current") as it:
        for number in range(breakers.FAULTS_IN_A_ROW):
            await it.get(f"http://shop.test/{number}")
        assert not it.service.available
        assert "answered 503" in (it.service.resting or "")


@both
async def test_haste_without_a_time_is_waited_out_twice_as_long_each_time(
    make: Make, database: Database
) -> None:
    kind, standin = make()
    async with bench(kind, standin, database, contract="current") as it:
        standin.failure = Failure.TOO_MANY
        waits = []
        for _ in range(8):
            before = len(standin.asked)
            await it.get()
            for _ in range(3):
                assert "paused" in ((await it.get()).error or "")
            assert len(standin.asked) == before + 1
            waits.append(round(it.service.breaker.remaining, -1))
            it.clock.time += it.service.breaker.remaining
            await database.fetch("UPDATE messor.provider_holds SET held_until = messor.clock()")
        assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]


@both
async def test_every_worker_waits_when_a_service_asks_one_to(
    make: Make, database: Database
) -> None:
    kind, standin = make()
    async with bench(kind, standin, database, contract="current") as it:
        standin.failure = Failure.TOO_MANY
        await it.get()
        other = kind(it.service._settings, database, allow, breaker=Breaker())
        try:
            unused = permit()
            fetched = await other.fetch(HOME, unused)
            assert "paused for another" in (fetched.error or "")
            assert "slow down" in (fetched.error or "")
            assert unused.used_at == 0
            assert not other.available
        finally:
            await other.close()
        assert len(standin.asked) == 1


async def test_requests_under_way_together_make_no_longer_hold(database: Database) -> None:
    seconds = [await holds.hold(database, "crawl4ai", None, "haste") for _ in range(5)]
    assert all(59 < wait <= 60 for wait in seconds)
    assert await holds.hold(database, "crawl4ai", 90, "haste") == pytest.approx(90, abs=1)
