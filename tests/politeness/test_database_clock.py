"""The database's clock from here: the quickest answer counts, until it is old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from messor.core import clock
from messor.politeness.database_clock import BELIEVED_SECONDS, DatabaseClock
from messor.politeness.lease import WorkerLease
from messor.store.database import Database

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def test_a_moment_is_dated_by_the_quickest_answer() -> None:
    known = DatabaseClock()
    known.measure(10.0, 12.0, NOON)
    assert known.at(11.0) == NOON + seconds(1)
    known.measure(20.0, 20.5, NOON + seconds(9))
    assert known.at(20.0) == NOON + seconds(9)
    known.measure(30.0, 34.0, NOON + seconds(23))  # an answer that waited says less
    assert known.at(20.0) == NOON + seconds(9)
    assert known.at(19.0) == NOON + seconds(8)


def test_no_answer_is_believed_for_ever() -> None:
    known = DatabaseClock()
    known.measure(10.0, 10.0, NOON)
    late = 10.0 + BELIEVED_SECONDS + 1
    known.measure(late, late + 2, NOON + timedelta(hours=1))
    assert known.at(late) == NOON + timedelta(hours=1)


async def test_a_lease_tells_the_time_before_it_is_renewed(database: Database) -> None:
    """A worker that loses its first flush still dates what it sent."""
    before = await database.fetchval("SELECT messor.clock()")
    lease = await WorkerLease.take(database, "tester", 60.0)
    earlier = await database.fetchval("SELECT messor.clock()")
    assert before <= earlier <= lease.database_clock.at(clock.now())


async def test_a_renewal_tells_the_time(database: Database) -> None:
    lease = await WorkerLease.take(database, "tester", 60.0)
    before = await database.fetchval("SELECT messor.clock()")
    async with database.transaction() as connection:
        await lease.renew(connection, 1)
    earlier = await database.fetchval("SELECT messor.clock()")
    assert before <= earlier <= lease.database_clock.at(clock.now())
