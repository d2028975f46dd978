"""Claiming under a crowd: caps hold across connections, nobody starves, nobody unapproved goes."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.politeness import lanes
from messor.politeness.lease import WorkerLease
from messor.store.database import Database
from tests.held_lanes import (
    claim,
    give_back,
    lane_row,
    lease,
    make_domain,
    make_lanes,
    slots_of_address,
    slots_of_domain,
)

CROWD = 16


@pytest.fixture
async def crowd(dsn: str) -> list[Database]:
    """As many connections as a busy server sees."""
    databases = [Database(dsn, pool_size=1) for _ in range(CROWD)]
    await asyncio.gather(*(database.open() for database in databases))
    return databases


async def scramble(crowd: list[Database], rounds: int = 6) -> None:
    """Everyone claims, checks nothing, gives back and claims again."""

    async def work(database: Database, name: str) -> None:
        holder = await lease(database, name)
        for number in range(rounds):
            held = await claim(database, holder, wanted=1 + number % 3, delay=0.0)
            await asyncio.sleep(0.002)
            await give_back(database, holder, held)

    await asyncio.gather(*(work(database, f"w{n}") for n, database in enumerate(crowd)))
    await asyncio.gather(*(database.close() for database in crowd))


async def test_a_domains_cap_holds_under_sixteen_claimers(
    database: Database, crowd: list[Database]
) -> None:
    domain = await make_domain(database, cap=3, delay=1)
    await make_lanes(database, domain, count=40)
    scrambling = asyncio.create_task(scramble(crowd))
    most = 0
    while not scrambling.done():
        most = max(most, await slots_of_domain(database, domain))
    await scrambling
    assert 1 <= most <= 3  # who looks now and then may miss the most
    assert await slots_of_domain(database, domain) == 0


async def test_an_addresss_cap_holds_across_domains(
    database: Database, crowd: list[Database]
) -> None:
    for number in range(12):
        name = f"d{number}.test"
        await make_lanes(
            database, await make_domain(database, name), name, count=3, address="127.0.9.9"
        )
    scrambling = asyncio.create_task(scramble(crowd))
    most = 0
    while not scrambling.done():
        most = max(most, await slots_of_address(database, "127.0.9.9"))
    await scrambling
    assert 1 <= most <= 4


async def test_no_lane_is_held_twice(database: Database, crowd: list[Database]) -> None:
    await make_lanes(database, await make_domain(database, cap=1000), count=60)

    async def work(own: Database, name: str) -> list[int]:
        return [lane.host_id for lane in await claim(own, await lease(own, name), wanted=10)]

    rounds = await asyncio.gather(*(work(own, f"w{n}") for n, own in enumerate(crowd)))
    await asyncio.gather(*(own.close() for own in crowd))
    claimed = [host_id for held in rounds for host_id in held]
    assert len(claimed) == len(set(claimed))


async def test_one_claim_never_takes_more_than_the_cap(database: Database) -> None:
    domain = await make_domain(database, cap=2, delay=1)
    await make_lanes(database, domain, count=10)
    holder = await lease(database)
    assert len(await claim(database, holder)) == 2
    assert await claim(database, holder) == []


async def test_without_a_delay_one_lane_takes_all_slots_of_its_domain(database: Database) -> None:
    domain = await make_domain(database, cap=3, delay=0)
    await make_lanes(database, domain, count=2)
    (lane,) = await claim(database, await lease(database))
    assert (lane.slots, lane.pace.delay) == (3, 0.0)


async def test_the_address_bounds_the_slots_of_a_lane_without_delay(database: Database) -> None:
    await make_lanes(database, await make_domain(database, cap=9, delay=0), address="127.0.9.9")
    (lane,) = await claim(database, await lease(database), slots=4)
    assert lane.slots == 4


async def test_ten_thousand_blocked_lanes_do_not_starve_the_others(database: Database) -> None:
    busy = await make_domain(database, "busy.test", cap=1)
    await make_lanes(database, busy, "busy.test", count=10_000, age=60)
    quiet = await make_domain(database, "quiet.test")
    (host_id,) = await make_lanes(database, quiet, "quiet.test", age=1)
    holder = await lease(database)
    held: set[int] = set()
    looks = 0  # a worker that finds nothing looks again after 0.2 s
    while host_id not in held and looks < 200:
        held |= {lane.host_id for lane in await claim(database, holder)}
        looks += 1
    assert looks <= 10, f"the quiet domain waited for {looks} looks"


@pytest.mark.parametrize("status", ["pending_review", "suspended"])
async def test_lanes_of_a_domain_that_is_not_approved_are_never_claimed(
    database: Database, status: str
) -> None:
    domain = await make_domain(database, status=status)
    (host_id,) = await make_lanes(database, domain)
    holder = await lease(database)
    assert await claim(database, holder) == []
    assert (await lane_row(database, host_id))["claim_at"] is None  # nor looked at again
    await database.fetch("UPDATE messor.domains SET status = 'approved'")
    async with database.transaction() as connection:
        await lanes.wake_domain(connection, domain)
    assert len(await claim(database, holder)) == 1


async def test_lanes_of_a_domain_that_is_switched_off_are_never_claimed(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    await database.fetch("UPDATE messor.domains SET active = false")
    assert await claim(database, await lease(database)) == []


async def test_unapproved_lanes_in_front_do_not_hide_approved_ones(database: Database) -> None:
    closed = await make_domain(database, "closed.test", status="suspended")
    await make_lanes(database, closed, "closed.test", count=200, age=60)
    open_domain = await make_domain(database, "open.test")
    await make_lanes(database, open_domain, "open.test")
    holder = await lease(database)
    looks = [len(await claim(database, holder)) for _ in range(6)]
    assert sum(looks) == 1


async def test_tokens_grow_with_every_claim(database: Database) -> None:
    await make_lanes(database, await make_domain(database, delay=0))
    holder = await lease(database)
    tokens = []
    for _ in range(4):
        (lane,) = await claim(database, holder)
        tokens.append(lane.token)
        await give_back(database, holder, [lane])
    assert tokens == [1, 2, 3, 4]


async def test_a_lane_that_is_not_ready_is_not_claimed(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=20))
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    lane.pace.be_silent(20)
    await give_back(database, holder, [lane])
    row = await lane_row(database, host_id)
    assert row["worker_id"] is None
    assert row["claim_at"] == row["ready_at"] > row["due_at"]
    assert await claim(database, holder) == []


async def test_a_lane_that_is_nearly_ready_is_claimed_and_waited_for(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    soon = (
        "ready_at = messor.clock() + interval '0.2 s', claim_at = messor.clock() + interval '0.2 s'"
    )
    await database.fetch(f"UPDATE messor.lanes SET {soon} WHERE host_id = $1", host_id)
    (lane,) = await claim(database, await lease(database))
    assert lane.pace.ready_in <= 0.2


async def test_an_ended_or_expired_lease_claims_nothing(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    expired, ended = await lease(database, seconds=-1), await lease(database)
    async with database.transaction() as connection:
        await ended.end(connection)
    assert await claim(database, expired) == await claim(database, ended) == []
    assert await claim(database, WorkerLease(12345, 30, 0)) == []


@pytest.mark.parametrize(
    "own, crawl_delay, expected",
    [(None, None, 1.0), (0.0, None, 0.0), (3.0, None, 3.0), (0.0, 2.5, 2.5), (3.0, 0.1, 3.0)],
)
async def test_the_delay_is_the_domains_else_the_default_and_never_below_robots(
    database: Database, own: float | None, crawl_delay: float | None, expected: float
) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=own))
    await database.fetch(
        """WITH file AS (INSERT INTO messor.robots_files (host_id, verdict, reason, body, body_hash,
                                                          crawl_delay)
                         VALUES ($1, 'rules', 'read', '', '', $2) RETURNING id)
           UPDATE messor.hosts SET robots_id = (SELECT id FROM file)""",
        host_id,
        crawl_delay,
    )
    (lane,) = await claim(database, await lease(database), delay=1.0)
    assert lane.pace.delay == pytest.approx(expected)


async def test_each_claim_is_a_visit_in_the_history(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    await give_back(database, holder, [lane])
    (visit,) = await database.fetch("SELECT * FROM messor.visits")
    assert (visit["host_id"], visit["token"], visit["worker_id"]) == (host_id, 1, holder.id)
    assert (visit["end_reason"], visit["pages"]) == ("done", 1)
    assert visit["ended_at"] - visit["claimed_at"] < timedelta(seconds=30)
