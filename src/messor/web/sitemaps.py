"""Sitemaps and feeds: which URLs a document lists, whatever its dialect or condition.

Reads url sets, indexes, plain text, RSS, Atom and RDF, also gzipped, truncated or malformed,
within fixed bounds. It opens nothing: following an index, and whether a URL is in scope, is
left to the caller.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from messor.web import encodings, urls
from messor.web.sitemap_scanner import Entry, Scanner

MAX_BYTES = 50 * 1024 * 1024
MAX_URLS = 50_000

_TOO_LARGE = "larger than 50 MiB; the rest was not read"
_GZIP = b"\x1f\x8b"
_MAX_GZIP_LAYERS = 2
_XML_HEAD = 4096
_ROOTS = {
    b"urlset": "urlset",
    b"sitemapindex": "index",
    b"rss": "rss",
    b"feed": "atom",
    b"rdf": "rdf",
}
_SHORT_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?\Z", re.ASCII)


@dataclass(slots=True)
class Sitemap:
    """What one document lists; `kind` is urlset, index, text, rss, atom, rdf or unknown."""

    kind: str = "unknown"
    urls: list[tuple[str, datetime | None]] = field(default_factory=list)
    sitemaps: list[tuple[str, datetime | None]] = field(default_factory=list)
    alternates: list[str] = field(default_factory=list)  # hreflang versions of listed pages
    warnings: list[str] = field(default_factory=list)

    def warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)


def read(
    body: bytes,
    *,
    url: str | None = None,
    content_type: str | None = None,
    limit: int = MAX_URLS,
) -> Sitemap:
    """Read a document of any kind; `url` is what relative links refer to."""
    sitemap = Sitemap()
    collector = _Collector(sitemap, url, limit)
    data = _as_utf8(_inflated(body, sitemap), content_type)
    if len(data) > MAX_BYTES:
        sitemap.warn(_TOO_LARGE)
        data = data[:MAX_BYTES]
    if _is_markup(data):
        scanner = Scanner(collector.take)
        scanner.scan(data)
        sitemap.kind = _ROOTS.get(scanner.root, "unknown")
        for sentence in scanner.warnings:
            sitemap.warn(sentence)
    else:
        sitemap.kind = "text"
        collector.take_lines(data)
    if sitemap.kind in ("text", "unknown") and not sitemap.urls and not sitemap.sitemaps:
        sitemap.kind = "unknown"
        sitemap.warn("not a sitemap")
    return sitemap


def _inflated(body: bytes, sitemap: Sitemap) -> bytes:
    """The content under gzip, as far as it is whole and within bounds."""
    for _ in range(_MAX_GZIP_LAYERS):
        if not body.startswith(_GZIP):
            break
        inflater = zlib.decompressobj(wbits=31)
        try:
            body = inflater.decompress(body, MAX_BYTES)
        except zlib.error:
            sitemap.warn("gzip data is damaged")
            return b""
        if inflater.unconsumed_tail:
            sitemap.warn(_TOO_LARGE)
        elif not inflater.eof:
            sitemap.warn("gzip data is truncated")
    return body


def _as_utf8(data: bytes, content_type: str | None) -> bytes:
    """UTF-16 becomes UTF-8; other encodings agree with it where URLs are concerned."""
    encoding = encodings.sniff(data[:_XML_HEAD], content_type if data[:2] else None)
    if encoding.startswith("utf-16"):
        return data[:MAX_BYTES].decode(encoding, "replace").encode("utf-8", "replace")
    return data.removeprefix(b"\xef\xbb\xbf")


def _is_markup(data: bytes) -> bool:
    head = data[:_XML_HEAD].lstrip()
    return head.startswith(b"<") or any(
        mark in head for mark in (b"<?xml", b"<urlset", b"<sitemapindex", b"<rss", b"<feed")
    )


class _Collector:
    """Turns what a document says into absolute URLs, up to a limit."""

    def __init__(self, sitemap: Sitemap, base: str | None, limit: int) -> None:
        self._sitemap = sitemap
        self._base = base
        self._limit = limit

    def take(self, entry: Entry) -> bool:
        """Add an entry; False when no more are wanted."""
        found = urls.parse(entry.loc.strip(), self._base)
        if found is None:
            self._sitemap.warn("some entries are no web URLs")
        elif not self._has_room():
            return False
        else:
            target = self._sitemap.sitemaps if entry.is_sitemap else self._sitemap.urls
            target.append((found.href, parse_date(entry.lastmod)))
        for text in entry.alternates:
            alternate = urls.parse(text.strip(), self._base)
            if alternate is not None and len(self._sitemap.alternates) < self._limit:
                self._sitemap.alternates.append(alternate.href)
        return True

    def take_lines(self, data: bytes) -> None:
        start = 0
        while start < len(data):
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            if end - start <= urls.MAX_URL_LENGTH:
                line = data[start:end].decode("utf-8", "replace").strip()
                if line.startswith(("http://", "https://")) and not self.take(Entry(line)):
                    return
            start = end + 1

    def _has_room(self) -> bool:
        if len(self._sitemap.urls) + len(self._sitemap.sitemaps) < self._limit:
            return True
        self._sitemap.warn(f"more than {self._limit} entries; the rest was not read")
        return False


def parse_date(text: str) -> datetime | None:
    """A W3C or RFC 822 date as aware UTC; None when it is absent or not to be trusted."""
    text = text.strip()
    if not text or len(text) > 64:
        return None
    try:
        short = _SHORT_DATE.match(text)
        if short is not None:
            return datetime(int(short[1]), int(short[2] or 1), 1, tzinfo=UTC)
        if text[:4].isdigit():
            found = datetime.fromisoformat(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        found = parsedate_to_datetime(text)
        return found.astimezone(UTC) if found.tzinfo else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
