"""Line hints: cheap checks which lines may hold parts of contacts or times of day.

Pages of a site repeat most of their lines, so hints of short lines are remembered.
"""

from __future__ import annotations

import re

from messor.content import phones
from messor.content.dates import fold
from messor.content.emails import may_have
from messor.content.places import may_hold_place
from messor.content.view import PageView

EMAIL = 1
PHONE = 2
PLACE = 4
TIMES = 8  # two times of day in a row

_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d[\d\s().\u2010-\u2015/·\-\xa0]{4}")
_TIMES = re.compile(
    r"\d(?:[:.h]\d\d|\s?[ap]\.?m|\s?uhr|\s?h(?!\w))[^\d\n]{1,12}"
    r"\d{1,2}(?:[:.h]\d\d|\s?[ap]\.?m|\s?uhr|\s?h(?!\w))"
)
# Second half of a time that starts on the line above.
_HALVES = ("am", "AM", "Am", "pm", "PM", "Pm", "a.m", "A.M", "p.m", "P.M", "uhr", "Uhr", "UHR")


def page_hints(page: PageView) -> list[int]:
    """Return the hints of each line of a page."""
    return page.once(_read)


def _read(page: PageView) -> list[int]:
    known = page.memory.memo(hints_of)
    return [
        known[text] if marks else 0
        for text, marks in zip(page.visible_lines.texts, page.marks, strict=True)
    ]


def times_of(page: PageView) -> int:
    """Count how often two times of day occur in a row."""
    if any(line.text.startswith(_HALVES) for line in page.lines):
        return len(_TIMES.findall(page.folded))
    hinted = zip(page.lines, page_hints(page), strict=True)
    return sum(len(_TIMES.findall(fold(line.text))) for line, hints in hinted if hints & TIMES)


def hints_of(text: str) -> int:
    """Return the hints of a line."""
    found = EMAIL if may_have(text) else 0
    if not _DIGIT.search(text):
        return found
    if _TIMES.search(fold(text)):
        found |= TIMES
    if may_hold_place(text):
        found |= PLACE
    if _may_dial(text) and any(_may_count(text, *each) for each in phones.numbers(text)):
        found |= PHONE
    return found


def _may_dial(text: str) -> bool:
    return _DIGITS.search(text) is not None or phones.may_be_lettered(text)


def _may_count(text: str, written: str, called: str) -> bool:
    """Whether a number is labelled, names its country, or may be labelled by the line above."""
    return bool(called) or phones.is_telling(written) or text.startswith(written[:4])
