"""E-books (EPUB) as HTML: the chapters in reading order, as they are written."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from messor.content.documents import markup, office
from messor.content.documents.errors import DocumentError
from messor.web.encodings import decode

WHAT = "e-book"
MAX_CHAPTERS = 2_000
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_BODY = re.compile(r"<body\b[^>]*>(.*)</body\s*>", re.IGNORECASE | re.DOTALL)
_ACTIVE = re.compile(r"<(script|style|iframe|object)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)


def to_html(body: bytes) -> str:
    """Convert an EPUB file."""
    with office.opened(body, WHAT) as archive:
        container = office.xml(office.member(archive, "META-INF/container.xml", WHAT), WHAT)
        root = container.find(f".//{_CONTAINER}")
        path = root.get("full-path", "") if root is not None else ""
        package = office.xml(office.member(archive, path, WHAT), WHAT)
        items = {item.get("id"): item.get("href", "") for item in package.iter(f"{_OPF}item")}
        spine = [items.get(entry.get("idref")) for entry in package.iter(f"{_OPF}itemref")]
        folder = posixpath.dirname(path)
        chapters = [
            _chapter(office.member(archive, _name(folder, href), WHAT), number)
            for number, href in enumerate(spine[:MAX_CHAPTERS], start=1)
            if href
        ]
    if not chapters:
        raise DocumentError(f"The {WHAT} names no chapters.")
    title, author = package.findtext(f".//{_DC}title"), package.findtext(f".//{_DC}creator")
    return markup.page(title or "", chapters, author=author or "")


def _name(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


def _chapter(content: bytes, number: int) -> str:
    text, _ = decode(content, "application/xhtml+xml")
    found = _BODY.search(text)
    inner = _ACTIVE.sub("", found[1] if found else "")
    return markup.element("section", f"\n{inner.strip()}\n", data_page=number)
