"""Lanes made by the dozen, worker leases, and what the table says of who holds what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from messor.core.ids import new_id
from messor.politeness import lanes
from messor.politeness.lanes import GivenBack, Lane
from messor.politeness.lease import WorkerLease
from messor.store.database import Database

MAKE_DOMAIN = """
INSERT INTO messor.domains (id, domain, base_url, status, submitted_by, submitter_type, reviewed_at,
                            reviewed_by, crawl_delay_seconds, max_concurrent_requests, page_budget)
VALUES ($1, $2, 'http://' || $2 || '/', $3, 'tester', 'admin', messor.clock(), 'tester', $4, $5, $6)
"""

MAKE_LANES = """
WITH host AS (
  INSERT INTO messor.hosts (domain_id, host)
  SELECT $1, 'h' || n || '.' || $2 FROM generate_series(1, $3::int) n RETURNING id, domain_id, host
), page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  SELECT id, sha256(host::bytea), 'http://' || host || '/', 'seed' FROM host RETURNING id, host_id
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, due_at)
  SELECT id, host_id, messor.clock() - make_interval(secs => $5) FROM page
), lane AS (
  INSERT INTO messor.lanes (host_id, domain_id, address, ready_at, due_at, claim_at)
  SELECT id, domain_id, $4, messor.clock() - make_interval(secs => $5),
         messor.clock() - make_interval(secs => $5), messor.clock() - make_interval(secs => $5)
    FROM host
)
SELECT id FROM host ORDER BY id
"""

# Three requests through a proxy, this hour.
BILL = (
    "INSERT INTO messor.proxy_requests VALUES ($1, $2, date_trunc('hour', messor.clock()), 3, 0.75)"
)

HELD = "SELECT coalesce(sum(slots), 0)::int FROM messor.lanes WHERE worker_id IS NOT NULL AND {}"


async def make_domain(
    database: Database,
    name: str = "example.test",
    *,
    status: str = "approved",
    delay: float | None = None,
    cap: int = 5,
    budget: int = 10_000,
) -> UUID:
    domain_id = new_id()
    await database.fetch(MAKE_DOMAIN, domain_id, name, status, delay, cap, budget)
    return domain_id


async def make_lanes(
    database: Database,
    domain_id: UUID,
    name: str = "example.test",
    *,
    count: int = 1,
    address: str | None = None,
    age: float = 1.0,
) -> list[int]:
    """Lanes with one due page each, claimable since `age` seconds."""
    rows = await database.fetch(MAKE_LANES, domain_id, name, count, address, age)
    return [row["id"] for row in rows]


async def lease(database: Database, name: str = "worker", seconds: float = 30.0) -> WorkerLease:
    return await WorkerLease.take(database, name, seconds)


async def claim(
    database: Database, holder: WorkerLease, wanted: int = 32, *, delay: float = 1.0, slots: int = 4
) -> list[Lane]:
    return await lanes.claim(database, holder, wanted, delay, slots)


async def give_back(database: Database, holder: WorkerLease, given: Sequence[Lane]) -> None:
    async with database.transaction() as connection:
        await lanes.lock(connection, [lane.host_id for lane in given])
        await lanes.give_back(connection, holder.id, [GivenBack(lane, 1, "done") for lane in given])


async def lane_row(database: Database, host_id: int) -> dict[str, Any]:
    row = await database.fetchrow("SELECT * FROM messor.lanes WHERE host_id = $1", host_id)
    assert row is not None
    return dict(row)


async def slots_of_domain(database: Database, domain_id: UUID) -> int:
    used: int = await database.fetchval(HELD.format("domain_id = $1"), domain_id)
    return used


async def slots_of_address(database: Database, address: str) -> int:
    used: int = await database.fetchval(HELD.format("address = $1"), address)
    return used
