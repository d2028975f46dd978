"""Redirects of robots.txt to another host: which hosts wait, and what then applies to them.

The request to the other host is made in that host's lane. The redirected host waits in
`robots_redirects` until the end of the chain has been read; those rules then apply to it (RFC 9309
2.3.1.2).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from messor.politeness.robots import RETRY_SECONDS, RobotsFile
from messor.store.database import Connection

MAX_HOPS = 5  # RFC 9309 2.3.1.2: after more hops a robots.txt counts as unavailable

# All hosts waiting for one page wait for its target, which is made due at once; or, if the
# target's host waits as well, for what that host waits for. A host redirected to itself means a
# loop, which exhausts the hops of all.
MOVE = """
WITH target AS (
  SELECT id FROM messor.pages WHERE host_id = $2 AND url_hash = $3
), ahead AS (
  SELECT page_id, hops FROM messor.robots_redirects WHERE host_id = $2
), circle AS (
  SELECT FROM messor.robots_redirects WHERE page_id = $1 AND host_id = $2
), moved AS (
  UPDATE messor.robots_redirects r
     SET page_id = coalesce((SELECT page_id FROM ahead), t.id),
         hops = CASE WHEN EXISTS (SELECT FROM circle) THEN 99
                     ELSE r.hops + $4 + coalesce((SELECT hops FROM ahead), 0) END
    FROM target t WHERE r.page_id = $1
), due AS (
  UPDATE messor.crawl_tasks k SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM target t WHERE k.page_id = t.id AND (k.due_at IS NULL OR k.due_at > messor.clock())
     AND k.status NOT IN ('paused', 'cancelled') AND NOT EXISTS (SELECT FROM ahead)
  RETURNING k.host_id
)
UPDATE messor.lanes l SET due_at = messor.clock(),
       claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                       ELSE l.claim_at END
 WHERE l.host_id IN (SELECT host_id FROM due)
"""

# The redirected host itself waits first; a host that waits for this one is a loop, too.
JOIN = """
WITH ahead AS (
  SELECT r.page_id, r.hops, p.host_id FROM messor.robots_redirects r
    JOIN messor.pages p ON p.id = r.page_id WHERE r.host_id = $2
)
INSERT INTO messor.robots_redirects AS r (host_id, page_id, hops, schemes)
SELECT $1::bigint, coalesce(a.page_id, p.id), CASE WHEN a.host_id = $1 THEN 99 ELSE $4::smallint + coalesce(a.hops, 0) END,
       ARRAY[$5::text]
  FROM messor.pages p LEFT JOIN ahead a ON true WHERE p.host_id = $2 AND p.url_hash = $3
ON CONFLICT (host_id) DO UPDATE
   SET page_id = excluded.page_id,
       hops = CASE WHEN r.schemes @> excluded.schemes THEN r.hops + excluded.hops
                   ELSE greatest(r.hops, excluded.hops) END,
       schemes = CASE WHEN r.schemes @> excluded.schemes THEN r.schemes
                      ELSE r.schemes || excluded.schemes END
"""

# Known domains among the targets of redirects.
KNOWN_DOMAINS = """
SELECT domain, id, status = 'approved' AND active AS may FROM messor.domains
 WHERE domain = ANY ($1::text[])
"""

# Resolves hosts that waited for these pages, were redirected too often (more than $9 hops), or
# were redirected to an ordinary page, which contains no rules. A denied host is silenced ($10 s)
# and then its own robots.txt is requested again.
RESOLVE = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::bytea[],
                       $6::bytea[], $7::real[], $8::text[], $11::smallint[])
         AS g (page_id, verdict, reason, status_code, body, body_hash, crawl_delay, url, hops)
), waited AS (
  DELETE FROM messor.robots_redirects r
   WHERE r.page_id = ANY ($1) OR r.hops > $9
      OR EXISTS (SELECT FROM messor.crawl_tasks t WHERE t.page_id = r.page_id AND t.kind = 'page')
  RETURNING r.host_id, r.page_id, r.hops, r.schemes
), said AS (
  SELECT w.host_id, w.schemes, CASE WHEN w.hops + coalesce(g.hops, 0) > $9 THEN
           'robots.txt redirects more than ' || $9 || ' times'
         WHEN g.page_id IS NULL THEN 'robots.txt redirects to a page' END AS lost, g.*
    FROM waited w LEFT JOIN given g ON g.page_id = w.page_id
), new AS (
  INSERT INTO messor.robots_files (host_id, verdict, reason, status_code, body, body_hash,
                                   crawl_delay, redirected_to)
  SELECT host_id, CASE WHEN lost IS NULL THEN verdict ELSE 'allow_all' END, coalesce(lost, reason),
         status_code, CASE WHEN lost IS NULL THEN body ELSE '' END,
         CASE WHEN lost IS NULL THEN body_hash ELSE sha256('') END,
         CASE WHEN lost IS NULL THEN crawl_delay END, url FROM said
  RETURNING id, host_id, verdict, reason
), silenced AS (
  UPDATE messor.lanes l SET ready_at = greatest(l.ready_at, messor.clock() + make_interval(secs => $10)),
         claim_at = CASE WHEN l.worker_id IS NULL THEN
           greatest(l.claim_at, messor.clock() + make_interval(secs => $10)) ELSE l.claim_at END
    FROM new n WHERE l.host_id = n.host_id AND n.verdict = 'deny_all'
), asked AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock() + make_interval(secs => $10)
    FROM new n, messor.pages p
   WHERE n.verdict = 'deny_all' AND t.host_id = n.host_id AND t.kind = 'robots'
     AND p.id = t.page_id AND p.found_by = 'robots'
)
UPDATE messor.hosts h
   SET scheme = coalesce(h.scheme, w.schemes[1]),
       robots_id = CASE WHEN coalesce(h.scheme, w.schemes[1]) = ANY (w.schemes) THEN n.id
                        ELSE h.robots_id END,
       other_robots_id = CASE WHEN w.schemes <> ARRAY[coalesce(h.scheme, w.schemes[1])] THEN n.id
                              ELSE h.other_robots_id END,
       spoke_https = h.spoke_https OR 'https' = ANY (w.schemes),
       robots_checked_at = messor.clock(),
       cooldown_until = CASE WHEN n.verdict = 'deny_all' THEN greatest(h.cooldown_until,
         messor.clock() + make_interval(secs => $10)) ELSE h.cooldown_until END,
       cooldown_reason = CASE WHEN n.verdict = 'deny_all' THEN n.reason ELSE h.cooldown_reason END,
       updated_at = messor.clock()
  FROM new n JOIN waited w USING (host_id) WHERE h.id = n.host_id
"""


@dataclass(frozen=True, slots=True)
class RobotsResult:
    """The result of a robots task, for the hosts that wait for it."""

    page_id: int
    url: str
    file: RobotsFile
    hops: int  # redirects within its host


async def known_domains(
    connection: Connection, names: Collection[str]
) -> dict[str, tuple[UUID, bool]]:
    """Ids of known domains by name, and whether they may be visited."""
    rows = await connection.fetch(KNOWN_DOMAINS, list(names))
    return {row["domain"]: (row["id"], row["may"]) for row in rows}


async def wait(
    connection: Connection,
    page_id: int,
    host_id: int | None,
    target: tuple[int, bytes],
    *,
    hops: int,
    scheme: str,
) -> None:
    """Make a host, and all that waited for `page_id`, wait for the redirect target."""
    if host_id is not None:
        await connection.execute(JOIN, host_id, target[0], target[1], hops, scheme)
    await connection.execute(MOVE, page_id, target[0], target[1], hops)


async def resolve(connection: Connection, results: Sequence[RobotsResult]) -> None:
    """Apply the results to every host that waited for them."""
    files = [given.file for given in results]
    await connection.execute(
        RESOLVE,
        [given.page_id for given in results],
        [file.verdict for file in files],
        [file.reason for file in files],
        [file.status_code for file in files],
        [file.body for file in files],
        [sha256(file.body).digest() for file in files],
        [file.crawl_delay for file in files],
        [given.url for given in results],
        MAX_HOPS,
        RETRY_SECONDS,
        [given.hops for given in results],
    )
