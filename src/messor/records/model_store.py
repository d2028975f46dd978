"""Stores records that a model found on a page, beside those of parsers.

A parser's record takes precedence over an equal one of a model. An earlier record of a model is
kept while the page contains its words, unless the model was asked again and left it out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from messor.ai.proof import PARSER as MODEL
from messor.content.kinds import KINDS
from messor.parsers.page_findings import FoundRecord
from messor.records import overrides
from messor.records.changes import CURRENT, KnownRecord, Sighting, compare
from messor.records.store import StoredOutcome, known_records, write
from messor.store.database import Connection, Database

EARLIER = """
SELECT kind, identity, confidence, parser, parser_version, data::text AS data,
       fields::text AS fields, content_hash
  FROM messor.records WHERE page_id = $1 AND parser = $2 AND state = 'current' ORDER BY id
"""
IN_FORCE = "SELECT snapshot_id FROM messor.extractions WHERE page_id = $1"
COUNT = """
UPDATE messor.extractions x
   SET records = n.standing,
       last_record_at = CASE WHEN n.standing > 0 THEN (SELECT messor.clock())
                             ELSE x.last_record_at END
  FROM (SELECT count(*)::int AS standing FROM messor.records
         WHERE page_id = $1 AND state = 'current') n
 WHERE x.page_id = $1
"""


@dataclass(frozen=True, slots=True)
class ModelRecords:
    """Records of a model that the page supports. `complete` are kinds the model has answered fully."""

    stated: Sequence[FoundRecord] = ()
    held: Sequence[FoundRecord] = ()  # found earlier and still on the page
    complete: Collection[str] = field(default_factory=frozenset)


async def earlier(source: Connection | Database, page_id: int) -> list[FoundRecord]:
    """Return the current records that a model found on a page before, without people's values."""
    rows = await source.fetch(EARLIER, page_id, MODEL)
    return [overrides.own_words(FoundRecord(*row)) for row in rows]


def quotes_of(record: FoundRecord) -> list[str]:
    """Return the quotes a record was made from."""
    return [field["evidence"]["quote"] for field in record.fields.values()]


async def store_reading(
    connection: Connection, sighting: Sighting, reading: ModelRecords
) -> StoredOutcome | None:
    """Store a model's records; None if the page has changed since the model saw it."""
    page_id = sighting.page_id
    known = (await known_records(connection, [page_id])).get(page_id, [])
    if await connection.fetchval(IN_FORCE, page_id) != sighting.snapshot_id:
        return None
    parsed = [record for record, parser in known if parser != MODEL and record.state == CURRENT]
    (found,) = await overrides.settle(connection, [(sighting, _beside(parsed, _found(reading)))])
    keys = {(record.kind, record.identity) for record in found}
    ours = [
        record
        for record, parser in known
        if parser == MODEL or (record.state != CURRENT and (record.kind, record.identity) in keys)
    ]
    outcome = StoredOutcome(sighting, None, compare(ours, found))
    await write(connection, [outcome])
    if outcome.changes:
        await connection.execute(COUNT, page_id)
    return outcome


def _found(reading: ModelRecords) -> list[FoundRecord]:
    stated = {(record.kind, record.identity): record for record in reading.stated}
    held = [
        record
        for record in reading.held
        if record.kind not in reading.complete and (record.kind, record.identity) not in stated
    ]
    return [*stated.values(), *held]


def _beside(parsed: Sequence[KnownRecord], found: Sequence[FoundRecord]) -> list[FoundRecord]:
    """Drop records that a parser found as well, in the same or overlapping words."""
    taken = {(record.kind, record.identity) for record in parsed}
    heads: dict[str, list[str]] = {}
    for record in parsed:
        if head := _head(record.kind, record.data):
            heads.setdefault(record.kind, []).append(head)
    return [
        record
        for record in found
        if (record.kind, record.identity) not in taken
        and not _is_among(_head(record.kind, record.data), heads.get(record.kind, ()))
    ]


def _head(kind: str, data: dict[str, Any]) -> str:
    """Return the normalised subject of a record, for comparison."""
    declared = KINDS.get(kind)
    subject = data.get(declared.subject or "") if declared else None
    return " ".join(subject.casefold().split()) if isinstance(subject, str) else ""


def _is_among(head: str, others: Collection[str]) -> bool:
    return bool(head) and any(head in other or other in head for other in others)
