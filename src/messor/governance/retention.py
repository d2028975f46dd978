"""Retention: rules that remove old snapshots, and holds that no rule may pass.

A snapshot goes with its text, its bytes and its records in the archive, like something erased, so
that compaction and restore do not bring it back; that there was one, and when, stays known. Rules are
applied every night (O-Retention), or at once.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.governance.retention_queries import (
    EDGE,
    HOLD_COLUMNS,
    IN_WINDOW,
    OF_IDS,
    RULE_COLUMNS,
    Outcome,
    RetentionHold,
    RetentionRule,
)
from messor.ledger.events import Event, record
from messor.registry.domains import MAX_REASON, Submission, checked
from messor.store.database import Connection, Database
from messor.web.urls import parse

ACTOR = "O-Retention"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
WINDOW = 2_000  # snapshots looked at in one transaction

ADD = f"""
INSERT INTO messor.retention_rules AS r (id, name, domain, vertical, outcome, days, versions, created_by)
SELECT $1, $2, $3, $4, $5, $6, $7, $8
 WHERE $4::text IS NULL OR EXISTS (SELECT FROM messor.verticals v WHERE v.name = $4)
ON CONFLICT DO NOTHING RETURNING {RULE_COLUMNS}
"""
SAME = """
SELECT name FROM messor.retention_rules
 WHERE name = $1 OR (domain IS NOT DISTINCT FROM $2 AND vertical IS NOT DISTINCT FROM $3 AND outcome = $4)
"""
REMOVE = "DELETE FROM messor.retention_rules WHERE name = $1 RETURNING id"
HOLD = f"""
INSERT INTO messor.retention_holds AS k (id, domain, url, reason, held_by) VALUES ($1, $2, $3, $4, $5)
RETURNING {HOLD_COLUMNS}
"""
LIFT = "DELETE FROM messor.retention_holds WHERE id = $1 RETURNING domain, url"
LOCK = "SELECT id FROM messor.page_snapshots WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE"
BLANK = """
INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
SELECT segment_id, segment_offset, segment_length FROM messor.page_snapshots WHERE id = ANY ($1::bigint[])
 UNION
SELECT revisit_segment_id, revisit_offset, revisit_length FROM messor.page_snapshots
 WHERE id = ANY ($1::bigint[]) AND revisit_segment_id IS NOT NULL
 UNION
SELECT text_segment_id, text_offset, text_length FROM messor.page_snapshots
 WHERE id = ANY ($1::bigint[]) AND text_segment_id IS NOT NULL
 ORDER BY 1, 2 ON CONFLICT DO NOTHING
"""
# That a page changed then stays known; what it changed to does not.
FORGET = """
WITH going AS MATERIALIZED (
  SELECT id, page_id FROM messor.page_snapshots WHERE id = ANY ($1::bigint[])
), changes AS (
  UPDATE messor.page_changes c SET snapshot_id = NULL FROM going g
   WHERE c.page_id = g.page_id AND c.snapshot_id = g.id
), texts AS (
  DELETE FROM messor.snapshot_texts x USING going g WHERE x.snapshot_id = g.id
)
DELETE FROM messor.page_snapshots s USING going g WHERE s.id = g.id
"""


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule to be added; at least one of `days` and `versions`."""

    name: str
    domain: str | None = None
    vertical: str | None = None
    outcome: Outcome = "any"
    days: int | None = None
    versions: int | None = None


async def add_rule(connection: Connection, given: NewRule, *, actor: str) -> RetentionRule:
    """Add a rule; there is at most one for a domain, vertical and outcome."""
    if not NAME.fullmatch(given.name):
        raise UsageError(
            f"{given.name[:60]!r} is no name for a rule; use letters a to z, digits, - and _."
        )
    if given.days is None and given.versions is None:
        raise UsageError(
            "Say when snapshots go: after how many days, beyond how many versions, or both."
        )
    if given.domain is not None and given.vertical is not None:
        raise UsageError("A rule is for a domain, for a vertical or for all; give one of them.")
    domain = Submission.understand(given.domain).domain if given.domain is not None else None
    same = await connection.fetchval(SAME, given.name, domain, given.vertical, given.outcome)
    if same is not None:
        raise ConflictError(
            f"The rule {same} has this name or applies to the same; remove it first."
        )
    row = await connection.fetchrow(
        ADD, new_id(), given.name, domain, given.vertical, given.outcome, given.days, given.versions, actor
    )  # fmt: skip
    if row is None:
        raise NotFoundError(
            f"There is no vertical {given.vertical!r}. List them: messor verticals list"
        )
    rule = RetentionRule(**row)
    data = {"name": rule.name, "days": rule.days, "versions": rule.versions}
    await record(connection, [Event("retention.rule_added", actor, data=data)])
    return rule


async def remove_rule(connection: Connection, name: str, *, actor: str) -> None:
    if await connection.fetchval(REMOVE, name) is None:
        raise NotFoundError(f"There is no retention rule {name[:60]!r}.")
    await record(connection, [Event("retention.rule_removed", actor, data={"name": name})])


async def hold(connection: Connection, what: str, *, actor: str, reason: str) -> RetentionHold:
    """Hold a domain, or one page by its URL: no rule removes anything of it until it is lifted."""
    why = checked(reason, "reason", MAX_REASON)
    if why is None:
        raise UsageError("Give a reason for the hold.")
    url = parse(what.strip()) if "://" in what else None
    domain = Submission.understand(what).domain
    row = await connection.fetchrow(HOLD, new_id(), domain, url.href if url else None, why, actor)
    assert row is not None
    placed = RetentionHold(**row)
    data = {"domain": domain, "url": placed.url, "reason": why}
    await record(connection, [Event("retention.held", actor, data=data)])
    return placed


async def lift(connection: Connection, hold_id: UUID, *, actor: str) -> None:
    row = await connection.fetchrow(LIFT, hold_id)
    if row is None:
        raise NotFoundError(f"There is no hold {hold_id}.")
    await record(connection, [Event("retention.lifted", actor, data=dict(row))])


async def apply_window(
    connection: Connection, after: int, *, actor: str = ACTOR
) -> tuple[Counter[str], int | None]:
    """Apply the rules to the next snapshots; how many went by rule, and the last one looked at.

    What was chosen is held, then looked at once more: its page may just have returned to it.
    """
    edge: int | None = await connection.fetchval(EDGE, after, WINDOW)
    rows = await connection.fetch(IN_WINDOW, after, WINDOW)
    ids = [row["id"] for row in rows if not row["is_held"]]
    if not ids:
        return Counter(), edge
    await connection.fetch(LOCK, ids)
    going = [row for row in await connection.fetch(OF_IDS, ids) if not row["is_held"]]
    ids = [row["id"] for row in going]
    await connection.execute(BLANK, ids)
    await connection.execute(FORGET, ids)
    gone = Counter(row["name"] for row in going)
    if gone:
        await record(connection, [Event("retention.snapshots_removed", actor, data=dict(gone))])
    return gone, edge


async def apply(database: Database, *, actor: str) -> Counter[str]:
    """Apply the rules to everything, some snapshots per transaction; how many went by rule."""
    gone: Counter[str] = Counter()
    after: int | None = 0
    while after is not None:
        async with database.transaction() as connection:
            found, after = await apply_window(connection, after, actor=actor)
        gone += found
    return gone
