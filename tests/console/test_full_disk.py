"""The console on a full disk: whoever is logged in reads on, and what cannot be done is said."""

from __future__ import annotations

import pytest

from messor.store.database import Database
from tests.console.conftest import Visitor
from tests.faults.full_server import full

LONG_AGO = "UPDATE messor.sessions SET last_seen_at = last_seen_at - interval '5 minutes'"


@pytest.mark.parametrize("path", ["/", "/domains", "/admin/orbits/health", "/traffic"])
async def test_pages_are_read_though_nothing_can_be_noted(
    admin: Visitor, database: Database, path: str
) -> None:
    await database.fetch(LONG_AGO)
    async with full(database, "sessions"):
        answer = await admin.get(path)
    assert answer.status == 200
    await admin.get(path)
    seen = "SELECT count(*) FROM messor.sessions WHERE last_seen_at < messor.clock() - interval '1 min'"
    assert await database.fetchval(seen) == 0  # noted as soon as there is room


async def test_what_cannot_be_changed_says_why(admin: Visitor, database: Database) -> None:
    async with full(database, "traffic_halts"):
        answer = await admin.send("/traffic", "/traffic/halt", {"reason": "a complaint"})
    assert answer.status == 503
    assert "disk is full" in answer.said
