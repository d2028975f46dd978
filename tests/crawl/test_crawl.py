"""Whole crawls of webs made to order, judged by what their servers were asked."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest

from messor.crawl import read
from messor.store.database import Database
from messor.web import html
from simweb.answers import Request, SimResponse, plain, redirect
from simweb.documents import HTML
from tests.crawling import admit, at_work, crawl, idle, outcomes, submit, suspend, until
from tests.faults.scenes import NOTHING_HELD, holds
from tests.little_web import LAG, LittleWeb, Room, page, robots


async def refused(database: Database) -> Mapping[str, int]:
    rows = await database.fetch(
        "SELECT rule, sum(links)::int AS links FROM messor.refused_links GROUP BY 1"
    )
    return {row["rule"]: row["links"] for row in rows}


async def crawl_one(
    database: Database, folder: Path, rooms: Mapping[str, Room], **terms: int
) -> tuple[list[str], dict[str, str | None]]:
    """Crawl `one.test`; answers what it was asked and what came of its pages, by path."""
    async with LittleWeb(folder, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", **terms)
        await crawl(web.settings(), database)
        found = await outcomes(database)
        by_path = {url.removeprefix("http://one.test"): said for url, said in found.items()}
        return web.paths("one.test"), by_path


async def test_every_page_is_asked_for_once_after_robots(
    database: Database, tmp_path: Path
) -> None:
    links = [f"/{n}" for n in range(40)]
    rooms: dict[str, Room] = {link: page(link, *links) for link in links}
    asked, found = await crawl_one(database, tmp_path, {"/": page("home", *links), **rooms})
    assert asked[0] == "/robots.txt"
    assert sorted(asked) == sorted(["/robots.txt", "/", *links])
    assert set(found.values()) == {"ok"}
    assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == 41
    assert (
        await database.fetchval("SELECT count(*) FROM messor.http_fetches") == 43
    )  # a sitemap too
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == 41


async def test_what_robots_deny_is_never_asked_for(database: Database, tmp_path: Path) -> None:
    rules = "User-agent: MessorBot\nDisallow: /private/\nAllow: /private/open\n"
    rooms = {
        "/robots.txt": robots(rules),
        "/": page("home", "/private/a", "/private/open", "/public"),
        "/public": page("public", "/private/b"),
        "/private/open": page("open"),
    }
    asked, found = await crawl_one(database, tmp_path, rooms)
    assert sorted(asked) == ["/", "/private/open", "/public", "/robots.txt"]
    assert found["/private/a"] == found["/private/b"] == "robots"
    (first, *_) = await database.fetch("SELECT verdict, rule, reason FROM messor.decisions")
    assert (first["verdict"], first["rule"]) == ("denied", "robots")
    assert "/private/" in first["reason"]


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_without_readable_robots_no_page_is_asked_for(
    database: Database, tmp_path: Path, status: int
) -> None:
    asked, found = await crawl_one(
        database, tmp_path, {"/robots.txt": plain(status, "broken"), "/": page("home")}
    )
    assert asked == ["/robots.txt"]
    assert found["/"] is None
    silent = await database.fetchval(
        "SELECT extract(epoch FROM ready_at - messor.clock())::float8 FROM messor.lanes"
    )
    assert silent > 500


@pytest.mark.parametrize("status", [404, 410, 403, 401])
async def test_a_site_without_robots_is_open(
    database: Database, tmp_path: Path, status: int
) -> None:
    asked, _ = await crawl_one(
        database, tmp_path, {"/robots.txt": plain(status, "none"), "/": page("home")}
    )
    assert asked == ["/robots.txt", "/"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_robots_behind_a_redirect_are_followed(
    database: Database, tmp_path: Path, status: int
) -> None:
    """RFC 9309 2.3.1.2: at least five redirects, even across hosts."""
    rooms: dict[str, Room] = {
        "/robots.txt": redirect("/rules/robots.txt", status),
        "/rules/robots.txt": robots("User-agent: *\nDisallow: /three\n"),
        "/": page("home", "/three", "/four"),
        "/four": page("four"),
    }
    asked, _ = await crawl_one(database, tmp_path, rooms)
    assert "/three" not in asked
    assert "/four" in asked


async def test_an_unasked_304_for_robots_opens_nothing(database: Database, tmp_path: Path) -> None:
    """There is no earlier copy it could stand for: the rules are not known."""
    asked, _ = await crawl_one(
        database, tmp_path, {"/robots.txt": SimResponse(304), "/": page("home")}
    )
    assert asked == ["/robots.txt"]


async def test_robots_over_the_body_cap_count_as_far_as_they_were_read(
    database: Database, tmp_path: Path
) -> None:
    text = "User-agent: *\nDisallow: /private\n" + "# filler\n" * 20_000
    rooms = {"/robots.txt": robots(text), "/": page("home", "/private", "/b"), "/b": page("b")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(max_body_bytes=100_000), database)
        assert sorted(web.paths("one.test")) == ["/", "/b", "/robots.txt"]


@pytest.mark.parametrize(
    "line",
    ["Crawl-delay: 99999999999999", f"Crawl-delay: {'9' * 60}", "Disallow: /\x00*\x00"],
    ids=["long-delay", "endless-delay", "nul"],
)
async def test_hostile_robots_harm_no_other_site(
    database: Database, tmp_path: Path, line: str
) -> None:
    hostile = {"/robots.txt": robots(f"User-agent: *\n{line}\n"), "/": page("bad", "/%00a%00")}
    sound = {"/": page("good", "/a"), "/a": page("a")}
    async with LittleWeb(tmp_path, {"bad.test": hostile, "good.test": sound}) as web:
        await admit(database, "http://bad.test/")
        async with at_work(web.settings(), database):
            await idle(database)
            await admit(database, "http://good.test/")
            await idle(database)
        assert sorted(web.paths("good.test")) == ["/", "/a", "/robots.txt"]


async def test_links_off_the_domain_are_counted_and_never_asked_for(
    database: Database, tmp_path: Path
) -> None:
    home = page("home", "http://two.test/", "http://two.test/x", "mailto:a@one.test", "/a")
    async with LittleWeb(
        tmp_path, {"one.test": {"/": home, "/a": page("a")}, "two.test": {"/": page("two")}}
    ) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        assert web.requests("two.test") == []
    assert await refused(database) == {"scope": 2}


async def test_an_unapproved_domain_is_never_asked_for(database: Database, tmp_path: Path) -> None:
    home = page("home", "http://two.test/")
    async with LittleWeb(
        tmp_path, {"one.test": {"/": home}, "two.test": {"/": page("two")}}
    ) as web:
        await admit(database, "http://one.test/")
        await submit(database, "http://two.test/")
        await crawl(web.settings(), database)
        assert {asked.host for asked in web.requests()} == {"one.test"}


async def test_depth_is_counted_from_the_start_page(database: Database, tmp_path: Path) -> None:
    rooms: dict[str, Room] = {f"/{n}": page(f"{n}", f"/{n + 1}") for n in range(6)}
    rooms["/"] = page("home", "/0", "/1")
    asked, _ = await crawl_one(database, tmp_path, rooms, max_crawl_depth=2)
    assert sorted(asked) == ["/", "/0", "/1", "/2", "/robots.txt"]
    assert (await refused(database))["depth"] == 1


async def test_links_not_to_be_followed_are_counted(database: Database, tmp_path: Path) -> None:
    shy = '<a href="/shy" rel="nofollow">shy</a><a href="/open">open</a>'
    meta = '<meta name="robots" content="nofollow"><a href="/b1">1</a><a href="/b2">2</a>'
    rooms: dict[str, Room] = {
        "/": SimResponse(200, (("Content-Type", HTML),), f"<p>Some text</p>{shy}".encode()),
        "/open": SimResponse(200, (("Content-Type", HTML),), f"{meta}<p>Other text</p>".encode()),
    }
    asked, _ = await crawl_one(database, tmp_path, rooms)
    assert sorted(asked) == ["/", "/open", "/robots.txt"]
    assert (await refused(database))["nofollow"] == 3


@pytest.mark.parametrize("value", ["nofollow", "none", "MessorBot: nofollow", "noindex, NoFollow"])
async def test_nofollow_by_header_is_kept(database: Database, tmp_path: Path, value: str) -> None:
    shy = page("home", "/behind", extra=(("X-Robots-Tag", value),))
    asked, _ = await crawl_one(database, tmp_path, {"/": shy, "/behind": page("behind")})
    assert "/behind" not in asked


async def test_a_redirect_becomes_a_task_of_the_lane_it_leads_to(
    database: Database, tmp_path: Path
) -> None:
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {"/": redirect("http://www.one.test/start"), "/own": page("own")},
        "www.one.test": {
            "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
            "/start": page("start", "http://one.test/own", "/hop"),
            "/hop": redirect("/private/deep", 307),
        },
        "two.test": {"/": page("two")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        assert web.paths("www.one.test") == ["/robots.txt", "/start", "/hop"]
        assert web.paths("one.test") == ["/robots.txt", "/", "/own"]
    row = await database.fetchrow(
        """SELECT h.host, p.found_by, p.depth, p.hops FROM messor.pages p
             JOIN messor.hosts h ON h.id = p.host_id WHERE p.url LIKE '%/start'"""
    )
    assert row is not None
    assert tuple(row) == ("www.one.test", "redirect", 0, 1)


async def test_a_redirect_off_the_domain_ends_there(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(
        tmp_path, {"one.test": {"/": redirect("http://two.test/")}, "two.test": {"/": page("two")}}
    ) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        assert web.requests("two.test") == []
        assert await outcomes(database) == {
            "http://one.test/": "redirected_out",
            "http://one.test/robots.txt": "ok",
        }


async def test_circles_of_redirects_end(database: Database, tmp_path: Path) -> None:
    def deeper(request: Request) -> SimResponse:
        return redirect(f"{request.path}x")

    rooms: dict[str, Room] = {
        "/": page("home", "/self", "/left", "/grow?n="),
        "/self": redirect("/self"),
        "/left": redirect("/right"),
        "/right": redirect("/left"),
        "/grow": deeper,
    }
    asked, _ = await crawl_one(database, tmp_path, rooms)
    assert sum(path.startswith("/grow") for path in asked) == 11  # ten redirects further
    assert sorted(p for p in asked if not p.startswith("/grow")) == [
        "/",
        "/left",
        "/right",
        "/robots.txt",
        "/self",
    ]


async def test_the_budget_is_exact(database: Database, tmp_path: Path) -> None:
    links = [f"/{n}" for n in range(30)]
    rooms: dict[str, Room] = {link: page(link, *links) for link in links}
    asked, _ = await crawl_one(
        database, tmp_path, {"/": page("home", *links), **rooms}, page_budget=8
    )
    assert len(asked) - 1 == 8  # and robots.txt
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == 8
    assert await database.fetchval("SELECT count(*) FROM messor.pages WHERE found_by = 'link'") == 7


async def test_retry_after_is_silence(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(
        tmp_path,
        {
            "one.test": {
                "/": page("home", "/busy", "/a", "/b", "/c"),
                "/busy": plain(429, "slow down", ("Retry-After", "1")),
                **{path: page(path) for path in ("/a", "/b", "/c")},
            }
        },
    ) as web:
        await admit(database, "http://one.test/", delay=0.01)
        async with at_work(web.settings(), database):
            await until(lambda: len(web.requests()) >= 6)
        asked = web.requests()
        busy = next(n for n, request in enumerate(asked) if request.path == "/busy")
        gap = (asked[busy + 1].arrived_ns - asked[busy].answered_ns) / 1e9
        assert gap >= 0.995


async def test_the_delay_is_kept(database: Database, tmp_path: Path) -> None:
    links = [f"/{n}" for n in range(6)]
    rooms: dict[str, Room] = {link: page(link) for link in links}
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home", *links), **rooms}}) as web:
        await admit(database, "http://one.test/", delay=0.3)
        await asyncio.gather(*(crawl(web.settings(), database) for _ in range(2)))
        arrivals = [asked.arrived_ns for asked in web.requests()]
    gaps = [(b - a) / 1e9 for a, b in itertools.pairwise(arrivals)]
    assert len(gaps) == 8  # a sitemap was looked for as well
    assert min(gaps) >= 0.3 - LAG


async def test_a_crawl_delay_is_kept_from_the_first_page_on(
    database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {
        "/robots.txt": robots("User-agent: *\nCrawl-delay: 0.3\n"),
        "/": page("home", "/a", "/b"),
        "/a": page("a"),
        "/b": page("b"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", delay=0)
        await crawl(web.settings(), database)
        arrivals = [asked.arrived_ns for asked in web.requests()]
    gaps = [(b - a) / 1e9 for a, b in itertools.pairwise(arrivals)]
    assert len(gaps) == 4  # a sitemap was looked for as well
    assert min(gaps) >= 0.3 - LAG


async def test_hosts_that_share_an_address_share_its_slots(
    database: Database, tmp_path: Path
) -> None:
    slow = 0

    def room(_: Request) -> SimResponse:
        return page("home")

    hosts = {f"h{n}.test": {"/": room} for n in range(8)}
    async with LittleWeb(tmp_path, hosts, shared_address=True) as web:
        for host in hosts:
            await admit(database, f"http://{host}/", delay=0.02)
        async with at_work(web.settings(address_slots=2), database):
            while (held := await database.fetchval(
                """SELECT count(*) FROM messor.lanes
                    WHERE worker_id IS NOT NULL AND address IS NOT NULL"""
            )) is not None and len(web.requests()) < 16:  # fmt: skip
                slow = max(slow, held)
        assert len(web.requests()) == 16
    assert slow <= 2


async def test_a_suspended_domain_is_left_within_a_flush(
    database: Database, tmp_path: Path
) -> None:
    links = [f"/{n}" for n in range(200)]
    rooms: dict[str, Room] = {link: page(link) for link in links}
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home", *links), **rooms}}) as web:
        domain = await admit(database, "http://one.test/", delay=0.1)
        async with at_work(web.settings(), database):
            await until(lambda: len(web.requests()) >= 10)
            await suspend(database, domain)
            await holds(database, "domains", NOTHING_HELD)
            asked = len(web.requests())
            await asyncio.sleep(0.3)  # time to ask for more, were it to
            assert len(web.requests()) == asked
        assert asked < 100  # of two hundred, which would take twenty seconds
    assert await database.fetchval("SELECT count(worker_id) FROM messor.lanes") == 0


async def test_two_workers_share_the_work(database: Database, tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Room]] = {
        f"h{n}.test": {"/": page(f"{n}", "/a", "/b"), "/a": page("a"), "/b": page("b")}
        for n in range(12)
    }
    async with LittleWeb(tmp_path, hosts) as web:
        for host in hosts:
            await admit(database, f"http://{host}/", delay=0.1)
        settings = web.settings(concurrency=4)
        async with at_work(settings, database), at_work(settings, database):
            await idle(database)
        asked = [request.url for request in web.requests()]
    assert len(asked) == len(set(asked)) == 60
    workers = await database.fetchval("SELECT count(DISTINCT worker_id) FROM messor.visits")
    assert workers == 2
    assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == 36


async def test_a_graceful_stop_leaves_nothing_held(database: Database, tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Room]] = {
        f"h{n}.test": {"/": page("home", *(f"/{m}" for m in range(30)))} for n in range(6)
    }
    async with LittleWeb(tmp_path, hosts) as web:
        for host in hosts:
            await admit(database, f"http://{host}/", delay=0.01)
        for number in range(8):  # at different moments of a claim, a visit and a flush
            async with at_work(web.settings(), database):
                await asyncio.sleep(0.03 + 0.023 * number)
            held = await database.fetch("SELECT * FROM messor.lanes WHERE worker_id IS NOT NULL")
            assert held == []
        open_visits = "SELECT count(*) FROM messor.visits WHERE ended_at IS NULL"
        assert await database.fetchval(open_visits) == 0
        leases = await database.fetch("SELECT end_reason FROM messor.worker_leases")
        assert {lease["end_reason"] for lease in leases} == {"stopped"}
        await crawl(web.settings(), database)
    left = await database.fetchval("SELECT count(*) FROM messor.crawl_tasks WHERE outcome IS NULL")
    assert left == 0


HANGS_UP = "/hangs-up"


async def test_a_page_that_hangs_up_is_given_up_and_the_rest_goes_on(
    database: Database, tmp_path: Path
) -> None:
    def hang_up(_: Request) -> SimResponse:
        for wire in web.server._wires:
            for connection in list(wire.open):
                connection.abort()
        return page("never seen")

    rooms: dict[str, Room] = {
        "/": page("home", HANGS_UP, "/a", "/b"),
        HANGS_UP: hang_up,
        "/a": page("a"),
        "/b": page("b"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", delay=0.01)
        await crawl(web.settings(), database)
        assert web.paths("one.test").count(HANGS_UP) == 1  # then again in a minute
        assert (await outcomes(database))[f"http://one.test{HANGS_UP}"] == "error"
        assert {"/a", "/b"} <= set(web.paths("one.test"))


@pytest.mark.parametrize("value", ["text/html; charset=\xff", "text/html; charset=\xe9t\xe9"])
async def test_odd_bytes_in_a_content_type_do_not_cost_the_page(
    database: Database, tmp_path: Path, value: str
) -> None:
    odd = SimResponse(200, (("Content-Type", value),), page("odd").body)
    _, found = await crawl_one(database, tmp_path, {"/": odd})
    assert found["/"] == "ok"


async def test_odd_bytes_in_other_headers_do_not_cost_the_page(
    database: Database, tmp_path: Path
) -> None:
    extra = (("ETag", '"\xff"'), ("Last-Modified", "\xe9"), ("Server", "\xfe"))
    rooms = {"/": page("odd", "/r", extra=extra), "/r": redirect("/\xff")}
    _, found = await crawl_one(database, tmp_path, rooms)
    assert (found["/"], found["/r"]) == ("ok", "redirected")


async def test_nul_bytes_in_a_page_do_not_cost_it(database: Database, tmp_path: Path) -> None:
    text = (
        "<html lang='e\0n'><title>a\0b</title><meta name=description content='c\0d'>"
        '<script type="application/ld+json">{"name": "e\\u0000f\0"}</script><p>g\0h &#0; text</p>'
    )
    _, found = await crawl_one(
        database, tmp_path, {"/": SimResponse(200, (("Content-Type", HTML),), text.encode())}
    )
    assert found["/"] == "ok"


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, UnicodeError])
async def test_a_page_that_breaks_its_reader_is_set_aside(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
) -> None:
    read_page = html.read_page

    def breaking(text: str, url: str, **options: object) -> object:
        if url.endswith("/poison"):
            raise error("this page cannot be read")
        return read_page(text, url, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(read, "read_page", breaking)
    rooms = {"/": page("home", "/poison", "/a"), "/poison": page("poison"), "/a": page("a")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", delay=0.02)
        async with at_work(web.settings(), database):
            await until(lambda: {"/poison", "/a"} <= set(web.paths("one.test")))
            await asyncio.sleep(0.5)  # time to come back for it, were it to
        asked = web.paths("one.test")
    assert asked.count("/poison") <= 3
    assert asked.count("/a") == 1
