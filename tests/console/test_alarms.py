"""Alarms in the console: on every page and on the page of health, until they are over."""

from __future__ import annotations

import pytest

from messor.store.database import Database
from tests.console.conftest import Visitor

SAID = "Fetching and extracting are paused: the disk of the archive has 1.0 MB free."


@pytest.mark.parametrize("path", ["/", "/domains", "/admin/orbits/health"])
async def test_an_alarm_is_told_on_every_page(
    admin: Visitor, database: Database, path: str
) -> None:
    async with database.connection() as connection:
        await connection.execute(
            f"INSERT INTO messor.alarms (place, name, said) VALUES ('there:1', 'disk', '{SAID}')"
        )
    answer = await admin.get(path)
    assert answer.status == 200
    assert SAID in answer.text
    assert "there:1" in answer.text


async def test_health_says_that_all_is_well(admin: Visitor) -> None:
    answer = await admin.get("/admin/orbits/health")
    assert "every component runs" in answer.text
