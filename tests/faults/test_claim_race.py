"""A claim that waits for a flush: what the flush committed is what the claim must see."""

from __future__ import annotations

import asyncio
from uuid import UUID

from messor.politeness import lanes
from messor.politeness.lanes import Lane
from messor.politeness.lease import WorkerLease
from messor.store.database import Connection, Database
from tests.faults.scenes import holds
from tests.held_lanes import MAKE_LANES, claim, lease, make_domain, make_lanes

STALE = "the columns joined to a claim are read as they were before it waited"
HOLD = "SELECT FROM messor.worker_leases WHERE id = $1 FOR UPDATE"


async def claim_during(
    database: Database, holder: WorkerLease, connection: Connection
) -> asyncio.Task[list[Lane]]:
    """A claim that has begun, and waits for what a flush is doing."""
    await connection.execute(HOLD, holder.id)
    claiming = asyncio.create_task(lanes.claim(database, holder, 8, 1.0, 8))
    waiting = "wait_event_type = 'Lock' AND query LIKE '%claim_lanes%'"
    await holds(database, "domains, pg_stat_activity", waiting)
    return claiming


async def held(database: Database) -> int:
    found: int = await database.fetchval(
        "SELECT count(*) FROM messor.lanes WHERE worker_id IS NOT NULL"
    )
    return found


async def prepared(database: Database) -> tuple[UUID, WorkerLease]:
    return await make_domain(database), await lease(database)


async def test_a_host_that_a_flush_just_opened_is_not_lost(database: Database) -> None:
    """Claimed in the table and unknown to its worker, it would stay held as long as that lives."""
    domain, holder = await prepared(database)
    await make_lanes(database, domain)
    await claim(database, holder)
    async with database.transaction() as connection:
        claiming = await claim_during(database, holder, connection)
        await connection.execute(MAKE_LANES, domain, "new.example.test", 1, None, 1.0)
    claimed = await claiming
    assert 1 + len(claimed) == await held(database)


async def test_a_lane_comes_with_the_robots_that_a_flush_just_put_in_force(
    database: Database,
) -> None:
    """Otherwise what they have just come to deny would be asked for during a whole visit."""
    domain, holder = await prepared(database)
    (host_id,) = await make_lanes(database, domain)
    (lane,) = await claim(database, holder)
    async with database.transaction() as connection:
        claiming = await claim_during(database, holder, connection)
        robots_id = await connection.fetchval(
            """INSERT INTO messor.robots_files (host_id, verdict, reason, body, body_hash)
               VALUES ($1, 'rules', 'robots.txt was read', '', sha256('')) RETURNING id""",
            host_id,
        )
        await connection.execute("UPDATE messor.hosts SET robots_id = $1", robots_id)
        await lanes.give_back(connection, holder.id, [lanes.GivenBack(lane, 1, "done")])
    (again,) = await claiming
    assert again.robots_ids == {"https": robots_id, "http": robots_id}
