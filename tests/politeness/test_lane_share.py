"""Sharing: a worker leaves others their part, and takes what nobody wants."""

from __future__ import annotations

from pathlib import Path

from messor.politeness import lanes
from messor.politeness.lane_share import PATIENCE, FairShare
from messor.store.database import Database
from tests.crawling import admit, at_work, idle
from tests.held_lanes import claim, lease, make_domain, make_lanes
from tests.little_web import LittleWeb, page

MOST = 100


async def share(database: Database) -> int:
    return await FairShare(database, MOST).lanes()


async def test_alone_one_may_have_all(database: Database) -> None:
    await make_lanes(database, await make_domain(database, cap=1000), count=10)
    assert await share(database) == MOST
    await lease(database, "one")
    assert await share(database) == MOST


async def test_what_is_held_and_what_is_due_is_shared_evenly(database: Database) -> None:
    domain = await make_domain(database, cap=1000)
    await make_lanes(database, domain, count=9)
    one = await lease(database, "one")
    await lease(database, "two")
    assert await share(database) == 5
    held = await claim(database, one, wanted=7)
    assert len(held) == 7
    assert await share(database) == 5
    await lease(database, "three")
    assert await share(database) == 3
    await make_lanes(database, domain, "more.test", count=1000)
    assert await share(database) == MOST


async def test_who_is_gone_has_no_share(database: Database) -> None:
    await make_lanes(database, await make_domain(database, cap=1000), count=10)
    await lease(database, "one")
    two = await lease(database, "two")
    assert await share(database) == 5
    async with database.transaction() as connection:
        await two.end(connection)
    assert await share(database) == MOST
    await lease(database, "three", seconds=-1.0)  # it ran out
    assert await share(database) == MOST


async def test_there_is_always_something_to_have(database: Database) -> None:
    await lease(database, "one")
    await lease(database, "two")
    assert await share(database) == 1


async def test_beyond_the_share_only_what_has_waited(database: Database) -> None:
    domain = await make_domain(database, cap=1000)
    old = await make_lanes(database, domain, "old.test", count=2, age=PATIENCE + 1)
    await make_lanes(database, domain, "new.test", count=3, age=0.0)
    one = await lease(database, "one")

    async def take(ahead: float) -> list[int]:
        found = await lanes.claim(database, one, 10, 1.0, 4, ahead=ahead)
        return [lane.host_id for lane in found]

    assert sorted(await take(-PATIENCE)) == sorted(old)
    assert len(await take(lanes.LOOK_AHEAD)) == 3


async def test_two_workers_crawl_side_by_side(dsn: str, tmp_path: Path) -> None:
    """Sixteen hosts, which one worker alone would have taken all."""
    paths = [f"/{number}" for number in range(30)]
    rooms = {"/": page("Home", *paths), **{path: page(path) for path in paths}}
    names = [f"host-{number}.test" for number in range(16)]
    async with (
        LittleWeb(tmp_path, dict.fromkeys(names, rooms)) as web,
        Database(dsn) as first,
        Database(dsn) as second,
    ):
        settings = web.settings(default_delay=0.0, visit_pages=5)
        for name in names:
            await admit(first, f"http://{name}/")
        async with at_work(settings, first) as one, at_work(settings, second) as two:
            await idle(first, 240.0)
        assert one.outcomes["ok"] + two.outcomes["ok"] >= len(names) * len(rooms)
        assert min(one.outcomes["ok"], two.outcomes["ok"]) > 30
