"""Product images on the frontier: which are wanted, and tasks to fetch them.

Only images on hosts of approved domains become tasks; others store a reason and are checked again
after a month. An image that has moved is wanted from its new location, under the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from messor.politeness import lanes
from messor.store.database import Connection
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, parse, url_hash

EVERYTHING = "*"
PRIORITY = 9  # pages first

# Names without a dot are verticals.
WANTED = """
SELECT i.id, coalesce(i.moved_to, i.image_url) AS url, i.page_id, i.moves
  FROM messor.product_images i JOIN messor.products p ON p.id = i.product_id AND p.state = 'current'
  JOIN messor.domains d ON d.id = p.domain_id AND d.status = 'approved' AND d.active
 WHERE i.id > $1 AND i.image_page_id IS NULL AND i.position < $2
   AND (i.refused_at IS NULL OR i.refused_at < (SELECT messor.clock()) - interval '30 days')
   AND (d.domain = ANY ($3::text[]) OR '*' = ANY ($3::text[])
        OR d.vertical = ANY ($3::text[]) OR EXISTS (
     SELECT FROM messor.organisation_domains o JOIN messor.verticals v ON v.id = o.vertical_id
      WHERE o.domain = d.domain AND v.name = ANY ($3::text[])))
 ORDER BY i.id LIMIT $4
"""
APPROVED = """
SELECT domain, id FROM messor.domains
 WHERE domain = ANY ($1::text[]) AND status = 'approved' AND active ORDER BY domain
"""
REFUSE = """
UPDATE messor.product_images i SET refusal = g.refusal, refused_at = (SELECT messor.clock())
  FROM unnest($1::bigint[], $2::text[]) AS g (id, refusal) WHERE i.id = g.id
"""
# A URL that was crawled as a page and is not one becomes an image's. One already fetched as an
# image is read again for new products, and requested again if it was redirected.
ADD_TASKS = """
WITH given AS MATERIALIZED (
  SELECT DISTINCT ON (host_id, url_hash) * FROM unnest($1::bigint[], $2::bytea[], $3::text[],
                                                       $4::bigint[])
      AS g (host_id, url_hash, url, found_on) ORDER BY host_id, url_hash
), page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, found_on, depth)
  SELECT host_id, url_hash, url, 'link', found_on, 1 FROM given ORDER BY host_id, url_hash
  ON CONFLICT (host_id, url_hash) DO UPDATE SET url = messor.pages.url
  RETURNING id, host_id, url_hash
), task AS (
  INSERT INTO messor.crawl_tasks AS t (page_id, host_id, kind, priority, due_at)
  SELECT id, host_id, 'image', $5, (SELECT messor.clock()) FROM page ORDER BY id
  ON CONFLICT (page_id) DO UPDATE
     SET kind = 'image', priority = excluded.priority, due_at = excluded.due_at, status = 'pending',
         retry_count = 0
   WHERE (t.kind, t.outcome) IN (('page', 'not_html'), ('image', 'redirected'))
     AND t.status NOT IN ('paused', 'cancelled')
  RETURNING t.page_id, t.host_id, t.due_at
), woken AS (
  UPDATE messor.lanes l SET due_at = least(l.due_at, n.due_at),
         claim_at = CASE WHEN l.worker_id IS NULL
                         THEN greatest(l.ready_at, least(l.due_at, n.due_at)) ELSE l.claim_at END
    FROM (SELECT host_id, min(due_at) AS due_at FROM task GROUP BY 1) n WHERE l.host_id = n.host_id
), again AS (
  INSERT INTO messor.extraction_due (page_id, snapshot_id)
  SELECT t.page_id, t.snapshot_id FROM messor.crawl_tasks t JOIN page p ON p.id = t.page_id
   WHERE t.kind = 'image' AND t.snapshot_id IS NOT NULL
)
SELECT id, host_id, url_hash FROM page
"""
ATTACH = """
UPDATE messor.product_images i SET image_page_id = g.page_id, refusal = NULL, refused_at = NULL
  FROM unnest($1::bigint[], $2::bigint[]) AS g (id, page_id) WHERE i.id = g.id
"""
# Stored by the worker that got the redirect, in a separate table: the crawl must not lock product
# rows.
NOTE_MOVES = """
INSERT INTO messor.moved_pictures (page_id, url)
SELECT g.page_id, g.url FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
    AS g (page_id, host_id, token, url)
  JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
    ON CONFLICT (page_id) DO UPDATE SET url = excluded.url
"""
FOLLOW = """
WITH met AS (
  DELETE FROM messor.moved_pictures WHERE page_id IN (
    SELECT page_id FROM messor.moved_pictures ORDER BY page_id LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING page_id, url
)
UPDATE messor.product_images i
   SET image_page_id = NULL, moved_to = met.url, moves = i.moves + 1
  FROM met WHERE i.image_page_id = met.page_id
"""


@dataclass(frozen=True, slots=True)
class WantedImage:
    """An image that has not been fetched yet."""

    id: int
    url: str
    found_on: int
    moves: int  # redirects that led there


@dataclass(frozen=True, slots=True)
class Move:
    """An image that was redirected: its page, the visit, and the target."""

    page_id: int
    host_id: int
    token: int
    url: str


@dataclass(frozen=True, slots=True)
class Enlisted:
    """The result for some images, and where to continue."""

    looked_at: int
    tasks: int
    refused: int
    last: int


async def note_moves(connection: Connection, worker_id: int, moves: Sequence[Move]) -> None:
    """Store redirect targets of images, for visits the worker still holds."""
    await connection.execute(
        NOTE_MOVES,
        worker_id,
        [move.page_id for move in moves],
        [move.host_id for move in moves],
        [move.token for move in moves],
        [move.url for move in moves],
    )


async def follow(connection: Connection, max_hops: int) -> None:
    """Make redirected images wanted from their target."""
    await connection.execute(FOLLOW, max_hops)


async def add_tasks(
    connection: Connection,
    after: int,
    names: Sequence[str],
    *,
    per_page: int,
    max_hops: int,
    max_moves: int,
) -> Enlisted:
    """Create tasks for images of the named domains and verticals; the first `per_page` of a page."""
    rows = await connection.fetch(WANTED, after, per_page, list(names), max_hops)
    wanted = [WantedImage(*row) for row in rows]
    parsed = [(each, parse(each.url)) for each in wanted]
    domains = await _approved(connection, [url for _, url in parsed if url is not None])
    good: list[tuple[WantedImage, Url]] = []
    refused: list[tuple[int, str]] = []
    for each, url in parsed:
        if url is None:
            refused.append((each.id, "Its URL is not a web URL."))
        elif each.moves > max_moves:
            refused.append((each.id, f"It was redirected more than {max_moves} times."))
        elif _name(url) not in domains:
            refused.append(
                (each.id, f"Its host {url.host[:200]} does not belong to an approved domain.")
            )
        else:
            good.append((each, url))
    await connection.execute(REFUSE, [one for one, _ in refused], [why for _, why in refused])
    await _add(connection, good, domains)
    last = wanted[-1].id if wanted else after
    return Enlisted(len(wanted), len(good), len(refused), last)


async def _approved(connection: Connection, urls: Sequence[Url]) -> dict[str, UUID]:
    names = sorted({_name(url) for url in urls})
    return {row["domain"]: row["id"] for row in await connection.fetch(APPROVED, names)}


async def _add(
    connection: Connection, good: Sequence[tuple[WantedImage, Url]], domains: dict[str, UUID]
) -> None:
    if not good:
        return
    authorities = {url.authority: domains[_name(url)] for _, url in good}
    hosts = {
        authority: await lanes.open_host(connection, domain_id, authority)
        for authority, domain_id in sorted(authorities.items())
    }
    await lanes.lock(connection, hosts.values())
    keys = [(hosts[url.authority], url_hash(url)) for _, url in good]
    rows = await connection.fetch(
        ADD_TASKS,
        [host_id for host_id, _ in keys],
        [digest for _, digest in keys],
        [url.href for _, url in good],
        [each.found_on for each, _ in good],
        PRIORITY,
    )
    pages = {(row["host_id"], row["url_hash"]): row["id"] for row in rows}
    await connection.execute(ATTACH, [e.id for e, _ in good], [pages[key] for key in keys])


def _name(url: Url) -> str:
    return registrable_domain(url.host) or ""
