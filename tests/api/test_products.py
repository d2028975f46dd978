"""Products over the API: filters, orders, prices over time, and search by words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.harvested import Harvest, open_harvest, product_html, stock_shop

V = "/api/v1/products"

FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["Cup", "Tea pot", "Copper kettle"]),
    ({"domain": "shop.example", "sort": "price"}, ["Cup", "Tea pot", "Copper kettle"]),
    ({"sort": "-price"}, ["Copper kettle", "Tea pot", "Cup"]),
    ({"sort": "-rating"}, ["Cup", "Copper kettle", "Tea pot"]),
    ({"sort": "-updated_at"}, ["Cup", "Copper kettle", "Tea pot"]),
    ({"q": "KETT"}, ["Copper kettle"]),
    ({"brand": "Zeta"}, ["Cup", "Tea pot"]),
    ({"category": "Kitchen > Pots"}, ["Tea pot"]),
    ({"availability": "in_stock"}, ["Cup", "Copper kettle"]),
    ({"min_price": 10, "max_price": 49.9, "availability": "in_stock"}, ["Copper kettle"]),
    ({"max_price": 19.9, "currency": "EUR"}, ["Cup", "Tea pot"]),
    ({"min_price": 49.9}, ["Copper kettle"]),
    ({"currency": "USD"}, []),
    ({"min_rating": 4.5}, ["Cup", "Copper kettle"]),
    ({"min_confidence": 0.95}, ["Cup", "Tea pot", "Copper kettle"]),
    ({"min_confidence": 0.96}, []),
    ({"sort": "product_name"}, ["Copper kettle", "Cup", "Tea pot"]),
    ({"state": "removed"}, []),
    ({"state": "all", "domain": "other.example"}, []),
]


@pytest.fixture
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


@pytest.fixture
async def viewer(as_role: AsRole) -> httpx.AsyncClient:
    return await as_role(Role.VIEWER)


async def listed(client: httpx.AsyncClient, **params: Any) -> list[str]:
    names: list[str] = []
    while True:
        answer = await client.get(V, params=params)
        assert answer.status_code == 200, answer.text
        names += [item["product_name"] for item in answer.json()["items"]]
        if answer.json()["next"] is None:
            return names
        params["cursor"] = answer.json()["next"]


@pytest.mark.parametrize("params, expected", FILTERS)
async def test_products_are_filtered_ordered_and_paged(
    params: dict[str, Any], expected: list[str], viewer: httpx.AsyncClient, shop: Harvest
) -> None:
    assert await listed(viewer, **params) == expected
    assert await listed(viewer, limit=1, **params) == expected


async def test_equal_prices_are_neither_lost_nor_doubled(
    viewer: httpx.AsyncClient, database: Database
) -> None:
    shop = await open_harvest(database)
    for number in range(12):
        html = product_html(f"Item {number}", f"{number % 3}.50", sku=f"I-{number}")
        await shop.see(f"/{number}", html, timedelta(minutes=number))
    await shop.see("/free", product_html("No price", None, sku="N"))
    for sort in ("price", "-price", "-rating", "-created_at", "-updated_at"):
        names = await listed(viewer, sort=sort, limit=5)
        assert len(names) == len(set(names)), sort
        assert ("No price" in names) == ("price" not in sort), sort
        assert len(names) == 12 + ("No price" in names), sort


async def test_one_product(viewer: httpx.AsyncClient, shop: Harvest) -> None:
    pot = (await viewer.get(f"{V}/{await shop.product_id('/pot')}")).json()
    assert (pot["product_name"], pot["price"], pot["currency"]) == ("Tea pot", 19.9, "EUR")
    assert {offer["data"]["seller"] for offer in pot["offers"]} == {"Tea & Co", "Porcelain Works"}
    assert [image["image_type"] for image in pot["images"]] == ["primary", "gallery"]
    cup = (await viewer.get(f"{V}/{await shop.product_id('/cup')}")).json()
    assert {variant["data"]["size"] for variant in cup["variants"]} == {"small", "large"}
    assert cup["offers"] == []


async def test_prices_over_time(viewer: httpx.AsyncClient, shop: Harvest) -> None:
    path = f"{V}/{await shop.product_id('/kettle')}/prices"
    first = (await viewer.get(path, params={"limit": 3})).json()
    rest = (await viewer.get(path, params={"limit": 3, "cursor": first["next"]})).json()
    assert [row["price"] for row in first["items"] + rest["items"]] == [49.9, 64.9, 54.9, 59.9]
    assert rest["next"] is None
    assert {row["currency"] for row in first["items"]} == {"EUR"}


async def test_products_by_words(viewer: httpx.AsyncClient, shop: Harvest) -> None:
    found = (await viewer.get(f"{V}/search", params={"q": "copper", "facets": True})).json()
    assert {item["title"] for item in found["items"]} == {"Copper kettle", "Tea pot", "Cup"}
    assert found["facets"]["by"]["brand"] == {"Zeta": 2, "Acme": 1}
    some = await viewer.get(f"{V}/search", params={"q": "copper", "brand": "Zeta", "max_price": 10})
    for least, names in ((0.95, found["items"]), (0.96, [])):
        sure = await viewer.get(f"{V}/search", params={"q": "copper", "min_confidence": least})
        assert sure.json()["items"] == names
    (cup,) = some.json()["items"]
    text, marks = cup["fragments"][0]["text"], cup["fragments"][0]["marks"]
    assert [text[begin:end] for begin, end in marks] == ["copper"]
    assert some.json()["facets"] is None


async def test_what_is_refused(viewer: httpx.AsyncClient, shop: Harvest) -> None:
    for path in ("/999999", "/999999/prices"):
        problem(await viewer.get(f"{V}{path}"), 404, "not_found")
    for params in ({"min_price": -1}, {"min_price": "NaN"}, {"currency": "euro"},
                   {"min_rating": 9}, {"sort": "name"}):  # fmt: skip
        problem(await viewer.get(V, params=params), 422, "invalid")
    problem(await viewer.get(V, params={"min_price": 9, "max_price": 1}), 422, "usage")
    problem(await viewer.get(f"{V}/search"), 422, "invalid")
    much = await viewer.get(f"{V}/search", params={"q": "copper", "min_confidence": 1.1})
    problem(much, 422, "invalid")
    problem(await viewer.get(f"{V}/search", params={"q": "-x"}), 422, "usage")


async def test_figures_that_json_cannot_hold(
    viewer: httpx.AsyncClient, shop: Harvest, database: Database
) -> None:
    product_id = await shop.product_id("/kettle")
    await database.fetch("UPDATE messor.products SET price = 1e400 WHERE id = $1", product_id)
    await database.fetch("UPDATE messor.product_prices SET price = 1e400")
    assert (await viewer.get(f"{V}/{product_id}")).json()["price"] is None
    assert (await viewer.get(V, params={"sort": "-price", "limit": 1})).status_code == 200
    prices = (await viewer.get(f"{V}/{product_id}/prices")).json()["items"]
    assert {row["price"] for row in prices} == {None}
