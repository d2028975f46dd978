"""The halt as the database keeps it; what it does to workers is in tests/explain/test_traffic.py."""

from __future__ import annotations

import pytest

from messor.errors import ConflictError, TrafficHaltedError, UsageError
from messor.politeness import traffic
from messor.store.database import Database
from tests.held_lanes import claim, lease, make_domain, make_lanes


async def halt(database: Database, reason: str = "looking into a complaint") -> None:
    async with database.transaction() as connection:
        await traffic.halt(connection, reason=reason, actor="tester")


async def resume(database: Database) -> None:
    async with database.transaction() as connection:
        await traffic.resume(connection, actor="tester")


async def test_nobody_claims_a_lane_while_traffic_is_halted(database: Database) -> None:
    await make_lanes(database, await make_domain(database), count=3)
    holder = await lease(database, "w")
    await halt(database)
    assert await claim(database, holder, wanted=3) == []
    await resume(database)
    assert len(await claim(database, holder, wanted=3)) == 3


async def test_one_halt_stands_at_a_time_and_keeps_its_reason(database: Database) -> None:
    await halt(database, "  the first\n reason ")
    with pytest.raises(ConflictError, match="already halted"):
        await halt(database, "another")
    found = await traffic.in_force(database)
    assert found is not None
    assert (found.halted_by, found.reason) == ("tester", "the first reason")
    with pytest.raises(TrafficHaltedError, match=r"by tester on .*: the first reason"):
        await traffic.require_running(database)
    await resume(database)
    await traffic.require_running(database)
    with pytest.raises(ConflictError, match="not halted"):
        await resume(database)
    types = await database.fetch("SELECT type, actor FROM messor.events ORDER BY id")
    assert [tuple(row) for row in types] == [
        ("traffic.halted", "tester"),
        ("traffic.resumed", "tester"),
    ]


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 501])
async def test_a_halt_says_why(database: Database, reason: str) -> None:
    with pytest.raises(UsageError, match="1 to 500"):
        await halt(database, reason)
    assert await traffic.in_force(database) is None
