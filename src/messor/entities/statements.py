"""Statements in the database: which records make them up, what they say, and which share a key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from messor.entities.kinds import KINDS, SOURCES
from messor.entities.match import Features, Reading, SourceRecord
from messor.store.database import Connection

MAX_READ = 20  # records of a statement whose features are taken together
MAX_SHARED = 200  # statements that share a key; beyond, the key tells nothing

RECORDS = """
SELECT r.id, r.kind, r.domain_id, d.domain, r.data
  FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id
 WHERE r.id = ANY ($1::bigint[]) AND r.kind = ANY ($2::text[]) AND r.state = 'current'
 ORDER BY r.id
"""
ADD = """
INSERT INTO messor.entity_statements (kind, domain_id, identity_hash)
SELECT DISTINCT * FROM unnest($1::text[], $2::uuid[], $3::bytea[]) AS g (kind, domain_id, identity_hash)
 ORDER BY 1, 2, 3
ON CONFLICT (kind, domain_id, identity_hash) DO NOTHING
"""
FIND = """
SELECT s.id, s.kind, s.domain_id, s.identity_hash FROM messor.entity_statements s
  JOIN (SELECT DISTINCT * FROM unnest($1::text[], $2::uuid[], $3::bytea[])
          AS g (kind, domain_id, identity_hash)) g USING (kind, domain_id, identity_hash)
"""
LEAVE = (
    "DELETE FROM messor.entity_members WHERE record_id = ANY ($1::bigint[]) RETURNING statement_id"
)
ENTER = """
INSERT INTO messor.entity_members (record_id, kind, statement_id)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])
"""
BEST = f"""
SELECT t.id AS statement_id, s.kind AS entity_kind, r.id, r.kind, d.domain, r.data, c.records
  FROM unnest($1::bigint[]) AS t (id)
  JOIN messor.entity_statements s ON s.id = t.id
  JOIN messor.domains d ON d.id = s.domain_id
 CROSS JOIN LATERAL (SELECT count(*)::int AS records FROM messor.entity_members m
                      WHERE m.statement_id = t.id) c
 CROSS JOIN LATERAL (
   SELECT r.id, r.kind, r.data, r.confidence, r.last_seen
     FROM messor.entity_members m JOIN messor.records r ON r.id = m.record_id
    WHERE m.statement_id = t.id AND r.state = 'current'
    ORDER BY r.confidence DESC, r.last_seen DESC, r.id LIMIT {MAX_READ}) r
 ORDER BY t.id, r.confidence DESC, r.last_seen DESC, r.id
"""
SET = """
UPDATE messor.entity_statements s
   SET record_id = g.record_id, records = g.records, features = g.features
  FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::jsonb[]) AS g (id, record_id, records, features)
 WHERE s.id = g.id
"""
DROP_KEYS = "DELETE FROM messor.entity_keys WHERE statement_id = ANY ($1::bigint[])"
ADD_KEYS = """
INSERT INTO messor.entity_keys (key_hash, statement_id) SELECT * FROM unnest($1::bytea[], $2::bigint[])
ON CONFLICT DO NOTHING
"""
SHARING = f"""
SELECT k.key, n.statement_id FROM unnest($1::bytea[]) AS k (key)
 CROSS JOIN LATERAL (SELECT statement_id FROM messor.entity_keys WHERE key_hash = k.key
                      LIMIT {MAX_SHARED + 1}) n
"""
FEATURES = """
SELECT id, kind, features::text AS features FROM messor.entity_statements WHERE id = ANY ($1::bigint[])
"""

_encode = msgspec.json.Encoder(order="sorted").encode


class Found(NamedTuple):
    """A record's statement."""

    record_id: int
    kind: str
    domain_id: UUID
    identity_hash: bytes


async def place(connection: Connection, record_ids: Sequence[int]) -> set[int]:
    """Put records to their statements; returns the ids of all statements that gained or lost one."""
    found = [
        Found(
            row["id"], kind.name, row["domain_id"], sha256(reading.identity.encode()).digest()[:16]
        )
        for row in await connection.fetch(RECORDS, record_ids, sorted(SOURCES))
        for kind, reading in _readings(_source(row))
    ]
    left = {row[0] for row in await connection.fetch(LEAVE, record_ids)}
    if not found:
        return left
    columns = ([each.kind for each in found], [each.domain_id for each in found],
               [each.identity_hash for each in found])  # fmt: skip
    await connection.execute(ADD, *columns)
    ids = {tuple(row)[1:]: row["id"] for row in await connection.fetch(FIND, *columns)}
    own = [ids[each.kind, each.domain_id, each.identity_hash] for each in found]
    await connection.execute(
        ENTER, [each.record_id for each in found], [each.kind for each in found], own
    )
    return left | set(own)


def _source(row: Mapping[str, Any]) -> SourceRecord:
    return SourceRecord(row["id"], row["kind"], row["domain"], msgspec.json.decode(row["data"]))


def _readings(source: SourceRecord) -> list[tuple[Any, Reading]]:
    made = [(kind, kind.read(source)) for kind in KINDS.values() if source.kind in kind.sources]
    return [(kind, reading) for kind, reading in made if reading is not None]


async def refresh(connection: Connection, statement_ids: Sequence[int]) -> None:
    """Take together what the best records of each statement say, and its keys."""
    read: dict[int, list[Any]] = defaultdict(list)
    for row in await connection.fetch(BEST, statement_ids):
        read[row["statement_id"]].append(row)
    rows = [(each, read.get(each, [])) for each in statement_ids]
    features = {each: _together(found) for each, found in rows}
    await connection.execute(
        SET,
        [each for each, _ in rows],
        [found[0]["id"] if found else None for _, found in rows],
        [found[0]["records"] if found else 0 for _, found in rows],
        [_encode({k: sorted(v) for k, v in features[each].items()}).decode() for each, _ in rows],
    )
    await connection.execute(DROP_KEYS, statement_ids)
    keys = [
        (key, each)
        for each, found in rows
        if found
        for key in _keys(found[0]["entity_kind"], features[each])
    ]
    await connection.execute(ADD_KEYS, [key for key, _ in keys], [each for _, each in keys])


def _together(rows: Sequence[Any]) -> dict[str, frozenset[str]]:
    features: dict[str, set[str]] = {}
    for row in rows:
        reading = KINDS[row["entity_kind"]].read(_source(row))
        for name, values in reading.features.items() if reading else ():
            features.setdefault(name, set()).update(values)
    return {name: frozenset(values) for name, values in features.items()}


def _keys(kind: str, features: Features) -> list[bytes]:
    return [
        sha256(f"{kind}:{key}".encode()).digest()[:16] for key in set(KINDS[kind].keys(features))
    ]


async def sharing(
    connection: Connection, features: Mapping[int, tuple[str, Features]]
) -> dict[int, set[int]]:
    """The statements that share a key with each of these."""
    keys = {each: _keys(kind, own) if own else [] for each, (kind, own) in features.items()}
    holders: dict[bytes, list[int]] = defaultdict(list)
    asked = sorted({key for own in keys.values() for key in own})
    for row in await connection.fetch(SHARING, asked):
        holders[row["key"]].append(row["statement_id"])
    telling = {key: found for key, found in holders.items() if len(found) <= MAX_SHARED}
    return {
        each: {other for key in own for other in telling.get(key, ())} - {each}
        for each, own in keys.items()
    }


async def features_of(
    connection: Connection, statement_ids: Sequence[int]
) -> dict[int, tuple[str, Features]]:
    """Kind and features by statement."""
    return {
        row["id"]: (row["kind"], _features(row["features"]))
        for row in await connection.fetch(FEATURES, statement_ids)
    }


def _features(text: str) -> Features:
    return {name: frozenset(values) for name, values in msgspec.json.decode(text).items()}
