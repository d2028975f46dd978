"""Keywords that are due become jobs, and jobs snapshots or gaps."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from messor.errors import UnavailableError
from messor.jobs.handlers import Handlers
from messor.jobs.jobs import Job
from messor.scout import keywords, track
from messor.scout.search import Searcher
from messor.store.database import Database
from messor.verticals.verticals import Applied
from simweb.services.standin import Failure
from tests.scout.conftest import Apply, Bench, add_keyword


async def asked_for(database: Database, applied: Applied) -> list[Job]:
    async with database.transaction() as connection:
        await track.ask_for_jobs(connection, applied.id)
    rows = await database.fetch(
        "SELECT id, job_type, dedupe_key, target_kind, target_id, priority FROM messor.jobs"
    )
    return [
        Job(
            **row,
            target_url=None,
            payload={},
            input_hash=None,
            prompt_version=None,
            model=None,
            token=1,
            attempts=1,
            max_attempts=3,
        )
        for row in rows
    ]


async def test_due_keywords_are_asked_for_once_in_their_window(
    database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    await keywords.write(database, applied, ["us-desktop"], actor="test")
    await add_keyword(database, applied, "museum fund", "us-desktop")
    due = await track.due(database, applied.id, limit=1)
    assert [(item.wanted.query, item.tier) for item in due] == [("museum fund", "A")]
    first = await asked_for(database, applied)
    assert len(first) == await database.fetchval("SELECT count(*) FROM messor.keywords")
    assert len(await asked_for(database, applied)) == len(first)
    keys = {job.dedupe_key.rpartition(":")[2] for job in first}
    assert len(keys) == 2  # a day for tier A, a month for tier C


async def test_a_job_takes_a_snapshot(database: Database, apply: Apply, bench: Bench) -> None:
    applied = await apply("funding")
    await add_keyword(database, applied, "museum fund", "us-desktop")
    [job] = await asked_for(database, applied)
    _, hired = await bench.hire("serper")
    handlers = Handlers()
    track.register(handlers, database, Searcher(database, [hired]))
    effects = await handlers.prepare(job)
    async with database.transaction() as connection:
        assert await effects(connection) == {"state": "answered", "message": ""}
    assert await track.due(database, applied.id) == []
    assert await database.fetchval("SELECT last_snapshot_at FROM messor.keywords") is not None


async def test_the_window_is_not_spent_while_it_lasts(
    database: Database, apply: Apply, bench: Bench
) -> None:
    applied = await apply("funding")
    async with database.transaction() as connection:
        await keywords.add(
            connection, applied, "museum fund", tier="C", names=["us-desktop"], actor="test"
        )
    [job] = await asked_for(database, applied)
    stand_in, hired = await bench.hire("searxng")
    stand_in.failure = Failure.NOBODY_ANSWERS
    handlers = Handlers()
    track.register(handlers, database, Searcher(database, [hired]))
    effects = await handlers.prepare(replace(job, attempts=3))
    async with database.transaction() as connection:
        done = await effects(connection)
    assert done is not None
    assert (done["state"], done["rounds"]) == ("waiting", 1)
    assert await database.fetchval("SELECT count(*) FROM messor.serp_snapshots") == 0
    later = await database.fetchval(
        "SELECT available_at - messor.clock() FROM messor.jobs WHERE id <> $1", job.id
    )
    assert track.NEXT_ROUND * 0.9 < later <= track.NEXT_ROUND


async def test_the_last_try_leaves_a_gap(
    database: Database, apply: Apply, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(track, "NEXT_ROUND", timedelta(days=40))  # the window ends before
    applied = await apply("funding")
    await add_keyword(database, applied, "museum fund", "us-desktop")
    [job] = await asked_for(database, applied)
    stand_in, hired = await bench.hire("serper")
    stand_in.failure = Failure.TOO_MANY
    handlers = Handlers()
    track.register(handlers, database, Searcher(database, [hired]))
    with pytest.raises(UnavailableError, match="slow down"):
        await handlers.prepare(job)
    effects = await handlers.prepare(replace(job, attempts=3))
    async with database.transaction() as connection:
        done = await effects(connection)
    assert done is not None
    assert done["state"] == "gap"
    row = await database.fetchrow("SELECT outcome, result_count FROM messor.serp_snapshots")
    assert row is not None
    assert tuple(row) == ("failed", 0)


async def test_tiers_and_new_keywords_say_how_urgent_a_search_is(
    database: Database, apply: Apply
) -> None:
    applied = await apply("community_resources")
    for tier in ("A", "B", "C"):
        await add_keyword(database, applied, f"food parcel {tier}", "uk-desktop")
        await database.fetch(
            """UPDATE messor.keywords SET tier = $1, last_snapshot_at = messor.clock() - interval '60 days'
                WHERE keyword_text = lower($2)""",
            tier,
            f"food parcel {tier}",
        )
    await add_keyword(database, applied, "food bank", "uk-desktop")
    await asked_for(database, applied)
    rows = await database.fetch(
        """SELECT k.keyword_text, j.priority FROM messor.jobs j JOIN messor.keywords k
            ON k.id = j.target_id ORDER BY j.priority"""
    )
    assert [tuple(row) for row in rows] == [
        ("food bank", 3),
        ("food parcel a", 4),
        ("food parcel b", 5),
        ("food parcel c", 6),
    ]
