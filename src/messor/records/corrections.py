"""Corrections: reviewers' corrections of extracted fields, and the rankings learned from them.

A correction does not change the record, which states what its parser read, with evidence. It is
stored beside it as a training example. A learned ranking has no effect until a person activates it;
it is then a version of the parser like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from messor.content.evidence import make_field
from messor.content.kinds.priced import STATES
from messor.content.products.pool import NORMALISER_OF
from messor.content.products.ranking import Ranking, TrainedRanking
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger import events
from messor.ledger.events import Event
from messor.store.database import Connection, Database

KIND = "product"

RECORD = """
SELECT snapshot_id, domain_id, kind, data ->> $2 AS found FROM messor.records WHERE id = $1
"""
KEEP = """
INSERT INTO messor.corrections
  (record_id, snapshot_id, domain_id, kind, field, found, correct, corrected_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (record_id, snapshot_id, field) DO UPDATE
   SET correct = excluded.correct, corrected_by = excluded.corrected_by, corrected_at = (SELECT messor.clock())
"""
LISTING = """
SELECT c.id, c.record_id, d.domain, c.kind, c.field, c.found, c.correct, c.corrected_by, c.corrected_at
  FROM messor.corrections c JOIN messor.domains d ON d.id = c.domain_id
 WHERE $1::bigint IS NULL OR c.record_id = $1 ORDER BY c.id DESC LIMIT $2
"""
LESSONS = """
SELECT c.field, c.correct, d.domain, p.url, s.content_type, g.name AS segment, s.segment_offset,
       s.segment_length
  FROM messor.corrections c JOIN messor.domains d ON d.id = c.domain_id
  JOIN messor.page_snapshots s ON s.id = c.snapshot_id JOIN messor.pages p ON p.id = s.page_id
  JOIN messor.segments g ON g.id = s.segment_id
 WHERE c.kind = $1 AND c.correct IS NOT NULL ORDER BY c.id
"""
KEEP_RANKING = """
INSERT INTO messor.rankings (fields, measured, learnt_by) VALUES ($1::jsonb, $2::jsonb, $3)
RETURNING version
"""
VERSIONS = """
SELECT version, measured, learnt_by, learnt_at, in_force FROM messor.rankings
 ORDER BY version DESC LIMIT 100
"""
IN_FORCE = "SELECT version, fields FROM messor.rankings WHERE in_force"
REST = "UPDATE messor.rankings SET in_force = false WHERE in_force"
USE = "UPDATE messor.rankings SET in_force = true WHERE version = $1 RETURNING version"

# Fields that are numbers, codes or states.
STRICT = frozenset(
    ("price", "list_price", "currency", "rating", "review_count", "gtin", "availability")
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A reviewer's statement about a field."""

    id: int
    record_id: int
    domain: str
    kind: str
    field: str
    found: str | None
    correct: str | None
    corrected_by: str
    corrected_at: datetime


@dataclass(frozen=True, slots=True)
class Lesson:
    """A corrected field and the location of its page in the archive."""

    field: str
    correct: str
    domain: str
    url: str
    content_type: str | None
    segment: str
    segment_offset: int
    segment_length: int


async def correct(
    connection: Connection, record_id: int, name: str, value: str | None, *, actor: str
) -> None:
    """Correct a field of a record; None means that the page does not state it."""
    row = await _record(connection, record_id, name)
    corrected = None if value is None else value.strip()
    if corrected == "" or len(corrected or "") > 4000:
        raise UsageError("A correction must have 1 to 4,000 characters.")
    if corrected not in (None, row["found"]) and not _can_be(name, corrected):
        raise UsageError(f"{corrected[:60]!r} is not a valid product {name}.")
    await connection.execute(
        KEEP, record_id, row["snapshot_id"], row["domain_id"], row["kind"], name, row["found"],
        corrected, actor,
    )  # fmt: skip
    data = {"record": record_id, "field": name, "found": row["found"], "correct": corrected}
    await events.record(
        connection, [Event("record.corrected", actor, row["domain_id"], None, data)]
    )


def _can_be(name: str, value: str) -> bool:
    """Whether a typed field may have this value; nothing could be learned from an impossible one."""
    if name not in STRICT or (name == "availability" and value in STATES):
        return True
    return make_field("reviewer", NORMALISER_OF[name], value, confidence=1.0) is not None


async def confirm(connection: Connection, record_id: int, name: str, *, actor: str) -> None:
    """Confirm a field; this is a training example too."""
    row = await _record(connection, record_id, name)
    if row["found"] is None:
        raise ConflictError(
            f"The record has no {name} to confirm; enter the correct value instead."
        )
    await correct(connection, record_id, name, row["found"], actor=actor)


async def _record(connection: Connection, record_id: int, name: str) -> Any:
    row = await connection.fetchrow(RECORD, record_id, name)
    if row is None:
        raise NotFoundError(f"There is no record {record_id}.")
    if row["kind"] != KIND:
        raise UsageError(f"Record {record_id} is not a product; only products can be corrected.")
    if name not in NORMALISER_OF:
        names = ", ".join(sorted(NORMALISER_OF))
        raise UsageError(f"A product has no field {name[:60]!r}; it has {names}.")
    return row


async def listing(
    source: Connection | Database, *, record_id: int | None = None, limit: int = 100
) -> list[Correction]:
    return [Correction(**row) for row in await source.fetch(LISTING, record_id, limit)]


async def lessons(source: Connection | Database) -> list[Lesson]:
    """Return all training examples, in order of entry."""
    return [Lesson(**row) for row in await source.fetch(LESSONS, KIND)]


async def keep(connection: Connection, learnt: Sequence[TrainedRanking], *, actor: str) -> int:
    """Store a learned ranking as an inactive version, with only the fields that improved."""
    fields = {one.name: one.weights for one in learnt if one.is_better}
    measured = {one.name: measured_as_json(one) for one in learnt}
    version: int = await connection.fetchval(KEEP_RANKING, _json(fields), _json(measured), actor)
    data = {"version": version, "measured": measured}
    await events.record(connection, [Event("ranking.learnt", actor, None, None, data)])
    return version


def measured_as_json(one: TrainedRanking) -> dict[str, Any]:
    return {
        "examples": one.examples,
        "domains": one.domains,
        "usual": round(one.usual, 4),
        "learnt": round(one.learnt, 4),
        "better": one.is_better,
    }


async def versions(source: Connection | Database) -> list[dict[str, Any]]:
    rows = await source.fetch(VERSIONS)
    return [{**row, "measured": msgspec.json.decode(row["measured"])} for row in rows]


async def in_force(source: Connection | Database) -> Ranking | None:
    """Return the active ranking; None for the default order."""
    row = await source.fetchrow(IN_FORCE)
    if row is None:
        return None
    return Ranking(row["version"], msgspec.json.decode(row["fields"]))


async def use(connection: Connection, version: int | None, *, actor: str) -> None:
    """Activate a ranking, or none."""
    await connection.execute(REST)
    if version is not None:
        row = await connection.fetchrow(
            "SELECT fields FROM messor.rankings WHERE version = $1", version
        )
        if row is None:
            raise NotFoundError(f"There is no ranking {version}.")
        if not msgspec.json.decode(row["fields"]):
            raise ConflictError(f"Ranking {version} improves no field, so it cannot be used.")
        await connection.execute(USE, version)
    await events.record(
        connection, [Event("ranking.used", actor, None, None, {"version": version})]
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
