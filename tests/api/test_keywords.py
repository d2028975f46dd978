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
    # A tier set by hand stays until it is returned.
    (found,) = rows
    assert (found["tier"], found["tier_set_by"][:7]) == ("A", "member:")
    path = f"{ALL}/{found['id']}/tier"
    freed = (await admin.put(path, json={"tier": None})).json()
    assert (freed["tier"], freed["tier_set_by"]) == ("A", None)
    await database.fetch("UPDATE messor.keywords SET active = false, pruned_reason = 'no yield'")
    now = (await admin.put(path, json={"tier": "B"})).json()
    assert (now["tier"], now["active"], now["tier_reason"]) == ("B", True, "set by hand")
    problem(await admin.put(path, json={"tier": "Z"}), 422, "invalid")
    nobody = "00000000-0000-7000-8000-000000000000"
    problem(await admin.put(f"{ALL}/{nobody}/tier", json={"tier": "A"}), 404, "not_found")
    plain = await admin.post(K, json={"text": "laser", "profiles": ["sg-mobile"]})
    assert plain.json() == {"new": 1}
    (unset,) = (await admin.get(ALL, params={"q": "laser"})).json()["items"]
    assert (unset["tier"], unset["tier_set_by"]) == ("C", None)
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
