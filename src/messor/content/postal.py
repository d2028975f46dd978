"""Postal addresses that end in a region and a postal code: North America, Australia, Great Britain.

"City, ST ZIP" is found by its end. The street is what stands before the city, from a house number
or post-office box on, on the same line or on those above. Addresses that start with the code are
the job of `places`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from messor.content.dates import fold
from messor.content.lines import Line
from messor.core.words import load, phrases

_MAX_LINE = 220
_ABOVE = 5  # lines that may hold the rest of an address
_MAX_ABOVE = 90  # characters of such a line
_MAX_STREET = 90
_MAX_CITY_WORDS = 4
_MAX_NAMED = 40
_NEAR = 24  # characters between two numbers of one street
_MAX_PARTS = 4  # of a street: number and name, building, unit

_REGIONS = load("messor.content", "regions")


def _any(country: str) -> str:
    """Return a pattern of a country's regions: codes as written, names in any case."""
    own = _REGIONS[country]
    codes = ["\\.?".join(code) for code in phrases(own.get("codes", ""))]
    mixed = [
        f"{code[0]}{code[1:].lower()}" for code in phrases(own.get("codes", "")) if len(code) == 2
    ]
    names = sorted(phrases(own["names"]), key=len, reverse=True)
    spaced = [re.escape(name).replace("\\ ", "\\s+") for name in names]
    return f"(?:(?i:{'|'.join(spaced)})|{'|'.join(codes + mixed)})"


_GAP = r"[\s,|•·♦.()\u2013-]{1,6}"
_US = r"\d{5}(?:-\d{4})?(?![\d-]|\s?[-\u2013]\s?\d)"
_CA = r"[A-Z]\d[A-Z]\s?-?\d[A-Z]\d(?!\w)"
_GB = r"[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}(?!\w)"
_AU = r"\d{4}(?![\d-]|\s?[-\u2013]\s?\d)"
_ZIP, _CANADIAN, _BRITISH, _AUSTRALIAN = (
    re.compile(rf"(?<![\w-]){code}")
    for code in (_US, _CA, _GB, rf"{_any('au')}\.?{_GAP}{_AU}(?=\s*$)")
)
# The code that must occur for an address to end like this, and whether it may do without a street.
_ENDS = (
    (_ZIP, re.compile(rf"(?<![\w-])(?P<region>{_any('us')})\.?{_GAP}(?P<code>{_US})"), True),
    (_CANADIAN, re.compile(rf"(?<![\w-])(?P<region>{_any('ca')})\.?{_GAP}(?P<code>{_CA})"), True),
    (
        _CANADIAN,
        re.compile(rf"(?<![\w-])(?P<code>{_CA}){_GAP}(?P<region>{_any('ca')})(?!\w)"),
        True,
    ),
    (
        _BRITISH,
        re.compile(rf"(?<![\w-])(?:(?P<region>{_any('gb')})\.?{_GAP})?(?P<code>{_GB})"),
        False,
    ),
    (
        _AUSTRALIAN,
        re.compile(rf"(?<![\w-])(?P<region>{_any('au')})\.?{_GAP}(?P<code>{_AU})(?=\s*$)"),
        False,
    ),
)
# Without a code: at the end of a line, below a street.
_BARE = re.compile(rf"(?<=,\s)(?P<region>{_any('us')}|{_any('ca')})\.?$")

_UPPER_CODE = re.compile(r"[A-Z]\d[A-Z\d]?[A-Z]?\s?-?\d[A-Z]")

_BOX = r"(?:P\.?\s?O\.?\s?(?:Box|Drawer)|Post Office Box)\s#?\d+"
_UNIT = re.compile(
    rf"(?:suite|ste|unit|apt|apartment|room|rm|floor|fl|level|bldg|building|box|dept|mail\s?stop)"
    rf"\b\.?\s?#?[\w-]{{0,6}}|#\s?\w+|\d+(?:st|nd|rd|th)\s(?:floor|fl)\b\.?|{_BOX}|[NSEW]\.?[NSEW]\.?$",
    re.IGNORECASE,
)
# A house number with the name after it, a box, or a unit of a building.
_NUMBER = r"#?\d{1,6}[A-Za-z]?(?:\s?[-/\u2013]\s?\d{1,5}[A-Za-z]?)?"
_START = re.compile(
    rf"(?<![\w$€£#.:/-])(?<!\d\s)(?:{_BOX}|(?:(?i:unit|suite|no\.?|number)\s#?\w{{1,4}},?\s)(?=[A-Z0-9])|"
    rf"{_NUMBER},?\s+(?=[A-Z]|[nsew]\s|\d+(?:st|nd|rd|th|ST|ND|RD|TH)\b)(?!(?:AM|PM|am|pm)\b))"
)
_SUFFIX = re.compile(
    r"\b(?:street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|boulevard|blvd|square|sq|court|ct|way|parkway|"
    r"pkwy|highway|hwy|place|pl|circle|cir|terrace|trail|plaza|broadway|pike|loop|row|mall|crescent|close|"
    r"gardens|grove|walk|mews|freeway|expressway|alley|turnpike|tpke|route|rte)\b\.?"
    r"(?:\s(?:[NSEW]\.?[NSEW]?\.?|north|south|east|west)(?=[\s,]|$))?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"[?!@=]|\w\.\s[A-Z][a-z]+\s[a-z]|https?:|www\.|\d{3}[-.\s)]{1,2}\d{3}[-.\s]\d{4}"
)
_ENDS_LIKE_STREET = re.compile(
    r"\b(?:street|st|road|rd|avenue|ave|lane|drive|boulevard|way|park|works|house|estate|centre|center|court"
    r"|mill|mills|quay|wharf|building|buildings|unit\s\w+)\.?$",
    re.IGNORECASE,
)
# A building, box or unit that stands before a street and is part of it, unlike a name or a heading.
_BUILDING = re.compile(
    rf"(?:{_BOX}|(?:[A-Z][\w'&.\u2019-]*\s){{1,4}}(?:House|Building|Bldg|Plaza|Tower|Towers|Court|"
    r"Mill|Mills|Works|Chambers|Wharf|Quay|(?:Business|Industrial|Corporate|Office|Retail)"
    r"\s(?:Park|Estate|Center|Centre)|Industrial\sEstate)(?:\s[A-Z\d]{1,2})?)"
)
_CONTACT = re.compile(r"@|\+\d|\d{3}[-.\s)/]{1,2}\d{2,5}[-.\s]?\d{2,5}(?!\w)|\d{4}\s\d{5}")
# A line that is a street and nothing else.
_ALONE = re.compile(
    rf"{_NUMBER},?\s(?:[A-Z0-9NSEW][\w'\u2019.-]*\s){{1,4}}(?:{_SUFFIX.pattern})(?:[\s,]+(?:{_UNIT.pattern}))?",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[,;|•·♦:\n]|\s[-\u2013\u2014]\s")
_EDGES = " ,;|•·♦\u2013-\u2014:\n("
_NO_CITY = frozenset(
    (
        "copyright",
        "the",
        "call",
        "phone",
        "fax",
        "tel",
        "suite",
        "license",
        "in",
        "zip",
        "of",
        "and",
    )
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an address: its text, and the line or lines that hold it."""

    line: Line
    text: str
    last: Line | None = None  # of several lines


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of an address that were found."""

    locality: Part | None = None
    street: Part | None = None
    region: Part | None = None
    postal_code: Part | None = None


class _Block:
    """Some consecutive lines as one text, a line break between each two."""

    def __init__(self, lines: list[Line]) -> None:
        self.text = "\n".join(line.text for line in lines)
        self._lines = lines

    def part(self, begin: int, end: int) -> Part | None:
        """Return the text between two offsets, without separators around it."""
        text = self.text[begin:end]
        begin += len(text) - len(text.lstrip(_EDGES))
        text = text.strip(_EDGES)
        if not text:
            return None
        first, last = self._line_at(begin), self._line_at(begin + len(text) - 1)
        return Part(first, text.replace("\n", " "), None if first is last else last)

    def _line_at(self, offset: int) -> Line:
        return self._lines[self.text.count("\n", 0, offset)]


def may_hold(text: str) -> bool:
    """Whether an address of these countries may end in a line, or a street begin it."""
    if len(text) > _MAX_LINE:
        return False
    if _ZIP.search(text) or _AUSTRALIAN.search(text):
        return True
    if _UPPER_CODE.search(text) and (_CANADIAN.search(text) or _BRITISH.search(text)):
        return True
    return len(text) <= _MAX_ABOVE and is_english_street(text)


def postal_at(lines: list[Line], number: int) -> list[Address]:
    """Return the addresses that end in a line."""
    line = lines[number]
    ends = [(end, is_sure) for code, end, is_sure in _ENDS if code.search(line.text)]
    block = _block(lines, number)
    own = len(block.text) - len(line.text)  # where the line itself begins
    found: list[Address] = []
    begin = 0
    for match, is_sure in _matches(ends, block.text, own) if ends else ():
        if match.start() >= begin:
            address = _before(block, begin, match, is_sure=is_sure)
            if address is not None:
                found.append(address)
                begin = match.end()
    if not found and is_english_street(line.text):
        found = [each for each in (_bare_below(lines, number) or _alone(line),) if each is not None]
    return found


def _alone(line: Line) -> Address | None:
    """Return a street that is a line of its own."""
    text = line.text.strip(_EDGES)
    street = _ALONE.fullmatch(text) if len(text) <= _MAX_ABOVE else None
    return None if street is None else Address(street=Part(line, text))


def _block(lines: list[Line], number: int) -> _Block:
    """Return a line with those above it that may belong to the same address."""
    first = number
    while first > max(0, number - _ABOVE) and _may_belong(lines[first - 1].text):
        first -= 1
    return _Block(lines[first : number + 1])


def _may_belong(text: str) -> bool:
    """Whether a line above a city may be part of its address: short, no phone number or e-mail."""
    return len(text) <= _MAX_ABOVE and _CONTACT.search(text) is None


def _matches(
    ends: list[tuple[re.Pattern[str], bool]], text: str, own: int
) -> list[tuple[re.Match[str], bool]]:
    """Return the ends of addresses whose last character is in the last line."""
    found = [(match, sure) for end, sure in ends for match in end.finditer(text)]
    return sorted((each for each in found if each[0].end() > own), key=lambda each: each[0].start())


def _bare_below(lines: list[Line], number: int) -> Address | None:
    """Return the address of a street with a city and a region, but no code, on a line below."""
    for end in range(number + 1, min(number + 3, len(lines))):
        match = _BARE.search(lines[end].text) if len(lines[end].text) <= _MAX_ABOVE else None
        if match is not None:
            block = _Block(lines[number : end + 1])
            match = _BARE.search(block.text)
            found = None if match is None else _before(block, 0, match, is_sure=False)
            return found if found is not None and found.street is not None else None
    return None


def _before(block: _Block, begin: int, match: re.Match[str], *, is_sure: bool) -> Address | None:
    """Return the address whose region and code a match is; None if no city precedes them."""
    cut, end = _city_span(block.text, begin, match.start())
    city = block.part(cut, end)
    if city is None or not is_city(city.text):
        return None
    spans = {name: match.span(name) for name in match.re.groupindex}
    is_sure = is_sure or spans["region"][0] >= 0
    street = _street(block, begin, cut) or (_named_street(block, begin, cut) if is_sure else None)
    if street is None and not is_sure:
        return None
    parts = {name: block.part(*span) if span[0] >= 0 else None for name, span in spans.items()}
    return Address(city, street, parts.get("region"), parts.get("code"))


def _city_span(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return where the city before a region begins and ends."""
    end = begin + len(text[begin:end].rstrip(_EDGES + "."))
    cut = begin
    for separator in _SEPARATORS.finditer(text, begin, end):
        cut = separator.end()
    piece = text[cut:end]
    if _START.search(piece) or _UNIT.match(piece.lstrip()):
        # No comma: the city follows the last word for a street or a unit.
        ends = [each.end() for each in (*_SUFFIX.finditer(piece), *_UNIT.finditer(piece))]
        ends = [each for each in ends if piece[each:].strip(_EDGES)]
        cut += max(ends) if ends else 0
    return cut, end


def is_city(text: str) -> bool:
    """Whether a text may be the name of a city: few words, the first capitalised."""
    words = text.split()
    return (
        0 < len(words) <= _MAX_CITY_WORDS
        and text[0].isupper()
        and not any(each.isdigit() for each in text)
        and _SENTENCE.search(text) is None
        and fold(words[0]) not in _NO_CITY
    )


def is_english_street(text: str) -> bool:
    """Whether a street has its number before its name and an English word for a street after it."""
    return _START.match(text) is not None and _SUFFIX.search(text) is not None


def _street(block: _Block, begin: int, end: int) -> Part | None:
    """Return the street before a city: from the last number on after which all is part of it."""
    text = block.text
    end = begin + len(text[begin:end].rstrip(_EDGES))
    best: int | None = None
    for start in reversed(list(_START.finditer(text, begin, end))):
        rest = text[start.start() : end]
        pieces = [piece for piece in _SEPARATORS.split(rest) if piece.strip()]
        if len(rest) > _MAX_STREET or len(pieces) > _MAX_PARTS or _SENTENCE.search(rest):
            break
        if best is not None and not _begins_before(text, start.start(), best):
            continue
        best = start.start()
    if best is None:
        return None
    return block.part(_with_building(text, begin, best), end)


def _with_building(text: str, begin: int, street: int) -> int:
    """Return where a street begins with the building that stands before it, if one does."""
    before = text[begin:street].rstrip(_EDGES)
    pieces = [*_SEPARATORS.finditer(before)]
    start = pieces[-1].end() if pieces else 0
    start += len(before[start:]) - len(before[start:].lstrip())
    return begin + start if _BUILDING.fullmatch(before[start:]) else street


def _named_street(block: _Block, begin: int, end: int) -> Part | None:
    """Return a street without a number: the piece before the city, if it ends like one."""
    end = begin + len(block.text[begin:end].rstrip(_EDGES))
    cut = begin
    for separator in _SEPARATORS.finditer(block.text, begin, end):
        cut = separator.end()
    piece = block.text[cut:end]
    is_street = len(piece) <= _MAX_NAMED and _ENDS_LIKE_STREET.search(piece) is not None
    return block.part(cut, end) if is_street else None


def _begins_before(text: str, at: int, later: int) -> bool:
    """Whether a street that begins at a number may go on beyond a later one: with its unit, or
    with a number inside its name.
    """
    between, rest = text[at:later], text[later:]
    if _UNIT.match(text[at:]) or (len(between) <= _NEAR and "\n" not in between):
        return True
    return _SUFFIX.search(between) is not None and _UNIT.match(rest) is not None
