"""Rate limits: exact under a rush, evenly given back, one statement each."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.access import ratelimits
from messor.access.errors import ThrottledError
from messor.access.ratelimits import Limit, key_of_address
from messor.store.database import Database
from tests.access.conftest import Later

TEN = Limit(10, timedelta(hours=1))


async def test_so_many_and_no_more(database: Database) -> None:
    taken = [await ratelimits.take(database, "k", TEN) for _ in range(12)]
    assert [one.is_taken for one in taken] == [True] * 10 + [False] * 2
    assert [one.remaining for one in taken] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]
    assert {one.limit for one in taken} == {10}
    assert taken[0].retry_after == 0
    assert 300 <= taken[0].reset_after <= 360
    assert 300 <= taken[-1].retry_after <= 360
    assert 3500 <= taken[-1].reset_after <= 3600
    taken[0].require()
    with pytest.raises(ThrottledError, match="Too many requests") as refused:
        taken[-1].require()
    assert refused.value.retry_after == taken[-1].retry_after


async def test_a_rush_from_several_processes_gets_no_more(database: Database, dsn: str) -> None:
    async with Database(dsn) as other:
        taken = await asyncio.gather(
            *(ratelimits.take(source, "k", TEN) for source in (database, other) for _ in range(25))
        )
    assert sum(one.is_taken for one in taken) == 10
    assert all(one.retry_after >= 1 for one in taken if not one.is_taken)


async def test_it_comes_back_evenly(database: Database, later: Later) -> None:
    for _ in range(10):
        await ratelimits.take(database, "k", TEN)
    soon = await later(timedelta(minutes=13))  # two of ten
    taken = [(await ratelimits.take(soon, "k", TEN)).is_taken for _ in range(4)]
    assert taken == [True, True, False, False]
    afterwards = await later(timedelta(hours=3))
    assert (await ratelimits.take(afterwards, "k", TEN)).remaining == 9


async def test_keys_do_not_share(database: Database) -> None:
    one = Limit(1, timedelta(hours=1))
    assert (await ratelimits.take(database, "a", one)).is_taken
    assert (await ratelimits.take(database, "b", one)).is_taken
    assert not (await ratelimits.take(database, "a", one)).is_taken


async def test_a_request_may_cost_more(database: Database) -> None:
    assert (await ratelimits.take(database, "k", TEN, cost=7)).remaining == 3
    assert not (await ratelimits.take(database, "k", TEN, cost=4)).is_taken
    assert (await ratelimits.take(database, "k", TEN, cost=3)).is_taken
    for cost in (0, 11):
        with pytest.raises(ValueError, match="exceeds the limit of"):
            await ratelimits.take(database, "k", TEN, cost=cost)


@pytest.mark.parametrize("count, window", [(0, timedelta(1)), (1, timedelta(0))])
def test_a_limit_allows_something(count: int, window: timedelta) -> None:
    with pytest.raises(ValueError, match="count of at least 1"):
        Limit(count, window)


async def test_it_is_one_statement(database: Database) -> None:
    before = database.round_trips
    await ratelimits.take(database, "k", TEN)
    assert database.round_trips == before + 1


def test_addresses_have_keys() -> None:
    assert key_of_address("submit", "192.0.2.1") == "submit:address:192.0.2.1"
    assert key_of_address("api", "2001:db8::7") == "api:address:2001:db8::/64"
    assert key_of_address("api", None) == "api:address:unknown"
