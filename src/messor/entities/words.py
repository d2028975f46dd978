"""Words, numbers and measures of names, in forms that can be compared: pure functions."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from messor.content.dates import fold

MAX_LENGTH = 400  # characters of a name that are compared
_TOKEN = re.compile(r"[^\W_]+(?:[-./+][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MEASURE = re.compile(
    r"(?<![\w.,])(\d{1,6}(?:[.,]\d{1,3})?)\s?"
    r"(ml|cl|dl|l|lit(?:er|re)s?|mg|kg|gr?|mm|cm|m|kw|w|watts?|v|volts?|gb|tb|mah|ah|"
    r"in(?:ch)?|zoll|oz|lbs?|packs?|pcs|pieces?|stk|stuck|count|ct)(?![^\W_])|(?<![\w.,])(\d{1,3})\s?x(?![^\W_])"
)
# Unit: the dimension and how many of its base units.
_UNITS: dict[str, tuple[str, Decimal]] = {
    unit: (dimension, Decimal(factor))
    for dimension, units in {
        "volume": {"ml": "1", "cl": "10", "dl": "100", "l": "1000", "liter": "1000", "litre": "1000"},
        "mass": {"mg": "0.001", "g": "1", "gr": "1", "kg": "1000"},
        "length": {"mm": "1", "cm": "10", "m": "1000"},
        "inches": {"in": "1", "inch": "1", "zoll": "1"},
        "power": {"w": "1", "watt": "1", "kw": "1000"},
        "voltage": {"v": "1", "volt": "1"},
        "storage": {"gb": "1", "tb": "1024"},
        "charge": {"mah": "1", "ah": "1000"},
        "ounces": {"oz": "1"},
        "pounds": {"lb": "1"},
        "pieces": dict.fromkeys(("pack", "pcs", "piece", "stk", "stuck", "count", "ct"), "1"),
    }.items()
    for unit, factor in units.items()
}  # fmt: skip


class Name(NamedTuple):
    """A name taken apart."""

    words: frozenset[str]
    numbers: frozenset[str]  # of models, such as kx200b
    measures: frozenset[str]  # dimension and amount, such as volume=1500


def name_of(text: str) -> Name:
    """Take a name apart; measures and years are no words."""
    plain = fold(text[:MAX_LENGTH])
    measures = frozenset(filter(None, map(_measure, _MEASURE.finditer(plain))))
    words: set[str] = set()
    numbers: set[str] = set()
    for token in _TOKEN.findall(_MEASURE.sub(" ", plain)):
        parts = _PART.findall(token)
        joined = "".join(parts)
        if _is_model(joined):
            numbers.add(joined)
        else:
            words.update(part for part in parts if not _YEAR.fullmatch(part))
    return Name(frozenset(words), frozenset(numbers), measures)


def words_of(text: str) -> frozenset[str]:
    """The words of a text, numbers included."""
    return frozenset(_PART.findall(fold(text[:MAX_LENGTH])))


def letters_of(text: str) -> str:
    """Letters and digits alone, for numbers that are written in several ways."""
    return "".join(_PART.findall(fold(text[:MAX_LENGTH])))


def _is_model(token: str) -> bool:
    """Letters and digits together, or a number too long for an amount or a year."""
    digits = sum(map(str.isdigit, token))
    if digits == 0 or len(token) < 3:
        return False
    return digits < len(token) or digits >= 5


def _measure(found: re.Match[str]) -> str | None:
    amount, unit, pieces = found.groups()
    if pieces is not None:
        return f"pieces={int(pieces)}"
    known = _UNITS.get(unit) or _UNITS.get(unit.rstrip("s"))
    if known is None:
        return None
    try:
        number = Decimal(amount.replace(",", ".")) * known[1]
    except InvalidOperation:
        return None
    return f"{known[0]}={number.normalize():f}"
