"""Which proxy is used, how often, and what it costs: limits, prices, the bill by domain and day."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from messor.core import clock
from messor.fetch.guard import AddressGuard
from messor.fetch.outcome import Fetched
from messor.fetch.proxies import costs, limiter, registry
from messor.fetch.proxies.limiter import ProxyLimiter
from messor.fetch.proxies.pool import ProxyPool
from messor.fetch.proxies.probe import Prober
from messor.fetch.proxies.proxy import Proxy, ProxyError, understand
from messor.fetch.proxies.seal import Seal
from messor.settings import AllowedNetworks, Settings
from messor.store.database import Database
from tests.crawling import later
from tests.held_lanes import make_domain

ONE, OTHER = uuid4(), uuid4()


class Watch:
    """The deadline clock, moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()
    monkeypatch.setattr(clock, "now", lambda: made.now)
    return made


@pytest.fixture
def seal(tmp_path: Path) -> Seal:
    return Seal(tmp_path)


async def add(database: Database, seal: Seal, name: str, cost: str | None = None) -> int:
    endpoint, _ = understand(f"http://{name}.example:1")
    price = None if cost is None else Decimal(cost)
    async with database.transaction() as connection:
        made = await registry.add(
            connection, seal, endpoint, None, actor="tester", cost_per_request=price
        )
    return made.id


async def pool_of(database: Database, seal: Seal, limit: int = 5) -> ProxyPool:
    prober = Prober(AddressGuard(AllowedNetworks()), seconds=30.0)
    pool = ProxyPool(database, seal, prober, ProxyLimiter(limit))
    await pool.refresh()
    return pool


def use(pool: ProxyPool, domain: UUID) -> int | None:
    """Fetch a page of a domain through the proxy that the pool chooses."""
    proxy = pool.pick(domain)
    if proxy is None:
        return None
    pool.note(proxy, domain, Fetched(began_at=clock.now(), sent_at=clock.now()))
    return proxy.id


@pytest.mark.usefixtures("watch")
@pytest.mark.parametrize("limit", [1, 5])
def test_a_domain_gets_so_many_requests_a_second_through_one_proxy(limit: int) -> None:
    counts = ProxyLimiter(limit)
    for _ in range(limit):
        assert counts.can_crawl(ONE, 1)
        counts.count(ONE, 1)
    assert not counts.can_crawl(ONE, 1)
    assert counts.can_crawl(ONE, 2), "another proxy has a limit of its own"
    assert counts.can_crawl(OTHER, 1), "and so has another domain"


def test_a_window_lasts_a_second(watch: Watch) -> None:
    counts = ProxyLimiter(2)
    counts.count(ONE, 1)
    watch.now += 0.5
    counts.count(ONE, 1)
    assert counts.wait(ONE, 1) == 0.5
    watch.now += 0.499
    assert not counts.can_crawl(ONE, 1)
    watch.now += 0.001
    assert counts.can_crawl(ONE, 1)
    counts.count(ONE, 1)
    assert counts.can_crawl(ONE, 1), "a new window begins with it"
    counts.count(ONE, 1)
    assert counts.wait(ONE, 1) == limiter.WINDOW_SECONDS


def test_the_limit_is_one_to_five_requests_a_second() -> None:
    assert Settings().proxy_requests_per_second == limiter.MAX_PER_SECOND == 5
    for wrong in (0, 6):
        with pytest.raises(ValueError, match="proxy_requests_per_second"):
            Settings(proxy_requests_per_second=wrong)


@pytest.mark.usefixtures("watch")
async def test_the_cheapest_is_used_until_its_limit(database: Database, seal: Seal) -> None:
    dear = await add(database, seal, "dear", "0.02")
    cheap = await add(database, seal, "cheap", "0.01")
    free = await add(database, seal, "free")
    pool = await pool_of(database, seal, limit=2)
    assert [use(pool, ONE) for _ in range(7)] == [free, free, cheap, cheap, dear, dear, None]
    assert use(pool, OTHER) == free
    assert pool.free_in(ONE) == limiter.WINDOW_SECONDS
    assert pool.free_in(ONE, [free, cheap, dear]) is None


@pytest.mark.usefixtures("watch")
async def test_equally_cheap_ones_take_turns(database: Database, seal: Seal) -> None:
    a, b = [await add(database, seal, name, "0.01") for name in ("a", "b")]
    await add(database, seal, "dear", "0.02")
    pool = await pool_of(database, seal)
    assert [use(pool, ONE) for _ in range(4)] == [a, b, a, b]


@pytest.mark.usefixtures("watch")
async def test_a_healthy_one_comes_before_a_cheap_one(database: Database, seal: Seal) -> None:
    cheap = await add(database, seal, "cheap")
    dear = await add(database, seal, "dear", "0.02")
    pool = await pool_of(database, seal)
    proxy = pool.pick(ONE)
    assert isinstance(proxy, Proxy)
    assert proxy.id == cheap
    pool.failed(proxy, ONE, ProxyError("it hung up"))
    assert use(pool, ONE) == dear


async def test_a_proxy_that_failed_rests_for_five_seconds_then_twice_as_long(
    database: Database, seal: Seal, watch: Watch
) -> None:
    cheap = await add(database, seal, "cheap")
    dear = await add(database, seal, "dear", "0.02")
    pool = await pool_of(database, seal)
    for rest in (5.0, 10.0):
        proxy = pool.pick(ONE)
        assert proxy is not None
        assert proxy.id == cheap
        pool.failed(proxy, ONE, ProxyError("it hung up"))
        watch.now += rest - 0.1
        assert use(pool, ONE) == dear
        watch.now += 0.1
    assert use(pool, ONE) == cheap


async def test_the_bill_is_by_day_domain_and_proxy(
    database: Database, dsn: str, seal: Seal
) -> None:
    names = {await make_domain(database, name): name for name in ("one.test", "two.test")}
    one, two = names
    cheap, dear = (
        await add(database, seal, "cheap", "0.01"),
        await add(database, seal, "dear", "0.02"),
    )
    for day in (2, 0):
        async with Database(later(dsn, -timedelta(days=day))) as then:
            pool = await pool_of(then, seal, limit=2)
            assert [use(pool, one) for _ in range(3)] == [cheap, cheap, dear]
            assert use(pool, two) == cheap
            await pool.write()
    found = await costs.by_day(database)
    today = found[0].day
    bill = [((today - each.day).days, each.domain, each.requests, each.cost) for each in found]
    cent = Decimal("0.01")
    a_day = [("one.test", 2, 2 * cent), ("one.test", 1, 2 * cent), ("two.test", 1, cent)]
    assert bill == [(day, *row) for day in (0, 2) for row in a_day]
    assert found[0].proxy == "http://cheap.example:1"
    assert len(await costs.by_day(database, days=2)) == 3, "two days ago is out of two days"
    assert len(await costs.by_day(database, days=3)) == 6
    assert {each.domain for each in await costs.by_day(database, domain="two.test")} == {"two.test"}
