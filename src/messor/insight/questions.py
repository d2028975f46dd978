"""Search queries as typed: words, "phrases", -exclusions, OR, and prefixes such as begin*.

PostgreSQL parses the words; this module separates prefixes, which its query parser does not
support, and turns words whose letters are indexed one by one into phrases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from messor.errors import UsageError
from messor.insight.highlights import fold, is_unspaced

MAX_LENGTH = 500
MAX_PREFIXES = 10
MIN_PREFIX_LETTERS = 2  # of a prefix; a single letter matches too much
_PARTS = re.compile(r'-?"[^"]*"?|\S+')
_BEGINNING = re.compile(r"(-?)(\w+)\*")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search query: `words` for PostgreSQL's parser, and prefixes, wanted or excluded."""

    words: str
    beginnings: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The query in one normal form."""
        return "\x1f".join((self.words, *self.beginnings, "-", *self.unwanted))


def _spelt(part: str) -> str:
    """A searchable part: one whose letters are words becomes a phrase."""
    if '"' in part:
        return part
    beginning = _BEGINNING.fullmatch(part)
    if is_unspaced(part) or (beginning and not _WORD.fullmatch(fold(beginning[2]))):
        sign = "-" if part.startswith("-") else ""
        return f'{sign}"{part.removeprefix("-").removesuffix("*")}"'
    return part


def understand(typed: str) -> SearchQuery:
    """Parse a query as typed; raises an error if there is nothing to search for."""
    clean = typed.replace("\x00", " ").strip()
    if len(clean) > MAX_LENGTH:
        raise UsageError(f"A query has at most {MAX_LENGTH} characters; this one has {len(clean)}.")
    parts = [_spelt(part) for part in _PARTS.findall(clean)]
    words: list[str] = []
    beginnings: dict[str, list[str]] = {"": [], "-": []}
    for at, part in enumerate(parts):
        found = _BEGINNING.fullmatch(part)
        if found is None:
            words.append(part)
            continue
        if "or" in (one.lower() for one in (*parts[max(at - 1, 0) : at], *parts[at + 1 : at + 2])):
            raise UsageError(f"{part} cannot be combined with OR: search for it separately.")
        if len(found[2]) < MIN_PREFIX_LETTERS:
            raise UsageError(
                f"The prefix {part} is too short: give at least {MIN_PREFIX_LETTERS} letters."
            )
        beginnings[found[1]].append(found[2])
    if sum(map(len, beginnings.values())) > MAX_PREFIXES:
        raise UsageError(f"A query can have at most {MAX_PREFIXES} prefixes (word*).")
    wanted = [part for part in words if not part.startswith("-") and re.search(r"\w", part)]
    if not wanted and not beginnings[""]:
        raise UsageError('The query is empty: give words, "a phrase" or a prefix*.')
    return SearchQuery(" ".join(words), tuple(beginnings[""]), tuple(beginnings["-"]))
