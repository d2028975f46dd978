"""Dates as people and programs write them, converted to ISO 8601.

An ambiguous date ("03/04/2025") is parsed only if the caller knows which number is the day. Times keep their UTC offset if one was written.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from email.utils import parsedate_to_datetime

from messor.content.evidence import NORMALISERS
from messor.core.words import load

_MAX_TEXT = 300

_MONTH_OF = {
    word: int(number)
    for number, words in load("messor.content", "months").items()
    for word in words.split()
}
# Latin and Greek only: in Cyrillic, accents form separate letters. The letter is checked in a
# lookbehind after the first accent: a pattern that starts with a rare character is found much
# faster.
_ACCENTS = re.compile("[\u0300-\u036f](?<=[a-z\u0131\u03b1-\u03c9][\u0300-\u036f])[\u0300-\u036f]*")

_ISO = re.compile(
    r"(?<!\d)(\d{4})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?(?!\d)"
)
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})(?:T\d{4,6}Z?)?(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)")
_SHORT_YEAR = re.compile(r"(?<![\d./])(\d{1,2})\s?([./])\s?(\d{1,2})\s?\2\s?(\d{2})(?![\d.])")
_NUMBERS = re.compile(r"(?<![\d./])(\d{1,2})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{4})(?!\d)")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?[\s\-]{1,3}(?:of |de |d')?([^\W\d]{3,14})\.?,?"
    r"[\s\-]{1,3}(?:de |del )?(\d{4})(?!\d)"
)
_MONTH_DAY = re.compile(
    r"([^\W\d]{3,14})\.?[\s\-]{1,3}(\d{1,2})(?:st|nd|rd|th)?,?[\s\-]{1,3}(\d{4})(?!\d)"
)


def fold(text: str) -> str:
    """Return the text in lower case without accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFD", text.casefold())
    plain = unicodedata.normalize("NFC", _ACCENTS.sub("", plain))
    return plain.replace("ł", "l").replace("ø", "o").replace("\u0131", "i")


def read_date(text: str, *, day_first: bool | None = None, short_years: bool = False) -> str | None:
    """Return the first date, or date with time, in a text; None if there is none.

    `day_first` says how to read "03/04/2025"; with `short_years`, "3.4.25" is a date as well.
    """
    text = text[:_MAX_TEXT]
    iso = _ISO.search(text)
    if iso is not None:
        return _of_iso(iso)
    rfc = _of_mail(text)
    if rfc is not None:
        return rfc
    folded = fold(text)
    return (
        _named(folded)
        or _numbered(folded, day_first)
        or (_short(folded, day_first) if short_years else None)
    )


def read_day(text: str) -> str | None:
    """Return the first date in a text, without its time."""
    found = read_date(text)
    return found[:10] if found else None


def _day(year: str, month: int, day: str) -> str | None:
    try:
        return date(int(year), month, int(day)).isoformat() if 1000 < int(year) < 2200 else None
    except ValueError:
        return None


def _of_iso(match: re.Match[str]) -> str | None:
    year, month, day, hour, minute, second, zone = match.groups()
    written = _day(year, int(month), day)
    if written is None or hour is None:
        return written
    zone = {None: "", "Z": "+00:00", "UTC": "+00:00", "GMT": "+00:00"}.get(zone, zone)
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    try:
        return datetime.fromisoformat(
            f"{written}T{hour}:{minute}:{second or '00'}{zone}"
        ).isoformat()
    except ValueError:
        return written


def _of_mail(text: str) -> str | None:
    """Parse a mail or HTTP date: "Tue, 12 Mar 2024 09:00:00 GMT"."""
    if text.count(":") != 2 or "," not in text[:5]:
        return None
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _named(folded: str) -> str | None:
    for match in _DAY_MONTH.finditer(folded):
        month = _MONTH_OF.get(match[2])
        if month:
            return _day(match[3], month, match[1])
    for match in _MONTH_DAY.finditer(folded):
        month = _MONTH_OF.get(match[1])
        if month:
            return _day(match[3], month, match[2])
    return None


def _short(folded: str, day_first: bool | None) -> str | None:
    match = _SHORT_YEAR.search(folded)
    if match is None:
        return None
    one, mark, two, year = match.groups()
    return _of_numbers(one, mark, two, f"20{year}", day_first)


def _of_numbers(one: str, mark: str, two: str, year: str, day_first: bool | None) -> str | None:
    """Return the date of day, month and year in either order."""
    if mark == "." or int(one) > 12:  # with dots, the day always comes first
        return _day(year, int(two), one) if 1 <= int(two) <= 12 else None
    if int(two) > 12 or one == two or day_first is False:
        return _day(year, int(one), two)
    return _day(year, int(two), one) if day_first else None


def _numbered(folded: str, day_first: bool | None) -> str | None:
    first = _YEAR_FIRST.search(folded)
    if first is not None:
        return _day(first[1], int(first[2]), first[3]) if int(first[2]) <= 12 else None
    match = _NUMBERS.search(folded)
    if match is not None:
        one, mark, two, year = match.groups()
        return _of_numbers(one, mark, two, year, day_first)
    compact = _COMPACT.search(folded)
    return (
        _day(compact[1], int(compact[2]), compact[3]) if compact and int(compact[2]) <= 12 else None
    )


NORMALISERS.add("date", lambda text: read_date(text))  # noqa: PLW0108 - only the text is given
NORMALISERS.add("day", read_day)
