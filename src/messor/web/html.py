"""One reading of an HTML page: links, metadata, structured data and markdown from one parse.

The parser holds a whole tree in memory, so a page that would grow out of proportion is refused with
TooComplexError; the caller may read it in a process that can be killed. The meaning of the content
is left to `content` and `extraction`.
"""

from __future__ import annotations

import time
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, cast

import turbohtml
from turbohtml import Document, Element

from messor.errors import MessorError
from messor.web.depth import MAX_DEPTH, is_too_deep
from messor.web.licence_marks import read_licences
from messor.web.structured import read_structured
from messor.web.text import one_line, storable
from messor.web.urls import Link, LinkResolver, parse
from messor.web.usage import creative_commons

MAX_CHARS = 6 * 1024 * 1024
MAX_LINKS = 10_000

# Some markup grows a thousandfold in the tree. Up to this size the worst known case still fits in
# 400 MB; larger pages are parsed piecewise and abandoned when they take far too long.
_SAFE_CHARS = 65_536
_CHUNK = 8_192
_PARSE_BUDGET_SECONDS = 0.15
# Plain text of a table is laid out as a grid, rows times columns.
_MAX_CELLS = 4_000
# Markdown of consecutive line breaks takes time quadratic in their number.
_MAX_BREAKS = 2_500
# Markdown of at least a fifth of the page: enough text, regardless of its markup.
_ENOUGH_TEXT = 5
_MAX_METAS = 1_000
_MAX_ANCHOR = 120
_MAX_TITLE = 1_000
_MAX_DESCRIPTION = 4_000


class TooComplexError(MessorError):
    """A page that is too large or too complex to be read in this process."""

    code = "too_complex"


@dataclass(slots=True)
class PageReading:
    """The content of one page, ready to be stored."""

    url: str
    base: str
    links: list[Link] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)  # as written, one for each link
    anchors: list[str] = field(default_factory=list)  # their texts, one for each link
    links_cut: bool = False  # whether there were more than MAX_LINKS
    title: str = ""
    description: str = ""
    language: str = ""
    canonical: str | None = None
    refresh: str | None = None  # target of a meta refresh
    noindex: bool = False
    nofollow: bool = False
    reservations: dict[str, str] = field(default_factory=dict)  # of rights, as written in the page
    usage: list[tuple[str, str]] = field(default_factory=list)  # meta names that speak of use
    structured: dict[str, Any] = field(default_factory=dict)
    markdown: str = ""
    text_length: int = 0  # visible characters; of the markdown where there is enough

    @property
    def word_count(self) -> int:
        """Words of the markdown, counted on demand."""
        return len(self.markdown.split())


def parse_document(html: str, *, bounded: bool = True, is_site_known: bool = False) -> Document:
    """Parse a page, within limits of time and memory unless its process has such limits."""
    if not bounded:
        return turbohtml.parse(html, positions=False)
    check_size(html)
    check_depth(html, is_site_known=is_site_known)
    return parse_in_time(html, _PARSE_BUDGET_SECONDS, _CHUNK)


def check_size(html: str) -> None:
    """Raise TooComplexError for a page that is too large."""
    if len(html) > MAX_CHARS:
        raise TooComplexError(f"The page has more than {MAX_CHARS} characters.")


def check_depth(html: str, *, is_site_known: bool = False) -> None:
    """Raise TooComplexError for a page that nests too deeply for its parser."""
    if is_too_deep(html, known=is_site_known):
        raise TooComplexError(f"The page nests more than {MAX_DEPTH} elements.")


def parse_in_time(
    html: str, seconds: float, chunk: int, *, source_locations: bool = False
) -> Document:
    """Parse a page; a large one piecewise, as long as that takes no more CPU time than given."""
    if len(html) <= _SAFE_CHARS:
        return turbohtml.parse(html, positions=False, source_locations=source_locations)
    parser = turbohtml.IncrementalParser(positions=False, source_locations=source_locations)
    started = time.thread_time()
    for start in range(0, len(html), chunk):
        parser.feed(html[start : start + chunk])
        if time.thread_time() - started > seconds:
            raise TooComplexError("The page's parse tree grows out of proportion to its markup.")
    return parser.close()


def read_page(
    html: str,
    url: str,
    *,
    resolver: LinkResolver | None = None,
    agent: str = "messor",
    known: AbstractSet[str] = frozenset(),
    bounded: bool = True,
    is_site_known: bool = False,
) -> PageReading:
    """Read a page fetched from `url`; `agent` is the robots token searched for in meta tags.

    Links whose href is in `known` are skipped: nearly all links of a site's pages are the same, and
    detecting that by their spelling is almost free. The nesting depth of a page of a known site
    gets a cheaper check.
    """
    document = parse_document(html, bounded=bounded, is_site_known=is_site_known)
    reading = PageReading(url=url, base=url)
    resolver = resolver or LinkResolver(url)
    base = _declared_base(document, url)
    if base is not None:
        reading.base = base
        resolver = resolver.rebase(base)
        known = frozenset()  # they were learnt under another base
    metas = document.select("meta")[:_MAX_METAS]
    _read_metadata(document, metas, reading, agent.lower())
    _read_links(document, reading, resolver, known)
    reading.structured = read_structured(document, metas)
    if creative_commons.HOST in html:
        read_licences(document, metas, reading.structured, reading.usage)
    reading.markdown = storable(_markdown(document))
    _measure_text(document, reading, len(html))
    return reading


def _declared_base(document: Document, url: str) -> str | None:
    for element in document.select("base")[:8]:
        href = element.attr("href")
        if href is not None:
            base = parse(href, url)
            return base.href if base else None
    return None


def _read_metadata(
    document: Document, metas: list[Element], reading: PageReading, agent: str
) -> None:
    title = document.find("title")
    if title is not None:
        reading.title = one_line(title.text, _MAX_TITLE)
    root = document.find("html")
    if root is not None:
        reading.language = one_line(root.attr("lang") or "", 64)
    for meta in metas:
        _read_meta(meta, reading, agent)
    for link in document.select("link")[:1000]:
        if reading.canonical is None and "canonical" in (link.attr("rel") or "").lower().split():
            reading.canonical = _resolved(link.attr("href") or "", reading)


def _resolved(href: str, reading: PageReading) -> str | None:
    # Most canonical links name the page itself, whose URL was already parsed.
    found = parse(href) if href == reading.url else parse(href, reading.base)
    return found.href if found else None


def _read_meta(meta: Element, reading: PageReading, agent: str) -> None:
    name = (meta.attr("name") or meta.attr("property") or meta.attr("http-equiv") or "").lower()
    if name in ("robots", agent):
        words = (meta.attr("content") or "").lower().replace(",", " ").split()
        reading.usage.append(("robots", one_line(" ".join(words), 500)))
        reading.noindex |= "noindex" in words or "none" in words
        reading.nofollow |= "nofollow" in words or "none" in words
        for word in ("noai", "noimageai"):
            if word in words:
                reading.reservations[word] = "meta robots"
    elif name in ("tdm-reservation", "tdm-policy"):
        value = one_line(meta.attr("content") or "", 500)
        reading.usage.append((name, value))
        if value not in ("", "0"):
            reading.reservations[name] = value
    elif name == "description" or (name == "og:description" and not reading.description):
        reading.description = one_line(meta.attr("content") or "", _MAX_DESCRIPTION)
    elif name == "refresh" and reading.refresh is None:
        reading.refresh = _refresh_target(meta.attr("content") or "", reading.base)
    elif name == "content-language" and not reading.language:
        reading.language = one_line(meta.attr("content") or "", 64)


def _refresh_target(content: str, base: str) -> str | None:
    """The URL of "5; url=…"; None when the page only reloads itself."""
    _, _, target = content.replace(",", ";", 1).partition(";")
    target = target.strip()
    if target[:3].lower() == "url":
        _, sign, rest = target.partition("=")
        target = rest.strip() if sign else target
    if target[:1] in ("'", '"'):
        target = target[1:].partition(target[0])[0]
    found = parse(target, base) if target else None
    return found.href if found else None


def _read_links(
    document: Document, reading: PageReading, resolver: LinkResolver, known: AbstractSet[str]
) -> None:
    # The attributes alone first: where nothing is new, no element objects are created.
    written = cast(list[str], document.xpath("//a/@href"))
    areas = document.select("area[href]")
    written += [area.attr("href") or "" for area in areas]
    reading.links_cut = len(written) > MAX_LINKS
    del written[MAX_LINKS:]
    fresh = [at for at, href in enumerate(written) if href not in known]
    if not fresh:
        return
    anchors = [*document.select("a[href]"), *areas]
    mentions: dict[str, list[Element]] = {}
    for at in fresh:
        mentions.setdefault(written[at], []).append(anchors[at])
    unique: dict[bytes, Link] = {}
    for (href, mentioned), link in zip(mentions.items(), resolver.resolve(mentions), strict=True):
        if link is None:
            continue
        found = link.as_nofollow() if all(map(_is_nofollow, mentioned)) else link
        earlier = unique.get(found.url_hash)
        if earlier is None:
            reading.hrefs.append(href)
            reading.anchors.append(one_line(mentioned[0].text, _MAX_ANCHOR))
        if earlier is None or (earlier.nofollow and not found.nofollow):
            unique[found.url_hash] = found
    reading.links = list(unique.values())


def _is_nofollow(anchor: Element) -> bool:
    rel = anchor.attr("rel")
    return rel is not None and "nofollow" in rel.lower().split()


def _markdown(document: Document) -> str:
    """The page as markdown, or as plain text where its line breaks would take too long."""
    if len(document.select("br")) <= _MAX_BREAKS:
        return document.to_markdown()
    if _cells(document) > _MAX_CELLS:
        raise TooComplexError("The page has too many line breaks and table cells.")
    return document.to_text()


def _measure_text(document: Document, reading: PageReading, size: int) -> None:
    """Measure the visible text where there is little of it.

    Only a page that is nearly all markup is ever judged by its text, so only there is the text laid
    out; elsewhere the markdown's length is sufficient and free.
    """
    reading.text_length = len(reading.markdown)
    if reading.text_length * _ENOUGH_TEXT < size and _cells(document) <= _MAX_CELLS:
        reading.text_length = len(document.to_text())


def _cells(document: Document) -> int:
    return len(document.select("td")) + len(document.select("th"))
