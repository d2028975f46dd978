"""A halt ends all requests to sites within a second, on every worker; nothing is lost by it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from messor.cli.run_workers import crawl_until_idle
from messor.crawl import session as shift_room
from messor.crawl.visit import Visit, Visitor
from messor.errors import TrafficHaltedError
from messor.explain.why import explain
from messor.fetch.proxies.pool import ProxyPool
from messor.ledger.alarms import DISK, AlarmBoard, AlarmKeeper
from messor.politeness import prospects, traffic
from messor.store.database import Database
from messor.store.session import Session
from simweb import SimResponse
from simweb.answers import Request
from tests.crawling import PATIENCE, admit, at_work, idle, until
from tests.little_web import LittleWeb, page

WITHIN = 1.0  # seconds: the bar
LOGGED = "SELECT count(*) FROM messor.http_fetches"
CUT_OFF = f"{LOGGED} WHERE error_json ->> 'type' = 'cut_off'"
SNAPSHOTS = "SELECT count(*) FROM messor.page_snapshots"


async def halt(database: Database) -> None:
    async with database.transaction() as connection:
        await traffic.halt(connection, reason="a complaint", actor="tester")


async def resume(database: Database) -> None:
    async with database.transaction() as connection:
        await traffic.resume(connection, actor="tester")


def busy_site() -> dict[str, SimResponse]:
    """More pages than a test waits for."""
    links = [f"/{number}" for number in range(300)]
    return {"/": page("home", *links), **{link: page(f"page {link}") for link in links}}


async def test_every_worker_falls_silent_within_a_second_and_stays_so_over_a_restart(
    database: Database, tmp_path: Path
) -> None:
    hosts = [f"site{number}.test" for number in range(4)]
    async with LittleWeb(tmp_path, {host: busy_site() for host in hosts}) as web:
        for host in hosts:
            await admit(database, f"http://{host}/", delay=0.05)
        async with at_work(web.settings(), database), at_work(web.settings(), database):
            await until(lambda: all(len(web.requests(host)) > 5 for host in hosts))
            await halt(database)
            await asyncio.sleep(WITHIN)
            sent = len(web.requests())
            await asyncio.sleep(1.5)
            assert len(web.requests()) == sent
            async with at_work(web.settings(), database):
                await asyncio.sleep(1.0)
            assert len(web.requests()) == sent
            assert await database.fetchval(LOGGED) == sent  # each once, cut off or not
            await resume(database)
            await until(lambda: len(web.requests()) > sent + 10)


async def test_a_request_under_way_is_cut_off_and_its_page_is_fetched_afterwards(
    database: Database, tmp_path: Path
) -> None:
    asked = asyncio.Event()  # the web's own log tells of a request when it is over

    def slow(_: Request) -> SimResponse:
        asked.set()
        return replace(page("late"), pause_s=8.0)

    async with LittleWeb(tmp_path, {"slow.test": {"/": slow}}) as web:
        await admit(database, "http://slow.test/")
        async with at_work(web.settings(), database) as worker:
            await asyncio.wait_for(asked.wait(), PATIENCE)
            await halt(database)
            shift = worker.shift
            assert shift is not None
            await until(lambda: not shift.visits, WITHIN)
            assert await database.fetchval(SNAPSHOTS) == 0
            web.houses["slow.test"].rooms["/"] = page("home")
            await resume(database)
            await idle(database)
    assert await database.fetchval(SNAPSHOTS) == 1
    assert await database.fetchval(CUT_OFF) == 1
    assert await database.fetchval(LOGGED) == len(web.requests())


async def test_a_visit_that_begins_late_sends_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lane was claimed just before the halt, and what was under way is cut off already."""
    begun = asyncio.Event()
    hold = Visitor.hold

    async def late(self: Visitor, visit: Visit) -> None:
        lease = visit.lane.pace.lease
        begun.set()
        while not lease.is_halted:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        await hold(self, visit)

    monkeypatch.setattr(Visitor, "hold", late)
    async with LittleWeb(tmp_path, {"shop.test": {"/": page("home")}}) as web:
        await admit(database, "http://shop.test/")
        async with at_work(web.settings(), database) as worker:
            await asyncio.wait_for(begun.wait(), PATIENCE)
            await halt(database)
            shift = worker.shift
            assert shift is not None
            await until(lambda: not shift.visits, PATIENCE)
            assert web.requests() == []
            await resume(database)
            monkeypatch.setattr(Visitor, "hold", hold)
            await idle(database)
    assert await database.fetchval(SNAPSHOTS) == 1


async def test_a_crawl_by_hand_ends_and_says_why(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"site.test": busy_site()}) as web:
        await admit(database, "http://site.test/", delay=0.05)
        session = Session(database, None)
        crawling = asyncio.create_task(crawl_until_idle(web.settings(), session))
        await until(lambda: len(web.requests()) > 5)
        await halt(database)
        with pytest.raises(TrafficHaltedError, match=r"halted by tester .*: a complaint"):
            await asyncio.wait_for(crawling, PATIENCE)
        assert len(web.requests()) < 200


async def test_no_proxy_is_probed_meanwhile(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tended: list[ProxyPool] = []

    async def tend(self: ProxyPool) -> None:
        tended.append(self)

    monkeypatch.setattr(ProxyPool, "tend", tend)
    monkeypatch.setattr(shift_room, "PROXY_SECONDS", 0.05)
    async with LittleWeb(tmp_path, {}) as web, at_work(web.settings(), database):
        await until(lambda: len(tended) > 2)
        await halt(database)
        await asyncio.sleep(WITHIN)
        before = len(tended)
        await asyncio.sleep(0.5)
        assert len(tended) == before
        await resume(database)
        await until(lambda: len(tended) > before)


async def test_why_tells_of_the_halt(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"shop.test": {"/": page("home")}}) as web:
        await admit(database, "http://shop.test/")
        await halt(database)
        told = await explain(database, web.settings(), "http://shop.test/")
        assert told.verdict == "deferred"
        assert told.facts[0].step == "traffic"
        assert "halted by tester" in told.facts[0].sentence
        assert told.facts[0].sentence.endswith(": a complaint")
        await resume(database)
        assert (await explain(database, web.settings(), "http://shop.test/")).facts[
            0
        ].step != "traffic"


async def test_why_and_prospects_tell_that_the_disk_is_low(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"shop.test": {"/": page("home")}}) as web:
        await admit(database, "http://shop.test/")
        board = AlarmBoard("there:1")
        board.sound(DISK, "Fetching and extracting are paused: the disk is low.")
        keeper = AlarmKeeper(database, board)
        keeping = asyncio.create_task(keeper.run())
        async with at_work(web.settings(), database):
            await until(lambda: "/" in web.paths("shop.test"))  # its lease is alive
            told = await explain(database, web.settings(), "http://shop.test/")
            assert told.verdict == "deferred"
            assert ("disk", "later", board.standing[0].message) in [
                (fact.step, fact.says, fact.sentence) for fact in told.facts
            ]
            assert await prospects.hindrance(database, "shop.test") == board.standing[0].message
            keeper.stop()
            await keeping
            assert await prospects.hindrance(database, "shop.test") is None
