"""Questions as people type them: words, "phrases", -exclusions, OR, and begin* for beginnings.

The words themselves are understood by PostgreSQL; here beginnings are told apart from the rest,
which its reading of questions does not know, and words whose letters are indexed one by one
become phrases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from messor.errors import UsageError
from messor.insight.highlights import fold, is_unspaced

MAX_LENGTH = 500
MAX_BEGINNINGS = 10
LEAST_LETTERS = 2  # of a beginning; one letter begins half of everything
_PARTS = re.compile(r'-?"[^"]*"?|\S+')
_BEGINNING = re.compile(r"(-?)(\w+)\*")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for: `words` as PostgreSQL reads them, and beginnings, wanted or not."""

    words: str
    beginnings: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The same question in one form."""
        return "\x1f".join((self.words, *self.beginnings, "-", *self.unwanted))


def _spelt(part: str) -> str:
    """A part as it can be looked for: one whose letters are several words in their order."""
    if '"' in part:
        return part
    beginning = _BEGINNING.fullmatch(part)
    if is_unspaced(part) or (beginning and not _WORD.fullmatch(fold(beginning[2]))):
        sign = "-" if part.startswith("-") else ""
        return f'{sign}"{part.removeprefix("-").removesuffix("*")}"'
    return part


def understand(typed: str) -> SearchQuery:
    """A question as typed; raises with a sentence when nothing can be looked for by it."""
    clean = typed.replace("\x00", " ").strip()
    if len(clean) > MAX_LENGTH:
        raise UsageError(f"A question has {MAX_LENGTH} characters at most; this has {len(clean)}.")
    parts = [_spelt(part) for part in _PARTS.findall(clean)]
    words: list[str] = []
    beginnings: dict[str, list[str]] = {"": [], "-": []}
    for at, part in enumerate(parts):
        found = _BEGINNING.fullmatch(part)
        if found is None:
            words.append(part)
            continue
        if "or" in (one.lower() for one in (*parts[max(at - 1, 0) : at], *parts[at + 1 : at + 2])):
            raise UsageError(f"{part} cannot stand beside OR: ask for it in a question of its own.")
        if len(found[2]) < LEAST_LETTERS:
            raise UsageError(f"{part} begins too much: give {LEAST_LETTERS} letters or more.")
        beginnings[found[1]].append(found[2])
    if sum(map(len, beginnings.values())) > MAX_BEGINNINGS:
        raise UsageError(f"A question has {MAX_BEGINNINGS} beginnings (word*) at most.")
    wanted = [part for part in words if not part.startswith("-") and re.search(r"\w", part)]
    if not wanted and not beginnings[""]:
        raise UsageError('Say what to look for: words, "a phrase" or a begin*.')
    return SearchQuery(" ".join(words), tuple(beginnings[""]), tuple(beginnings["-"]))
