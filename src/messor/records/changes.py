"""What became of a page's records between two readings: new, changed, gone, back, or the same.

Only what was asked for can be missing: records of a kind that nobody looked for, or whose reader
failed, stay as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from messor.parsers.page_findings import FoundRecord

CURRENT, REMOVED = "current", "removed"
# What a page says of itself beside its own subject comes and goes; only these are events.
EVENTFUL = frozenset(("product", "offer", "service", "opportunity", "funding_program", "event"))


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A record as it is stored."""

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
    """One field of a record that is not what it was."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ChangedRecord:
    """A record that is stored, and what it says now."""

    known: KnownRecord
    found: FoundRecord
    fields: list[FieldChange]

    @property
    def state(self) -> str:
        return "returned" if self.known.state == REMOVED else "changed"


@dataclass(slots=True)
class PageChanges:
    """What became of all records of one page."""

    new: list[FoundRecord] = field(default_factory=list)
    changed: list[ChangedRecord] = field(default_factory=list)
    same: list[tuple[KnownRecord, FoundRecord]] = field(default_factory=list)
    removed: list[KnownRecord] = field(default_factory=list)
    unread: list[KnownRecord] = field(default_factory=list)  # they stand, as nobody could look

    @property
    def standing(self) -> int:
        """How many records the page has now."""
        return len(self.new) + len(self.changed) + len(self.same) + len(self.unread)

    def __bool__(self) -> bool:
        """Whether anything is not what it was."""
        return bool(self.new or self.changed or self.removed)


def compare(
    known: Iterable[KnownRecord],
    found: Iterable[FoundRecord],
    *,
    unread: Collection[str] = (),
    kinds: Collection[str] | None = None,
) -> PageChanges:
    """Hold what was found against what is known; only `kinds` were looked for, None means all."""
    changes = PageChanges()
    left = {(record.kind, record.identity): record for record in known}
    for record in found:
        before = left.pop((record.kind, record.identity), None)
        if before is None:
            changes.new.append(record)
        elif before.state == CURRENT and before.content_hash == record.content_hash:
            changes.same.append((before, record))
        else:
            changes.changed.append(ChangedRecord(before, record, _fields(before, record)))
    for missing in left.values():
        if missing.state == CURRENT:
            is_told = missing.kind not in unread and (kinds is None or missing.kind in kinds)
            (changes.removed if is_told else changes.unread).append(missing)
    return changes


def _fields(before: KnownRecord, after: FoundRecord) -> list[FieldChange]:
    old, new = before.data, after.data
    return [
        FieldChange(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


class Sighting(NamedTuple):
    """One reading of a page: which page, in which snapshot, seen when, and why it was read."""

    page_id: int
    snapshot_id: int | None  # None: the page is gone
    domain_id: Any
    url: str
    url_hash: bytes
    seen_at: datetime
    cause: str  # page or parser
