"""The URL of a saved page: given, stated by the page, or derived from its path in a mirror."""

from __future__ import annotations

import re
from pathlib import PurePath
from urllib.parse import quote

from messor.web.html import parse_document
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, parse

# Browsers write it at the top, with the URL's length; SingleFile writes a comment of its own.
_SAVED_FROM = re.compile(r"<!--\s*saved from url=\((\d{4})\)(\S+)", re.IGNORECASE)
_SINGLE_FILE = re.compile(r"<!--\s*Page saved with SingleFile\s+url:\s*(\S+)", re.IGNORECASE)
_TOP = 16_384
_INDEX = re.compile(r"(?:^|(?<=/))index\.html?(?=$|\?)", re.IGNORECASE)


def own_address(text: str) -> Url | None:
    """The URL a page states as its own: saved-from comment, canonical link, og:url."""
    top = text[:_TOP]
    if (saved := _SAVED_FROM.search(top)) is not None:
        url = parse(_uncommented(saved[2], int(saved[1])))
        if url is not None:
            return url
    if (saved := _SINGLE_FILE.search(top)) is not None and (url := parse(saved[1])) is not None:
        return url
    document = parse_document(text)
    for selector, name in (
        ("link[rel~=canonical i]", "href"),
        ('meta[property="og:url" i]', "content"),
    ):
        for element in document.select(selector)[:8]:
            if (url := parse(element.attr(name) or "")) is not None:
                return url
    return None


def _uncommented(text: str, length: int) -> str:
    """The URL of a saved-from comment, without a comment end attached to it."""
    if length and text[length : length + 3] in ("", "-->"):
        return text[:length]
    return text.partition("-->")[0]


def mirrored_address(base: Url, path: PurePath) -> str:
    """The URL of a file in a mirror: its path below the base, or below the host it names first."""
    first, *rest = path.parts
    host = parse(f"{base.scheme}://{first}/") if rest else None
    if host is not None and _shares_domain(host, base):
        start, parts = f"{host.origin}/", rest
    else:
        start, parts = base.origin + base.path.rpartition("/")[0] + "/", [first, *rest]
    name = _INDEX.sub("", "/".join(parts))
    place, mark, query = name.partition("?")
    return f"{start}{quote(place, safe='/%:@!$&*+,;=~')}{mark}{query.replace('#', '%23')}"


def _shares_domain(host: Url, base: Url) -> bool:
    domain = registrable_domain(host.host)
    return host.host == base.host or (
        domain is not None and domain == registrable_domain(base.host)
    )
