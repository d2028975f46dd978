"""A crawled site behind the real API on a socket, and clients of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from messor.access.roles import Role
from messor.exports.job import register
from messor.exports.requests import JOB_TYPE
from messor.jobs.handlers import Handlers
from messor.jobs.leases import claim
from messor.settings import Settings
from messor.store.database import Database
from messor_client import Client
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.api.serving import PATIENCE, Served
from tests.crawling import admit, crawl
from tests.harvested import product_html
from tests.little_web import LittleWeb, page, robots

SITE = {
    "/": page("Home", "/about", "/kettle", "/old", "/private/x"),
    "/about": page("About us"),
    "/kettle": SimResponse(200, (("Content-Type", HTML),), product_html().encode()),
    "/old": SimResponse(301, (("Location", "/about"),), b""),
    "/robots.txt": robots("User-agent: *\nDisallow: /private/\nCrawl-delay: 0\n"),
}


class Installation:
    """The API over a database, and its loop for what workers would do."""

    def __init__(self, served: Served, settings: Settings, web: LittleWeb) -> None:
        self.served, self.settings, self.web = served, settings, web
        self.url = served.url

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        assert self.served._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self.served._loop).result(PATIENCE)

    @property
    def database(self) -> Database:
        assert self.served.database is not None
        return self.served.database

    def key(self, role: Role = Role.ADMIN) -> str:
        return self.served.key(role)

    def client(self, role: Role = Role.ADMIN, **how: Any) -> Client:
        return Client(self.key(role), self.url, **how)

    def work(self) -> None:
        """What a worker does with the queued exports."""

        async def act() -> None:
            handlers = Handlers()
            register(handlers, self.settings, self.database)
            for job in await claim(self.database, "test", [JOB_TYPE], 10, 60.0):
                effects = await handlers.prepare(job)
                async with self.database.transaction() as connection:
                    await effects(connection)

        self.run(act())


@asynccontextmanager
async def crawled(dsn: str, folder: Path) -> AsyncIterator[tuple[LittleWeb, Settings]]:
    async with LittleWeb(folder, {"one.test": SITE}) as web:
        settings = web.settings()
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
            await crawl(settings, database)
        yield web, settings


@pytest.fixture
async def site(dsn: str, tmp_path: Path) -> AsyncIterator[tuple[LittleWeb, Settings]]:
    async with crawled(dsn, tmp_path) as found:
        yield found


@pytest.fixture
def installation(
    site: tuple[LittleWeb, Settings], dsn: str, tmp_path: Path
) -> Iterator[Installation]:
    web, settings = site
    with Served(dsn, tmp_path, settings) as served:
        yield Installation(served, settings, web)


@pytest.fixture
def messor(installation: Installation) -> Iterator[Client]:
    with installation.client() as client:
        yield client
