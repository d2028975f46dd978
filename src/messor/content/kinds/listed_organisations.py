"""Businesses and other organisations that a directory page lists.

Each is a heading or the beginning of a line, with a phone number or a street beside it; one alone is
no list. The site's own imprint is read by `organisation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from messor.content import phones
from messor.content.dates import fold
from messor.content.evidence import EvidencedField
from messor.content.kinds.build import GUESSED, VISIBLE
from messor.content.kinds.sections import MAX_NAME, folders_of, heading_of
from messor.content.lines import Line
from messor.content.places import country_of
from messor.content.view import PageView

FEWEST = 3
_REACH = 6  # lines below a name
_DIRECTORY = re.compile(
    r"(?<!\w)(?:director(?:y|ies)|business(?:es)?|members?|partners?|providers?|companies|shops|vendors|suppliers|"
    r"merchants|listings|agencies|organi[sz]ations|resource (?:list|guide)|resources|verzeichnis|betriebe|mitglieder|annuaire|"
    r"commercants|directorio|negocios|elenco|aziende|bedrijven)(?!\w)"
)
_PHONE = re.compile(r"(?<![\d.,/-])\+?\(?\d[\d\s().-]{6,18}\d(?!\d)")
_STREET = re.compile(
    r"(?<![\d,.])\d{1,5}[a-z]?\s(?:[A-Z][\w.\u2019'-]{0,30}\s){1,4}?(?:St(?:reet|\.)?|Ave(?:nue|\.)?|R(?:oa)?d\.?|"
    r"Blvd\.?|Boulevard|Dr(?:ive|\.)?|Lane|Ln\.?|Way|Court|Ct\.?|Place|Square|Highway|Hwy\.?|Parkway|Pkwy\.?|Terrace|Close)(?!\w)"
    r"|(?<!\w)[A-Z\u00c4\u00d6\u00dc][\w\u00df.-]{2,30}(?:stra\u00dfe|str\.|strasse|gasse|platz|weg|laan|straat)\s\d{1,4}[a-z]?(?!\w)"
)
_NAME = re.compile(r"^([^\W_][^,;:|\u2013\u2014]{2,60}?)\s*(?:[,;:|\u2013\u2014]|\s-\s)")

Fields = dict[str, EvidencedField | None]


def read_listed(page: PageView) -> list[Fields]:
    """Return the fields of each organisation that a directory page lists."""
    heading = heading_of(page)
    names = [*folders_of(page), fold(heading.text) if heading is not None else ""]
    if not any(map(_DIRECTORY.search, names)):
        return []
    below = [fields for line in page.lines if (fields := _below(page, line)) is not None]
    found = below if len(below) >= FEWEST else list(_in_lines(page))
    return found if len(found) >= FEWEST else []


def _below(page: PageView, line: Line) -> Fields | None:
    """Read a heading with the lines below it, up to the next heading."""
    if not 2 <= line.level <= 5 or line.region or not 2 <= len(line.text) <= MAX_NAME:
        return None
    facts: Fields = {}
    for following in page.lines[line.number + 1 : line.number + 1 + _REACH]:
        if following.level or following.region:
            break
        for name, field in _facts(page, following).items():
            facts.setdefault(name, field)
    return {"name": page.passage(line).field("text", VISIBLE), **facts} if facts else None


def _in_lines(page: PageView) -> Iterator[Fields]:
    """Read lines that name an organisation first and then how to reach it."""
    for line in page.lines:
        named = (
            None if line.level or line.region or len(line.text) > 200 else _NAME.match(line.text)
        )
        facts = {} if named is None else _facts(page, line)
        if named is not None and facts:
            yield {"name": page.passage(line, named[1]).field("text", GUESSED), **facts}


def _facts(page: PageView, line: Line) -> Fields:
    """Return the phone number and street of a line."""
    found: Fields = {}
    number, street = _PHONE.search(line.text), _STREET.search(line.text)
    if number is not None:
        passage = page.passage(line, number[0])
        national = phones.normaliser(country_of(page))
        field = passage.field("phone", VISIBLE) or passage.field(national, GUESSED)
        if field is not None:
            found["phone"] = field
    if street is not None:
        found["street"] = page.passage(line, street[0]).field("text", VISIBLE)
    return found
