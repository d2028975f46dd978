"""From a saved page to what is stored of it: its URL, hashes and archive record.

Pages are read as fetched ones are, so that equal bytes give equal snapshots. Links are not
followed: an import discovers nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.archive import hashes, warc
from messor.crawl.rows import clean
from messor.crawl.sandboxed_reader import SandboxedReader
from messor.errors import UsageError
from messor.imports.addresses import own_address
from messor.imports.saved import SavedPage, age_of
from messor.web.encodings import decode
from messor.web.html import PageReading, TooComplexError, read_page
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, canonical, parse, url_hash

_NO_ADDRESS = (
    "the page does not state its URL; give it with --url (for a folder, the base URL of the folder)"
)
_UNTYPED = "text/html"
# For longer ones a tree may take over a hundred times as much memory.
MAX_HERE = 500_000
MAX_PAGE_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class ImportCandidate:
    """A saved page with its URL and the domain that governs it."""

    page: SavedPage
    url: Url
    domain: str
    key: str  # the canonical URL
    url_hash: bytes
    raw_hash: bytes
    age: float  # seconds since it was saved


@dataclass(frozen=True, slots=True)
class Sight:
    """A candidate after reading: everything a snapshot needs except its place in the archive."""

    candidate: ImportCandidate
    record: bytes
    content_hash: bytes
    data_hash: bytes
    content_type: str
    title: str | None
    description: str | None
    language: str | None
    markdown: str
    data: str | None


@dataclass(frozen=True, slots=True)
class Unread:
    """A page that could not be read, and why."""

    candidate: ImportCandidate
    reason: str


@dataclass(frozen=True, slots=True)
class Tangled:
    """A page to be read in a process of its own."""

    candidate: ImportCandidate


def address(page: SavedPage, now: datetime) -> ImportCandidate:
    """Determine a page's URL; raises a MessorError with the reason if that fails."""
    if len(page.body) > MAX_PAGE_BYTES:
        size, most = len(page.body) / 1e6, MAX_PAGE_BYTES // 1_000_000
        raise UsageError(
            f"the page has {size:.1f} MB; imported pages may have up to {most} MB. Shorten it, or "
            "let Messor fetch it"
        )
    url = parse(page.url) if page.url is not None else own_address(_text(page))
    if url is None and page.url is not None:
        raise UsageError(f"{page.url[:200]!r} is not a web address")
    if url is None:
        raise UsageError(_NO_ADDRESS)
    domain = registrable_domain(url.host)
    if domain is None:
        raise UsageError(f"{url.host} has no registrable domain")
    return ImportCandidate(
        page,
        url,
        domain,
        canonical(url),
        url_hash(url),
        hashes.raw_hash(page.body),
        age_of(page.saved_at, now),
    )


def read(candidate: ImportCandidate, agent: str) -> Sight | Unread | Tangled:
    """Read a page unless it is too large or too complex to be read here; blocks while it parses."""
    text = _text(candidate.page)
    if "<" not in text:
        return Unread(candidate, "the file is not HTML")
    if len(text) > MAX_HERE:
        return Tangled(candidate)
    try:
        return _sight(candidate, text, read_page(text, candidate.url.href, agent=agent))
    except TooComplexError:
        return Tangled(candidate)


async def read_sandboxed(candidate: ImportCandidate, sandbox: SandboxedReader) -> Sight | Unread:
    """Read a page in a process of its own, with limits of time and memory."""
    text = _text(candidate.page)
    try:
        return _sight(candidate, text, await sandbox.read(text, candidate.url.href))
    except TooComplexError as error:
        return Unread(candidate, f"too complex: {error}")


def _sight(candidate: ImportCandidate, text: str, reading: PageReading) -> Sight:
    page, url = candidate.page, candidate.url
    data = hashes.encode_data(reading.structured)
    return Sight(
        candidate,
        record=warc.response(url.href, 200, "OK", _headers(page), body=page.body),
        content_hash=hashes.content_hash(reading.markdown, None, text),
        data_hash=hashes.data_hash(data),
        content_type=clean(page.content_type) or _UNTYPED,
        title=reading.title or None,
        description=reading.description or None,
        language=reading.language or None,
        markdown=reading.markdown,
        data=data.decode() if data else None,
    )


def _text(page: SavedPage) -> str:
    return decode(page.body, page.content_type)[0]


def _headers(page: SavedPage) -> list[tuple[bytes, bytes]]:
    """The HTTP head of the archive record: the original, or one made for a page without it.

    It states that a person supplied the page, and when it was saved: the record's own date is that
    of the import.
    """
    typed = (b"Content-Type", (page.content_type or _UNTYPED).encode("latin-1", "replace"))
    head = list(page.headers) or [typed]
    head.append((b"X-Messor-Provider", b"import"))
    if page.saved_at is not None:
        head.append((b"X-Messor-Saved-At", page.saved_at.isoformat().encode()))
    return head
