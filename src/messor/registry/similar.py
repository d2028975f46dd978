"""Similar domains: known names that a reviewer might confuse with a new one.

The same name under another suffix, one letter added, dropped or replaced, and one with a word
added. Names are compared as written; homoglyphs are not folded.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.registry.life import Status
from messor.store.database import Connection, Database

MAX_SIMILAR = 10
SHORTEST = 4  # shorter names resemble too many others
WORD = 5  # minimum letters of a meaningful common prefix or suffix

# By length, which bounds the distance, and by either end: a single change leaves one of them
# intact.
CANDIDATES = """
SELECT domain, status FROM messor.domains
 WHERE domain <> $1 AND split_part(domain, '.', 1) = $2
UNION
(SELECT domain, status FROM messor.domains
  WHERE domain <> $1 AND length($2) >= $3
    AND (left(split_part(domain, '.', 1), 2) = left($2, 2)
         OR right(split_part(domain, '.', 1), 2) = right($2, 2))
    AND (abs(length(split_part(domain, '.', 1)) - length($2)) <= 1
         OR (length($2) >= $4 AND strpos(split_part(domain, '.', 1), $2) > 0)
         OR (length(split_part(domain, '.', 1)) >= $4
             AND strpos($2, split_part(domain, '.', 1)) > 0))
  ORDER BY domain LIMIT 5000)
"""


@dataclass(frozen=True, slots=True)
class Similar:
    """A known domain with a similar name, and the kind of similarity."""

    domain: str
    status: Status
    likeness: str  # same_name, spelling, or word


async def similar_to(source: Connection | Database, domain: str) -> list[Similar]:
    """Known domains most similar to a name."""
    label = domain.partition(".")[0]
    found: list[Similar] = []
    for row in await source.fetch(CANDIDATES, domain, label, SHORTEST, WORD):
        likeness = likeness_of(label, row["domain"].partition(".")[0])
        if likeness is not None:
            found.append(Similar(row["domain"], row["status"], likeness))
    order = ("same_name", "spelling", "word")
    return sorted(found, key=lambda one: (order.index(one.likeness), one.domain))[:MAX_SIMILAR]


def likeness_of(one: str, other: str) -> str | None:
    """The kind of similarity of two names; None if they are not similar."""
    if one == other:
        return "same_name"
    short, long = sorted((one, other), key=len)
    if len(short) >= SHORTEST and _is_one_change_apart(short, long):
        return "spelling"
    whole = long.startswith(short) or long.endswith(short)
    return "word" if len(short) >= WORD and whole else None


def _is_one_change_apart(short: str, long: str) -> bool:
    """Whether one letter was added or replaced, or two neighbours were swapped."""
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    if len(short) != len(long):
        return len(long) - len(short) == 1 and short[start:] == long[start + 1 :]
    if short[start + 1 :] == long[start + 1 :]:
        return True
    swapped = short[start : start + 2][::-1] == long[start : start + 2]
    return swapped and short[start + 2 :] == long[start + 2 :]
