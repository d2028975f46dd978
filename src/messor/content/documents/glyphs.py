"""Glyphs of a PDF page: characters with their boxes, in the order PDFium reports them, and lines.

PDFium joins text objects into lines and reports line breaks as characters of their own. Points are
measured from the bottom left corner of the page.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pypdfium2 as pdfium
from pypdfium2 import raw

MAX_GLYPHS = 100_000  # of a page: more are decoration, such as a map
_BOLD = 600
_HYPHENS = "\x02\xad￾"  # PDFium's mark of a hyphen at the end of a line; soft hyphen
_GAP = 0.9  # of the font size; a wider gap separates segments
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"}


@dataclass(slots=True)
class Glyph:
    """One character and its box."""

    character: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    is_bold: bool
    link: str | None = None


@dataclass(slots=True)
class Line:
    """Glyphs of one line without wide gaps; a line of a table is several of them."""

    glyphs: list[Glyph] = field(default_factory=list)
    is_hyphenated: bool = False  # its last word goes on in the next line

    @property
    def text(self) -> str:
        return "".join(glyph.character for glyph in self.glyphs).strip()

    @property
    def left(self) -> float:
        return min(glyph.left for glyph in self.glyphs)

    @property
    def right(self) -> float:
        return max(glyph.right for glyph in self.glyphs)

    @property
    def top(self) -> float:
        return max(glyph.top for glyph in self.glyphs)

    @property
    def bottom(self) -> float:
        return min(glyph.bottom for glyph in self.glyphs)

    @property
    def first_word_width(self) -> float:
        start = self.glyphs[0].left
        for before, glyph in pairwise(self.glyphs):
            if glyph.character.isspace() and not before.character.isspace():
                return before.right - start
        return self.right - start

    @property
    def size(self) -> float:
        """The font size of most of its glyphs."""
        sizes = [round(glyph.size, 1) for glyph in self.glyphs if not glyph.character.isspace()]
        return max(set(sizes), key=sizes.count) if sizes else 0.0

    @property
    def is_bold(self) -> bool:
        solid = [glyph.is_bold for glyph in self.glyphs if not glyph.character.isspace()]
        return bool(solid) and all(solid)


def glyphs_of(page: pdfium.PdfPage, links: list[tuple[str, tuple[float, ...]]]) -> list[Glyph]:
    """The characters of a page, line breaks included, with the link that each lies in."""
    textpage = page.get_textpage()
    handle = textpage.raw
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    glyphs = []
    for index in range(min(textpage.count_chars(), MAX_GLYPHS)):
        character = chr(raw.FPDFText_GetUnicode(handle, index))
        raw.FPDFText_GetCharBox(handle, index, left, right, bottom, top)
        glyph = Glyph(
            _LIGATURES.get(character, character), left.value, bottom.value, right.value, top.value,
            _size(handle, index), raw.FPDFText_GetFontWeight(handle, index) >= _BOLD,
        )  # fmt: skip
        if links:
            glyph.link = _link_at(glyph, links)
        glyphs.append(glyph)
    textpage.close()
    return glyphs


def _size(handle: raw.FPDF_TEXTPAGE, index: int) -> float:
    """The font size on paper: many writers set size 1 and scale by the matrix."""
    matrix = raw.FS_MATRIX()
    size: float = raw.FPDFText_GetFontSize(handle, index)
    if raw.FPDFText_GetMatrix(handle, index, matrix):
        size *= (matrix.c**2 + matrix.d**2) ** 0.5 or 1.0
    return float(size)


def _link_at(glyph: Glyph, links: list[tuple[str, tuple[float, ...]]]) -> str | None:
    x, y = (glyph.left + glyph.right) / 2, (glyph.bottom + glyph.top) / 2
    for href, (left, bottom, right, top) in links:
        if left <= x <= right and bottom <= y <= top:
            return href
    return None


def lines_of(glyphs: list[Glyph]) -> list[Line]:
    """Cut glyphs into lines, at line breaks and at wide gaps."""
    return [line for line in _cut(glyphs) if line.text]


def _cut(glyphs: list[Glyph]) -> Iterator[Line]:
    line = Line()
    for glyph in glyphs:
        if glyph.character in "\r\n":
            if line.glyphs:
                yield line
                line = Line()
            continue
        if glyph.character in _HYPHENS:
            line.is_hyphenated = True
            continue
        before = _solid_before(line)
        if before is not None and not glyph.character.isspace() and _is_apart(before, glyph):
            yield line
            line = Line()
        line.glyphs.append(glyph)
        line.is_hyphenated = False
    if line.glyphs:
        yield line


def _solid_before(line: Line) -> Glyph | None:
    for glyph in reversed(line.glyphs):
        if not glyph.character.isspace():
            return glyph
    return None


def _is_apart(before: Glyph, glyph: Glyph) -> bool:
    """Whether a glyph starts a segment of its own: far to the right, or on another baseline."""
    size = max(before.size, glyph.size, 1.0)
    if glyph.left - before.right > _GAP * size or glyph.left < before.left - 2 * size:
        return True
    return abs(glyph.bottom - before.bottom) > size and abs(glyph.top - before.top) > size
