"""Lanes given back, silenced and settled: when they are ready and due again."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from messor.frontier import tasks
from messor.politeness import lanes
from messor.politeness.lanes import Silence
from messor.store.database import Database
from messor.web.urls import parse
from tests.held_lanes import (
    claim,
    give_back,
    lane_row,
    lease,
    make_domain,
    make_lanes,
    slots_of_address,
)


async def test_giving_back_finds_the_earliest_due_task(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=0))
    holder = await lease(database)
    held = await claim(database, holder)
    (page_id,) = [
        row["page_id"] for row in await database.fetch("SELECT * FROM messor.crawl_tasks")
    ]
    later = await database.fetchval(
        """UPDATE messor.crawl_tasks SET due_at = messor.clock() + interval '1 hour'
            WHERE page_id = $1 RETURNING due_at""",
        page_id,
    )
    await give_back(database, holder, held)
    row = await lane_row(database, host_id)
    assert row["due_at"] == row["claim_at"] == later


async def test_a_lane_without_anything_due_is_not_claimed_again(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=0))
    holder = await lease(database)
    held = await claim(database, holder)
    await database.fetch("UPDATE messor.crawl_tasks SET due_at = NULL")
    await give_back(database, holder, held)
    assert (await lane_row(database, host_id))["claim_at"] is None
    assert await claim(database, holder) == []


async def test_a_task_added_while_the_lane_is_given_back_is_not_forgotten(
    database: Database,
) -> None:
    """The lost wake-up: whoever is second, adder or giver, must leave the lane due."""
    (host_id,) = await make_lanes(database, await make_domain(database, delay=0))
    url = parse("http://h1.example.test/new")
    assert url is not None
    holder = await lease(database)
    for adder_first in (True, False):
        held = await claim(database, holder)
        await database.fetch("UPDATE messor.crawl_tasks SET due_at = NULL")
        async with database.transaction() as adder:
            if adder_first:
                await tasks.add(adder, host_id, url, found_by="manual")
            giving = asyncio.create_task(give_back(database, holder, held))
            await asyncio.sleep(0.05)
            if not adder_first:
                await tasks.add(adder, host_id, url, found_by="manual")
        await giving
        row = await lane_row(database, host_id)
        assert row["due_at"] is not None, f"adder first: {adder_first}"
        assert row["claim_at"] is not None


async def test_a_task_added_to_a_held_lane_leaves_it_held(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    holder = await lease(database)
    await claim(database, holder)
    url = parse("http://h1.example.test/new")
    assert url is not None
    async with database.transaction() as connection:
        await tasks.add(connection, host_id, url, found_by="manual")
    assert (await lane_row(database, host_id))["worker_id"] == holder.id
    assert await claim(database, await lease(database)) == []


async def test_silence_is_kept_on_lane_and_host(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    async with database.transaction() as connection:
        await lanes.silence(connection, holder.id, [Silence(lane, 120, "answered 429")])
    row = await lane_row(database, host_id)
    host = await database.fetchrow("SELECT * FROM messor.hosts")
    assert host is not None
    assert host["cooldown_until"] == row["ready_at"]
    assert host["cooldown_reason"] == "answered 429"
    await give_back(database, holder, [lane])
    assert (await lane_row(database, host_id))["ready_at"] == row["ready_at"]


async def test_of_several_silences_the_longest_counts(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=0))
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    now = await database.fetchval("SELECT messor.clock()")
    async with database.transaction() as connection:
        await lanes.silence(
            connection, holder.id, [Silence(lane, s, "answered 429") for s in (5, 900, 60)]
        )
        await lanes.silence(connection, holder.id, [Silence(lane, 1, "answered 503")])
    until = now + timedelta(seconds=899)
    assert (await lane_row(database, host_id))["ready_at"] > until
    assert await database.fetchval("SELECT cooldown_until FROM messor.hosts") > until


async def test_a_full_address_gives_the_lane_back(database: Database) -> None:
    holder = await lease(database)
    held = []
    for number in range(6):
        name = f"d{number}.test"
        await make_lanes(database, await make_domain(database, name), name)
    held = await claim(database, holder)
    assert len(held) == 6  # their addresses are not known yet
    for lane in held:
        lane.address = "127.0.9.9"
    granted = await lanes.settle_addresses(database, holder, held, 4)
    assert sorted(granted.values()) == [0, 0, 1, 1, 1, 1]
    assert await slots_of_address(database, "127.0.9.9") == 4
    ended = await database.fetch("SELECT * FROM messor.visits WHERE end_reason = 'address_full'")
    assert len(ended) == 2
    for host_id, slots in granted.items():
        row = await lane_row(database, host_id)
        assert (row["worker_id"] is None) == (slots == 0)
        assert row["address"] == "127.0.9.9"


async def test_settling_at_once_from_many_workers_keeps_the_cap(database: Database) -> None:
    for number in range(12):
        name = f"d{number}.test"
        await make_lanes(database, await make_domain(database, name), name)
    claims = []
    for number in range(4):
        holder = await lease(database, f"w{number}")
        claims.append((holder, await claim(database, holder, wanted=3)))
    for _, held in claims:
        for lane in held:
            lane.address = "127.0.9.9"
    answers = await asyncio.gather(
        *(lanes.settle_addresses(database, holder, held, 4) for holder, held in claims)
    )
    assert sum(sum(granted.values()) for granted in answers) == 4
    assert await slots_of_address(database, "127.0.9.9") == 4


async def test_settling_with_a_stale_token_takes_nothing(database: Database) -> None:
    await make_lanes(database, await make_domain(database, delay=0))
    holder = await lease(database)
    (stale,) = await claim(database, holder)
    await give_back(database, holder, [stale])
    stale.address = "127.0.9.9"
    assert await lanes.settle_addresses(database, holder, [stale], 4) == {}


async def test_opening_a_host_twice_is_one_host_and_one_lane(database: Database) -> None:
    domain = await make_domain(database)

    async def open_it() -> int:
        async with database.transaction() as connection:
            return await lanes.open_host(connection, domain, "www.example.test")

    ids = await asyncio.gather(*(open_it() for _ in range(8)))
    assert len(set(ids)) == 1
    assert await database.fetchval("SELECT count(*) FROM messor.lanes") == 1
