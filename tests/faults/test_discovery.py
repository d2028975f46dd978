"""Sitemaps that lie, traps without end, and one page under a thousand addresses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from messor.frontier import sitemaps
from messor.registry import domains
from messor.store.database import Database
from simweb.answers import Request, SimResponse, plain, redirect
from simweb.mischief import traps
from tests.crawling import admit, crawl
from tests.faults.scenes import count, crawl_later, paper, raw, refused, task_of
from tests.little_web import LittleWeb, Room, robots

HOME = "http://one.test/"


def index(*places: str) -> SimResponse:
    entries = "".join(f"<sitemap><loc>{place}</loc></sitemap>" for place in places)
    return plain(200, f"<sitemapindex>{entries}</sitemapindex>")


def urlset(*places: str, lastmod: str = "") -> SimResponse:
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<url><loc>{place}</loc>{date}</url>" for place in places)
    return plain(200, f"<urlset>{entries}</urlset>")


async def standing_of(database: Database) -> dict[str, dict[str, Any]]:
    """What is known of each sitemap, by its path."""
    domain = await domains.get(database, "one.test")
    found = await sitemaps.of_domain(database, domain.id)
    return {row["url"].removeprefix("http://one.test"): row for row in found}


# Sitemaps (X7, X8, X9) ---------------------------------------------------------------------------


async def test_an_index_that_names_itself_and_others_in_circles_ends(
    database: Database, tmp_path: Path
) -> None:
    """X7: each is read once."""
    rooms: dict[str, Room] = {
        "/": paper("home"),
        "/sitemap.xml": index(f"{HOME}sitemap.xml", f"{HOME}left.xml", f"{HOME}sitemap.xml#again"),
        "/left.xml": index(f"{HOME}right.xml", f"{HOME}sitemap.xml"),
        "/right.xml": index(f"{HOME}left.xml", f"{HOME}list.xml"),
        "/list.xml": urlset(f"{HOME}listed"),
        "/listed": paper("listed"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        assert sorted(web.paths("one.test")) == sorted(["/robots.txt", *rooms])
    known = await standing_of(database)
    assert {path: (row["depth"], row["kind"]) for path, row in known.items()} == {
        "/sitemap.xml": (0, "index"),
        "/left.xml": (1, "index"),
        "/right.xml": (2, "index"),
        "/list.xml": (3, "urlset"),
    }
    assert known["/right.xml"]["parent"] == f"{HOME}left.xml"
    assert known["/sitemap.xml"]["parent"] is None
    assert (known["/left.xml"]["sitemaps"], known["/list.xml"]["urls"]) == (2, 1)


@pytest.mark.parametrize("by", ["index", "redirect", "both"])
async def test_a_thousand_levels_are_not_followed(
    database: Database, tmp_path: Path, by: str
) -> None:
    """X7: at most eleven levels, however they are linked."""

    def deeper(request: Request) -> SimResponse:
        level = int(request.query.partition("=")[2] or 0)
        target = f"{HOME}deep.xml?level={level + 1}"
        moves = by == "redirect" or (by == "both" and level % 2)
        return redirect(target) if moves else index(target)

    rooms: dict[str, Room] = {
        "/robots.txt": robots(f"Sitemap: {HOME}deep.xml"),
        "/": paper("home"),
        "/deep.xml": deeper,
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        levels = [path for path in web.paths("one.test") if path.startswith("/deep")]
    assert len(levels) == len(set(levels))
    assert len(levels) <= (22 if by == "both" else 11)
    assert max(row["depth"] for row in (await standing_of(database)).values()) <= 10


async def test_an_index_of_millions_has_a_budget(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X8: a host's sitemaps are counted, and refused beyond their number."""
    monkeypatch.setattr("messor.frontier.pages.SITEMAP_BUDGET", 30)
    rooms: dict[str, Room] = {
        "/": paper("home"),
        "/sitemap.xml": index(*(f"{HOME}map/{n}.xml" for n in range(500))),
        **{f"/map/{n}.xml": urlset(f"{HOME}page/{n}") for n in range(500)},
        **{f"/page/{n}": paper(f"page {n}") for n in range(500)},
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        maps = [path for path in web.paths("one.test") if path.endswith(".xml")]
        assert len(maps) == len(set(maps)) == 30
        assert sum(path.startswith("/page/") for path in web.paths("one.test")) == 29


async def test_a_sitemap_lists_pages_of_its_own_domain_alone(
    database: Database, tmp_path: Path
) -> None:
    """X9: nothing of any other host is asked for, whatever names it."""
    rooms: dict[str, Room] = {
        "/robots.txt": robots("Sitemap: http://two.test/map.xml\nSitemap: /sitemap.xml\n"),
        "/": paper("home"),
        "/sitemap.xml": index("http://two.test/map.xml", f"{HOME}list.xml", f"{HOME}moved.xml"),
        "/moved.xml": redirect("http://two.test/map.xml"),
        "/list.xml": urlset(
            "http://two.test/a", "http://nearone.test/", "http://127.0.0.1/", f"{HOME}mine",
            "http://www.one.test/sister", "mailto:x@one.test", "http://one.test.evil.test/",
        ),
        "/mine": paper("mine"),
    }  # fmt: skip
    sister: dict[str, Room] = {"/sister": paper("sister")}
    other: dict[str, Room] = {"/map.xml": urlset(f"{HOME}from-elsewhere"), "/a": paper("a")}
    hosts = {"one.test": rooms, "www.one.test": sister, "two.test": other}
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        assert web.requests("two.test") == []
        assert {"/mine", "/list.xml"} <= set(web.paths("one.test"))
        assert "/from-elsewhere" not in web.paths("one.test")
        assert web.paths("www.one.test") == ["/robots.txt", "/sister"]
    assert (await refused(database))["scope"] == 5
    assert await count(database, "hosts", "host !~ '(^|[.])one[.]test$'") == 0


async def test_the_dates_of_a_sitemap_reach_its_pages(dsn: str, tmp_path: Path) -> None:
    rooms: dict[str, Room] = {
        "/": paper("home", "/known"),
        "/known": paper("known"),
        "/listed": paper("listed"),
        "/sitemap.xml": urlset(f"{HOME}known", f"{HOME}listed", HOME, lastmod="2024-05-06"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with Database(dsn) as database:
            await admit(database, HOME)
            await crawl(web.settings(), database)
            for path in ("", "known", "listed"):
                task = await task_of(database, f"{HOME}{path}")
                assert task["sitemap_lastmod"] == datetime(2024, 5, 6, tzinfo=UTC), path
            listed = await task_of(database, f"{HOME}listed")
            assert (listed["found_by"], listed["depth"]) == ("sitemap", 1)
        web.houses["one.test"].rooms["/sitemap.xml"] = urlset(f"{HOME}known", lastmod="2024-06-07")
        await crawl_later(dsn, web.settings(), timedelta(hours=25))
    async with Database(dsn) as database:
        task = await task_of(database, f"{HOME}known")
        assert task["sitemap_lastmod"] == datetime(2024, 6, 7, tzinfo=UTC)
        assert (await task_of(database, f"{HOME}listed"))["sitemap_lastmod"] is not None


async def test_an_absurd_date_costs_no_page(database: Database, tmp_path: Path) -> None:
    dates = ("0001-01-01", "9999-12-31T23:59:59Z", "10000-01-01", "soon", "-1", "2024-02-31")
    maps = {f"/m{n}.xml": urlset(f"{HOME}{n}", lastmod=date) for n, date in enumerate(dates)}
    rooms: dict[str, Room] = {
        "/robots.txt": robots("".join(f"Sitemap: {path}\n" for path in maps)),
        "/": paper("home"),
        **maps,
        **{f"/{n}": paper(f"{n}") for n in range(len(dates))},
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        assert set(web.paths("one.test")) == set(rooms)
    assert await count(database, "error_logs") == 0


GOOD = urlset(f"{HOME}listed")


async def turns_of(dsn: str, folder: Path, *turns: Room) -> list[dict[str, Any]]:
    """Serve one answer after another for the sitemap; what is known of it after each."""
    (known,) = await turns_of_many(dsn, folder, turns)
    return known


async def turns_of_many(
    dsn: str, folder: Path, *many: tuple[Room, ...]
) -> list[list[dict[str, Any]]]:
    """The same for several sitemaps at once."""
    places = [f"/map{n}.xml" for n in range(len(many))]
    rooms: dict[str, Room] = {
        "/robots.txt": robots("".join(f"Sitemap: {place}\n" for place in places)),
        "/": paper("home"),
        "/listed": paper("listed"),
    }
    known: list[list[dict[str, Any]]] = [[] for _ in many]
    async with LittleWeb(folder, {"one.test": rooms}) as web:
        async with Database(dsn) as database:
            await admit(database, HOME)
        for number, turns in enumerate(zip(*many, strict=True)):
            web.houses["one.test"].rooms.update(zip(places, turns, strict=True))
            await crawl_later(dsn, web.settings(total_timeout=2.5), timedelta(days=8 * number))
            async with Database(dsn) as database:
                standing = await standing_of(database)
            for place, before in zip(places, known, strict=True):
                before.append(standing[place])
    return known


async def test_a_sitemap_that_cannot_be_read_says_why(dsn: str, tmp_path: Path) -> None:
    broken: tuple[Room, ...] = (
        plain(500, "broken"),
        plain(404, "gone"),
        plain(200, "this is no sitemap"),
        SimResponse(200, silent=True),
        plain(200, "<!DOCTYPE x [<!ENTITY a 'b'>]><html><p>A page</p></html>"),
        SimResponse(200, (("Content-Type", "text/xml"), ("Content-Encoding", "gzip")), b"not gzip"),
    )
    for first, second, third in await turns_of_many(
        dsn, tmp_path, *((answer, answer, GOOD) for answer in broken)
    ):
        assert (first["attempts"], second["attempts"]) == (1, 2)
        assert json.loads(first["error_json"])["outcome"]
        assert (third["attempts"], third["error_json"], third["urls"]) == (0, None, 1)


async def test_an_error_is_over_when_the_sitemap_is_back_as_it_was(
    dsn: str, tmp_path: Path
) -> None:
    """The same bytes as before the failure are read again, as far as that goes."""
    first, second, third = await turns_of(dsn, tmp_path, GOOD, plain(500, "broken"), GOOD)
    assert (first["urls"], first["error_json"]) == (1, None)
    assert (second["urls"], second["attempts"]) == (1, 1)
    assert (third["attempts"], third["error_json"]) == (0, None)


async def test_a_bomb_of_a_sitemap_is_cut_and_its_host_goes_on(
    database: Database, tmp_path: Path
) -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 80_000_000, 9)
    rooms: dict[str, Room] = {
        "/robots.txt": robots("Sitemap: /bomb.xml.gz\nSitemap: /laughs.xml\nSitemap: /good.xml"),
        "/": paper("home"),
        "/bomb.xml.gz": SimResponse(200, (("Content-Type", "application/gzip"),), bomb),
        "/laughs.xml": plain(
            200,
            '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
            f"<urlset><url><loc>{HOME}&b;&f;</loc></url></urlset>",
        ),
        "/good.xml": GOOD,
        "/listed": paper("listed"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        assert "/listed" in web.paths("one.test")
        assert not [path for path in web.paths("one.test") if "root:" in path or "haha" in path]


# Traps (N14) -------------------------------------------------------------------------------------


def facets(request: Request) -> SimResponse:
    """Every filter can be added to every list of filters, in any order."""
    chosen = [part for part in request.query.split("&") if part]
    more = [f"/shop?{'&'.join([*chosen, f'f{n}={v}'])}" for n in range(6) for v in ("a", "b")]
    return paper(f"shop {request.query}", *more)


def paths(request: Request) -> SimResponse:
    """A relative link that lacks its first slash."""
    route = request.route.rstrip("/")
    return paper(f"folder {route}", *(f"{route}/{name}/" for name in ("images", "css", "about")))


def sessions(request: Request) -> SimResponse:
    sid = int.from_bytes(blake2b(request.path.encode(), digest_size=5).digest())
    return paper("room", *(f"/room/{n};jsessionid={sid:024x}{n}" for n in range(6)))


def pagination(request: Request) -> SimResponse:
    number = int(request.query.partition("=")[2] or 0)
    return paper(f"list {number}", f"/list?page={number + 1}", f"/list?page={number + 2}")


def sorting(request: Request) -> SimResponse:
    number = int.from_bytes(blake2b(request.path.encode(), digest_size=3).digest())
    return paper("goods", *(f"/goods?sort={s}&order={number + n}" for n, s in enumerate("abcdef")))


def tokens(request: Request) -> SimResponse:
    """A session under a name nobody knows."""
    token = blake2b(request.path.encode(), digest_size=16).hexdigest()
    return paper("room", *(f"/hall/{n}?zenkey={token}{n}" for n in range(2)))


def counter(request: Request) -> SimResponse:
    number = int(request.query.partition("=")[2] or 0)
    return paper(f"step {number}", f"/step?k={number + 1}", f"/step?k={number + 2}")


calendar, session_ids = (flaw.handler for flaw in traps.flaws(7))
TRAPS: dict[str, tuple[Callable[[Request], SimResponse], str]] = {
    "calendar": (calendar, "/"),
    "session-ids": (session_ids, "/"),
    "facets": (facets, "/shop"),
    "path-repetition": (paths, "/images/"),
    "sessions-in-paths": (sessions, "/room/1"),
    "pagination": (pagination, "/list"),
    "sorting": (sorting, "/goods"),
    "unknown-tokens": (tokens, "/hall/1"),
    "unknown-counter": (counter, "/step"),
}


@pytest.mark.parametrize("name", TRAPS)
async def test_a_trap_ends_within_two_hundred_pages(
    database: Database, tmp_path: Path, name: str
) -> None:
    """N14: the crawl ends, the sound pages beside the trap are read."""
    trap, door = TRAPS[name]
    sound = [f"/sound/{n}" for n in range(20)]

    def everything(request: Request) -> SimResponse:
        if request.route == "/robots.txt":
            return robots("User-agent: *\nAllow: /\n")
        if request.route == "/sitemap.xml":
            return plain(404, "none")
        if request.route == "/" and door != "/":
            return paper("home", door, *sound)
        if request.route.startswith("/sound/"):
            return paper(request.route)
        if request.route == "/more":
            return paper("more", *sound)
        return trap(request)

    async with LittleWeb(tmp_path, {"one.test": {}}) as web:
        web.houses["one.test"].respond = everything  # type: ignore[method-assign]
        await admit(database, HOME, max_concurrent_requests=8)
        await crawl(web.settings(address_slots=8, visit_pages=200), database, patience=180)
        asked = [asked.path for asked in web.requests()]
    trapped = [path for path in asked if not path.startswith(("/sound", "/robots", "/sitemap"))]
    assert len(trapped) <= 202  # the home page and the trap's door are none of it
    if door != "/":
        assert set(sound) <= set(asked)


# One body under many addresses (N16) -------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [100, 1],
    ids=["page", "small-page"],
)
async def test_one_body_under_many_addresses_is_stored_once(
    database: Database, tmp_path: Path, words: int
) -> None:
    """Its bytes lie in the archive once; from the third page on it is marked."""
    links = [f"/lost/{n}" for n in range(300)]
    same = raw("<title>A room</title>" + "<p>Nothing to see here, go home.</p>" * words)
    rooms: dict[str, Room] = {"/": paper("home", *links), **dict.fromkeys(links, same)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME)
        settings = web.settings(segment_bytes=20_000)
        await crawl(settings, database)
        assert len(set(web.paths("one.test")) & set(links)) == 300
    places = await database.fetchval(
        """SELECT count(DISTINCT (segment_id, segment_offset)) FROM messor.page_snapshots s
             JOIN messor.pages p ON p.id = s.page_id WHERE p.url LIKE '%/lost/%'"""
    )
    assert places == 1
    marked = await count(database, "http_fetches", "quality_gate_failed = 'duplicate'")
    assert marked == 298
    # Every address has a record, of which one alone holds the bytes.
    archived = [gzip.decompress(path.read_bytes()) for path in settings.data_dir.rglob("*.warc.gz")]
    assert sum(data.count(same.body) for data in archived) == 1
    assert sum(data.count(b"WARC-Type: revisit") for data in archived) == 299
    size = sum(path.stat().st_size for path in settings.data_dir.rglob("*.warc.gz"))
    assert size < 20_000 + 300 * 500


async def test_pages_that_merely_look_alike_are_not_marked(
    database: Database, tmp_path: Path
) -> None:
    links = [f"/{n}" for n in range(20)]
    rooms: dict[str, Room] = {"/": paper("home", *links), **{x: paper(x) for x in links}}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
    assert await count(database, "http_fetches", "quality_gate_failed = 'duplicate'") == 0
    assert await count(database, "page_snapshots") == 21


async def test_two_hosts_with_the_same_pages_are_not_each_others_duplicates(
    database: Database, tmp_path: Path
) -> None:
    """A mirror is a page of its own: what counts is how often one host says the same."""
    hosts: dict[str, dict[str, Room]] = {f"mirror{n}.test": {"/": paper("same")} for n in range(6)}
    async with LittleWeb(tmp_path, hosts) as web:
        for host in hosts:
            await admit(database, f"http://{host}/")
        await crawl(web.settings(), database)
    assert await count(database, "http_fetches", "quality_gate_failed = 'duplicate'") == 0
