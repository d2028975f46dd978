"""Blocks of a PDF page: headings by font size, paragraphs by spacing, lists by their marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile

from messor.content.documents import markup
from messor.content.documents.glyphs import Line
from messor.content.documents.pdf_tables import aligned_html, aligned_run, rows_of

_LARGER = 1.12  # times the size of running text
_MAX_HEADING = 200  # characters
_MAX_BOLD_HEADING = 80
_SPACING = 0.85  # of the font size, between lines of one paragraph
_INDENT = 1.2  # of the font size
_LEVELS = 4
_NEAR = 6  # lines before and after; farther ones may stand in another column
# Bullets, hyphen bullet, dashes, asterisk.
_BULLET = re.compile("^[•◦▪▫●○‣\u2043∙·\u2013\u2014*-](?:\\s+|$)")
_NUMBER = re.compile(r"^(\d{1,3})[.)](?:\s+|$)")
_SENTENCE_END = ".!?:;\u3002\uff01\uff1f"  # and the full-width ones


@dataclass(frozen=True, slots=True)
class TypeSizes:
    """Font sizes of a document: of running text, and of headings from the largest on."""

    body: float
    headings: tuple[float, ...]

    @classmethod
    def of(cls, lines: Iterable[Line]) -> TypeSizes:
        weights: Counter[float] = Counter()
        for line in lines:
            weights[line.size] += len(line.text)
        if not weights:
            return cls(0.0, ())
        body = weights.most_common(1)[0][0]
        larger = sorted((size for size in weights if size > body * _LARGER), reverse=True)
        return cls(body, tuple(larger))

    def level(self, line: Line) -> int | None:
        """The level of a heading; None for running text."""
        said = line.text
        if not any(map(str.isalpha, said)):
            return None
        if line.size in self.headings and len(said) <= _MAX_HEADING:
            return min(self.headings.index(line.size) + 1, _LEVELS)
        is_short = len(said) <= _MAX_BOLD_HEADING and said[-1] not in _SENTENCE_END
        return _LEVELS if line.is_bold and is_short and line.size >= self.body else None


@dataclass(slots=True)
class _Block:
    """Lines of one heading, paragraph or list item."""

    kind: str  # h1 to h4, p, ul or ol
    lines: list[Line] = field(default_factory=list)
    mark: str = ""  # of a list item, which its text begins with

    def html(self) -> str:
        return _joined(self.lines).removeprefix(markup.text(self.mark)).strip()

    def takes(self, line: Line, margin: float) -> bool:
        """Whether a line of running text goes on with it."""
        if self.mark and self.mark == self.lines[-1].text:
            return True  # a mark that stands apart from its text
        last = self.lines[-1]
        if self.kind[0] == "h" or not _continues(last, line):
            return False
        # A break is meant where the next word would have fitted before the margin.
        return last.right + last.size / 2 + line.first_word_width > margin


def html_of(lines: Sequence[Line], sizes: TypeSizes, width: float) -> str:
    """Lines in reading order as HTML, tables of aligned text included."""
    written: list[str] = []
    waiting: list[Line] = []
    rows = rows_of(lines)
    at = 0
    while at < len(rows):
        # Items of a list stand beside their marks, like cells.
        cells = list(takewhile(lambda row: _mark(row[0].text) is None, rows[at:]))
        count = aligned_run(cells, width) if cells else 0
        if count:
            written += [_flow(waiting, sizes), aligned_html(rows[at : at + count])]
            waiting = []
            at += count
        else:
            waiting += rows[at]
            at += 1
    written.append(_flow(waiting, sizes))
    return "\n".join(part for part in written if part)


def _flow(lines: Sequence[Line], sizes: TypeSizes) -> str:
    blocks: list[_Block] = []
    for number, line in enumerate(lines):
        level = sizes.level(line)
        mark = _mark(line.text)
        last = blocks[-1] if blocks else None
        if level is not None:
            if last and last.kind == f"h{level}" and _continues(last.lines[-1], line):
                last.lines.append(line)
            else:
                blocks.append(_Block(f"h{level}", [line]))
        elif mark is not None:
            blocks.append(_Block(mark[0], [line], mark[1]))
        elif last and last.takes(line, _margin(lines, number)):
            last.lines.append(line)
        else:
            blocks.append(_Block("p", [line]))
    return "\n".join(_grouped(blocks))


def _margin(lines: Sequence[Line], number: int) -> float:
    """The right margin of a line: of the lines near it that are indented as much or less."""
    left = lines[number].left + 2
    near = lines[max(0, number - _NEAR) : number + _NEAR + 1]
    return max(line.right for line in near if line.left <= left)


def _mark(said: str) -> tuple[str, str] | None:
    """The kind of list that a line is an item of, and its mark."""
    if found := _BULLET.match(said):
        return "ul", found[0]
    if found := _NUMBER.match(said):
        return "ol", found[0]
    return None


def _continues(before: Line, line: Line) -> bool:
    """Whether a line belongs to the paragraph of the line before it."""
    size = max(before.size, 1.0)
    if abs(before.size - line.size) > 0.6:
        return False
    gap = before.bottom - line.top
    if gap < -size:  # up again: the next column, or a line beside
        return before.text[-1:] not in _SENTENCE_END
    return gap <= _SPACING * size and line.left - before.left < _INDENT * size


def _grouped(blocks: Sequence[_Block]) -> Iterable[str]:
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        if kind in ("ul", "ol"):
            items = list(group)
            numbered = _NUMBER.match(items[0].mark)
            start = {"start": int(numbered[1])} if numbered else {}
            yield markup.element(
                kind, "\n".join(markup.element("li", item.html()) for item in items), **start
            )
        else:
            for block in group:
                yield markup.element(kind, block.html())


def _joined(lines: Sequence[Line]) -> str:
    """Text of lines with their links; a word that was divided at a line's end is whole again."""
    parts: list[str] = []
    for number, line in enumerate(lines):
        parts.append(_linked(line))
        if number + 1 < len(lines) and not line.is_hyphenated:
            parts.append(" ")
    return "".join(parts)


def _linked(line: Line) -> str:
    written = []
    for href, run in groupby(line.glyphs, key=lambda glyph: glyph.link):
        said = markup.text("".join(glyph.character for glyph in run))
        written.append(markup.link(said, href) if href else said)
    return "".join(written).strip()
