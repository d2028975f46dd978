"""Purge: removes what was stored of a domain that may no longer be crawled.

Pages, snapshots and extracted data are removed; the request log stays, as proof of conduct.
`archive.erased_bytes` blanks the bytes in the archive afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.errors import ConflictError
from messor.ledger.events import Event, record
from messor.parsers import trials
from messor.registry import domains
from messor.registry.domains import Domain
from messor.store.database import Connection, Database

HOLDINGS = """
SELECT count(*) AS pages, coalesce(sum(s.snapshots), 0)::bigint AS snapshots,
       coalesce(sum(s.bytes), 0)::bigint AS bytes
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
 CROSS JOIN LATERAL (SELECT count(*) AS snapshots, sum(coalesce(n.revisit_length, n.segment_length)) AS bytes
                       FROM messor.page_snapshots n WHERE n.page_id = p.id) s
 WHERE h.domain_id = $1
"""
FORGET = """
SELECT messor.forget_pages(coalesce(array_agg(p.id), '{}'), $2)
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id WHERE h.domain_id = $1
"""
EMPTY_LANES = """
UPDATE messor.lanes l SET due_at = NULL, preflight = false,
       claim_at = CASE WHEN l.worker_id IS NULL THEN NULL ELSE l.claim_at END
  FROM (SELECT host_id FROM messor.lanes WHERE domain_id = $1 ORDER BY host_id FOR NO KEY UPDATE) k
 WHERE l.host_id = k.host_id
"""
EMPTY_HOSTS = """
WITH own AS (SELECT id FROM messor.hosts WHERE domain_id = $1), patterns AS (
  DELETE FROM messor.url_patterns WHERE host_id IN (SELECT id FROM own)
)
DELETE FROM messor.refused_links WHERE host_id IN (SELECT id FROM own)
"""

# A visit that held a page during the purge may have stored it again.
FORGET_AGAIN = """
SELECT messor.forget_pages(coalesce(array_agg(f.page_id), '{}'), $1)
  FROM messor.forgotten_pages f
 WHERE f.logs = $1 AND ((f.logs AND f.forgotten_at > messor.clock() - interval '10 minutes')
        OR EXISTS (SELECT FROM messor.page_snapshots s WHERE s.page_id = f.page_id)
        OR EXISTS (SELECT FROM messor.spare_records r WHERE r.page_id = f.page_id))
"""
SETTLED = """
DELETE FROM messor.forgotten_pages WHERE forgotten_at < messor.clock() - interval '1 day'
"""


@dataclass(frozen=True, slots=True)
class Holdings:
    """Amount of stored content of a domain."""

    pages: int
    snapshots: int
    bytes: int


async def holdings(source: Connection | Database, domain: Domain) -> Holdings:
    """What a purge would remove."""
    row = await source.fetchrow(HOLDINGS, domain.id)
    assert row is not None
    return Holdings(*row)


async def purge(connection: Connection, name: str, *, actor: str) -> Holdings:
    """Remove everything stored of a domain that is not approved; returns how much it was."""
    domain = await domains.lock(connection, name)
    if domain.status == "approved":
        raise ConflictError(
            f"{domain.domain} is approved{domains.decided(domain)} and would be crawled again; "
            "suspend or blacklist it before a purge."
        )
    kept = await holdings(connection, domain)
    await forget(connection, domain, logs=False)
    data = {"pages": kept.pages, "snapshots": kept.snapshots, "bytes": kept.bytes}
    await record(connection, [Event("domain.purged", actor, domain.id, data=data)])
    return kept


async def forget(connection: Connection, domain: Domain, *, logs: bool) -> None:
    """Remove a domain's pages and everything derived from them."""
    await connection.execute(EMPTY_LANES, domain.id)
    await connection.execute(FORGET, domain.id, logs)
    await connection.execute(EMPTY_HOSTS, domain.id)
    await trials.forget(connection, domain.domain)


async def forget_again(connection: Connection) -> None:
    """Remove what visits stored of pages purged meanwhile. Called periodically."""
    for logs in (False, True):
        await connection.execute(FORGET_AGAIN, logs)
    await connection.execute(SETTLED)
