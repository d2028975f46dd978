"""Headline and site name of a page, from its title, its declared titles and its headings.

A title is often the headline with the site's name beside it. Three things show which part is which:
the name the site declares, its host, and a heading that repeats a part. A heading that differs from
the title is the headline of articles; elsewhere it is as often a slogan, and the title is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

_MAX_TITLE = 500
_MIN_LABEL = 4  # letters of a host label that can be recognised within a name
_MAX_SITE_WORDS = 4
_LOWER = (2, 3)
_MAX_LOWER = 60
_MIN_START = 4  # letters of a heading that a title may start with
# Separators by strength: a title is split at one kind only.
_SEPARATORS = tuple(
    re.compile(mark)
    for mark in (
        r"\s*[|\u2502\uff5c]\s*",
        r"\s+(?:[\u00bb\u203a\u00ab\u2039\u2022\u00b7\u2219~]|::)\s+",
        r"\s+-{1,2}\s+",
        r"\s+[\u2013\u2014]\s+",
        r"\s+[/<>:]\s+",
    )
)
_ANY = re.compile(
    r"\s*[|\u2502\uff5c]\s*|\s+(?:[\u00bb\u203a\u00ab\u2039\u2022\u00b7\u2219~\u2013\u2014/<>:]|-{1,2}|::)\s+"
)
_not_word = re.compile(r"[\W_]+")
_words = re.compile(r"\w+").findall
_EDGES = " |\u2502\uff5c-\u2013\u2014\u00bb\u203a\u2022\u00b7:~/"


class Titled(NamedTuple):
    """A heading, as far as it may be the headline."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Site:
    """What is known of a site's name: as declared, and the labels of its host."""

    name: str
    labels: tuple[str, ...]

    def is_named(self, text: str) -> bool:
        """Whether a text is the site's name."""
        plain = letters(text)
        if not plain:
            return False
        return plain == self.name or any(
            plain == label or (len(plain) >= _MIN_LABEL and plain in label) for label in self.labels
        )

    def may_be_named(self, text: str) -> bool:
        """Whether a part beside a headline is the site's name, perhaps with a word more."""
        if self.is_named(text):
            return True
        plain = letters(text)
        if self.name and plain and (plain in self.name or self.name in plain):
            return True
        return len(text.split()) <= _MAX_SITE_WORDS and any(
            len(label) >= _MIN_LABEL and label in plain for label in self.labels
        )


def letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, for comparison."""
    return _not_word.sub("", text).casefold()


def site_of(name: str, host: str) -> Site:
    """Return what a declared name and a host say about a site's name."""
    own = host.lower().removeprefix("www.")
    labels = (*own.split(".")[:-1], own)
    return Site(letters(name), tuple(filter(None, map(letters, labels))))


def site_name(title: str, site: Site) -> str:
    """Return the part of a title that is the site's name, empty if none is."""
    parts, _ = _split(title[:_MAX_TITLE])
    if len(parts) > 1:
        for part in (parts[-1], parts[0]):
            if site.may_be_named(part):
                return part
    return ""


def headline(
    titles: Iterable[str], headings: Iterable[Titled], site: Site, *, is_article: bool
) -> str:
    """Return the headline of a page; titles start with the one that browsers show."""
    stated = [title[:_MAX_TITLE] for title in titles if title.strip()]
    given = list(headings)
    tops = [each.text for each in given if each.level == 1 and not site.is_named(each.text)]
    lower = [each.text for each in given if each.level in _LOWER][:_MAX_LOWER]
    parts = _parts_of(stated, site)
    for group in (tops, [] if is_article and len(tops) == 1 else lower):
        if (repeated := _repeated(group, parts, site)) is not None:
            return repeated
    if not stated:
        return tops[0] if tops else ""
    if (begun := _begun_with(stated, tops)) is not None:
        return begun
    own = _headline_part(stated[0], site)
    if len(tops) == 1 and (is_article or site.is_named(own) or _is_alike(own, tops[0])):
        return without_site(tops[0], site)
    return own


def _repeated(texts: list[str], parts: dict[str, int], site: Site) -> str | None:
    """Return the heading that repeats the first part of a title."""
    best: tuple[int, str] | None = None
    for text in texts:
        rank = parts.get(letters(text))
        if rank is not None and (best is None or rank < best[0]) and not site.is_named(text):
            best = rank, text
    return None if best is None else without_site(best[1], site)


def _parts_of(titles: list[str], site: Site) -> dict[str, int]:
    """Return the parts of titles that a heading may repeat, with their rank."""
    found: dict[str, int] = {}
    for title in titles:
        for part in (
            title,
            _headline_part(title, site),
            without_site(title, site),
            *_ANY.split(title)[:-1],  # the last names a site, a book or a section
        ):
            found.setdefault(letters(part), len(found))
    found.pop("", None)
    return found


def _begun_with(titles: list[str], tops: list[str]) -> str | None:
    """Return a first-level heading that a title starts with."""
    plain_titles = [letters(title) for title in titles]
    for text in tops:
        plain = letters(text)
        if len(plain) >= _MIN_START and any(title.startswith(plain) for title in plain_titles):
            return text
    return None


def _is_alike(one: str, other: str) -> bool:
    """Whether half of the words of the longer text occur in the other."""
    first, second = set(_words(one.lower())), set(_words(other.lower()))
    return len(first & second) * 2 >= max(len(first), len(second), 1)


def _split(title: str) -> tuple[list[str], re.Pattern[str] | None]:
    for separator in _SEPARATORS:
        parts = separator.split(title)
        if len(parts) > 1 and all(parts):
            return parts, separator
    return [title], None


def _headline_part(title: str, site: Site) -> str:
    """Return the first part of a title that is not the site's name.

    A home page's title starts with the name and describes the site: it is kept whole.
    """
    parts, separator = _split(title)
    if separator is None:
        return title
    if len(parts) == 2 and site.is_named(parts[0]):
        return title
    first = next((part for part in parts if not site.is_named(part)), title)
    return without_site(first, site)


def without_site(text: str, site: Site) -> str:
    """Return a text without a site's name at its end."""
    parts, separator = _split(text)
    if separator is not None and site.may_be_named(parts[-1]):
        return text[: text.rindex(parts[-1])].rstrip(_EDGES)
    return text
