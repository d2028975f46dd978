"""PDF files as HTML: a section for each page, with headings, paragraphs, lists, tables and links.

A file whose pages are pictures has no text to read, and is marked as scanned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
from pypdfium2 import raw

from messor.content.documents import markup
from messor.content.documents.errors import DocumentError
from messor.content.documents.glyphs import Glyph, Line, glyphs_of, lines_of
from messor.content.documents.pdf_blocks import TypeSizes, html_of
from messor.content.documents.pdf_tables import RuledTable, split_by_grid
from messor.content.documents.rules import grids_of

MAX_PAGES = 400  # what is beyond is not read; the archive has it
_MAX_LINKS = 1_000
_MAX_URI = 4_096
_SCANNED = 12  # characters a page on average; fewer beside pictures mean a scan


@dataclass(slots=True)
class _Page:
    """One page, cut into text and tables."""

    number: int
    width: float
    glyphs: list[Glyph]
    tables: list[tuple[int, RuledTable]]
    has_pictures: bool

    def parts(self) -> Iterator[list[Line] | RuledTable]:
        """Lines and tables in reading order."""
        begun = 0
        for place, table in self.tables:
            yield lines_of(self.glyphs[begun:place])
            yield table
            begun = place
        yield lines_of(self.glyphs[begun:])


def to_html(body: bytes) -> str:
    """Convert a PDF; raises DocumentError for files that cannot be opened."""
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        is_locked = "password" in str(error).lower()
        reason = "is encrypted with a password" if is_locked else "cannot be opened: it is damaged"
        raise DocumentError(f"The PDF {reason}.") from None
    try:
        pages = [_page(document, number) for number in range(min(len(document), MAX_PAGES))]
        known = document.get_metadata_dict(skip_empty=True)
    finally:
        document.close()
    letters = sum(len(page.glyphs) for page in pages)
    is_scanned = letters < _SCANNED * len(pages) and any(page.has_pictures for page in pages)
    sizes = TypeSizes.of(
        line for page in pages for part in page.parts() if isinstance(part, list) for line in part
    )
    return markup.page(
        known.get("Title", ""),
        (_section(page, sizes) for page in pages),
        author=known.get("Author", ""),
        is_scanned=is_scanned,
    )


def _page(document: pdfium.PdfDocument, number: int) -> _Page:
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return _Page(number + 1, 0.0, [], [], False)  # a damaged page; the others may be whole
    glyphs = glyphs_of(page, _links(document, page))
    outside, tables = split_by_grid(glyphs, grids_of(page))
    pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE])
    found = _Page(number + 1, page.get_width(), outside, tables, next(pictures, None) is not None)
    page.close()
    return found


def _section(page: _Page, sizes: TypeSizes) -> str:
    parts = [
        part.html() if isinstance(part, RuledTable) else html_of(part, sizes, page.width)
        for part in page.parts()
    ]
    inner = "\n".join(part for part in parts if part)
    return markup.element("section", f"\n{inner}\n", data_page=page.number)


def _links(
    document: pdfium.PdfDocument, page: pdfium.PdfPage
) -> list[tuple[str, tuple[float, ...]]]:
    """Targets and boxes of the links of a page."""
    position, handle = ctypes.c_int(0), raw.FPDF_LINK()
    found: list[tuple[str, tuple[float, ...]]] = []
    while len(found) < _MAX_LINKS and raw.FPDFLink_Enumerate(page.raw, position, handle):
        box = raw.FS_RECTF()
        href = _uri(document, handle)
        if href and raw.FPDFLink_GetAnnotRect(handle, box):
            found.append((href, (box.left, box.bottom, box.right, box.top)))
    return found


def _uri(document: pdfium.PdfDocument, handle: raw.FPDF_LINK) -> str | None:
    action = raw.FPDFLink_GetAction(handle)
    if not action:
        return None
    size = raw.FPDFAction_GetURIPath(document.raw, action, None, 0)
    if not 1 < size <= _MAX_URI:
        return None
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document.raw, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")
