"""A page as a program wants it: markdown, HTML, links, images, attributes, what changed, records.

What needs the HTML reads the archived bytes; what was made of a snapshot once is kept in memory,
for a snapshot never changes. Nothing is fetched.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from turbohtml import Document, Element

from messor.archive import texts
from messor.archive.snapshot_content import compare, read_body
from messor.archive.storage import Archive
from messor.content.main import read_main
from messor.errors import NotFoundError, UnavailableError, UsageError
from messor.extraction.extract_now import extract_now
from messor.fetch.outcome import Outcome
from messor.records import queries as records
from messor.scrape.archived import HISTORY, SnapshotPage
from messor.scrape.refusals import FormatUnavailableError
from messor.scrape.stated import PAGE, fitted, menu_of, product_of
from messor.scrape.summaries import EXTRACTIVE, extractive
from messor.settings import Settings
from messor.store.database import Database
from messor.web.document_formats import format_of
from messor.web.encodings import decode
from messor.web.html import TooComplexError, parse_document
from messor.web.urls import parse

FORMATS = frozenset(
    ("markdown", "html", "rawHtml", "links", "images", "json", "changeTracking", "attributes",
     "product", "menu", "summary")
)  # fmt: skip
_FROM_HTML = frozenset(("html", "rawHtml", "links", "images", "attributes"))
MAX_LINKS = 5_000
MAX_SELECTORS = 50
MAX_SELECTOR = 300
MAX_VALUES = 1_000
CACHED_CHARS = 64_000_000  # of main content in memory
RECORDS = 200  # of a page
_NOISE = "script, style, noscript, template, iframe, svg"
_DATA_IMAGE = re.compile(r"!\[([^\]\n]{0,500})\]\(data:[^)]{0,2000000}\)")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a program wants pages."""

    formats: tuple[str, ...] = ("markdown",)
    only_main: bool = True
    include_tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    removes_data_images: bool = True
    attributes: tuple[tuple[str, str], ...] = ()  # selector and attribute
    schema: Mapping[str, Any] | None = None  # of `json`
    compares: bool = False  # `changeTracking` with a difference of texts

    @property
    def needs_html(self) -> bool:
        if any(name in _FROM_HTML for name in self.formats):
            return True
        return "markdown" in self.formats and (self.only_main or self.selects)

    @property
    def selects(self) -> bool:
        return bool(self.include_tags or self.exclude_tags)


@dataclass(slots=True)
class ScrapedDocument:
    """A page in the forms that were asked for."""

    page: SnapshotPage
    parts: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class DocumentMaker:
    """Makes documents of snapshots."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self.archive = Archive.of(settings)
        self._main: OrderedDict[int, str] = OrderedDict()
        self._held = 0

    async def make(
        self, page: SnapshotPage, shape: Shape, *, is_one_of_many: bool = False
    ) -> ScrapedDocument:
        """A snapshot in the forms that were asked for.

        One of many comes without what the page does not state, and with a warning; a single one is
        refused.
        """
        made = ScrapedDocument(page)
        known = self._main.get(page.snapshot_id)
        only_markdown = set(shape.formats) <= {"markdown"} and not shape.selects
        if known is not None and only_markdown and shape.only_main:
            self._main.move_to_end(page.snapshot_id)
            made.parts["markdown"] = known
            return made
        if shape.needs_html:
            try:
                await asyncio.to_thread(self._read, made, shape)
            except (NotFoundError, UnavailableError, TooComplexError, FileNotFoundError) as error:
                made.warnings.append(f"The page is given as text alone: {error}")
        if "markdown" in shape.formats:
            if "markdown" not in made.parts:
                made.parts["markdown"] = await texts.markdown(self._database, page.snapshot_id)
            if only_markdown and shape.only_main and not made.warnings:
                self._remember(page.snapshot_id, made.parts["markdown"])
        if "changeTracking" in shape.formats:
            made.parts["changeTracking"] = await self._changes(page, shape)
        if "summary" in shape.formats:
            await self._summarise(made)
        if {"json", "product", "menu"} & set(shape.formats):
            await self._add_records(made, shape, is_one_of_many=is_one_of_many)
        return made

    async def _summarise(self, made: ScrapedDocument) -> None:
        text = made.parts.get("markdown")
        if text is None:
            text = await texts.markdown(self._database, made.page.snapshot_id)
        made.parts["summary"] = await asyncio.to_thread(extractive, text)
        made.warnings.append(EXTRACTIVE)

    def _remember(self, snapshot_id: int, text: str) -> None:
        self._main[snapshot_id] = text
        self._held += len(text)
        while self._held > CACHED_CHARS:
            _, oldest = self._main.popitem(last=False)
            self._held -= len(oldest)

    def _read(self, made: ScrapedDocument, shape: Shape) -> None:
        page = made.page
        if page.segment is None or page.misfiled_at is not None:
            raise NotFoundError("the archive does not hold its bytes.")
        body = read_body(self.archive, page.segment, page.segment_offset, page.segment_length)
        if format_of(page.content_type, body) is not None:
            raise NotFoundError("it is a document, not a web page.")
        text, _ = decode(body, page.content_type)
        made.parts.update(parts_of(text, parse_document(text), page.url, shape))

    async def _changes(self, page: SnapshotPage, shape: Shape) -> dict[str, Any]:
        """How the page differs from what it was before."""
        rows = await self._database.fetch(HISTORY, page.page_id)
        before: Any = rows[1] if len(rows) > 1 else None
        status = "new" if before is None else "changed"
        if page.outcome == Outcome.UNCHANGED or (
            rows and rows[0]["snapshot_id"] != page.snapshot_id
        ):
            status, before = "same", rows[0]
        told: dict[str, Any] = {
            "previousScrapeAt": None if before is None else before["seen_at"].isoformat(),
            "changeStatus": status,
            "visibility": "visible",
        }
        if shape.compares and before is not None and before["snapshot_id"] is not None:
            ids = [before["snapshot_id"], page.snapshot_id]
            known = await texts.texts(self._database, ids)
            if set(ids) <= known.keys():
                old, new = (known[one].markdown for one in ids)
                difference = await asyncio.to_thread(compare, old, new)
                told["diff"] = {"text": difference.diff, "json": None}
        return told

    async def _add_records(
        self, made: ScrapedDocument, shape: Shape, *, is_one_of_many: bool
    ) -> None:
        try:
            await self._read_records(made, shape)
        except FormatUnavailableError as error:
            if not is_one_of_many:
                raise
            made.warnings.append(f"{error.code}: {error}")

    async def _read_records(self, made: ScrapedDocument, shape: Shape) -> None:
        """What the page states as records, each value with its place on the page."""
        await extract_now(self._database, self._settings, [made.page.page_id])
        found = await records.of_pages(self._database, [made.page.page_id], RECORDS)
        stated = [(record.kind, dict(record.data)) for record in found]
        for wanted, profile_of in (("product", product_of), ("menu", menu_of)):
            if wanted in shape.formats:
                profile = profile_of(stated, made.page.url, made.page.title)
                if profile is None:
                    made.warnings.append(f"The page states no {wanted}.")
                else:
                    made.parts[wanted] = profile
        if "json" in shape.formats:
            made.parts["json"] = fitted(
                shape.schema, [*stated, _of_itself(made.page)], made.page.url
            )


def _of_itself(page: SnapshotPage) -> tuple[str, dict[str, Any]]:
    """What a page states of itself in its head."""
    return PAGE, {
        "title": page.title,
        "description": page.description,
        "language": page.language,
        "url": page.url,
    }


def parts_of(
    text: str, document: Document, url: str, shape: Shape, *, is_whole: bool = False
) -> dict[str, Any]:
    """What is made of a page's HTML; `is_whole`: all of it is content."""
    parts: dict[str, Any] = {}
    wanted = shape.formats
    if "rawHtml" in wanted:
        parts["rawHtml"] = text
    if "links" in wanted:
        parts["links"] = _addresses(document, "a[href]", "href", url)
    if "images" in wanted:
        parts["images"] = _addresses(document, "img[src]", "src", url)
    if "attributes" in wanted:
        parts["attributes"] = [_attribute(document, *each) for each in shape.attributes]
    if "markdown" in wanted:
        parts["markdown"] = _markdown(
            text, url, replace(shape, only_main=False) if is_whole else shape
        )
    if "html" in wanted:
        parts["html"] = _clean(text, shape)
    return parts


def _addresses(document: Document, selector: str, name: str, base: str) -> list[str]:
    """Distinct web addresses of an attribute, in page order."""
    found: dict[str, None] = {}
    for element in document.select(selector)[:MAX_LINKS]:
        url = parse((element.attr(name) or "").strip(), base)
        if url is not None:
            found[url.href] = None
    return list(found)


def _select(document: Document, selector: str) -> list[Element]:
    try:
        return document.select(selector)
    except ValueError as error:
        raise UsageError(f"{selector[:100]!r} is not a CSS selector: {error}") from error


def _attribute(document: Document, selector: str, name: str) -> dict[str, Any]:
    elements = _select(document, selector)[:MAX_VALUES]
    values = [value for each in elements if (value := each.attr(name)) is not None]
    return {"selector": selector, "attribute": name, "values": values}


def _markdown(text: str, url: str, shape: Shape) -> str:
    if shape.selects:
        markdown = parse_document(_clean(text, shape)).to_markdown()
    elif shape.only_main:
        markdown = read_main(parse_document(text), url).markdown
    else:
        markdown = parse_document(text).to_markdown()
    if shape.removes_data_images and "(data:" in markdown:
        markdown = _DATA_IMAGE.sub(r"![\1](removed)", markdown)
    return markdown


def _clean(text: str, shape: Shape) -> str:
    """The page's HTML without scripts, and with or without chosen elements."""
    document = parse_document(text)
    for element in _select(document, _NOISE):
        element.decompose()
    for selector in shape.exclude_tags:
        for element in _select(document, selector):
            element.decompose()
    if shape.include_tags:
        chosen = [each for tag in shape.include_tags for each in _select(document, tag)]
        return "\n".join(element.html for element in chosen)
    if shape.only_main and not shape.exclude_tags:
        for element in _select(document, "nav, header, footer, aside, [role=navigation]"):
            element.decompose()
    return document.html


def encoded(shape: Shape) -> str:
    """A shape as it is stored with a job."""
    return msgspec.json.encode(shape).decode()


def decoded(text: str) -> Shape:
    return msgspec.json.decode(text, type=Shape)
