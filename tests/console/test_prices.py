"""Prices in the console: what is asked, an approval with caps, and a form that says what is wrong."""

from __future__ import annotations

from decimal import Decimal

from messor.access.roles import Role
from messor.governance import prices
from messor.governance.prices import QuotedPage
from messor.store.database import Database
from messor.web.quotes import Quote, Scheme
from tests.console.conftest import Enter
from tests.crawling import admit

HOST = "SELECT host_id FROM messor.lanes"


async def test_a_reviewer_approves_a_price_with_caps(
    console: str, enter: Enter, database: Database
) -> None:
    domain = await admit(database, "http://news.example/")
    quote = Quote(Scheme.PAY_PER_CRAWL, Decimal("0.01"), "USD", "crawler-price: USD 0.01")
    async with database.transaction() as connection:
        host = await connection.fetchval(HOST)
        await prices.note(connection, [QuotedPage(host, 1, quote), QuotedPage(host, 2, quote)])
    reviewer = await enter(console, Role.REVIEWER)
    assert "USD 0.01 pay-per-crawl" in (await reviewer.get("/rights/prices")).said
    one = "/rights/prices/news.example"
    wrong = await reviewer.send(
        one, f"{one}/approve", {"page": "1", "month": "USD 5", "reason": "x"}
    )
    assert wrong.status == 422
    assert "USD 0.01" in wrong.said
    form = {"page": "USD 0.02", "month": "USD 5", "reason": "Contract 12"}
    assert (await reviewer.send(one, f"{one}/approve", form)).place == "/rights/prices"
    approval = await prices.in_force(database, domain.id)
    assert approval is not None
    assert (approval.per_page, approval.per_month) == (Decimal("0.02"), Decimal(5))
    assert "0 of 5 this month" in (await reviewer.get("/rights/prices")).said
    assert (await reviewer.send(one, f"{one}/revoke")).status == 303
    assert await prices.in_force(database, domain.id) is None
    viewer = await enter(console, Role.VIEWER)
    assert "Approve payment" not in (await viewer.get(one)).text
