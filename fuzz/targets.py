"""Targets: one call of the web's rules each, and what must hold of every answer.

A target takes bytes and returns nothing. It raises BrokenInvariantError when an answer is wrong;
any other exception is a finding as well, but for those a function documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from fuzz.seeds import SEPARATOR
from messor.content.main import read_main
from messor.web import encodings, html, sitemaps, suffixes, urls
from messor.web.robots import Robots
from messor.web.usage import aipref, content_signal, rsl, tdm
from messor.web.usage.robots_txt import RobotsUsage
from messor.web.usage.statement import Answer, Statement, decide_all

Target = Callable[[bytes], None]

_PAGE = "http://example.com/dir/page?q=1"
_CACHE = urls.LinkCache(2_000)


class BrokenInvariantError(AssertionError):
    """An answer that contradicts what its function promises."""


def _require(holds: bool, promise: str) -> None:
    if not holds:
        raise BrokenInvariantError(promise)


def _text(data: bytes) -> str:
    """Any bytes as text; those that are no UTF-8 become lone surrogates."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape")


def _split(data: bytes, default: str) -> tuple[str, bytes]:
    head, separator, body = data.partition(SEPARATOR)
    return (_text(head), body) if separator else (default, data)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _require_storable(texts: Iterable[str | None], what: str) -> None:
    for text in texts:
        if text is not None:
            _require("\0" not in text, f"{what} holds no NUL")
            _require(_is_unicode(text), f"{what} holds no lone surrogate")


def _require_href(href: str) -> None:
    again = urls.parse(href)
    _require(href.isascii(), "an href is ASCII")
    _require(again is not None and again.href == href, "parsing an href gives the same href")


def url(data: bytes) -> None:
    text = _text(data)
    parsed = urls.parse(text)
    form = urls.canonical(text)
    _require(urls.canonical(form) == form, "canonical is idempotent")
    _require(urls.url_hash(text) == urls.url_hash(form), "equal forms have equal hashes")
    if parsed is not None:
        _require_href(parsed.href)
        _require(urls.canonical(parsed) == form, "a URL and its text have the same form")
        _require(urls.parse(form) is not None or len(form) > urls.MAX_URL_LENGTH, "forms are URLs")


def links(data: bytes) -> None:
    base, body = _split(data, _PAGE)
    hrefs = _text(body).split("\n")
    shared = urls.LinkResolver(base, _CACHE).resolve(hrefs)
    _require(len(shared) == len(hrefs), "one answer per href")
    _require(shared == urls.LinkResolver(base).resolve(hrefs), "a cache changes no answer")
    for link in shared:
        if link is not None:
            _require_href(link.href)


def robots(data: bytes) -> None:
    address, body = _split(data, _PAGE)
    parsed = Robots.parse(body)
    for agent in ("messor", "FooBot/1.0", "*"):
        decision = parsed.check(agent, address)
        _require(decision == parsed.check(agent, address), "a decision is the same twice")
        _require_storable((decision.reason, decision.matched_rule), "a robots decision")
    _require_storable(parsed.sitemaps, "a robots sitemap")


def sitemap(data: bytes) -> None:
    base, body = _split(data, "")
    found = sitemaps.read(body, url=base or None)
    for href, date in found.urls + found.sitemaps:
        _require_href(href)
        _require(date is None or date.tzinfo is not None, "dates are aware")
    for href in found.alternates:
        _require_href(href)
    _require_storable(found.warnings, "a warning")


def encoding(data: bytes) -> None:
    header, body = _split(data, "")
    encodings.header_encoding.cache_clear()
    encodings.encoding_for_label.cache_clear()
    text, name = encodings.decode(body, header or None)
    _require(isinstance(text, str), "decoding gives text")
    _require(name == encodings.sniff(body, header or None), "text and name agree")
    _require(name == name.lower(), "names are lower case")
    _require(_is_unicode(text), "decoded text holds no lone surrogate")


def page(data: bytes) -> None:
    address, body = _split(data, _PAGE)
    text = _text(body)
    with suppress(html.TooComplexError):
        reading = html.read_page(text, address)
        _require_storable(
            (reading.title, reading.description, reading.language, reading.markdown), "a page"
        )
        _require_storable((msgspec.json.encode(reading.structured).decode(),), "structured data")
        for href in (reading.canonical, reading.refresh, *(link.href for link in reading.links)):
            if href is not None:
                _require_href(href)
        _require(len(reading.hrefs) == len(reading.links), "one href as written for each link")
    with suppress(html.TooComplexError):
        _require_storable((read_main(text, address).text,), "a main text")


def suffix(data: bytes) -> None:
    host = _text(data)
    suffixes.registrable_domain.cache_clear()
    suffixes.is_public_name.cache_clear()
    suffixes.is_public_name(host)
    domain = suffixes.registrable_domain(host)
    if domain is not None:
        _require(suffixes.is_within(host, domain), "a host lies within its domain")
        _require(suffixes.registrable_domain(domain) == domain, "a domain is its own domain")


_PERMITS = {
    "content-usage": re.compile(rb"=\s*y(?![A-Za-z])"),
    "content-signal": re.compile(rb"=\s*yes", re.IGNORECASE),
    "tdm": re.compile(rb"0"),
    "tdmrep": re.compile(rb"tdm-reservation"),
    "rsl": re.compile(rb"licen[sc]e"),
    "robots": re.compile(rb"content-(usage|signal)", re.IGNORECASE),
}


def _said(kind: str, body: bytes) -> list[Statement]:
    text = body.decode("latin-1")
    if kind == "content-usage":
        return aipref.statements_of(text, kind)
    if kind == "content-signal":
        return content_signal.statements_of(text, kind)
    if kind == "tdm":
        return [tdm.statement_of(text, kind)]
    if kind == "tdmrep":
        found = tdm.of_well_known(body, _PAGE)
        return [] if found is None else [found]
    if kind == "rsl":
        return rsl.statements_of(body, _PAGE, kind)
    return RobotsUsage.read(body, "messor").statements_of(_PAGE)


def usage(data: bytes) -> None:
    """What sites say about use: nothing is permitted without a word that permits."""
    kind, body = _split(data, "robots")
    found = _said(kind, body)
    permits = _PERMITS.get(kind, _PERMITS["robots"])
    for decision in decide_all(found):
        if decision.answer is Answer.YES:
            _require(permits.search(body) is not None, "nothing is permitted without a permission")
        refused = any(one.use is decision.use and one.answer is not Answer.YES for one in found)
        _require(not (refused and decision.answer is Answer.YES), "the strictest decides")


TARGETS: dict[str, Target] = {
    "url": url,
    "links": links,
    "robots": robots,
    "sitemap": sitemap,
    "encoding": encoding,
    "page": page,
    "suffix": suffix,
    "usage": usage,
}
