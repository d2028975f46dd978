"""A price is an outcome; it is paid only as a reviewer approved, within caps, and with a receipt."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from messor.errors import UsageError
from messor.explain.why import explain
from messor.fetch.identity.message_signatures import HttpMessage, inputs_of, verify
from messor.governance import prices
from messor.governance.price_queries import PAYMENTS, PRICES, AskedPriceFilter, PaymentFilter
from messor.registry import domains
from messor.registry.domains import Domain
from messor.store.database import Database
from messor.web.quotes import Quote, Scheme
from simweb.answers import Request, SimResponse
from tests.crawl.test_identity import BOT, public_keys
from tests.crawling import TESTER, admit, crawl, outcomes
from tests.little_web import LittleWeb, page

PRICED = SimResponse(402, (("crawler-price", "USD 0.01"),), b"pay")


class Toll:
    """A CDN that charges for every page, as Pay per Crawl speaks."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> SimResponse:
        self.asked.append(request)
        offered = request.headers.get("crawler-max-price")
        if offered is None:
            return PRICED
        if offered != "USD 0.01":
            return SimResponse(402, (*PRICED.headers, ("crawler-error", "InvalidCrawlerMaxPrice")))
        return page("Paid", extra=(("crawler-charged", "USD 0.01"),))


async def approve(database: Database, domain: Domain, page: str, month: str) -> None:
    async with database.transaction() as connection:
        locked = await domains.lock(connection, domain.domain)
        await prices.approve(
            connection, locked, page=page, month=month, reason="Contract 12", actor=TESTER
        )


async def payments(database: Database) -> list[Any]:
    return list((await PAYMENTS.read(database, PaymentFilter())).items)


async def test_a_price_is_an_outcome_and_never_paid_unasked(
    database: Database, tmp_path: Path
) -> None:
    toll = Toll()
    async with LittleWeb(tmp_path, {"one.test": {"/": toll}}) as web:
        await admit(database, "http://one.test/")
        settings = web.settings(identity_url=BOT, payment_adapter="stand-in")
        await crawl(settings, database)
    assert (await outcomes(database))["http://one.test/"] == "priced"
    assert len(toll.asked) == 1
    assert not any("crawler" in name for name in toll.asked[0].headers)
    assert await payments(database) == []
    (asked,) = (await PRICES.read(database, AskedPriceFilter())).items
    assert (asked.amount, asked.currency, asked.scheme) == (
        Decimal("0.01"),
        "USD",
        Scheme.PAY_PER_CRAWL,
    )
    assert asked.example == "http://one.test/"
    why = await explain(database, settings, "http://one.test/")
    (fact,) = [fact for fact in why.facts if fact.step == "price"]
    assert "not approved" in fact.sentence
    risk = "SELECT max(risk_score) FROM messor.hosts"
    assert await database.fetchval(risk) == 0, "naming a price is no friction"


async def test_an_approved_price_is_offered_signed_and_settled(
    database: Database, tmp_path: Path
) -> None:
    toll = Toll()
    async with LittleWeb(tmp_path, {"one.test": {"/": toll}}) as web:
        domain = await admit(database, "http://one.test/")
        await approve(database, domain, "USD 0.02", "USD 1")
        await crawl(web.settings(identity_url=BOT, payment_adapter="stand-in"), database)
    assert (await outcomes(database))["http://one.test/"] == "ok"
    first, second = toll.asked
    headers = second.headers
    message = HttpMessage("http://one.test/", headers)
    created = inputs_of(headers["signature-input"])["sig1"].params["created"]
    verify(message, await public_keys(database), tag="web-bot-auth", now=int(created))
    assert '"crawler-max-price"' in headers["signature-input"]
    assert "crawler" not in first.headers["signature-input"]
    (paid,) = await payments(database)
    assert (paid.amount, paid.charged, paid.adapter) == (
        Decimal("0.01"),
        Decimal("0.01"),
        "stand-in",
    )
    assert paid.receipt == "crawler-charged: USD 0.01"
    event = "SELECT data ->> 'charged' FROM messor.events WHERE type = 'payment.made'"
    assert await database.fetchval(event) == "USD 0.01"
    logged = "SELECT count(*) FROM messor.http_fetches f JOIN messor.pages p ON p.id = f.page_id"
    assert await database.fetchval(f"{logged} WHERE p.url = 'http://one.test/'") == 2


@pytest.mark.parametrize(
    "page_cap, month_cap, adapter",
    [
        ("USD 0.009", "USD 1", "stand-in"),
        ("EUR 1", "EUR 9", "stand-in"),
        ("USD 1", "USD 1", "none"),
    ],
)
async def test_beyond_the_caps_or_without_an_adapter_nothing_is_paid(
    database: Database, tmp_path: Path, page_cap: str, month_cap: str, adapter: str
) -> None:
    toll = Toll()
    async with LittleWeb(tmp_path, {"one.test": {"/": toll}}) as web:
        domain = await admit(database, "http://one.test/")
        await approve(database, domain, page_cap, month_cap)
        await crawl(web.settings(identity_url=BOT, payment_adapter=adapter), database)
    assert (await outcomes(database))["http://one.test/"] == "priced"
    assert len(toll.asked) == 1
    assert await payments(database) == []


async def test_the_budget_of_a_month_is_kept(database: Database) -> None:
    domain = await admit(database, "http://one.test/")
    await approve(database, domain, "USD 0.4", "USD 1")
    quote = Quote(Scheme.PAY_PER_CRAWL, Decimal("0.4"), "USD", "crawler-price: USD 0.4")
    first = await prices.reserve(database, domain.id, 1, quote, "stand-in")
    second = await prices.reserve(database, domain.id, 2, quote, "stand-in")
    assert first is not None
    assert second is not None
    assert await prices.reserve(database, domain.id, 3, quote, "stand-in") is None
    await prices.settle(database, first, Decimal(0), "it was not charged")
    assert await prices.reserve(database, domain.id, 3, quote, "stand-in") is not None


async def test_an_offer_that_is_refused_costs_nothing(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": PRICED}}) as web:
        domain = await admit(database, "http://one.test/")
        await approve(database, domain, "USD 0.02", "USD 1")
        await crawl(web.settings(identity_url=BOT, payment_adapter="stand-in"), database)
    (tried,) = await payments(database)
    assert tried.charged == 0
    assert "without a receipt" in tried.receipt
    assert (await outcomes(database))["http://one.test/"] == "priced"


@pytest.mark.parametrize(
    "page_cap, month_cap, reason",
    [("1", "USD 1", "r"), ("USD 2", "USD 1", "r"), ("USD 1", "EUR 2", "r"), ("USD 1", "USD 2", " "),
     ("USD 0", "USD 0", "r")],
)  # fmt: skip
async def test_an_approval_needs_caps_in_one_currency_and_a_reason(
    database: Database, page_cap: str, month_cap: str, reason: str
) -> None:
    domain = await admit(database, "http://one.test/")
    with pytest.raises(UsageError):
        async with database.transaction() as connection:
            await prices.approve(
                connection, domain, page=page_cap, month=month_cap, reason=reason, actor=TESTER
            )
