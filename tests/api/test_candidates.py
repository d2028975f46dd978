"""Candidates over the API: judges with weights and words, and a reviewer's decisions."""

from __future__ import annotations

import httpx
import pytest

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.console.found import seed

C = "/api/v1/candidates"


async def waiting(client: httpx.AsyncClient) -> list[str]:
    body = (await client.get(C, params={"status": "PENDING_REVIEW"})).json()
    return [one["id"] for one in body["items"]]


async def test_judges_are_told_with_weight_and_explanation(
    admin: httpx.AsyncClient, database: Database
) -> None:
    await seed(database, weeks=1)
    one = (await admin.get(f"{C}/{(await waiting(admin))[0]}")).json()
    assert len(one["opinions"]) == 6
    assert all(said["explanation"] for said in one["opinions"])
    total = sum(said["contribution"] for said in one["opinions"])
    assert total == pytest.approx(one["confidence_score"], abs=1e-3)


async def test_lists_are_paged_whole(admin: httpx.AsyncClient, database: Database) -> None:
    await seed(database, weeks=1)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        body = (await admin.get(C, params={"limit": 3, **cursor})).json()
        seen += [one["id"] for one in body["items"]]
        if body["next"] is None:
            break
        cursor = {"cursor": body["next"]}
    assert len(seen) == len(set(seen)) == 8


async def test_decisions(as_role: AsRole, database: Database) -> None:
    await seed(database, weeks=1)
    reviewer = await as_role(Role.REVIEWER)
    first, second, third = await waiting(reviewer)
    taken = await reviewer.post(f"{C}/{first}/decisions", json={"act": "take"})
    assert taken.json()["status"] == "IN_REVIEW"
    late = {"act": "approve", "seen": "PENDING_REVIEW"}
    problem(await reviewer.post(f"{C}/{first}/decisions", json=late), 409, "conflict")
    done = await reviewer.post(f"{C}/{first}/decisions", json={"act": "approve"})
    assert done.json()["status"] == "APPROVED"
    problem(await reviewer.post(f"{C}/{second}/decisions", json={"act": "reject"}), 422, "usage")
    said = {"act": "reject", "reason": "a shop"}
    assert (await reviewer.post(f"{C}/{second}/decisions", json=said)).json()[
        "review_reason"
    ] == "a shop"
    problem(await reviewer.post(f"{C}/{second}/decisions", json=said), 409, "conflict")
    viewer = await as_role(Role.VIEWER)
    problem(await viewer.post(f"{C}/{third}/decisions", json={"act": "approve"}), 403, "forbidden")
    assert await waiting(viewer) == [third]
