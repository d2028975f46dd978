"""Statements to entities: compares what changed with what shares a key, groups, and merges the fields.

Works on the statements given and on the entities they touch, so that a change costs what it
changes. Everything happens in the caller's transaction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from messor.entities.groups import ComparedPair, group
from messor.entities.kinds import KINDS
from messor.entities.lessons import Lessons, lessons
from messor.entities.match import JOINED, PROPOSED, Features
from messor.entities.merge import BestRecord, merge
from messor.entities.statements import features_of, refresh, sharing
from messor.store.database import Connection

MAX_MERGED = 200  # statements whose fields are merged

FORGET_PAIRS = """
DELETE FROM messor.entity_pairs p
 WHERE p.verdict IS NULL AND (p.first = ANY ($1::bigint[]) OR p.second = ANY ($1::bigint[]))
   AND NOT EXISTS (SELECT FROM unnest($2::bigint[], $3::bigint[]) AS g (first, second)
                    WHERE g.first = p.first AND g.second = p.second)
"""
ADD_PAIRS = """
INSERT INTO messor.entity_pairs (first, second, kind, score, rule, basis)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::real[], $5::text[], $6::text[])
ON CONFLICT (first, second) DO UPDATE
   SET score = excluded.score, rule = excluded.rule, basis = excluded.basis
"""
# Statements without a record left are kept only where a person said something of them.
CLEAR = """
DELETE FROM messor.entity_statements s
 WHERE s.id = ANY ($1::bigint[]) AND s.record_id IS NULL
   AND NOT EXISTS (SELECT FROM messor.entity_pairs p WHERE p.verdict IS NOT NULL AND p.first = s.id)
   AND NOT EXISTS (SELECT FROM messor.entity_pairs p WHERE p.verdict IS NOT NULL AND p.second = s.id)
RETURNING s.entity_id
"""
# The entities of these statements and of those that they are joined with.
TOUCHED = f"""
SELECT DISTINCT s.entity_id FROM messor.entity_statements s
 WHERE s.entity_id IS NOT NULL AND s.id IN (
   SELECT unnest($1::bigint[])
   UNION SELECT p.second FROM messor.entity_pairs p
          WHERE p.first = ANY ($1::bigint[]) AND (p.verdict = 'same' OR p.score >= {JOINED}::real)
   UNION SELECT p.first FROM messor.entity_pairs p
          WHERE p.second = ANY ($1::bigint[]) AND (p.verdict = 'same' OR p.score >= {JOINED}::real))
"""
MEMBERS = """
SELECT s.id, s.kind, s.entity_id, s.domain_id, s.record_id, s.records, s.features::text AS features
  FROM messor.entity_statements s
 WHERE s.record_id IS NOT NULL AND (s.entity_id = ANY ($1::bigint[]) OR s.id = ANY ($2::bigint[]))
 ORDER BY s.id
"""
PAIRS = """
SELECT first, second, score, verdict FROM messor.entity_pairs
 WHERE first = ANY ($1::bigint[]) AND second = ANY ($1::bigint[])
"""
NEW = """
INSERT INTO messor.entities (kind) SELECT * FROM unnest($1::text[]) RETURNING id
"""
BELONG = """
UPDATE messor.entity_statements s SET entity_id = g.entity_id
  FROM unnest($1::bigint[], $2::bigint[]) AS g (id, entity_id)
 WHERE s.id = g.id AND s.entity_id IS DISTINCT FROM g.entity_id
"""
BEST_RECORDS = """
SELECT r.id AS record_id, d.domain, r.confidence, r.last_seen, r.data, r.fields
  FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id WHERE r.id = ANY ($1::bigint[])
"""
WRITE = """
UPDATE messor.entities e
   SET state = 'current', merged_into = NULL, title = g.title, data = g.data, fields = g.fields,
       domains = g.domains, statements = g.statements, records = g.records,
       updated_at = CASE WHEN e.data = g.data AND e.statements = g.statements THEN e.updated_at
                         ELSE messor.clock() END
  FROM unnest($1::bigint[], $2::text[], $3::jsonb[], $4::jsonb[], $5::int[], $6::int[], $7::int[])
       AS g (id, title, data, fields, domains, statements, records)
 WHERE e.id = g.id
"""
LEAD = """
UPDATE messor.entities e
   SET state = 'removed', merged_into = g.merged_into, title = '', data = '{}', fields = '{}',
       domains = 0, statements = 0, records = 0, updated_at = messor.clock()
  FROM unnest($1::bigint[], $2::bigint[]) AS g (id, merged_into) WHERE e.id = g.id
"""
END = "DELETE FROM messor.entities WHERE id = ANY ($1::bigint[])"

_encode = msgspec.json.Encoder(order="sorted").encode


async def regroup(connection: Connection, statement_ids: Sequence[int]) -> None:
    """Bring the entities of these statements up to date."""
    touched = sorted(statement_ids)
    await refresh(connection, touched)
    await _compare(connection, touched)
    affected = {row[0] for row in await connection.fetch(TOUCHED, touched)}
    affected |= {row[0] for row in await connection.fetch(CLEAR, touched)} - {None}
    members = await connection.fetch(MEMBERS, sorted(affected), touched)
    groups = _groups(members, await connection.fetch(PAIRS, [row["id"] for row in members]))
    await _write(connection, members, groups, affected)


async def _compare(connection: Connection, touched: Sequence[int]) -> None:
    """Store how far these statements agree with those that share a key with them."""
    own = await features_of(connection, touched)
    near = await sharing(connection, own)
    others = await features_of(
        connection, sorted({each for found in near.values() for each in found})
    )
    learnt = await lessons(connection)
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    for each, neighbours in near.items():
        for other in neighbours:
            pair = (min(each, other), max(each, other))
            if pair not in found and other in others:
                found[pair] = _compared(own[each], others[other], learnt)
    rows = [(*pair, *match) for pair, match in sorted(found.items()) if match]
    kept = [row[0] for row in rows], [row[1] for row in rows]
    await connection.execute(FORGET_PAIRS, touched, *kept)
    if rows:
        await connection.execute(ADD_PAIRS, *map(list, zip(*rows, strict=True)))


def _compared(
    one: tuple[str, Features], other: tuple[str, Features], learnt: Lessons
) -> tuple[Any, ...]:
    """Kind, score, rule and basis; empty if they do not agree enough."""
    kind = one[0]
    match = KINDS[kind].compare(one[1], other[1]) if one[1] and other[1] else None
    if match is None:
        return ()
    score = learnt.score(kind, match)
    return (kind, score, match.rule, match.basis) if score >= PROPOSED else ()


def _groups(members: Sequence[Any], pairs: Sequence[Any]) -> list[list[int]]:
    features = {row["id"]: (row["kind"], row["features"]) for row in members}

    @cache
    def of(each: int) -> Features:
        return {k: frozenset(v) for k, v in msgspec.json.decode(features[each][1]).items()}

    def contradicts(one: int, other: int) -> bool:
        match = KINDS[features[one][0]].compare(of(one), of(other))
        return match is not None and match.score == 0

    return group(features, [ComparedPair(*row) for row in pairs], contradicts)


async def _write(
    connection: Connection, members: Sequence[Any], groups: list[list[int]], affected: set[int]
) -> None:
    rows = {row["id"]: row for row in members}
    kept = _kept(groups, rows)
    fresh = [
        rows[own[0]]["kind"] for own, entity in zip(groups, kept, strict=True) if entity is None
    ]
    made = iter([row[0] for row in await connection.fetch(NEW, fresh)] if fresh else [])
    entities = [next(made) if entity is None else entity for entity in kept]
    of = {each: entity for own, entity in zip(groups, entities, strict=True) for each in own}
    await connection.execute(BELONG, list(of), list(of.values()))
    await _merge(connection, rows, dict(zip(entities, groups, strict=True)))
    await _end(connection, rows, of, affected - set(entities))


def _kept(groups: Sequence[Sequence[int]], rows: Mapping[int, Any]) -> list[int | None]:
    """The entity that each group goes on as: the one of most of its statements, each only once."""
    taken: set[int] = set()
    kept: dict[int, int | None] = {}
    for place in sorted(range(len(groups)), key=lambda place: (-len(groups[place]), place)):
        known = Counter(rows[each]["entity_id"] for each in groups[place])
        known.pop(None, None)
        free = [(-count, entity) for entity, count in known.items() if entity not in taken]
        kept[place] = min(free)[1] if free else None
        if free:
            taken.add(min(free)[1])
    return [kept[place] for place in range(len(groups))]


async def _merge(
    connection: Connection, rows: Mapping[int, Any], groups: Mapping[int, Sequence[int]]
) -> None:
    wanted = [rows[each]["record_id"] for own in groups.values() for each in own[:MAX_MERGED]]
    records = {
        row["record_id"]: _record(row) for row in await connection.fetch(BEST_RECORDS, wanted)
    }
    written = []
    for entity, own in groups.items():
        kind = KINDS[rows[own[0]]["kind"]]
        best = [
            records[rows[each]["record_id"]]
            for each in own[:MAX_MERGED]
            if rows[each]["record_id"] in records
        ]
        data, fields = merge(kind, best)
        title = data.get(kind.title) or next((str(value) for value in data.values()), "")
        domains = len({rows[each]["domain_id"] for each in own})
        written.append((entity, str(title), _encode(data).decode(), _encode(fields).decode(), domains,
                        len(own), sum(rows[each]["records"] for each in own)))  # fmt: skip
    if written:
        await connection.execute(WRITE, *map(list, zip(*written, strict=True)))


def _record(row: Mapping[str, Any]) -> BestRecord:
    parsed = {name: msgspec.json.decode(row[name]) for name in ("data", "fields")}
    return BestRecord(**{**row, **parsed})


async def _end(
    connection: Connection, rows: Mapping[int, Any], of: Mapping[int, int], gone: set[int]
) -> None:
    """An entity whose statements all went elsewhere leads there; one without any is no more."""
    went: dict[int, Counter[int]] = defaultdict(Counter)
    for each, entity in of.items():
        before = rows[each]["entity_id"]
        if before in gone:
            went[before][entity] += 1
    leading = {
        entity: max(counts, key=lambda one: (counts[one], -one)) for entity, counts in went.items()
    }
    if leading:
        await connection.execute(LEAD, list(leading), list(leading.values()))
    ended = sorted(gone - set(leading))
    if ended:
        await connection.execute(END, ended)
