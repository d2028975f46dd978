"""Telephone numbers in a text, and their E.164 form.

An international number is parsed on its own. A national one is parsed by the rules of a country
that the page states elsewhere; the method then names that country (`phone_de`). Only numbers valid
in their numbering plan are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

import phonenumbers

from messor.content.dates import fold
from messor.content.evidence import NORMALISERS

MAX_TEXT = 60
_LABEL_REACH = 14  # characters between a label and its number
_MIN_DIGITS = 6
_MAX_DIGITS = 16

# The North American form shows its country: 3, 3 and 4 digits, or letters for some of the last 7.
_AMERICAN = re.compile(
    r"(?:\+?1[\s.\-\u2010-\u2015]{0,2})?(?:\(\d{3}\)[\s.\-]{0,2}|\d{3}[\s.\-/\u2010-\u2015]{1,3})"
    r"\d{3}[\s.\-\u2010-\u2015]{1,3}\d{4}"
)
_VANITY = re.compile(
    r"(?<![\w@/=#.,-])(?:1[\s.\-]{0,2})?(?:\([2-9]\d{2}\)\s?|[2-9]\d{2}[\s.\-]{1,3})"
    r"(?=[\dA-Z\s.\-]{7,12}(?![\w]))(?=[\d\s.\-]{0,5}[A-Z](?:[\s.\-]?[A-Z]){2})(?:[\dA-Z][\s.\-]?){6}[\dA-Z](?!\w)"
)
_KEYS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")
# Dates and times of day that look like numbers.
_MOMENT = re.compile(
    r"(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d{2}|(?:19|20)\d{2}[./-]\d{1,2}[./-]\d{1,2})(?!\d)"
    r"|[01]?\d[.:]\d{2}\s?[-\u2013]|(?:19|20)\d\d\s?[-\u2013]\s?(?:19|20)\d\d$"
)
_FAX_AFTER = re.compile(r"\s{0,2}[(\[/\u2013-]?\s?fax\b", re.IGNORECASE)
# Digits with common separators; bounded, so linear.
_NUMBER = re.compile(
    r"(?<![\w@/=#.,-])(?:\+|00|\(\+?|\d)[\d\s().\u2010-\u2015/·\-\xa0]{4,28}\d(?![\w@%€$£]|[.,:]\d)"
)
_LABEL = re.compile(
    r"(?:^|[\s(|•])(?:tel|telefon|telephone|telefono|telefone|telefoon|telefonnummer|phone|fon|ph|office|"
    r"mobile|mobil|mob|movil|cellulare|cell|call(?: us)?(?: (?:on|at))?|bel(?: ons)?|appelez(?:-nous)?(?: au)?|rufen sie uns an|"
    r"(?:sie uns )?unter|llamanos|llamenos|llame al|chiamaci|chiama|ligue|zadzwon|ring|handy|hotline|rufnummer|"
    r"numero vert|puh|puhelin|tlf|gsm|t|p|whatsapp|телефон|тел|моб|τηλ|τηλεφωνο|"
    r"電話番号|電話|电话|联系电话|전화|전화번호|"
    r"durchwahl|zentrale|service-?hotline|free ?phone|toll[ -]free)\s?[.:\uff1a]{0,2}\s?(?:nr\.?|no\.?)?[\s:\uff1a]{0,3}$"
)
_FAX = re.compile(r"(?:^|[\s(|•])(?:fax|telefax|faks|факс|f)\s?[.:\uff1a]{0,2}[\s:\uff1a]{0,3}$")
# The last words of all labels, reversed: most numbers have no label, and this finds out in one
# match.
_LAST_WORD = re.compile(r"[\s.:\uff1a]*([^\W\d_]+)")
_ENDS = """
    tel telefon telephone telefono telefone telefoon telefonnummer phone fon ph office mobile mobil mob
    movil cellulare cell call us on at bel ons appelez nous au an unter llamanos llamenos al chiamaci
    chiama ligue zadzwon ring handy hotline servicehotline rufnummer vert puh puhelin tlf gsm t p
    whatsapp телефон тел моб τηλ τηλεφωνο durchwahl zentrale freephone free fax telefax faks факс f
    電話番号 電話 电话 联系电话 전화 전화번호
    """
_LABEL_ENDS = frozenset(word[::-1] for word in _ENDS.split())


def read_phone(text: str, region: str | None = None) -> str | None:
    """Return the E.164 form of the number a text is or starts with, or None."""
    text = text.strip()[: 2 * MAX_TEXT].removeprefix("tel:").removeprefix("//")
    if (lettered := _VANITY.search(f" {text}")) is not None:
        return _e164(lettered[0].translate(_KEYS), "US")
    found = _NUMBER.search(f" {text}")
    return _e164(found[0] if found else text, region)


def _e164(text: str, region: str | None) -> str | None:
    text = text.strip()[:MAX_TEXT]
    digits = sum(map(str.isdecimal, text))
    if not _MIN_DIGITS <= digits <= _MAX_DIGITS:
        return None
    if text.startswith("00"):
        text = f"+{text[2:]}"
    if region is None and not text.lstrip("(").startswith("+"):
        return None
    text = text.replace("(0)", "").replace("/", " ")
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a line as written, each with its label: "phone", "fax" or ""."""
    for match in sorted((*_NUMBER.finditer(text), *_VANITY.finditer(text)), key=re.Match.start):
        if _MOMENT.match(match[0].strip()):
            continue
        before = fold(text[max(0, match.start() - 40) : match.start()])
        called = _called(before)
        is_fax = called != "fax" and _FAX_AFTER.match(text, match.end()) is not None
        yield match[0].strip(), "fax" if is_fax and not _is_next(text, match.end()) else called


def _is_next(text: str, end: int) -> bool:
    """Whether a word after a number labels the next number instead."""
    following = _NUMBER.search(text, end)
    return following is not None and following.start() - end < _LABEL_REACH


def may_be_lettered(text: str) -> bool:
    """Whether a line may hold a number with letters for digits."""
    return _VANITY.search(text) is not None


def is_american(written: str) -> bool:
    """Whether a number is written as in North America, which no other country does."""
    return _AMERICAN.fullmatch(written) is not None or _VANITY.fullmatch(written) is not None


def is_telling(written: str) -> bool:
    """Whether a number looks like one without a label: by its country, its area code or its form."""
    return (
        names_country(written)
        or is_american(written)
        or (written.startswith("0") and any(mark in written for mark in " -/."))
    )


def names_country(written: str) -> bool:
    """Whether a number as written may include its country code."""
    return written.startswith(("+", "00", "("))


def _called(before: str) -> str:
    """Return the label that ends a folded text before a number."""
    last = _LAST_WORD.match(before[::-1])
    if last is None or not (last[1] in _LABEL_ENDS or last[1].startswith(("rn", "on"))):
        return ""
    if _FAX.search(before):
        return "fax"
    return "phone" if _LABEL.search(before) else ""


def is_alone(text: str) -> bool:
    """Whether a line is only a number."""
    match = _NUMBER.search(text)
    return match is not None and match[0].strip() == text


def is_label(text: str) -> str:
    """Return the label a line consists of: "phone", "fax" or ""."""
    folded = fold(text[:40])
    if _FAX.search(folded):
        return "fax"
    return "phone" if len(text) < 24 and _LABEL.search(folded) else ""


def normaliser(region: str | None) -> str:
    """Return the name of the normaliser for a country's numbers."""
    return f"phone_{region.lower()}" if region in phonenumbers.SUPPORTED_REGIONS else "phone"


def _national(region: str) -> Callable[[str], str | None]:
    return partial(read_phone, region=region)


NORMALISERS.add("phone", read_phone)
for _region in sorted(phonenumbers.SUPPORTED_REGIONS):
    NORMALISERS.add(normaliser(_region), _national(_region))
