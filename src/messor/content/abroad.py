"""Postal addresses that a country's name closes, wherever the postal code stands or if there is none.

Below an office's name such an address goes from the building to the city, line by line; the line of the country,
or the country's name at the end of the city's line, tells that all of it is an address.
"""

from __future__ import annotations

import re

from messor.content.dates import fold
from messor.content.lines import Line
from messor.content.postal import Address, Part
from messor.core.words import load, phrases

_COUNTRIES = frozenset(phrases(load("messor.content", "countries")["names"]["english"]))
_LAST_WORDS = frozenset(name.rpartition(" ")[2] for name in _COUNTRIES)
_MAX_LINE = 90
_MAX_LAST = 60
_ABOVE = 5  # lines of a street, and the city's
_EDGES = " ,;|.()-\u2013\u2014"
_COUNTRY_AT_END = re.compile(r"(?:^|[,|-]\s?|\)\s?)([A-Z][A-Za-z ]{3,25})\.?$")
_CODE = re.compile(r"(?<![\w/])\(?((?:[A-Z]{1,3}[- ])?\d{3,7}(?:[- ]\d{2,4})?)\)?(?![\w/])")
_CITY = re.compile(r"[^\W\d_][^\d,;:|()@/]{2,30}")
_STREET_LIKE = re.compile(
    r"\d|\b(?:street|str|st|road|rd|avenue|ave|blvd|lane|highway|block|building|tower|park|plaza|floor|centre|center|"
    r"calle|rua|via|rue|jalan|marg|nagar|ul|prospekt|no)\b\.?",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d")
_CONTACT = re.compile(
    r"@|\+\s?\d|\(\+?\d{1,4}\)\s?\d|(?i:\b(?:tel|phone|fax|mobile|e-?mail|www)\b)|\d{3}[-.\s]\d{3,4}\b|\d{7}|https?:|[?!:]"
)


def closing_country(text: str) -> str:
    """Return the country's name at the end of a line, empty if none stands there."""
    if (
        not 4 <= len(text) <= _MAX_LAST
        or text.rstrip(".").rpartition(" ")[2].lower() not in _LAST_WORDS
    ):
        return ""  # as nearly all lines, found without a pattern
    found = _COUNTRY_AT_END.search(text)
    return found[1] if found is not None and fold(found[1]) in _COUNTRIES else ""


def closed_address(lines: list[Line], number: int, name: str) -> Address | None:
    """Return the address that a country's name at the end of a line closes, if it has a street."""
    last = lines[number]
    rest = last.text[: last.text.rindex(name)].strip(_EDGES)
    if not rest:
        number -= 1
        last = lines[number]
        rest = last.text.strip(_EDGES)
    if number < 1 or len(rest) > _MAX_LAST or _CONTACT.search(rest):
        return None
    code = _CODE.search(rest)
    without = rest if code is None else f"{rest[: code.start()]},{rest[code.end() :]}"
    pieces = [piece.strip(_EDGES) for piece in without.split(",")]
    city = next((piece for piece in pieces if _CITY.fullmatch(piece)), None)
    street = _street(lines, number) if city is not None else None
    if street is None or city is None:
        return None
    return Address(Part(last, city), street, None, None if code is None else Part(last, code[1]))


def _street(lines: list[Line], city: int) -> Part | None:
    """Return the lines above the city's that look like a street: one of them has a number."""
    first = city
    while first > max(0, city - _ABOVE) and _may_be_street(lines[first - 1].text):
        first -= 1
    taken = lines[first:city]
    if not taken or not any(_NUMBERED.search(line.text) for line in taken):
        return None
    text = " ".join(line.text.strip() for line in taken).strip(_EDGES)
    return Part(taken[0], text, taken[-1] if len(taken) > 1 else None)


def _may_be_street(text: str) -> bool:
    return len(text) <= _MAX_LINE and bool(_STREET_LIKE.search(text)) and not _CONTACT.search(text)
