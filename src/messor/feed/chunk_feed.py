"""The chunk feed: pages cut into chunks as they change, with the chunks that are gone.

It follows the change feed of pages and has its positions. A page that is gone, or was erased, says
so: every chunk of it is to be deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from messor.archive.text_records import Text
from messor.archive.texts import texts
from messor.content.chunks import Chunk, chunks_of
from messor.feed.queries import Change, ChangeFilter, read_feed
from messor.store.listing import Source

MAX_PAGES = 200  # per response
NO_TEXT = Text("")
PAGES = "page"


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
    stored = await texts(source, _snapshots(page.items))
    return ChunkPage([_chunks(one, stored) for one in page.items], page.next, page.cursor)


def _snapshots(changes: Sequence[Change]) -> set[int]:
    return {
        said["snapshot_id"]
        for one in changes
        for said in (one.before, one.after)
        if said is not None
    }


def _chunks(change: Change, stored: Mapping[int, Text]) -> PageChunks:
    assert change.page_id is not None
    after = change.after or {}
    text = stored.get(after.get("snapshot_id", 0), NO_TEXT).markdown
    found = chunks_of(change.page_id, text)
    before = stored.get((change.before or {}).get("snapshot_id", 0), NO_TEXT).markdown
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
