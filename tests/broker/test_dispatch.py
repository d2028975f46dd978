"""The contract of dispatch, the same in process and through Celery: each job once in effect."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from messor.jobs import jobs
from messor.store.database import Database
from messor.store.server import EmbeddedServer
from tests.broker.conftest import (
    BRIEF,
    PATIENCE,
    Team,
    ask,
    made,
    state_counts,
    until,
    until_so,
)
from tests.moments import crash


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
    doomed, go = await team.hire(lease_seconds=BRIEF), tmp_path / "go"
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
    await team.heard("slow")
    go.touch()
    await until_so(lambda: not worker.is_alive())
    assert await team.dismiss() == [0]
    finished = await made(database)
    assert len(finished) == 2
    await until(database, done=2, queued=2)
    assert await database.fetchval("SELECT sum(attempts) FROM messor.jobs") == 2


async def test_the_broker_may_die_and_come_back(database: Database, team: Team) -> None:
    for _ in range(2):
        await team.hire()
    await team.connected(2)
    await ask(database, *(f"a{number}" for number in range(10)))
    team.lose_broker()
    await ask(database, *(f"b{number}" for number in range(10)))
    await until(database, done=20)
    await team.bring_broker_back()
    await team.connected(2)
    await ask(database, *(f"c{number}" for number in range(10)))
    await until(database, done=30)
    assert await made(database) == [f"{a}{b}" for a in "abc" for b in range(10)]
    assert await team.dismiss() == [0, 0]


@pytest.mark.wide
async def test_worker_and_broker_die_together(
    database: Database, team: Team, tmp_path: Path
) -> None:
    doomed, go = await team.hire(lease_seconds=BRIEF), tmp_path / "go"
    await ask(database, *"abcdef", job_type="slow", payload={"file": str(go)})
    await until(database, running=4, queued=2)
    doomed.kill()
    team.lose_broker()
    go.touch()
    await team.hire()
    await until(database, done=6)
    await team.bring_broker_back()
    await ask(database, "g")
    await until(database, done=7)
    assert await made(database) == list("abcdefg")


async def test_the_database_may_die_and_come_back(
    doomed_team: Team, doomed_server: EmbeddedServer, tmp_path: Path
) -> None:
    """Jobs under way are stored when it is back, in one attempt, by the same processes."""
    async with Database(doomed_server.acquire()) as database:
        for _ in range(2):
            await doomed_team.hire(lease_seconds=60)
        go = tmp_path / "go"
        await ask(database, *"abcdefgh", job_type="slow", payload={"file": str(go)})
        await until(database, running=8)
        for _ in range(2):
            await asyncio.to_thread(crash, doomed_server)
            go.touch()
            await asyncio.to_thread(doomed_server.ensure_running)
            await until(database, done=8)
        await ask(database, "i")
        await until(database, done=9)
        assert await doomed_team.dismiss() == [0, 0]
        assert await made(database) == list("abcdefghi")
        assert await database.fetchval("SELECT max(attempts) FROM messor.jobs") == 1


async def test_a_worker_that_slept_past_its_leases_does_no_harm(
    database: Database, team: Team, tmp_path: Path
) -> None:
    sleeper, go = await team.hire(concurrency=2, lease_seconds=BRIEF), tmp_path / "go"
    await ask(database, "a", "b", job_type="slow", payload={"file": str(go)})
    await until(database, running=2)
    assert sleeper.pid is not None
    os.kill(sleeper.pid, signal.SIGSTOP)
    go.touch()
    await team.hire()
    await until(database, done=2)
    os.kill(sleeper.pid, signal.SIGCONT)
    await ask(database, "c")
    await until(database, done=3)
    assert await team.dismiss() == [0, 0]
    assert await made(database) == ["a", "b", "c"]


async def test_failures_are_tried_again_and_end_as_dead_letters(
    database: Database, team: Team
) -> None:
    await team.hire()
    await ask(database, "passes", job_type="failing", payload={"times": 2})
    await ask(database, "stays", job_type="failing", payload={"times": 9})
    await until(database, done=1, dead=1)
    assert await made(database) == ["passes"]
    logged = await database.fetchval("SELECT count(*) FROM messor.error_logs")
    assert logged == 2 + 3


async def test_a_cancelled_job_is_left(database: Database, team: Team, tmp_path: Path) -> None:
    await team.hire(concurrency=1, lease_seconds=BRIEF)  # it looks as often as that
    never = str(tmp_path / "never")
    (job,) = await ask(database, "a", job_type="slow", payload={"file": never})
    await until(database, running=1)
    async with database.transaction() as connection:
        await jobs.cancel(connection, [job.id])
    await ask(database, "b")
    await until(database, done=1, cancelled=1)
    assert await made(database) == ["b"]


async def test_a_job_that_kills_its_workers_does_not_take_others_with_it(
    database: Database, team: Team
) -> None:
    """It dies three deaths; those that died beside it come through, and the rest never stops."""
    await ask(database, *"abcdefg", job_type="poison", payload={"kills": False})
    await ask(database, "poison", job_type="poison", payload={"kills": True}, priority=4)
    worker, deaths = await team.hire(concurrency=8, lease_seconds=BRIEF), 0
    async with asyncio.timeout(PATIENCE):
        while await state_counts(database) != {"done": 7, "dead": 1}:
            if not worker.is_alive():
                deaths += 1
                worker = await team.hire(concurrency=8, lease_seconds=BRIEF)
            await asyncio.sleep(0.05)
    assert deaths == 3
    assert await made(database) == list("abcdefg")
    reason = await database.fetchval("SELECT dead_reason FROM messor.jobs WHERE state = 'dead'")
    assert "expired during attempt 3" in reason
