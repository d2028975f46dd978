"""A receiver of webhooks on a real port, and those who tell it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from messor.jobs import jobs
from messor.jobs.handlers import Handlers
from messor.jobs.outcomes import Backoff
from messor.jobs.runner import Runner, RunnerLimits
from messor.ledger.events import Event, record
from messor.ops.webhooks import deliver
from messor.ops.webhooks.dispatch import Dispatcher
from messor.settings import Settings
from messor.store.database import Database

FAST = RunnerLimits(poll_seconds=0.01, backoff=Backoff(0.001, 0.01))
PATIENCE = 60.0


class Receiver:
    """Somebody who is told; answers what it is set to."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.got.append(({name.lower(): value for name, value in request.headers.items()}, body))
        status = self.answers.pop(0) if self.answers else 200
        return web.Response(status=status, headers={"Location": "http://127.0.0.1:1/"})

    @property
    def types(self) -> list[str]:
        return [msgspec.json.decode(body)["type"] for _, body in self.got]


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    made, app = Receiver(), web.Application()
    app.router.add_post("/hook", made.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield made
    finally:
        await runner.cleanup()


@asynccontextmanager
async def working(settings: Settings, database: Database) -> AsyncIterator[None]:
    """Two dispatchers at once and a runner of jobs."""
    handlers = Handlers()
    deliver.register(handlers, settings, database)
    members: list[Any] = [Dispatcher(database, look_seconds=0.02) for _ in range(2)]
    members.append(Runner(database, handlers, "webhooks", FAST))
    tasks = [asyncio.create_task(member.run()) for member in members]
    try:
        yield
    finally:
        for member in members:
            member.stop()
        await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE)


async def happen(database: Database, *types: str) -> None:
    for kind in types:
        async with database.transaction() as connection:
            await record(connection, [Event(kind, "tester", data={"said": kind})])


async def settled(database: Database, **wanted: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await jobs.counts(database)).get("webhook") != wanted:  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.02)
