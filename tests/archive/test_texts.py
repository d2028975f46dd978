"""Texts in PostgreSQL or in the archive: whatever reads them says the same, and they move at any time."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import pytest
from warcio.archiveiterator import ArchiveIterator

from messor.archive import text_moves, texts
from messor.archive.compaction import compact
from messor.archive.erased_bytes import blank_waiting
from messor.archive.storage import Archive
from messor.archive.text_records import DamagedTextError, Text, packed, unpacked
from messor.errors import NotFoundError
from messor.exports import batches, requests
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.feed.chunk_feed import read_chunks
from messor.frontier import page_queries
from messor.governance import erasure
from messor.imports.import_run import import_pages
from messor.imports.sources import Source
from messor.insight import classes, search, search_index
from messor.insight.search_server.documents import documents_after
from messor.ops import archive_audit, page_story
from messor.settings import Settings
from messor.store.database import Database
from simweb import SimResponse
from tests.crawling import admit, crawl
from tests.little_web import LittleWeb, Room

PAGES = 8
HOST = "shop.test"
Where = Literal["database", "archive"]
COUNTS = """
SELECT (SELECT count(*) FROM messor.snapshot_texts WHERE markdown <> '') AS stored,
       (SELECT count(*) FROM messor.page_snapshots WHERE text_segment_id IS NOT NULL) AS archived
"""


def room(number: int, *links: str, words: str = "") -> SimResponse:
    data = {"@context": "https://schema.org", "@type": "Store", "name": f"Shop {number}"}
    anchors = "".join(f'<p><a href="{link}">page {link}</a></p>' for link in links)
    body = f"""<html lang="en"><head><title>Kettle {number}</title>
      <script type="application/ld+json">{json.dumps(data)}</script></head><body><main>
      <h1>Kettle {number}</h1><p>A copper kettle, the café's own, number {number}. {words}</p>
      <h2>Care</h2><p>With vinegar, said Jane Doe{number}.</p>{anchors}</main></body></html>"""
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return SimResponse(200, headers, body.encode())


def house() -> dict[str, Room]:
    links = [f"/{number}" for number in range(1, PAGES)]
    return {"/": room(0, *links), **{link: room(int(link[1:])) for link in links}}


def settings_of(web: LittleWeb, folder: Path, kind: str, where: Where) -> Settings:
    url = f"file://{folder / 'shared'}" if kind == "objects" else None
    return web.settings(archive_url=url, texts=where, flush_pages=3)


class Shop:
    """A crawled shop, with a database that knows its archive."""

    def __init__(self, web: LittleWeb, settings: Settings, database: Database) -> None:
        self.web, self.settings, self.database = web, settings, database

    @property
    def archive(self) -> Archive:
        return Archive.of(self.settings)

    async def counts(self) -> tuple[int, int]:
        row = await self.database.fetchrow(COUNTS)
        assert row is not None
        return row["stored"], row["archived"]

    async def move(self, where: Where) -> int:
        settings = self.settings.model_copy(update={"texts": where})
        steps = [done async for done in text_moves.move(settings, self.database)]
        assert not steps or steps[-1].elsewhere == []
        return steps[-1].moved if steps else 0


@pytest.fixture
async def shop(dsn: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Shop]:
    kind, where = request.param
    async with LittleWeb(tmp_path, {HOST: house()}) as web:
        settings = settings_of(web, tmp_path, kind, where)
        async with Database(dsn, settings=settings) as database:
            await admit(database, f"http://{HOST}/")
            await crawl(settings, database)
            yield Shop(web, settings, database)


async def extract(shop: Shop) -> None:
    readers = ReaderPool(1)
    try:
        await Extractor(shop.database, shop.archive, readers).run()
    finally:
        await readers.close()


async def index(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("DELETE FROM messor.search_documents")
        await search_index.catch_up(connection)
        while await search_index.index_waiting(connection):
            pass


async def exported(database: Database, folder: Path, name: str) -> bytes:
    target = folder / f"{uuid4()}.{name}"
    async with database.transaction() as connection:
        given = NewExport("pages", name, {}, target=target)
        begun = await requests.begin(connection, given, actor="test", may_audit=True)
    await run(database, Folders(folder, folder), begun.id)
    return target.read_bytes()


async def answers(shop: Shop, folder: Path) -> dict[str, Any]:
    """What every reader of texts says."""
    database = shop.database
    rows = await database.fetch(
        """SELECT t.page_id, t.snapshot_id, p.url FROM messor.crawl_tasks t
             JOIN messor.pages p ON p.id = t.page_id WHERE t.kind = 'page' ORDER BY p.url"""
    )
    await index(database)
    documents, _ = await documents_after(database, 0, 1000)
    found = await search.search(database, "vinegar copper")
    async with database.transaction() as connection:
        (classified,) = await classes.compute_classes(connection, [HOST])
    changed = await read_chunks(database)
    report = archive_audit.ArchiveReport()
    async for _ in archive_audit.walk(database, shop.archive, report):
        pass
    assert report.is_clean, report.message
    assert report.examined == PAGES
    stored = await texts.texts(database, [row["snapshot_id"] for row in rows])
    stories = [
        await page_story.text(database, row["page_id"], row["snapshot_id"], 40) for row in rows
    ]
    return {
        "markdown": {
            row["url"]: await texts.markdown(database, row["snapshot_id"]) for row in rows
        },
        "data": {one: json.loads(text.data or "") for one, text in stored.items()},
        "words": [(await page_queries.page(database, row[0])).word_count for row in rows],
        "stories": [(each.markdown, each.length) for each in stories],
        "chunks": sorted(chunk.text for item in changed.items for chunk in item.chunks),
        "documents": sorted(one.body["text"]["english"]["body"] for one in documents),
        "hits": sorted((hit.url, hit.fragments) for hit in found.hits if hit.kind == "page"),
        "class": classified,
        "csv": await exported(database, folder, "csv"),
        "jsonl": await exported(database, folder, "jsonl"),
        "mentions": await erasure.mentions(database, "jane doe3"),
        "content": sorted(
            row["word_count"] for row in await database.fetch("SELECT * FROM messor.page_content")
        ),
    }


# Texts as records


@pytest.mark.parametrize("data", [None, '{"a": "é"}'])
def test_a_text_is_a_record_that_tools_read(data: str | None) -> None:
    text = Text("# Füße\r\n\r\nzwei\u00a0Wörter", data)
    records = packed("http://one.test/ü", text)
    assert unpacked(records) == text
    assert text.word_count == 3
    found = [
        (each.rec_type, each.rec_headers["Content-Type"], each.content_stream().read())
        for each in ArchiveIterator(BytesIO(records))
    ]
    expected = [("conversion", "text/markdown; charset=utf-8", text.markdown.encode())]
    if data is not None:
        expected.append(("metadata", "application/json", data.encode()))
    assert found == expected


@pytest.mark.parametrize(
    "wrong",
    [b"", b"?" * 50, packed("http://a.test/", Text("abc"))[:-3], gzip.compress(b"no head")],
    ids=["empty", "noise", "cut", "no-head"],  # the bytes differ between processes
)
def test_a_damaged_text_says_so(wrong: bytes) -> None:
    with pytest.raises(DamagedTextError):
        unpacked(wrong)


# Everything that reads them


@pytest.mark.parametrize(
    "shop", [("files", "database"), ("objects", "archive")], indirect=True, ids=["files", "objects"]
)
async def test_every_reader_says_the_same_either_way(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_moves, "AT_ONCE", 3)
    monkeypatch.setattr(batches, "TEXT_WINDOW", 3)
    await extract(shop)
    first: Where = shop.settings.texts
    other: Where = "archive" if first == "database" else "database"
    full, none = (PAGES, 0), (0, PAGES)
    assert await shop.counts() == (full if first == "database" else none)
    before = await answers(shop, tmp_path)
    assert len(before["mentions"]) == 1
    assert len(before["hits"]) == PAGES
    assert all("vinegar" in text for text in before["markdown"].values())
    assert await shop.move(other) == PAGES
    assert await shop.counts() == (full if other == "database" else none)
    assert await answers(shop, tmp_path) == before
    if shop.archive.store is not None:
        await compact(shop.archive, shop.database, 10**9, wait_seconds=0)
    assert await shop.move(first) == PAGES
    assert await shop.move(first) == 0
    assert await answers(shop, tmp_path) == before


@pytest.mark.parametrize("shop", [("objects", "archive")], indirect=True)
async def test_content_that_returns_is_archived_once(shop: Shop) -> None:
    """A, B, A: two snapshots, two texts, no record without a use."""
    first = shop.web.houses[HOST].rooms["/3"]
    for made in (room(3, words="Changed."), first):
        shop.web.houses[HOST].rooms["/3"] = made
        await shop.database.fetch(
            "UPDATE messor.crawl_tasks SET due_at = messor.clock() WHERE kind = 'page'"
        )
        await shop.database.fetch(
            "UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock()"
        )
        await crawl(shop.settings, shop.database)
    assert await shop.counts() == (0, PAGES + 1)
    spare = await shop.database.fetch("SELECT * FROM messor.spare_records")
    assert len(spare) <= 1  # bytes of the page as it was, not its text


@pytest.mark.parametrize(
    "shop", [("files", "archive"), ("objects", "archive")], indirect=True, ids=["files", "objects"]
)
async def test_an_erased_page_takes_its_text_along(shop: Shop) -> None:
    database = shop.database
    row = await database.fetchrow(
        """SELECT g.name, s.text_offset, s.text_length FROM messor.page_snapshots s
             JOIN messor.pages p ON p.id = s.page_id JOIN messor.segments g ON g.id = s.text_segment_id
            WHERE p.url LIKE '%/3'"""
    )
    assert row is not None
    async with database.transaction() as connection:
        await erasure.erase_url(connection, f"http://{HOST}/3", actor="ann", reason="asked")
    await database.fetch("UPDATE messor.worker_leases SET ended_at = messor.clock()")
    assert await blank_waiting(shop.archive, database) >= 2
    name = await database.fetchval(
        "SELECT name FROM messor.segments WHERE id IN (SELECT segment_id FROM messor.blanks) LIMIT 1"
    )
    with pytest.raises(DamagedTextError):
        texts.load(shop.archive, name, row["text_offset"], row["text_length"])
    report = archive_audit.ArchiveReport()
    async for _ in archive_audit.walk(database, shop.archive, report):
        pass
    assert (report.examined, report.is_clean) == (PAGES - 1, True)


@pytest.mark.parametrize("shop", [("objects", "archive")], indirect=True)
async def test_a_missing_or_wrong_text_is_found(shop: Shop) -> None:
    database = shop.database
    await database.fetch(
        """UPDATE messor.page_snapshots s SET text_offset = o.text_offset, text_length = o.text_length,
                  text_segment_id = o.text_segment_id
             FROM messor.page_snapshots o WHERE o.id = s.id + 1 AND s.id = 1"""
    )
    await database.fetch("UPDATE messor.page_snapshots SET text_length = 40 WHERE id = 4")
    await database.fetch("UPDATE messor.page_snapshots SET text_segment_id = NULL WHERE id = 6")
    report = archive_audit.ArchiveReport()
    async for _ in archive_audit.walk(database, shop.archive, report):
        pass
    assert sorted(each.snapshot_id for each in report.findings) == [1, 4, 6]
    assert {each.flaw for each in report.findings} == {"text"}
    with pytest.raises(NotFoundError, match="has no text"):
        await texts.markdown(database, 6)


@pytest.mark.parametrize("shop", [("objects", "database")], indirect=True)
async def test_texts_move_while_pages_are_crawled_and_erased(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways, stopped in the middle and begun again."""
    monkeypatch.setattr(text_moves, "AT_ONCE", 2)
    database, rooms = shop.database, shop.web.houses[HOST].rooms
    more = [f"/more/{number}" for number in range(20)]
    rooms |= {path: room(100 + number) for number, path in enumerate(more)}
    rooms["/"] = room(0, *more)
    await database.fetch(
        "UPDATE messor.crawl_tasks SET due_at = messor.clock() WHERE kind = 'page'"
    )
    await database.fetch(
        "UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock()"
    )
    crawling = asyncio.create_task(
        crawl(shop.settings.model_copy(update={"texts": "archive"}), database)
    )
    settings = shop.settings.model_copy(update={"texts": "archive"})
    async for done in text_moves.move(settings, database):
        if done.moved >= 4:
            break  # somebody stopped it
    async with database.transaction() as connection:
        await erasure.erase_url(connection, f"http://{HOST}/3", actor="ann", reason="asked")
    await shop.move("archive")
    await crawling
    await shop.move("archive")
    stored, archived = await shop.counts()
    pages = await database.fetchval("SELECT count(DISTINCT page_id) FROM messor.page_snapshots")
    assert (stored, pages) == (0, PAGES + len(more) - 1)
    assert archived == await database.fetchval("SELECT count(*) FROM messor.page_snapshots")
    await shop.move("database")
    assert await shop.counts() == (archived, 0)
    rows = await database.fetch(
        """SELECT s.id FROM messor.snapshot_texts x JOIN messor.page_snapshots s ON s.id = x.snapshot_id
            WHERE sha256(convert_to(x.markdown, 'UTF8')) = s.content_hash"""
    )
    assert len(rows) == archived
    # What stayed in the segments is known, so that it goes when its page is forgotten.
    spare = await database.fetchval("SELECT count(*) FROM messor.spare_records")
    assert spare >= archived


@pytest.mark.parametrize("shop", [("objects", "archive")], indirect=True)
async def test_imported_pages_are_archived_likewise(shop: Shop, tmp_path: Path) -> None:
    path = tmp_path / "saved.html"
    body = "<html><body><main><h1>Saved</h1><p>A page that was saved.</p></main></body></html>"
    path.write_text(body)
    source = Source(path, f"http://{HOST}/saved")
    report = await import_pages(shop.database, shop.settings, [source], actor="ann")
    assert report.counts["ok"] == 1
    assert await shop.counts() == (0, PAGES + 1)
    found = await archive_audit.audit_sample(shop.database, shop.archive, 100)
    assert (found.examined, found.is_clean) == (PAGES + 1, True)
