"""How alike two names of a thing are."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
_LONGEST = 400


def words_of(text: str) -> frozenset[str]:
    return _known_words(text) if len(text) <= _LONGEST else _words(text)


@lru_cache(maxsize=256)
def _known_words(text: str) -> frozenset[str]:
    """The same of a name, which a page repeats: in its title, its heading and what it publishes."""
    return _words(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()[:_LONGEST]))


def likeness(name: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter name's words that both have, 0 to 1."""
    if not name or not other:
        return 0.0
    return len(name & other) / min(len(name), len(other))
