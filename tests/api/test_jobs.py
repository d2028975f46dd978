"""Jobs and dead letters over the API."""

from __future__ import annotations

import httpx

from messor.jobs.jobs import NewJob, enqueue
from messor.store.database import Database
from tests.api.conftest import problem

V = "/api/v1"

DIE = """
UPDATE messor.jobs SET state = 'dead', finished_at = messor.clock(), dead_category = 'network',
       dead_type = 'TimeoutError', dead_reason = 'no answer from ' || dedupe_key
 WHERE job_type = 'export'
"""


async def fill(database: Database) -> list[NewJob]:
    made = [NewJob("export", f"export:{number}", "system") for number in range(3)]
    made.append(NewJob("score", "score:1", "system", payload={"token": "hidden"}))
    async with database.transaction() as connection:
        await enqueue(connection, made)
    await database.fetch(DIE)
    return made


async def test_jobs_are_listed_shown_and_called_off(
    admin: httpx.AsyncClient, database: Database
) -> None:
    made = await fill(database)
    queued = (await admin.get(f"{V}/jobs", params={"state": "queued"})).json()["items"]
    assert [job["id"] for job in queued] == [str(made[3].id)]
    first = (await admin.get(f"{V}/jobs", params={"limit": 3})).json()
    rest = (await admin.get(f"{V}/jobs", params={"limit": 3, "cursor": first["next"]})).json()
    assert len({job["id"] for job in first["items"] + rest["items"]}) == 4
    shown = await admin.get(f"{V}/jobs/{made[3].id}")
    assert shown.json()["state"] == "queued"
    assert "hidden" not in shown.text
    stats = {row["job_type"]: row for row in (await admin.get(f"{V}/jobs/stats")).json()["items"]}
    assert (stats["export"]["dead"], stats["score"]["queued"]) == (3, 1)
    assert (await admin.post(f"{V}/jobs/{made[3].id}/cancel")).json() == {"jobs": 1}
    problem(await admin.post(f"{V}/jobs/{made[3].id}/cancel"), 404, "not_found")


async def test_dead_letters_are_requeued_and_purged_by_choice(
    admin: httpx.AsyncClient, database: Database
) -> None:
    made = await fill(database)
    letters = (await admin.get(f"{V}/dead-letters", params={"category": "network"})).json()["items"]
    assert len(letters) == 3
    assert letters[0]["reason"].startswith("no answer from export:")
    again = await admin.post(f"{V}/dead-letters/requeue", json={"job_ids": [str(made[0].id)]})
    assert again.json() == {"jobs": 1}
    assert (await admin.post(f"{V}/dead-letters/purge", json={"everything": True})).json() == {
        "jobs": 2
    }
    assert (await admin.get(f"{V}/dead-letters")).json()["items"] == []
    problem(await admin.post(f"{V}/dead-letters/purge", json={}), 422, "usage")
    both = {"everything": True, "job_type": "export"}
    problem(await admin.post(f"{V}/dead-letters/requeue", json=both), 422, "usage")
    problem(await admin.post(f"{V}/dead-letters/requeue", json={"category": "odd"}), 422, "invalid")
    assert (await admin.get(f"{V}/dead-letters/patterns")).json() == {"items": []}
