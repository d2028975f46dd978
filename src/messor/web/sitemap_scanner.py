"""A tolerant scanner for sitemap and feed markup.

It only recognises tags: declarations are skipped, so no entity is ever defined, expanded or
fetched, and a truncated or broken document still yields what came before. It is fed in chunks and
holds no more than the current markup; time is linear in the input, with a limit on the number of
tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_TAGS = 2_000_000
_MAX_TEXT = 16_384
_LONGEST_START = len("<![CDATA[")

_UNDEFINED = re.compile(r"&\w+;")
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos);")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
# A name is tried from its first letter only: a long run without "=" is scanned once.
_ATTRIBUTE = re.compile(rb"(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)')")

# Elements that hold an entry; the names mean other things in the other vocabularies.
_PAGES = frozenset((b"url", b"sitemap"))
_CONTAINERS = {
    b"urlset": _PAGES,
    b"sitemapindex": _PAGES,
    b"rss": frozenset((b"item",)),
    b"rdf": frozenset((b"item",)),
    b"feed": frozenset((b"entry",)),
}
# Elements of other vocabularies that hold a "loc" or "link" of their own.
_FOREIGN = frozenset((b"image", b"video", b"news", b"source", b"author"))
_DATES = frozenset((b"lastmod", b"pubdate", b"updated", b"published", b"date"))


@dataclass(slots=True)
class SitemapEntry:
    """One listed URL, as written."""

    loc: str
    lastmod: str = ""
    is_sitemap: bool = False
    alternates: list[str] = field(default_factory=list)


class Scanner:
    """Passes each entry to `take` until that returns False."""

    def __init__(self, take: Callable[[SitemapEntry], bool]) -> None:
        self._take = take
        self._data = bytearray()  # from the first incomplete text or markup on
        self._awaited = b"<"  # its terminator
        self._searched = 0  # how much of the data was searched for the terminator
        self._tags = 0
        self.is_done = False  # whether no more input is needed
        self.root = b""
        self.warnings: list[str] = []
        self._known: dict[bytes, tuple[bool, bytes, bytes]] = {}
        self._containers = _PAGES
        self._has_doctype = False
        self._container = b""
        self._prefix = b""
        self._foreign = 0
        self._wrapped = False  # whether an element is around the address in its field
        self._entry = SitemapEntry("")
        self._guid = ""
        self._bare = ""
        self._open = b""
        self._text: list[str] | None = None

    def feed(self, data: bytes) -> None:
        if self.is_done:
            return
        self._data += data
        if self._data.find(self._awaited, self._searched) < 0:
            self._searched = max(0, len(self._data) - len(self._awaited))
        else:
            self._scan(is_last=False)

    def close(self) -> None:
        """Handle the remaining data at the end."""
        if self.is_done:
            return
        self._scan(is_last=True)
        if not self.is_done:
            if self._data[:1] == b"<":
                self._handle_truncated(bytes(self._data[:3]))
            self._flush()
        self.is_done = True

    def _scan(self, *, is_last: bool) -> None:
        """Handle everything complete, and keep the rest."""
        data, position = bytes(self._data), 0
        while not self.is_done:
            start = data.find(b"<", position)
            if start < 0:
                self._await(b"<", data[position : position + _MAX_TEXT])
                return
            if self._text is not None and start > position:
                self._add_text(data[position : min(start, position + _MAX_TEXT)])
            if len(data) - start < _LONGEST_START and not is_last:
                self._await(b"", data[start:])
                return
            end, position = self._find_end(data, start)
            if end < 0:
                self._await(_end_of(data, start), data[start:])
                return
            self._handle(data[start + 1 : end])

    def _await(self, end: bytes, rest: bytes) -> None:
        self._awaited, self._data = end, bytearray(rest)
        self._searched = max(0, len(rest) - len(end))

    def _handle(self, tag: bytes) -> None:
        if tag[:1] not in (b"!", b"?") and not self._tag(tag):
            self.is_done = True
        self._tags += 1
        if self._tags >= MAX_TAGS and not self.is_done:
            self.warnings.append("too many tags; the rest was not read")
            self._flush()
            self.is_done = True

    def _find_end(self, data: bytes, start: int) -> tuple[int, int]:
        """Where the markup that starts here ends, and where the next begins."""
        if data.startswith(b"<!--", start):
            end = data.find(b"-->", start + 4)
            return end, end + 3
        if data.startswith(b"<![CDATA[", start):
            end = data.find(b"]]>", start + 9)
            if end >= 0 and self._text is not None:
                raw = data[start + 9 : min(end, start + 9 + _MAX_TEXT)]
                self._text.append(raw.decode("utf-8", "replace"))
            return end, end + 3
        if data.startswith(b"<!DOCTYPE", start):
            self._has_doctype = True
        end = data.find(b">", start)
        return end, end + 1

    def _add_text(self, raw: bytes) -> None:
        if self._text is not None and len(self._text) < 64:
            self._text.append(_ENTITY.sub(_character, raw.decode("utf-8", "replace")))

    def _handle_truncated(self, rest: bytes) -> None:
        self.warnings.append("the document ends within a tag")
        # The text is complete once its closing tag has begun.
        if rest.startswith(b"</") and self._open:
            self._close_field()

    def _tag(self, tag: bytes) -> bool:
        """Handle a start or end tag; False when no more entries are wanted."""
        parsed = self._known.get(tag)
        if parsed is None:
            parsed = _parsed_tag(tag)
            if len(tag) <= 32 and len(self._known) < 256:
                self._known[tag] = parsed
        closing, prefix, name = parsed
        if not self.root and not closing:
            self.root = name
            self._containers = _CONTAINERS.get(name, _PAGES)
        if name in self._containers:
            if name == b"url" and self._open == b"loc" and self._is_wrapper(closing=closing):
                return True
            return self._container_tag(prefix, name, closing=closing)
        if not self._container:
            return True
        if name in _FOREIGN:
            if not tag.endswith(b"/"):
                self._foreign = max(0, self._foreign + (-1 if closing else 1))
        elif closing:
            self._close_field()
        else:
            return self._open_field(prefix, name, tag)
        return True

    def _is_wrapper(self, *, closing: bool) -> bool:
        """Whether a tag belongs to an element around the address: `<loc><url>…</url></loc>`."""
        if closing:
            wrapped, self._wrapped = self._wrapped, False
            return wrapped
        self._wrapped = not "".join(self._text or ()).strip()
        return self._wrapped

    def _container_tag(self, prefix: bytes, name: bytes, *, closing: bool) -> bool:
        keep = self._flush()
        self._foreign = 0
        self._wrapped = False
        self._container, self._prefix = (b"", b"") if closing else (name, prefix)
        self._text = None if closing else []
        return keep

    def _open_field(self, prefix: bytes, name: bytes, tag: bytes) -> bool:
        self._keep_bare_text()
        self._open = b""
        if self._foreign:
            return True
        if name == b"link":
            return self._open_link(prefix, tag)
        if name == b"loc" and prefix == self._prefix:
            if self._entry.loc and not self._flush():
                return False
            self._open = name
        elif (name == b"guid" and prefix == self._prefix) or name in _DATES:
            self._open = name
        self._text = [] if self._open else None
        return True

    def _open_link(self, prefix: bytes, tag: bytes) -> bool:
        attributes = _attributes(tag)
        href, relation = attributes.get("href", ""), attributes.get("rel", "alternate")
        if self._container == b"entry" and prefix == self._prefix:
            if href and not self._entry.loc and relation == "alternate":
                self._entry.loc = href
        elif self._container == b"item" and prefix == self._prefix:
            self._open = b"link"
            self._text = []
        elif href and self._container == b"url" and "hreflang" in attributes:
            self._entry.alternates.append(href)
        return True

    def _close_field(self) -> None:
        text = "".join(self._text or ()).strip()
        if self._open in (b"loc", b"link"):
            self._entry.loc = self._entry.loc or text
        elif self._open == b"guid":
            self._guid = text
        elif self._open in _DATES:
            self._entry.lastmod = self._entry.lastmod or text
        self._open = b""
        self._text = None

    def _keep_bare_text(self) -> None:
        if self._text is not None and not self._open:
            self._bare = self._bare or "".join(self._text).strip()

    def _flush(self) -> bool:
        """Pass on the current entry, if it has a URL of any kind."""
        self._keep_bare_text()
        entry = self._entry
        if not (entry.loc or self._guid or self._bare):
            return True
        for fallback in (self._guid, self._bare):
            if not entry.loc and fallback.startswith(("http://", "https://")):
                entry.loc = fallback
        self._entry, self._guid, self._bare, self._open = SitemapEntry(""), "", "", b""
        entry.is_sitemap = self._container == b"sitemap"
        if self._has_doctype and _UNDEFINED.search(entry.loc):
            self.warnings.append("an entry uses a custom entity; it was dropped")
            return True
        return self._take(entry) if entry.loc else True


def _end_of(data: bytes, start: int) -> bytes:
    """The terminator of the markup that starts here."""
    if data.startswith(b"<!--", start):
        return b"-->"
    return b"]]>" if data.startswith(b"<![CDATA[", start) else b">"


def _parsed_tag(tag: bytes) -> tuple[bool, bytes, bytes]:
    """Whether a tag closes, and its prefix and name in lower case."""
    words = tag.split(None, 1)
    prefix, _, name = (words[0] if words else b"").strip(b"/").lower().rpartition(b":")
    return tag.startswith(b"/"), prefix, name


def _attributes(tag: bytes) -> dict[str, str]:
    found = {}
    for match in _ATTRIBUTE.finditer(tag[:_MAX_TEXT]):
        value = (match[2] or match[3] or b"").decode("utf-8", "replace")
        found[match[1].decode("utf-8", "replace").lower()] = _ENTITY.sub(_character, value)
    return found


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if name in _NAMED:
        return _NAMED[name]
    code = int(f"0{name[1:]}", 0) if name[1] in "xX" else int(name[1:])
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
