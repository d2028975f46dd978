"""People's decisions: two statements are of one thing, or are not. They hold when pages are read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from messor.entities import queries
from messor.entities.queries import FullEntity
from messor.entities.regroup import regroup
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.registry.domains import MAX_REASON
from messor.store.database import Connection

PAIR = "SELECT first, second FROM messor.entity_pairs WHERE id = $1"
# All that is proposed between two entities: one answer is enough.
BETWEEN = """
SELECT p.first, p.second FROM messor.entity_pairs o
  JOIN messor.entity_statements a ON a.id = o.first JOIN messor.entity_statements b ON b.id = o.second
  JOIN messor.entity_statements v ON v.entity_id = a.entity_id
  JOIN messor.entity_statements w ON w.entity_id = b.entity_id
  JOIN messor.entity_pairs p ON p.first = least(v.id, w.id) AND p.second = greatest(v.id, w.id)
 WHERE o.id = $1 AND p.verdict IS NULL AND a.entity_id <> b.entity_id
"""
STATEMENTS = """
SELECT id, kind FROM messor.entity_statements WHERE entity_id = $1 AND record_id IS NOT NULL
 ORDER BY records DESC, id
"""
# What keeps two groups apart that are one from now on.
TAKE_BACK = """
DELETE FROM messor.entity_pairs p WHERE p.verdict = 'different'
   AND (p.first = ANY ($1::bigint[]) AND p.second = ANY ($2::bigint[])
        OR p.first = ANY ($2::bigint[]) AND p.second = ANY ($1::bigint[]))
"""
# The others go on as the entity; what is taken out becomes a new one.
LEAVE = "UPDATE messor.entity_statements SET entity_id = NULL WHERE id = $1"
ENTITY_OF = "SELECT entity_id FROM messor.entity_statements WHERE id = $1"
DECIDE = """
INSERT INTO messor.entity_pairs AS p (first, second, kind, score, rule, basis, verdict, decided_by, decided_at, reason)
SELECT least(g.one, g.other), greatest(g.one, g.other), $3, 0, 'person', 'a person', $4, $5, (SELECT messor.clock()), $6
  FROM unnest($1::bigint[], $2::bigint[]) AS g (one, other)
ON CONFLICT (first, second) DO UPDATE
   SET verdict = excluded.verdict, decided_by = excluded.decided_by, decided_at = excluded.decided_at,
       reason = excluded.reason
"""
# Only one regrouping at a time: the follower takes the same row.
ALONE = "SELECT FROM messor.entity_position FOR UPDATE"


async def decide(
    connection: Connection, proposal_id: int, verdict: str, *, actor: str, reason: str | None = None
) -> FullEntity:
    """Decide a proposal; returns the entity of its first statement."""
    if verdict not in ("same", "different"):
        raise UsageError("The verdict is same or different.")
    await connection.execute(ALONE)
    pair = await connection.fetchrow(PAIR, proposal_id)
    if pair is None:
        raise NotFoundError(
            f"There is no proposal {proposal_id}; what was compared may have changed."
        )
    first, second = pair
    kind = (await _entity_of(connection, first)).kind
    pairs = {(first, second)}
    if verdict == "different":
        pairs |= {(row[0], row[1]) for row in await connection.fetch(BETWEEN, proposal_id)}
    await _decide(connection, kind, sorted(pairs), _Decision(verdict, actor, reason))
    return await _entity_of(connection, first)


async def merge(
    connection: Connection, entity_id: int, other_id: int, *, actor: str, reason: str | None = None
) -> FullEntity:
    """Make two entities one."""
    await connection.execute(ALONE)
    one = await queries.entity(connection, entity_id)
    other = await queries.entity(connection, other_id)
    if one.id == other.id:
        raise ConflictError(f"{entity_id} and {other_id} are one entity already.")
    if one.kind != other.kind:
        raise UsageError(f"A {one.kind} and a {other.kind} cannot be one entity.")
    mine, theirs = await _statements(connection, one.id), await _statements(connection, other.id)
    await connection.execute(TAKE_BACK, mine, theirs)
    await _decide(connection, one.kind, [(mine[0], theirs[0])], _Decision("same", actor, reason))
    return await _entity_of(connection, mine[0])


async def split(
    connection: Connection,
    entity_id: int,
    statement_id: int,
    *,
    actor: str,
    reason: str | None = None,
) -> FullEntity:
    """Take a statement out of its entity; returns the entity that it is now."""
    await connection.execute(ALONE)
    whole = await queries.entity(connection, entity_id)
    others = [each for each in await _statements(connection, whole.id) if each != statement_id]
    if await connection.fetchval(ENTITY_OF, statement_id) != whole.id:
        raise NotFoundError(f"Entity {entity_id} has no statement {statement_id}.")
    if not others:
        raise ConflictError("It is the entity's only statement; there is nothing to take it from.")
    await connection.execute(LEAVE, statement_id)
    pairs = [(statement_id, each) for each in others]
    await _decide(connection, whole.kind, pairs, _Decision("different", actor, reason))
    return await _entity_of(connection, statement_id)


class _Decision(NamedTuple):
    verdict: str
    actor: str
    reason: str | None


async def _decide(
    connection: Connection, kind: str, pairs: Sequence[tuple[int, int]], decision: _Decision
) -> None:
    if decision.reason is not None and len(decision.reason) > MAX_REASON:
        raise UsageError(f"A reason has at most {MAX_REASON} characters.")
    ones, others = [one for one, _ in pairs], [other for _, other in pairs]
    await connection.execute(DECIDE, ones, others, kind, *decision)
    concerned = sorted({*ones, *others})
    await regroup(connection, concerned)
    name = "entity.merged" if decision.verdict == "same" else "entity.split"
    data = {"kind": kind, "statements": concerned[:100], "reason": decision.reason}
    await record(connection, [Event(name, decision.actor, data=data)])


async def _statements(connection: Connection, entity_id: int) -> list[int]:
    return [row["id"] for row in await connection.fetch(STATEMENTS, entity_id)]


async def _entity_of(connection: Connection, statement_id: int) -> FullEntity:
    found = await connection.fetchval(ENTITY_OF, statement_id)
    return await queries.entity(connection, found or 0)
