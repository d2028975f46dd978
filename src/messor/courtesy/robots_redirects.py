"""A robots.txt that is found on another host: who waits for it, and what they are told.

The request to the other host is that host's business and happens in its lane. The host that was
asked first waits in `robots_redirects` until the page at the end of the chain has answered; its
rules then count for the host that was asked (RFC 9309 2.3.1.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from messor.courtesy.robots import RobotsFile
from messor.store.database import Connection

MAX_HOPS = 5  # RFC 9309 2.3.1.2: what is further away counts as unavailable

# The host, when its own robots.txt led there, and all who waited for that page wait for another.
WAIT = """
WITH target AS (
  SELECT id FROM messor.pages WHERE host_id = $3 AND url_hash = $4
), moved AS (
  UPDATE messor.robots_redirects r SET page_id = t.id, hops = r.hops + $5
    FROM target t WHERE r.page_id = $1
), due AS (
  UPDATE messor.crawl_tasks k SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM target t WHERE k.page_id = t.id AND (k.due_at IS NULL OR k.due_at > messor.clock())
  RETURNING k.host_id
), woken AS (
  UPDATE messor.lanes l SET due_at = messor.clock(),
         claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                         ELSE l.claim_at END
   WHERE l.host_id IN (SELECT host_id FROM due)
)
INSERT INTO messor.robots_redirects (host_id, page_id, hops)
SELECT $2::bigint, t.id, $5 FROM target t WHERE $2::bigint IS NOT NULL
ON CONFLICT (host_id) DO UPDATE SET page_id = excluded.page_id, hops = excluded.hops
"""

# Whether the host that a redirect names may be talked to.
MAY_VISIT = """
SELECT d.status = 'approved' AND d.active FROM messor.hosts h
  JOIN messor.domains d ON d.id = h.domain_id WHERE h.id = $1
"""

# Those who waited for these pages, and those who were sent on too often ($9 hops and more).
ANSWER = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::bytea[],
                       $6::bytea[], $7::real[], $8::text[])
         AS g (page_id, verdict, reason, status_code, body, body_hash, crawl_delay, url)
), waited AS (
  DELETE FROM messor.robots_redirects r WHERE r.page_id = ANY ($1) OR r.hops > $9
  RETURNING r.host_id, r.page_id, r.hops
), new AS (
  INSERT INTO messor.robots_files (host_id, verdict, reason, status_code, body, body_hash,
                                   crawl_delay, redirected_to)
  SELECT w.host_id, g.verdict, g.reason, g.status_code, g.body, g.body_hash, g.crawl_delay, g.url
    FROM waited w JOIN given g ON g.page_id = w.page_id WHERE w.hops <= $9
  UNION ALL
  SELECT w.host_id, 'allow_all', 'robots.txt redirects more than ' || $9 || ' times', NULL, '',
         sha256(''), NULL, NULL FROM waited w WHERE w.hops > $9
  RETURNING id, host_id
)
UPDATE messor.hosts h SET robots_id = n.id, robots_checked_at = messor.clock(),
       updated_at = messor.clock()
  FROM new n WHERE h.id = n.host_id
"""


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What the page of a robots task turned out to say, for those who wait for it."""

    page_id: int
    url: str
    file: RobotsFile


async def may_visit(connection: Connection, host_id: int) -> bool:
    return bool(await connection.fetchval(MAY_VISIT, host_id))


async def wait(
    connection: Connection,
    page_id: int,
    host_id: int | None,
    target: tuple[int, bytes],
    hops: int,
) -> None:
    """Let a host, and whoever waited for `page_id`, wait for the page it was redirected to."""
    await connection.execute(WAIT, page_id, host_id, target[0], target[1], hops)


async def answer(connection: Connection, answers: Sequence[RobotsAnswer]) -> None:
    """Put what was read in force for every host that waited for it."""
    files = [given.file for given in answers]
    await connection.execute(
        ANSWER,
        [given.page_id for given in answers],
        [file.verdict for file in files],
        [file.reason for file in files],
        [file.status_code for file in files],
        [file.body for file in files],
        [sha256(file.body).digest() for file in files],
        [file.crawl_delay for file in files],
        [given.url for given in answers],
        MAX_HOPS,
    )
