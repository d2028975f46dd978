"""A page's directives about storing and using it: robots tags and reservations, in headers and markup.

X-Robots-Tag may be sent several times and may name an agent. Reservations are those of the TDM
protocol and the `noai` words; policies on either are applied elsewhere. `statements` are everything
that headers and markup say about use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from messor.web.html import PageReading
from messor.web.licence_marks import LICENCE
from messor.web.usage import aipref, content_signal, creative_commons, robots_words, tdm
from messor.web.usage.statement import Statement

_TELLING = frozenset(
    {b"x-robots-tag", b"tdm-reservation", b"tdm-policy", b"content-signal", b"content-usage"}
)
_LINK = b"link"
# <https://…>; rel="license"
_LICENCE_LINK = re.compile(r'<([^<>]{1,500})>[^<,]{0,200}?;\s*rel="?license\b', re.IGNORECASE)
_AI_WORDS = frozenset({"noai", "noimageai"})
# Directives that take a value; any other "word:" names an agent.
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


class PageDirectives(NamedTuple):
    """The directives, and where they were found."""

    noindex: str  # where it was found; empty when absent
    nofollow: bool
    reservations: dict[str, str]
    statements: list[Statement]


def has_directives(raw_headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether the headers contain any directive, regardless of the page."""
    return any(
        name.lower() in _TELLING or _names_licence(name, value) for name, value in raw_headers
    )


def directives_of(
    raw_headers: Iterable[tuple[bytes, bytes]], reading: PageReading, agent: str
) -> PageDirectives:
    """Headers and markup combined; either can forbid."""
    noindex = "meta robots" if reading.noindex else ""
    nofollow = reading.nofollow
    reservations = dict(reading.reservations)
    told: dict[bytes, list[str]] = {}
    for raw_name, raw_value in raw_headers:
        name = raw_name.lower()
        if _names_licence(raw_name, raw_value):
            told.setdefault(_LINK, []).append(raw_value.decode("latin-1"))
        if name not in _TELLING:
            continue
        value = raw_value.decode("latin-1").strip()
        if name != b"x-robots-tag":
            told.setdefault(name, []).append(value)
            if value not in ("", "0") and name != b"content-usage":
                reservations[name.decode()] = value[:500]
            continue
        words = _words_for(value.lower(), agent.lower())
        told.setdefault(name, []).extend(words)
        if not words.isdisjoint({"noindex", "none"}):
            noindex = noindex or "X-Robots-Tag"
        nofollow |= not words.isdisjoint({"nofollow", "none"})
        reservations.update(dict.fromkeys(words & _AI_WORDS, "X-Robots-Tag"))
    return PageDirectives(noindex, nofollow, reservations, _statements(told, reading.usage))


def _names_licence(name: bytes, value: bytes) -> bool:
    return name.lower() == _LINK and b"license" in value.lower()


def _statements(told: dict[bytes, list[str]], metas: list[tuple[str, str]]) -> list[Statement]:
    """What headers and markup say about use; a meta element of TDMRep counts before its header."""
    if not told and not metas:
        return []
    found: list[Statement] = []
    if usage := told.get(b"content-usage"):
        found += aipref.statements_of(", ".join(usage), "header Content-Usage")
    for value in told.get(b"content-signal", ()):
        found += content_signal.statements_of(value, "header Content-Signal")
    found += robots_words.statements_of(told.get(b"x-robots-tag", ()), "header X-Robots-Tag")
    for name, content in metas:
        if name == "robots":
            found += robots_words.statements_of(content.split(), "meta robots")
    for value in told.get(_LINK, ()):
        found += creative_commons.statements_of(_LICENCE_LINK.findall(value), "header Link")
    marks = [value for name, value in metas if name == LICENCE]
    found += creative_commons.statements_of(marks, "licence mark")
    reserved = [value for name, value in metas if name == "tdm-reservation"]
    if reserved:
        found += [tdm.statement_of(value, "meta tdm-reservation") for value in reserved]
    else:
        headers = told.get(b"tdm-reservation", ())
        found += [tdm.statement_of(value, "header TDM-Reservation") for value in headers]
    return found


def _words_for(value: str, agent: str) -> set[str]:
    """The directives of one header that apply to all agents or to us."""
    words: set[str] = set()
    ours = True
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        name = name.strip()
        if colon and name == "unavailable_after":
            if ours and _is_past(f"{rest}{value.partition(part)[2]}"):
                words.add("noindex")
            break  # a date contains commas itself
        if colon and name not in _WITH_VALUE:
            ours = name in (agent, "robots", "*")
            name = rest.strip()
        if ours:
            words.update(name.split())
    return words


def _is_past(text: str) -> bool:
    try:
        moment = parsedate_to_datetime(text.strip())
    except ValueError:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            return False
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment < datetime.now(UTC)
