"""Robots, delays and silence at their worst: what a host asks for is what it gets."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from messor.crawl import robots as robots_tasks
from messor.crawl import visit
from messor.registry import domains
from messor.store.database import Database
from simweb.answers import Request, SimResponse, plain, redirect
from tests.crawling import TESTER, admit, at_work, crawl, idle, later, outcomes, submit, until
from tests.faults.scenes import count, crawl_later, holds, paper, play, refused, set_terms, task_of
from tests.little_web import LAG, LittleWeb, Room, robots

SOON = 0.1
BUSY = plain(503, "down")
RULES = robots("User-agent: *\nDisallow: /private\n")
HOME = paper("home", "/private", "/open")
ROOMS: dict[str, Room] = {"/": HOME, "/private": paper("private"), "/open": paper("open")}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts that wait for something look for it often."""
    monkeypatch.setattr(robots_tasks, "WAIT_SECONDS", SOON)
    monkeypatch.setattr(visit, "DEFERRED_SECONDS", SOON)


async def rules_of(database: Database, host: str) -> tuple[str, str]:
    row = await database.fetchrow(
        """SELECT r.verdict, r.reason FROM messor.hosts h
             JOIN messor.robots_files r ON r.id = h.robots_id WHERE h.host = $1""",
        host,
    )
    assert row is not None, f"no robots.txt is in force for {host}"
    return row["verdict"], row["reason"]


# Delays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line, delay",
    [("10", 10.0), ("0.1", 0.25), ("86400", 86400.0), ("abc", 0.25), ("-5", 0.25), ("nan", 0.25)],
)
async def test_a_crawl_delay_is_kept_in_full_or_ours_is(
    dsn: str, tmp_path: Path, line: str, delay: float
) -> None:
    """P3: never a request before the greater of both."""
    rooms = {"/robots.txt": robots(f"User-agent: *\nCrawl-delay: {line}\n"), **ROOMS}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web, Database(dsn) as database:
        await admit(database, "http://one.test/", delay=0.25)
        settings = web.settings(visit_seconds=3.0)
        async with at_work(settings, database):
            await until(lambda: len(web.requests()) >= (1 if delay > 1 else 4))
            await holds(database, "visits", "end_reason IN ('pace', 'done')")
        arrivals = [asked.arrived_ns for asked in web.requests()]
        silent = await database.fetchval(
            """SELECT extract(epoch FROM l.ready_at - f.fetched_at)::float8
                 FROM messor.lanes l JOIN messor.http_fetches f USING (host_id)
                ORDER BY f.fetched_at LIMIT 1"""
        )
    if delay > 1:
        assert len(arrivals) == 1
        assert delay - LAG <= silent <= 1.05 * delay + 60  # and what the flush took
    else:
        gaps = [(b - a) / 1e9 for a, b in itertools.pairwise(arrivals)]
        assert len(gaps) >= 3
        assert min(gaps) >= delay - LAG


async def test_a_reviewer_is_told_of_a_very_long_crawl_delay(
    database: Database, tmp_path: Path
) -> None:
    rooms = {"/robots.txt": robots("User-agent: *\nCrawl-delay: 86400\n"), **ROOMS}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(visit_seconds=1.0), database)
    assert await count(database, "events", "data::text LIKE '%86400%'") == 1


# Silence ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_retry_after_is_silence_for_the_host_whoever_asks(
    dsn: str, tmp_path: Path, status: int, form: str
) -> None:
    """P4: two workers, and the clock moved to just before and just after the window."""
    window = 120
    said = str(window)
    if form == "date":
        said = format_datetime(datetime.now(UTC) + timedelta(seconds=window), usegmt=True)
    busy = plain(status, "busy", ("Retry-After", said))
    async with LittleWeb(tmp_path, {"one.test": {**ROOMS, "/": busy}}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/", delay=0.01)
            async with at_work(web.settings(), database), at_work(web.settings(), database):
                await until(lambda: "/" in web.paths("one.test"))
                await idle(database)
        before = len(web.requests())
        await crawl_later(dsn, web.settings(), timedelta(seconds=window - 35))
        assert len(web.requests()) == before
        web.houses["one.test"].rooms["/"] = HOME
        await crawl_later(dsn, web.settings(), timedelta(seconds=window + 5))
        assert web.paths("one.test").count("/open") == 1


@pytest.mark.parametrize(
    "status, delay, retry_after",
    [(503, 0.0, None), (503, 0.01, None), (429, 0.0, "0"), (503, 0.0, "0"), (503, 0.0, "-1")],
)
async def test_a_host_that_is_down_for_ten_minutes_is_hardly_asked(
    dsn: str, tmp_path: Path, status: int, delay: float, retry_after: str | None
) -> None:
    """P5: at most 10 requests in 10 minutes, whatever it says and however much is due."""
    extra = (("Retry-After", retry_after),) if retry_after is not None else ()
    links = [f"/page/{n}" for n in range(30)]
    down = False

    def room(_: Request) -> SimResponse:
        return plain(status, "down", *extra) if down else paper("page")

    rooms: dict[str, Room] = {"/": paper("home", *links), **dict.fromkeys(links, room)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/", delay=delay)
            await crawl(web.settings(), database)
            await database.fetch(
                """UPDATE messor.crawl_tasks SET due_at = messor.clock() WHERE kind = 'page';"""
            )
            await database.fetch(
                "UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock()"
            )
        down = True
        before = len(web.requests())
        moments = await play(dsn, web.settings(), 600)
        asked = len(web.requests()) - before
    assert 1 <= asked <= 10, (asked, moments)


async def test_silence_doubles_each_time(dsn: str, tmp_path: Path) -> None:
    """A minute, two, four: without being told how long."""
    links = [f"/{n}" for n in range(9)]
    rooms: dict[str, Room] = {"/": paper("home", *links), **dict.fromkeys(links, BUSY)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/", delay=0.01)
        moments = await play(dsn, web.settings(), 500)
        assert len([path for path in web.paths("one.test") if path in links]) == 4
    gaps = [b - a for a, b in itertools.pairwise(moments)]
    assert [round(gap, -1) for gap in gaps] == [60, 120, 240]


# Robots ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["500", "timeout", "reset"])
async def test_without_robots_nothing_is_asked_until_they_come_back(
    dsn: str, tmp_path: Path, broken: str
) -> None:
    """P6: retried after ten minutes, not before; no page meanwhile."""

    def reset(_: Request) -> SimResponse:
        for wire in web.server._wires:
            for connection in list(wire.open):
                connection.abort()
        return RULES

    ways: dict[str, Room] = {
        "500": plain(500, "broken"),
        "timeout": SimResponse(200, silent=True),
        "reset": reset,
    }
    async with LittleWeb(tmp_path, {"one.test": {**ROOMS, "/robots.txt": ways[broken]}}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
            await crawl(web.settings(total_timeout=0.3), database)
        await crawl_later(dsn, web.settings(), timedelta(seconds=540))
        assert set(web.paths("one.test")) == {"/robots.txt"}
        assert len(web.paths("one.test")) == 1
        web.houses["one.test"].rooms["/robots.txt"] = RULES
        await crawl_later(dsn, web.settings(), timedelta(seconds=660))
        assert sorted(web.paths("one.test")) == ["/", "/open", "/robots.txt", "/robots.txt"]


@pytest.mark.parametrize("terms", ["allow", "deny"])
async def test_forbidden_robots_are_a_matter_of_the_domains_terms(
    database: Database, tmp_path: Path, terms: str
) -> None:
    """P7: the decision is kept with its reason."""
    statuses = {f"s{status}.test": status for status in (401, 403, 404, 410)}
    hosts = {
        host: {**ROOMS, "/robots.txt": plain(status, "no")} for host, status in statuses.items()
    }
    async with LittleWeb(tmp_path, hosts) as web:
        for host in hosts:
            await admit(database, f"http://{host}/")
        await set_terms(database, robots_forbidden=terms)
        await crawl(web.settings(), database)
        for host, status in statuses.items():
            denied = terms == "deny" and status in (401, 403)
            assert (web.paths(host) == ["/robots.txt"]) == denied
            verdict, reason = await rules_of(database, host)
            assert verdict == ("deny_all" if denied else "allow_all")
            assert str(status) in reason


def chain(hops: int, beyond: bool) -> dict[str, dict[str, Room]]:
    """`one.test`, whose robots.txt lies that many hosts further."""
    names = [f"h{n}.test" if beyond else f"h{n}.one.test" for n in range(1, hops + 1)]
    hosts: dict[str, dict[str, Room]] = {"one.test": {**ROOMS}, **{name: {} for name in names}}
    for here, there in itertools.pairwise(["one.test", *names]):
        hosts[here]["/robots.txt"] = redirect(f"http://{there}/robots.txt")
    hosts[names[-1] if names else "one.test"]["/robots.txt"] = RULES
    return hosts


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("beyond", [False, True], ids=["within", "beyond"])
@pytest.mark.parametrize("hops", range(7))
async def test_robots_behind_redirects_across_hosts(
    database: Database, tmp_path: Path, hops: int, beyond: bool
) -> None:
    """P8: five are followed and their rules count for the first host; a sixth is unavailable."""
    hosts = chain(hops, beyond)
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/", delay=0.2)
        async with at_work(web.settings(), database):
            await until(lambda: "/open" in web.paths("one.test"))
            await idle(database)
        asked = web.paths("one.test")
        assert asked[0] == "/robots.txt"
        assert ("/private" in asked) == (hops > 5)
        for name in hosts.keys() - {"one.test"}:
            assert set(web.paths(name)) <= {"/robots.txt"}
        for name in hosts:
            arrivals = [request.arrived_ns for request in web.requests(name)]
            gaps = [(b - a) / 1e9 for a, b in itertools.pairwise(arrivals)]
            assert not gaps or min(gaps) >= 0.2 - LAG
    verdict, reason = await rules_of(database, "one.test")
    assert verdict == ("allow_all" if hops > 5 else "rules")
    if hops > 5:
        assert "more than 5" in reason


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("within", range(1, 6))
async def test_redirects_within_and_across_hosts_share_one_budget(
    database: Database, tmp_path: Path, within: int
) -> None:
    """One across, then some within the other host: five in all and no more."""
    steps = [f"/step/{n}" for n in range(within)]
    there: dict[str, Room] = {"/robots.txt": redirect(steps[0])}
    for step, next_step in itertools.pairwise(steps):
        there[step] = redirect(next_step)
    there[steps[-1]] = RULES
    here: dict[str, Room] = {**ROOMS, "/robots.txt": redirect("http://www.one.test/robots.txt")}
    async with LittleWeb(tmp_path, {"one.test": here, "www.one.test": there}) as web:
        await admit(database, "http://one.test/")
        async with at_work(web.settings(), database):
            await until(lambda: "/open" in web.paths("one.test"))
            await idle(database)
    verdict, _ = await rules_of(database, "one.test")
    assert verdict == ("rules" if within + 1 <= 5 else "allow_all")


@pytest.mark.usefixtures("impatient")
async def test_robots_that_send_each_other_in_circles_are_unavailable(
    database: Database, tmp_path: Path
) -> None:
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {**ROOMS, "/robots.txt": redirect("http://www.one.test/robots.txt")},
        "www.one.test": {**ROOMS, "/robots.txt": redirect("http://one.test/robots.txt")},
        "good.test": {"/": paper("good", "/a"), "/a": paper("a")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/", delay=0.02)
        async with at_work(web.settings(), database):
            await until(lambda: len(web.requests("www.one.test")) >= 1)
            await admit(database, "http://good.test/", delay=0.02)
            await until(lambda: "/a" in web.paths("good.test"))
            await until(lambda: "/open" in web.paths("one.test"))
            await idle(database)
        robots_asked = [r for r in web.requests() if r.path == "/robots.txt" and "one" in r.host]
    assert len(robots_asked) <= 7


@pytest.mark.usefixtures("impatient")
async def test_robots_that_lead_to_another_hosts_homepage(
    database: Database, tmp_path: Path
) -> None:
    """A site that sends everything to its front door is still a site with pages."""
    home = redirect("http://www.one.test/", 301)
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {"/": home, "/robots.txt": home},
        "www.one.test": {"/": paper("front", "/a"), "/a": paper("a")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/")
        async with at_work(web.settings(), database):
            await until(lambda: "/" in web.paths("one.test"))
            await idle(database)
        assert "/a" in web.paths("www.one.test")
    front = await task_of(database, "http://www.one.test/")
    assert (front["kind"], front["outcome"]) == ("page", "ok")


@pytest.mark.usefixtures("impatient")
async def test_robots_that_lead_to_a_page_known_already(database: Database, tmp_path: Path) -> None:
    """Whatever it holds, it was read in place of robots.txt: the host does not wait for ever."""
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {"/robots.txt": redirect("http://www.one.test/"), "/b": paper("b")},
        "www.one.test": {"/": paper("front", "http://one.test/b")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://www.one.test/")
        async with at_work(web.settings(), database):
            await until(lambda: "/b" in web.paths("one.test"))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("status", ["pending_review", "blacklisted"])
@pytest.mark.parametrize("host", ["two.test", "www.two.test"])
async def test_robots_never_lead_to_a_domain_that_was_refused(
    database: Database, tmp_path: Path, status: str, host: str
) -> None:
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {**ROOMS, "/robots.txt": redirect(f"http://{host}/robots.txt")},
        host: {"/robots.txt": RULES},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        two = await submit(database, "http://two.test/")
        if status == "blacklisted":
            async with database.transaction() as connection:
                await domains.move(connection, two, status, actor=TESTER, reason="no")
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        assert web.requests(host) == []
        assert web.paths("one.test") == ["/robots.txt"]


@pytest.fixture
async def behind_broken_robots(
    dsn: str, tmp_path: Path, impatient: None
) -> AsyncIterator[LittleWeb]:
    """A host whose robots.txt lies on another one, which cannot answer; crawled for a while."""
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {**ROOMS, "/robots.txt": redirect("http://www.one.test/robots.txt")},
        "www.one.test": {"/robots.txt": plain(500, "broken")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/", delay=0.02)
            async with at_work(web.settings(), database):
                await holds(database, "hosts", "host = 'one.test' AND robots_id > 0")
        assert web.paths("one.test") == ["/robots.txt"]
        yield web


async def test_a_crawl_ends_though_robots_elsewhere_cannot_be_read(
    database: Database, behind_broken_robots: LittleWeb
) -> None:
    """P6: the host is left alone, as it is when its own robots.txt fails."""
    await crawl(behind_broken_robots.settings(), database)


async def test_robots_elsewhere_that_come_back_are_heard(
    dsn: str, behind_broken_robots: LittleWeb
) -> None:
    web = behind_broken_robots
    web.houses["www.one.test"].rooms["/robots.txt"] = RULES
    async with (
        Database(later(dsn, timedelta(hours=1))) as database,
        at_work(web.settings(), database),
    ):
        await until(lambda: "/open" in web.paths("one.test"))
    assert "/private" not in web.paths("one.test")


@pytest.mark.usefixtures("impatient")
async def test_the_crawl_delay_of_robots_elsewhere_is_kept(
    database: Database, tmp_path: Path
) -> None:
    slow = robots("User-agent: *\nCrawl-delay: 0.4\n")
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {**ROOMS, "/robots.txt": redirect("http://www.one.test/robots.txt")},
        "www.one.test": {"/robots.txt": slow},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/")
        async with at_work(web.settings(), database):
            await until(lambda: len(web.paths("one.test")) >= 4)
            await idle(database)
        arrivals = [asked.arrived_ns for asked in web.requests("one.test")]
    gaps = [(b - a) / 1e9 for a, b in itertools.pairwise(arrivals)]
    assert min(gaps[1:]) >= 0.4 - LAG


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "place",
    ["http://www.one.test/robots.txt", "http://www.one.test/rules.txt"],
)
async def test_sitemaps_named_by_robots_elsewhere_are_read(
    database: Database, tmp_path: Path, place: str
) -> None:
    text = "User-agent: *\nDisallow: /private\nSitemap: http://one.test/map.xml\n"
    listed = "<urlset><url><loc>http://one.test/listed</loc></url></urlset>"
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {
            **ROOMS,
            "/robots.txt": redirect(place),
            "/map.xml": plain(200, listed),
            "/listed": paper("listed"),
        },
        "www.one.test": {place.removeprefix("http://www.one.test"): robots(text)},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/")
        async with at_work(web.settings(), database):
            await until(lambda: "/open" in web.paths("one.test"))
            await idle(database)
        assert "/listed" in web.paths("one.test")


async def test_robots_tightened_in_the_middle_of_a_crawl_count_from_the_next_reading(
    dsn: str, tmp_path: Path
) -> None:
    """P9: what was found while it was allowed is checked again when it is fetched."""
    links = [f"/{'private' if n % 2 else 'public'}/{n}" for n in range(60)]
    rooms: dict[str, Room] = {"/": paper("home", *links), **{x: paper(x) for x in links}}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/", delay=0.02)
            async with at_work(web.settings(visit_pages=10), database):
                await until(lambda: len(web.requests()) > 20)
        half = len(web.requests())
        assert half < 60
        web.houses["one.test"].rooms["/robots.txt"] = robots("User-agent: *\nDisallow: /private")
        await crawl_later(dsn, web.settings(visit_pages=10), timedelta(hours=24, minutes=1))
        after = [asked.path for asked in web.requests()[half:]]
        async with Database(dsn) as database:
            denied = await count(database, "crawl_tasks", "outcome = 'robots'")
    assert after[0] == "/robots.txt"
    assert not [path for path in after if path.startswith("/private")]
    assert {path for path in after if path.startswith("/public")}
    assert denied == 30


async def test_a_redirect_is_decided_and_paced_where_it_leads(
    database: Database, tmp_path: Path
) -> None:
    """P10: to what robots deny, to another host of the domain, and out of it."""
    www = "http://www.one.test"
    here: dict[str, Room] = {
        "/robots.txt": RULES,
        "/": paper("home", "/to-private", *(f"/to-www/{n}" for n in range(6)), "/out"),
        "/to-private": redirect("/private"),
        "/private": paper("private"),
        "/out": redirect("http://two.test/"),
        **{f"/to-www/{n}": redirect(f"{www}/{n}") for n in range(6)},
        "/to-www/5": redirect(f"{www}/secret/5"),
    }
    there: dict[str, Room] = {
        "/robots.txt": robots("User-agent: *\nCrawl-delay: 0.2\nDisallow: /secret"),
        **{f"/{n}": paper(f"{n}") for n in range(6)},
        "/secret/5": paper("secret"),
    }
    hosts = {"one.test": here, "www.one.test": there, "two.test": ROOMS}
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        assert "/private" not in web.paths("one.test")
        assert web.requests("two.test") == []
        asked = web.requests("www.one.test")
    assert asked[0].path == "/robots.txt"
    assert {r.path for r in asked} >= {f"/{n}" for n in range(5)}
    assert "/secret/5" not in {r.path for r in asked}
    gaps = [(b.arrived_ns - a.arrived_ns) / 1e9 for a, b in itertools.pairwise(asked)]
    assert min(gaps) >= 0.2 - LAG
    found = await outcomes(database)
    assert found["http://one.test/out"] == "redirected_out"
    assert found["http://one.test/private"] == "robots"
    assert found[f"{www}/secret/5"] == "robots"


# A page's own wishes ---------------------------------------------------------------------------


WISHES = ("noindex", "nofollow", "noindex, nofollow", "none")


@pytest.mark.parametrize("terms", ["respect", "ignore"])
async def test_what_a_page_asks_for_is_a_matter_of_the_domains_terms(
    database: Database, tmp_path: Path, terms: str
) -> None:
    """P12: the eight combinations, under both terms."""
    rooms: dict[str, Room] = {}
    for number, wish in enumerate(WISHES):
        meta = f'<meta name="robots" content="{wish}">'
        rooms[f"/meta/{number}"] = paper(f"m{number}", f"/behind/meta/{number}", head=meta)
        header = (("X-Robots-Tag", wish),)
        rooms[f"/header/{number}"] = paper(f"h{number}", f"/behind/header/{number}", extra=header)
    rooms |= {f"/behind{path}": paper(f"behind {path}") for path in list(rooms)}
    rooms["/"] = paper("home", *(path for path in rooms if not path.startswith("/behind")))
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await set_terms(database, directives=terms)
        await crawl(web.settings(), database)
        asked = web.paths("one.test")
    for (number, wish), way in itertools.product(enumerate(WISHES), ("meta", "header")):
        path = f"/{way}/{number}"
        kept = terms == "ignore" or wish == "nofollow"
        task = await task_of(database, f"http://one.test{path}")
        assert (task["outcome"], task["snapshot_id"] is None) == (
            ("ok", False) if kept else ("robots", True)
        ), path
        kept_of_it = await count(database, "page_snapshots", f"page_id = {task['page_id']}")
        assert kept_of_it == int(kept)
        assert (f"/behind{path}" in asked) == (terms == "ignore" or wish == "noindex"), path
    assert (await refused(database)).get("nofollow", 0) == (6 if terms == "respect" else 0)


async def test_a_wish_for_other_robots_is_not_for_us(database: Database, tmp_path: Path) -> None:
    head = '<meta name="otherbot" content="noindex, nofollow">'
    shy = paper("shy", "/behind", head=head, extra=(("X-Robots-Tag", "otherbot: none"),))
    async with LittleWeb(tmp_path, {"one.test": {"/": shy, "/behind": paper("b")}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        assert "/behind" in web.paths("one.test")
    assert await count(database, "page_snapshots") == 2


async def test_a_wish_that_comes_by_header_alone_is_heard_though_the_page_is_the_same(
    dsn: str, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": paper("home")}}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
            await crawl(web.settings(), database)
        shy = paper("home", extra=(("X-Robots-Tag", "noindex"),))
        web.houses["one.test"].rooms["/"] = shy
        await crawl_later(dsn, web.settings(), timedelta(hours=25))
    async with Database(dsn) as database:
        assert (await task_of(database, "http://one.test/"))["outcome"] == "robots"
