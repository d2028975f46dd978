"""Sitemap files: URL sets and indexes, plain or gzipped as a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from simweb import splice
from simweb.answers import SimResponse
from simweb.markup import esc, piece


@dataclass(frozen=True, slots=True)
class Entry:
    url: str
    modified: datetime


def urlset(entries: Iterable[Entry]) -> SimResponse:
    return _xml("sitemap", _entries_xml(entries))


def gzipped_urlset(entries: Iterable[Entry]) -> SimResponse:
    """A `.xml.gz` file: the gzip is the content, not a coding of the transfer."""
    xml = piece("sitemap", entries=_entries_xml(entries))
    return SimResponse(200, (("Content-Type", "application/gzip"),), splice.compress(xml.encode()))


def index(urls: Iterable[str]) -> SimResponse:
    return _xml("sitemap_index", "".join(piece("sitemap_part", url=esc(url)) for url in urls))


def _entries_xml(entries: Iterable[Entry]) -> str:
    return "".join(
        piece("sitemap_url", url=esc(entry.url), modified=entry.modified.date().isoformat())
        for entry in entries
    )


def _xml(shape: str, inner: str) -> SimResponse:
    body = piece(shape, entries=inner).encode()
    return SimResponse(200, (("Content-Type", "application/xml; charset=utf-8"),), body)
