"""Cache of classified short texts and names: pages of a site repeat menus and classes.

New texts are classified in one batch, each word searched in all of them at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import Generic, TypeVar

Value = TypeVar("Value")
# Classifies texts; those without a meaning are left out.
Classify = Callable[[Collection[str]], Mapping[str, Value]]

_MAX_KNOWN = 16_384
_LONGEST = 400


class TextCache(Generic[Value]):
    """Texts classified before, and the meanings of those that have one."""

    def __init__(self, classify: Classify[Value], longest: int = _LONGEST) -> None:
        self._classify = classify
        self._longest = longest  # longer texts are classified each time
        self._held: tuple[set[str], dict[str, Value]] = set(), {}

    def lookup(self, texts: AbstractSet[str]) -> dict[str, Value]:
        """Return the texts that have a meaning, with it."""
        known, meanings = self._held
        found = {text: meanings[text] for text in meanings.keys() & texts}
        fresh = texts - known
        if fresh:
            new = self._classify(fresh)
            self._remember(fresh, new)
            found.update(new)
        return found

    def _remember(self, fresh: AbstractSet[str], new: Mapping[str, Value]) -> None:
        short = fresh
        longest = self._longest
        if max(map(len, fresh)) > longest:
            short = {text for text in fresh if len(text) <= longest}
        known, meanings = self._held
        if len(known) + len(short) > _MAX_KNOWN:  # other threads may be reading the old ones
            known, meanings = self._held = set(), {}
        if len(short) <= _MAX_KNOWN:
            meanings.update({text: new[text] for text in new.keys() & short})
            known.update(short)


def kinds_in(lows: Sequence[str], words: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return, for each lower-case text, the kinds of the words it contains."""
    if not lows:
        return []
    joined = "\n".join(lows)
    ends = list(accumulate([len(low) + 1 for low in lows]))
    kinds = [""] * len(lows)
    for kind, own in words:
        places: set[int] = set()
        for word in own:
            at = joined.find(word)
            while at >= 0:
                place = bisect_right(ends, at)
                places.add(place)
                at = joined.find(word, ends[place])
        for place in places:
            kinds[place] += kind
    return kinds
