"""What the specifications' views show of a real crawl, value by value."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.store.database import Database
from simweb.answers import SimResponse, plain, redirect
from simweb.documents import HTML
from tests.crawling import admit, crawl
from tests.extraction.test_extract import SHOP, opened_bench, product
from tests.faults.scenes import crawl_later
from tests.little_web import LittleWeb, Room, page

HOME = "http://one.test/"
MAP = (
    """<urlset><url><loc>http://one.test/listed</loc><lastmod>2026-03-04</lastmod></url></urlset>"""
)
INDEX = """<sitemapindex><sitemap><loc>http://one.test/inner.xml</loc>
  <lastmod>2026-05-06</lastmod></sitemap></sitemapindex>"""


async def shown(database: Database, view: str) -> dict[str, dict[str, Any]]:
    """The rows of a view by path."""
    rows = await database.fetch(f"SELECT * FROM {view} ORDER BY url")
    return {row["url"].removeprefix("http://one.test"): dict(row) for row in rows}


async def test_each_fetch_and_page_is_shown_with_its_values(
    database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {
        "/": page("home", "/moved", "/broken"),
        "/moved": redirect(f"{HOME}there"),
        "/there": page("there", extra=(("X-Mark", "seven"),)),
        "/broken": SimResponse(200, silent=True),
    }
    began = datetime.now(UTC)
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        domain = await admit(database, HOME, delay=0.01)
        await crawl(web.settings(total_timeout=1.5), database)
    fetches, pages = (
        await shown(database, "wellness.http_fetches"),
        await shown(database, "wellness.pages"),
    )
    moved, there, broken = fetches["/moved"], fetches["/there"], fetches["/broken"]
    assert (moved["status_code"], moved["final_url"]) == (302, f"{HOME}there")
    assert (there["status_code"], there["error_json"]) == (200, None)
    assert "text/html" in json.dumps(json.loads(there["headers_json"])).lower()
    assert (broken["status_code"], broken["domain_id"]) == (None, domain.id)
    assert json.loads(broken["error_json"])
    assert 1_400 <= broken["duration_ms"] <= 60_000
    assert all(began <= row["fetched_at"] <= datetime.now(UTC) for row in fetches.values())
    assert fetches["/there"]["page_id"] == pages["/there"]["id"]
    assert there["fetched_at"] > pages["/there"]["created_at"]
    read = pages["/there"]
    assert began <= read["last_crawled_at"]
    assert read["last_crawled_at"] >= there["fetched_at"]
    markdown = await database.fetchval(
        "SELECT markdown FROM wellness.page_content WHERE page_id = $1", read["id"]
    )
    assert read["last_content_hash"] == hashlib.sha256(markdown.encode()).hexdigest()
    assert (read["last_http_status"], read["type_conf"]) == (200, 0)


async def test_each_task_is_shown_with_its_values(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home")}}) as web:
        domain = await admit(database, HOME, delay=0.01, every_hours=6)
        began = datetime.now(UTC)
        await crawl(web.settings(), database)
    (task,) = (await shown(database, "forager.crawl_tasks")).values()
    (site,) = await database.fetch("SELECT * FROM forager.domains")
    (kept,) = await database.fetch(
        """SELECT s.*, g.name FROM messor.page_snapshots s
             JOIN messor.segments g ON g.id = s.segment_id"""
    )
    assert (site["domain_name"], site["base_url"]) == (domain.domain, HOME)
    assert (site["is_active"], site["crawl_delay_seconds"]) == (True, 1)
    assert (task["domain_id"], task["id"]) == (site["id"], kept["page_id"])
    assert (task["status"], task["priority"], task["retry_count"]) == ("completed", 5, 0)
    assert task["url_hash"] == hashlib.sha256(HOME.encode()).hexdigest()
    assert task["crawl_frequency"] == timedelta(hours=6)
    assert task["next_crawl_at"] == task["completed_at"] + task["crawl_frequency"]
    assert task["scheduled_at"] == task["next_crawl_at"]
    assert began <= task["started_at"] <= task["completed_at"]
    assert task["html_path"] == f"{kept['name']}@{kept['segment_offset']}"
    await database.fetch("UPDATE messor.domains SET paused = true, active = false")
    assert not await database.fetchval("SELECT is_active FROM forager.domains")


async def test_a_product_and_its_images_are_shown_with_their_values(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with opened_bench(tmp_path, dsn, kettle=product()) as bench:
        await bench.crawl()
        await bench.extract()
    (kettle,) = await database.fetch("SELECT * FROM forager.products")
    task = await database.fetchval(
        "SELECT id FROM forager.crawl_tasks WHERE url = $1", kettle["url"]
    )
    assert kettle["crawl_task_id"] == task
    assert (kettle["product_name"], float(kettle["price"])) == ("Kettle", 19.9)
    assert (kettle["currency"], kettle["availability"]) == ("EUR", "in_stock")
    assert (kettle["sku"], kettle["brand"], kettle["rating"]) == ("K-100", None, None)
    await database.fetch(
        "UPDATE messor.product_images SET alt_text = 'A kettle', image_path = 'ab/cd.jpg'"
    )
    images = await database.fetch("SELECT * FROM forager.images ORDER BY position")
    assert [
        (row["product_id"], row["image_type"], row["position"], row["image_url"]) for row in images
    ] == [
        (kettle["id"], "primary", 0, f"http://{SHOP}/kettle.jpg"),
        (kettle["id"], "gallery", 1, f"http://{SHOP}/kettle-2.jpg"),
    ]
    assert {(row["alt_text"], row["image_path"]) for row in images} == {("A kettle", "ab/cd.jpg")}


async def test_a_page_that_is_gone_keeps_its_content_and_shows_its_status(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home")}}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
        before = (await shown(database, "wellness.pages"))["/"]
        web.houses["one.test"].rooms["/"] = plain(404, "gone")
        await crawl_later(dsn, web.settings(), timedelta(days=40))
    after = (await shown(database, "wellness.pages"))["/"]
    assert (before["last_http_status"], after["last_http_status"]) == (200, 404)
    assert after["last_content_hash"] == before["last_content_hash"]


async def test_nested_sitemaps_keep_their_depth_parent_and_dates(
    database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {
        "/": page("home"),
        "/sitemap.xml": plain(200, INDEX),
        "/inner.xml": plain(200, MAP),
        "/listed": page("listed"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
    maps = await shown(database, "wellness.sitemaps")
    outer, inner = maps["/sitemap.xml"], maps["/inner.xml"]
    assert (outer["depth"], outer["parent_sitemap_id"]) == (0, None)
    assert (inner["depth"], inner["parent_sitemap_id"]) == (1, outer["id"])
    listed = (await shown(database, "wellness.pages"))["/listed"]
    assert listed["sitemap_lastmod"] == datetime(2026, 3, 4, tzinfo=UTC)
    dated = await database.fetchval(
        "SELECT sitemap_lastmod FROM messor.pages WHERE id = $1", inner["id"]
    )
    assert dated == datetime(2026, 5, 6, tzinfo=UTC)


async def test_a_sitemap_that_cannot_be_read_counts_its_attempts(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {"/": page("home"), "/sitemap.xml": plain(500, "broken")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
        once = (await shown(database, "wellness.sitemaps"))["/sitemap.xml"]
        await crawl_later(dsn, web.settings(), timedelta(days=8))
    twice = (await shown(database, "wellness.sitemaps"))["/sitemap.xml"]
    assert (once["attempts"], twice["attempts"]) == (1, 2)
    assert json.loads(twice["error_json"])["status"] == 500


async def test_each_content_of_a_page_is_shown_once(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    def paper(text: str) -> SimResponse:
        body = f"<html><body><main><p>{text}</p></main></body></html>"
        return SimResponse(200, (("Content-Type", HTML),), body.encode())

    rooms: dict[str, Room] = {"/": paper("Two  words.")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.01)
        for days, text in (
            (0, "Two  words."),
            (40, "Now there are five words."),
            (80, "Two words."),
        ):
            web.houses["one.test"].rooms["/"] = paper(text)
            await crawl_later(dsn, web.settings(), timedelta(days=days))
    kept = await database.fetch("SELECT * FROM wellness.page_content ORDER BY fetched_at")
    assert [(row["markdown"].strip(), row["word_count"], row["provider"]) for row in kept] == [
        ("Two words.", 2, "http"),
        ("Now there are five words.", 5, "http"),
    ]
    assert len({(row["page_id"], row["content_hash"]) for row in kept}) == 2
    assert await database.fetchval("SELECT messor.count_words(E' a \\n\\n b  c ')") == 3
    stored = await database.fetch(
        "SELECT h.*, g.name FROM wellness.page_html h JOIN messor.segments g ON g.name = h.segment"
    )
    assert {row["content_hash"] for row in stored} == {row["content_hash"] for row in kept}


async def test_a_domains_pace_is_that_of_its_busiest_host(database: Database) -> None:
    domain = await admit(database, HOME)
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 2, tzinfo=UTC)
    await database.fetch(
        """INSERT INTO messor.hosts (domain_id, host, last_request_at, cooldown_until)
           VALUES ($1, 'a.one.test', $2, $3), ($1, 'b.one.test', $3, $2)""",
        domain.id, early, late,
    )  # fmt: skip
    row = await database.fetchrow("SELECT * FROM wellness.domains WHERE id = $1", domain.id)
    assert row is not None
    assert (row["last_request_at"], row["cooldown_until"]) == (late, late)


async def test_the_cache_holds_content_status_headers_and_hash_for_a_day(
    database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {"/": page("home", extra=(("ETag", '"seven"'),))}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
    cached = (await shown(database, "orbit.url_fetch_cache"))["/"]
    assert "This is home." in cached["content"]
    assert (cached["status_code"], cached["hostname"]) == (200, "one.test")
    assert json.loads(cached["headers"])["ETag"] == '"seven"'
    assert cached["content_hash"] == hashlib.sha256(cached["content"].encode()).hexdigest()
    assert cached["url_hash"] == hashlib.sha256(HOME.encode()).hexdigest()
    assert cached["expires_at"] - cached["fetched_at"] == timedelta(hours=24)


async def test_a_hosts_risk_is_shown_with_its_signals_in_order(
    database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {
        "/": page("home", "/a", "/b"),
        "/a": plain(403, "no"),
        "/b": plain(503, "no"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
    row = await database.fetchrow("SELECT * FROM orbit.domain_risk WHERE hostname = 'one.test'")
    assert row is not None
    events = json.loads(row["friction_events"])
    assert sorted((one["signal"], one["points"]) for one in events) == [("403", 20), ("503", 15)]
    assert [one["score"] for one in events] == sorted(one["score"] for one in events)
    assert events[-1]["score"] == pytest.approx(35, abs=0.01)
    assert row["risk_score"] == 35
    assert row["last_fetch_at"] is not None
