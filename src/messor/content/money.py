"""Money: amount and currency of a text such as "1.299,00 €", in the notations of all countries.

A currency is never assumed: without a sign or code there is none, and an ambiguous sign has no ISO
code. All patterns take linear time.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from messor.core.words import load

_CURRENCIES = load("messor.content", "currencies")
_ISO_CODES = frozenset(_CURRENCIES["iso_codes"].split())
_CODES_LIKE_WORDS = frozenset(_CURRENCIES["codes_like_words"].split())
THREE_DECIMALS = frozenset(_CURRENCIES["three_decimals"].split())
NO_DECIMALS = frozenset(_CURRENCIES["no_decimals"].split())

# Longer text is not a price.
MAX_TEXT = 400
_MAX_DIGITS = 15

_SPACES = str.maketrans(dict.fromkeys("\xa0\u2009\u202f\u2007\u2002\u2003\t\r\n", " "))
_NUMBER = re.compile(
    r"(?:(?<!\d)[.,](?=\d{1,2}(?![\d.,])))?(?:\d{1,3}(?: \d{3}(?!\d))+|\d+)"
    r"(?:(?:[.,٫٬'’`´]|[.,] (?=\d\d(?!\d)))\d+)*"
)
_SIGN_AS_POINT = re.compile(r"(\d) ?[€£$₽] ?(\d\d)(?!\d|[.,]\d)")
_DATE = re.compile(r"\d{1,2}[./]\d{1,2}[./](?:19|20)?\d\d|(?:19|20)\d\d[./]\d{1,2}[./]\d{1,2}")
_MONTH_YEAR = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,? *(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:-|–|—|~|to|bis|à|do|до|til|tot)\s*", re.IGNORECASE)
_FREE = re.compile(r"\s*+(?:free|gratis|gratuit|kostenlos|бесплатно)\s*+!?+\s*+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Price:
    """An amount and a currency, each None if not stated."""

    amount: Decimal | None
    sign: str | None  # the currency as written
    code: str | None  # ISO 4217, if the sign is unambiguous


@dataclass(frozen=True, slots=True)
class _Sign:
    text: str
    start: int
    end: int


def _codes_by_sign() -> dict[str, str | None]:
    known: dict[str, str | None] = {code: code for code in _ISO_CODES}
    for code, signs in _CURRENCIES["signs"].items():
        known.update({sign.replace("\xa0", " "): code for sign in signs.split(" ")})
    known.update(dict.fromkeys(_CURRENCIES["vague_signs"].split()))
    known.pop("", None)
    return known


def _codes_by_bare_sign() -> dict[str, str | None]:
    known: dict[str, str | None] = {code.lower(): code for code in _ISO_CODES}
    for code, signs in _CURRENCIES["bare_signs"].items():
        known.update(dict.fromkeys(signs.split(), code or None))
    return known


_CODES = _codes_by_sign()
_BARE_CODES = _codes_by_bare_sign()
# Inflected words of Slavic languages: the stem is the sign.
_OPEN_ENDED = ("руб", "Руб", "грн")
_WORDS = ("рублей", "рубля", "рубль")


def _signs_by_start() -> dict[str, tuple[str, ...]]:
    """Return the signs by first character, longest first."""
    starts: dict[str, list[str]] = {}
    for sign in sorted((s for s in _CODES if s not in _WORDS), key=len, reverse=True):
        starts.setdefault(sign[0], []).append(sign)
    return {start: tuple(signs) for start, signs in starts.items()}


_BY_START = _signs_by_start()
# Letters start a sign only at the start of a word.
_START = re.compile(
    "(?<![^\\W\\d_])[{}]|[{}]".format(
        re.escape("".join(start for start in _BY_START if start.isalpha())),
        re.escape("".join(start for start in _BY_START if not start.isalpha())),
    )
)
_ALONE = re.compile(
    r"[\s*]*(?:\d[\d.,\s'’]*)?(?P<sign>[^\d\s][^\d]{0,20}?)?(?:\s*\d[\d.,\s'’]*)?[\s*]*"
)


def parse_price(text: str | None, hint: str | None = None, decimal: str | None = None) -> Price:
    """Parse the price in a text; `hint` is adjacent text that may name the currency.

    `decimal` is the decimal separator, if known.
    """
    text, hint = _spaced(text or ""), _spaced(hint or "")
    signs = _signs(text)
    if decimal is None and _SIGN_AS_POINT.search(text):
        joined = _SIGN_AS_POINT.sub(r"\1.\2", text, count=1)
        sign, code = _currency(text, hint, None, signs)
        return Price(_amount_of(joined, None), sign, code)
    number, sign_found = _choose(text, signs)
    sign, code = _currency(text, hint, sign_found, signs)
    amount = None
    if number is not None:
        amount = _to_amount(number, decimal or ("." if code in THREE_DECIMALS else None))
    elif _FREE.fullmatch(text):
        amount = Decimal(0)
    return Price(amount, sign, code)


def currency_code(text: str) -> str | None:
    """Return the ISO code a text names as code or sign; None if there is none or it is ambiguous."""
    text = _spaced(text).strip()
    if text.upper() in _ISO_CODES:
        return text.upper()
    found = _signs(text)
    codes = {_CODES[sign.text] for sign in found}
    return codes.pop() if len(codes) == 1 else None


def _spaced(text: str) -> str:
    """Return the start of a text with all white space as plain spaces; other white space is not
    printable.
    """
    text = text[:MAX_TEXT]
    return text if text.isprintable() else text.translate(_SPACES)


def _signs(text: str) -> list[_Sign]:
    found: list[_Sign] = []
    end = 0
    for match in _START.finditer(text):
        if match.start() < end:
            continue
        for sign in _BY_START[match[0]]:
            stop = match.start() + len(sign)
            if text.startswith(sign, match.start()) and _ends(sign, text[stop : stop + 1]):
                found.append(_Sign(sign, match.start(), stop))
                end = stop
                break
    return found


def _ends(sign: str, following: str) -> bool:
    """Whether a sign ends before the following character."""
    return not (following.isalpha() and sign[-1].isalpha()) or sign in _OPEN_ENDED


def _numbers(text: str) -> list[re.Match[str]]:
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return numbers
    dates: list[tuple[int, int]] = []
    if "." in text or "/" in text:
        dates += [match.span() for match in _DATE.finditer(text)]
    if "19" in text or "20" in text:
        dates += [match.span() for match in _MONTH_YEAR.finditer(text)]
    return [
        match
        for match in numbers
        if not any(start <= match.start() < end for start, end in dates)
        and text[match.end() : match.end() + 2].strip()[:1] != "%"
    ]


def _choose(text: str, signs: list[_Sign]) -> tuple[str | None, _Sign | None]:
    """Return the first number next to a sign, else the first number; and the sign."""
    numbers = _numbers(text)
    if not signs:
        return (numbers[0][0] if numbers else None), None
    for position, number in enumerate(numbers):
        beside = _beside(text, number, signs)
        if beside is None:
            continue
        if position and beside.start >= number.end():
            earlier = numbers[position - 1]
            if _RANGE.fullmatch(text[earlier.end() : number.start()]):
                return earlier[0], _code_for(beside, signs)
        return number[0], _code_for(beside, signs)
    first = numbers[0][0] if numbers else None
    free = [sign for sign in signs if sign.text not in _CODES_LIKE_WORDS and sign.text != ",-"]
    return first, free[0] if free else None


def _code_for(sign: _Sign, signs: list[_Sign]) -> _Sign:
    """Return the code that disambiguates a sign (which dollars), else the sign."""
    if sign.text != "$":
        return sign
    codes = (other for other in signs if other.text in _ISO_CODES and other.text.endswith("D"))
    return next(codes, sign)


def _beside(text: str, number: re.Match[str], signs: list[_Sign]) -> _Sign | None:
    after = next((s for s in signs if s.start >= number.end()), None)
    before = next((s for s in reversed(signs) if s.end <= number.start()), None)
    if before is not None and not text[before.end : number.start()].strip(" .:-"):
        if after is None or text[number.end() : after.start].strip() or after.text == ",-":
            return before
        # Between two numbers, a sign without letters belongs to the second.
        if not before.text[-1].isalpha() or text[: before.start].strip()[-1:].isdigit() is False:
            return before
    if after is not None and after.text != ",-":
        gap = text[number.end() : after.start].strip(" *")
        return after if gap in ("", ",-", ".-", "-.") else None
    return None


def _currency(
    text: str, hint: str, sign: _Sign | None, signs: list[_Sign]
) -> tuple[str | None, str | None]:
    if sign is None:
        found = [s for s in signs if s.text not in _CODES_LIKE_WORDS and s.text != ",-"]
        sign = found[0] if found else None
    hinted = [s for s in _signs(hint) if s.text != ",-"] if hint else []
    if sign is not None:
        code = _CODES[sign.text]
        if sign.text == "$" and hinted and hinted[0].text.endswith(("D", "$")):
            code = _CODES[hinted[0].text]
        return sign.text, code
    if hinted:
        return hinted[0].text, _CODES[hinted[0].text]
    for words in (text, hint):
        match = _ALONE.fullmatch(words)
        bare = match["sign"].strip() if match is not None and match["sign"] else ""
        if bare in _BARE_CODES:
            return bare, _BARE_CODES[bare]
    return None, None


def _amount_of(text: str, decimal: str | None) -> Decimal | None:
    number, _ = _choose(text, _signs(text))
    return None if number is None else _to_amount(number, decimal)


def _to_amount(number: str, decimal: str | None) -> Decimal | None:
    number = number.replace("٫", ".").replace("٬", "'")
    point = _decimal_at(number, decimal)
    whole, fraction = (number, "") if point < 0 else (number[:point], number[point + 1 :])
    digits = "".join(filter(str.isdecimal, whole)) or "0"
    fraction = "".join(filter(str.isdecimal, fraction))
    if len(digits) + len(fraction) > _MAX_DIGITS:
        return None
    return Decimal(f"{digits}.{fraction}" if fraction else digits)


def _decimal_at(number: str, decimal: str | None) -> int:
    """Return the index of the decimal separator in a number, -1 if there is none."""
    if decimal is not None:
        return number.rfind(decimal)
    marks = [at for at, character in enumerate(number) if character in ".,"]
    if not marks:
        return -1
    last = marks[-1]
    behind = len(number) - last - 1 - (number[last + 1 : last + 2] == " ")
    kinds = {number[at] for at in marks}
    if len(marks) > 1 and len(kinds) == 1:
        return -1 if behind == 3 else last
    if len(kinds) > 1:
        return last
    whole = number[:last]
    grouped = behind == 3 and whole.isdecimal() and len(whole) <= 3 and whole.strip("0") != ""
    return -1 if grouped else last
