"""The console and the API as `messor up` serves them, on a port of loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from messor.cli.serve import WebServer
from messor.settings import Settings
from messor.store.database import Database
from tests.crawling import until

Open = Callable[..., Awaitable[int]]


@pytest.fixture
async def open_doors(database: Database, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens them with settings of one's own; answers the port."""
    running: list[tuple[WebServer, asyncio.Task[None]]] = []

    async def start(**settings: Any) -> int:
        doors = WebServer(Settings(data_dir=tmp_path, listen_port=0, **settings), database)
        running.append((doors, asyncio.create_task(doors.run())))
        await until(lambda: doors.is_open)
        return doors.port

    yield start
    for doors, task in running:
        doors.stop()
        await asyncio.wait_for(task, 30)


async def ask(port: int, request: bytes, *, address: str = "127.0.0.1") -> bytes:
    """Sends bytes and reads all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    writer.write(request)
    try:
        return await asyncio.wait_for(reader.read(), 20)
    finally:
        writer.close()
