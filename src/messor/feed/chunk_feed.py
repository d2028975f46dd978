"""The chunk feed: pages cut into chunks as they change, with the chunks that are gone.

It follows the change feed of pages and has its positions. A page that is gone, or was erased, says
so: every chunk of it is to be deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from messor.content.chunks import Chunk, chunks_of
from messor.feed.queries import Change, ChangeFilter, read_feed
from messor.store.listing import Source

MAX_PAGES = 200  # per response
PAGES = "page"
TEXTS = """
SELECT snapshot_id, markdown FROM messor.snapshot_texts WHERE snapshot_id = ANY ($1::bigint[])
"""


@dataclass(frozen=True, slots=True)
class PageChunks:
    """A page's chunks after a change."""

    id: str  # of the change
    page_id: int
    url: str | None
    domain: str | None
    language: str | None
    is_gone: bool  # delete every chunk of the page
    chunks: list[Chunk]
    removed: list[str]  # ids of chunks that the page had before and has no more
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class ChunkPage:
    """A batch of the chunk feed; `cursor` continues after it."""

    items: list[PageChunks]
    next: str | None
    cursor: str | None


async def read_chunks(
    source: Source, *, domain: str | None = None, cursor: str | None = None, limit: int = MAX_PAGES
) -> ChunkPage:
    """The next pages in commit order."""
    wanted = ChangeFilter(kinds=PAGES, domain=domain)
    page = await read_feed(source, wanted, cursor=cursor, limit=limit)
    texts = await _texts(source, page.items)
    return ChunkPage([_chunks(one, texts) for one in page.items], page.next, page.cursor)


async def _texts(source: Source, changes: Sequence[Change]) -> dict[int, str]:
    ids = {
        said["snapshot_id"]
        for one in changes
        for said in (one.before, one.after)
        if said is not None
    }
    return {row[0]: row[1] for row in await source.fetch(TEXTS, sorted(ids))}


def _chunks(change: Change, texts: dict[int, str]) -> PageChunks:
    assert change.page_id is not None
    after = change.after or {}
    text = texts.get(after.get("snapshot_id", 0), "")
    found = chunks_of(change.page_id, text)
    before = texts.get((change.before or {}).get("snapshot_id", 0), "")
    kept = {one.id for one in found}
    return PageChunks(
        id=change.id,
        page_id=change.page_id,
        url=change.url,
        domain=change.domain,
        language=after.get("language"),
        is_gone=not after,
        chunks=found,
        removed=[one.id for one in chunks_of(change.page_id, before) if one.id not in kept],
        seen_at=change.seen_at,
    )
