"""The contract of dispatch, the same in process and through Celery: each job once in effect."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from messor.store.database import Database
from tests.broker.conftest import Team, ask, made, until, until_so

pytestmark = pytest.mark.xdist_group("rabbitmq")


async def test_each_job_is_done_once(database: Database, team: Team) -> None:
    await team.hire()
    await team.hire()
    await ask(database, *(f"a{number:03}" for number in range(60)))
    await ask(database, *(f"b{number:03}" for number in range(60)), job_type="other", priority=2)
    await ask(database, "late", delay=timedelta(seconds=1))
    await until(database, done=121)
    keys = sorted([f"{letter}{number:03}" for letter in "ab" for number in range(60)] + ["late"])
    assert await made(database) == keys
    assert await team.dismiss() == [0, 0]
    assert await made(database) == keys


async def test_jobs_of_a_killed_worker_are_done_by_another(
    database: Database, team: Team, tmp_path: Path
) -> None:
    doomed, go = await team.hire(), tmp_path / "go"
    await ask(database, *"abcdef", job_type="slow", payload={"file": str(go)})
    await until(database, running=4, queued=2)
    doomed.kill()
    await until_so(lambda: not doomed.is_alive())
    go.touch()
    await team.hire()
    await until(database, done=6)
    assert await made(database) == list("abcdef")
    attempts = await database.fetch("SELECT attempts FROM messor.jobs ORDER BY attempts")
    assert [row["attempts"] for row in attempts] == [1, 1, 2, 2, 2, 2]


async def test_a_stopped_worker_finishes_what_it_began(
    database: Database, team: Team, tmp_path: Path
) -> None:
    worker, go = await team.hire(concurrency=2), tmp_path / "go"
    await ask(database, *"abcd", job_type="slow", payload={"file": str(go)})
    await until(database, running=2, queued=2)
    worker.terminate()
    go.touch()
    assert await team.dismiss() == [0]
    finished = await made(database)
    assert len(finished) == 2
    await until(database, done=2, queued=2)
    assert await database.fetchval("SELECT sum(attempts) FROM messor.jobs") == 2
