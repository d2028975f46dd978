"""Alarms in the console: on every page and on the page of health, until they are over."""

from __future__ import annotations

import pytest

from messor.ledger import alarms
from messor.store.database import Database
from tests.console.conftest import Visitor

SAID = "Fetching and extracting are paused: the disk of the archive has 1.0 MB free."


@pytest.mark.parametrize("path", ["/", "/domains", "/admin/orbits/health"])
async def test_an_alarm_is_told_on_every_page(
    admin: Visitor, database: Database, path: str
) -> None:
    async with database.connection() as connection:
        await connection.execute(
            f"INSERT INTO messor.alarms (place, name, message) VALUES ('there:1', 'disk', '{SAID}')"
        )
    answer = await admin.get(path)
    assert answer.status == 200
    assert SAID in answer.text
    assert "there:1" in answer.text


MANY = """
INSERT INTO messor.alarms (place, name, message, raised_at)
SELECT machine || ':' || pid, name, name || ' is wrong', messor.clock() - interval '1 s' * pid
  FROM unnest('{here,there}'::text[]) machine, generate_series(1, 3) pid,
       unnest('{disk,clock,relay}'::text[]) name
"""


async def test_a_fault_that_many_processes_see_is_told_once(
    admin: Visitor, database: Database
) -> None:
    """A disk by each machine, the clock by all; a component fails in each process for itself."""
    await database.fetch(MANY)
    found = [(alarm.name, alarm.place) for alarm in await alarms.standing(database)]
    assert sorted(place for name, place in found if name == "disk") == ["here:3", "there:3"]
    assert [place for name, place in found if name == "clock"] in (["here:3"], ["there:3"])
    assert len([name for name, _ in found if name == "relay"]) == 6
    answer = await admin.get("/domains")
    told = [answer.text.count(f"{name} is wrong") for name in ("disk", "clock", "relay")]
    assert told == [2, 1, 6]


async def test_health_says_that_all_is_well(admin: Visitor) -> None:
    answer = await admin.get("/admin/orbits/health")
    assert "all components are running" in answer.text
