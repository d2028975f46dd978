"""Sentences, headings and names from word lists, in four languages.

The words are in `prose/*.toml`, with a table per trade that precedes the general lists; this module
only fills the slots of the patterns there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from simweb.chance import Draw

Words: TypeAlias = Mapping[str, Sequence[str]]

_SLOT = re.compile(r"\{(\w+)\}")


@cache
def _vocabulary(language: str) -> dict[str, Any]:
    text = (files("simweb") / "prose" / f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)


def _lists(table: dict[str, Any]) -> dict[str, list[str]]:
    return {name: value for name, value in table.items() if isinstance(value, list)}


@cache
def words(language: str, kind: str) -> Words:
    """The word lists of a language, the trade's own before the general ones."""
    vocabulary = _vocabulary(language)
    return {**_lists(vocabulary), **_lists(vocabulary.get(kind, {}))}


def items(language: str, kind: str) -> Mapping[str, Sequence[str]]:
    """The names of a trade's items by category."""
    vocabulary = _vocabulary(language)
    by_category: dict[str, list[str]] = vocabulary.get(kind, vocabulary)["items"]
    return by_category


def term(language: str, text: str) -> str:
    """A short English term in that language, if the language has it."""
    found: str = _vocabulary(language).get("terms", {}).get(text, text)
    return found


def label(language: str, name: str) -> str:
    """A fixed caption, such as the name of the contact page."""
    caption: str = _vocabulary(language)["labels"][name]
    return caption


class Writer:
    """Writes in one language about one trade, drawing from one generator."""

    def __init__(self, draw: Draw, language: str = "en", kind: str = "") -> None:
        self._draw = draw
        self._words = words(language, kind)

    def word(self, slot: str) -> str:
        return self._draw.choice(self._words[slot])

    def fill(self, pattern: str) -> str:
        return _SLOT.sub(self._filled, pattern)

    def _filled(self, slot: re.Match[str]) -> str:
        name = slot[1]
        word = self.word(name.lower())
        return word if name.islower() else word[0].upper() + word[1:]

    def sentence(self) -> str:
        return self.fill(self.word("patterns"))

    def heading(self) -> str:
        return self.fill(self.word("headings"))

    def question(self) -> str:
        return self.fill(self.word("questions"))

    def paragraph(self, sentences: int) -> str:
        """Sentences of distinct patterns, so that no two in a row are alike."""
        patterns = self._draw.sample(self._words["patterns"], sentences)
        return " ".join(map(self.fill, patterns))

    def paragraphs(self, count: int) -> list[str]:
        return [self.paragraph(self._draw.randint(3, 6)) for _ in range(count)]
