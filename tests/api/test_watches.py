"""Watches over the API: made, previewed, switched, removed; by roles."""

from __future__ import annotations

from typing import Any

import httpx

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.harvested import open_harvest, product_html

W = "/api/v1/watches"
KETTLES: dict[str, Any] = {
    "name": "Kettles",
    "noun": "products",
    "condition": {"when": "new"},
    "filters": {"domain": "shop.example"},
}


async def test_the_life_of_a_watch(admin: httpx.AsyncClient, database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html())
    made = (await admin.post(W, json=KETTLES)).json()
    path = f"{W}/{made['watch']['id']}"
    assert made["watch"]["is_active"] is False
    would = (await admin.get(f"{path}/preview")).json()
    assert [one["message"] for one in would["items"]] == ["New: Copper kettle"]
    assert (await admin.patch(path, json={"is_active": True})).json()["is_active"] is True
    assert (await admin.get(f"{path}/alerts")).json()["items"] == []
    token = (await admin.post(f"{path}/token")).json()["token"]
    assert (await admin.get(f"{W}/feeds/{made['token']}/rss")).status_code == 404
    assert (await admin.get(f"{W}/feeds/{token}/rss")).status_code == 200
    assert [one["name"] for one in (await admin.get(W)).json()["items"]] == ["Kettles"]
    assert (await admin.delete(path)).status_code == 204
    problem(await admin.get(path), 404, "not_found")


async def test_a_faulty_watch_gets_a_sentence(admin: httpx.AsyncClient) -> None:
    faulty = {**KETTLES, "condition": {"when": "falls", "field": "price"}}
    problem(await admin.post(W, json=faulty), 422, "usage")
    problem(await admin.post(W, json={**KETTLES, "filters": {"colour": "red"}}), 422, "usage")
    problem(await admin.post(W, json={**KETTLES, "noun": "shoes"}), 422, "invalid")


async def test_viewers_read_only(as_role: AsRole) -> None:
    viewer = await as_role(Role.VIEWER)
    assert (await viewer.get(W)).status_code == 200
    problem(await viewer.post(W, json=KETTLES), 403, "forbidden")
