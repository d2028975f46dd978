"""Corrections over the API: made on records and products, listed, withdrawn, refused."""

from __future__ import annotations

import pytest

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.harvested import Harvest, stock_shop

V = "/api/v1"


@pytest.fixture
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


async def test_a_field_is_corrected_listed_and_withdrawn(as_role: AsRole, shop: Harvest) -> None:
    reviewer = await as_role(Role.REVIEWER)
    record_id, product_id = (
        await shop.record_id("product", "/kettle"),
        await shop.product_id("/kettle"),
    )
    given = {"field": "price", "value": 47.5, "reason": "tax"}
    done = await reviewer.post(f"{V}/products/{product_id}/corrections", json=given)
    assert done.status_code == 201
    made = done.json()
    assert (made["state"], made["value"], made["page_value"]) == ("in_force", 47.5, 49.9)
    field = (await reviewer.get(f"{V}/records/{record_id}")).json()["fields"]["price"]
    assert field["value"] == 47.5
    assert field["correction"]["id"] == made["id"]
    assert field["correction"]["page_value"] == 49.9
    assert (await reviewer.get(f"{V}/products/{product_id}")).json()["price"] == 47.5
    (change, *_) = (await reviewer.get(f"{V}/records/{record_id}/changes")).json()["items"]
    assert (change["cause"], change["before"], change["after"]) == ("person", 49.9, 47.5)
    confirmed = {"field": "brand", "act": "confirm"}
    done = await reviewer.post(f"{V}/records/{record_id}/corrections", json=confirmed)
    assert done.json()["state"] == "lesson"
    listed = (await reviewer.get(f"{V}/corrections", params={"state": "in_force"})).json()["items"]
    assert [one["id"] for one in listed] == [made["id"]]
    done = await reviewer.delete(f"{V}/corrections/{made['id']}")
    assert done.json()["state"] == "withdrawn"
    assert (await reviewer.get(f"{V}/products/{product_id}")).json()["price"] == 49.9
    problem(await reviewer.delete(f"{V}/corrections/{made['id']}"), 409, "conflict")


async def test_who_may_not_and_what_cannot_be(as_role: AsRole, shop: Harvest) -> None:
    viewer, reviewer = await as_role(Role.VIEWER), await as_role(Role.REVIEWER)
    path = f"{V}/records/{await shop.record_id('product', '/kettle')}/corrections"
    assert (await viewer.post(path, json={"field": "price", "value": 1})).status_code == 403
    problem(await reviewer.post(path, json={"field": "price", "value": "abc"}), 422, "usage")
    problem(await reviewer.post(path, json={"field": "smell", "value": "x"}), 422, "usage")
    gone = f"{V}/records/999999/corrections"
    problem(await reviewer.post(gone, json={"field": "price", "value": 1}), 404, "not_found")
    problem(await reviewer.delete(f"{V}/corrections/999999"), 404, "not_found")
    missing = await reviewer.post(f"{V}/products/999999/corrections", json={"field": "price"})
    problem(missing, 404, "not_found")
