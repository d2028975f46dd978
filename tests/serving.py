"""A little web on a thread of its own, for tests whose commands run in the thread of the test."""

from __future__ import annotations

import asyncio
import json
from threading import Event, Thread
from typing import Any

import asyncpg
import pytest

from tests.little_web import LittleWeb


class Serving:
    """Serves a web while the context is open."""

    def __init__(self, web: LittleWeb) -> None:
        self.web = web
        self._ready = Event()
        self._done: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        async with self.web:
            self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
            self._ready.set()
            await self._done.wait()

    def __enter__(self) -> LittleWeb:
        self._thread.start()
        assert self._ready.wait(20)
        return self.web

    def __exit__(self, *exc: object) -> None:
        assert self._loop is not None
        assert self._done is not None
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(20)


def let_in(
    web: LittleWeb, monkeypatch: pytest.MonkeyPatch, names: dict[str, str] | None = None
) -> None:
    """Settings by which commands reach this web and nowhere else; `names` are added to its own."""
    settings = web.settings()
    networks: dict[str, Any] = settings.allowed_networks.model_dump(mode="json")
    networks["names"] |= names or {}
    networks["ports"] = sorted(
        {int(place.rpartition(":")[2]) for place in networks["names"].values()}
    )
    given = {
        "ALLOWED_NETWORKS": json.dumps(networks),
        "CONTACT": settings.contact,
        "FLUSH_SECONDS": "0.05",
        "DEFAULT_DELAY": "0",
        "CONNECT_TIMEOUT": "1",
        "BROWSER": "off",
        "CA_FILE": str(settings.ca_file or ""),
    }
    for name, value in given.items():
        if value:
            monkeypatch.setenv(f"MESSOR_{name}", value)


def execute(dsn: str, sql: str) -> None:
    """One statement on the database of a test."""

    async def act() -> None:
        connection = await asyncpg.connect(dsn)
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    asyncio.run(act())
