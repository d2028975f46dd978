"""The API on a full disk: members and keys read on, and what cannot be changed is told as that."""

from __future__ import annotations

import httpx
from fastapi import FastAPI

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import client_of, key_of, problem
from tests.faults.full_server import full

V = "/api/v1"


async def test_members_and_keys_read_on(
    app: FastAPI, admin: httpx.AsyncClient, database: Database
) -> None:
    key = await key_of(database, Role.VIEWER)
    await database.fetch(
        "UPDATE messor.sessions SET last_seen_at = last_seen_at - interval '5 minutes'"
    )
    async with (
        full(database, "sessions", "api_keys", "rate_limits"),
        client_of(app, headers={"Authorization": f"Bearer {key}"}) as machine,
        client_of(app) as stranger,
    ):
        assert (await admin.get(f"{V}/health")).status_code == 200
        assert (await machine.get(f"{V}/health")).status_code == 200
        told = problem(await admin.post(f"{V}/traffic/resume"), 503, "database_unavailable")
        assert "disk is full" in told["detail"]
        problem(await stranger.get(f"{V}/health"), 503, "database_unavailable")
    assert (await admin.get(f"{V}/health")).headers["RateLimit-Remaining"]
