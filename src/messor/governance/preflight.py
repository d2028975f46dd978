"""Pre-flight requests: a first check of a domain without a decision.

A pre-flight is a task of its own kind in the host's lane; `crawl.preflight` performs it.
"""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

from messor.core.ids import new_id
from messor.errors import ConflictError
from messor.frontier.tasks import ROBOTS_PRIORITY
from messor.ledger.events import Event, record
from messor.politeness import lanes
from messor.registry import domains
from messor.registry.domains import Domain
from messor.store.database import Connection
from messor.web.urls import parse

LOOKED = ("pending_review",)  # a domain with a decision needs no pre-flight

OPEN = """
INSERT INTO messor.preflights (id, domain_id, page_id, requested_by) VALUES ($1, $2, $3, $4)
ON CONFLICT (domain_id) WHERE finished_at IS NULL DO NOTHING RETURNING id
"""
# Distinct from the homepage's own page, which approval creates: its hash belongs to no URL.
ADD_TASK = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by) VALUES ($1, $2, $3, 'manual')
  ON CONFLICT (host_id, url_hash) DO UPDATE SET url = excluded.url RETURNING id, host_id
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at, max_retries)
  SELECT id, host_id, 'preflight', $4, messor.clock(), 0 FROM page
  ON CONFLICT (page_id) DO UPDATE SET due_at = messor.clock(), status = 'pending', retry_count = 0
  RETURNING page_id, host_id, due_at
), lane AS (
  UPDATE messor.lanes l SET preflight = true, due_at = least(l.due_at, t.due_at),
         claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                         ELSE l.claim_at END
    FROM task t WHERE l.host_id = t.host_id
)
SELECT page_id FROM task
"""


async def request_preflight(connection: Connection, domain: Domain, *, actor: str) -> UUID | None:
    """Request a pre-flight of a pending domain; returns it, or None if one is in progress."""
    if domain.status not in LOOKED:
        raise ConflictError(
            f"{domain.domain} is {domain.status}{domains.decided(domain)}; "
            "only a domain that awaits review gets a pre-flight."
        )
    url = parse(domain.base_url)
    assert url is not None
    host_id = await lanes.open_host(connection, domain.id, url.authority)
    key = sha256(f"preflight:{url.href}".encode()).digest()
    page_id = await connection.fetchval(ADD_TASK, host_id, key, url.href, ROBOTS_PRIORITY)
    opened: UUID | None = await connection.fetchval(OPEN, new_id(), domain.id, page_id, actor)
    if opened is not None:
        await record(connection, [Event("domain.preflight_asked", actor, domain.id)])
    return opened
