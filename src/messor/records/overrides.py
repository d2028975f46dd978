"""Overrides: a person's value for a field of a record, in place of what its page states.

An override is applied to a record before it is compared and stored, so every reader of records sees
it; what the page states stays beside it in `fields`. It holds while the page's own value is the one
it was made against: another one, in a newer snapshot, ends it. A new reading of the same page by
another parser does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from messor.ledger import events
from messor.ledger.events import Event
from messor.parsers.page_findings import FoundRecord
from messor.records.changes import Sighting
from messor.store.database import Connection

IN_FORCE = """
SELECT c.id, c.page_id, r.kind, r.identity, c.record_id, c.domain_id, c.snapshot_id, c.field,
       c.value::text AS value, c.page_value::text AS page_value
  FROM messor.corrections c JOIN messor.records r ON r.id = c.record_id
 WHERE c.page_id = ANY ($1::bigint[]) AND c.state = 'in_force'
 ORDER BY c.id
"""
LAPSE = """
UPDATE messor.corrections SET state = 'lapsed', ended_at = (SELECT messor.clock())
 WHERE id = ANY ($1::bigint[])
"""
# Another parser reads the same page otherwise: from now on that is what the page states.
RESTATE = """
UPDATE messor.corrections c SET page_value = g.page_value
  FROM unnest($1::bigint[], $2::jsonb[]) AS g (id, page_value) WHERE c.id = g.id
"""
SURE = 1.0  # the confidence of a person's value

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.decode


class Override(NamedTuple):
    """A value in force for a field; None: the page does not state the field."""

    id: int
    page_id: int
    kind: str
    identity: str
    record_id: int
    domain_id: UUID
    snapshot_id: int
    field: str
    value: Any
    page_value: Any


async def of_pages(
    connection: Connection, page_ids: Sequence[int]
) -> dict[tuple[int, str, str], list[Override]]:
    """The overrides in force, by page, kind and identity of the record."""
    found: dict[tuple[int, str, str], list[Override]] = {}
    for row in await connection.fetch(IN_FORCE, page_ids):
        values = {name: _value(row[name]) for name in ("value", "page_value")}
        one = Override(**{**row, **values})
        found.setdefault((one.page_id, one.kind, one.identity), []).append(one)
    return found


def applied(record: FoundRecord, overrides: Sequence[Override]) -> FoundRecord:
    """The record with a person's values; `fields` keeps what the page states, with its evidence."""
    data, fields = record.data, record.fields
    for one in overrides:
        own = fields.get(one.field, {})
        note = {
            "id": one.id,
            "page_value": data.get(one.field),
            "page_confidence": own.get("confidence"),
        }
        fields[one.field] = {**own, "confidence": SURE, "correction": note}
        if one.value is None:
            data.pop(one.field, None)
        else:
            data[one.field] = one.value
    return _with(record, data, fields)


def own_words(record: FoundRecord) -> FoundRecord:
    """The record as its page states it, without a person's values."""
    data, fields = record.data, record.fields
    corrected = {
        name: proof["correction"] for name, proof in fields.items() if "correction" in proof
    }
    if not corrected:
        return record
    for name, note in corrected.items():
        if note["page_value"] is None:
            data.pop(name, None)
            del fields[name]
        else:
            data[name] = note["page_value"]
            del fields[name]["correction"]
            fields[name]["confidence"] = note["page_confidence"]
    return _with(record, data, fields)


def _with(record: FoundRecord, data: Mapping[str, Any], fields: Mapping[str, Any]) -> FoundRecord:
    encoded = _encode(data)
    return msgspec.structs.replace(
        record,
        data_json=encoded.decode(),
        fields_json=_encode(fields).decode(),
        content_hash=sha256(encoded).digest(),
    )


async def settle(
    connection: Connection, read: Sequence[tuple[Sighting, list[FoundRecord]]]
) -> list[list[FoundRecord]]:
    """Apply the overrides of pages to records just read, and end those that their page outdates.

    Records must be as the page states them; pages without overrides get their own lists back.
    """
    overrides = await of_pages(connection, [sighting.page_id for sighting, _ in read])
    if not overrides:
        return [records for _, records in read]
    settled, lapsed, restated = [], [], []
    for sighting, records in read:
        kept_records = []
        for record in records:
            made = overrides.get((sighting.page_id, record.kind, record.identity), [])
            kept, outdated = _judge(sighting, record, made)
            lapsed += outdated
            restated += _restated(record, kept)
            kept_records.append(applied(record, kept) if kept else record)
        settled.append(kept_records)
    await _end(connection, lapsed)
    if restated:
        await connection.execute(
            RESTATE, [one for one, _ in restated], [said for _, said in restated]
        )
    return settled


def _judge(
    sighting: Sighting, record: FoundRecord, made: Sequence[Override]
) -> tuple[list[Override], list[Override]]:
    """Which overrides stay, and which end because the page now states something else."""
    if not made:
        return [], []
    own = record.data
    kept: list[Override] = []
    outdated: list[Override] = []
    for one in made:
        is_same_page = sighting.cause != "page" or sighting.snapshot_id == one.snapshot_id
        holds = is_same_page or own.get(one.field) == one.page_value
        (kept if holds else outdated).append(one)
    return kept, outdated


def _restated(record: FoundRecord, kept: Sequence[Override]) -> list[tuple[int, str | None]]:
    own = record.data if kept else {}
    return [
        (one.id, _json(own.get(one.field))) for one in kept if own.get(one.field) != one.page_value
    ]


async def _end(connection: Connection, lapsed: Sequence[Override]) -> None:
    if not lapsed:
        return
    await connection.execute(LAPSE, [one.id for one in lapsed])
    told = [
        Event(
            "record.correction_lapsed", "system", one.domain_id, None,
            {"record": one.record_id, "field": one.field, "correct": _shown(one.value),
             "found": _shown(one.page_value)},
        )
        for one in lapsed
    ]  # fmt: skip
    await events.record(connection, told)


def _shown(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()


def _json(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _value(stored: str | None) -> Any:
    return None if stored is None else _decode(stored)
