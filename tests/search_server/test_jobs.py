"""The jobs that make the index, send what is new and repair it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from messor.core.ids import new_id
from messor.insight.search_server import indexes, jobs
from messor.insight.search_server.layout import key_of
from messor.jobs.handlers import Handlers
from messor.jobs.jobs import Job
from messor.schedule.standard import standard_registry
from messor.settings import Settings
from messor.store.database import Database
from tests.search_server.serving import fill, settings_of, standing_in


def job_of(job_type: str) -> Job:
    given: dict[str, Any] = dict.fromkeys(one.name for one in fields(Job))
    return Job(**{**given, "id": new_id(), "job_type": job_type, "payload": {}})


async def test_the_jobs_make_the_index_follow_and_repair_it(database: Database, dsn: str) -> None:
    await fill(dsn)
    async with standing_in() as (stand_in, server):
        settings = settings_of(server.settings.url)
        assert "O-Search" in {one.name for one in standard_registry(settings)}
        assert "O-Search" not in {one.name for one in standard_registry(Settings())}
        handlers = Handlers()
        jobs.register(handlers, settings, database)
        assert handlers.job_types == ["search_check", "search_rebuild", "search_send"]

        async def perform(job_type: str) -> object:
            if job_type == jobs.SEND:
                async with database.transaction() as connection:
                    assert await jobs.ask_to_send(connection) in (0, 1)
            effects = await handlers.prepare(job_of(job_type))
            async with database.transaction() as connection:
                return await effects(connection)

        assert await perform(jobs.SEND) == {"documents": 3, "refused": 0}  # makes the index
        first = await indexes.name_of(database, "live")
        assert await perform(jobs.SEND) == {"documents": 0, "refused": 0}
        assert await perform(jobs.REBUILD) == {"documents": 3, "refused": 0}
        name = await indexes.name_of(database, "live")
        assert name is not None
        assert name != first
        key = key_of(1, None)
        del stand_in.indexes[name].written[key]
        assert await perform(jobs.CHECK) == {
            "documents": 3,
            "missing": 1,
            "different": 0,
            "extra": 0,
        }
        assert await perform(jobs.SEND) == {"documents": 1, "refused": 0}
        assert key in stand_in.indexes[name].written
