"""The address desk: one question for many visits, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from messor.crawl.address_slots import AddressSlots
from messor.fetch.http import HttpFetcher
from messor.politeness.lanes import Lane
from messor.store.database import Database
from tests.held_lanes import claim, lease, make_domain, make_lanes, slots_of_address
from tests.little_web import LittleWeb, page


async def lanes_and_slots(
    database: Database, fetcher: HttpFetcher, count: int, exempt: list[str]
) -> tuple[list[Lane], AddressSlots]:
    domain = await make_domain(database, cap=50)
    await make_lanes(database, domain, count=count)
    holder = await lease(database)
    slots = AddressSlots(database, holder, fetcher, slots=2, exempt=exempt)
    return await claim(database, holder), slots


def street(folder: Path, count: int) -> LittleWeb:
    hosts = {f"h{n}.example.test": {"/": page("home")} for n in range(1, count + 1)}
    return LittleWeb(folder, hosts, shared_address=True)


@pytest.mark.parametrize("exempt, granted", [([], 2), (["127.0.0.0/8"], 5)])
async def test_an_address_has_its_slots_unless_it_is_exempt(
    database: Database, tmp_path: Path, exempt: list[str], granted: int
) -> None:
    async with street(tmp_path, 5) as web:
        fetcher = HttpFetcher(web.settings(), "1")
        held, slots = await lanes_and_slots(database, fetcher, 5, exempt)
        before = database.round_trips
        answers = await asyncio.gather(*(slots.settle(lane, 80) for lane in held))
        assert sum(answers) == granted
        assert database.round_trips - before <= 1  # one question for all
        assert await slots_of_address(database, "127.0.1.1") == (2 if not exempt else 0)
        await fetcher.close()


async def test_a_visit_cancelled_while_waiting_for_slots_does_not_block_the_others(
    database: Database, tmp_path: Path
) -> None:
    async with street(tmp_path, 3) as web:
        fetcher = HttpFetcher(web.settings(), "1")
        held, slots = await lanes_and_slots(database, fetcher, 3, [])
        leader = asyncio.create_task(slots.settle(held[0], 80))
        follower = asyncio.create_task(slots.settle(held[1], 80))
        await asyncio.sleep(0.002)  # the leader gathers company for 10 ms
        leader.cancel()
        async with asyncio.timeout(60):
            assert await follower
            assert await slots.settle(held[2], 80) in (True, False)
        await fetcher.close()
