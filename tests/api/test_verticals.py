"""Verticals over the API: listed, previewed, applied; their organisations."""

from __future__ import annotations

import httpx

from messor.access.roles import Role
from messor.store.database import Database
from messor.verticals import files
from tests.api.conftest import AsRole, problem
from tests.insight.making import apply_vertical

V = "/api/v1/verticals"
NOW = files.shipped("funding").vertical.version


async def test_one_is_previewed_then_applied(admin: httpx.AsyncClient) -> None:
    seen = (await admin.post(V, json={"name": "funding", "dry_run": True})).json()
    assert (seen["applied"], seen["version"]) == (False, NOW)
    assert len(seen["changes"]) > 20
    assert (await admin.get(V)).json()["items"] == []
    done = (await admin.post(V, json={"name": "funding"})).json()
    assert done["applied"] is True
    assert [one["name"] for one in (await admin.get(V)).json()["items"]] == ["funding"]
    whole = (await admin.get(f"{V}/funding")).json()
    assert whole["source"] == files.shipped("funding").source
    assert whole["definition"]["scoring"]["weights"]["visibility"] == 0.35
    assert [one["version"] for one in whole["versions"]] == [NOW]


async def test_a_file_of_ones_own(admin: httpx.AsyncClient) -> None:
    source = files.shipped("funding").source.replace(f"version = {NOW}", f"version = {NOW + 3}", 1)
    await admin.post(V, json={"name": "funding"})
    done = (await admin.post(V, json={"source": source})).json()
    assert done["version"] == NOW + 3
    assert [one["key"] for one in done["changes"]] == ["version"]
    problem(await admin.post(V, json={"name": "funding"}), 409, "conflict")
    for bad in ({}, {"name": "funding", "source": source}, {"source": "name ="}):
        problem(await admin.post(V, json=bad), 422, "usage")
    problem(await admin.post(V, json={"name": "nothing"}), 404, "not_found")
    problem(await admin.get(f"{V}/nothing"), 404, "not_found")


async def test_organisations(admin: httpx.AsyncClient, database: Database) -> None:
    await apply_vertical(database)
    path = f"{V}/wellness/organisations"
    given = {"name": "Glow", "domains": ["https://www.glow.test/x"], "location": "Orchard"}
    first = await admin.post(path, json=given)
    assert (first.status_code, first.json()["outcome"]) == (201, "created")
    again = await admin.post(path, json=given)
    assert (again.status_code, again.json()["outcome"]) == (200, "unchanged")
    taken = await admin.post(path, json={"name": "Other", "domains": ["glow.test"]})
    problem(taken, 409, "conflict")
    rows = (await admin.get(path)).json()["items"]
    assert [(one["name"], one["domains"]) for one in rows] == [("Glow", ["glow.test"])]


async def test_viewers_read_only(as_role: AsRole, database: Database) -> None:
    await apply_vertical(database)
    viewer = await as_role(Role.VIEWER)
    assert (await viewer.get(f"{V}/wellness")).status_code == 200
    problem(await viewer.post(V, json={"name": "funding"}), 403, "forbidden")
