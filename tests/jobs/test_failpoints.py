"""A worker killed at 100 points between its claim and its commit: each effect is there once.

The points are before and after each word a worker sends to the database, begin and commit
included; a process of its own dies at each, twice, and what it left is taken up by another.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from messor.jobs import jobs
from messor.jobs.handlers import Handlers
from messor.jobs.jobs import NewJob
from messor.store.database import Database
from tests.jobs.conftest import Later
from tests.jobs.test_runner import note, running

POINTS = 100
ROOT = Path(__file__).parents[2]

# Forks a worker for each point: importing everything a hundred times would take minutes.
WORKERS = """
import asyncio, json, os, signal, sys
import asyncpg
from asyncpg.transaction import Transaction
from messor.jobs.handlers import Handlers
from messor.jobs.runner import Runner, RunnerLimits
from messor.store.database import Database
from tests.jobs.test_runner import note

class FailPoint:
    def __init__(self, point):
        self.left = point

    def pass_by(self):
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, owner, name):
        original = getattr(owner, name)
        async def watched(*args, **kwargs):
            self.pass_by()
            answer = await original(*args, **kwargs)
            self.pass_by()
            return answer
        setattr(owner, name, watched)

async def work(dsn, job_type, point):
    handlers = Handlers()
    @handlers.handles(job_type)
    async def effects(connection, job):
        await note(connection, job)
        return await note(connection, job)
    async with Database(dsn) as database:
        fail_point = FailPoint(point)
        for name in ("fetch", "fetchrow", "fetchval", "execute"):
            fail_point.watch(asyncpg.Connection, name)
        for name in ("start", "commit"):
            fail_point.watch(Transaction, name)
        await Runner(database, handlers, f"point-{point}", RunnerLimits(poll_seconds=0.01)).run()

ended = []
for number in range(int(sys.argv[2])):
    pid = os.fork()
    if not pid:
        signal.alarm(300)
        asyncio.run(work(sys.argv[1], f"score-{number}", number // 2))
        os._exit(0)
    ended.append(-os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print(json.dumps(ended))
"""


async def test_killed_at_any_point_every_effect_is_there_exactly_once(
    database: Database, later: Later
) -> None:
    types = [f"score-{number}" for number in range(POINTS)]
    async with database.transaction() as connection:
        wanted = [NewJob(name, f"{name}:{n}", "page") for name in types for n in range(3)]
        await jobs.enqueue(connection, wanted)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WORKERS, database.dsn, str(POINTS),
        stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    out, _ = await process.communicate()
    assert set(json.loads(out)) == {9}

    killed_early, killed_late = 0, 0
    for states in (await jobs.counts(database)).values():
        killed_late += states.get("done", 0)
        killed_early += states.get("running", 0) + states.get("queued", 0)
    assert killed_early > 0
    assert killed_late > 0
    await everything_done(await later("2 minutes"), types)
    rows = await database.fetch("SELECT actor, count(*) FROM messor.events GROUP BY actor")
    assert {row["actor"]: row["count"] for row in rows} == {job.dedupe_key: 2 for job in wanted}


async def everything_done(database: Database, types: list[str]) -> None:
    handlers = Handlers()
    for name in types:

        @handlers.handles(name)
        async def effects(connection, job):  # type: ignore[no-untyped-def]
            await note(connection, job)
            return await note(connection, job)

    async with running(database, handlers), asyncio.timeout(180):
        while await database.fetchval("SELECT 1 FROM messor.jobs WHERE state <> 'done' LIMIT 1"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
