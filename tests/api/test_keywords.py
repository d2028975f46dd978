"""Keywords over the API: listed whole, previewed and written, one with its looks and gaps."""

from __future__ import annotations

from typing import Any

import httpx

from messor.store.database import Database
from tests.api.conftest import problem
from tests.console.found import seed
from tests.insight.making import apply_vertical

K = "/api/v1/verticals/wellness/keywords"
ALL = "/api/v1/keywords"


async def test_a_generation_is_previewed_then_written(
    admin: httpx.AsyncClient, database: Database
) -> None:
    await apply_vertical(database)
    seen = (await admin.post(f"{K}/generate", json={})).json()
    assert (seen["texts"], seen["profiles"], seen["new"], seen["written"]) == (720, 3, 2160, None)
    done = (await admin.post(f"{K}/generate", json={"write": True})).json()
    assert done["written"] == 2160
    assert (await admin.post(f"{K}/generate", json={})).json()["new"] == 0
    texts: list[tuple[str, str]] = []
    params: dict[str, Any] = {"limit": 200, "vertical": "wellness"}
    while True:
        body = (await admin.get(ALL, params=params)).json()
        texts += [(one["text"], one["profile"]) for one in body["items"]]
        if body["next"] is None:
            break
        params["cursor"] = body["next"]
    assert len(texts) == len(set(texts)) == 2160
    problem(await admin.get(ALL, params={**params, "tier": "A"}), 422, "usage")


async def test_one_by_hand(admin: httpx.AsyncClient, database: Database) -> None:
    await apply_vertical(database)
    added = await admin.post(
        K, json={"text": "Botox ORCHARD", "tier": "A", "profiles": ["sg-mobile"]}
    )
    assert (added.status_code, added.json()) == (201, {"new": 1})
    rows = (await admin.get(ALL, params={"q": "BOTOX", "source": "manual"})).json()["items"]
    assert [one["text"] for one in rows] == ["botox orchard"]
    problem(await admin.post(K, json={"text": "x", "profiles": ["nowhere"]}), 422, "usage")
    problem(await admin.post(K, json={"text": "x", "tier": "Z"}), 422, "invalid")


async def test_gaps_have_no_ranks(admin: httpx.AsyncClient, database: Database) -> None:
    found = await seed(database)
    body = (await admin.get(f"/api/v1/keywords/{found.keywords[1]}")).json()
    gaps = [one for one in body["looks"] if one["outcome"] == "failed"]
    assert [one["ranks"] for one in gaps] == [{}, {}]
    assert all(one["ranks"] for one in body["looks"] if one["outcome"] == "ok")
    tiers = (await admin.post(f"{K}/tiers", json={"write": True})).json()
    assert tiers["done"]["measured"] == 4
    grown = (await admin.post(f"{K}/expand", json={"write": True})).json()
    assert grown["all"] >= grown["taken"]
    assert all(one["message"] for one in grown["suggestions"])
