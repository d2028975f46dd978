"""Cuts a page's markdown into chunks by heading, for retrieval systems.

A chunk's id depends on its page, place and nothing else, its hash on its text: a reader that keeps
both re-embeds only what changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

MAX_CHUNK = 4_000  # characters; longer sections are cut between paragraphs
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NOT_WORD = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page under its headings."""

    id: str
    heading_path: tuple[str, ...]
    anchor: str | None  # of the last heading, as markdown renderers make it
    position: int
    text: str
    hash: str  # SHA-256 of the text


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    anchor: str | None
    lines: list[str]


def chunks_of(page_id: int, markdown: str) -> list[Chunk]:
    """The chunks of a page, in order; sections without text of their own have none."""
    found: list[Chunk] = []
    for section in _sections(markdown):
        for number, text in enumerate(_pieces("\n".join(section.lines).strip())):
            place = f"{page_id}\n{section.anchor or ''}\n{number}".encode()
            found.append(
                Chunk(
                    id=f"chunk:{page_id}-{sha256(place).hexdigest()[:16]}",
                    heading_path=section.path,
                    anchor=section.anchor,
                    position=len(found),
                    text=text,
                    hash=sha256(text.encode()).hexdigest(),
                )
            )
    return found


def _sections(markdown: str) -> Iterator[_Section]:
    """Runs of lines between headings; what looks like one inside a code block is none."""
    path: list[tuple[int, str]] = []
    seen: Counter[str] = Counter()
    section, fence = _Section((), None, []), None
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark is not None:
            fence = None if fence == mark[1] else fence or mark[1]
        heading = None if fence or mark else _HEADING.fullmatch(line.strip())
        if heading is None:
            section.lines.append(line)
            continue
        yield section
        level, title = len(heading[1]), _LINK.sub(r"\1", heading[2]).strip()
        path = [*(one for one in path if one[0] < level), (level, title)]
        section = _Section(tuple(name for _, name in path), _anchor(title, seen), [])
    yield section


def _anchor(title: str, seen: Counter[str]) -> str:
    """Lower case with hyphens; repeated ones are numbered."""
    plain = _NOT_WORD.sub("", title.lower()).strip().replace(" ", "-")
    number = seen[plain]
    seen[plain] += 1
    return f"{plain}-{number}" if number else plain


def _pieces(text: str) -> Iterator[str]:
    """The text cut between paragraphs into pieces of at most MAX_CHUNK characters."""
    piece = ""
    for paragraph in re.split(r"\n{2,}", text):
        for start in range(0, len(paragraph), MAX_CHUNK):
            part = paragraph[start : start + MAX_CHUNK]
            if piece and len(piece) + len(part) + 2 > MAX_CHUNK:
                yield piece
                piece = ""
            piece = f"{piece}\n\n{part}" if piece else part
    if piece:
        yield piece
