"""Classes that recur on the elements of a site's pages and carry no information.

A list of a hundred products has three hundred elements of three classes. Excluding them in the
selector is far cheaper than checking the class of each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_ -]{0,59}")  # needs no escaping in a selector
_LONGEST_SITE = 100
_MAX_SITES = 512
_MAX_CLASSES = 6  # per site; each one makes the selector slower
_SHARE = 16  # a class must be on at least 1 in 16 of a page's elements
_TRIES = 4  # pages of a site to learn from


class RepeatedClasses:
    """The classes excluded from selection on the pages of a site."""

    __slots__ = ("_classes", "_tries", "_unwanted", "others")

    def __init__(self, unwanted: str) -> None:
        self.others = ""  # selects elements with another class, and all with an id
        self._unwanted = frozenset(unwanted)  # kinds that do not prevent exclusion
        self._classes: list[str] = []
        self._tries = 0

    def learn(self, classes: Sequence[str | None], kinds: Mapping[str, str]) -> None:
        """Learn from the classes of a page's elements; `kinds` maps informative classes."""
        if self._tries >= _TRIES or len(self._classes) >= _MAX_CLASSES:
            return
        self._tries += 1
        minimum = len(classes) / _SHARE
        for name, times in Counter(classes).most_common(_MAX_CLASSES - len(self._classes)):
            if name is None or times < minimum or not _PLAIN.fullmatch(name):
                continue
            if self._unwanted.issuperset(kinds.get(name, "")):
                self._classes.append(name)
        if self._classes:
            left_out = ",".join([f'[class="{name}"]' for name in self._classes])
            self.others = f"[class]:not({left_out}),[id]"


_BY_SITE: dict[tuple[str, bool], RepeatedClasses] = {}


def repeated_classes_of(site: str, *, prices: bool) -> RepeatedClasses | None:
    """Return the repeated classes of a site; without `prices`, price classes are excluded too."""
    if not site or len(site) > _LONGEST_SITE:
        return None
    known = _BY_SITE.get((site, prices))
    if known is None:
        if len(_BY_SITE) >= _MAX_SITES:
            _BY_SITE.clear()
        known = _BY_SITE[site, prices] = RepeatedClasses("" if prices else "p")
    return known
