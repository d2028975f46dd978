"""Tiles: what an orbit shows of each page, quoted from its snapshot and never invented.

A tile's items are the records of its page (contacts, hours, prices, questions), then headings and
list items that no record covers. Each has its quote, source, snapshot and confidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from messor.core.ids import new_id
from messor.frontier.categories import categorise
from messor.ingest.blocks import TextBlock, blocks_of
from messor.ingest.statements import Item, statements_of
from messor.records.queries import PageRecord
from messor.web.urls import parse

MAX_ITEMS = 12  # headings and list items, as far as records leave room
MAX_STATEMENTS = 50  # records
QUOTED = 0.5  # confidence of a heading or list item: its text is certain, its meaning is not
MAX_TEXT = 300
MAX_SUMMARY = 500
OTHER = "other"
_FRAME_PAGES = 3  # minimum pages from which on text repeated on most of them is the site's frame
_TELLING = 40  # minimum characters of a meaningful paragraph


@dataclass(frozen=True, slots=True)
class UsedPage:
    """A used page: its snapshot as archived."""

    page_id: int
    url: str
    category: str | None
    snapshot_id: int
    content_hash: bytes
    title: str | None
    description: str | None
    markdown: str


@dataclass(frozen=True, slots=True)
class Tile:
    category: str
    title: str
    summary: str
    items: list[dict[str, Any]]
    source_url: str
    snapshot_id: int
    confidence: float
    id: UUID = field(default_factory=new_id)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "category": self.category,
            "title": self.title,
            "summary": self.summary,
            "items": self.items,
            "sourceUrl": self.source_url,
            "snapshotId": self.snapshot_id,
            "confidence": self.confidence,
        }


def tiles_of(contents: Iterable[UsedPage], records: Sequence[PageRecord] = ()) -> list[Tile]:
    """One tile per page in page order; pages with the same content share the first one's."""
    distinct: dict[bytes, UsedPage] = {}
    for content in contents:
        distinct.setdefault(content.content_hash, content)
    read = [(content, list(blocks_of(content.markdown))) for content in distinct.values()]
    frame = _frame([blocks for _, blocks in read])
    pages = [(content.page_id, content.url, _category(content)[0]) for content, _ in read]
    stated = statements_of(records, pages)
    return [
        _tile(content, blocks, frame, stated.get(content.page_id, [])[:MAX_STATEMENTS])
        for content, blocks in read
    ]


def _frame(pages: Sequence[Sequence[TextBlock]]) -> set[str]:
    """Texts of headings and lists that most pages repeat: navigation, footers."""
    if len(pages) < _FRAME_PAGES:
        return set()
    counts: Counter[str] = Counter()
    for blocks in pages:
        counts.update({block.text for block in blocks if block.kind != "paragraph"})
    return {text for text, count in counts.items() if count * 2 > len(pages)}


def _tile(
    content: UsedPage, blocks: Sequence[TextBlock], frame: set[str], stated: list[Item]
) -> Tile:
    headings = [block for block in blocks if block.kind == "heading"]
    title = content.title or next((block.text for block in headings), "")
    paragraphs = [block.text for block in blocks if block.kind == "paragraph"]
    summary = content.description or _first_telling(paragraphs)
    category, certainty = _category(content)
    return Tile(
        category,
        cut(title or content.url, MAX_TEXT),
        cut(summary, MAX_SUMMARY),
        [*stated, *_items(content, blocks, frame | {title}, stated)],
        content.url,
        content.snapshot_id,
        _confidence(content, title, summary, certainty),
    )


def _first_telling(paragraphs: Sequence[str]) -> str:
    return next((text for text in paragraphs if len(text) >= _TELLING), (*paragraphs, "")[0])


def _category(content: UsedPage) -> tuple[str, float]:
    """The page's category and confidence."""
    url = parse(content.url)
    assert url is not None, "pages hold web addresses"
    found = categorise(url.target, title=content.title or "")
    if found is not None:
        return found.name, found.score
    return (content.category, 0.5) if content.category else (OTHER, 0.0)


def _items(
    content: UsedPage, blocks: Sequence[TextBlock], frame: set[str], stated: Sequence[Item]
) -> list[Item]:
    """Headings below the first and list items, deduplicated, without the site's frame.

    What a record quotes is not repeated.
    """
    quotes = " ".join(proof["quote"] for item in stated for proof in item["evidence"])
    room = MAX_ITEMS - len(stated)
    items: dict[str, Item] = {}
    for block in blocks:
        if len(items) >= room:
            break
        if block.kind == "paragraph" or block.level == 1 or block.text in frame:
            continue
        if block.text not in quotes:
            text = cut(block.text, MAX_TEXT)
            items.setdefault(text, _quoted(content, block, text))
    return list(items.values())


def _quoted(content: UsedPage, block: TextBlock, text: str) -> Item:
    item: Item = {
        "kind": block.kind,
        "text": text,
        "evidence": [{"field": "text", "method": "text", "quote": text, "path": ""}],
        "sourceUrl": content.url,
        "snapshotId": content.snapshot_id,
        "confidence": QUOTED,
    }
    target = parse(block.href, content.url) if block.href else None
    if target is not None:
        item["url"] = target.href
    return item


def _confidence(content: UsedPage, title: str, summary: str, certainty: float) -> float:
    """Confidence by source: what the page declares counts more than what was picked from it."""
    score = 0.3 if content.title else 0.15 if title else 0.0
    score += 0.3 if content.description else 0.15 if summary else 0.0
    return round(min(0.2 + score + 0.2 * certainty, 1.0), 2)


def cut(text: str, limit: int) -> str:
    """The beginning of a text, at most `limit` characters, at a word boundary if possible."""
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition(" ")[0]
    return kept if len(kept) > limit // 2 else text[:limit]
