"""The classes that the elements of a site's pages have in crowds, and that tell nothing.

A list of a hundred products has three hundred elements of three classes. To leave them out where the
page is walked takes far less time than to ask each for its class.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_ -]{0,59}")  # needs no escaping in a selector
_LONGEST_SITE = 100
_MAX_SITES = 512
_MAX_CLASSES = 6  # classes of a site; to look for each takes time, too
_SHARE = 16  # of the elements of a page, one of them makes up at minimum one in so many
_TRIES = 4  # pages of a site that are learnt from


class RepeatedClasses:
    """The classes that are left out of what is selected on the pages of a site."""

    __slots__ = ("_classes", "_tries", "_unwanted", "others")

    def __init__(self, unwanted: str) -> None:
        self.others = ""  # selects the other elements with a class, and all with an id
        self._unwanted = frozenset(unwanted)  # what a class may tell and be left out all the same
        self._classes: list[str] = []
        self._tries = 0

    def learn(self, classes: Sequence[str | None], kinds: Mapping[str, str]) -> None:
        """Take in what the elements of a page have for a class; some of the classes tell something."""
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
    """What is known of a site; where prices are not wanted, those that tell one are left out, too."""
    if not site or len(site) > _LONGEST_SITE:
        return None
    known = _BY_SITE.get((site, prices))
    if known is None:
        if len(_BY_SITE) >= _MAX_SITES:
            _BY_SITE.clear()
        known = _BY_SITE[site, prices] = RepeatedClasses("" if prices else "p")
    return known
