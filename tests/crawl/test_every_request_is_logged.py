"""Every request that reached a site has its row in the fetch log, however its worker ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from messor.crawl import session
from messor.crawl import worker as worker_module
from messor.crawl.worker import Worker
from messor.errors import LeaseLostError
from messor.store.database import Database
from simweb.answers import SimResponse, plain
from tests.crawling import PATIENCE, admit, eventually, until
from tests.little_web import LittleWeb, Room, page

HOSTS = ("a.test", "b.test", "c.test")
SLOW_SECONDS = 0.7
LOGGED = "SELECT count(*) FROM messor.http_fetches"
LOSE_LEASES = "UPDATE messor.worker_leases SET ended_at = messor.clock(), end_reason = 'expired'"
CUT_OFF = "SELECT count(*) FROM messor.http_fetches WHERE error_json ->> 'type' = 'cut_off'"


def slow(title: str) -> SimResponse:
    return replace(page(title), pause_s=SLOW_SECONDS)


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[LittleWeb]:
    links = [f"/{number}" for number in range(40)]
    rooms: dict[str, Room] = {"/": page("home", *links), "/robots.txt": plain(404, "none")}
    rooms |= {link: slow(link) for link in links}
    async with LittleWeb(tmp_path, {host: dict(rooms) for host in HOSTS}) as served:
        yield served


@contextlib.asynccontextmanager
async def working(
    web: LittleWeb, database: Database
) -> AsyncIterator[tuple[Worker, asyncio.Task[None]]]:
    """A worker that has some requests under way."""
    worker = Worker(web.settings(), database)
    running = asyncio.create_task(worker.run())
    before = len(web.requests())
    await until(lambda: len(web.requests()) >= before + 2 * len(HOSTS))
    yield worker, running


async def all_are_logged(web: LittleWeb, database: Database) -> None:
    await asyncio.sleep(0)
    assert await database.fetchval(LOGGED) == len(web.requests())


async def test_requests_cut_off_by_a_stop_are_logged(
    web: LittleWeb, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "DRAIN_SECONDS", 0.05)
    for host in HOSTS:
        await admit(database, f"http://{host}/", delay=0.01)
    for _ in range(4):
        async with working(web, database) as (worker, running):
            worker.stop()
            await asyncio.wait_for(running, PATIENCE)
        await all_are_logged(web, database)
    assert await database.fetchval(CUT_OFF) > 0


async def test_requests_of_a_worker_that_is_cancelled_are_logged(
    web: LittleWeb, database: Database
) -> None:
    for host in HOSTS:
        await admit(database, f"http://{host}/", delay=0.01)
    async with working(web, database) as (_, running):
        running.cancel()
        await asyncio.wait([running])
    await all_are_logged(web, database)


async def test_requests_of_a_worker_that_lost_its_lease_are_logged(
    web: LittleWeb, database: Database
) -> None:
    for host in HOSTS:
        await admit(database, f"http://{host}/", delay=0.01)
    async with working(web, database) as (worker, running):
        first = worker.shift
        async with database.transaction() as connection:
            await connection.execute(LOSE_LEASES)
        await until(lambda: worker.shift is not first)
        worker.stop()
        with contextlib.suppress(LeaseLostError):
            await asyncio.wait_for(running, PATIENCE)
    await all_are_logged(web, database)


@pytest.mark.parametrize("goes_on", [True, False], ids=["goes on", "is stopped"])
async def test_requests_are_logged_once_the_log_can_be_written_again(
    web: LittleWeb, database: Database, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool
) -> None:
    """A database that is slow when a session ends costs its requests time, not their rows."""
    monkeypatch.setattr(session, "FINAL_LOG_SECONDS", 0.1)
    monkeypatch.setattr(worker_module, "FINAL_LOG_SECONDS", 0.1)
    for host in HOSTS:
        await admit(database, f"http://{host}/", delay=0.01)
    async with working(web, database) as (worker, running):
        await until(lambda: len(web.requests()) >= 3 * len(HOSTS))  # slow pages are under way
        async with database.transaction() as log:
            async with database.transaction() as leases:
                await leases.execute("LOCK TABLE messor.worker_leases IN EXCLUSIVE MODE")
                await log.execute("LOCK TABLE messor.http_fetches IN SHARE MODE")
                await leases.execute(LOSE_LEASES)
            if not goes_on:
                worker.stop()
            await asyncio.sleep(0.5)  # it tries in vain
            assert not running.done()
        if goes_on:
            await eventually(lambda: database.fetchval(CUT_OFF))
        worker.stop()
        await asyncio.wait_for(running, PATIENCE)
    await all_are_logged(web, database)
