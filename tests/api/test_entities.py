"""Entities over the API: listed, shown, merged, split, and who may decide."""

from __future__ import annotations

from messor.access.roles import Role
from messor.entities.follow import follow
from messor.store.database import Database
from tests.api.conftest import AsRole
from tests.harvested import open_harvest, product_html

V = "/api/v1/entities"


async def test_entities_are_listed_and_decided_about(as_role: AsRole, database: Database) -> None:
    one = await open_harvest(database, "one.example")
    other = await open_harvest(database, "two.example")
    await one.see("/k", product_html("Acme Kettle KX-200B red", sku="1"))
    await other.see("/k", product_html("Acme Kettle KX-200B", "45.00", sku="2"))
    await follow(database)
    reviewer, viewer = await as_role(Role.REVIEWER), await as_role(Role.VIEWER)
    (asked,) = (await viewer.get(f"{V}/proposals?kind=product")).json()["items"]
    given = {"verdict": "same"}
    assert (await viewer.post(f"{V}/proposals/{asked['id']}", json=given)).status_code == 403
    whole = (await reviewer.post(f"{V}/proposals/{asked['id']}", json=given)).json()
    assert {each["domain"] for each in whole["members"]} == {"one.example", "two.example"}
    assert (await viewer.get(f"{V}?min_domains=2")).json()["items"][0]["id"] == whole["id"]
    statement = whole["members"][0]["id"]
    apart = await reviewer.post(f"{V}/{whole['id']}/split", json={"statement_id": statement})
    assert (apart.json()["domains"], apart.json()["id"] != whole["id"]) == (1, True)
    merged = await reviewer.post(f"{V}/{whole['id']}/merge", json={"with_id": apart.json()["id"]})
    assert merged.json()["domains"] == 2
    ids = {whole["id"], apart.json()["id"], merged.json()["id"]}
    assert {(await viewer.get(f"{V}/{each}")).json()["id"] for each in ids} == {merged.json()["id"]}
    assert (
        await reviewer.post(f"{V}/{whole['id']}/split", json={"statement_id": 10**9})
    ).status_code == 404
    assert (await viewer.get(f"{V}/{10**9}")).status_code == 404
