"""Records over the API: filtered, paged, each field with its evidence, and its changes."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.harvested import Harvest, stock_shop

V = "/api/v1/records"


@pytest.fixture
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


@pytest.fixture
async def viewer(as_role: AsRole) -> httpx.AsyncClient:
    return await as_role(Role.VIEWER)


async def listed(client: httpx.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    """All items of a list, page by page."""
    items: list[dict[str, Any]] = []
    while True:
        answer = await client.get(V, params=params)
        assert answer.status_code == 200, answer.text
        items += answer.json()["items"]
        if answer.json()["next"] is None:
            return items
        params["cursor"] = answer.json()["next"]


async def test_records_are_listed_filtered_and_paged(
    viewer: httpx.AsyncClient, shop: Harvest, database: Database
) -> None:
    everything = await listed(viewer, limit=3)
    ids = [row["id"] for row in await database.fetch("SELECT id FROM messor.records ORDER BY id")]
    assert [item["id"] for item in everything] == ids[::-1]
    for params in ({}, {"domain": "shop.example"}, {"kind": "product"},
                   {"kind": "product", "domain": "shop.example"},
                   {"parser": "products", "version": "1"}, {"min_confidence": 0.9},
                   {"max_confidence": 0.9}, {"state": "all"}):  # fmt: skip
        expected = [
            item["id"]
            for item in everything
            if item["kind"] == params.get("kind", item["kind"])
            and item["parser"] == params.get("parser", item["parser"])
            and params.get("min_confidence", 0) <= item["confidence"]
            and item["confidence"] <= params.get("max_confidence", 1)
        ]
        assert [item["id"] for item in await listed(viewer, limit=2, **params)] == expected, params
    assert await listed(viewer, state="removed") == []
    assert await listed(viewer, domain="other.example") == []
    kettle = next(item for item in everything if item["title"] == "Copper kettle")
    assert kettle["data"]["price"] == 49.9
    assert kettle["url"] == "https://shop.example/kettle"


async def test_a_record_with_its_evidence_and_changes(
    viewer: httpx.AsyncClient, shop: Harvest
) -> None:
    record_id = await shop.record_id("product", "/kettle")
    answer = await viewer.get(f"{V}/{record_id}")
    found = answer.json()
    assert found["fields"]["price"]["value"] == 49.9
    assert "49.90" in found["fields"]["price"]["evidence"]["quote"]
    assert found["product_id"] == await shop.product_id("/kettle")
    again = await viewer.get(f"{V}/{record_id}", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    first = (await viewer.get(f"{V}/{record_id}/changes", params={"limit": 2})).json()
    more = {"limit": 2, "cursor": first["next"]}
    rest = (await viewer.get(f"{V}/{record_id}/changes", params=more)).json()
    told = [(row["state"], row["before"], row["after"]) for row in first["items"] + rest["items"]]
    assert told == [("changed", 64.9, 49.9), ("changed", 54.9, 64.9), ("changed", 59.9, 54.9),
                    ("new", None, None)]  # fmt: skip
    assert rest["next"] is None


async def test_what_is_refused(viewer: httpx.AsyncClient, shop: Harvest) -> None:
    for path in ("/999999", "/999999/changes"):
        problem(await viewer.get(f"{V}{path}"), 404, "not_found")
    for path in ("/0", "/x", f"/{2**63}"):
        problem(await viewer.get(f"{V}{path}"), 422, "invalid")
    for params in ({"min_confidence": 2}, {"state": "gone"}, {"limit": 0}, {"kind": ""}):
        problem(await viewer.get(V, params=params), 422, "invalid")
    other = (await viewer.get(V, params={"limit": 1})).json()["next"]
    mixed = await viewer.get(V, params={"limit": 1, "kind": "product", "cursor": other})
    problem(mixed, 422, "usage")
