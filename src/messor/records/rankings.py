"""Rankings: orders of a page's competing values, learned from reviewers' corrections.

A learned ranking has no effect until a person activates it; it is then a version of the parser like
any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from messor.content.products.pool import NORMALISER_OF
from messor.content.products.ranking import Ranking, TrainedRanking
from messor.errors import ConflictError, NotFoundError
from messor.ledger import events
from messor.ledger.events import Event
from messor.store.database import Connection, Database

KIND = "product"

LESSONS = """
SELECT c.field, c.correct, d.domain, p.url, s.content_type, g.name AS segment, s.segment_offset,
       s.segment_length
  FROM messor.corrections c JOIN messor.domains d ON d.id = c.domain_id
  JOIN messor.page_snapshots s ON s.id = c.snapshot_id JOIN messor.pages p ON p.id = s.page_id
  JOIN messor.segments g ON g.id = s.segment_id
 WHERE c.kind = $1 AND c.correct IS NOT NULL AND c.field = ANY ($2::text[]) ORDER BY c.id
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


async def lessons(source: Connection | Database) -> list[Lesson]:
    """Return all training examples, in order of entry."""
    return [Lesson(**row) for row in await source.fetch(LESSONS, KIND, sorted(NORMALISER_OF))]


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
