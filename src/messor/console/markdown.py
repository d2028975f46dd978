"""Markdown of strangers, read into blocks and pieces of text that a template draws and escapes.

Nothing here makes HTML: what looks like it stays text. It reads what our own reader writes, in one
pass over the lines; what it does not know becomes a paragraph. Pictures become links, for a page of
ours asks nobody else for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

MOST_BLOCKS = 4_000
MOST_LINE = 20_000  # characters of a line that are looked into

_HEADING = re.compile(r"(#{1,6}) +(.*)$")
_ITEM = re.compile(r"( *)(?:([-*+])|(\d{1,9})[.)]) +(.*)$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$")
_TABLE_LINE = re.compile(r"\|?(?: *:?-+:? *\|)+(?: *:?-+:?)?$")
# One alternative per kind; every repetition is of a class that its neighbour excludes.
_INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`{1,8})(?P<code>[^`]{1,2000})(?P=ticks)"
    r"|(?P<image>!?)\[(?P<label>[^\[\]]{0,1000})\]\((?P<target><[^<>\n]{0,2000}>|[^\s()]{0,2000})"
    r"(?: +\"[^\"\n]{0,500}\")?\)"
    r"|\*\*(?P<strong>[^*\s][^*]{0,2000})\*\*"
    r"|\*(?P<em>[^*\s][^*]{0,2000})\*"
    r"|<(?P<auto>https?://[^<>\s]{1,2000})>"
)


@dataclass(frozen=True, slots=True)
class TextRun:
    """A run of text in one manner; `href` only for a link that a browser does not run."""

    kind: str  # text, strong, em, code, link, image
    text: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A part of a document."""

    kind: str  # heading, paragraph, item, code, quote, rule, table
    pieces: tuple[TextRun, ...] = ()
    level: int = 0  # of a heading, or how deep an item lies
    marker: str = ""  # of an item
    text: str = ""  # of code, as it is
    rows: tuple[tuple[tuple[TextRun, ...], ...], ...] = ()  # of a table, its head first


@dataclass(slots=True)
class _Reader:
    base: str
    blocks: list[MarkdownBlock] = field(default_factory=list)
    paragraph: list[str] = field(default_factory=list)

    def end_paragraph(self) -> None:
        if self.paragraph:
            text = " ".join(self.paragraph)
            self.blocks.append(MarkdownBlock("paragraph", pieces(text, self.base)))
            self.paragraph = []

    def add(self, block: MarkdownBlock) -> None:
        self.end_paragraph()
        self.blocks.append(block)


def read(text: str, base: str) -> list[MarkdownBlock]:
    """The blocks of a document; links are taken relative to `base`."""
    reader = _Reader(base)
    lines = iter(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for line in lines:
        if len(reader.blocks) >= MOST_BLOCKS:
            break
        _take(reader, line, lines)
    reader.end_paragraph()
    return reader.blocks


def _take(reader: _Reader, line: str, lines: Iterator[str]) -> None:
    line = line[:MOST_LINE].rstrip()
    if not line:
        reader.end_paragraph()
    elif fence := _FENCE.match(line):
        reader.add(MarkdownBlock("code", text=_fenced(fence[1], lines)))
    elif heading := _HEADING.match(line):
        title = heading[2].rstrip("# ")
        reader.add(MarkdownBlock("heading", pieces(title, reader.base), level=len(heading[1])))
    elif _RULE.match(line):
        reader.add(MarkdownBlock("rule"))
    elif item := _ITEM.match(line):
        marker = f"{item[3]}." if item[3] else "•"
        depth = min(len(item[1]) // 2, 5)
        text = item[4].lstrip("# ") if item[4].startswith("#") else item[4]
        reader.add(MarkdownBlock("item", pieces(text, reader.base), level=depth, marker=marker))
    elif line.startswith(">"):
        reader.add(MarkdownBlock("quote", pieces(line.lstrip("> "), reader.base)))
    elif line.lstrip().startswith("|"):
        reader.end_paragraph()
        _take_row(reader, line)
    else:
        reader.paragraph.append(line.strip())


def _fenced(fence: str, lines: Iterator[str]) -> str:
    kept = []
    for line in lines:
        if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            break
        kept.append(line)
    return "\n".join(kept)


def _take_row(reader: _Reader, line: str) -> None:
    """Rows that follow each other are one table."""
    line = line.strip()
    if _TABLE_LINE.match(line):
        return
    cells = line.strip("|").split("|")[:50]
    row = tuple(pieces(cell.strip(), reader.base) for cell in cells)
    before = reader.blocks[-1] if reader.blocks else None
    if before is not None and before.kind == "table":
        reader.blocks[-1] = MarkdownBlock("table", rows=(*before.rows[:500], row))
    else:
        reader.blocks.append(MarkdownBlock("table", rows=(row,)))


def pieces(text: str, base: str) -> tuple[TextRun, ...]:
    """A line's runs of text."""
    found: list[TextRun] = []
    end = 0
    for match in _INLINE.finditer(text):
        _plain(found, text[end : match.start()])
        _add(found, match, base)
        end = match.end()
    _plain(found, text[end:])
    return tuple(found)


def _plain(found: list[TextRun], text: str) -> None:
    if text and found and found[-1].kind == "text":
        found[-1] = TextRun("text", found[-1].text + text)
    elif text:
        found.append(TextRun("text", text))


def _add(found: list[TextRun], match: re.Match[str], base: str) -> None:
    given = match.groupdict()
    if given["escaped"] is not None:
        _plain(found, given["escaped"])
    elif given["code"] is not None:
        found.append(TextRun("code", given["code"].strip()))
    elif given["label"] is not None:
        kind = "image" if given["image"] else "link"
        label = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", given["label"])
        href = harmless(given["target"].strip("<>"), base)
        found.append(TextRun(kind, label.strip("*_ ") or href or kind, href))
    elif given["auto"] is not None:
        found.append(TextRun("link", given["auto"], harmless(given["auto"], base)))
    else:
        kind = "strong" if given["strong"] is not None else "em"
        found.append(TextRun(kind, given[kind]))


def harmless(target: str, base: str) -> str | None:
    """Where a link leads, if that is a page of the web."""
    try:
        whole = urljoin(base, target)
    except ValueError:
        return None
    return whole if whole.startswith(("http://", "https://")) else None
