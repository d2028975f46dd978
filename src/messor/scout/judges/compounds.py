"""Terms within compounds: "Kulturstiftung" is a Stiftung, and domains join words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from messor.scout.words import Phrases, stem, stems

_SHORTEST = 6  # minimum letters of a term to be matched within a word


class CompoundTerms:
    """Phrases also matched at either end of a longer word, if they are long enough."""

    def __init__(self, phrases: Iterable[str]) -> None:
        texts = list(phrases)
        self._phrases = Phrases(texts)
        single = {stem(text): text for text in texts if " " not in text}
        self._parts = {part: text for part, text in single.items() if len(part) >= _SHORTEST}

    def found_in(self, text: str) -> list[str]:
        found = dict.fromkeys(self._phrases.found_in(text))
        for word in stems(text):
            if len(word) > _SHORTEST:
                found |= dict.fromkeys(self._parts_of(word))
        return list(found)

    def found_in_label(self, label: str) -> list[str]:
        """Those that a domain's label contains, also joined."""
        words = label.replace("-", " ")
        return self.found_in(words) or self.found_in(_plain(label.replace("-", "")))

    def _parts_of(self, word: str) -> list[str]:
        """The longest at the start and the longest at the end."""
        begins = max((p for p in self._parts if word.startswith(p)), key=len, default="")
        ends = max((p for p in self._parts if word.endswith(p)), key=len, default="")
        return [self._parts[part] for part in (begins, ends) if part]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text.casefold())
