"""Markup: the few elements that converters write, with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from messor.web.text import storable

# In the head of a document whose pages are pictures.
SCANNED = '<meta name="messor:scanned" content="yes">'
_WEB = ("http://", "https://", "mailto:", "tel:")


def text(value: str) -> str:
    """Text between tags."""
    return escape(storable(value), quote=False)


def element(tag: str, inner: str, **attributes: str | int) -> str:
    """An element with markup inside; attributes are escaped."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{given}>{inner}</{tag}>"


def link(inner: str, href: str) -> str:
    """A link, if its target is one that pages may have; otherwise its text."""
    if not href.lower().startswith(_WEB):
        return inner
    return element("a", inner, href=storable(href))


def paragraphs(value: str) -> str:
    """Plain text as paragraphs; blank lines separate them."""
    blocks = (block.strip("\n") for block in value.replace("\r\n", "\n").split("\n\n"))
    return "\n".join(
        element("p", "<br>".join(text(line) for line in block.split("\n")))
        for block in blocks
        if block.strip()
    )


def table(rows: Sequence[Sequence[str]], *, has_head: bool = False) -> str:
    """A table of plain cells; the first row is its head if it says so."""
    written = []
    for number, row in enumerate(rows):
        tag = "th" if has_head and number == 0 else "td"
        written.append(element("tr", "".join(element(tag, text(cell)) for cell in row)))
    return element("table", "\n".join(written))


def page(title: str, body: Iterable[str], *, author: str = "", is_scanned: bool = False) -> str:
    """The whole document."""
    head = ['<meta charset="utf-8">', element("title", text(title))]
    if author:
        head.append(f'<meta name="author" content="{escape(storable(author))}">')
    if is_scanned:
        head.append(SCANNED)
    inner = "\n".join(part for part in body if part)
    return f"<!DOCTYPE html>\n<html><head>{''.join(head)}</head>\n<body>\n{inner}\n</body></html>\n"
