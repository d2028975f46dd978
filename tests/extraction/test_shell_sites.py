"""Sites whose addresses all serve one shell: what was rendered is what is archived, and replays."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.archive.hashes import raw_hash
from messor.archive.snapshot_content import read_body
from messor.extraction import queue
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.fetch.browser import BrowserLimits, why_unavailable
from messor.imports.import_run import import_pages
from messor.imports.sources import Source
from messor.ops import archive_audit
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import SimResponse, plain
from simweb.documents import HTML
from simweb.services import Crawl4AIStandIn, FirecrawlStandIn, WorldBrowser
from tests import replaying
from tests.crawling import TESTER, admit, crawl, later, outcomes
from tests.little_web import LittleWeb, Room

NO_BROWSER = why_unavailable(BrowserLimits())
HOSTS = ("one.test", "two.test")
ITEMS = 4
PATHS = ("/", *(f"/item/{number}" for number in range(1, ITEMS + 1)), "/imprint")

SHELL = (
    '<!doctype html><html lang="en"><head><title>Shop</title></head><body><div id="root"></div>'
    '<script src="/app.js"></script></body></html>'
)
# What a single-page application does: the address says what is shown. The imprint is the same
# everywhere, byte for byte.
APP = """
const words = "Rye, spelt and oats, ground by hand. ".repeat(120);
const root = document.getElementById("root"), path = location.pathname;
const links = [1, 2, 3, 4].map(n => `<a href="/item/${n}">Item ${n}</a>`).join(" ");
const item = path.match(/^\\/item\\/(\\d+)$/);
if (item) {
  const name = `Kettle ${item[1]} of ${location.hostname}`;
  document.title = name;
  const data = {"@context": "https://schema.org", "@type": "Product", name, sku: `K-${item[1]}`,
    offers: {"@type": "Offer", price: `1${item[1]}.90`, priceCurrency: "EUR"}};
  root.innerHTML = `<h1>${name}</h1><p>${words}</p>`
    + `<script type="application/ld+json">${JSON.stringify(data)}<` + `/script>`;
} else if (path === "/imprint") {
  root.innerHTML = `<h1>Imprint</h1><p>${words}</p>`;
} else {
  root.innerHTML = `<h1>Home of ${location.hostname}</h1><p>${words}</p>${links}`
    + ` <a href="/imprint">Imprint</a>`;
}
"""
SNAPSHOTS = """
SELECT p.url, s.raw_hash, s.provider, x.markdown, g.name, s.segment_offset, s.segment_length,
       s.revisit_segment_id IS NOT NULL AS revisits
  FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
  JOIN messor.segments g ON g.id = s.segment_id JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
 ORDER BY p.url
"""


def shell_site() -> dict[str, Room]:
    shell = SimResponse(200, (("Content-Type", HTML),), SHELL.encode())
    script = SimResponse(200, (("Content-Type", "text/javascript"),), APP.encode())
    return {**dict.fromkeys(PATHS, shell), "/app.js": script}


def addresses() -> list[str]:
    return sorted(f"http://{host}{path}" for host in HOSTS for path in PATHS)


async def snapshots(database: Database, settings: Settings) -> dict[str, dict[str, Any]]:
    """What is kept, by address, with the bytes that are read for it."""
    found = {}
    for row in await database.fetch(SNAPSHOTS):
        place = row["name"], row["segment_offset"], row["segment_length"]
        body = read_body(settings.data_dir / "archive", *place)
        found[row["url"]] = {**dict(row), "body": body}
    return found


async def products(database: Database, settings: Settings) -> list[str]:
    readers = ReaderPool(1)
    try:
        await queue.catch_up(database)
        await Extractor(database, settings.data_dir / "archive", readers).run()
    finally:
        await readers.close()
    rows = await database.fetch("SELECT product_name FROM messor.products WHERE state = 'current'")
    return sorted(row["product_name"] for row in rows)


def all_products() -> list[str]:
    return sorted(f"Kettle {n} of {host}" for host in HOSTS for n in range(1, ITEMS + 1))


@pytest.mark.wide
@pytest.mark.skipif(NO_BROWSER is not None, reason=str(NO_BROWSER))
@pytest.mark.skipif(replaying.WHY_NOT is not None, reason=str(replaying.WHY_NOT))
async def test_every_rendered_page_is_archived_as_itself_and_replays(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, dict.fromkeys(HOSTS, shell_site())) as web:
        settings = web.settings(browser="auto")
        for host in HOSTS:
            await admit(database, f"http://{host}/", delay=0.01)
        await crawl(settings, database, patience=240)
    kept = await snapshots(database, settings)
    assert sorted(kept) == addresses()
    assert {each["provider"] for each in kept.values()} == {"browser"}
    for url, each in kept.items():
        assert raw_hash(each["body"]) == each["raw_hash"], url
        assert each["markdown"].splitlines()[0].lstrip("# ") in each["body"].decode(), url
    # One record for every page; of the two that are the same, the later one refers to the other.
    records = replaying.targets(settings.data_dir)
    assert sorted(url for _, url in records) == addresses()
    assert [kind for kind, _ in records].count("revisit") == 1
    replaying.check(settings.data_dir)
    async with replaying.replay(tmp_path / "pywb", settings.data_dir) as pywb:
        for url, each in kept.items():
            status, body = await pywb.get(url)
            assert (status, raw_hash(body)) == (200, each["raw_hash"]), url
    assert await products(database, settings) == all_products()
    report = await archive_audit.audit_sample(database, settings.data_dir / "archive", 100)
    assert (report.examined, report.as_dict()["found"]) == (len(addresses()), {})


def rendered(host: str, path: str) -> SimResponse:
    """What a service's browser makes of an address."""
    name = f"Kettle {path[-1]} of {host}" if path.startswith("/item/") else f"{path} of {host}"
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": name,
        "offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR"},
    }
    links = "".join(f'<a href="/item/{n}">{n}</a>' for n in range(1, ITEMS + 1))
    proof = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    body = (
        f"<!doctype html><html lang=en><title>{name}</title><h1>{name}</h1>"
        f"<p>{'Rye, spelt and oats. ' * 200}</p>"
        + (proof if path.startswith("/item/") else f'{links}<a href="/imprint">Imprint</a>')
    )
    return SimResponse(200, (("Content-Type", HTML),), body.encode())


@pytest.mark.parametrize("service", ["crawl4ai", "firecrawl"])
async def test_what_a_service_brings_is_archived_as_itself(
    dsn: str, database: Database, tmp_path: Path, service: str
) -> None:
    def respond(host: str, path: str, secure: bool) -> SimResponse:
        del secure
        return rendered(host.partition(":")[0], path) if path in PATHS else plain(404, "no")

    stand_in = {"crawl4ai": Crawl4AIStandIn, "firecrawl": FirecrawlStandIn}[service]
    async with (
        LittleWeb(tmp_path, dict.fromkeys(HOSTS, shell_site())) as web,
        stand_in(WorldBrowser(respond)) as served,
    ):
        key = {"firecrawl_key": "k"} if service == "firecrawl" else {}
        settings = web.settings(**{f"{service}_url": served.base_url}, **key)
        for host in HOSTS:
            await admit(database, f"http://{host}/", delay=0.01)
        await crawl(settings, database)
        kept = await snapshots(database, settings)
        # The same shells again: nothing that was kept is called something else.
        async with Database(later(dsn, timedelta(days=2))) as tomorrow:
            await crawl(settings, tomorrow)
            assert set((await outcomes(tomorrow)).values()) <= {"ok", "unchanged"}
    assert sorted(kept) == addresses()
    for url, each in kept.items():
        assert raw_hash(each["body"]) == each["raw_hash"], url
        assert each["markdown"].splitlines()[0].lstrip("# ") in each["body"].decode(), url
    assert {url for _, url in replaying.targets(settings.data_dir)} == set(addresses())
    spare = await database.fetchval("SELECT count(*) FROM messor.spare_records")
    assert len(replaying.targets(settings.data_dir)) == len(addresses()) + spare
    assert await products(database, settings) == all_products()
    assert await snapshots(database, settings) == kept


async def test_what_came_past_a_refusal_is_not_compared_with_what_was_there_before(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    """The site answers, refuses, and answers as at first: that is news, not what a service brought."""
    home = "http://one.test/"
    first = rendered("one.test", "/")
    rooms: dict[str, Room] = {"/": first}

    def respond(host: str, path: str, secure: bool) -> SimResponse:
        del secure
        return rendered(f"another {host}", path) if path == "/" else plain(404, "no")

    async with (
        LittleWeb(tmp_path, {"one.test": rooms}) as web,
        FirecrawlStandIn(WorldBrowser(respond)) as served,
    ):
        settings = web.settings(firecrawl_url=served.base_url, firecrawl_key="k")
        domain = await admit(database, home, delay=0.01)
        await database.fetch(
            "UPDATE messor.domains SET on_block = 'failover' WHERE id = $1", domain.id
        )
        stood = []
        for day, answer in enumerate((first, plain(403, "No entry"), first)):
            web.houses["one.test"].rooms["/"] = answer
            async with Database(later(dsn, timedelta(days=20 * day))) as then:
                await crawl(settings, then)
                stood.append(
                    await then.fetchval(
                        "SELECT s.provider || ' ' || s.title FROM messor.crawl_tasks t"
                        " JOIN messor.page_snapshots s ON s.id = t.snapshot_id"
                        " JOIN messor.pages p ON p.id = t.page_id WHERE p.url = $1",
                        home,
                    )
                )
    assert stood == ["http / of one.test", "firecrawl / of another one.test", "http / of one.test"]


async def test_a_saved_shell_is_not_the_page_that_was_rendered_from_it(
    database: Database, tmp_path: Path
) -> None:
    def respond(host: str, path: str, secure: bool) -> SimResponse:
        del secure
        return rendered(host.partition(":")[0], path) if path == "/" else plain(404, "no")

    async with (
        LittleWeb(tmp_path, {"one.test": shell_site()}) as web,
        Crawl4AIStandIn(WorldBrowser(respond)) as served,
    ):
        settings = web.settings(crawl4ai_url=served.base_url)
        await admit(database, "http://one.test/", delay=0.01, max_pages=1)
        await crawl(settings, database)
    shell = tmp_path / "shell.html"
    shell.write_bytes(SHELL.encode())
    source = Source(shell, url="http://one.test/")
    report = await import_pages(database, settings, [source], actor=TESTER)
    assert [result.outcome for result in report.results] == ["ok"]
    kept = await database.fetch(
        "SELECT raw_hash FROM messor.page_snapshots WHERE provider = 'import'"
    )
    assert [row["raw_hash"] for row in kept] == [raw_hash(SHELL.encode())]
