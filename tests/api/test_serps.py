"""Result pages, visibility and discovery sessions over the API."""

from __future__ import annotations

import httpx

from messor.store.database import Database
from tests.api.conftest import problem
from tests.console.found import seed

V = "/api/v1/verticals/wellness"


async def test_pages_and_gaps(admin: httpx.AsyncClient, database: Database) -> None:
    found = await seed(database)
    body = (await admin.get("/api/v1/serps", params={"limit": 3})).json()
    assert len(body["items"]) == 3
    following = await admin.get("/api/v1/serps", params={"limit": 3, "cursor": body["next"]})
    ids = {one["id"] for one in body["items"]} & {one["id"] for one in following.json()["items"]}
    assert ids == set()
    gaps = (await admin.get("/api/v1/serps", params={"outcome": "failed"})).json()["items"]
    assert {one["message"] for one in gaps} == {"no engine could be asked"}
    page = (await admin.get(f"/api/v1/serps/{found.serp}")).json()
    assert {one["block"] for one in page["results"]} >= {"organic", "ad", "local_pack"}
    gap = (await admin.get(f"/api/v1/serps/{found.gap}")).json()
    assert (gap["outcome"], gap["results"]) == ("failed", [])


async def test_visibility(admin: httpx.AsyncClient, database: Database) -> None:
    await seed(database)
    body = (await admin.get(f"{V}/visibility")).json()
    assert body["domains"][0]["visibility"] > 0
    assert {one["name"] for one in body["organisations"]} >= {"Glow Aesthetics", "Novena Skin"}
    lost = next(one for one in body["movers"] if one["domain"] == "orchard-dental.test")
    assert lost["change"] < 0
    one = (await admin.get(f"{V}/visibility/orchard-dental.test", params={"days": 7})).json()
    assert one["weeks"][0]["visibility"] is None, "nothing was seen then: a gap, no zero"
    assert one["weeks"][-1]["visibility"] == 0
    assert {loss["after"] for loss in one["losses"]} == {None}
    assert one["standing"][0]["rank"] is None
    problem(await admin.get(f"{V}/visibility", params={"days": 0}), 422, "invalid")
    problem(await admin.get("/api/v1/verticals/nope/visibility"), 404, "not_found")


async def test_sessions_and_searches(admin: httpx.AsyncClient, database: Database) -> None:
    found = await seed(database, weeks=1)
    rows = (await admin.get("/api/v1/discovery-sessions", params={"vertical": "wellness"})).json()
    assert [one["id"] for one in rows["items"]] == [str(found.session)]
    one = (await admin.get(f"/api/v1/discovery-sessions/{found.session}")).json()
    assert one["statistics"]["total_processed"] == 8
    assert one["candidates"]["PENDING_REVIEW"] == 3
    problem(await admin.post(f"{V}/searches"), 409, "conflict")
