"""Similarity of two names."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_LONGEST = 400


def words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()[:_LONGEST]))


def likeness(name: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the shorter name's words that both have, 0 to 1."""
    if not name or not other:
        return 0.0
    return len(name & other) / min(len(name), len(other))
