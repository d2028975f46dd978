"""Postal addresses in visible text, and the country a page states.

An address is a street with a number and, next to or below it, a postal code with a place. Codes
differ by country; a numeric code counts only together with a street.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

import phonenumbers

from messor.content.dates import fold
from messor.content.lines import SEAM, Line
from messor.content.postal import Address, Part, is_english_street, may_hold, postal_at
from messor.content.view import PageView

_STREET = re.compile(
    r"(?<!\w)(?:[^\W\d]{2,30}(?:strasse|straße|str\.|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|"
    r"gracht|vägen|gatan|gata|vej|gade|veien|gaten|katu|tie|kade|steeg)|str\.?|straße|strasse|"
    r"platz|allee|gasse|ring|damm|ufer|chaussee|promenade|(?-i:Am|An der|Im|Zum|Zur)(?=\s[A-ZÄÖÜ])|"
    r"street|st\.?|road|rd\.?|avenue|ave\.?|lane|ln\.?|drive|dr\.?|boulevard|blvd\.?|bd\.?|square|court|way|"
    r"parkway|highway|place|rue|quai|chemin|allée|impasse|route|cours|via|viale|piazza|corso|largo|"
    r"calle|c/|avenida|avda\.?|av\.?|plaza|paseo|carrer|rua|praça|travessa|ul\.|ulica|al\.|aleja|pl\.|"
    r"ulice|nám\.|náměstí|улица|ул\.|проспект|пр\.|вулиця|вул\.|οδός|cad\.|caddesi|sokak|sk\.)(?!\w)",
    re.IGNORECASE,
)
_HOUSE = re.compile(
    r"(?<![\d.,:])\d{1,5}\s?[a-zA-Z]?(?:\s?[-/]\s?\d{1,5}\s?[a-zA-Z]?)?(?![\d:.%€$£])"
)
_NAME = r"[^\W\d_][^\d,;:|•()\n]{1,40}"
# Postal code, then place.
_CODE_PLACE = re.compile(
    rf"(?<![\w-])((?:[A-Z]{{1,2}}-)?(?:\d{{5}}(?:-\d{{3}})?|\d{{4}}(?:\s?[A-Z]{{2}})?|\d{{3}}\s\d{{2}}|\d{{2}}-\d{{3}}|\d{{4}}-\d{{3}}))"
    rf"\s+({_NAME})"
)
# Place, then postal code: the United Kingdom, North America, Ireland, Australia, Brazil.
_LAST = r"\d{5}-\d{3}(?!-)|[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d|[A-Z]\d{2}\s[A-Z\d]{4}"
_PLACE_CODE = re.compile(rf"(?:^|,\s*|\s)({_NAME}),?\s+(?:([A-Z]{{2,3}})\.?,?\s+)?({_LAST})(?!\w)")
_STATE = re.compile(r"\s?[-\u2013/]\s?[A-Z]{2}$")  # after its place: "São Paulo - SP"
_CODE_LAST = re.compile(rf"\s(?:{_LAST})(?!\w)")  # found much faster, and most lines have none
_CODE = re.compile(r"\d{4}|\d{3}\s\d\d|\d\d-\d{3}|[A-Z]\d")
_NO_PLACE = re.compile(r"[?!\"“”„©®%=<>@]|\.\s|\w\.\w")
_MAX_LINE = 200
_COUNTRIES = {
    "deutschland": "DE", "germany": "DE", "osterreich": "AT", "austria": "AT", "schweiz": "CH",
    "suisse": "CH", "svizzera": "CH", "switzerland": "CH", "france": "FR", "italia": "IT", "italy": "IT",
    "espana": "ES", "spain": "ES", "portugal": "PT", "nederland": "NL", "netherlands": "NL",
    "the netherlands": "NL", "belgie": "BE", "belgique": "BE", "belgium": "BE", "polska": "PL",
    "poland": "PL", "sverige": "SE", "sweden": "SE", "norge": "NO", "norway": "NO", "danmark": "DK",
    "denmark": "DK", "suomi": "FI", "finland": "FI", "cesko": "CZ", "ceska republika": "CZ",
    "czech republic": "CZ", "czechia": "CZ", "slovensko": "SK", "slovakia": "SK", "ireland": "IE",
    "united kingdom": "GB", "uk": "GB", "great britain": "GB", "england": "GB", "scotland": "GB",
    "wales": "GB", "usa": "US", "united states": "US", "united states of america": "US",
    "canada": "CA", "australia": "AU", "new zealand": "NZ", "singapore": "SG", "turkiye": "TR",
    "turkey": "TR", "россия": "RU", "russia": "RU", "украина": "UA", "ukraine": "UA", "ελλαδα": "GR",
    "greece": "GR", "magyarorszag": "HU", "hungary": "HU", "romania": "RO", "luxembourg": "LU",
    "slovenija": "SI", "slovenia": "SI", "hrvatska": "HR", "croatia": "HR", "brasil": "BR",
    "brazil": "BR", "mexico": "MX", "india": "IN", "japan": "JP",
}  # fmt: skip
_TOP = {"uk": "GB"}
_MIN_COUNTRY, _MAX_COUNTRY = 4, 30  # characters of a line that is a country's name
_MAX_BRITISH = 100
_INTERNATIONAL = re.compile(r"(?<!\w)\+\s?(\d{1,3})[\s().-]{0,3}\d")
_BRITISH = re.compile(r"(?<!\w)[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}(?!\w)")
# Country-code top-level domains that are used generically.
_GENERIC = frozenset(
    ("IO", "CO", "TV", "ME", "AI", "FM", "LY", "CC", "WS", "TO", "IS", "GG", "SH", "LA", "AM", "ST")
)


def read_country(text: str) -> str | None:
    """Return the ISO code of the country a text names, or None."""
    text = text.strip(" .,()")
    if len(text) == 2 and text.upper() in phonenumbers.SUPPORTED_REGIONS:
        return text.upper()
    return _COUNTRIES.get(fold(text))


def country_of(page: PageView) -> str | None:
    """Return the country a page states: by an address, its top-level domain, its text, or its
    language.
    """
    return page.once(_country)


def _country(page: PageView) -> str | None:
    stated = {
        country
        for item in page.items
        for passage in item.texts("addressCountry")
        if (country := read_country(passage.text))
    }
    if len(stated) == 1:
        return stated.pop()
    top = (urlsplit(page.url).hostname or "").rpartition(".")[2]
    region = _TOP.get(top, top.upper())
    if region in phonenumbers.SUPPORTED_REGIONS and region not in _GENERIC:
        return region
    if (written := _country_in_text(page)) is not None:
        return written
    root = page.document.find("html")
    language = ("" if root is None else root.attr("lang") or "").replace("_", "-")
    region = language.rpartition("-")[2].upper() if "-" in language else ""
    return region if region in phonenumbers.SUPPORTED_REGIONS else None


def _country_in_text(page: PageView) -> str | None:
    """Return the one country that the text names: by international numbers, British postal codes,
    or lines that are a country's name.
    """
    votes: Counter[str] = Counter()
    known = page.memory.memo(read_country)
    for text, marks in zip(page.visible_lines.texts, page.marks, strict=True):
        if len(text) > _MAX_LINE:
            continue
        if not marks:
            if _MIN_COUNTRY <= len(text) <= _MAX_COUNTRY and (named := known[text]) is not None:
                votes[named] += 1
        elif "+" in text:
            votes.update(
                region for each in _INTERNATIONAL.findall(text) if (region := _dialled(each))
            )
        elif len(text) <= _MAX_BRITISH and _BRITISH.search(text):
            votes["GB"] += 1
    best = votes.most_common(2)
    if not best or (len(best) > 1 and best[0][1] < 2 * best[1][1]):
        return None
    return best[0][0]


def _dialled(code: str) -> str | None:
    """Return the main region of a calling code, None if there is no such code or several share it."""
    for size in (1, 2, 3):
        region = phonenumbers.region_code_for_country_code(int(code[:size]))
        if region not in ("ZZ", "001"):
            return str(region)
    return None


def may_hold_place(text: str) -> bool:
    """Whether a line may contain a postal code with a place."""
    if may_hold(text):
        return True
    if len(text) > _MAX_LINE or not _CODE.search(text):
        return False
    return next(_places(text), None) is not None


def addresses_at(lines: list[Line], number: int) -> list[Address]:
    """Return the addresses that end in a line; their streets may stand shortly before."""
    if found := postal_at(lines, number):
        return found
    places = _places(lines[number].fenced)
    coded = next(filter(None, (_at(lines, number, *place) for place in places)), None)
    return [] if coded is None else [coded]


def _at(lines: list[Line], number: int, code: str, place: str, begin: int) -> Address | None:
    """Return the address with this code and place, if a street precedes them."""
    line = lines[number]
    street = _street(line, line.text[:begin])
    for earlier in reversed(lines[max(0, number - 2) : number]):
        street = street or (_street(earlier, earlier.text) if len(earlier.text) < 90 else None)
    if street is None or is_english_street(street[1]):
        return None  # in English, the code comes last
    return Address(Part(line, place), Part(*street), None, Part(line, code))


def _places(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield postal codes with their places and offsets in a line."""
    for code, place, begin in _coded(text):
        yield code.replace(SEAM, " "), place.replace(SEAM, " "), begin


def _coded(text: str) -> Iterator[tuple[str, str, int]]:
    for match in _CODE_PLACE.finditer(text):
        if _is_place(match[2]):
            yield match[1], _STATE.sub("", match[2].strip(" .-\u2013" + SEAM)), match.start()
    for match in _PLACE_CODE.finditer(text) if _CODE_LAST.search(text) else ():
        if _is_place(match[1]):
            yield match[3], _STATE.sub("", match[1].strip(" ," + SEAM)), match.start(1)


def _is_place(text: str) -> bool:
    """Whether a text may be a place name: few words, the first capitalised."""
    words = text.split()
    return 0 < len(words) <= 4 and words[0][0].isupper() and not _NO_PLACE.search(text)


def _street(line: Line, text: str) -> tuple[Line, str] | None:
    """Return the street with its number at the end of a text, if there is one."""
    part = text.strip(" ,;|•·\u2013-\u2014")
    for mark in ("•", "|", ";", "·"):
        part = part.rpartition(mark)[2].strip()
    part = part.partition(": ")[2] or part
    named = _STREET.search(part)
    if named is None:
        return None
    begin = part.rfind(", ", 0, named.start()) + 1  # text before a comma is a name
    number = _HOUSE.search(part, begin)
    if number is None and begin:
        begin = part.rfind(", ", 0, begin - 1) + 1  # "12, rue de la Paix"
        number = _HOUSE.search(part, begin)
    if number is None:
        return None
    part = part[
        min(number.start(), named.end()) if number.start() < named.start() else begin :
    ].strip()
    return (line, part) if len(part) <= 80 else None
