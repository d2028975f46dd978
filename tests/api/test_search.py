"""Search over the API: pages and records, with facets, marks and a cursor."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.harvested import Harvest, open_harvest, product_html, stock_shop

V = "/api/v1/search"


@pytest.fixture
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


@pytest.fixture
async def viewer(as_role: AsRole) -> httpx.AsyncClient:
    return await as_role(Role.VIEWER)


async def test_pages_and_records_answer(viewer: httpx.AsyncClient, shop: Harvest) -> None:
    found = (await viewer.get(V, params={"q": '"copper kettle"', "facets": True})).json()
    assert {item["kind"] for item in found["items"]} == {"page", "product"}
    assert found["facets"]["by"]["kind"] == {"page": 1, "product": 1}
    assert found["facets"]["is_exact"]
    one = next(item for item in found["items"] if item["kind"] == "product")
    assert (one["price"], one["brand"], one["domain"]) == (49.9, "Acme", "shop.example")
    assert one["record_id"] == await shop.record_id("product", "/kettle")
    several = {"q": "copper", "kind": ["product", "contact"], "brand": ["Zeta", "Acme"]}
    answer = (await viewer.get(V, params=several)).json()
    assert {item["title"] for item in answer["items"]} == {"Copper kettle", "Tea pot", "Cup"}
    same = {**several, "domain": "https://WWW.Shop.example/"}
    assert (await viewer.get(V, params=same)).json()["items"] == answer["items"]
    none = {"q": "copper", "domain": "other.example"}
    assert (await viewer.get(V, params=none)).json() == {
        "items": [], "next": None, "facets": None, "answered_by": "postgresql", "notice": None,
    }  # fmt: skip


async def test_a_cursor_goes_through_everything_once(
    viewer: httpx.AsyncClient, database: Database
) -> None:
    shop = await open_harvest(database)
    for number in range(9):
        await shop.see(f"/{number}", product_html(f"Kettle {number}", sku=f"I-{number}"))
    await shop.index()
    params: dict[str, Any] = {"q": "kettle", "kind": "product", "limit": 4}
    seen: list[int] = []
    while True:
        body = (await viewer.get(V, params=params)).json()
        seen += [item["record_id"] for item in body["items"]]
        if body["next"] is None:
            break
        params["cursor"] = body["next"]
    assert len(seen) == len(set(seen)) == 9
    problem(await viewer.get(V, params={**params, "q": "other"}), 422, "usage")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "invalid"),
    ({"q": ""}, "invalid"),
    ({"q": "x", "limit": 101}, "invalid"),
    ({"q": "x", "min_price": "inf"}, "invalid"),
    ({"q": "-x"}, "usage"),
    ({"q": "x*"}, "usage"),
    ({"q": "x", "min_price": 2, "max_price": 1}, "usage"),
    ({"q": "x", "cursor": "abc"}, "usage"),
]


@pytest.mark.parametrize("params, code", REFUSED)
async def test_what_is_refused(
    params: dict[str, Any], code: str, viewer: httpx.AsyncClient
) -> None:
    problem(await viewer.get(V, params=params), 422, code)
