"""Sitemaps and feeds: the URLs that a document lists, in any dialect or condition.

Reads url sets, indexes, plain text, RSS, Atom and RDF, also gzipped, truncated or malformed, within
fixed limits, as a whole or in chunks as it arrives. It opens nothing: following an index, and
whether a URL is in scope, is left to the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from messor.web import urls
from messor.web.sitemap_scanner import Scanner, SitemapEntry
from messor.web.sitemap_stream import HEAD, Gunzip, ToUtf8

MAX_BYTES = 50 * 1024 * 1024
MAX_URLS = 50_000

_TOO_LARGE = "larger than 50 MiB; the rest was not read"
_PIECE = 64 * 1024
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
    """The content of one document; `kind` is urlset, index, text, rss, atom, rdf or unknown."""

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
    """Read a document of any kind; `url` is the base of relative links."""
    reader = SitemapReader(url=url, content_type=content_type, limit=limit)
    for start in range(0, len(body), _PIECE):
        if reader.is_done:
            break
        reader.feed(body[start : start + _PIECE])
    return reader.close()


class SitemapReader:
    """Reads a document while it arrives; holds the entries found and the current chunk."""

    def __init__(
        self, *, url: str | None = None, content_type: str | None = None, limit: int = MAX_URLS
    ) -> None:
        self.is_done = False  # no more input is needed: the rest need not be fetched
        self._sitemap = Sitemap()
        self._collector = _Collector(self._sitemap, url, limit)
        self._content_type = content_type
        self._gunzip = Gunzip(self._sitemap.warn)
        self._size = 0
        self._head = b""
        self._to_utf8: ToUtf8 | None = None
        self._parser: Scanner | _Lines | None = None

    def feed(self, data: bytes) -> None:
        for piece in () if self.is_done else self._gunzip.feed(data):
            self._feed_plain(piece)
            if self.is_done:
                break

    def close(self) -> Sitemap:
        """Everything the document lists, at its end or wherever it broke off."""
        sitemap = self._sitemap
        for piece in () if self.is_done else self._gunzip.close():
            self._feed_plain(piece)
        parser = self._parser or self._begin()
        parser.close()
        if isinstance(parser, Scanner):
            sitemap.kind = _ROOTS.get(parser.root, "unknown")
            for sentence in parser.warnings:
                sitemap.warn(sentence)
        else:
            sitemap.kind = "text"
        if sitemap.kind in ("text", "unknown") and not sitemap.urls and not sitemap.sitemaps:
            sitemap.kind = "unknown"
            sitemap.warn("not a sitemap")
        self.is_done = True
        return sitemap

    def _feed_plain(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MAX_BYTES:
            data = data[: MAX_BYTES - self._size]
            self._sitemap.warn(_TOO_LARGE)
            self.is_done = True
        if self._parser is not None and self._to_utf8 is not None:
            self._parser.feed(self._to_utf8.feed(data))
        else:
            self._head += data
            if len(self._head) < HEAD:
                return
            self._begin()
        self.is_done |= self._parser is not None and self._parser.is_done

    def _begin(self) -> Scanner | _Lines:
        """Choose the reader by the first bytes."""
        self._to_utf8 = ToUtf8(self._head[:HEAD], self._content_type)
        head = self._to_utf8.feed(self._head).removeprefix(b"\xef\xbb\xbf")
        take = self._collector.take
        self._parser = Scanner(take) if _is_markup(head) else _Lines(take)
        self._parser.feed(head)
        self._head = b""
        return self._parser


def _is_markup(data: bytes) -> bool:
    head = data[:HEAD].lstrip()
    return head.startswith(b"<") or any(
        mark in head for mark in (b"<?xml", b"<urlset", b"<sitemapindex", b"<rss", b"<feed")
    )


class _Collector:
    """Turns entries into absolute URLs, up to a limit."""

    def __init__(self, sitemap: Sitemap, base: str | None, limit: int) -> None:
        self._sitemap = sitemap
        self._base = base
        self._limit = limit

    def take(self, entry: SitemapEntry) -> bool:
        """Add an entry; False when no more are wanted."""
        found = urls.parse(entry.loc.strip(), self._base)
        if found is None:
            self._sitemap.warn("some entries are not web URLs")
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

    def _has_room(self) -> bool:
        if len(self._sitemap.urls) + len(self._sitemap.sitemaps) < self._limit:
            return True
        self._sitemap.warn(f"more than {self._limit} entries; the rest was not read")
        return False


class _Lines:
    """Passes each line that is a URL to `take` until that returns False."""

    def __init__(self, take: Callable[[SitemapEntry], bool]) -> None:
        self._take = take
        self._rest = b""
        self.is_done = False

    def feed(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)
        # One byte more than a line may have is enough to detect that it is too long.
        self._rest = rest[: urls.MAX_URL_LENGTH + 1]

    def close(self) -> None:
        self._line(self._rest)
        self.is_done = True

    def _line(self, raw: bytes) -> None:
        if len(raw) <= urls.MAX_URL_LENGTH and not self.is_done:
            line = raw.decode("utf-8", "replace").strip()
            if line.startswith(("http://", "https://")):
                self.is_done = not self._take(SitemapEntry(line))


def parse_date(text: str) -> datetime | None:
    """A W3C or RFC 822 date as aware UTC; None when it is absent or implausible."""
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
