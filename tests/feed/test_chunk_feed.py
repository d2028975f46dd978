"""A copy of all chunks kept by the feed equals what the pages say now, deletions included."""

from __future__ import annotations

from messor.content.chunks import chunks_of
from messor.feed.chunk_feed import read_chunks
from messor.governance import erasure
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import admit

FIRST = "# Kettles\n\nAll of copper.\n\n## Care\n\nWith vinegar."
SECOND = "# Kettles\n\nAll of steel."


async def follow(database: Database, kept: dict[str, str], cursor: str | None) -> str | None:
    while True:
        page = await read_chunks(database, cursor=cursor, limit=1)
        for one in page.items:
            if one.is_gone:
                for key in [k for k in kept if k.startswith(f"chunk:{one.page_id}-")]:
                    del kept[key]
            for key in one.removed:
                kept.pop(key, None)
            kept.update({chunk.id: chunk.text for chunk in one.chunks})
        cursor = page.cursor
        if page.next is None:
            return cursor


async def test_a_copy_follows_changes_and_erasures(database: Database) -> None:
    domain = await admit(database, "shop.example")
    pages = [
        await seeding.add_page(database, domain, f"https://shop.example/{name}") for name in "ab"
    ]
    kept: dict[str, str] = {}
    for page_id in pages:
        await seeding.add_snapshot(database, page_id, "Kettles", FIRST)
    cursor = await follow(database, kept, None)
    assert len(kept) == 4
    await seeding.add_snapshot(database, pages[0], "Kettles", SECOND)
    cursor = await follow(database, kept, cursor)
    expected = [*chunks_of(pages[0], SECOND), *chunks_of(pages[1], FIRST)]
    assert kept == {one.id: one.text for one in expected}
    async with database.transaction() as connection:
        await erasure.erase_url(connection, "https://shop.example/b", actor="ann", reason="asked")
    await follow(database, kept, cursor)
    assert kept == {one.id: one.text for one in chunks_of(pages[0], SECOND)}
