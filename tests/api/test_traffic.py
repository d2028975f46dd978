"""The halt over the API: who may halt, who may resume, and what ingestion says meanwhile."""

from __future__ import annotations

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem

V = "/api/v1/traffic"


async def test_reviewers_halt_and_admins_resume(as_role: AsRole, database: Database) -> None:
    viewer, reviewer, admin = [
        await as_role(role) for role in (Role.VIEWER, Role.REVIEWER, Role.ADMIN)
    ]
    assert (await viewer.get(V)).json() == {"halted": False, "halt": None, "limits": None}
    problem(await viewer.post(f"{V}/halt", json={"reason": "no"}), 403, "forbidden")
    problem(await reviewer.post(f"{V}/halt", json={"reason": " "}), 422, "usage")
    halted = await reviewer.post(f"{V}/halt", json={"reason": "a complaint"})
    assert halted.status_code == 200
    assert (await viewer.get(V)).json()["halt"]["reason"] == "a complaint"
    problem(await reviewer.post(f"{V}/halt", json={"reason": "again"}), 409, "conflict")
    asked = await reviewer.post(
        "/api/orbit/shop/ingest", json={"url": "https://example.org/", "mode": "light"}
    )
    problem(asked, 409, "traffic_halted")
    assert await database.fetchval("SELECT count(*) FROM messor.domains") == 0
    problem(await reviewer.post(f"{V}/resume"), 403, "forbidden")
    assert (await admin.post(f"{V}/resume")).json() == {
        "halted": False,
        "halt": None,
        "limits": None,
    }
