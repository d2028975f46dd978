"""Ingestion with real workers against webs made to order, judged by what their servers were asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from messor.crawl.worker import Worker
from messor.errors import ConflictError, NeedsApprovalError, UsageError
from messor.ingest import Ingestion, IngestRequest, Mode, Progress, ingest, runs
from messor.ingest.blocks import blocks_of
from messor.ingest.result import PlannedPageResult
from messor.registry import domains
from messor.settings import Settings
from messor.store.database import Database
from messor.web.html import read_page
from simweb.answers import SimResponse, plain, redirect
from simweb.documents import HTML
from tests.crawling import admit, at_work, idle, later, until
from tests.little_web import LAG, LittleWeb, Room, page, robots

REVIEWER = "reviewer"
MACHINERY = ("/robots.txt", "/sitemap")


@dataclass
class Scene:
    """A site, a worker and the database between them."""

    web: LittleWeb
    settings: Settings
    database: Database

    async def ingest(self, mode: str = Mode.LIGHT, *pages: str, **asked: Any) -> Ingestion:
        values = {"may_approve": True, **asked}
        request = IngestRequest("http://one.test/", REVIEWER, mode, pages, **values)
        return await ingest(self.database, self.settings, request)

    @property
    def pages_asked(self) -> list[str]:
        return [path for path in self.web.paths("one.test") if not path.startswith(MACHINERY)]


@asynccontextmanager
async def scene(
    database: Database,
    folder: Path,
    rooms: Mapping[str, Room],
    *,
    delay: float | None = 0.02,
    hosts: Mapping[str, Mapping[str, Room]] | None = None,
) -> AsyncIterator[Scene]:
    """`delay` is set as the domain's own, so that tests need not wait; None leaves the mode's."""
    async with LittleWeb(folder, {"one.test": rooms, **(hosts or {})}) as web:
        made = Scene(web, web.settings(), database)
        if delay is not None:
            await _quicken(database, delay)
        async with at_work(made.settings, database):
            yield made


@asynccontextmanager
async def next_scene(
    database: Database, folder: Path, rooms: Mapping[str, Room]
) -> AsyncIterator[Scene]:
    """The same site, later."""
    later_on = folder / "later"
    later_on.mkdir(parents=True)
    async with LittleWeb(later_on, {"one.test": rooms}) as web:
        made = Scene(web, web.settings(), database)
        async with at_work(made.settings, database):
            yield made


async def _quicken(database: Database, delay: float) -> None:
    """The domain waits for review with an admin's own delay."""
    async with database.transaction() as connection:
        submission = domains.Submission.understand("http://one.test/")
        domain, _ = await domains.submit(connection, submission, actor=REVIEWER)
        await domains.configure(connection, domain, actor=REVIEWER, delay=delay)


def sitemap(*paths: str) -> SimResponse:
    urls = "".join(f"<url><loc>http://one.test{path}</loc></url>" for path in paths)
    text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return SimResponse(200, (("Content-Type", "application/xml"),), text.encode())


def rich(title: str, description: str, *items: str) -> SimResponse:
    rows = "".join(f"<li>{item}</li>" for item in items)
    text = (
        f"<html><head><title>{title}</title><meta name=description content='{description}'></head>"
        f"<body><h1>{title}</h1><p>{description} And a good deal more of it, for whoever reads "
        f"this page to its end.</p><h2>What {title} holds</h2><ul>{rows}</ul></body></html>"
    )
    return SimResponse(200, (("Content-Type", HTML),), text.encode())


def shop(pages: int = 500) -> dict[str, Room]:
    """A business with a sitemap of many pages."""
    paths = ["/about", "/services", "/contact", "/pricing", "/faq"]
    paths += [f"/article-{n}" for n in range(pages - len(paths))]
    rooms: dict[str, Room] = {
        path: rich(path.strip("/"), f"All about {path}.", f"first of {path}") for path in paths
    }
    return {
        "/robots.txt": robots(
            "User-agent: *\nDisallow: /private\nSitemap: http://one.test/sitemap.xml\n"
        ),
        "/sitemap.xml": sitemap(*paths),
        "/": page("home", "/about", "/private/x", "/team"),
        "/team": page("team"),
        **rooms,
    }


async def value(database: Database, sql: str, *args: object) -> Any:
    return await database.fetchval(sql, *args)


async def test_a_light_run_reads_at_most_twelve_pages_of_five_hundred(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path, shop()) as site:
        done = await site.ingest(Mode.LIGHT)
        await idle(database)
        asked = site.pages_asked
        assert len(asked) == len(set(asked)) == 12
        assert {"/", "/about", "/services", "/contact", "/pricing", "/faq"} <= set(asked)
        assert "/private/x" not in asked
        found = done.evidence["nm_ingest"]
        assert len(done.evidence["traceId"]) == 32
        assert done.evidence["nm_policyVersion"] == "orbitBehaviourContract.v1.1.0"
        assert found == {
            "mode": "light",
            "discoverySources": ["robots", "sitemap", "homepage"],
            "pagesPlanned": 12,
            "pagesFetched": 12,
            "pagesUsed": 12,
            "cacheHits": 0,
            "cacheMisses": 12,
            "outcome": "success",
            "frictionSignals": [],
            "domainRiskScore": 0,
            "durationMs": found["durationMs"],
        }
        assert found["durationMs"] > 0
        assert set(done.as_response()) == {"success", "tiles", "evidence"}


async def test_a_standard_run_reads_at_most_twenty_five_pages_after_robots_and_sitemap(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path, shop(80)) as site:
        done = await site.ingest(Mode.STANDARD)
        assert done.outcome == "success"
        assert site.web.paths("one.test")[0] == "/robots.txt"
        assert done.evidence["nm_ingest"]["discoverySources"].count("sitemap") == 1
        assert len(site.pages_asked) == done.evidence["nm_ingest"]["pagesUsed"] == 25


async def test_sources_are_read_in_order_and_named_as_they_were_read(
    database: Database, tmp_path: Path
) -> None:
    """robots.txt is permission; then sitemap.xml, the sitemaps that robots.txt names, the homepage."""
    rooms = shop(10) | {
        "/robots.txt": robots("User-agent: *\nSitemap: http://one.test/sitemap-more.xml\n"),
        "/sitemap-more.xml": sitemap("/extra"),
        "/extra": page("extra"),
    }
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.STANDARD)
        asked = site.web.paths("one.test")
        assert asked[:4] == ["/robots.txt", "/sitemap.xml", "/sitemap-more.xml", "/"]
        assert {"/extra", "/about", "/team"} <= set(asked[4:])
        assert len(asked) == len(set(asked))
        assert done.evidence["nm_ingest"]["discoverySources"] == ["robots", "sitemap", "homepage"]


@pytest.mark.parametrize(
    "robots_file, sitemap_file, named",
    [
        (plain(404, "none"), plain(404, "none"), ["homepage"]),
        (plain(404, "none"), sitemap("/about"), ["sitemap", "homepage"]),
        (robots("User-agent: *\nDisallow: /$\n"), sitemap("/about"), ["robots", "sitemap"]),
        (robots("User-agent: *\nAllow: /\n"), sitemap(), ["robots", "homepage"]),
    ],
    ids=["homepage alone", "no robots", "homepage denied", "empty sitemap"],
)
async def test_only_sources_that_were_read_are_named(
    database: Database,
    tmp_path: Path,
    robots_file: SimResponse,
    sitemap_file: SimResponse,
    named: list[str],
) -> None:
    rooms = {
        "/robots.txt": robots_file,
        "/sitemap.xml": sitemap_file,
        "/": page("home", "/about"),
        "/about": page("about"),
    }
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.LIGHT)
        assert done.evidence["nm_ingest"]["discoverySources"] == named
        home = ["/"] if "homepage" in named else []
        assert site.web.paths("one.test") == ["/robots.txt", "/sitemap.xml", *home, "/about"]
        again = await site.ingest(Mode.LIGHT)  # from the cache
        assert again.evidence["nm_ingest"]["discoverySources"] == named


async def test_at_high_risk_the_plan_is_minimal(database: Database, tmp_path: Path) -> None:
    """Four pages and one sitemap above 50; at 50 everything, more slowly."""
    rooms = shop(5) | {
        "/robots.txt": robots(
            "User-agent: *\nDisallow: /private\nSitemap: http://one.test/sitemap-more.xml\n"
        ),
        "/sitemap-more.xml": sitemap("/pricing"),
    }
    known = ("", "about", "services", "contact", "team")
    risk = "UPDATE messor.hosts SET risk_score = $1, risk_at = messor.clock()"
    async with scene(database, tmp_path, rooms) as site:
        await site.ingest(Mode.USER_ASSISTED, *(f"http://one.test/{path}" for path in known))
        before = len(site.web.paths("one.test"))
        await database.fetch(risk, 50.5)
        done = await site.ingest(Mode.STANDARD)
        assert site.web.paths("one.test")[before:] == ["/sitemap.xml"]
        assert done.outcome == "success"
        paths = [each.url.removeprefix("http://one.test") for each in done.pages]
        assert paths[0] == "/"
        assert set(paths) == {"/", "/about", "/services", "/contact"}
        assert done.evidence["nm_ingest"]["pagesPlanned"] == done.limited_to == 4
        kept = "SELECT count(*) FROM messor.tiles WHERE source_url LIKE '%/team'"
        assert await value(database, kept) == 1  # a small sample does not stand for the site
        await database.fetch(risk, 50.0)
        whole = await site.ingest(Mode.STANDARD)
        later_on = ["/sitemap-more.xml", "/pricing", "/faq"]
        assert sorted(site.web.paths("one.test")[before + 1 :]) == sorted(later_on)
        assert (whole.evidence["nm_ingest"]["pagesPlanned"], whole.limited_to) == (7, None)


async def test_a_run_leaves_nothing_due_and_a_record_of_itself(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path, shop(40)) as site:
        done = await site.ingest(Mode.LIGHT)
        stored = await runs.find(database, done.trace_id)
        assert stored is not None
        assert (stored.stage, stored.outcome, stored.lost) == ("done", "success", False)
        assert stored.evidence == done.evidence
        assert await runs.unfinished(database) == []
        due = (
            "SELECT count(*) FROM messor.crawl_tasks WHERE kind <> 'robots' AND due_at IS NOT NULL"
        )
        assert await value(database, due) == 0
        assert (
            await value(database, "SELECT count(*) FROM messor.ingestion_pages WHERE reason <> ''")
            == 12
        )
        assert (
            await value(
                database, "SELECT count(*) FROM messor.events WHERE type = 'ingestion.completed'"
            )
            == 1
        )
        assert await value(database, "SELECT harvest FROM messor.domains") == "asked"
        assert (
            await value(database, "SELECT count(*) FROM messor.lanes WHERE mode_until IS NOT NULL")
            == 0
        )
        assert await value(database, "SELECT count(*) FROM messor.tiles") == len(done.tiles) == 12
        assert await value(database, "SELECT slug FROM messor.orbits") == "one-test"


async def test_nothing_is_fetched_after_the_run_even_days_later(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with scene(database, tmp_path, shop(40)) as site:
        await site.ingest(Mode.LIGHT)
    async with (
        Database(later(dsn, timedelta(days=3))) as future,
        next_scene(future, tmp_path, shop(40)) as site,
    ):
        await until(lambda: "/robots.txt" in site.web.paths("one.test"))
        await idle(future)
        assert set(site.web.paths("one.test")) == {"/robots.txt"}


async def test_redirects_count_towards_the_cap(database: Database, tmp_path: Path) -> None:
    """Every page moved: half of the requests find that out, the other half the content."""
    rooms = shop(300)
    for path in [path for path in rooms if path.startswith("/article") or path == "/about"]:
        rooms[f"/new{path}"] = rooms[path]
        rooms[path] = redirect(f"/new{path}", 301)
    rooms["/faq"] = redirect("/faq1", 302)
    rooms.update({f"/faq{n}": redirect(f"/faq{n + 1}", 302) for n in range(1, 30)})
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.LIGHT)
        await idle(database)
        assert len(site.pages_asked) <= 12
        found = done.evidence["nm_ingest"]
        assert found["pagesFetched"] == len(site.pages_asked)
        assert found["pagesUsed"] >= 5
        assert "/new/about" in site.pages_asked


async def test_a_start_page_that_moved_to_another_host_is_followed(
    database: Database, tmp_path: Path
) -> None:
    www = {"/": page("home", "/about"), "/about": rich("About", "Who we are.")}
    rooms: dict[str, Room] = {"/": redirect("http://www.one.test/", 301)}
    async with scene(database, tmp_path, rooms, hosts={"www.one.test": www}) as site:
        done = await site.ingest(Mode.LIGHT)
        assert site.web.paths("one.test").count("/") == 1
        assert {"/", "/about"} <= set(site.web.paths("www.one.test"))
        assert done.outcome == "success"
        again = await site.ingest(Mode.LIGHT)
        assert again.evidence["nm_ingest"]["pagesFetched"] == 0
        assert site.web.paths("one.test").count("/") == 1


async def test_a_second_run_within_a_day_asks_for_no_page(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with scene(database, tmp_path, shop(40)) as site:
        first = await site.ingest(Mode.LIGHT)
        before = site.web.paths("one.test")
        second = await site.ingest(Mode.LIGHT)
        assert site.web.paths("one.test") == before
        found = second.evidence["nm_ingest"]
        assert (found["cacheHits"], found["cacheMisses"], found["pagesFetched"]) == (12, 0, 0)
        assert found["pagesUsed"] == 12
        assert [t.source_url for t in second.tiles] == [t.source_url for t in first.tiles]
        assert await value(database, "SELECT count(*) FROM messor.tiles") == 12


async def test_the_cache_lasts_a_day(database: Database, dsn: str, tmp_path: Path) -> None:
    async with scene(database, tmp_path, shop(40)) as site:
        await site.ingest(Mode.LIGHT)
    async with (
        Database(later(dsn, timedelta(hours=23, minutes=55))) as evening,
        next_scene(evening, tmp_path / "evening", shop(40)) as site,
    ):
        done = await site.ingest(Mode.LIGHT)
        assert site.pages_asked == []
        assert done.evidence["nm_ingest"]["cacheHits"] == 12
    async with (
        Database(later(dsn, timedelta(hours=24, minutes=1))) as tomorrow,
        next_scene(tomorrow, tmp_path, shop(40)) as site,
    ):
        done = await site.ingest(Mode.LIGHT)
        assert "/sitemap.xml" in site.web.paths("one.test")
        assert len(site.pages_asked) == 12
        assert done.evidence["nm_ingest"]["cacheHits"] == 0
        assert done.outcome == "success"


async def test_sitemaps_without_end_do_not_hold_a_run_up(
    database: Database, tmp_path: Path
) -> None:
    names = [f"/sitemap-{n}.xml" for n in range(200)]
    entries = "".join(f"<sitemap><loc>http://one.test{name}</loc></sitemap>" for name in names)
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    index = f"<sitemapindex {space}>{entries}</sitemapindex>"
    rooms = shop(30)
    rooms["/sitemap.xml"] = SimResponse(200, (("Content-Type", "application/xml"),), index.encode())
    rooms |= {name: sitemap(f"/article-{n % 20}") for n, name in enumerate(names)}
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.LIGHT)
        await idle(database)
        assert done.outcome == "success"
        assert 8 <= len(site.pages_asked) <= 12
        assert len([path for path in site.web.paths("one.test") if "sitemap" in path]) <= 10


async def test_assisted_mode_fetches_the_given_pages_and_nothing_else(
    database: Database, tmp_path: Path
) -> None:
    given = ["http://one.test/about", "http://one.test/article-3", "http://one.test/about#team"]
    async with scene(database, tmp_path, shop(40)) as site:
        done = await site.ingest(Mode.USER_ASSISTED, *given)
        await idle(database)
        assert site.web.paths("one.test") == ["/robots.txt", "/about", "/article-3"]
        assert done.evidence["nm_ingest"]["discoverySources"] == []
        assert done.evidence["nm_ingest"]["pagesPlanned"] == 2
        assert done.outcome == "success"
        assert [tile.title for tile in done.tiles] == ["about", "article-3"]


async def test_tiles_quote_the_page_and_nothing_else(database: Database, tmp_path: Path) -> None:
    rooms: dict[str, Room] = {
        "/": page("home", "/services"),
        "/services": rich(
            "Our services", "Repairs & sales.", "Wheel <b>truing</b> for 20 €", "Brakes *all* kinds"
        ),
    }
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.LIGHT)
        (tile,) = [tile.as_json() for tile in done.tiles if "services" in tile.source_url]
        assert set(tile) == {
            "id",
            "category",
            "title",
            "summary",
            "items",
            "sourceUrl",
            "snapshotId",
            "confidence",
        }
        assert (tile["category"], tile["title"]) == ("services", "Our services")
        assert tile["summary"] == "Repairs & sales."
        assert [item["text"] for item in tile["items"]] == [
            "What Our services holds",
            "Wheel truing for 20 €",
            "Brakes *all* kinds",
        ]
        assert 0.5 < tile["confidence"] <= 1
        snapshot = await database.fetchrow(
            "SELECT s.id, p.url FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id "
            "WHERE s.id = $1",
            tile["snapshotId"],
        )
        assert snapshot is not None
        assert snapshot["url"] == tile["sourceUrl"]


def business(title: str, *parts: str) -> SimResponse:
    """A page with a footer that every page of its site repeats."""
    foot = "<footer><a href='tel:+493012345678'>+49 30 12345678</a></footer>"
    words = "We repair bicycles of every make in our workshop, on weekdays and on Saturdays. " * 4
    text = (
        f"<html lang=en><head><title>{title}</title></head><body><h1>{title}</h1><p>{words}</p>"
        f"{''.join(parts)}{foot}</body></html>"
    )
    return SimResponse(200, (("Content-Type", HTML),), text.encode())


async def test_tiles_are_filled_from_records_with_evidence(
    database: Database, tmp_path: Path
) -> None:
    """Phone, hours, prices and questions, each once, on the page where it belongs."""
    prices = "".join(
        f"<tr><td>{name}</td><td>€{price}</td></tr>"
        for name, price in (("Wheel truing", "20.00"), ("Full service", "89.50"), ("Chain", "12.00"),
                            ("Tyre", "31.00"), ("Bell", "9.90"), ("Lamp", "24.00"))
    )  # fmt: skip
    question = {
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "mainEntity": [
            {
                "@type": "Question",
                "name": "Do you repair e-bikes?",
                "acceptedAnswer": {"@type": "Answer", "text": "Yes, all makes."},
            }
        ],
    }
    rooms: dict[str, Room] = {
        "/": business("Home", "<a href='/contact'>c</a> <a href='/pricing'>p</a> <a href='/faq'>f</a>"),
        "/contact": business("Contact", "<h2>Hours</h2><p>Monday to Friday 9am - 5pm</p>"),
        "/pricing": business("Prices", f"<table>{prices}</table>"),
        "/faq": business(
            "Questions", f"<script type='application/ld+json'>{json.dumps(question)}</script>"
        ),
    }  # fmt: skip
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.LIGHT)
        tiles = {tile.source_url.rpartition("/")[2]: tile.as_json() for tile in done.tiles}
        told = {name: {item["text"] for item in tile["items"]} for name, tile in tiles.items()}
        assert {"+493012345678", "monday, tuesday, wednesday, thursday, friday: 09:00-17:00"} <= told[
            "contact"
        ]  # fmt: skip
        assert {"Wheel truing: 20.00 EUR", "Full service: 89.50 EUR"} <= told["pricing"]
        assert "Do you repair e-bikes? Yes, all makes." in told["faq"]
        assert "+493012345678" not in told[""] | told["pricing"] | told["faq"]
        for tile in tiles.values():
            for item in tile["items"]:
                assert item["sourceUrl"] == tile["sourceUrl"]
                assert item["snapshotId"] == tile["snapshotId"]
                assert 0 < item["confidence"] <= 1
                assert item["evidence"]
        (hours,) = [item for item in tiles["contact"]["items"] if item["kind"] == "opening_hours"]
        quotes = {proof["field"]: proof["quote"] for proof in hours["evidence"]}
        assert quotes["days"] == "Monday to Friday 9am - 5pm"
        stored = await database.fetchrow(
            "SELECT * FROM messor.records WHERE id = $1", hours["recordId"]
        )
        assert stored is not None
        assert (stored["kind"], stored["snapshot_id"]) == ("opening_hours", hours["snapshotId"])
        assert round(stored["confidence"], 2) == hours["confidence"]
        assert await value(database, "SELECT count(*) FROM messor.extraction_due") == 0


def test_whatever_a_tile_quotes_stands_in_the_page() -> None:
    text = (
        "<h1>A *star* &amp; [brackets] _under_</h1><p>One <b>bold</b> word, <i>a_b_c</i> and "
        "<a href='/x_(y)'>a link</a> \\ back</p><ul><li>1. first<li><a href='/a b' title='t x'>"
        "<img src=i.png alt=no>pic</a><li><code>x*y</code></ul><h3># hash #</h3>"
        "<pre>- not an item</pre><table><tr><td>- cell</table><blockquote>quoted</blockquote>"
    )
    visible = ["A *star* & [brackets] _under_", "One bold word, a_b_c and a link \\ back"]
    visible += ["1. first", "pic", "x*y", "# hash #"]
    found = list(blocks_of(read_page(text, "http://one.test/").markdown))
    assert [block.text for block in found if block.text not in visible] == []
    assert {"A *star* & [brackets] _under_", "pic", "1. first"} <= {block.text for block in found}


@pytest.mark.parametrize("bait", ["![", "[a](", "[", "\\", "*_", "- ", "(x)", "\ue001", "[a](<"])
def test_hostile_markdown_is_read_within_bounds(bait: str) -> None:
    text = f"# [a](({bait * 100_000}\n" + f"{bait * 1000}\n" * 100
    assert all("\x00" not in block.text for block in blocks_of(text))


CHALLENGE = SimResponse(
    403,
    (("Content-Type", HTML), ("Server", "cloudflare"), ("cf-mitigated", "challenge")),
    b"<html><head><title>Just a moment...</title></head><body><noscript>Enable JavaScript and "
    b"cookies to continue</noscript><script src='/cdn-cgi/challenge-platform/x.js'></script></body></html>",
)


@pytest.mark.parametrize("refusal", [plain(403, "no"), CHALLENGE], ids=["403", "challenge"])
async def test_a_site_that_blocks_is_left_soon_with_guidance(
    database: Database, tmp_path: Path, refusal: SimResponse
) -> None:
    rooms: dict[str, Room] = dict.fromkeys(shop(60), refusal)
    rooms["/robots.txt"] = robots("User-agent: *\nAllow: /\n")
    rooms["/sitemap.xml"] = sitemap(*[f"/article-{n}" for n in range(50)])
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.STANDARD)
        assert done.outcome == "blocked"
        assert 1 <= len(site.pages_asked) <= 4
        blocked = done.as_response()["blocked"]
        assert blocked["friction"] == done.evidence["nm_ingest"]["frictionSignals"]
        assert any(":one.test/" in signal for signal in blocked["friction"])
        assert blocked["guidance"]
        assert [offer["kind"] for offer in blocked["offers"]] == ["user_assisted", "manual_import"]
        assert done.evidence["nm_ingest"]["domainRiskScore"] >= 40
        assert done.evidence["nm_ingest"]["outcome"] == "blocked"
        assert (
            await value(
                database, "SELECT count(*) FROM messor.events WHERE type = 'ingestion.blocked'"
            )
            == 1
        )
        before = len(site.pages_asked)
        again = await site.ingest(Mode.STANDARD)
        assert again.outcome == "blocked"
        assert len(site.pages_asked) == before


async def test_a_blocked_page_among_good_ones_makes_the_run_partial(
    database: Database, tmp_path: Path
) -> None:
    rooms = shop(10) | {"/about": plain(403, "no")}
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.LIGHT)
        assert done.outcome == "partial"
        assert done.as_response()["success"] is True
        assert done.evidence["nm_ingest"]["frictionSignals"] == ["403:one.test/about"]
        by_url = {each.url.removeprefix("http://one.test"): each for each in done.pages}
        assert by_url["/about"].result is PlannedPageResult.BLOCKED
        assert by_url["/about"].status == 403


async def test_pages_that_are_gone_or_denied_do_not_spoil_a_run(
    database: Database, tmp_path: Path
) -> None:
    rooms = shop(10)
    del rooms["/faq"]
    async with scene(database, tmp_path, rooms) as site:
        done = await site.ingest(Mode.LIGHT)
        assert done.outcome == "success"
        assert {each.result for each in done.pages} == {
            PlannedPageResult.USED,
            PlannedPageResult.ABSENT,
        }


async def test_a_failure_keeps_the_tiles_that_were_there(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path, shop(10)) as site:
        before = await site.ingest(Mode.USER_ASSISTED, "http://one.test/about")
        site.web.houses["one.test"].rooms["/faq"] = plain(403, "no")
        done = await site.ingest(Mode.USER_ASSISTED, "http://one.test/faq")
        assert done.outcome == "blocked"
        kept = await database.fetch("SELECT id FROM messor.tiles")
        assert [row["id"] for row in kept] == [tile.id for tile in before.tiles]


@pytest.mark.parametrize(
    "answer, outcome, word",
    [
        (robots("User-agent: *\nDisallow: /\n"), "blocked", "may not be fetched"),
        (plain(500, "broken"), "blocked", "500"),
    ],
    ids=["denied", "unreadable"],
)
async def test_robots_that_deny_everything_block_the_run(
    database: Database, tmp_path: Path, answer: SimResponse, outcome: str, word: str
) -> None:
    async with scene(database, tmp_path, shop(10) | {"/robots.txt": answer}) as site:
        done = await site.ingest(Mode.LIGHT)
        assert site.pages_asked == []
        assert done.outcome == outcome
        assert word in " ".join(done.guidance)


async def test_a_site_that_is_not_there_is_an_error(database: Database, tmp_path: Path) -> None:
    async with scene(database, tmp_path, {}) as site:
        request = IngestRequest("http://nowhere.test/", REVIEWER, Mode.LIGHT, may_approve=True)
        done = await ingest(database, site.settings, request)
        assert done.outcome == "error"
        assert not done.is_success
        assert done.guidance == [
            "nowhere.test cannot be reached: the name does not resolve.",
            "Check the URL; if it is right, try again later.",
        ]
        error = done.as_response()["error"]
        assert error["message"] == (
            "No content was read from nowhere.test: " + " ".join(done.guidance)
        )
        assert error["offers"][0]["command"] == "messor crawl http://nowhere.test/ --mode light"
        failed = "SELECT count(*) FROM messor.events WHERE type = 'ingestion.failed'"
        assert await database.fetchval(failed) == 1


async def test_without_approval_nothing_is_asked_and_the_url_is_remembered(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path, shop(10), delay=None) as site:
        with pytest.raises(NeedsApprovalError, match="needs approval") as refused:
            await site.ingest(Mode.LIGHT, may_approve=False)
        assert refused.value.code == "needs_approval"
        domain = await domains.get(database, "one.test")
        assert domain.status == "pending_review"
        assert "http://one.test/" in (domain.submission_context or "")
        assert site.web.paths("one.test") == []
        assert await value(database, "SELECT count(*) FROM messor.ingestion_runs") == 0


@pytest.mark.parametrize("status", ["rejected", "blacklisted", "suspended"])
async def test_a_refused_domain_is_a_conflict_with_its_reason(
    database: Database, tmp_path: Path, status: str
) -> None:
    async with scene(database, tmp_path, shop(10)) as site:
        async with database.transaction() as connection:
            domain = await domains.get(connection, "one.test")
            if status == "suspended":
                domain = await domains.move(connection, domain, "approved", actor=REVIEWER)
            await domains.move(connection, domain, status, actor=REVIEWER, reason="not ours")
        with pytest.raises(ConflictError, match=status):
            await site.ingest(Mode.LIGHT)
        assert site.web.paths("one.test") == []


@pytest.mark.parametrize(
    "values, word",
    [
        ({"url": "http://one.test/", "mode": "fast"}, "is not an ingestion mode"),
        ({"url": "not a url", "mode": "light"}, "not a web address"),
        ({"url": "http://one.test/", "mode": "user_assisted"}, "at least one"),
        ({"url": "http://one.test/", "mode": "light", "user_urls": ("http://one.test/a",)}, "user_assisted"),
        ({"url": "http://one.test/", "mode": "user_assisted", "user_urls": ("http://two.test/",)}, "not a page of"),
        ({"url": "http://one.test/", "mode": "user_assisted",
          "user_urls": tuple(f"http://one.test/{n}" for n in range(51))}, "At most 50"),
        ({"url": "http://one.test/", "mode": "light", "orbit": "No Slug"}, "cannot name an orbit"),
    ],
)  # fmt: skip
async def test_what_makes_no_sense_is_refused_in_a_sentence(
    database: Database, tmp_path: Path, values: dict[str, Any], word: str
) -> None:
    request = IngestRequest(actor=REVIEWER, may_approve=True, **values)
    with pytest.raises(UsageError, match=word):
        await ingest(database, Settings(data_dir=tmp_path), request)
    assert await value(database, "SELECT count(*) FROM messor.domains") == 0


@pytest.mark.parametrize("mode, least", [(Mode.LIGHT, 0.8), (Mode.STANDARD, 1.0)])
async def test_the_pace_of_the_mode_is_kept(
    database: Database, tmp_path: Path, mode: Mode, least: float
) -> None:
    rooms: dict[str, Room] = {"/": page("home", "/about"), "/about": page("about")}
    async with scene(database, tmp_path, rooms, delay=None) as site:
        done = await site.ingest(mode)
        assert done.outcome == "success"
        times = [asked.arrived_ns for asked in site.web.requests("one.test")]
        gaps = [after - before for before, after in pairwise(times)]
        assert len(gaps) >= 2
        assert min(gaps) >= (least - LAG) * 1e9


async def test_two_runs_at_once_share_what_they_fetch(database: Database, tmp_path: Path) -> None:
    async with scene(database, tmp_path, shop(60)) as site:
        light, standard = await asyncio.gather(
            site.ingest(Mode.LIGHT), site.ingest(Mode.STANDARD, orbit="another")
        )
        await idle(database)
        assert light.outcome == standard.outcome == "success"
        assert len(site.pages_asked) == len(set(site.pages_asked)) <= 37
        assert light.evidence["nm_ingest"]["pagesUsed"] == 12
        assert standard.evidence["nm_ingest"]["pagesUsed"] == 25
        due = (
            "SELECT count(*) FROM messor.crawl_tasks WHERE kind <> 'robots' AND due_at IS NOT NULL"
        )
        assert await value(database, due) == 0


async def test_a_worker_that_dies_is_replaced(database: Database, dsn: str, tmp_path: Path) -> None:
    """Its lease runs out and another worker goes on with the same run."""
    async with LittleWeb(tmp_path, {"one.test": shop(60)}) as web:
        await _quicken(database, 0.2)
        settings = web.settings()
        async with Database(dsn) as other:
            brief = web.settings(worker_lease=3.0)
            doomed = asyncio.create_task(Worker(brief, other).run())
            request = IngestRequest("http://one.test/", REVIEWER, Mode.LIGHT, may_approve=True)
            running = asyncio.create_task(ingest(database, settings, request))
            await until(lambda: len(web.paths("one.test")) >= 5)
            doomed.cancel()
            await asyncio.wait([doomed])
        async with at_work(settings, database):
            done = await running
        assert done.outcome == "success"
        pages = [path for path in web.paths("one.test") if not path.startswith(MACHINERY)]
        assert len(set(pages)) == 12
        assert len(pages) <= 13  # what was fetched and not flushed is fetched again


async def test_an_interrupted_run_puts_everything_back(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": shop(10)}) as web:
        seen: list[Progress] = []
        request = IngestRequest("http://one.test/", REVIEWER, Mode.LIGHT, may_approve=True)
        running = asyncio.create_task(ingest(database, web.settings(), request, watch=seen.append))
        await until(lambda: seen and seen[-1].planned)
        (run,) = await runs.unfinished(database)
        assert (run.stage, run.outcome, run.lost) == ("discovering", None, False)
        async with Database(later(dsn, timedelta(hours=1))) as future:
            (run,) = await runs.unfinished(future)
            assert run.lost
        running.cancel()
        await asyncio.wait([running])
        stored = await runs.find(database, run.trace_id)
        assert stored is not None
        assert (stored.stage, stored.outcome) == ("done", "error")
        assert stored.evidence is not None
        assert stored.evidence["nm_ingest"]["pagesPlanned"] == 1
        assert stored.evidence["error"]["message"] == (
            "No content was read from one.test: The run was interrupted before it finished. "
            "Start it again; pages fetched within a day are taken from the cache."
        )
        kinds = [offer["kind"] for offer in stored.evidence["error"]["offers"]]
        assert kinds == ["start_worker", "retry", "manual_import"]
        due = "SELECT count(*) FROM messor.crawl_tasks WHERE kind = 'page' AND due_at IS NOT NULL"
        assert await value(database, due) == 0


async def test_whoever_watches_sees_every_stage(database: Database, tmp_path: Path) -> None:
    seen: list[Progress] = []
    async with scene(database, tmp_path, shop(10)) as site:
        request = IngestRequest("http://one.test/", REVIEWER, Mode.LIGHT, may_approve=True)
        done = await ingest(database, site.settings, request, watch=seen.append)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages == ["discovering", "fetching", "done"]
    assert {progress.trace_id for progress in seen} == {done.trace_id}
    fetched = [progress.fetched for progress in seen]
    assert fetched == sorted(fetched)
    assert fetched[-1] == done.evidence["nm_ingest"]["pagesFetched"]


async def test_a_reviewer_may_ask_for_pages_of_a_critical_host(
    database: Database, tmp_path: Path
) -> None:
    """Slowly, and only by name; without a reviewer, or by discovery, it is left alone."""
    async with scene(database, tmp_path, shop(10)) as site:
        await site.ingest(Mode.USER_ASSISTED, "http://one.test/about")
        await database.fetch(
            "UPDATE messor.hosts SET risk_score = 95, risk_at = messor.clock(), "
            "cooldown_until = messor.clock() + interval '1 hour', cooldown_reason = 'friction'"
        )
        await database.fetch(
            "UPDATE messor.lanes SET ready_at = messor.clock() + interval '1 hour'"
        )
        before = len(site.web.paths("one.test"))
        page_url = "http://one.test/faq"
        skipped = await site.ingest(Mode.USER_ASSISTED, page_url, may_approve=False)
        assert skipped.outcome == "blocked"
        assert any("risk" in sentence for sentence in skipped.guidance)
        assert (await site.ingest(Mode.LIGHT)).evidence["nm_ingest"]["pagesFetched"] == 0
        assert len(site.web.paths("one.test")) == before
        done = await site.ingest(Mode.USER_ASSISTED, page_url, "http://one.test/pricing")
        assert done.outcome == "success"
        times = [asked.arrived_ns for asked in site.web.requests("one.test")][before:]
        assert len(times) == 2
        assert times[1] - times[0] >= (2 - LAG) * 1e9


async def test_silence_a_host_asked_for_is_kept_even_for_a_reviewer(
    database: Database, tmp_path: Path
) -> None:
    rooms = shop(10) | {"/about": SimResponse(429, (("Retry-After", "600"),), b"later")}
    async with scene(database, tmp_path, rooms) as site:
        await site.ingest(Mode.USER_ASSISTED, "http://one.test/about")
        done = await site.ingest(Mode.USER_ASSISTED, "http://one.test/faq")
        assert done.outcome == "blocked"
        assert site.pages_asked == ["/about"]


async def test_an_approved_site_keeps_its_own_crawl(database: Database, tmp_path: Path) -> None:
    """A run on a domain that is harvested whole takes nothing off its frontier."""
    rooms = shop(30)
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", delay=0.01)
        async with at_work(web.settings(), database):
            request = IngestRequest("http://one.test/", REVIEWER, Mode.LIGHT)
            done = await ingest(database, web.settings(), request)
            assert done.evidence["nm_ingest"]["pagesPlanned"] == 12
            await idle(database)
        assert len({path for path in web.paths("one.test") if not path.startswith(MACHINERY)}) == 32
        waiting = "SELECT count(*) FROM messor.crawl_tasks WHERE kind = 'page' AND due_at IS NULL"
        assert await value(database, waiting) == 0
        assert (
            await value(database, "SELECT count(*) FROM messor.crawl_tasks WHERE priority = 1") == 0
        )


async def test_an_orbit_shows_one_domain(database: Database, tmp_path: Path) -> None:
    async with scene(database, tmp_path, shop(10)) as site:
        await site.ingest(Mode.USER_ASSISTED, "http://one.test/about", orbit="mine")
        request = IngestRequest(
            "http://two.test/", REVIEWER, Mode.LIGHT, orbit="mine", may_approve=True
        )
        with pytest.raises(ConflictError, match="another domain"):
            await ingest(database, site.settings, request)
