"""What in a line of text may be part of a contact, before anybody looks closer.

Pages of a site repeat most of their lines, so what was said of a short line is remembered.
"""

from __future__ import annotations

import re
from functools import lru_cache

from messor.extract import phones
from messor.extract.emails import may_have
from messor.extract.places import may_hold_place

EMAIL = 1
PHONE = 2
PLACE = 4

_REMEMBERED = 120  # characters of a line that is likely to come again
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d[\d\s().\u2010-\u2015/·\-\xa0]{4}")


def cues_of(text: str) -> int:
    """Which of the three a line may hold."""
    return _known(text) if len(text) <= _REMEMBERED else _look(text)


@lru_cache(maxsize=16_384)
def _known(text: str) -> int:
    return _look(text)


def _look(text: str) -> int:
    found = EMAIL if may_have(text) else 0
    if not _DIGIT.search(text):
        return found
    if may_hold_place(text):
        found |= PLACE
    if _DIGITS.search(text) and any(_may_count(text, *each) for each in phones.numbers(text)):
        found |= PHONE
    return found


def _may_count(text: str, written: str, called: str) -> bool:
    """Whether a number is called one, names its country, or may be announced by the line above."""
    return bool(called) or phones.names_country(written) or text.startswith(written[:4])
