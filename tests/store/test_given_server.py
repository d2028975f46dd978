"""The path runs on an installed PostgreSQL as well: another version, without the wheel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from messor.errors import UnavailableError
from messor.settings import Settings
from messor.store import migrate, revisions
from messor.store.database import Database
from messor.store.server import EmbeddedServer
from messor.store.session import open_session

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@pytest.fixture
def given(tmp_path: Path) -> Iterator[str]:
    if not INSTALLED:
        pytest.skip("no PostgreSQL is installed; get it with: apt-get install postgresql")
    server = EmbeddedServer(tmp_path / "given", bin_dir=INSTALLED[-1])
    try:
        yield server.acquire()
    finally:
        server.release()


async def test_a_given_server_is_checked_and_never_migrated_by_itself(
    given: str, tmp_path: Path
) -> None:
    settings = Settings(database_url=given, data_dir=tmp_path)
    with pytest.raises(UnavailableError, match="Run: messor db upgrade"):
        async with open_session(settings):
            pass
    async with Database(given) as database:
        assert await database.revision() is None


async def test_the_schema_fits_an_older_postgresql(given: str, tmp_path: Path) -> None:
    await asyncio.to_thread(migrate.upgrade, given)
    settings = Settings(database_url=given, data_dir=tmp_path)
    async with open_session(settings) as session:
        version = await session.database.fetchval("SHOW server_version_num")
        assert int(version) >= 140000
        assert await session.database.revision() == revisions.newest()
        assert await session.database.fetch("SELECT * FROM claim_lanes(1, 10, 1, 4, 0, 10)") == []
