"""Search through a search server over the API, and its index."""

from __future__ import annotations

from pathlib import Path

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import api_over, client_of, key_of
from tests.search_server.serving import fill, index, settings_of, standing_in


async def test_answers_say_who_gave_them_and_the_index_is_managed(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    await fill(dsn)
    async with standing_in() as (stand_in, server):
        settings = settings_of(
            server.settings.url, data_dir=tmp_path, contact="https://example.invalid/"
        )
        app = api_over(settings, database)
        key = await key_of(database, Role.ADMIN)
        async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as admin:
            await index(database, server)
            found = (await admin.get("/api/v1/search", params={"q": "tea", "facets": True})).json()
            assert (found["answered_by"], found["facets"]["total"]) == ("search server", 3)
            stand_in.failures = [500]
            found = (await admin.get("/api/v1/search", params={"q": "tea"})).json()
            assert (found["answered_by"], len(found["items"])) == ("postgresql", 3)
            assert "PostgreSQL was used instead" in found["notice"]
            (shown,) = (await admin.get("/api/v1/search/index")).json()["items"]
            assert shown["state"] == "live"
            assert (await admin.get("/api/v1/health")).json()["search_indexes"] == [shown]
            asked = await admin.post("/api/v1/search/index/rebuild")
            again = await admin.post("/api/v1/search/index/rebuild")
            assert (asked.status_code, again.json()) == (202, {"job_id": None})
            checked = (await admin.post("/api/v1/search/index/check")).json()
            assert checked["job_id"] is not None
        await app.state.context.close()
