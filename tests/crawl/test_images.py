"""Pictures of products: asked for where they are wanted, fetched as pages are, kept, measured."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from messor.archive.snapshot_content import read_body
from messor.crawl.images import MAX_BYTES
from messor.governance import erasure
from messor.records import product_queries
from messor.schedule.orchestrators import RunPosition
from messor.schedule.standard import imaging
from simweb import SimResponse
from simweb.documents import HTML
from tests.crawling import admit
from tests.extraction.test_extract import SHOP, Bench
from tests.extraction.test_extract import opened_bench as opened_shop
from tests.little_web import robots
from tests.web.test_image_headers import gif, png

OTHER = "https://pictures.example/far.png"
NOWHERE = "http://:80:/"


def product(*images: str) -> SimResponse:
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Kettle",
        "image": list(images),
        "offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR"},
    }
    body = (
        f"<!doctype html><html lang=en><title>Kettle</title><h1>Kettle</h1>"
        f"<p>{'It boils water. ' * 30}</p>"
        f'<script type="application/ld+json">{json.dumps(data)}</script></html>'
    )
    return SimResponse(200, (("Content-Type", HTML),), body.encode())


def picture(body: bytes, *headers: tuple[str, str], kind: str = "image/png") -> SimResponse:
    return SimResponse(200, (("Content-Type", kind), *headers), body)


def moved(target: str) -> SimResponse:
    return SimResponse(302, (("Location", target),), b"")


@asynccontextmanager
async def opened_bench(
    folder: Path, dsn: str, images: dict[str, SimResponse], **settings: Any
) -> AsyncIterator[Bench]:
    async with opened_shop(folder, dsn, kettle=product(*images, OTHER)) as b:
        b.web.houses[SHOP].rooms.update(images)
        b.settings = b.web.settings(**{"image_domains": [SHOP], **settings})
        yield b


async def harvest(b: Bench) -> dict[str, int]:
    """Crawl, extract, ask for pictures, crawl and extract them."""
    await b.crawl()
    await b.extract()
    counts: dict[str, int] = {}
    async with b.opened() as database, database.transaction() as connection:
        counts = (await imaging(b.settings).step(connection, RunPosition())).counts
    await b.crawl(0)
    await b.extract()
    return counts


async def images(b: Bench) -> dict[str, dict[str, Any]]:
    rows = await b.rows("SELECT * FROM messor.product_images ORDER BY position")
    return {row["image_url"].removeprefix(f"http://{SHOP}"): row for row in rows}


async def outcomes(b: Bench) -> dict[str, str]:
    rows = await b.rows(
        """SELECT p.url, t.outcome FROM messor.crawl_tasks t
             JOIN messor.pages p ON p.id = t.page_id WHERE t.kind = 'image'"""
    )
    return {row["url"].removeprefix(f"http://{SHOP}"): row["outcome"] for row in rows}


async def test_pictures_are_fetched_kept_by_hash_and_measured(tmp_path: Path, dsn: str) -> None:
    given = {
        "/a.png": picture(png(800, 600)),
        "/b.gif": picture(gif(20, 10), kind="text/html"),  # servers say anything
        "/same.png": picture(png(800, 600)),
    }
    async with opened_bench(tmp_path, dsn, given) as b:
        assert await harvest(b) == {"pictures_asked_for": 3, "pictures_refused": 1}
        found = await images(b)
        first = found["/a.png"]
        assert (first["width"], first["height"], first["media_type"]) == (800, 600, "image/png")
        assert first["file_size"] == len(png(800, 600))
        assert first["content_hash"] == sha256(png(800, 600)).digest()
        assert (found["/b.gif"]["media_type"], found["/b.gif"]["width"]) == ("image/gif", 20)
        # The same bytes lie in the archive once.
        assert found["/same.png"]["image_path"] == first["image_path"]
        assert "not belong to an approved domain" in found[OTHER]["refusal"]
        async with b.opened() as database:
            kept = await product_queries.image(database, first["id"])
        assert kept.segment is not None
        assert kept.segment_offset is not None
        assert kept.segment_length is not None
        place = (kept.segment, kept.segment_offset, kept.segment_length)
        assert read_body(b.settings.data_dir / "archive", *place) == png(800, 600)
        # Once is enough, and they are nobody's pages.
        await b.crawl(24 * 400)
        assert b.web.paths(SHOP).count("/a.png") == 1
        await b.extract()
        read = await b.rows(
            "SELECT p.url FROM messor.extractions x JOIN messor.pages p ON p.id = x.page_id"
        )
        assert sorted(row["url"] for row in read) == [f"http://{SHOP}/", f"http://{SHOP}/kettle"]


async def test_nothing_is_fetched_where_nobody_wants_it(tmp_path: Path, dsn: str) -> None:
    given = {"/a.png": picture(png())}
    async with opened_bench(tmp_path, dsn, given, image_domains=["other.example"]) as b:
        assert await harvest(b) == {"pictures_asked_for": 0, "pictures_refused": 0}
        assert "/a.png" not in b.web.paths(SHOP)


async def test_so_many_of_a_product_and_no_more(tmp_path: Path, dsn: str) -> None:
    given = {f"/{number}.png": picture(png(number + 1, 5)) for number in range(5)}
    async with opened_bench(tmp_path, dsn, given, images_per_page=2, image_domains=["*"]) as b:
        assert await harvest(b) == {"pictures_asked_for": 2, "pictures_refused": 0}
        assert [each["width"] for each in (await images(b)).values()][:3] == [1, 2, None]


async def test_what_may_not_be_kept_or_is_no_picture_is_not(tmp_path: Path, dsn: str) -> None:
    given = {
        "/private/a.png": picture(png()),
        "/shy.png": picture(png(), ("X-Robots-Tag", "noindex")),
        "/page.png": picture(b"<!doctype html><p>Not found, politely", kind="text/html"),
        "/large.png": picture(png() + bytes(MAX_BYTES)),
        "/gone.png": SimResponse(404, (("Content-Type", HTML),), b"gone"),
        "/moved.png": moved(NOWHERE),
    }
    async with opened_bench(tmp_path, dsn, given) as b:
        rules = "User-agent: *\nDisallow: /private/\n"
        b.web.houses[SHOP].rooms["/robots.txt"] = robots(rules)
        await harvest(b)
        assert await outcomes(b) == {
            "/private/a.png": "robots",
            "/shy.png": "robots",
            "/page.png": "empty",
            "/large.png": "too_large",
            "/gone.png": "not_found",
            "/moved.png": "redirected",
        }
        assert "/private/a.png" not in b.web.paths(SHOP)
        assert {each["image_path"] for each in (await images(b)).values()} == {None}
        kept = await b.rows(
            """SELECT s.id FROM messor.page_snapshots s JOIN messor.crawl_tasks t USING (page_id)
                WHERE t.kind = 'image'"""
        )
        assert kept == []


async def test_another_products_same_picture_is_not_fetched_again(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, {"/a.png": picture(png())}) as b:
        await harvest(b)
        b.set("/", product("/a.png"))
        await harvest(b)
        found = await b.rows("SELECT width FROM messor.product_images WHERE image_url ~ 'a.png'")
        assert [row["width"] for row in found] == [640, 640]
        assert b.web.paths(SHOP).count("/a.png") == 1


async def test_an_erased_picture_is_forgotten(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, {"/a.png": picture(png())}) as b:
        await harvest(b)
        async with b.opened() as database, database.transaction() as connection:
            await erasure.erase_url(
                connection, f"http://{SHOP}/a.png", actor="ann", reason="asked for"
            )
        row = (await images(b))["/a.png"]
        assert (row["image_path"], row["width"], row["content_hash"]) == (None, None, None)
        assert len(await b.rows("SELECT * FROM messor.blanks")) == 1
        await harvest(b)
        assert b.web.paths(SHOP).count("/a.png") == 1


async def test_pictures_wait_for_the_approval_of_their_host(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, {}) as b:
        await harvest(b)
        async with b.opened() as database:
            await admit(database, "https://pictures.example/")
            await database.fetch(
                "UPDATE messor.crawl_tasks SET due_at = NULL, status = 'cancelled'"
            )
        b.hours += 24 * 31
        async with b.opened() as database, database.transaction() as connection:
            done = await imaging(b.settings).step(connection, RunPosition())
        assert done.counts == {"pictures_asked_for": 1, "pictures_refused": 0}


async def test_a_picture_is_followed_to_where_it_is_now(tmp_path: Path, dsn: str) -> None:
    """Also by those who come to a redirect that was followed before."""
    given = {"/old.png": moved("new.png"), "/older.png": moved("/old.png")}
    async with opened_bench(tmp_path, dsn, given) as b:
        b.web.houses[SHOP].rooms["/new.png"] = picture(png(30, 20))
        await harvest(b)
        assert {each["width"] for each in (await images(b)).values()} == {None}
        for _ in range(3):
            await harvest(b)
        found = await images(b)
        assert [found[each]["width"] for each in given] == [30, 30]
        assert {found[each]["moved_to"] for each in given} == {f"http://{SHOP}/new.png"}
        assert [found[each]["moves"] for each in given] == [1, 2]
        assert await b.rows("SELECT * FROM messor.moved_pictures") == []
        await harvest(b)
        asked = [path for path in b.web.paths(SHOP) if path.endswith(".png")]
        assert sorted(asked) == ["/new.png", "/old.png", "/old.png", "/older.png"]


async def test_a_picture_that_leads_away_or_nowhere_says_so(tmp_path: Path, dsn: str) -> None:
    given = {
        "/away.png": moved(OTHER),
        "/round.png": moved("/and.png"),
        "/lost.png": moved(NOWHERE),
    }
    async with opened_bench(tmp_path, dsn, given, max_redirects=3) as b:
        b.web.houses[SHOP].rooms["/and.png"] = moved("/round.png")
        for _ in range(6):
            await harvest(b)
        found = await images(b)
        assert (
            found["/away.png"]["refusal"]
            == "Its host pictures.example does not belong to an approved domain."
        )
        assert found["/round.png"]["refusal"] == "It was redirected more than 3 times."
        asked = b.web.paths(SHOP)
        assert asked.count("/round.png") + asked.count("/and.png") == 4
        assert (await outcomes(b))["/lost.png"] == "redirected"
        said = await b.rows("SELECT error_message FROM messor.crawl_tasks WHERE kind = 'image'")
        assert "redirect without a valid target" in {row["error_message"] for row in said}
