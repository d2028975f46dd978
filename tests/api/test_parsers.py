"""Parsers over the API: versions, health, pins, and decisions on trials."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from messor.access.roles import Role
from messor.content.products.generic import VERSION
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.harvested import Harvest, add_trial, contact_html, open_harvest, product_html

V = "/api/v1/parsers"


@pytest.fixture
async def shop(database: Database) -> Harvest:
    """A shop that lost its products while its pages stayed."""
    made = await open_harvest(database)
    for number in range(6):
        html = product_html(f"Item {number}", sku=f"I-{number}")
        await made.see(f"/{number}", html, timedelta(days=6))
        await made.see(f"/{number}", contact_html(), timedelta(hours=3))
    return made


@pytest.fixture
async def reviewer(as_role: AsRole) -> httpx.AsyncClient:
    return await as_role(Role.REVIEWER)


async def test_versions_and_health(reviewer: httpx.AsyncClient, shop: Harvest) -> None:
    items = (await reviewer.get(V)).json()["items"]
    products = next(item for item in items if item["name"] == "products")
    assert products["reads"]
    assert not products["is_candidate"]
    assert "product_variant" in products["kinds"]
    assert (products["standing"], products["gone"]) == (0, 18)
    losses = (await reviewer.get(f"{V}/health")).json()["items"]
    lost = {(one["parser"], one["kind"]): one["lost"] for one in losses}
    assert lost == {("products", "product"): 6, ("products", "image"): 12}
    assert all(one["is_alarming"] for one in losses)
    assert (await reviewer.get(f"{V}/health", params={"hours": 1})).json()["items"] == []


async def test_pins(reviewer: httpx.AsyncClient, shop: Harvest) -> None:
    given = {"parser": "products", "version": VERSION, "domain": "shop.example"}
    made = await reviewer.post(f"{V}/pins", json=given)
    assert made.status_code == 201, made.text
    assert made.json() == (await reviewer.get(f"{V}/pins")).json()["items"][0]
    assert made.json()["domain"] == "shop.example"
    lifted = await reviewer.delete(f"{V}/pins/products", params={"domain": "shop.example"})
    assert lifted.json() == {"parser": "products", "version": None}
    assert (await reviewer.get(f"{V}/pins")).json()["items"] == []
    again = await reviewer.delete(f"{V}/pins/products", params={"domain": "shop.example"})
    problem(again, 404, "not_found")
    unknown = await reviewer.post(f"{V}/pins", json={**given, "version": "none"})
    problem(unknown, 422, "unknown_parser")
    elsewhere = await reviewer.post(f"{V}/pins", json={**given, "domain": "nobody.example"})
    problem(elsewhere, 404, "not_found")


async def test_trials_are_decided_once_and_by_those_who_may(
    reviewer: httpx.AsyncClient, as_role: AsRole, database: Database
) -> None:
    trial = await add_trial(database, version=VERSION)
    path = f"{V}/trials/{trial}"
    viewer = await as_role(Role.VIEWER)
    shown = (await viewer.get(path)).json()
    fields = {field["name"]: field for field in shown["fields"]}
    assert fields["product.price"]["agreement"] == pytest.approx(0.9375)
    assert fields["product.price"]["coverage"] == pytest.approx(0.99)
    assert fields["product.brand"]["coverage_before"] == pytest.approx(40 / 60)
    assert fields["product.price"]["validity"] == pytest.approx(0.99)
    assert fields["product.price"]["validity_before"] == pytest.approx(97 / 100)
    (domain,) = shown["domains"]
    assert (domain["domain"], domain["pages"], domain["lost"]) == ("shop.example", 100, 1)
    assert domain["agreement"] == pytest.approx(130 / 136)
    assert (await viewer.get(f"{V}/trials")).json()["items"] == [shown]
    problem(await viewer.post(f"{path}/decision", json={"decision": "promoted"}), 403, "forbidden")
    done = await reviewer.post(f"{path}/decision", json={"decision": "promoted"})
    assert done.json()["state"] == "promoted"
    assert [pin["version"] for pin in (await viewer.get(f"{V}/pins")).json()["items"]] == [VERSION]
    problem(await reviewer.post(f"{path}/decision", json={"decision": "promoted"}), 409, "conflict")
    back = {"decision": "rolled_back"}
    problem(await reviewer.post(f"{path}/decision", json=back), 422, "usage")
    done = await reviewer.post(f"{path}/decision", json={**back, "reason": "It loses brands."})
    assert (done.json()["state"], done.json()["reason"]) == ("rolled_back", "It loses brands.")
    assert (await viewer.get(f"{V}/pins")).json()["items"] == []
    nowhere = f"{V}/trials/019a8a3e-5f2b-7c11-8d4e-0242ac120002"
    problem(await viewer.get(nowhere), 404, "not_found")
    problem(
        await reviewer.post(f"{nowhere}/decision", json={"decision": "promoted"}), 404, "not_found"
    )


async def test_a_candidate_shadows_by_those_who_may(
    reviewer: httpx.AsyncClient, as_role: AsRole, shop: Harvest
) -> None:
    given = {"parser": "products", "version": VERSION, "domain": "www.shop.example", "most": 50}
    viewer = await as_role(Role.VIEWER)
    problem(await viewer.post(f"{V}/trials", json=given), 403, "forbidden")
    begun = await reviewer.post(f"{V}/trials", json=given)
    assert begun.status_code == 201
    trial = (await viewer.get(begun.headers["Location"])).json()
    assert trial == begun.json()
    assert (trial["state"], trial["pages"], trial["most"]) == ("shadowing", 0, 50)
    assert (trial["domain"], trial["fields"], trial["agreement"]) == ("shop.example", [], None)
    problem(await reviewer.post(f"{V}/trials", json=given), 409, "conflict")
    unknown = {"parser": "products", "version": "none"}
    problem(await reviewer.post(f"{V}/trials", json=unknown), 422, "unknown_parser")
    nowhere = {**given, "domain": "nobody.example"}
    problem(await reviewer.post(f"{V}/trials", json=nowhere), 404, "not_found")
    problem(await reviewer.post(f"{V}/trials", json={**given, "most": 0}), 422, "invalid")
    path = f"{V}/trials/{trial['id']}/decision"
    problem(await reviewer.post(path, json={"decision": "promoted"}), 409, "conflict")
    ended = await reviewer.post(path, json={"decision": "rejected", "reason": "Not now."})
    assert ended.json()["state"] == "rejected"
