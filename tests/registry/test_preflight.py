"""First looks at pending domains: within three requests, in the lane, against real servers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import asyncpg
import pytest

from messor.crawl.page_result import PageResult
from messor.crawl.preflight import KIND, PreflightReader
from messor.errors import ConflictError
from messor.fetch.guard import AddressGuard
from messor.fetch.http import HttpFetcher
from messor.fetch.proxies.pool import ProxyPool
from messor.fetch.proxies.probe import Prober
from messor.fetch.proxies.seal import seal_for
from messor.fetch.terms import TermsFetcher
from messor.frontier import tasks
from messor.governance import decisions, intake, preflight
from messor.politeness.lanes import Lane
from messor.registry import domains, preflights
from messor.registry.preflights import PreflightReport
from messor.registry.submissions import Submitter
from messor.store.database import Database
from simweb.answers import SimResponse, plain, redirect
from simweb.documents import HTML
from tests.crawling import TESTER, submit
from tests.held_lanes import claim, lease
from tests.little_web import LittleWeb, Room, page, robots
from tests.registry.standing import at_status, event_types, only

SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
OPEN_CLAIMS = (
    "d.status = 'approved' AND d.active",
    "messor.may_visit(d.status, d.active, l.preflight)",
)


def sitemap(count: int) -> SimResponse:
    entries = "".join(f"<url><loc>http://one.test/{n}</loc></url>" for n in range(count))
    return SimResponse(
        200, (("Content-Type", "application/xml"),), SITEMAP.format(entries).encode()
    )


async def let_claims_see_preflights(database: Database) -> None:
    """The claim with the one condition that lets a pending domain's lane be held."""
    sql = await database.fetchval("SELECT pg_get_functiondef('messor.claim_lanes'::regproc)")
    if "may_visit" not in sql:
        assert sql.count(OPEN_CLAIMS[0]) == 2
        await database.fetch(sql.replace(*OPEN_CLAIMS))


async def ask(database: Database, name: str = "one.test") -> None:
    async with database.transaction() as connection:
        domain = await domains.lock(connection, name)
        assert await preflight.request_preflight(connection, domain, actor=TESTER) is not None


async def held(database: Database) -> Lane:
    await let_claims_see_preflights(database)
    (lane,) = await claim(database, await lease(database), delay=0.0)
    return lane


async def look(
    database: Database, folder: Path, rooms: Mapping[str, Room]
) -> tuple[PreflightReport, PageResult, list[str]]:
    """Submit, look, and answer the report, what is logged, and what the server was asked."""
    async with LittleWeb(folder, {"one.test": dict(rooms)}) as web:
        settings = web.settings()
        await submit(database, "http://one.test/")
        await ask(database)
        lane = await held(database)
        due = await tasks.due(database, [lane.host_id], 50, 0.25)
        (task,) = due[lane.host_id]
        assert task.kind == KIND
        http = HttpFetcher(settings, "1")
        pool = ProxyPool(
            database,
            seal_for(settings),
            Prober(AddressGuard(settings.allowed_networks), seconds=1.0),
        )
        reader = PreflightReader(TermsFetcher(http, pool), database, agent="MessorBot")
        try:
            looked = await reader.run(lane, task)
        finally:
            await http.close()
        asked = [request.path for request in web.requests("one.test")]
    found = await preflights.newest(database, await domains.get(database, "one.test"))
    assert found is not None
    assert found.report is not None
    assert found.requests == looked.requests == len(looked.result.attempts) <= 3
    assert len(asked) <= looked.requests
    return found.report, looked.result, asked


async def test_a_sound_site(database: Database, tmp_path: Path) -> None:
    await submit(database, "one.example")
    rooms = {"/": page("Home", "/a", "/b"), "/sitemap.xml": sitemap(7)}
    report, harvest, asked = await look(database, tmp_path, rooms)
    assert asked == ["/robots.txt", "/", "/sitemap.xml"]
    assert (report.reachable, report.status_code, report.title) == (True, 200, "Home")
    assert (report.robots, report.robots_allows) == ("rules", True)
    assert (report.sitemap_urls, report.sitemap) == (7, "http://one.test/sitemap.xml")
    assert report.message == "It answers 200 and may be crawled; its sitemap lists 7 pages."
    assert [(one.domain, one.likeness) for one in report.similar] == [("one.example", "same_name")]
    assert harvest.decision.rule == "preflight"
    assert await only(database, "SELECT count(*) FROM messor.page_snapshots") == 0
    assert not await only(database, "SELECT bool_or(preflight) FROM messor.lanes")
    assert (await event_types(database))[-1] == "domain.preflight"


async def test_robots_that_forbids_is_obeyed(database: Database, tmp_path: Path) -> None:
    rooms = {"/robots.txt": robots("User-agent: *\nDisallow: /\n"), "/": page("Home")}
    report, _, asked = await look(database, tmp_path, rooms)
    assert asked == ["/robots.txt"]
    assert report.robots_allows is False
    assert report.message == "Its robots.txt disallows the homepage."


async def test_robots_that_fails_ends_the_look(database: Database, tmp_path: Path) -> None:
    rooms = {"/robots.txt": plain(500, "broken"), "/": page("Home")}
    report, _, asked = await look(database, tmp_path, rooms)
    assert asked == ["/robots.txt"]
    assert (report.robots, report.robots_allows) == ("deny_all", False)
    assert "cannot be read" in report.message


async def test_a_named_sitemap_is_the_one_read(database: Database, tmp_path: Path) -> None:
    text = (
        "User-agent: *\nAllow: /\nCrawl-delay: 0.01\n"
        "Sitemap: http://other.test/s.xml\nSitemap: http://one.test/own.xml\n"
    )
    rooms = {"/robots.txt": robots(text), "/": page("Home"), "/own.xml": sitemap(3)}
    report, _, asked = await look(database, tmp_path, rooms)
    assert asked == ["/robots.txt", "/", "/own.xml"]
    assert report.sitemap_urls == 3
    assert report.crawl_delay == pytest.approx(0.01)


@pytest.mark.parametrize(
    "location, leads_out, words",
    [
        ("http://www.one.test/", None, "redirects to http://www.one.test/"),
        ("http://casino.example/", "casino.example", "another domain: casino.example"),
        ("javascript:alert(1)", "nowhere", "another domain: nowhere"),
    ],
)
async def test_a_redirect_is_told_not_followed(
    database: Database, tmp_path: Path, location: str, leads_out: str | None, words: str
) -> None:
    report, _, asked = await look(database, tmp_path, {"/": redirect(location)})
    assert report.leads_out == leads_out
    assert words in report.message
    assert asked[:2] == ["/robots.txt", "/"]


async def test_a_login_and_a_challenge_are_seen(database: Database, tmp_path: Path) -> None:
    body = (
        "<html><head><title>Just a moment...</title></head><body>"
        '<form id="challenge-form" action="/cdn-cgi/challenge-platform/x"></form>'
        "<noscript>Enable JavaScript and cookies to continue</noscript></body></html>"
    )
    answer = SimResponse(
        403, (("Content-Type", HTML), ("Server", "cloudflare"), ("cf-mitigated", "challenge")),
        body.encode(),
    )  # fmt: skip
    report, _, _ = await look(database, tmp_path, {"/": answer})
    assert (report.status_code, report.login) == (403, False)
    assert report.challenge
    assert "cloudflare" in report.challenge.lower()
    assert "blocks or challenges crawlers" in report.message


async def test_a_login_wall_is_seen(database: Database, tmp_path: Path) -> None:
    report, _, _ = await look(database, tmp_path, {"/": plain(401, "Log in first")})
    assert (report.login, report.message) == (True, "It requires a login.")


async def test_what_a_hostile_page_says_is_made_harmless(
    database: Database, tmp_path: Path
) -> None:
    body = (
        "<html><head><title>\x1b[2J\u202eevil\x00"
        + "x" * 5000
        + "</title></head><body>hi</body></html>"
    )
    answer = SimResponse(200, (("Content-Type", HTML),), body.encode())
    report, _, _ = await look(database, tmp_path, {"/": answer})
    assert report.title
    assert len(report.title) <= 500
    assert not {"\x1b", "\u202e", "\x00"} & set(report.title)


async def test_a_host_that_is_not_there(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": {}}) as web:
        settings = web.settings()
        await submit(database, "http://two.test/")
        await ask(database, "two.test")
        lane = await held(database)
        (task,) = (await tasks.due(database, [lane.host_id], 50, 0.25))[lane.host_id]
        http = HttpFetcher(settings, "1")
        pool = ProxyPool(
            database,
            seal_for(settings),
            Prober(AddressGuard(settings.allowed_networks), seconds=1.0),
        )
        try:
            reader = PreflightReader(TermsFetcher(http, pool), database, agent="MessorBot")
            looked = await reader.run(lane, task)
        finally:
            await http.close()
    found = await preflights.newest(database, await domains.get(database, "two.test"))
    assert found is not None
    assert found.report is not None
    assert (looked.requests, found.report.reachable) == (1, False)
    assert "does not respond" in found.report.message


async def test_members_are_looked_at_at_once_the_public_later(database: Database) -> None:
    async with database.transaction() as connection:
        await intake.submit_domain(connection, "member.example", Submitter(TESTER))
        await intake.submit_domain(connection, "public.example", Submitter("x", "public_user"))
    asked = await database.fetch(
        "SELECT d.domain FROM messor.preflights p JOIN messor.domains d ON d.id = p.domain_id"
    )
    assert [row["domain"] for row in asked] == ["member.example"]


async def test_one_look_at_a_time(database: Database) -> None:
    domain = await submit(database, "example.org")
    async with database.transaction() as connection:
        assert await preflight.request_preflight(connection, domain, actor=TESTER) is not None
        assert await preflight.request_preflight(connection, domain, actor=TESTER) is None
    assert await only(database, "SELECT count(*) FROM messor.preflights") == 1


@pytest.mark.parametrize("status", ["approved", "rejected", "suspended", "blacklisted"])
async def test_what_was_decided_is_not_looked_at(database: Database, status: str) -> None:
    domain = await at_status(database, status)
    with pytest.raises(ConflictError, match="only a domain that awaits review"):
        async with database.transaction() as connection:
            await preflight.request_preflight(connection, domain, actor=TESTER)


async def test_a_decision_ends_a_look_that_was_not_taken(database: Database) -> None:
    domain = await submit(database, "example.org")
    async with database.transaction() as connection:
        await preflight.request_preflight(connection, domain, actor=TESTER)
        await decisions.approve(connection, "example.org", actor=TESTER)
    due = await database.fetch("SELECT kind FROM messor.crawl_tasks WHERE due_at IS NOT NULL")
    assert sorted(row["kind"] for row in due) == ["page", "robots"]
    assert await only(database, "SELECT count(*) FROM messor.preflights") == 0
    assert not await only(database, "SELECT bool_or(preflight) FROM messor.lanes")


async def test_a_pending_domain_is_claimed_for_nothing_else(database: Database) -> None:
    await submit(database, "example.org")
    await ask(database, "example.org")
    await let_claims_see_preflights(database)
    await database.fetch("UPDATE messor.lanes SET preflight = false")
    assert await claim(database, await lease(database)) == []


async def test_the_table_allows_three_requests(database: Database) -> None:
    await submit(database, "example.org")
    await ask(database, "example.org")
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch("UPDATE messor.preflights SET requests = 4")
