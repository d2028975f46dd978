"""The demo world's well-behaved sites, crawled whole in two epochs and judged by its log."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from messor.archive.hashes import raw_hash
from messor.store.database import Database
from messor.web.urls import url_hash
from simweb import World, WorldProcess
from tests.conftest import settings_for
from tests.crawling import admit, crawl, later

# All but those that ask for seconds between requests.
HOSTS = (
    "www.kettle-and-lamp.test",
    "shop.kettle-and-lamp.test",
    "boutique-lavande.test",
    "larkfield-bikes.test",
    "casa-azul.test",
    "fennimore-joinery.test",
)
MISSING_PAGES = """
SELECT p.url FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id
 WHERE t.kind = 'page' AND t.outcome = 'ok' AND t.snapshot_id IS NULL
"""
SNAPSHOTS = """
SELECT s.raw_hash, s.segment_offset, s.segment_length, g.name, p.url
  FROM messor.page_snapshots s JOIN messor.segments g ON g.id = s.segment_id
  JOIN messor.pages p ON p.id = s.page_id
"""


def present(epoch: int) -> set[str]:
    """The pages these hosts have in an epoch, as their servers would answer, and their price lists."""
    world = World("demo")
    return {f"http://{host}/files/price-list.pdf" for host in HOSTS} | {
        f"http://{host}{path}"
        for host in HOSTS
        for path in world.site(host).responder.pages  # type: ignore[attr-defined]
        if world.respond(host, path, epoch=epoch).status == 200
        and path != "/privacy"  # it asks not to be indexed
    }


@pytest.fixture
def own_world() -> WorldProcess:
    """A world of this test's own: it changes the epoch."""
    return WorldProcess("demo")


async def test_two_epochs(dsn: str, tmp_path: Path, own_world: WorldProcess) -> None:
    with own_world as world:
        settings = settings_for(world, tmp_path, flush_seconds=0.05)
        async with Database(dsn) as database:
            for host in HOSTS:
                if host != "shop.kettle-and-lamp.test":  # found by its sibling's links
                    await admit(database, f"http://{host}/", max_concurrent_requests=4)
            await crawl(settings, database, patience=240)
            first = await check_first_epoch(database, world)
            await check_archive(database, settings.data_dir / "archive")
        await crawl_again(later(dsn, timedelta(days=2)), world, tmp_path)
        async with Database(dsn) as database:
            assert await changes(database) == Counter(new=first)
        world.set_epoch(1)
        await crawl_again(later(dsn, timedelta(days=4)), world, tmp_path)
        async with Database(dsn) as database:
            await check_second_epoch(database, first)
            await check_archive(database, settings.data_dir / "archive")


async def crawl_again(dsn: str, world: WorldProcess, folder: Path) -> None:
    async with Database(dsn) as database:
        await crawl(settings_for(world, folder, flush_seconds=0.05), database, patience=240)


async def changes(database: Database) -> Counter[str]:
    rows = await database.fetch(
        "SELECT state, count(*)::int AS n FROM messor.page_changes GROUP BY 1"
    )
    return Counter({row["state"]: row["n"] for row in rows})


async def check_first_epoch(database: Database, world: WorldProcess) -> int:
    """Every page that may be read has a snapshot; nothing was asked that may not be."""
    rows = await database.fetch(
        "SELECT p.url FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id"
    )
    kept = {row["url"] for row in rows}
    reachable = {url for url in present(0) if "/private/" not in url}
    assert kept == reachable
    assert await database.fetch(MISSING_PAGES) == []
    asked = world.requests()
    assert {request.host for request in asked} == set(HOSTS)
    assert not [request.url for request in asked if request.path.startswith("/private/")]
    assert max(Counter(request.url for request in asked).values()) == 1
    assert not [request.url for request in asked if "?print=" in request.path]
    denied = await database.fetch(
        """SELECT DISTINCT h.host FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
            WHERE t.outcome = 'robots'"""
    )
    assert {row["host"] for row in denied} == set(HOSTS)
    scope = "SELECT sum(links) FROM messor.refused_links WHERE rule = 'scope'"
    assert await database.fetchval(scope) > 0
    return len(kept)


async def check_second_epoch(database: Database, first: int) -> None:
    told = await changes(database)
    appeared = {url for url in present(1) - present(0) if "/private/" not in url}
    vanished = present(0) - present(1)
    assert told["removed"] == len(vanished) > 0
    assert told["new"] == first + len(appeared)
    assert told["changed"] > 0
    for url in appeared:
        assert await database.fetchval(
            """SELECT c.state FROM messor.page_changes c JOIN messor.pages p ON p.id = c.page_id
                WHERE p.url_hash = $1""",
            url_hash(url),
        )


def segments(folder: Path) -> list[Path]:
    return list(folder.rglob("*.warc.gz"))


async def check_archive(database: Database, folder: Path) -> None:
    """Another program reads every segment whole, and finds what the rows say."""
    content: dict[tuple[str, int], bytes] = {}
    for path in segments(folder):
        with path.open("rb") as file:
            records = ArchiveIterator(file, check_digests="raise")
            for record in records:
                body = record.content_stream().read()
                offset = records.get_record_offset()
                content[str(path.relative_to(folder)), offset] = body
    for row in await database.fetch(SNAPSHOTS):
        assert raw_hash(content[row["name"], row["segment_offset"]]) == row["raw_hash"], row["url"]
