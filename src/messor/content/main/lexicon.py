"""Words that tell content from boilerplate: of class names, of short texts, of headings.

A word's score is the share of its text that was content on the sites the model was learnt from, 0 to
14; 7 says nothing. The words are stored with the model, which weighs what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from messor.content.main.tables import WORDS
from messor.content.memory import Memory

_split = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall
_words = re.compile(r"\w+").findall
# The same for ASCII: everything else becomes a space, at a fraction of the cost.
_LETTERS = "".join(sign if sign.isalpha() else " " for sign in map(chr, range(128)))
_SIGNS = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in map(chr, range(128)))
# A text without a known word: both of its scores have the last bin.
UNKNOWN = 0xFF
MAX_SHORT = 60
MAX_HEADING = 80
_MAX_CLASS = 200
_SHORT_WORDS = 6
_HEADING_WORDS = 8


class Lexicon(NamedTuple):
    """Scores by text, packed into an integer."""

    classes: Mapping[str, int]  # mean, minimum and maximum, 4 bits each
    short: Mapping[str, int]  # mean and minimum
    headings: Mapping[str, int]  # mean and minimum

    @classmethod
    def of(cls, memory: Memory) -> Lexicon:
        """Return the scores of the shipped words, with those of earlier texts."""
        return cls(memory.memo(_class), memory.memo(_short), memory.memo(_heading))


def class_words(name: str) -> set[str]:
    """Return the words of a class list."""
    head = name[:_MAX_CLASS]
    if head.isascii() and head.islower():
        return set(head.translate(_LETTERS).split())
    return {word.lower() for word in _split(head)}


def short_words(text: str) -> set[str]:
    """Return the words of a short block."""
    return set(_first_words(text)[:_SHORT_WORDS])


def heading_words(text: str) -> set[str]:
    """Return the words of a heading."""
    return set(_first_words(text)[:_HEADING_WORDS])


def _first_words(text: str) -> list[str]:
    low = text.lower()
    return low.translate(_SIGNS).split() if low.isascii() else _words(low)


def pack_class(scores: Iterable[int]) -> int:
    """Return the scores of a class list from those of its known words."""
    found = list(scores)
    if not found:
        return UNKNOWN
    return round(sum(found) / len(found)) << 8 | min(found) << 4 | max(found)


def pack_text(scores: Iterable[int]) -> int:
    """Return the scores of a text from those of its known words."""
    found = list(scores)
    return round(sum(found) / len(found)) << 4 | min(found) if found else UNKNOWN


def _class(name: str) -> int:
    return pack_class(_known(WORDS["classes"], class_words(name)))


def _short(text: str) -> int:
    return pack_text(_known(WORDS["short"], short_words(text)))


def _heading(text: str) -> int:
    return pack_text(_known(WORDS["headings"], heading_words(text)))


def _known(table: Mapping[str, int], words: set[str]) -> list[int]:
    return [table[word] for word in words if word in table]
