"""Validation: implausible or unproven fields are dropped, which lowers a record's confidence.

Each dropped field has a reason. A record that loses its subject is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from messor.content.kinds import KINDS
from messor.content.records import Record, unsupported

UNPROVEN = "Its quote is not on the page, or does not say this."
# Factor applied to a record's confidence for each dropped field.
_DOUBT = 0.85
_FAULTY = re.compile(r"fields\.(\w+)")


class Rejected(NamedTuple):
    """A rejected field, or a whole record if the name is empty."""

    kind: str
    field: str
    reason: str


def validated(
    records: Iterable[Record], decoded: str | None = None
) -> tuple[list[Record], list[Rejected]]:
    """Return the accepted records, and what was rejected with the reasons.

    If the page's `decoded` text is given, fields must be proven by it.
    """
    good: list[Record] = []
    rejected: list[Rejected] = []
    for record in records:
        kept, reasons = _checked(record, decoded)
        rejected += reasons
        if kept is not None:
            good.append(kept)
    return good, rejected


def _checked(record: Record, decoded: str | None) -> tuple[Record | None, list[Rejected]]:
    reasons = _unbelievable(record)
    if decoded is not None:
        reasons += _unproven(_without(record, reasons), decoded)
    kept = _without(record, reasons)
    kind = KINDS.get(record.kind)
    by_schema = kind if kind is not None and kind.is_checked_by_schema else None
    wrong = by_schema.problems(kept) if by_schema else []
    if wrong:
        reasons += _out_of_form(kept, wrong)
        kept = _without(record, reasons)
        wrong = by_schema.problems(kept) if by_schema else []
    reason = _whole(kept, wrong)
    if reason is not None:
        return None, [*reasons, Rejected(record.kind, "", reason)]
    return kept, reasons


def _unbelievable(record: Record) -> list[Rejected]:
    """Return the implausible fields."""
    found = []
    kind = KINDS.get(record.kind)
    for name, rule in kind.rules.items() if kind else ():
        field = record.fields.get(name)
        reason = None if field is None else rule(field.value)
        if reason is not None:
            found.append(Rejected(record.kind, name, reason))
    return found


def _unproven(record: Record, decoded: str) -> list[Rejected]:
    """Return the fields whose quote is not on the page or does not yield their value."""
    return [Rejected(record.kind, name, UNPROVEN) for name in unsupported(record, decoded)]


def _out_of_form(record: Record, wrong: list[str]) -> list[Rejected]:
    """Return the fields that violate the schema of their kind."""
    found: dict[str, Rejected] = {}
    for problem in wrong:
        name = _FAULTY.match(problem)
        if name is not None and name[1] in record.fields:
            found.setdefault(name[1], Rejected(record.kind, name[1], problem))
    return list(found.values())


def _without(record: Record, reasons: list[Rejected]) -> Record:
    """Return the record without rejected fields, with reduced confidence."""
    if not reasons:
        return record
    gone = {reason.field for reason in reasons}
    fields = {name: field for name, field in record.fields.items() if name not in gone}
    return replace(record, fields=fields, confidence=record.confidence * _DOUBT ** len(gone))


def _whole(record: Record, wrong: list[str]) -> str | None:
    """Return why a whole record is rejected; None if it is accepted."""
    if not record.fields:
        return "No field of it can be believed."
    kind = KINDS.get(record.kind)
    missing = (
        next((name for name in kind.needs if name not in record.fields), None) if kind else None
    )
    if missing is not None:
        return f"It has no {missing}."
    if kind is not None and kind.needs_any and record.fields.keys().isdisjoint(kind.needs_any):
        return f"It has none of {', '.join(kind.needs_any)}."
    return " ".join(wrong[:3]) or None
