"""Proofs of control over a site: a file on it that holds an expected line.

The file is fetched by a task of its own kind in its host's lane, at its pace. `crawl.proofs` does that;
here it is asked for and judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from messor.core.ids import new_id
from messor.frontier.tasks import ASKED_PRIORITY
from messor.politeness import lanes
from messor.registry.domains import Domain
from messor.store.database import Connection, Database
from messor.web.urls import Url

KIND = "proof"
FILE = "/.well-known/messor-verify.txt"
MAX_FILE = 16_384
MAX_LINES = 200

# Distinct from a page of the same URL: its hash belongs to no URL.
ADD_TASK = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by) VALUES ($1, $2, $3, 'manual')
  ON CONFLICT (host_id, url_hash) DO UPDATE SET url = excluded.url RETURNING id, host_id
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at, max_retries)
  SELECT id, host_id, 'proof', $4, messor.clock(), 0 FROM page
  ON CONFLICT (page_id) DO UPDATE SET due_at = messor.clock(), status = 'pending', retry_count = 0
  RETURNING page_id, host_id, due_at
), lane AS (
  UPDATE messor.lanes l SET due_at = least(l.due_at, t.due_at),
         claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                         ELSE l.claim_at END
    FROM task t WHERE l.host_id = t.host_id
)
SELECT page_id FROM task
"""
ASK = """
INSERT INTO messor.site_proofs (id, page_id, host, expected, purpose) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (host, expected, purpose) DO UPDATE
   SET page_id = excluded.page_id, state = 'waiting', reason = NULL, asked_at = messor.clock(),
       answered_at = NULL
RETURNING id
"""
WAITING = """
SELECT id, host, expected, purpose FROM messor.site_proofs
 WHERE page_id = $1 AND state = 'waiting' ORDER BY id FOR UPDATE
"""
ANSWER = """
UPDATE messor.site_proofs p SET state = g.state, reason = g.reason, answered_at = messor.clock()
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS g (id, state, reason) WHERE p.id = g.id
"""
STANDING = """
SELECT id, state, reason, answered_at > messor.clock() - $4::interval AS is_fresh
  FROM messor.site_proofs WHERE host = $1 AND expected = $2 AND purpose = $3
"""


@dataclass(frozen=True, slots=True)
class SiteProof:
    """A proof that was answered."""

    id: UUID
    host: str
    expected: str
    purpose: str  # owner, push
    is_proved: bool


async def ask(
    connection: Connection, domain: Domain, url: Url, *, expected: str, purpose: str
) -> UUID:
    """Have a file of an approved domain fetched and compared."""
    host_id = await lanes.open_host(connection, domain.id, url.authority)
    key = sha256(f"proof:{url.href}".encode()).digest()
    page_id = await connection.fetchval(ADD_TASK, host_id, key, url.href, ASKED_PRIORITY)
    proof_id: UUID = await connection.fetchval(
        ASK, new_id(), page_id, url.authority, expected, purpose
    )
    return proof_id


async def answer(
    connection: Connection, page_id: int, status: int | None, body: bytes
) -> Sequence[SiteProof]:
    """Judge what came; returns the proofs that this file decides."""
    rows = await connection.fetch(WAITING, page_id)
    lines = _lines(body) if status == 200 else set()
    reason = _reason(status)
    judged = [
        SiteProof(row["id"], row["host"], row["expected"], row["purpose"], row["expected"] in lines)
        for row in rows
    ]
    await connection.execute(
        ANSWER,
        [each.id for each in judged],
        ["proved" if each.is_proved else "refused" for each in judged],
        [None if each.is_proved else reason for each in judged],
    )
    return judged


async def standing(
    source: Connection | Database, host: str, expected: str, purpose: str, seconds: float
) -> tuple[str, str | None] | None:
    """State and reason of a proof; None if it was never asked for or is older than that."""
    row = await source.fetchrow(STANDING, host, expected, purpose, timedelta(seconds=seconds))
    if row is None or (row["state"] != "waiting" and not row["is_fresh"]):
        return None
    return row["state"], row["reason"]


def _lines(body: bytes) -> set[str]:
    text = body[:MAX_FILE].decode("utf-8", "replace").removeprefix("\ufeff")
    return {line.strip() for line in text.splitlines()[:MAX_LINES]}


def _reason(status: int | None) -> str:
    if status == 200:
        return "the file does not hold the expected line"
    return "the site did not answer" if status is None else f"the site answered {status}"
