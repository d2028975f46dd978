"""Parses untrusted Markdown into blocks and text runs that a template renders and escapes.

It never produces HTML: markup in the input stays text. It supports the Markdown that Messor itself
writes, in one pass over the lines; anything else becomes a paragraph. Images become links, because
console pages load nothing from other hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

MAX_BLOCKS = 4_000
MAX_LINE = 20_000  # characters parsed per line

_HEADING = re.compile(r"(#{1,6}) +(.*)$")
_ITEM = re.compile(r"( *)(?:([-*+])|(\d{1,9})[.)]) +(.*)$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$")
_TABLE_LINE = re.compile(r"\|?(?: *:?-+:? *\|)+(?: *:?-+:?)?$")
# One alternative per kind; adjacent repetitions use disjoint classes, so matching cannot backtrack.
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
    """A run of text in one style; `href` is set only for http and https links."""

    kind: str  # text, strong, em, code, link, image
    text: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """One block of a document."""

    kind: str  # heading, paragraph, item, code, quote, rule, table
    pieces: tuple[TextRun, ...] = ()
    level: int = 0  # heading level or list depth
    marker: str = ""  # of a list item
    text: str = ""  # of a code block
    rows: tuple[tuple[tuple[TextRun, ...], ...], ...] = ()  # of a table, header first


@dataclass(slots=True)
class _Parser:
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
    """Parse a document into blocks; links are resolved against `base`."""
    parser = _Parser(base)
    lines = iter(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for line in lines:
        if len(parser.blocks) >= MAX_BLOCKS:
            break
        _parse_line(parser, line, lines)
    parser.end_paragraph()
    return parser.blocks


def _parse_line(parser: _Parser, line: str, lines: Iterator[str]) -> None:
    line = line[:MAX_LINE].rstrip()
    if not line:
        parser.end_paragraph()
    elif fence := _FENCE.match(line):
        parser.add(MarkdownBlock("code", text=_fenced(fence[1], lines)))
    elif heading := _HEADING.match(line):
        title = heading[2].rstrip("# ")
        parser.add(MarkdownBlock("heading", pieces(title, parser.base), level=len(heading[1])))
    elif _RULE.match(line):
        parser.add(MarkdownBlock("rule"))
    elif item := _ITEM.match(line):
        marker = f"{item[3]}." if item[3] else "•"
        depth = min(len(item[1]) // 2, 5)
        text = item[4].lstrip("# ") if item[4].startswith("#") else item[4]
        parser.add(MarkdownBlock("item", pieces(text, parser.base), level=depth, marker=marker))
    elif line.startswith(">"):
        parser.add(MarkdownBlock("quote", pieces(line.lstrip("> "), parser.base)))
    elif line.lstrip().startswith("|"):
        parser.end_paragraph()
        _parse_row(parser, line)
    else:
        parser.paragraph.append(line.strip())


def _fenced(fence: str, lines: Iterator[str]) -> str:
    kept = []
    for line in lines:
        if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            break
        kept.append(line)
    return "\n".join(kept)


def _parse_row(parser: _Parser, line: str) -> None:
    """Append a row; consecutive rows form one table."""
    line = line.strip()
    if _TABLE_LINE.match(line):
        return
    cells = line.strip("|").split("|")[:50]
    row = tuple(pieces(cell.strip(), parser.base) for cell in cells)
    before = parser.blocks[-1] if parser.blocks else None
    if before is not None and before.kind == "table":
        parser.blocks[-1] = MarkdownBlock("table", rows=(*before.rows[:500], row))
    else:
        parser.blocks.append(MarkdownBlock("table", rows=(row,)))


def pieces(text: str, base: str) -> tuple[TextRun, ...]:
    """Parse the inline markup of a line."""
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
        href = safe_link(given["target"].strip("<>"), base)
        found.append(TextRun(kind, label.strip("*_ ") or href or kind, href))
    elif given["auto"] is not None:
        found.append(TextRun("link", given["auto"], safe_link(given["auto"], base)))
    else:
        kind = "strong" if given["strong"] is not None else "em"
        found.append(TextRun(kind, given[kind]))


def safe_link(target: str, base: str) -> str | None:
    """Resolve a link target; None unless it is an http or https URL."""
    try:
        whole = urljoin(base, target)
    except ValueError:
        return None
    return whole if whole.startswith(("http://", "https://")) else None
