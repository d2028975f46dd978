"""The fields of an entity: of each the best stated value, who agrees, and what others state. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from messor.entities.match import EntityKind
from messor.entities.words import letters_of

MAX_OTHERS = 10  # other values kept of a field


class BestRecord(NamedTuple):
    """The best record of a statement."""

    record_id: int
    domain: str
    confidence: float
    last_seen: datetime
    data: Mapping[str, Any]
    fields: Mapping[str, Mapping[str, Any]]


class _Stated(NamedTuple):
    record: BestRecord
    value: Any
    confidence: float
    is_corrected: bool


def merge(kind: EntityKind, records: Sequence[BestRecord]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values by field, and by field where each comes from."""
    data: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name in kind.fields:
        values: dict[str, list[_Stated]] = defaultdict(list)
        for record in records:
            if record.data.get(name) not in (None, "", []):
                values[_comparable(record.data[name])].append(_stated(record, name))
        if values:
            ranked = sorted(values.values(), key=lambda group: _rank(group, name in kind.newest))
            data[name], fields[name] = _field(ranked[::-1])
    return data, fields


def _stated(record: BestRecord, name: str) -> _Stated:
    field = record.fields.get(name, {})
    confidence = float(field.get("confidence") or record.confidence)
    return _Stated(record, record.data[name], confidence, "correction" in field)


def _comparable(value: Any) -> str:
    if isinstance(value, str):
        return letters_of(value) or value
    return msgspec.json.encode(value, order="sorted").decode()


def _rank(group: Sequence[_Stated], is_newest: bool) -> tuple[Any, ...]:
    """A person's value first; then the newest where the field says so, else what most sites state.

    Of equal ones the first that was known stays, so that names do not change with every crawl.
    """
    corrected = any(each.is_corrected for each in group)
    newest = max(each.record.last_seen for each in group)
    sites = len({each.record.domain for each in group})
    surest = max(each.confidence for each in group)
    agreed = (newest, sites, surest) if is_newest else (sites, surest)
    return (corrected, *agreed, -min(each.record.record_id for each in group))


def _field(ranked: Sequence[Sequence[_Stated]]) -> tuple[Any, dict[str, Any]]:
    best = _best(ranked[0])
    source = {
        "record_id": best.record.record_id,
        "confidence": round(best.confidence, 4),
        "domains": len({each.record.domain for each in ranked[0]}),
        "is_corrected": best.is_corrected,
        "others": [
            {
                "value": other.value,
                "record_id": other.record.record_id,
                "domain": other.record.domain,
            }
            for other in map(_best, ranked[1 : MAX_OTHERS + 1])
        ],
    }
    return best.value, source


def _best(group: Sequence[_Stated]) -> _Stated:
    return max(
        group,
        key=lambda each: (
            each.is_corrected,
            each.confidence,
            each.record.last_seen,
            -each.record.record_id,
        ),
    )
