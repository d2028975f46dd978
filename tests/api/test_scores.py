"""Scores over the API: with their parts, simulated, applied; calibration."""

from __future__ import annotations

import httpx
import pytest

from messor.access.roles import Role
from messor.store.database import Database
from messor.verticals import files, verticals
from tests.api.conftest import AsRole, problem
from tests.console.found import seed
from tests.insight.making import decide_candidates

FUNDING = files.shipped("funding").vertical.version
V = "/api/v1/verticals/wellness"


async def test_scores_decompose(admin: httpx.AsyncClient, database: Database) -> None:
    await seed(database)
    rows = (await admin.get("/api/v1/scores", params={"vertical": "wellness"})).json()["items"]
    assert [one["name"] for one in rows] == sorted(
        (one["name"] for one in rows), key=lambda name: -_of(rows, name)
    )
    for one in rows:
        assert sum(part["contribution"] for part in one["parts"]) == pytest.approx(one["score"])
    told = (await admin.get(f"{V}/scores/{rows[0]['subject_id']}")).json()
    assert told["name"] == rows[0]["name"]
    assert len(told["scores"]) == 1


def _of(rows: list[dict[str, float]], name: object) -> float:
    return next(one["score"] for one in rows if one["name"] == name)


async def test_weights_are_tried_then_put_in_force(as_role: AsRole, database: Database) -> None:
    now = (await seed(database)).applied.vertical.version
    viewer = await as_role(Role.VIEWER)
    only = dict.fromkeys(("visibility", "record_yield", "quality", "friction", "cost"), 0)
    body = (await viewer.post(f"{V}/scores/simulate", json={"weights": only})).json()
    assert (body["domains"], body["changed"]) == (3, 3)
    problem(await viewer.post(f"{V}/scores", json={}), 403, "forbidden")
    reviewer = await as_role(Role.REVIEWER)
    done = await reviewer.post(f"{V}/scores", json={"weights": only, "seen": now})
    assert (done.json()["version"], done.json()["levels_changed"]) == (now + 1, 3)
    late = await reviewer.post(f"{V}/scores", json={"weights": only, "seen": now})
    problem(late, 409, "conflict")
    assert (await verticals.get(database, "wellness")).vertical.scoring.weights["cost"] == 0
    again = await reviewer.post(f"{V}/scores", json={})
    assert again.json()["version"] == now + 1
    bad = {"weights": {"beauty": 1}}
    problem(await reviewer.post(f"{V}/scores", json=bad), 422, "invalid")


async def test_calibration(admin: httpx.AsyncClient, database: Database) -> None:
    await seed(database, weeks=1)
    rows = (await admin.get(f"{V}/calibration")).json()["items"]
    assert {one["what"] for one in rows} >= {"confidence", "keyword"}
    assert all(one["decisions"] == 2 for one in rows if one["what"] == "keyword")


async def test_judge_weights_are_shown_with_figures_then_applied(
    as_role: AsRole, database: Database
) -> None:
    await decide_candidates(database, 40)
    place = "/api/v1/verticals/funding/judges/weights"
    viewer: httpx.AsyncClient = await as_role(Role.VIEWER)
    shown = (await viewer.get(place)).json()
    assert (shown["now"]["wrong"], shown["then"]["wrong"]) == (10, 0)
    problem(await viewer.post(place, json={}), 403, "forbidden")
    reviewer = await as_role(Role.REVIEWER)
    problem(await reviewer.post(place, json={"seen": FUNDING + 5}), 409, "conflict")
    assert (await reviewer.post(place, json={"seen": FUNDING})).status_code == 200
    assert (await verticals.get(database, "funding")).vertical.version == FUNDING + 1
