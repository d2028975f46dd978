"""Domains that are favoured: whose lanes are claimed first while workers are busy."""

from __future__ import annotations

from uuid import UUID

import pytest

from messor.governance import domain_terms
from messor.politeness import lanes
from messor.registry import domains
from messor.store.database import Database
from tests.held_lanes import claim, lease, make_domain, make_lanes

HOUR = 3600.0


async def prefer(database: Database, name: str, priority: int) -> None:
    async with database.transaction() as connection:
        domain = await domains.lock(connection, name)
        await domain_terms.change(connection, domain, actor="tester", priority=priority)


async def waiting(database: Database, name: str, *, age: float, priority: int = 5) -> UUID:
    domain = await make_domain(database, name)
    await make_lanes(database, domain, name, age=age)
    await prefer(database, name, priority)
    return domain


async def claimed(database: Database, wanted: int = 1) -> list[str]:
    holder = await lease(database)
    held = await claim(database, holder, wanted)
    return [lane.policy.domain for lane in held]


async def test_a_favoured_domain_has_its_turn_first(database: Database) -> None:
    await waiting(database, "old.test", age=60)
    await waiting(database, "dear.test", age=1, priority=1)
    await waiting(database, "low.test", age=90, priority=10)
    assert await claimed(database) == ["dear.test"]
    assert await claimed(database) == ["old.test"]
    assert await claimed(database) == ["low.test"]


@pytest.mark.parametrize(
    "age, first", [(HOUR - 30, "dear.test"), (HOUR + 30, "old.test")], ids=["less", "more"]
)
async def test_each_step_counts_as_an_hour_of_waiting(
    database: Database, age: float, first: str
) -> None:
    await waiting(database, "old.test", age=age)
    await waiting(database, "dear.test", age=1, priority=4)
    assert await claimed(database) == [first]


async def test_a_low_priority_delays_nothing_that_has_no_rival(database: Database) -> None:
    await waiting(database, "low.test", age=0, priority=10)
    assert await claimed(database, 5) == ["low.test"]


async def test_a_favoured_domain_is_no_sooner_ready(database: Database) -> None:
    await waiting(database, "dear.test", age=-300, priority=1)
    assert await claimed(database, 5) == []


async def test_new_hosts_have_the_priority_of_their_domain(database: Database) -> None:
    domain = await waiting(database, "dear.test", age=1, priority=2)
    async with database.transaction() as connection:
        host = await lanes.open_host(connection, domain, "new.dear.test")
    found = "SELECT priority FROM messor.lanes WHERE host_id = $1"
    assert await database.fetchval(found, host) == 2
