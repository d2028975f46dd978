"""Which statements are about one thing: pairs that agree, within what contradicts and what people decided.

A pure function. Pairs are taken from the best to the weakest; two groups become one unless a
statement of one contradicts a statement of the other, or a person said that they differ. What
people said comes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from messor.entities.match import JOINED

Verdict = Literal["same", "different"]
Contradicts = Callable[[int, int], bool]

MAX_MEMBERS = 500  # statements of one entity; what would make it larger is left apart
MAX_COMPARED = 2_000  # pairs looked at for contradictions before two groups become one


class ComparedPair(NamedTuple):
    """Two statements that agree, or that a person decided about; the smaller id first."""

    first: int
    second: int
    score: float
    verdict: Verdict | None = None


def group(
    statements: Iterable[int], pairs: Sequence[ComparedPair], contradicts: Contradicts
) -> list[list[int]]:
    """The statements of each entity, in order."""
    groups = _Groups(statements, contradicts)
    for pair in pairs:
        if pair.verdict == "different":
            groups.keep_apart(pair.first, pair.second)
    decided = [pair for pair in pairs if pair.verdict == "same"]
    for pair in sorted(decided):
        groups.join(pair.first, pair.second, is_decided=True)
    found = [pair for pair in pairs if pair.verdict is None and pair.score >= JOINED]
    for pair in sorted(found, key=lambda pair: (-pair.score, pair.first, pair.second)):
        groups.join(pair.first, pair.second)
    return groups.all()


class _Groups:
    """Disjoint groups, some of which must not become one."""

    def __init__(self, statements: Iterable[int], contradicts: Contradicts) -> None:
        self._members: dict[int, list[int]] = {each: [each] for each in statements}
        self._of = {each: each for each in self._members}
        self._apart: dict[int, set[int]] = defaultdict(set)  # by group
        self._contradicts = contradicts

    def keep_apart(self, one: int, other: int) -> None:
        if one in self._of and other in self._of:
            self._apart[one].add(other)
            self._apart[other].add(one)

    def join(self, one: int, other: int, *, is_decided: bool = False) -> None:
        if one not in self._of or other not in self._of:
            return
        a, b = self._of[one], self._of[other]
        if a == b or b in self._apart[a] or not (is_decided or self._agree(a, b)):
            return
        if len(self._members[a]) + len(self._members[b]) > MAX_MEMBERS:
            return
        if len(self._members[a]) < len(self._members[b]):
            a, b = b, a
        self._absorb(a, b)

    def _agree(self, a: int, b: int) -> bool:
        mine, theirs = self._members[a], self._members[b]
        if len(mine) * len(theirs) > MAX_COMPARED:
            return True
        return not any(self._contradicts(one, other) for one in mine for other in theirs)

    def _absorb(self, a: int, b: int) -> None:
        for member in self._members.pop(b):
            self._of[member] = a
            self._members[a].append(member)
        for enemy in self._apart.pop(b, ()):
            self._apart[enemy].discard(b)
            self._apart[enemy].add(a)
            self._apart[a].add(enemy)

    def all(self) -> list[list[int]]:
        return sorted(sorted(members) for members in self._members.values())
