"""Splits a page's visible text into chunks that fit a question.

All visible text if it fits; otherwise the main content first. Truncation is reported, so that
missing text is not mistaken for a negative answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from messor.ai.visible_text import VisibleText
from messor.content.main import read_main
from messor.content.plain import one_space
from messor.content.view import PageView


@dataclass(frozen=True, slots=True)
class PageChunks:
    """The chunks of a page, and whether it was truncated."""

    chunks: tuple[str, ...]
    is_cut: bool


def page_chunks(page: PageView, seen: VisibleText, *, size: int, max_chunks: int) -> PageChunks:
    """Return at most `max_chunks` chunks of `size` characters of a page."""
    lines = _distinct(seen.lines())
    room = size * max_chunks
    is_cut = sum(len(line) + 1 for line in lines) > room
    if is_cut:
        lines = _main_first(page, lines)
    chunks = pack(lines, size)
    return PageChunks(tuple(chunks[:max_chunks]), is_cut or len(chunks) > max_chunks)


def _main_first(page: PageView, lines: Sequence[str]) -> list[str]:
    """Return the lines of the main content, then all others, each in page order."""
    main = {one_space(line) for line in read_main(page.document, page.url).text.splitlines()}
    return sorted(lines, key=lambda line: line not in main)


def pack(lines: Iterable[str], size: int) -> list[str]:
    """Pack lines into chunks of at most `size` characters; longer lines are split."""
    chunks: list[str] = []
    parts: list[str] = []
    length = 0
    for piece in (piece for line in lines for piece in _broken(line, size)):
        if parts and length + len(piece) + 1 > size:
            chunks.append("\n".join(parts))
            parts, length = [], 0
        parts.append(piece)
        length += len(piece) + 1
    return [*chunks, "\n".join(parts)] if parts else chunks


def _broken(line: str, size: int) -> Iterable[str]:
    return (line[at : at + size] for at in range(0, len(line), size))


def _distinct(lines: Iterable[str]) -> list[str]:
    """Return the distinct lines: menus and cards repeat."""
    return list(dict.fromkeys(lines))
