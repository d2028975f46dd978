"""What people normally do is accused by no audit, in whatever order; what is really wrong still is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from messor.governance import decisions, intake, preflight
from messor.ingest import IngestRequest, Mode, ingest
from messor.ops import contract, politeness
from messor.politeness import traffic
from messor.registry import domains, preflights
from messor.registry.submissions import Submitter
from messor.settings import Settings
from messor.store.database import Database
from simweb import SimResponse
from tests.clones import clone_of, filled_once
from tests.crawling import TESTER, admit, at_work, idle, until
from tests.ingest.test_ingest import REVIEWER, shop
from tests.little_web import LittleWeb, page, robots
from tests.ops.logs import AGENT, change

SITES = ("one.test", "closed.test", "shut.test")


async def findings(database: Database) -> list[str]:
    """What the audits have to say, in words."""
    report = await contract.audit(
        database, agent=Settings().agent_token, offered=[mode.value for mode in Mode]
    )
    broken = [
        f"{verdict.check.id}: {example}"
        for verdict in report.verdicts
        for example in verdict.found.examples
    ]
    judged = await politeness.audit(database, agent=AGENT)
    return broken + [f"{found.kind}: {found.why}" for found in judged.findings]


async def looked_at(database: Database, name: str) -> None:
    """Wait until the pre-flight of a domain has a report."""
    async with asyncio.timeout(60):
        while True:
            found = await preflights.newest(database, await domains.get(database, name))
            if found is not None and found.finished_at is not None:
                return
            await asyncio.sleep(0.02)


async def _look(database: Database, folder: Path) -> None:
    """Three domains wait for review: one open, one whose homepage is closed, one shut."""
    webs = {
        "one.test": {"/": page("Home", "/a"), "/a": page("A")},
        "closed.test": {"/robots.txt": robots("User-agent: *\nDisallow: /$\n"), "/": page("Home")},
        "shut.test": {"/robots.txt": robots("User-agent: *\nDisallow: /\n"), "/": page("Home")},
    }
    async with LittleWeb(folder, webs) as web:
        for name in SITES:
            async with database.transaction() as connection:
                await intake.submit_domain(connection, f"http://{name}/", Submitter(TESTER))
        async with at_work(web.settings(default_delay=0.05), database):
            for name in SITES:
                await looked_at(database, name)


@pytest.fixture(scope="module")
def looked(server_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("looked")
    with filled_once(server_dsn, "looked", lambda new: _look(new, folder)) as name:
        yield name


@pytest.fixture
async def log(server_dsn: str, looked: str) -> AsyncIterator[Database]:
    async with clone_of(server_dsn, looked) as opened:
        yield opened


async def test_preflights_are_no_violation(log: Database) -> None:
    rows = await log.fetch("SELECT count(*) AS n FROM messor.http_fetches GROUP BY host_id")
    assert sorted(row["n"] for row in rows) == [1, 2, 3]
    assert await findings(log) == []


@pytest.mark.parametrize("rules, requests", [("Allow: /", 3 + 3), ("Disallow: /$", 3 + 2)])
async def test_a_preflight_that_was_cut_off_and_begun_anew_is_no_violation(
    database: Database, tmp_path: Path, rules: str, requests: int
) -> None:
    rooms = {"/": page("Home"), "/sitemap.xml": replace(page("late"), pause_s=25.0)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with database.transaction() as connection:
            await intake.submit_domain(connection, "http://one.test/", Submitter(TESTER))
        async with at_work(web.settings(default_delay=0.05), database) as worker:
            await until(lambda: "/" in web.paths("one.test"))
            await asyncio.sleep(1.0)  # the sitemap is asked for; its answer would come late
            async with database.transaction() as connection:
                await traffic.halt(connection, reason="a complaint", actor=TESTER)
            shift = worker.shift
            assert shift is not None
            await until(lambda: not shift.visits, 5.0)
            web.houses["one.test"].rooms |= {
                "/sitemap.xml": page("none"),
                "/robots.txt": robots(f"User-agent: *\n{rules}\n"),
            }
            async with database.transaction() as connection:
                await traffic.resume(connection, actor=TESTER)
            await looked_at(database, "one.test")
        assert len(web.requests("one.test")) == requests
    assert await findings(database) == []
    await change(database, COPY_LAST.format(rule="f.rule", host="one.test"))
    (found,) = await findings(database)  # one more than the second look had
    assert f"this was number {requests - 3 + 1}" in found


FIRST = "UPDATE messor.crawl_tasks SET priority = 0 WHERE page_id = $1"
COPY_LAST = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code,
       duration_ms, waited_ms, delay_ms, rule, policy_version)
SELECT f.fetched_at + interval '1 second', f.page_id, f.host_id, f.visit_token, 'ok', 200, 1, 1000,
       f.delay_ms, {rule}, 1
  FROM messor.http_fetches f JOIN messor.hosts h ON h.id = f.host_id
 WHERE h.host = '{host}' ORDER BY f.fetched_at DESC LIMIT 1
"""
WRONG_LOOKS = {
    "a fourth request": (
        COPY_LAST.format(rule="f.rule", host="one.test"),
        "not_approved: a pre-flight may send 3 requests; this was number 4",
    ),
    "the homepage that robots.txt keeps": (
        COPY_LAST.format(rule="f.rule", host="closed.test"),
        "robots: after its robots.txt the pre-flight was allowed 2 of 3 requests; this was number 3",
    ),
    "a page before approval": (
        COPY_LAST.format(rule="'approved'", host="one.test"),
        "not_approved: the domain was submitted",
    ),
    "a look that nobody asked for": ("DELETE FROM messor.preflights", "not_approved: "),
    "a look after rejection": (
        """WITH told AS (UPDATE messor.events SET occurred_at = occurred_at - interval '1 hour')
           INSERT INTO messor.events (type, actor, domain_id, occurred_at)
           SELECT 'domain.rejected', 'x', id, created_at - interval '1 minute' FROM messor.domains""",
        "not_approved: the domain was rejected",
    ),
    "too early": (
        """UPDATE messor.http_fetches SET waited_ms = 20
            WHERE id = (SELECT max(id) FROM messor.http_fetches WHERE waited_ms > 0)""",
        "early: came 20 ms",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_LOOKS)
async def test_a_preflight_that_goes_too_far_is_found(log: Database, wrong: str) -> None:
    sql, found = WRONG_LOOKS[wrong]
    await change(log, sql)
    assert any(each.startswith(found) for each in await findings(log))


@pytest.mark.parametrize("wait", [0.0, 0.1, 0.2, 0.4, 0.8])
async def test_ingesting_right_after_approval_is_no_violation(
    database: Database, tmp_path: Path, wait: float
) -> None:
    """The crawl that approval began and the run meet: pages are on their way, or came in between."""
    async with LittleWeb(tmp_path, {"one.test": shop(14)}) as web:
        settings = web.settings()
        async with at_work(settings, database):
            await admit(database, "http://one.test/", delay=0.05)
            await asyncio.sleep(wait)
            for mode in (Mode.LIGHT, Mode.STANDARD):
                request = IngestRequest("http://one.test/", REVIEWER, mode, may_approve=True)
                await ingest(database, settings, request)
    assert await findings(database) == []


def asked_for(web: LittleWeb, path: str) -> bool:
    return path in web.paths("one.test")


@pytest.mark.parametrize("pause", [0.3, 0.7, 1.5])
async def test_ingesting_while_slow_answers_are_on_their_way_is_no_violation(
    database: Database, tmp_path: Path, pause: float
) -> None:
    """What was asked for before the run began is answered during it."""
    rooms = {
        path: replace(room, pause_s=pause)
        for path, room in shop(5).items()
        if isinstance(room, SimResponse)
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings()
        async with at_work(settings, database):
            await admit(database, "http://one.test/", delay=0.05)
            for path in ("/", "/about"):
                await until(partial(asked_for, web, path))
                request = IngestRequest("http://one.test/", REVIEWER, Mode.LIGHT, may_approve=True)
                await ingest(database, settings, request)
    assert await findings(database) == []


async def test_ingesting_where_somebody_asked_for_a_page_is_no_violation(
    database: Database, tmp_path: Path
) -> None:
    """A page that is due for another's sake may come before the run has read its sources."""
    async with LittleWeb(tmp_path, {"one.test": shop(14)}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/", delay=0.05)
        async with database.transaction() as connection:
            url = "http://one.test/about"
            asked = await intake.submit_url(connection, url, Submitter(TESTER), look=False)
            assert asked.outcome == "crawling"
            await connection.execute(FIRST, asked.page_id)
        async with at_work(settings, database):
            request = IngestRequest("http://one.test/", REVIEWER, Mode.LIGHT, may_approve=True)
            await ingest(database, settings, request)
        assert web.paths("one.test")[:2] == ["/robots.txt", "/about"]
    assert await findings(database) == []


async def test_look_then_approve_then_crawl_then_ingest(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": shop(14)}) as web:
        settings = web.settings(default_delay=0.05)
        async with database.transaction() as connection:
            await intake.submit_domain(connection, "http://one.test/", Submitter(TESTER))
        async with at_work(settings, database):
            await looked_at(database, "one.test")
            async with database.transaction() as connection:
                await decisions.approve(connection, "one.test", actor=TESTER)
            await idle(database)
            for _ in range(2):
                request = IngestRequest("http://one.test/", REVIEWER, Mode.LIGHT, may_approve=True)
                await ingest(database, settings, request)
    assert await findings(database) == []


async def test_looks_after_doubt_and_after_rejection(database: Database, tmp_path: Path) -> None:
    """Whenever a domain waits for review again, somebody may have it looked at again."""
    async with LittleWeb(tmp_path, {"one.test": shop(3)}) as web:
        domain = await admit(database, "http://one.test/", delay=0.05)
        async with at_work(web.settings(default_delay=0.05), database):
            await idle(database)
            for step in ("pending_review", "rejected", "pending_review"):
                async with database.transaction() as connection:
                    domain = await domains.move(
                        connection, domain, step, actor=TESTER, reason="doubt"
                    )
                if step == "pending_review":
                    async with database.transaction() as connection:
                        await preflight.request_preflight(connection, domain, actor=TESTER)
                    await looked_at(database, "one.test")
                    await idle(database)
    looks = await database.fetchval(
        "SELECT count(*) FROM messor.http_fetches WHERE rule = 'preflight'"
    )
    assert looks == 6
    assert await findings(database) == []
