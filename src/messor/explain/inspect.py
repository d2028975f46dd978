"""Inspect: applies Messor's rules to one robots.txt, URL, sitemap, page, document or address.

Each subject is a function from a JSON object to a JSON object, the same for people and scripts;
nothing is fetched, resolved or stored. Bad input raises UsageError.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any

import msgspec

from messor.archive import hashes
from messor.content.documents.markup import SCANNED
from messor.errors import UsageError
from messor.fetch import gates
from messor.fetch.guard import AddressGuard
from messor.parsers.page_reading import read_records
from messor.parsers.page_text import text_of
from messor.settings import AllowedNetworks
from messor.web import encodings, html, sitemaps
from messor.web.document_formats import format_of
from messor.web.robots import Robots
from messor.web.robots_tags import directives_of
from messor.web.suffixes import registrable_domain
from messor.web.urls import canonical, parse, resolve, url_hash
from messor.web.usage import rsl, tdm
from messor.web.usage.robots_txt import RobotsUsage
from messor.web.usage.statement import Statement, decide_all

Given = Mapping[str, Any]
Found = dict[str, Any]

DEFAULT_AGENT = "MessorBot"
# Stands for the URL of a page whose own is not given; relative links resolve to nothing.
NO_URL = "about:blank"


def inspect_robots(given: Given) -> Found:
    """`{robots_txt | robots_txt_b64, user_agent, url}` → may it be fetched, and by which rule."""
    if given.get("robots_txt") is None and given.get("robots_txt_b64") is not None:
        robots = Robots.parse(_body(given, "robots_txt_b64"))
    else:
        robots = Robots.parse(_text(given, "robots_txt").encode("utf-8", "surrogatepass"))
    agent = _optional(given, "user_agent") or DEFAULT_AGENT
    found: Found = msgspec.to_builtins(robots.check(agent, _text(given, "url")))
    return found


def inspect_rights(given: Given) -> Found:
    """`{url, robots_txt, headers, html, tdmrep, rsl, user_agent}` → what they say about each use."""
    address, agent = _text(given, "url"), _optional(given, "user_agent") or DEFAULT_AGENT
    said: list[Statement] = []
    if (robots_txt := _optional(given, "robots_txt")) is not None:
        said += RobotsUsage.read(robots_txt.encode(), agent).statements_of(address)
    if (tdmrep := _optional(given, "tdmrep")) is not None:
        said += [one for one in [tdm.of_well_known(tdmrep.encode(), address)] if one is not None]
    if (licence := _optional(given, "rsl")) is not None:
        said += rsl.statements_of(licence.encode(), address, "RSL document")
    markup = _optional(given, "html") or ""
    reading = _reading(markup, address, []) or html.PageReading(url=address, base=address)
    headers = [
        (name.encode(), line.encode("latin-1", "replace"))
        for name, value in _headers(given).items()
        for line in value.split("\n")
    ]
    said += directives_of(headers, reading, agent).statements
    return {
        "statements": [one._asdict() for one in said],
        "uses": {
            one.use.value: {"answer": one.answer, "by": one.by._asdict() if one.by else None}
            for one in decide_all(said)
        },
    }


def inspect_url(given: Given) -> Found:
    """`{input, base?}` → the URL as browsers parse it, and its canonical form."""
    text, base = _text(given, "input"), _optional(given, "base")
    url = parse(text, base)
    if url is None:
        href = resolve(text, base)
        return {"ok": False, "href": href, "canonical": None, "url_hash": None,
                "host": None, "registrable_domain": None}  # fmt: skip
    return {
        "ok": True,
        "href": resolve(text, base),
        "canonical": canonical(url),
        "url_hash": url_hash(url).hex(),
        "host": url.host,
        "registrable_domain": registrable_domain(url.host),
    }


def inspect_sitemap(given: Given) -> Found:
    """`{body_b64, url?, content_type?}` → what the document lists."""
    found = sitemaps.read(
        _body(given), url=_optional(given, "url"), content_type=_optional(given, "content_type")
    )
    return {
        "kind": found.kind,
        "urls": [{"loc": loc, "lastmod": _moment(lastmod)} for loc, lastmod in found.urls],
        "sitemaps": [{"loc": loc, "lastmod": _moment(lastmod)} for loc, lastmod in found.sitemaps],
        "warnings": found.warnings,
    }


def inspect_encoding(given: Given) -> Found:
    """`{body_b64, content_type_header?}` → the encoding, by its WHATWG name."""
    header = _optional(given, "content_type_header")
    return {"encoding": encodings.sniff(_body(given), header)}


def inspect_address(given: Given) -> Found:
    """`{url, dns?: [ip…]}` → the address guard's verdict; without `dns` from the name alone."""
    url = parse(_text(given, "url"))
    if url is None:
        return {"allowed": False, "reason": "not an http or https URL"}
    guard = AddressGuard(AllowedNetworks())
    refusal = guard.refusal_of_url(url)
    for text in given.get("dns") or []:
        try:
            address = ip_address(text)
        except ValueError as error:
            raise UsageError(f"dns: {text!r} is not an IP address") from error
        refusal = refusal or guard.refusal(address, url.port)
    return {"allowed": refusal is None, "reason": refusal or "a public address on a web port"}


def inspect_page(given: Given) -> Found:
    """`{html | body_b64, url, status?, headers?, generic?}` → everything derived from a page.

    `"html": null` is a response without a known body: only status, headers and URL are judged.
    `content_hash` is that of the whole page's markdown, as the data path stores it; `markdown` and
    `main_text` are those of its main content. `warnings` reports an oversized page.
    """
    url = _optional(given, "url") or NO_URL
    headers = _headers(given)
    text, encoding, size = _page_text(given, headers)
    status, generic = _status(given), given.get("generic") is True
    warnings: list[str] = []
    read = _reading(text, url, warnings)
    reading = read or html.PageReading(url=url, base=url)
    data = hashes.encode_data(reading.structured)
    extraction = read_records(text, url, generic=generic, status=status).as_json()
    extraction["warnings"] = list(dict.fromkeys([*warnings, *extraction["warnings"]]))
    return {
        "title": reading.title,
        "description": reading.description,
        "language": reading.language,
        "canonical": reading.canonical,
        "encoding": encoding,
        **extraction,
        "content_hash": hashes.content_hash(reading.markdown, None, text).hex(),
        "data_hash": hashes.data_hash(data).hex(),
        "links": [{"url": link.href, "nofollow": link.nofollow} for link in reading.links],
        "meta_robots": {"noindex": reading.noindex, "nofollow": reading.nofollow},
        "refresh": reading.refresh,
        "structured_data": reading.structured,
        "text_length": reading.text_length,
        "word_count": reading.word_count,
        **_judged(given, headers, text, size, read),
    }


def inspect_document(given: Given) -> Found:
    """`{body_b64, url?, content_type?}` → the document's format, text and records.

    `html` is what the document was converted to, which evidence quotes; `pages` counts its pages,
    sheets, slides or chapters. A document whose pages are pictures has `is_scanned`.
    """
    body, content_type = _body(given), _optional(given, "content_type")
    kind = format_of(content_type, body)
    if kind is None:
        raise UsageError(
            "This is not a document that is read. Give a PDF, DOCX, XLSX, XLS, ODS, PPTX, RTF or "
            "EPUB file, or name its content_type (text/plain, text/csv, message/rfc822)."
        )
    text = text_of(body, content_type)
    html.check_depth(text)  # what it was converted to may be nested to crash its parser
    reading = html.read_page(text, _optional(given, "url") or NO_URL, bounded=False)
    return {
        "format": kind.value,
        "title": reading.title,
        "pages": text.count("<section data-page="),
        "is_scanned": SCANNED in text,
        "markdown": reading.markdown,
        "word_count": reading.word_count,
        "links": [{"url": link.href, "nofollow": link.nofollow} for link in reading.links],
        "records": read_records(text, reading.url).as_json()["records"],
        "html": text,
    }


def _reading(text: str, url: str, warnings: list[str]) -> html.PageReading | None:
    """A page as the data path reads it, None if it is too complex."""
    try:
        return html.read_page(text, url)
    except html.TooComplexError as error:
        warnings.append(str(error))
        return None


def _judged(
    given: Given,
    headers: Mapping[str, str],
    text: str,
    size: int,
    reading: html.PageReading | None,
) -> Found:
    """The verdict of the quality gates; what was not read is judged by status and headers alone."""
    is_known = given.get("html") is not None or given.get("body_b64") is not None
    verdict = gates.judge(
        status=_status(given),
        headers=headers,
        html=text,
        reading=reading if is_known else None,
        size=size,
        url=_optional(given, "url") or NO_URL,
    )
    block = verdict.block
    return {
        "gates": list(verdict.gates),
        "blocked": {
            "is": block is not None,
            "by": block.by if block else None,
            "evidence": block.evidence if block else None,
        },
        "signals": list(verdict.signals),
    }


def _page_text(given: Given, headers: Mapping[str, str]) -> tuple[str, str, int]:
    """A page's text, encoding, and size in bytes."""
    if given.get("html") is None and given.get("body_b64") is not None:
        body = _body(given)
        return *encodings.decode(body, headers.get("content-type")), len(body)
    if "html" not in given and "body_b64" not in given:
        raise UsageError("html: give a string, or body_b64")
    text = _optional(given, "html") or ""
    return text, "utf-8", len(text.encode("utf-8", "surrogatepass"))


def _status(given: Given) -> int:
    status = given.get("status")
    if status is None:
        return 200
    if not isinstance(status, int) or isinstance(status, bool):
        raise UsageError("status: give a number")
    return status


def _headers(given: Given) -> dict[str, str]:
    """Headers by lower-case name; a list of values is one per line."""
    headers = given.get("headers") or {}
    if not isinstance(headers, Mapping):
        raise UsageError("headers: give an object")
    return {
        name.lower(): "\n".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in headers.items()
    }


SUBJECTS: dict[str, Callable[[Given], Found]] = {
    "robots": inspect_robots,
    "rights": inspect_rights,
    "url": inspect_url,
    "sitemap": inspect_sitemap,
    "encoding": inspect_encoding,
    "address": inspect_address,
    "page": inspect_page,
    "document": inspect_document,
}


def _text(given: Given, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise UsageError(f"{name}: give a string")
    return value


def _optional(given: Given, name: str) -> str | None:
    return None if given.get(name) is None else _text(given, name)


def _body(given: Given, name: str = "body_b64") -> bytes:
    try:
        return base64.b64decode(_text(given, name), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"{name}: not valid base64") from error


def _moment(moment: Any) -> str | None:
    return moment.isoformat() if moment is not None else None
