"""`messor up` and `messor worker` as they are run, on both dispatchers: visits and jobs under kills."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.store.database import Database
from tests.broker.rabbitmq import RabbitMQ
from tests.crawling import admit
from tests.little_web import LittleWeb, page

pytestmark = pytest.mark.alone

HOSTS = ("a.test", "b.test", "c.test")
PAGES = 25
HARVESTED = "SELECT count(*) FROM messor.crawl_tasks WHERE kind = 'page' AND outcome = 'ok'"
DOUBLED = "SELECT count(*) - count(DISTINCT page_id) FROM messor.page_snapshots"


class House:
    """Commands of one installation, each in a process of its own."""

    def __init__(self, folder: Path, environment: dict[str, str], broker: RabbitMQ | None) -> None:
        self._folder = folder
        self._environment = {**os.environ, **environment}
        self.broker = broker

    async def start(self, *words: str) -> Process:
        with (self._folder / "said").open("ab") as said:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "messor", *words),
                cwd=self._folder,
                env=self._environment,
                stderr=said,
            )

    @property
    def said(self) -> str:
        return (self._folder / "said").read_text()


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[LittleWeb]:
    links = [f"/{number}" for number in range(PAGES - 1)]
    rooms = {"/": page("the start", *links), **{link: page(link) for link in links}}
    async with LittleWeb(tmp_path, {host: dict(rooms) for host in HOSTS}) as served:
        yield served


@pytest.fixture(params=["in process", pytest.param("celery", marks=pytest.mark.wide)])
async def house(request: pytest.FixtureRequest, web: LittleWeb, dsn: str, tmp_path: Path) -> House:
    settings = web.settings()
    environment = {
        "MESSOR_DATABASE_URL": dsn,
        "MESSOR_DATA_DIR": str(settings.data_dir),
        "MESSOR_ALLOWED_NETWORKS": settings.allowed_networks.model_dump_json(),
        "MESSOR_WORKER_LEASE": "3",
        "MESSOR_BROWSER": "off",
        "MESSOR_LISTEN_PORT": "0",
    }
    broker: RabbitMQ | None = None
    if request.param == "celery":
        broker = request.getfixturevalue("broker")
        assert broker is not None
        environment["MESSOR_BROKER_URL"] = broker.url
    return House(tmp_path, environment, broker)


async def end(process: Process) -> int:
    if process.returncode is None:
        process.terminate()
    try:
        return await asyncio.wait_for(process.wait(), 120)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ask_for_audits(database: Database, letter: str) -> None:
    payload = {"since": "2026-01-01T00:00:00+00:00"}
    wanted = [NewJob("audit", f"audit:{letter}{n}", "log", payload=payload) for n in range(5)]
    async with database.transaction() as connection:
        await jobs.enqueue(connection, wanted)


async def until(database: Database, statement: str, wanted: Any) -> None:
    async with asyncio.timeout(180):
        while await database.fetchval(statement) != wanted:  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.05)


async def until_done(database: Database, count: int) -> None:
    await until(database, "SELECT count(*) FROM messor.jobs WHERE state = 'done'", count)


async def children(process: Process, count: int) -> list[psutil.Process]:
    """The workers of a supervisor, which also has a process that extracts."""
    async with asyncio.timeout(120):
        while True:
            found = psutil.Process(process.pid).children()
            workers = [each for each in found if "extract" not in each.cmdline()]
            if len(workers) == count:
                return workers
            await asyncio.sleep(0.05)


async def test_everything_is_done_once_whoever_is_killed(house: House, database: Database) -> None:
    for host in HOSTS:
        await admit(database, f"http://{host}/", delay=0.05)
    async with AsyncExitStack() as ending:
        leading = await house.start("up", "--workers", "0")
        ending.push_async_callback(end, leading)
        working = await house.start("worker", "--processes", "2", "--concurrency", "8")
        ending.push_async_callback(end, working)
        doomed, _ = await children(working, 2)
        await ask_for_audits(database, "a")
        await until(database, f"SELECT ({HARVESTED}) > 5", True)
        os.kill(doomed.pid, signal.SIGKILL)
        if house.broker is not None:
            house.broker.kill()
        await ask_for_audits(database, "b")
        await until_done(database, 10)
        if house.broker is not None:
            house.broker.start()
            await asyncio.to_thread(house.broker.wait)
        await ask_for_audits(database, "c")
        await until_done(database, 15)
        await until(database, HARVESTED, PAGES * len(HOSTS))
        assert await end(working) == 0
        assert await end(leading) == 0
    assert await database.fetchval(DOUBLED) == 0
    audited = "SELECT count(*) FROM messor.events WHERE type = 'audit.completed'"
    assert await database.fetchval(audited) == 15
    assert f"Worker {doomed.pid} was ended by SIGKILL; starting another" in house.said
    assert "Traceback" not in house.said


@pytest.mark.parametrize("words", [(), ("--processes", "2")], ids=["one", "many"])
async def test_workers_beside_up_without_any_extract(
    house: House, database: Database, words: tuple[str, ...]
) -> None:
    """What `up` with workers does of itself must not be lost where workers run elsewhere."""
    await admit(database, "http://a.test/", delay=0.02)
    async with AsyncExitStack() as ending:
        leading = await house.start("up", "--workers", "0", "--no-console")
        ending.push_async_callback(end, leading)
        working = await house.start("worker", *words)
        ending.push_async_callback(end, working)
        await until(database, "SELECT count(*) FROM messor.extractions", PAGES)
        await until(database, "SELECT count(*) FROM messor.extraction_due", 0)
        assert await end(working) == 0
        assert await end(leading) == 0
    assert "Traceback" not in house.said


async def test_what_is_named_is_done_and_nothing_else(house: House, database: Database) -> None:
    await admit(database, "http://a.test/")
    await ask_for_audits(database, "a")
    working = await house.start("worker", "--only", "visit")
    try:
        await until(database, HARVESTED, PAGES)
    finally:
        assert await end(working) == 0
    assert await jobs.counts(database) == {"audit": {"queued": 5}}
    await admit(database, "http://b.test/")
    working = await house.start("worker", "--only", "audit")
    try:
        await until_done(database, 5)
    finally:
        assert await end(working) == 0
    assert await database.fetchval(HARVESTED) == PAGES


async def test_a_worker_that_keeps_growing_is_replaced_and_nothing_is_lost(
    house: House, database: Database
) -> None:
    """No worker is as small as this ceiling, so each is replaced as soon as it is looked at."""
    for host in HOSTS:
        await admit(database, f"http://{host}/", delay=0.2)
    house._environment["MESSOR_WORKER_MEMORY_MB"] = "64"
    working = await house.start("worker")
    try:
        await ask_for_audits(database, "a")
        await until(database, HARVESTED, PAGES * len(HOSTS))
        await until_done(database, 5)
    finally:
        await end(working)
    assert f"Worker {working.pid} uses" in house.said
    assert "MB and is restarted" in house.said
    assert await database.fetchval(DOUBLED) == 0
