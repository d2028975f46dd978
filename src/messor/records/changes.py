"""Compares a page's records between two readings: new, changed, removed, restored or unchanged.

Only what was looked for can be missing: records of a kind that was not requested, or whose parser
failed, stay unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from messor.content.kinds import KINDS
from messor.parsers.page_findings import FoundRecord

CURRENT, REMOVED = "current", "removed"
# Records besides a page's main subject come and go; only some kinds raise events.
EVENTFUL = frozenset(kind.name for kind in KINDS.values() if kind.is_eventful)


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A stored record."""

    id: int
    kind: str
    identity: str
    state: str
    content_hash: bytes
    data_json: str

    @property
    def data(self) -> dict[str, Any]:
        """Values by field."""
        found: dict[str, Any] = msgspec.json.decode(self.data_json)
        return found


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A changed field of a record."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ChangedRecord:
    """A stored record and its new state."""

    known: KnownRecord
    found: FoundRecord
    fields: list[FieldChange]

    @property
    def state(self) -> str:
        return "returned" if self.known.state == REMOVED else "changed"


@dataclass(slots=True)
class PageChanges:
    """The changes of all records of one page."""

    new: list[FoundRecord] = field(default_factory=list)
    changed: list[ChangedRecord] = field(default_factory=list)
    same: list[tuple[KnownRecord, FoundRecord]] = field(default_factory=list)
    removed: list[KnownRecord] = field(default_factory=list)
    unread: list[KnownRecord] = field(
        default_factory=list
    )  # kept, because they were not looked for

    @property
    def standing(self) -> int:
        """Number of records the page has now."""
        return len(self.new) + len(self.changed) + len(self.same) + len(self.unread)

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.new or self.changed or self.removed)


def compare(
    known: Iterable[KnownRecord],
    found: Iterable[FoundRecord],
    *,
    unread: Collection[str] = (),
    kinds: Collection[str] | None = None,
) -> PageChanges:
    """Compare found records with known ones; only `kinds` were looked for, None means all."""
    changes = PageChanges()
    left = {(record.kind, record.identity): record for record in known}
    for record in found:
        before = left.pop((record.kind, record.identity), None)
        if before is None:
            changes.new.append(record)
        elif before.state == CURRENT and before.content_hash == record.content_hash:
            changes.same.append((before, record))
        else:
            changes.changed.append(ChangedRecord(before, record, field_changes(before, record)))
    for missing in left.values():
        if missing.state == CURRENT:
            is_told = missing.kind not in unread and (kinds is None or missing.kind in kinds)
            (changes.removed if is_told else changes.unread).append(missing)
    return changes


def field_changes(before: KnownRecord, after: FoundRecord) -> list[FieldChange]:
    """The fields whose values differ."""
    old, new = before.data, after.data
    return [
        FieldChange(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


class Sighting(NamedTuple):
    """One reading of a page: which page and snapshot, when it was seen, and why it was read."""

    page_id: int
    snapshot_id: int | None  # None: the page is gone
    domain_id: Any
    url: str
    url_hash: bytes
    seen_at: datetime
    cause: str  # page, parser or person
