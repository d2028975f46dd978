"""Amounts of money for records: the amount and the currency of a quote, separately.

`money` parses the text; this module turns its results into field values. Multipliers ("1.5
million") are applied.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations

import re

from messor.content.evidence import NORMALISERS
from messor.content.lines import SEAM, WALL, Line
from messor.content.money import currency_code, parse_price

# Multiplier words in lower case. A letter next to another, as in "Kč" or "m²", is not one.
_THOUSAND = "thousand|tausend|tsd|mille|mila|mil|tys|tis|тысяч[аи]?|тыс|тис"
_MILLION = (
    "million(?:en|er|s)?|millones|mill[oó]n|milion[ei]|milion(?:ów|y)?|milh(?:oes|ões|ao|ão)|miljoen|"
    "miljoner|mln|mio|milj|миллион(?:а|ов)?|млн"
)
_BILLION = "billions?|milliarden?|milliards?|miliard[iy]?|miljard|mrd|bn|миллиард(?:а|ов)?|млрд"
_TIMES = (
    (re.compile(rf"(?<=\d)\s?(?:{_MILLION}|mn|m)(?!\w)\.?"), 1_000_000),
    (re.compile(rf"(?<=\d)\s?(?:{_BILLION}|b)(?!\w)\.?"), 1_000_000_000),
    (re.compile(rf"(?<=\d)\s?(?:{_THOUSAND}|k)(?!\w)\.?"), 1_000),
)
# A number next to a currency: enough to know that a text holds a price. A space only separates
# thousands: "model 1 20.90 €" is two numbers, and in "model 1 €20.90" the first number has no
# currency sign.
_DIGITS = r"\d(?:[\d.,'\u2019\u202f\xa0]| (?=\d{3}(?!\d))){0,16}(?:,-|\.-|,\u2013|\.\u2013)?"
_SIGNS = r"(?:(?<!\w)(?:R|S|A|C|NT|HK|US)\$|[$€£¥₹₽₺₴₩₪])"
_CODES = "EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|RON|AUD|CAD|NZD|SGD|kr|zł|Kč"
# "1.5 million d'euros", "$25M", "50 k€": the multiplier is part of the amount. A detached capital
# letter is not: on menus it names an allergen.
_MORE = (
    rf"(?:(?i:\s?(?:{_MILLION}|{_BILLION}|{_THOUSAND})(?!\w)\.?(?:\sd(?:e\s|i\s|['\u2019]))?)"
    rf"|(?<=\d)(?i:mn|k|m|b)(?!\w)|\s?m(?![\w/])|\s?[kKM](?={_SIGNS}))?"
)
MONEY = re.compile(
    rf"(?:{_SIGNS}|(?<!\w)(?:{_CODES}|Rs|Rp|RM)\.?)\s?{_DIGITS}{_MORE}"
    rf"|{_DIGITS}{_MORE}(?!\s{_SIGNS}\d)\s?(?:{_SIGNS}|(?:{_CODES}|[Ee]uros?|Ft|lei|\u0440\u0443\u0431|грн|円|元|원)(?!\w))"
)
_SIGN_BEHIND = re.compile(rf"\s?(?:{_SIGNS}|(?:{_CODES})(?!\w))")
_EURO = re.compile(r"(?<!\w)euros?(?!\w)", re.IGNORECASE)
_MAX_TEXT = 200


def money_in(line: Line) -> list[tuple[int, int]]:
    """Return the spans of amounts of money in a line.

    A number never crosses a seam. A sign at a seam may belong to either side: preferably to the
    number that follows it in the same text, and not to a preceding one that ends a name, as in
    "Kettle 1" and "€ 20.90".
    """
    if not MONEY.search(line.text):  # seams only remove matches
        return []
    text = line.fenced
    found: list[tuple[int, int]] = []
    place = 0
    while (match := MONEY.search(text, place)) is not None:
        seam = text.find(SEAM, match.start(), match.end())
        if seam < 0 or not _is_foreign(text, match, seam):
            found.append(match.span())
            place = match.end()
        else:
            place = seam + 1
    return found


def _is_foreign(text: str, match: re.Match[str], seam: int) -> bool:
    """Whether a number and a sign on either side of a seam do not belong together."""
    begin = max(text.rfind(SEAM, 0, match.start()), text.rfind(WALL, 0, match.start())) + 1
    end = text.find(SEAM, seam + 1)
    end = len(text) if end < 0 else end
    if not match[0][0].isdigit():  # a code such as USD, and "5 items" after the seam
        return match[0][0].isalpha() and any(map(str.isalpha, text[match.end() : end]))
    if MONEY.match(text, seam + 1, end) is not None:
        return True
    own = MONEY.match(text, seam + 1)
    has_name = any(map(str.isalpha, text[begin : match.start()]))
    return has_name and own is not None and not _SIGN_BEHIND.match(text, own.end())


def read_amount(text: str) -> float | int | None:
    """Return the first amount of money in a text, or None."""
    plain, times = _plain(text)
    amount = parse_price(plain).amount
    if amount is None:
        return None
    amount *= times
    return int(amount) if amount == int(amount) else float(amount)


def read_currency(text: str) -> str | None:
    """Return the ISO code of the currency a text names; None if it is ambiguous."""
    plain, _ = _plain(text)
    code = parse_price(plain).code or currency_code(plain)
    return code or ("EUR" if _EURO.search(plain) else None)


def _plain(text: str) -> tuple[str, int]:
    """Return the text without its multiplier word, and the multiplier."""
    text = text[:_MAX_TEXT]
    folded = text.lower()
    if len(folded) == len(text):
        for pattern, times in _TIMES:
            match = pattern.search(folded)
            if match:
                return text[: match.start()] + text[match.end() :], times
    return text, 1


def read_percent(text: str) -> float | int | None:
    """Return the first percentage in a text, or None."""
    match = re.search(r"(?<![\d.,])(\d{1,3})(?:[.,](\d{1,2}))?\s?%", text[:_MAX_TEXT])
    if match is None:
        return None
    number = float(f"{match[1]}.{match[2] or 0}")
    return int(number) if number == int(number) else number


NORMALISERS.add("money_amount", read_amount)
NORMALISERS.add("money_currency", read_currency)
NORMALISERS.add("percent", read_percent)
