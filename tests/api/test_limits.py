"""How much may be asked of the API is a setting."""

from __future__ import annotations

from pathlib import Path

from messor.access.roles import Role
from messor.api.app import make_api
from messor.api.context import ApiLimits
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import client_of, key_of, problem


def _settings(folder: Path, **values: int) -> Settings:
    return Settings.model_validate({"data_dir": folder, **values})


async def test_limits_are_what_is_set(database: Database, tmp_path: Path) -> None:
    settings = _settings(
        tmp_path, api_requests_per_minute=4, api_stranger_requests_per_minute=2, api_streams=0
    )
    app = make_api(settings, database)
    key = await key_of(database, Role.VIEWER)
    async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as client:
        answer = await client.get("/api/v1/domains")
        assert answer.headers["ratelimit-limit"] == "4"
        problem(await client.get("/api/v1/events/stream"), 503, "unavailable")
        codes = [(await client.get("/api/v1/domains")).status_code for _ in range(3)]
        assert codes[-1] == 429
    async with client_of(app) as stranger:
        codes = [(await stranger.get("/api/v1/domains")).status_code for _ in range(4)]
        assert codes[-1] == 429
    await app.state.context.close()


def test_usual_limits(tmp_path: Path) -> None:
    limits = ApiLimits.of(_settings(tmp_path))
    assert (limits.known.count, limits.unknown.count) == (600, 120)
    assert (limits.streams, limits.ingestions) == (100, 50)
