"""A stream of events is told of them when they are committed, not when it looks next."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from messor.access.roles import Role
from messor.api import streams
from messor.ledger.events import Event, record
from messor.store.database import Database
from tests.api.serving import Served


async def test_an_event_is_pushed(
    dsn: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "POLL_SECONDS", 3_600.0)
    with Served(dsn, tmp_path) as served:
        key = await asyncio.to_thread(served.key, Role.VIEWER)
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            asyncio.timeout(120),
            httpx.AsyncClient(base_url=served.url, headers=headers, timeout=120) as client,
            client.stream("GET", "/api/v1/events/stream?type=domain.noted") as answer,
        ):
            lines = answer.aiter_lines()
            assert await anext(lines) == "retry: 2000"
            for _ in range(3):
                async with database.transaction() as connection:
                    await record(connection, [Event("domain.noted", "tester")])
                while await anext(lines) != "event: domain.noted":
                    pass
