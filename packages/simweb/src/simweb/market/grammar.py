"""Sentences from patterns: slots are filled from fixed values, else from word lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from simweb.chance import Draw
from simweb.market.script import Words

_SLOT = re.compile(r"\{(\w+)\}")
_DEEPEST = 4  # nested patterns


class Grammar:
    """Writes with one generator. `settled` values precede the lists; {Word} is capitalised."""

    def __init__(self, draw: Draw, words: Words, settled: Mapping[str, str]) -> None:
        self._draw = draw
        self._words = words
        self._settled = settled

    def write(self, pattern: str, depth: int = 0) -> str:
        def filled(slot: re.Match[str]) -> str:
            word = self._value(slot[1].lower())
            if depth < _DEEPEST:
                word = self.write(word, depth + 1)
            return word if slot[1].islower() else word[:1].upper() + word[1:]

        return _SLOT.sub(filled, pattern)

    def _value(self, name: str) -> str:
        if name in self._settled:
            return self._settled[name]
        if name == "number2":
            return str(self._draw.randrange(7, 90))
        if name == "number3":
            return str(self._draw.randrange(11, 999))
        return self._draw.choice(self._words[name])

    def one(self, patterns: Sequence[str]) -> str:
        return self.write(self._draw.choice(patterns))

    def some(self, patterns: Sequence[str], count: int) -> list[str]:
        """Distinct patterns, so that no two sentences in a row are alike."""
        chosen = self._draw.sample(patterns, min(count, len(patterns)))
        return [self.write(pattern) for pattern in chosen]
