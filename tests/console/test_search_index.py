"""Search through a search server in the console, and its index."""

from __future__ import annotations

from pathlib import Path

from messor.access.roles import Role
from messor.store.database import Database
from tests.console.conftest import Enter, Serve
from tests.search_server.serving import fill, index, settings_of, standing_in


async def test_answers_say_who_gave_them_and_the_index_is_shown(
    database: Database, dsn: str, tmp_path: Path, serve: Serve, enter: Enter
) -> None:
    await fill(dsn)
    plain = await enter(await serve(), Role.VIEWER)
    assert (
        "Set MESSOR_SEARCH_SERVER_URL to use Elasticsearch"
        in (await plain.get("/search/index")).said
    )
    async with standing_in() as (stand_in, server):
        base = await serve(settings_of(server.settings.url, data_dir=tmp_path))
        admin = await enter(base, Role.ADMIN)
        assert "The index is created within a minute" in (await admin.get("/search/index")).said
        await index(database, server)
        found = await admin.get("/search?q=tea")
        assert ("3 results" in found.said, "PostgreSQL was used instead" in found.said) == (
            True,
            False,
        )
        assert "live" in (await admin.get("/search/index")).said
        stand_in.failures = [503]
        found = await admin.get("/search?q=tea")
        assert (
            "3 results" in found.said,
            "PostgreSQL was used instead: The search server" in found.said,
        ) == (True, True)
        asked = await admin.send("/search/index", "/search/index/rebuild")
        assert (asked.status, asked.place) == (303, "/search/index")
        await admin.send("/search/index", "/search/index/check")
        rows = await database.fetch("SELECT job_type FROM messor.jobs ORDER BY job_type")
        assert [row["job_type"] for row in rows] == ["search_check", "search_rebuild"]
