"""Loose comparison of short texts: case-folded, without accents and common endings."""

# ruff: noqa: RUF001 - words in many alphabets

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_ENDINGS = ("ings", "ing", "ies", "es", "s", "e")
# Articles and plurals of Bulgarian, longest first; other languages in Cyrillic lose little by them.
_CYRILLIC_ENDINGS = (
    "овете", "евете", "ията", "иите", "ите", "ове", "еве", "ата", "ята", "ото", "ето",
    "ия", "ии", "ът", "ят", "та", "то", "те", "а", "я", "и", "о", "е",
)  # fmt: skip
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_STOP_WORDS = """
a an and are as at be best by can do does for from get how i in is it me my near of on or our that
the their to top was we what when where which who why with you your der die das und für le la les
des et de du el los las un una y en за на и в във от по с със до се са е да при като или
"""
STOP = frozenset(_STOP_WORDS.split())


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without accents and endings, so that singular matches plural."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c)).replace("\u2019", "'")
    plain = plain.removesuffix("'s")
    is_cyrillic = _CYRILLIC.match(plain) is not None
    for ending in _CYRILLIC_ENDINGS if is_cyrillic else _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= 3 + is_cyrillic:
            base = plain[: -len(ending)]
            return base + "y" if ending == "ies" else base
    return plain


def stems(text: str) -> list[str]:
    """The stems of a text in order."""
    return [stem(word) for word in _WORD.findall(text)]


def content_stems(text: str) -> set[str]:
    """The stems that carry meaning."""
    return {stem(word) for word in _WORD.findall(text) if word.casefold() not in STOP}


class Phrases:
    """A set of words and phrases to be found in texts."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._known: dict[tuple[str, ...], str] = {}
        for phrase in phrases:
            key = tuple(stems(phrase))
            if key:
                self._known.setdefault(key, phrase)
        self._longest = max(map(len, self._known), default=0)

    def found_in(self, text: str) -> list[str]:
        """The phrases in a text, each once, in order of first occurrence."""
        words = stems(text)
        found: dict[str, None] = {}
        for start in range(len(words)):
            for length in range(1, min(self._longest, len(words) - start) + 1):
                phrase = self._known.get(tuple(words[start : start + length]))
                if phrase is not None:
                    found[phrase] = None
        return list(found)
