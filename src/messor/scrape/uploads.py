"""Files that a program gives to be read: documents by the readers in the sandbox, and web pages.

Nothing is fetched or stored.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from messor.content.documents.errors import DocumentError
from messor.content.documents.markup import SCANNED
from messor.errors import UsageError
from messor.parsers.page_reading import read_records
from messor.parsers.page_text import text_of
from messor.scrape.documents import Shape, parts_of
from messor.scrape.stated import fitted, menu_of, product_of
from messor.scrape.summaries import EXTRACTIVE, extractive
from messor.web.document_formats import DocumentFormat, format_of
from messor.web.html import TooComplexError, parse_document

AT_A_TIME = 2  # each takes a process
NO_URL = "about:blank"
HTML = "html"
_PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml"))
# What a name or type says, for files that carry no mark of their own.
EXTENSIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    DocumentFormat.PDF: ((".pdf",), ("application/pdf",)),
    DocumentFormat.WORD: (
        (".docx",), ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
    ),
    DocumentFormat.SHEET: (
        (".xlsx", ".xlsm"), ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
    ),
    DocumentFormat.OLD_SHEET: ((".xls",), ("application/vnd.ms-excel",)),
    DocumentFormat.OPEN_SHEET: ((".ods",), ("application/vnd.oasis.opendocument.spreadsheet",)),
    DocumentFormat.CSV: ((".csv", ".tsv"), ("text/csv", "text/tab-separated-values")),
    DocumentFormat.SLIDES: (
        (".pptx",), ("application/vnd.openxmlformats-officedocument.presentationml.presentation",),
    ),
    DocumentFormat.RTF: ((".rtf",), ("application/rtf", "text/rtf")),
    DocumentFormat.TEXT: ((".txt", ".md"), ("text/plain", "text/markdown")),
    DocumentFormat.BOOK: ((".epub",), ("application/epub+zip",)),
    DocumentFormat.MAIL: ((".eml",), ("message/rfc822",)),
    HTML: ((".html", ".htm", ".xhtml"), ("text/html", "application/xhtml+xml")),
}  # fmt: skip


@dataclass(slots=True)
class ParsedFile:
    """A file in the forms that were asked for."""

    title: str | None
    content_type: str
    pages: int | None
    parts: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class FileReader:
    """Reads files, a few at a time."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(AT_A_TIME)

    async def read(
        self, body: bytes, name: str, content_type: str | None, shape: Shape
    ) -> ParsedFile:
        async with self._turns:
            return await asyncio.to_thread(_read, body, name, content_type, shape)


def _read(body: bytes, name: str, content_type: str | None, shape: Shape) -> ParsedFile:
    stated = _type_of(name, content_type)
    kind = format_of(stated, body)
    if kind is None and stated not in _PAGE_TYPES:
        known = ", ".join(sorted(EXTENSIONS))
        raise UsageError(f"{name[:100]!r} is not a file that is read. These are: {known}.")
    try:
        text = text_of(body, stated)
        document = parse_document(text)
        parts = parts_of(text, document, NO_URL, shape, is_whole=kind is not None)
    except (DocumentError, TooComplexError) as error:
        raise UsageError(f"{name[:100]!r} could not be read: {error}") from error
    titles = document.select("title, h1")
    title = titles[0].text.strip() if titles else ""
    pages = text.count("<section data-page=") or None
    made = ParsedFile(title or name, stated or "application/octet-stream", pages, parts)
    if kind is not None and SCANNED in text:
        made.warnings.append("Its pages are pictures: no text is read from them.")
    if "summary" in shape.formats:
        parts["summary"] = extractive(parts.get("markdown") or document.to_markdown())
        made.warnings.append(EXTRACTIVE)
    if {"json", "product", "menu"} & set(shape.formats):
        _add_records(made, text, name, shape)
    return made


def _add_records(made: ParsedFile, text: str, name: str, shape: Shape) -> None:
    read = read_records(text, NO_URL)
    stated: Sequence[tuple[str, dict[str, Any]]] = [
        (record.kind, {one: value.value for one, value in record.fields.items()})
        for record in read.records
    ]
    for wanted, found in (("product", product_of), ("menu", menu_of)):
        if wanted in shape.formats:
            profile = found(stated, name, made.title)
            if profile is None:
                made.warnings.append(f"The file states no {wanted}.")
            else:
                made.parts[wanted] = profile
    if "json" in shape.formats:
        made.parts["json"] = fitted(shape.schema, stated, name)


def _type_of(name: str, content_type: str | None) -> str | None:
    """What the upload says it is; of a general type, what its name says."""
    stated = (content_type or "").partition(";")[0].strip().lower()
    if stated and stated not in ("application/octet-stream", "binary/octet-stream"):
        return stated
    ending = f".{name.rpartition('.')[2].lower()}"
    for endings, types in EXTENSIONS.values():
        if ending in endings:
            return types[0]
    return mimetypes.guess_type(name)[0]
