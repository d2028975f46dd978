"""The API on a real socket, in a thread with a loop and a database of its own."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Self

import uvicorn
from fastapi import FastAPI

from messor.access.roles import Role
from messor.api.app import make_api
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import PLENTY, key_of, session_of
from tests.listening import listen

PATIENCE = 120.0


class Served:
    """Serves while the context is open."""

    def __init__(self, dsn: str, folder: Path, settings: Settings | None = None) -> None:
        self._dsn = dsn
        self._settings = settings or Settings(data_dir=folder)
        self._listening = listen()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: uvicorn.Server | None = None
        self.database: Database | None = None
        self.app: FastAPI | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        self._listening.close()

    async def _serve(self) -> None:
        async with Database(self._dsn, pool_size=8) as database:
            self.database = database
            self._loop = asyncio.get_running_loop()
            self.app = make_api(self._settings, database, limits=PLENTY)
            config = uvicorn.Config(
                self.app, log_level="warning", timeout_graceful_shutdown=2, lifespan="on"
            )
            self._server = uvicorn.Server(config)
            self._loop.call_soon(self._ready.set)
            await self._server.serve([self._listening])

    def session(self, role: Role) -> str:
        """The cookie of somebody who is logged in."""
        assert self._loop is not None
        assert self.database is not None
        return asyncio.run_coroutine_threadsafe(session_of(self.database, role), self._loop).result(
            PATIENCE
        )

    def key(self, role: Role) -> str:
        assert self._loop is not None
        assert self.database is not None
        return asyncio.run_coroutine_threadsafe(key_of(self.database, role), self._loop).result(
            PATIENCE
        )
