"""The audit log: all events, newest first, filtered by kind, actor, domain or subject.

Each query scans a bounded slice of the ledger, so that a filter without matches does not read all
of it; `reached` says where to continue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from messor.ledger.events import Cursor, data_of
from messor.ledger.recent import Recent
from messor.store.database import Connection, Database

SLICE = 10_000  # events scanned per query

READ = """
WITH stretch AS (
  SELECT e.tx, e.id, e.occurred_at, e.type, e.actor, e.domain_id, e.page_id, e.data
    FROM messor.events e
   WHERE (e.tx, e.id) < (coalesce($1::text, '18446744073709551615')::xid8,
                         coalesce($2::bigint, 9223372036854775807))
   ORDER BY e.tx DESC, e.id DESC LIMIT $3
), found AS (
  SELECT * FROM stretch e
   WHERE ($4::text IS NULL OR split_part(e.type, '.', 1) = $4)
     AND ($5::text IS NULL OR e.actor = $5) AND ($6::uuid IS NULL OR e.domain_id = $6)
     AND ($7::text IS NULL OR strpos(lower(e.type || ' ' || e.data::text), $7) > 0)
   ORDER BY e.tx DESC, e.id DESC LIMIT $8
)
SELECT f.tx::text::bigint AS tx, f.id, f.occurred_at, f.type, f.actor, f.domain_id, d.domain,
       f.page_id, f.data::text AS data, NULL::bigint AS last_tx, NULL::bigint AS last_id
  FROM found f LEFT JOIN messor.domains d ON d.id = f.domain_id
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, tx::text::bigint, id
  FROM (SELECT tx, id FROM stretch ORDER BY tx, id LIMIT 1) last
 WHERE (SELECT count(*) FROM stretch) = $3
 ORDER BY tx DESC NULLS LAST, id DESC NULLS LAST
"""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter of events; None matches everything."""

    kind: str | None = None  # the first word of the type
    actor: str | None = None
    domain_id: UUID | None = None
    containing: str | None = None  # lower case


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Matching events, and where the next slice begins; None at the ledger's end."""

    events: list[Recent]
    reached: Cursor | None


async def read(
    source: Connection | Database,
    wanted: AuditFilter,
    *,
    before: Cursor | None = None,
    limit: int = 50,
) -> AuditPage:
    rows = await source.fetch(
        READ,
        None if before is None else str(before.tx),
        None if before is None else before.id,
        SLICE,
        wanted.kind,
        wanted.actor,
        wanted.domain_id,
        wanted.containing,
        limit,
    )
    found = [row for row in rows if row["tx"] is not None]
    if len(found) == limit:
        return AuditPage([_event(row) for row in found], Cursor(found[-1]["tx"], found[-1]["id"]))
    last = next((row for row in rows if row["tx"] is None), None)
    reached = None if last is None else Cursor(last["last_tx"], last["last_id"])
    return AuditPage([_event(row) for row in found], reached)


def _event(row: Any) -> Recent:
    names = ("id", "occurred_at", "type", "actor", "domain_id", "domain", "page_id")
    return Recent(**{name: row[name] for name in names}, data=data_of(row["type"], row["data"]))
