"""The part of a page's text that a model is shown, in pieces that fit a question.

All that can be seen, when that fits; else the main content first, as much of it as fits. What is
cut off is told, so that nobody takes silence about it for an answer.
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
    """The pieces of a page, and whether some of it was left out."""

    chunks: tuple[str, ...]
    is_cut: bool


def page_chunks(page: PageView, seen: VisibleText, *, size: int, max_chunks: int) -> PageChunks:
    """What a model may read of a page: at most `max_chunks` chunks of `size` characters."""
    lines = _distinct(seen.lines())
    room = size * max_chunks
    is_cut = sum(len(line) + 1 for line in lines) > room
    if is_cut:
        lines = _main_first(page, lines)
    chunks = pack(lines, size)
    return PageChunks(tuple(chunks[:max_chunks]), is_cut or len(chunks) > max_chunks)


def _main_first(page: PageView, lines: Sequence[str]) -> list[str]:
    """The lines of the main content, then all others, each in the page's order."""
    main = {one_space(line) for line in read_main(page.document, page.url).text.splitlines()}
    return sorted(lines, key=lambda line: line not in main)


def pack(lines: Iterable[str], size: int) -> list[str]:
    """Lines in pieces of at most `size` characters; a longer line is broken."""
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
    """Each line once: menus and cards repeat themselves."""
    return list(dict.fromkeys(lines))
