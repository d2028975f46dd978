"""Similarity of two names."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
_LONGEST = 400


def words_of(text: str) -> frozenset[str]:
    return _known_words(text) if len(text) <= _LONGEST else _words(text)


@lru_cache(maxsize=256)
def _known_words(text: str) -> frozenset[str]:
    """The same, cached for names, which a page repeats in its title, heading and structured data."""
    return _words(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()[:_LONGEST]))


def likeness(name: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the shorter name's words that both have, 0 to 1."""
    if not name or not other:
        return 0.0
    return len(name & other) / min(len(name), len(other))
