"""Products in the console: filters, orders, and one with its prices over time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from urllib.parse import urlencode

import pytest
import pytest_asyncio

from messor.console import charts
from messor.records.product_queries import PRODUCTS, ObservedPrice
from messor.store.database import Database
from tests.console.conftest import Answer, Visitor
from tests.harvested import Harvest, contact_html, open_harvest, product_html, stock_shop

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest_asyncio.fixture(loop_scope="session")
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


def names(page: Answer) -> list[str]:
    return re.findall(r'href="/products/\d+">([^<]+)<', page.text)


FILTERS: list[tuple[dict[str, str], list[str]]] = [
    ({}, ["Cup", "Tea pot", "Copper kettle"]),
    ({"domain": "Shop.Example"}, ["Cup", "Tea pot", "Copper kettle"]),
    ({"domain": "other.example"}, []),
    ({"q": "kett"}, ["Copper kettle"]),
    ({"brand": "Zeta"}, ["Cup", "Tea pot"]),
    ({"category": "Kitchen > Pots"}, ["Tea pot"]),
    ({"availability": "out_of_stock"}, ["Tea pot"]),
    ({"min_price": "10", "max_price": "49.90"}, ["Tea pot", "Copper kettle"]),
    ({"max_price": "19,90", "currency": "eur"}, ["Cup", "Tea pot"]),
    ({"currency": "USD"}, []),
    ({"min_rating": "4"}, ["Cup", "Copper kettle"]),
    ({"sort": "price"}, ["Cup", "Tea pot", "Copper kettle"]),
    ({"sort": "-price"}, ["Copper kettle", "Tea pot", "Cup"]),
    ({"sort": "-rating"}, ["Cup", "Copper kettle", "Tea pot"]),
    ({"sort": "-updated_at"}, ["Cup", "Copper kettle", "Tea pot"]),
    ({"sort": "nonsense", "availability": "nonsense"}, ["Cup", "Tea pot", "Copper kettle"]),
]


@pytest.mark.parametrize("given, expected", FILTERS)
async def test_products_are_narrowed_down_and_ordered(
    given: dict[str, str], expected: list[str], reviewer: Visitor, shop: Harvest
) -> None:
    page = await reviewer.get(f"/products?{urlencode(given)}")
    assert page.status == 200
    assert names(page) == expected


@pytest.mark.parametrize(
    "given", [{"min_price": "cheap"}, {"min_rating": "NaN"}, {"min_price": "9", "max_price": "1"}]
)
async def test_what_cannot_be_compared_is_said(given: dict[str, str], reviewer: Visitor) -> None:
    page = await reviewer.get(f"/products?{urlencode(given)}")
    assert page.status == 200
    assert "Ignored: " in page.said


async def test_a_product_shows_prices_offers_variants_and_evidence(
    reviewer: Visitor, shop: Harvest
) -> None:
    kettle = await reviewer.get(f"/products/{await shop.product_id('/kettle')}")
    assert "49.90 EUR" in kettle.said
    assert "Current price EUR 49.90; range 49.90 to 64.90" in kettle.text
    assert '<path class="chart-line" d="M0 ' in kettle.text
    assert kettle.text.count(">snapshot ") == 4
    assert '"price": "49.90"' in kettle.said
    assert 'href="https://shop.example/K-100.jpg"' in kettle.text
    assert '<img src="https:' not in kettle.text, "a page of ours asks nobody else for anything"
    pot = await reviewer.get(f"/products/{await shop.product_id('/pot')}")
    for words in ("Offers", "Tea & Co", "Porcelain Works", "21.50 EUR", "out of stock"):
        assert words in pot.said, words
    assert "The price has not changed since it was first seen" in pot.said
    cup = await reviewer.get(f"/products/{await shop.product_id('/cup')}")
    for words in ("Variants", "small", "large", "29.90 EUR"):
        assert words in cup.said, words


async def test_what_is_sold_no_more(reviewer: Visitor, database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(), timedelta(days=3))
    product_id = await shop.product_id("/kettle")
    await shop.see("/kettle", contact_html())
    assert names(await reviewer.get("/products")) == []
    assert names(await reviewer.get("/products?state=removed")) == ["Copper kettle"]
    assert "removed from its page" in (await reviewer.get(f"/products/{product_id}")).said


async def test_the_list_goes_on(reviewer: Visitor, database: Database) -> None:
    shop = await open_harvest(database)
    for number in range(60):
        html = product_html(f"Item {number}", f"{number % 7}.50", sku=f"I-{number}")
        await shop.see(f"/{number}", html, timedelta(minutes=60 - number))
    for order in PRODUCTS.orders:
        first = await reviewer.get(f"/products?sort={order}")
        (more,) = re.findall(r'href="([^"]+cursor=[^"]+)"', first.text)
        rest = await reviewer.get(more.replace("&amp;", "&"))
        seen = names(first) + names(rest)
        assert len(seen) == len(set(seen)) == 60, order
    assert names(await reviewer.get("/products?cursor=nonsense")) == names(
        await reviewer.get("/products")
    )


async def test_products_that_are_not_there(reviewer: Visitor) -> None:
    for path in ("/products/1", "/products/99999999999999999999", "/products/x"):
        assert (await reviewer.get(path)).status == 404, path
    assert "Submit a shop" in (await reviewer.get("/products")).said


def _price(days: int, price: str | None, currency: str | None = "EUR") -> ObservedPrice:
    value = None if price is None else Decimal(price)
    return ObservedPrice(NOW - timedelta(days=days), value, currency, "in_stock", 1, "page")


def test_a_price_holds_until_the_next_and_is_never_invented() -> None:
    prices = [_price(10, "20"), _price(8, None), _price(4, "10"), _price(2, "30", "USD")]
    assert charts.prices(prices[:1], NOW) is None
    chart = charts.prices([*prices, _price(1, "15")], NOW)
    assert chart is not None
    assert (chart.currency, chart.lowest, chart.highest) == ("EUR", Decimal(10), Decimal(20))
    assert chart.line.line.count("M") == 3, "no line where no price was stated in this currency"
    assert chart.line.line.startswith("M0 ")
    assert chart.line.line.endswith(f"L600 {chart.line.line.rsplit(' ', 1)[1]}")
    assert "3 observed prices" in chart.line.summary


def test_prices_that_cannot_be_drawn() -> None:
    assert charts.prices([], NOW) is None
    assert charts.prices([_price(3, None), _price(1, None)], NOW) is None
    same = charts.prices([_price(3, "5"), _price(2, None), _price(1, "5")], NOW)
    assert same is not None
    assert "NaN" not in same.line.line
