"""A database clock that steps: lanes, leases and jobs are mended, and no wait is cut short."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from messor.access import ratelimits, throttle
from messor.access.origin import Origin
from messor.access.ratelimits import Limit
from messor.cli.run_workers import crawl_until_idle
from messor.explain.why import explain
from messor.fetch.services import holds
from messor.ledger.alarms import AlarmBoard, AlarmKeeper
from messor.ops.clock_watch import ClockReading, ClockWatch
from messor.politeness import clock_steps
from messor.politeness.lease import WorkerLease
from messor.store.database import Database
from messor.store.session import Session
from simweb import SimResponse
from tests.crawling import admit, at_work, crawl, eventually, idle, later, outcomes, until
from tests.little_web import LAG, LittleWeb, page

HOUR = timedelta(hours=1)
NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)
LINKS = tuple(f"/p{number}" for number in range(12))
ROOMS = {"/": page("home", *LINKS), **{link: page(link) for link in LINKS}}
DELAY = 0.2

# Seconds until each lane is ready, and until it may be claimed.
WAITS = """
SELECT h.host, extract(epoch FROM l.ready_at - messor.clock())::float8 AS ready,
       extract(epoch FROM l.claim_at - messor.clock())::float8 AS claim
  FROM messor.lanes l JOIN messor.hosts h ON h.id = l.host_id
"""


@dataclass
class Scene:
    """A database, the same an hour off, and a watch that sees the step."""

    right: Database
    wrong: Database
    watch: ClockWatch
    board: AlarmBoard

    async def go_wrong(self) -> None:
        await self.watch.look()
        self.watch.database = self.wrong
        await self.watch.look()

    async def go_right(self) -> None:
        self.watch.database = self.right
        await self.watch.look()


@asynccontextmanager
async def scene(database: Database, dsn: str, by: timedelta = HOUR) -> AsyncIterator[Scene]:
    async with Database(later(dsn, by)) as wrong:
        board = AlarmBoard()
        watch = ClockWatch(database, board, worker_lease=30.0)
        yield Scene(database, wrong, watch, board)


async def waits(database: Database) -> dict[str, tuple[float, float | None]]:
    return {row["host"]: (row["ready"], row["claim"]) for row in await database.fetch(WAITS)}


async def silences(database: Database) -> list[float]:
    left = "extract(epoch FROM cooldown_until - messor.clock())::float8"
    return [row[0] for row in await database.fetch(f"SELECT {left} FROM messor.hosts")]


async def execute(database: Database, sql: str) -> None:
    async with database.connection() as connection:
        await connection.execute(sql)


async def test_lanes_go_on_after_a_clock_that_was_an_hour_ahead(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": ROOMS}) as web,
        scene(database, dsn) as made,
    ):
        settings = web.settings(visit_pages=3)
        await admit(database, "http://one.test/", delay=DELAY)
        await made.go_wrong()
        async with at_work(settings, made.wrong):
            await until(lambda: len(web.requests("one.test")) > 5)
        assert (await waits(database))["one.test"][0] > 3000  # as it is without a mend
        await made.go_right()
        ready, claim = (await waits(database))["one.test"]
        assert ready <= DELAY + 60
        assert claim is not None
        assert claim <= DELAY + 60
        await crawl(settings, database)
        found = await outcomes(database)
        assert [found[f"http://one.test{path}"] for path in ROOMS] == ["ok"] * len(ROOMS)
        assert "went back by 3,6" in made.board.standing[0].message


# The clock of the whole database, for every session at once.
CLOCK = """
CREATE OR REPLACE FUNCTION messor.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT clock_timestamp() + interval '{offset}'
$$
"""


async def test_a_crawl_under_way_gets_over_an_hour_ahead_and_back(
    database: Database, tmp_path: Path
) -> None:
    """As it happens: the clock steps for everybody, and is put right."""
    async with LittleWeb(tmp_path, {"one.test": ROOMS, "two.test": ROOMS}) as web:
        for name in ("one.test", "two.test"):
            await admit(database, f"http://{name}/", delay=0.5)
        board = AlarmBoard()
        watch = ClockWatch(database, board, worker_lease=30.0)
        watching = asyncio.create_task(watch.run())
        async with at_work(web.settings(visit_pages=3), database):
            await until(lambda: len(web.requests()) > 8)
            await execute(database, CLOCK.format(offset="1 hour"))
            await until(lambda: any("went ahead by 3,6" in one.message for one in board.standing))
            await asyncio.sleep(3)
            await execute(database, CLOCK.format(offset="0"))
            await until(lambda: any("went back by 3,6" in one.message for one in board.standing))
            righted = time.monotonic()
            late = [max(ready, claim or 0) for ready, claim in (await waits(database)).values()]
            assert max(late) <= 60
            await idle(database)
            assert time.monotonic() - righted <= 60
        watch.stop()
        await watching
        found = await outcomes(database)
        urls = [f"http://{name}{path}" for name in ("one.test", "two.test") for path in ROOMS]
        assert [found[url] for url in urls] == ["ok"] * len(urls)
        for name in ("one.test", "two.test"):
            times = [asked.arrived_ns / 1e9 for asked in web.requests(name)]
            assert min(b - a for a, b in pairwise(times)) >= 0.5 - LAG


async def test_a_crawl_by_hand_gets_over_it_with_nobody_else_there(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web:
        await admit(database, "http://one.test/", delay=0.5)
        command = crawl_until_idle(web.settings(visit_pages=3), Session(database, None))
        crawling = asyncio.create_task(command)
        await until(lambda: len(web.requests()) > 3)
        await execute(database, CLOCK.format(offset="1 hour"))
        await until(lambda: len(web.requests()) > 6)
        await asyncio.sleep(2)  # a look or two
        await execute(database, CLOCK.format(offset="0"))
        await crawling
        found = await outcomes(database)
        assert [found[f"http://one.test{path}"] for path in ROOMS] == ["ok"] * len(ROOMS)
        times = [asked.arrived_ns / 1e9 for asked in web.requests()]
        assert min(b - a for a, b in pairwise(times)) >= 0.5 - LAG


async def test_a_silence_that_a_host_asked_for_is_kept_in_full(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """Set before the clock went wrong, and while it was."""
    busy = SimResponse(503, (("Retry-After", "7200"), ("Content-Type", "text/plain")), b"later")
    hosts = {name: {"/": busy, "/robots.txt": page("none")} for name in ("one.test", "two.test")}
    async with LittleWeb(tmp_path, hosts) as web, scene(database, dsn) as made:
        await admit(database, "http://one.test/", delay=DELAY)
        await crawl(web.settings(), database)
        await made.go_wrong()
        ahead = await waits(made.wrong)
        assert 7190 - 30 < ahead["one.test"][0] <= 7200  # not over an hour sooner
        assert all(7100 < left <= 7200 for left in await silences(made.wrong))
        await admit(made.wrong, "http://two.test/", delay=DELAY)
        async with at_work(web.settings(), made.wrong):
            await until(lambda: web.paths("two.test").count("/") == 1)
            await idle(made.wrong)
        await made.go_right()
        found = await waits(database)
        assert 7200 - 60 < found["one.test"][0] <= 7200
        assert 7200 - 60 < found["two.test"][0] <= 7200
        asked = len(web.requests())
        await crawl(web.settings(), database)
        assert len(web.requests()) == asked
        assert all(7100 < left <= 7200 for left in await silences(database))


async def test_what_waits_besides_lanes_is_not_kept_waiting(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """Pages to be read, logins, requests to the API, proxies and hints at jobs."""
    limit, origin = Limit(10, timedelta(minutes=1)), Origin("127.0.0.1")
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web, scene(database, dsn) as made:
        await admit(database, "http://one.test/", delay=0)
        await made.go_wrong()
        await crawl(web.settings(), made.wrong)
        charged = await throttle.charge(made.wrong, "ada@example.org", origin)
        async with made.wrong.transaction() as connection:
            await charged.forgive(connection)
        assert (await ratelimits.take(made.wrong, "key", limit)).is_taken
        for sql in (
            """INSERT INTO messor.proxies (proxy_protocol, proxy_url, proxy_port, is_active, probe_at)
               VALUES ('http', '192.0.2.1', 8080, false, messor.clock() + interval '1 minute')""",
            """INSERT INTO messor.job_outbox (job_id, job_type, due_at)
               VALUES (gen_random_uuid(), 'audit', messor.clock())""",
            "UPDATE messor.outbox_relay SET expires_at = messor.clock() + interval '10 seconds'",
        ):
            await made.wrong.fetch(sql)
        assert await database.fetchval("SELECT count(*) FROM messor.extraction_due") == len(ROOMS)
        await made.go_right()
        for table, column in (*clock_steps.OTHER_WAITS, ("extraction_due", "due_at")):
            late = f"SELECT max({column}) - messor.clock() FROM messor.{table}"
            left = await database.fetchval(late)
            assert left is None or left < timedelta(seconds=70), table
        await throttle.charge(database, "ada@example.org", origin)
        assert (await ratelimits.take(database, "key", limit)).is_taken


async def test_a_page_that_is_being_read_does_not_hold_up_the_mend(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web, scene(database, dsn) as made:
        await admit(database, "http://one.test/", delay=DELAY)
        await made.go_wrong()
        await crawl(web.settings(), made.wrong)
        async with database.transaction() as reading:
            await reading.fetch("SELECT FROM messor.extraction_due LIMIT 3 FOR UPDATE")
            await asyncio.wait_for(made.go_right(), 4)
        assert (await waits(database))["one.test"][0] <= DELAY + 60


async def test_a_silence_lasts_though_the_clock_was_behind(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    busy = SimResponse(503, (("Retry-After", "1800"), ("Content-Type", "text/plain")), b"later")
    rooms = {"/": busy, "/robots.txt": page("none")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web, scene(database, dsn, -HOUR) as made:
        made.watch.database = made.wrong  # it was behind before anybody looked
        await made.watch.look()
        await admit(made.wrong, "http://one.test/", delay=DELAY)
        await crawl(web.settings(), made.wrong)
        await made.go_right()
        assert 1800 - 60 < (await waits(database))["one.test"][0] <= 1800
        asked = len(web.requests())
        await crawl(web.settings(), database)
        assert len(web.requests()) == asked
        assert "went ahead by 3,6" in made.board.standing[0].message


async def test_a_wait_that_a_person_made_long_is_left(database: Database, dsn: str) -> None:
    await admit(database, "http://one.test/")
    await execute(database, "UPDATE messor.lanes SET ready_at = messor.clock() + interval '1 day'")
    async with scene(database, dsn) as made:
        await made.go_wrong()
        await made.go_right()
        assert abs((await waits(database))["one.test"][0] - 86400) < 60


async def test_what_a_worker_that_died_meanwhile_held_comes_back(
    database: Database, dsn: str
) -> None:
    async with scene(database, dsn) as made:
        await made.go_wrong()
        await WorkerLease.take(made.wrong, "dead", 30.0)
        await made.go_right()
        left = await database.fetchval(
            "SELECT extract(epoch FROM expires_at - messor.clock()) FROM messor.worker_leases"
        )
        assert left <= 30


async def test_leases_can_be_renewed_while_lanes_are_mended(database: Database, dsn: str) -> None:
    async with scene(database, dsn) as made:
        await admit(database, "http://one.test/")
        await made.go_wrong()
        lease = await WorkerLease.take(made.wrong, "alive", 30.0)
        async with database.transaction() as busy:
            await busy.execute("SELECT FROM messor.lanes FOR UPDATE")  # the mending waits here
            mending = asyncio.create_task(made.go_right())
            await eventually(lambda: database.fetchval(MENDED), 3.0)
            async with database.transaction() as connection:
                await lease.renew(connection, 1)
            assert not mending.done()
        await mending


MENDED = "SELECT expires_at < messor.clock() + interval '1 minute' FROM messor.worker_leases"
HOLDS = "SELECT extract(epoch FROM held_until - messor.clock())::float8 FROM messor.provider_holds"


@pytest.mark.parametrize("sets_ahead", [False, True])
async def test_a_hold_on_a_service_keeps_its_length(
    database: Database, dsn: str, sets_ahead: bool
) -> None:
    async with scene(database, dsn) as made:
        if not sets_ahead:
            await holds.hold(database, "service", 1800, "429")
        await made.go_wrong()
        if sets_ahead:
            await holds.hold(made.wrong, "service", 1800, "429")
        assert abs(await made.wrong.fetchval(HOLDS) - 1800) < 60
        await made.go_right()
        assert abs(await database.fetchval(HOLDS) - 1800) < 60


async def test_a_run_whose_command_died_while_the_clock_was_ahead_can_be_resumed(
    database: Database, dsn: str
) -> None:
    async with scene(database, dsn) as made:
        await admit(database, "http://one.test/")
        await made.go_wrong()
        await execute(made.wrong, RUN)
        await made.go_right()
    assert await database.fetchval("SELECT seen_at <= messor.clock() FROM messor.crawl_runs")


RUN = """
INSERT INTO messor.crawl_runs (id, domain_id, url, page_id, started_by, bounded, refetch, seen_at)
SELECT gen_random_uuid(), d.id, p.url, p.id, 'tester', false, false, messor.clock()
  FROM messor.domains d, messor.pages p LIMIT 1
"""
LEFTOVERS = """
INSERT INTO messor.leaders (name, holder, expires_at)
VALUES ('x', 'dead', messor.clock() + interval '30 seconds');
INSERT INTO messor.schedules (name, last_run_at, last_finished_at, next_run_at)
VALUES ('x', messor.clock() - interval '10 seconds', messor.clock(), messor.clock() + interval '5 minutes');
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, state, available_at, lock_expires_at)
VALUES (gen_random_uuid(), 'x', 'x', 'queued', 'queued', messor.clock(), NULL),
       (gen_random_uuid(), 'x', 'x', 'running', 'running', messor.clock() + interval '60 seconds',
        messor.clock() + interval '60 seconds');
"""


async def test_jobs_leaders_and_schedules_go_on(database: Database, dsn: str) -> None:
    async with scene(database, dsn) as made:
        await made.go_wrong()
        await execute(made.wrong, LEFTOVERS)
        await made.go_right()
    late = await database.fetchval(
        """SELECT max(extract(epoch FROM t - messor.clock()))::float8 FROM (
             SELECT expires_at AS t FROM messor.leaders UNION ALL
             SELECT available_at FROM messor.jobs UNION ALL
             SELECT last_run_at FROM messor.schedules UNION ALL
             SELECT next_run_at FROM messor.schedules) x"""
    )
    assert late <= 60


async def test_a_step_back_is_noticed_though_nobody_watched_it(
    database: Database, dsn: str
) -> None:
    """All processes were stopped while the clock was put right."""
    async with scene(database, dsn) as made:
        made.watch.database = made.wrong
        await made.watch.look()
        await admit(made.wrong, "http://one.test/")
        assert (await waits(database))["one.test"][0] > 3000
        fresh = ClockWatch(database, made.board, worker_lease=30.0)
        await fresh.look()
        assert (await waits(database))["one.test"][0] <= 60
        assert "went back by" in made.board.standing[0].message


async def test_two_watches_mend_a_step_once(database: Database, dsn: str) -> None:
    async with scene(database, dsn) as made:
        other = ClockWatch(database, AlarmBoard(), worker_lease=30.0)
        await admit(database, "http://one.test/")
        long = "UPDATE messor.lanes SET ready_at = messor.clock() + interval '2 hours'"
        await execute(database, long)
        await other.look()
        await made.go_wrong()
        other.database = made.wrong
        await other.look()
        assert abs((await waits(made.wrong))["one.test"][0] - 7200) < 60
        other.database = database
        await made.go_right()
        await other.look()
        assert abs((await waits(database))["one.test"][0] - 7200) < 60
        assert other._board.standing


async def test_a_lane_that_waits_and_a_clock_that_stepped_are_told_by_why(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web, scene(database, dsn) as made:
        settings = web.settings()
        await admit(database, "http://one.test/", delay=DELAY)
        await crawl(settings, database)
        assert (await explain(database, settings, "http://one.test/")).verdict == "allowed"
        await made.go_wrong()
        keeper = AlarmKeeper(database, made.board)
        keeping = asyncio.create_task(keeper.run())
        await execute(
            database, "UPDATE messor.lanes SET ready_at = messor.clock() + interval '1 hour'"
        )
        async with asyncio.timeout(10):
            while True:
                told = await explain(database, settings, "http://one.test/")
                if any(fact.step == "clock" for fact in told.facts):
                    break
                await asyncio.sleep(0.05)
        keeper.stop()
        await keeping
    assert told.verdict == "deferred"
    sentences = [fact.sentence for fact in told.facts]
    assert any("its lane is not ready before" in sentence for sentence in sentences)
    assert any("The database's clock went ahead by 3,600 s" in each for each in sentences)


@pytest.mark.parametrize(
    "before, after, step",
    [
        ((0, 0.1, 0), (10, 10.1, 10), 0),  # as it should be
        ((0, 9, 0), (10, 20, 18), 0),  # slow answers explain it
        ((0, 0, 0), (10, 10, 3610), 3600),
        ((0, 0, 0), (10, 10, -3590), -3600),
        ((0, 2, 0), (10, 12, 3610), 3598),  # no more than it surely is
    ],
)
def test_a_step_is_what_slow_answers_do_not_explain(
    before: tuple[float, float, float], after: tuple[float, float, float], step: float
) -> None:
    readings = [ClockReading(a, b, NOON + timedelta(seconds=t)) for a, b, t in (before, after)]
    assert readings[0].step_to(readings[1]) == timedelta(seconds=step)
