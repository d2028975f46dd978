"""What every kind of entity says of itself: how records are read, found and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Features = Mapping[str, frozenset[str]]  # what a statement says, by name

JOINED = 0.9  # from this score on two statements are about one thing
PROPOSED = 0.6  # from this score on a person is asked


class Match(NamedTuple):
    """How far two statements agree, and why; a score of 0 means that they contradict each other."""

    score: float
    rule: str  # what people's decisions are counted by
    basis: str


class Reading(NamedTuple):
    """What a record says for matching.

    Records of one domain with the same identity are one statement: a footer on every page is.
    """

    identity: str
    features: dict[str, set[str]]


@dataclass(frozen=True, slots=True)
class EntityKind:
    """A kind of entity."""

    name: str
    label: str
    plural: str
    sources: frozenset[str]  # kinds of records
    read: Callable[[SourceRecord], Reading | None]
    keys: Callable[[Features], Iterable[str]]  # statements that share one are compared
    compare: Callable[[Features, Features], Match | None]
    title: str  # the field
    fields: tuple[str, ...]
    newest: frozenset[str] = frozenset()  # fields of which the newest value holds


class SourceRecord(NamedTuple):
    """A record to be read for matching."""

    record_id: int
    kind: str
    domain: str
    data: Mapping[str, Any]

    def text(self, name: str) -> str:
        value = self.data.get(name)
        return value.strip() if isinstance(value, str) else ""


def conflict(what: str) -> Match:
    return Match(0.0, "contradiction", what)


def shared(one: Features, other: Features, name: str) -> frozenset[str]:
    return one.get(name, _NONE) & other.get(name, _NONE)


def differ(one: Features, other: Features, name: str) -> bool:
    """Whether both say something, and nothing of it is the same."""
    mine, theirs = one.get(name, _NONE), other.get(name, _NONE)
    return bool(mine) and bool(theirs) and not mine & theirs


_NONE: frozenset[str] = frozenset()
