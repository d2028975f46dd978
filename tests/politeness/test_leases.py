"""Worker leases: who is dead, what becomes of its lanes, and what it may still do."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.core import clock
from messor.errors import LeaseLostError
from messor.politeness import lanes
from messor.store.database import Database
from tests.crawling import later
from tests.held_lanes import claim, give_back, lane_row, lease, make_domain, make_lanes

EXPIRE = """
UPDATE messor.worker_leases SET expires_at = messor.clock() - interval '1 second'
 WHERE id = $1 RETURNING expires_at
"""


async def test_a_dead_workers_lane_waits_its_delay_after_the_expiry(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=7))
    holder = await lease(database)
    await claim(database, holder)
    expiry = await database.fetchval(EXPIRE, holder.id)
    assert await lanes.reap(database) == 1
    row = await lane_row(database, host_id)
    assert row["ready_at"] >= expiry + timedelta(seconds=7)
    assert row["claim_at"] >= row["ready_at"]
    assert (row["worker_id"], row["slots"]) == (None, 0)
    assert await claim(database, await lease(database)) == []


async def test_a_lane_reaped_in_time_waits_its_delay_and_no_longer(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=7))
    holder = await lease(database)
    await claim(database, holder)
    await database.fetch(EXPIRE, holder.id)
    await lanes.reap(database)
    now = await database.fetchval("SELECT messor.clock()")
    assert (await lane_row(database, host_id))["ready_at"] <= now + timedelta(seconds=7)


@pytest.mark.parametrize("silence, least", [(0, 7 + 6), (1800, 1800)])
async def test_a_step_of_the_clock_ahead_cuts_no_wait_of_a_reaped_lane_short(
    database: Database, dsn: str, silence: float, least: float
) -> None:
    """The holder lives, and sends until its next flush tells it that its lease is lost."""
    (host_id,) = await make_lanes(database, await make_domain(database, delay=7))
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    if silence:
        async with database.transaction() as connection:
            asked = lanes.Silence(lane, silence, "answered 503")
            await lanes.silence(connection, holder.id, [asked])
    async with Database(later(dsn, timedelta(hours=1))) as ahead:
        now = await ahead.fetchval("SELECT messor.clock()")
        assert await lanes.reap(ahead) == 1
    row = await lane_row(database, host_id)
    assert row["ready_at"] >= now + timedelta(seconds=least - 1)
    assert row["claim_at"] == row["ready_at"]


async def test_a_later_readiness_survives_the_reaping(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=1))
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    async with database.transaction() as connection:
        await lanes.silence(connection, holder.id, [lanes.Silence(lane, 3600, "answered 429")])
    silent_until = (await lane_row(database, host_id))["ready_at"]
    await database.fetch(EXPIRE, holder.id)
    await lanes.reap(database)
    assert (await lane_row(database, host_id))["ready_at"] == silent_until


async def test_a_crawl_delay_learned_in_the_visit_counts_for_the_successor(
    database: Database,
) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=0))
    holder = await lease(database)
    await claim(database, holder)
    await database.fetch("UPDATE messor.lanes SET delay = 30 WHERE host_id = $1", host_id)
    expiry = await database.fetchval(EXPIRE, holder.id)
    await lanes.reap(database)
    assert (await lane_row(database, host_id))["ready_at"] >= expiry + timedelta(seconds=30)


async def test_the_living_are_not_reaped(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    holder = await lease(database, seconds=5)
    await claim(database, holder)
    assert await lanes.reap(database) == 0
    async with database.transaction() as connection:
        await holder.renew(connection, 1)


async def test_a_reaped_worker_cannot_renew(database: Database) -> None:
    holder = await lease(database)
    await database.fetch(EXPIRE, holder.id)
    await lanes.reap(database)
    with pytest.raises(LeaseLostError):
        async with database.transaction() as connection:
            await holder.renew(connection, 1)


async def test_a_lease_that_ran_out_unreaped_may_be_renewed(database: Database) -> None:
    holder = await lease(database)
    await database.fetch(EXPIRE, holder.id)
    async with database.transaction() as connection:
        renewal = await holder.renew(connection, 1)
    assert renewal.deadline > clock.now()
    assert (renewal.closed, renewal.committed) == ([], False)


async def test_a_renewal_under_way_is_not_reaped_over(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    holder = await lease(database)
    await claim(database, holder)
    await database.fetch(EXPIRE, holder.id)
    async with database.transaction() as connection:
        await holder.renew(connection, 1)
        assert await lanes.reap(database) == 0
    assert await lanes.reap(database) == 0


async def test_a_flush_whose_answer_was_lost_is_known_to_be_committed(database: Database) -> None:
    holder = await lease(database)
    told = []
    for flush in (1, 1, 2, 2):
        async with database.transaction() as connection:
            told.append((await holder.renew(connection, flush)).committed)
    assert told == [False, True, False, True]


async def test_the_deadline_is_counted_from_before_the_query(database: Database) -> None:
    before = clock.now()
    holder = await lease(database, seconds=30)
    left = await database.fetchval(
        "SELECT extract(epoch FROM expires_at - messor.clock())::float8 FROM messor.worker_leases"
    )
    assert before + 30 <= holder.deadline <= clock.now() + left  # this side stops first


async def test_the_worker_clock_does_not_matter(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    async with database.transaction() as connection:
        holder = await lease(database)
        await connection.execute("SET LOCAL messor.clock_offset = '1 hour'")
        assert await connection.fetchval("SELECT messor.reap_workers()") == 0  # no lanes yet
    with pytest.raises(LeaseLostError):
        async with database.transaction() as connection:
            await holder.renew(connection, 1)


async def test_renewing_tells_which_lanes_to_leave(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    holder = await lease(database)
    await claim(database, holder)
    await database.fetch("UPDATE messor.domains SET status = 'suspended'")
    async with database.transaction() as connection:
        renewal = await holder.renew(connection, 1)
    assert renewal.closed == [host_id]


async def test_a_worker_that_ends_its_lease_leaves_no_lane_behind(database: Database) -> None:
    """A claim may have committed although the worker, told to stop, never heard its answer."""
    await make_lanes(database, await make_domain(database, delay=0))
    holder = await lease(database)
    await claim(database, holder)
    async with database.transaction() as connection:
        await holder.end(connection)
    await lanes.reap(database)
    assert len(await claim(database, await lease(database))) == 1


async def test_a_stale_token_gives_nothing_back(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database, delay=0))
    old, new = await lease(database, "old"), await lease(database, "new")
    (stale,) = await claim(database, old)
    await database.fetch(EXPIRE, old.id)
    await lanes.reap(database)
    (held,) = await claim(database, new)
    await give_back(database, old, [stale])
    async with database.transaction() as connection:
        await lanes.silence(connection, old.id, [lanes.Silence(stale, 3600, "late")])
    row = await lane_row(database, host_id)
    assert (row["worker_id"], row["token"]) == (new.id, held.token)
    assert await database.fetchval("SELECT cooldown_until FROM messor.hosts") is None


async def test_many_reapers_reap_once(database: Database) -> None:
    await make_lanes(database, await make_domain(database, cap=100), count=20)
    holder = await lease(database)
    assert len(await claim(database, holder)) == 20
    await database.fetch(EXPIRE, holder.id)
    assert sum(await asyncio.gather(*(lanes.reap(database) for _ in range(8)))) == 20
