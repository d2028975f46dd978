"""Whom a service is asked about, where, and with what leave: guard, origin, permit."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from messor.core import clock
from messor.errors import LeaseLostError
from messor.fetch.guard import AddressGuard
from messor.fetch.outcome import Outcome
from messor.fetch.provider import PROVIDER_FAULT
from messor.fetch.services import breaker as breakers
from messor.fetch.services.crawl4ai import Crawl4AI
from messor.fetch.services.endpoint import ServiceEndpoint
from messor.fetch.services.faults import ProviderFaultError
from messor.fetch.services.firecrawl import Firecrawl
from messor.fetch.services.options import ServiceSettings
from messor.fetch.services.service import RemoteProvider
from messor.fetch.services.target import TargetCheck
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import Pace, Permit
from messor.settings import AllowedNetworks
from messor.store.database import Database
from simweb.services import Crawl4AIStandIn, Failure, FirecrawlStandIn, StandIn
from simweb.services.render import Rendered
from tests.fetch.conftest import permit
from tests.fetch.service_bench import (
    Make,
    bench,
    both,
    firecrawl,
)


async def test_an_address_of_another_origin_is_refused() -> None:
    endpoint = ServiceEndpoint("Firecrawl", ServiceSettings("http://127.0.0.1:3002/base"))
    try:
        assert str(endpoint.url_of("v2/scrape")) == "http://127.0.0.1:3002/base/v2/scrape"
        for other in ("http://127.0.0.1:3003/x", "https://127.0.0.1:3002/x", "http://evil.test/x"):
            with pytest.raises(ProviderFaultError, match="only"):
                endpoint.url_of(other)
    finally:
        await endpoint.close()


async def test_the_environments_proxy_is_not_used(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    kind, standin = firecrawl()
    async with bench(kind, standin, database) as it:
        assert (await it.get()).outcome is Outcome.OK


INTERNAL = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://10.0.0.8:8080/",
    "http://printer.local/",
    "http://inside.example.com/",  # a public name with an internal address
    "file:///etc/passwd",
    "ftp://shop.test/",
    "http://",
]


@both
async def test_an_internal_page_is_never_handed_over(
    make: Make,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, standin = make()
    check = TargetCheck(AddressGuard(AllowedNetworks()))

    class Dns:
        async def resolve(self, host: str, port: int, family: int) -> list[dict[str, Any]]:
            return [{"host": "93.184.215.14"}, {"host": "10.1.2.3"}]

        async def close(self) -> None: ...

    monkeypatch.setattr(check._resolver, "_dns", Dns())
    async with bench(kind, standin, database, check) as it:
        for href in INTERNAL:
            unused = permit()
            fetched = await it.get(href, unused)
            assert fetched.outcome is Outcome.REFUSED_ADDRESS, href
            assert fetched.error
            assert unused.used_at == 0
        assert standin.asked == []
        assert await it.usage() == (0, Decimal(0))


async def test_a_name_without_address_is_not_handed_over(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, standin = firecrawl()

    async def check(_: str) -> str | None:
        raise OSError("no such name")

    async with bench(kind, standin, database, check) as it:
        fetched = await it.get("http://gone.example.com/")
        assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "dns")
        assert standin.asked == []


async def test_a_page_of_the_web_passes_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"shop.test:80": "127.0.0.1:18080"}
    check = TargetCheck(AddressGuard(AllowedNetworks(addresses=["127.0.0.0/8"], names=names)))
    assert await check("http://shop.test/") is None
    assert await check("http://93.184.215.14/") is None
    await check.close()


async def test_the_next_request_waits_for_the_end_of_the_services_work(database: Database) -> None:
    pace = Pace(30.0, 0.0, WorkerLease(1, 60.0, clock.now()))
    during: list[float] = []

    async def render(href: str) -> Rendered:
        during.append(pace.due)
        return Rendered(href, html="<p>Bread</p>")

    pairs: list[tuple[type[RemoteProvider], StandIn]] = [
        (Crawl4AI, Crawl4AIStandIn(render)),
        (Firecrawl, FirecrawlStandIn(render)),
    ]
    for kind, standin in pairs:
        async with bench(kind, standin, database) as it:
            used = Permit(pace)
            await it.get(allowed=used)
            assert used.used_at > 0
            assert during.pop() < pace.due  # counted from the end, not from when it was asked


@both
async def test_a_redirect_of_the_service_is_not_followed(make: Make, database: Database) -> None:
    kind, standin = make()
    async with make()[1] as other, bench(kind, standin, database, contract="current") as it:
        standin.failure = Failure.REDIRECT
        path = "/crawl" if kind is Crawl4AI else "/v2/scrape"
        standin.elsewhere = other.base_url + path
        fetched = await it.get()
        assert fetched.error_type == PROVIDER_FAULT
        assert other.asked == []


@both
async def test_a_lost_lease_asks_nobody(make: Make, database: Database) -> None:
    kind, standin = make()
    late = Permit(Pace(0.0, 0.0, WorkerLease(1, 0.0, clock.now())))
    async with bench(kind, standin, database) as it:
        with pytest.raises(LeaseLostError):
            await it.get(allowed=late)
        assert standin.asked == []
        assert await it.usage() == (0, Decimal(0))


async def test_a_lost_lease_does_not_keep_the_probe(database: Database) -> None:
    kind, standin = firecrawl()
    async with bench(kind, standin, database) as it:
        standin.failure = Failure.UNAUTHORIZED
        await it.get()
        it.clock.time += breakers.MAX_WAIT
        late = Permit(Pace(0.0, 0.0, WorkerLease(1, 0.0, clock.now())))
        with pytest.raises(LeaseLostError):
            await it.get(allowed=late)
        standin.failure = None
        assert (await it.get()).outcome is Outcome.OK


async def test_a_cancelled_fetch_keeps_its_reservation_and_frees_the_lane(
    database: Database,
) -> None:
    kind, standin = firecrawl()
    pace = Pace(30.0, 0.0, WorkerLease(1, 60.0, clock.now()))
    async with bench(kind, standin, database) as it:
        standin.failure = Failure.SILENT
        used = Permit(pace)
        going = asyncio.create_task(it.get(allowed=used))
        await standin.arrival.wait()
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        assert pace.due > used.used_at + 30.0
        assert await it.usage() == (1, Decimal("0.001"))
