"""WebSockets at the real server: counted as connections, for Firecrawl's paths alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from messor.access.roles import Role
from messor.cli.serve import WebServer
from messor.runtime.server.crowd import ConnectionTable
from messor.settings import Settings
from messor.store.database import Database
from tests.api.firecrawl.conftest import key_with_policy
from tests.crawling import until

JOB = "00000000-0000-0000-0000-000000000000"


def crowd_of(server: WebServer) -> ConnectionTable:
    protocol = server._server.config.http_protocol_class
    crowd: ConnectionTable = protocol.crowd  # type: ignore[attr-defined]
    return crowd


@asynccontextmanager
async def served(database: Database, folder: Path, **settings: Any) -> AsyncIterator[WebServer]:
    server = WebServer(Settings(data_dir=folder, listen_port=0, **settings), database)
    running = asyncio.create_task(server.run())
    await until(lambda: server.is_open)
    try:
        yield server
    finally:
        server.stop()
        await asyncio.wait_for(running, 30)


async def test_a_socket_counts_until_it_is_closed(database: Database, tmp_path: Path) -> None:
    async with served(database, tmp_path, listen_head_seconds=0.5) as server:
        url = f"ws://127.0.0.1:{server.port}"
        key = await key_with_policy(database, [], Role.SUBMITTER)
        headers = {"Authorization": f"Bearer {key}"}
        await database.fetch(
            "INSERT INTO messor.scrape_jobs (id, kind, actor, url, expires_at) "
            "SELECT $1, 'batch', 'key:' || id, 'http://one.test/', messor.clock() + interval '1 day' "
            "FROM messor.api_keys", JOB,
        )  # fmt: skip
        await database.fetch(
            "UPDATE messor.scrape_jobs SET key_id = (SELECT id FROM messor.api_keys)"
        )
        await database.fetch(
            "INSERT INTO messor.scrape_job_pages (job_id, url) VALUES ($1, 'http://one.test/')", JOB
        )
        async with connect(f"{url}/v2/batch/scrape/{JOB}", additional_headers=headers) as socket:
            assert msgspec.json.decode(await socket.recv())["type"] == "catchup"
            assert len(crowd_of(server)) == 1
            await asyncio.sleep(0.8)  # longer than a head may take
            await socket.ping()
            assert len(crowd_of(server)) == 1

        await until(lambda: len(crowd_of(server)) == 0)
        with pytest.raises(InvalidStatus):
            async with connect(f"{url}/domains", additional_headers=headers):
                pass
        async with connect(f"{url}/v2/crawl/{JOB}") as socket:
            assert "Authorization" in msgspec.json.decode(await socket.recv())["error"]
            with pytest.raises(ConnectionClosed):
                await socket.recv()
        await until(lambda: len(crowd_of(server)) == 0)
