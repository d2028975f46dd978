"""What is known of a page once it was crawled and read: status, hashes, type, metadata, versions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from messor.parsers import pins
from messor.registry import domains
from messor.store.database import Database
from simweb.answers import SimResponse
from simweb.documents import HTML
from simweb.services import Crawl4AIStandIn
from tests.crawling import admit, crawl
from tests.explain.test_route import ROOMS, render
from tests.extraction.test_extract import SHOP, opened_bench, product
from tests.held_lanes import make_domain
from tests.little_web import LittleWeb, Room

READ = """
SELECT p.url, t.last_status, t.raw_hash, e.page_type, e.page_type_confidence, e.metadata
  FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id
  JOIN messor.extractions e ON e.page_id = p.id ORDER BY p.url
"""


async def test_status_hash_type_and_metadata_of_a_page_are_kept(dsn: str, tmp_path: Path) -> None:
    plain = product()
    head = (
        b'<meta name="description" content="A kettle made of copper by hand.">'
        b'<meta name="author" content="Ada Lem"><link rel="canonical" href="/kettles/copper">'
        b'<meta property="og:image" content="/kettle-wide.jpg"></head><body>'
    )
    body = plain.body.replace(b"</title>", b"</title>" + head)
    async with opened_bench(tmp_path, dsn, kettle=replace(plain, body=body)) as bench:
        await bench.crawl()
        await bench.extract()
        found = {row["url"]: row for row in await bench.rows(READ)}
    kettle = found[f"http://{SHOP}/kettle"]
    assert kettle["last_status"] == 200
    assert kettle["raw_hash"]
    assert kettle["page_type"] == "product"
    assert 0.5 < kettle["page_type_confidence"] <= 1.0
    metadata = json.loads(kettle["metadata"])
    assert metadata["title"] == "Kettle"
    assert metadata["language"] == "en"
    assert metadata["description"] == "A kettle made of copper by hand."
    assert metadata["authors"] == ["Ada Lem"]
    assert metadata["canonical"] == f"http://{SHOP}/kettles/copper"
    assert metadata["image"] == f"http://{SHOP}/kettle-wide.jpg"
    assert [heading["text"] for heading in metadata["headings"]] == ["Kettle"]
    assert found[f"http://{SHOP}/"]["page_type"] == "home"


async def test_a_version_is_pinned_for_one_domain_and_named_by_its_records(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with opened_bench(tmp_path, dsn, kettle=product()) as bench:
        await bench.crawl()
        await bench.extract()
        (record,) = await bench.rows("SELECT * FROM messor.records WHERE kind = 'product'")
        assert record["parser_version"]
        domain = await domains.get(database, SHOP)
        async with database.transaction() as connection:
            await pins.pin(connection, record["parser"], "0", domain_id=domain.id, actor="reviewer")
        (pin,) = await pins.listing(database)
        assert (pin.parser, pin.version, pin.domain) == (record["parser"], "0", SHOP)
        (told,) = await bench.events("parser.pinned")
        assert told == {"parser": record["parser"], "version": "0"}
        bench.set("/kettle", product("21.00"))
        await bench.crawl()
        tally = await bench.extract()
        assert (tally.pages, tally.put_off) == (0, 1), "its pages wait for the pinned version"
        async with database.transaction() as connection:
            await pins.lift(connection, record["parser"], domain_id=domain.id, actor="reviewer")
            other = await make_domain(database, "other.test")
            await pins.pin(connection, record["parser"], "0", domain_id=other, actor="reviewer")
        bench.hours += 1
        assert (await bench.extract()).pages == 1, "another domain's version is not its own"


async def test_the_same_content_hashes_equally_whoever_brought_it(
    database: Database, tmp_path: Path
) -> None:
    words = "Rye, spelt and oats, baked in the morning. " * 90
    sound = (
        f"<html><head><title>Bread</title></head><body><h1>Bread</h1><p>{words}</p></body></html>"
    )
    whole: dict[str, Room] = {"/": SimResponse(200, (("Content-Type", HTML),), sound.encode())}
    houses = {"plain.test": whole, "shell.test": ROOMS}
    async with LittleWeb(tmp_path, houses) as web, Crawl4AIStandIn(render(whole)) as service:
        for name in houses:
            await admit(database, f"http://{name}/", delay=0.01)
        await crawl(web.settings(crawl4ai_url=service.base_url), database)
    rows = await database.fetch("SELECT provider, content_hash FROM messor.page_snapshots")
    assert {row["provider"] for row in rows} == {"http", "crawl4ai"}
    assert len({row["content_hash"] for row in rows}) == 1
