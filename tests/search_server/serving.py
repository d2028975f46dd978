"""What tests of a search server share: one to test against, filled from a database."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from messor.core.ids import new_id
from messor.insight.search_index import index_waiting
from messor.insight.search_server import indexes, outbox, rebuild
from messor.insight.search_server.client import SearchServer, SearchServerSettings
from messor.settings import Settings
from messor.store.database import Database
from tests.insight.making import make_site
from tests.search_server.standin import SearchStandIn

# The same tests run against this server; read before the tests hide the environment.
LIVE_URL = os.environ.get("MESSOR_LIVE_ELASTICSEARCH_URL")


def settings_of(url: str, **values: object) -> Settings:
    given: dict[str, object] = {"search_server_url": url, "search_server_index": "messor", **values}
    return Settings.model_validate(given)


def server_at(url: str, **values: object) -> SearchServer:
    options = SearchServerSettings.of(settings_of(url, **values))
    assert options is not None
    return SearchServer(options)


@asynccontextmanager
async def standing_in() -> AsyncIterator[tuple[SearchStandIn, SearchServer]]:
    async with SearchStandIn() as stand_in, server_at(stand_in.url) as server:
        yield stand_in, server


@asynccontextmanager
async def live() -> AsyncIterator[SearchServer]:
    """The server that the environment names, with names of this test's own."""
    own = f"messor-test-{str(new_id())[-12:]}"
    values = {
        "search_server_index": own,
        "search_server_products": f"{own}-products",
        "search_server_timeout": 30,
    }
    assert LIVE_URL is not None
    async with server_at(LIVE_URL, **values) as server:
        yield server
        found = await server.find("GET", f"{own}-*/_alias") or {}
        for name in sorted(found):
            await server.find("DELETE", name)


async def index(database: Database, server: SearchServer | None = None) -> int:
    """Index all that waits, here and at the server."""
    async with database.transaction() as connection:
        count = await index_waiting(connection, 1000)
    if server is not None:
        name = await indexes.name_of(database, "live")
        if name is None:
            await rebuild.rebuild(database, server)
        else:
            await outbox.send_waiting(database, server, name)
        await server.ask("POST", f"{server.settings.alias}/_refresh")
    return count


@contextmanager
def standing_in_a_thread() -> Iterator[SearchStandIn]:
    """For what runs an event loop of its own, such as the command line."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    stand_in = SearchStandIn()
    try:
        asyncio.run_coroutine_threadsafe(stand_in.__aenter__(), loop).result(30)
        yield stand_in
    finally:
        asyncio.run_coroutine_threadsafe(stand_in.__aexit__(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def fill(dsn: str) -> None:
    """Three pages about tea, indexed in PostgreSQL."""
    async with Database(dsn) as database:
        site = await make_site(database, "a.test")
        for n in range(3):
            await site.page(f"green tea {n}", title=f"t{n}", language="en")
        await index(database)
