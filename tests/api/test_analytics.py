"""Analytics over the API: questions, SQL with its permission and its event, the job."""

from __future__ import annotations

from pathlib import Path

from messor.access.roles import Role
from messor.analytics.answers import store_of
from messor.analytics.sync import sync
from messor.settings import Settings
from messor.store.database import Database
from tests.analytics.stage import stage_everything
from tests.api.conftest import api_over, client_of, key_of


async def test_questions_and_sql(database: Database, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, contact="https://example.invalid/")
    app = api_over(settings, database)
    admin, viewer = await key_of(database, Role.ADMIN), await key_of(database, Role.VIEWER)
    async with client_of(app, headers={"Authorization": f"Bearer {admin}"}) as client:
        early = await client.get("/api/v1/analytics/funnel")
        assert (early.status_code, early.json()["code"]) == (409, "conflict")
        await stage_everything(database)
        with store_of(settings) as store:
            await sync(database, store)
        shown = (await client.get("/api/v1/analytics")).json()
        assert (shown["store"], shown["is_filled"], len(shown["questions"])) == ("duckdb", True, 9)
        for question in shown["questions"]:
            answered = await client.get(f"/api/v1/analytics/{question['name']}")
            assert answered.status_code == 200, answered.text
        trends = (await client.get("/api/v1/analytics/price-trends?days=60&category=Cups")).json()
        assert {one["category"] for one in trends["items"]} == {"Cups"}
        assert trends["chart"]["form"] == "lines"
        assert (await client.get("/api/v1/analytics/nothing")).status_code == 404
        given = {"sql": "SELECT count(*) AS n FROM products"}
        found = (await client.post("/api/v1/analytics/query", json=given)).json()
        assert found == {"columns": ["n"], "rows": [[4]], "is_cut": False}
        wrong = await client.post("/api/v1/analytics/query", json={"sql": "DROP VIEW products"})
        assert (wrong.status_code, "Only one SELECT" in wrong.text) == (422, True)
        first = await client.post("/api/v1/analytics/sync")
        again = await client.post("/api/v1/analytics/sync")
        assert (first.status_code, again.json()) == (202, {"job_id": None})
        client.headers["Authorization"] = f"Bearer {viewer}"
        assert (await client.post("/api/v1/analytics/query", json=given)).status_code == 403
        assert (await client.get("/api/v1/analytics/funnel")).status_code == 200
    await app.state.context.close()
