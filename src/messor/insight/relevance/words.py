"""Words of a page as features: folded, also in pairs, with title words separate."""

from __future__ import annotations

import re
from itertools import pairwise

from messor.content.dates import fold

MAX_TEXT = 20_000  # characters of a text that count: the beginning states the topic
_WORD = re.compile(r"[^\W\d_]{2,30}")
# Stop words of several languages.
_STOP = frozenset(
    (
        "the", "and", "for", "with", "that", "this", "from", "are", "was", "were", "has", "have",
        "had", "not", "but", "you", "your", "our", "their", "his", "her", "its", "all", "can",
        "will", "more", "about", "into", "than", "then", "them", "they", "who", "what", "when",
        "which", "one", "also", "been", "an", "or", "of", "to", "in", "on", "at", "by", "as", "is",
        "it", "be", "we", "us", "he", "she", "if", "no", "so", "do", "up", "out", "der", "die",
        "das", "und", "mit", "von", "den", "dem", "des", "ein", "eine", "ist", "nicht", "auch",
        "auf", "les", "une", "est", "pas", "pour", "dans", "sur", "avec", "que", "qui", "los",
        "las", "una", "por", "para", "con", "del", "van", "het", "een", "niet", "che", "per", "non",
    )
)  # fmt: skip


def words_of(text: str) -> list[str]:
    """The words of a text in order."""
    return [word for word in _WORD.findall(fold(text[:MAX_TEXT])) if word not in _STOP]


def features_of(title: str, text: str) -> frozenset[str]:
    """Words, pairs of neighbours, and `title:` words; each counts once."""
    words = words_of(text)
    pairs = (f"{first} {second}" for first, second in pairwise(words))
    return frozenset((*words, *pairs, *(f"title:{word}" for word in words_of(title))))
