"""Plain text and RTF as HTML: paragraphs, without guessing at more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from striprtf.striprtf import rtf_to_text

from messor.content.documents import markup
from messor.content.documents.errors import DocumentError
from messor.web.encodings import decode


def to_html(body: bytes, content_type: str | None) -> str:
    """Convert plain text."""
    text, _ = decode(body, content_type)
    return markup.page("", [markup.paragraphs(text.removeprefix("\ufeff"))])


def rtf_to_html(body: bytes) -> str:
    """Convert rich text; RTF is ASCII, and other characters are escaped in it."""
    try:
        text = rtf_to_text(body.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    except (ValueError, IndexError, LookupError):
        raise DocumentError("The RTF file cannot be opened: it is damaged.") from None
    lines = [line.strip() for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    return markup.page("", _blocks(lines))


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Paragraphs and tables; the library writes a bar after each cell of a row."""
    for is_row, group in groupby(lines, key=lambda line: line.endswith("|")):
        if is_row:
            yield markup.table([row[:-1].split("|") for row in group])
        else:
            yield from (markup.element("p", markup.text(line)) for line in group)
