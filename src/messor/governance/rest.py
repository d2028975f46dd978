"""Rest: a domain that failed, or has no funds this year, is left alone until a date.

Its lanes are not ready until then, so claims need no extra check.
"""

from __future__ import annotations

from datetime import datetime

from messor.registry import domains, processing
from messor.registry.domains import Domain
from messor.store.database import Connection

# A visit in progress is recalled, and finds its lane not ready on return.
HOLD = """
UPDATE messor.lanes l
   SET ready_at = greatest(l.ready_at, $2), recall = CASE WHEN l.worker_id IS NOT NULL THEN l.token END,
       claim_at = CASE WHEN l.worker_id IS NULL AND l.due_at IS NOT NULL
                       THEN greatest(l.ready_at, l.due_at, $2) ELSE l.claim_at END
  FROM (SELECT host_id FROM messor.lanes WHERE domain_id = $1 ORDER BY host_id FOR NO KEY UPDATE) k
 WHERE l.host_id = k.host_id
"""

# Only what the rest postponed; a wait demanded by the host stays.
RELEASE = """
UPDATE messor.lanes l
   SET ready_at = n.ready_at,
       claim_at = CASE WHEN l.due_at IS NOT NULL THEN greatest(n.ready_at, l.due_at) END
  FROM (SELECT k.host_id, greatest(messor.clock() + make_interval(secs => k.delay),
                                   h.cooldown_until) AS ready_at
          FROM messor.lanes k JOIN messor.hosts h ON h.id = k.host_id
         WHERE k.domain_id = $1 AND k.worker_id IS NULL ORDER BY k.host_id FOR NO KEY UPDATE OF k) n
 WHERE l.host_id = n.host_id AND l.ready_at > n.ready_at
"""


async def fail(
    connection: Connection, domain: Domain, reason: str, *, actor: str = processing.SYSTEM
) -> Domain:
    """Processing failed: the domain and its lanes rest, longer each time."""
    failed = await processing.fail(connection, domain, reason, actor=actor)
    assert failed.retry_after is not None
    await hold(connection, failed, failed.retry_after)
    return failed


async def no_funds(connection: Connection, domain: Domain, year: int, *, actor: str) -> Domain:
    """No funds this year: the domain and its lanes rest until the next."""
    resting = await processing.no_funds(connection, domain, year, actor=actor)
    until = processing.rests_until(resting)
    assert until is not None
    await hold(connection, resting, until)
    return resting


async def revive(connection: Connection, domain: Domain, *, actor: str) -> Domain:
    """End a domain's rest on a person's request."""
    revived = await processing.revive(connection, domain, actor=actor)
    await connection.execute(RELEASE, revived.id)
    return revived


async def return_rested(connection: Connection, limit: int = 500) -> int:
    """Return every domain whose rest is over; returns how many. Called periodically."""
    returned = 0
    for name in await processing.rested(connection, limit):
        domain = await domains.lock(connection, name)
        if domain.processing not in ("processing_failed", "no_funds_this_year"):
            continue  # a person revived it first
        await processing.begin(connection, domain)
        returned += 1
    return returned


async def hold(connection: Connection, domain: Domain, until: datetime) -> None:
    """Make a domain's lanes not ready before a time."""
    await connection.execute(HOLD, domain.id, until)
