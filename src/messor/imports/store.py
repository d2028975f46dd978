"""The rows of an import: many pages in one transaction, like a flush, but without a lane.

No request is sent, so no lane is held. A new host gets a sleeping lane and a robots task in it: the
first page request there reads robots.txt first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from messor.archive import snapshots
from messor.archive.segments import Place
from messor.archive.snapshots import DESCRIBE, MEET_AGAIN, READER_VERSION, TextPlace
from messor.frontier.depth import UNKNOWN_DEPTH
from messor.frontier.pages import HOST_IDS
from messor.frontier.pages import KNOWN as KNOWN_PAGES
from messor.frontier.tasks import DEFAULT_PRIORITY, ROBOTS_PRIORITY
from messor.imports.prepare import ImportCandidate, Sight
from messor.imports.terms import DomainTerms
from messor.store.database import Connection
from messor.web.urls import url_hash

OPEN_HOSTS = """
WITH given AS (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[])
           AS g (domain_id, host, robots_url, robots_hash)
), made AS (
  INSERT INTO messor.hosts (domain_id, host) SELECT domain_id, host FROM given ORDER BY host
  ON CONFLICT (host) DO NOTHING RETURNING id, domain_id, host
), lane AS (
  INSERT INTO messor.lanes (host_id, domain_id) SELECT id, domain_id FROM made
), page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  SELECT m.id, g.robots_hash, g.robots_url, 'robots' FROM made m JOIN given g USING (host)
  RETURNING id, host_id
)
INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at)
SELECT id, host_id, 'robots', $5, messor.clock() FROM page
"""

# A new page is due as after a fetch where its domain is crawled, and never elsewhere.
ADD = f"""
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::float8[])
           AS g (host_id, url_hash, url, due_in)
), made AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, depth)
  SELECT host_id, url_hash, url, 'manual', {UNKNOWN_DEPTH} FROM given ORDER BY host_id, url_hash
  ON CONFLICT (host_id, url_hash) DO NOTHING RETURNING id, host_id, url_hash
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, priority, due_at)
  SELECT m.id, m.host_id, $5, (SELECT messor.clock()) + make_interval(secs => g.due_in)
    FROM made m JOIN given g USING (host_id, url_hash)
  RETURNING host_id, due_at
), woken AS (
  UPDATE messor.lanes l
     SET due_at = least(l.due_at, n.due_at),
         claim_at = CASE WHEN l.worker_id IS NULL
                         THEN greatest(l.ready_at, least(l.due_at, n.due_at))
                         ELSE l.claim_at END
    FROM (SELECT host_id, min(due_at) AS due_at FROM task WHERE due_at IS NOT NULL GROUP BY 1) n
   WHERE l.host_id = n.host_id
)
UPDATE messor.domains d SET pages_known = d.pages_known + n.pages
  FROM (SELECT h.domain_id, count(*)::int AS pages
          FROM made m JOIN messor.hosts h ON h.id = m.host_id GROUP BY 1) n
 WHERE d.id = n.domain_id
"""

# `newest`: nothing seen of the page later contradicts what was saved. A fetch without content, such
# as a blocked one, does not.
STANDING = """
SELECT g.n::int - 1 AS place, p.id, t.kind, t.snapshot_id,
       CASE WHEN s.misfiled_at IS NULL THEN s.raw_hash END AS raw_hash,
       t.snapshot_id IS NULL OR t.last_fetched_at IS NULL OR t.last_fetched_at < m.saved_at
       OR (t.outcome NOT IN ('ok', 'unchanged', 'not_found', 'redirected', 'redirected_out')
           AND s.crawled_at < m.saved_at) AS newest
  FROM unnest($1::text[], $2::bytea[], $3::float8[]) WITH ORDINALITY
       AS g (host, url_hash, age, n)
  CROSS JOIN LATERAL (SELECT (SELECT messor.clock()) - make_interval(secs => g.age) AS saved_at) m
  JOIN messor.hosts h ON h.host = g.host
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = g.url_hash
  JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
 ORDER BY p.id
"""
LOCKED_STANDING = f"{STANDING} FOR NO KEY UPDATE OF t"

STORE = f"""
INSERT INTO messor.page_snapshots AS s (page_id, content_hash, data_hash, raw_hash, segment_id,
       segment_offset, segment_length, size, status_code, content_type, title, description,
       language, crawled_at, reader_version, provider, text_segment_id, text_offset, text_length,
       text_words)
SELECT g.page_id, g.content_hash, g.data_hash, g.raw_hash, g.segment_id, g.segment_offset,
       g.segment_length, g.size, 200, g.content_type, g.title, g.description, g.language,
       (SELECT messor.clock()) - make_interval(secs => g.age), $14, 'import',
       g.text_segment_id, g.text_offset, g.text_length, g.text_words
  FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bigint[], $6::bigint[],
              $7::int[], $8::int[], $9::text[], $10::text[], $11::text[], $12::text[],
              $13::float8[], $15::bigint[], $16::bigint[], $17::int[], $18::int[])
       AS g (page_id, content_hash, data_hash, raw_hash, segment_id, segment_offset,
             segment_length, size, content_type, title, description, language, age,
             text_segment_id, text_offset, text_length, text_words)
 ORDER BY g.page_id
{MEET_AGAIN}
RETURNING id, page_id, segment_id, segment_offset, text_segment_id, text_offset,
          xmax = 0 AS fresh, verdict
"""

# When a page is due stays unchanged: an import requests nothing.
UPDATE_TASKS = """
UPDATE messor.crawl_tasks t
   SET outcome = g.outcome, snapshot_id = g.snapshot_id, raw_hash = g.raw_hash, last_status = 200,
       etag = CASE WHEN t.raw_hash = g.raw_hash THEN t.etag END,
       last_modified = CASE WHEN t.raw_hash = g.raw_hash THEN t.last_modified END,
       wire_tag = CASE WHEN t.raw_hash = g.raw_hash THEN t.wire_tag END,
       last_fetched_at = (SELECT messor.clock()) - make_interval(secs => g.age),
       completed_at = (SELECT messor.clock()), error_message = NULL, retry_count = 0,
       status = CASE WHEN t.status IN ('paused', 'cancelled') THEN t.status ELSE 'completed' END
  FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[], $5::float8[])
       AS g (page_id, outcome, snapshot_id, raw_hash, age)
 WHERE t.page_id = g.page_id
"""

# A page that was gone and is saved as it was before has returned.
RETURN = """
WITH changed AS (
INSERT INTO messor.page_changes (page_id, seen_at, snapshot_id, state)
SELECT g.page_id, m.saved_at, g.snapshot_id, 'changed'
  FROM unnest($1::bigint[], $2::bigint[], $3::float8[]) AS g (page_id, snapshot_id, age)
  CROSS JOIN LATERAL (SELECT (SELECT messor.clock()) - make_interval(secs => g.age) AS saved_at) m
  CROSS JOIN LATERAL (SELECT c.state, c.seen_at FROM messor.page_changes c
                       WHERE c.page_id = g.page_id ORDER BY c.seen_at DESC LIMIT 1) last
 WHERE last.state = 'removed' AND last.seen_at < m.saved_at
ON CONFLICT DO NOTHING RETURNING page_id, snapshot_id, seen_at
)
INSERT INTO messor.extraction_due (page_id, snapshot_id, seen_at) SELECT * FROM changed
"""


@dataclass(frozen=True, slots=True)
class ExistingPage:
    """The state of a page before the import."""

    page_id: int
    kind: str
    snapshot_id: int | None
    raw_hash: bytes | None  # of the snapshot's bytes, if they are the page's
    newest: bool  # what was saved is newer than what is known

    def has(self, candidate: ImportCandidate) -> bool:
        """Whether the exact same bytes are already the page's content."""
        return self.snapshot_id is not None and self.raw_hash == candidate.raw_hash


@dataclass(frozen=True, slots=True)
class PreparedPage:
    """A page with its state and, unless its bytes are known, its content and archive location."""

    candidate: ImportCandidate
    standing: ExistingPage
    sight: Sight | None = None
    place: Place | None = None
    text: TextPlace | None = None  # None: in PostgreSQL


@dataclass(frozen=True, slots=True)
class Stored:
    """The result of a page: the snapshot that holds it, new, known, or judged useless before."""

    snapshot_id: int
    fresh: bool
    verdict: str | None


async def open_hosts(
    connection: Connection, candidates: Sequence[ImportCandidate], terms: Mapping[str, DomainTerms]
) -> dict[str, int]:
    """The hosts of pages, created where missing; ids by authority."""
    hosts = {candidate.url.authority: candidate for candidate in candidates}
    robots = [f"{candidate.url.origin}/robots.txt" for candidate in hosts.values()]
    await connection.execute(
        OPEN_HOSTS,
        [terms[candidate.domain].id for candidate in hosts.values()],
        list(hosts),
        robots,
        [url_hash(url) for url in robots],
        ROBOTS_PRIORITY,
    )
    return {row["host"]: row["id"] for row in await connection.fetch(HOST_IDS, list(hosts))}


async def known_pages(
    connection: Connection, candidates: Sequence[ImportCandidate]
) -> set[tuple[str, bytes]]:
    """Pages already in the frontier, by host and hash."""
    rows = await connection.fetch(
        KNOWN_PAGES, [c.url.authority for c in candidates], [c.url_hash for c in candidates]
    )
    return {(row["host"], row["url_hash"]) for row in rows}


async def add_pages(
    connection: Connection,
    candidates: Sequence[ImportCandidate],
    hosts: Mapping[str, int],
    terms: Mapping[str, DomainTerms],
) -> None:
    """Create the new pages with their tasks."""
    governing = [terms[candidate.domain] for candidate in candidates]
    await connection.execute(
        ADD,
        [hosts[candidate.url.authority] for candidate in candidates],
        [candidate.url_hash for candidate in candidates],
        [candidate.url.href for candidate in candidates],
        [
            max(domain.frequency - candidate.age, 0.0) if domain.harvests_site else None
            for candidate, domain in zip(candidates, governing, strict=True)
        ],
        DEFAULT_PRIORITY,
    )


async def standings(
    connection: Connection, candidates: Sequence[ImportCandidate], *, lock: bool = False
) -> dict[int, ExistingPage]:
    """States of pages, by candidate index."""
    rows = await connection.fetch(
        LOCKED_STANDING if lock else STANDING,
        [candidate.url.authority for candidate in candidates],
        [candidate.url_hash for candidate in candidates],
        [candidate.age for candidate in candidates],
    )
    return {
        row["place"]: ExistingPage(
            row["id"], row["kind"], row["snapshot_id"], row["raw_hash"], row["newest"]
        )
        for row in rows
    }


async def store(connection: Connection, kept: Sequence[PreparedPage]) -> dict[int, Stored]:
    """Store the snapshots of read pages; returns them by page."""
    new = [(k, k.sight, k.place) for k in kept if k.sight is not None and k.place is not None]
    if not new:
        return {}
    rows = await connection.fetch(
        STORE,
        [k.standing.page_id for k, _, _ in new],
        [sight.content_hash for _, sight, _ in new],
        [sight.data_hash for _, sight, _ in new],
        [k.candidate.raw_hash for k, _, _ in new],
        [place.segment_id for _, _, place in new],
        [place.offset for _, _, place in new],
        [place.length for _, _, place in new],
        [len(k.candidate.page.body) for k, _, _ in new],
        [sight.content_type for _, sight, _ in new],
        [sight.title for _, sight, _ in new],
        [sight.description for _, sight, _ in new],
        [sight.language for _, sight, _ in new],
        [k.candidate.age for k, _, _ in new],
        READER_VERSION,
        *snapshots.text_columns([k.text for k, _, _ in new]),
    )
    taken = {(row["segment_id"], row["segment_offset"]) for row in rows}
    taken |= {(row["text_segment_id"], row["text_offset"]) for row in rows}
    own = [(k.standing.page_id, at) for k, _, at in new]
    own += [(k.standing.page_id, k.text.place) for k, _, _ in new if k.text is not None]
    spare = [(page_id, at) for page_id, at in own if (at.segment_id, at.offset) not in taken]
    await snapshots.spare(connection, spare)
    ids = {row["page_id"]: row["id"] for row in rows if not row["fresh"]}
    mended = [
        (ids[k.standing.page_id], k.text, sight)
        for k, sight, at in new
        if k.standing.page_id in ids and (at.segment_id, at.offset) in taken
    ]
    here = [(number, s.markdown, s.data) for number, text, s in mended if text is None]
    await snapshots.rewrite(connection, here)
    await snapshots.unstore(connection, [n for n, text, _ in mended if text is not None])
    return {row["page_id"]: Stored(row["id"], row["fresh"], row["verdict"]) for row in rows}


async def describe(
    connection: Connection, changed: Sequence[PreparedPage], stored: Mapping[int, Stored]
) -> None:
    """Store texts of new snapshots, and a change for every page whose content differs."""
    if not changed:
        return
    fresh = [
        (stored[k.standing.page_id].snapshot_id, k.sight)
        for k in changed
        if k.sight is not None and k.text is None and stored[k.standing.page_id].fresh
    ]
    await connection.execute(
        DESCRIBE,
        [k.standing.page_id for k in changed],
        [stored[k.standing.page_id].snapshot_id for k in changed],
        ["new" if k.standing.snapshot_id is None else "changed" for k in changed],
        [k.candidate.age for k in changed],
        [snapshot_id for snapshot_id, _ in fresh],
        [sight.markdown for _, sight in fresh],
        [sight.data for _, sight in fresh],
        *snapshots.spare_columns([]),
    )


async def update_tasks(
    connection: Connection, seen: Sequence[tuple[PreparedPage, str, int]]
) -> None:
    """Make saved content current, each page with its outcome and snapshot."""
    if not seen:
        return
    pages = [k.standing.page_id for k, _, _ in seen]
    ids = [snapshot_id for _, _, snapshot_id in seen]
    ages = [k.candidate.age for k, _, _ in seen]
    outcomes = [outcome for _, outcome, _ in seen]
    hashes = [k.candidate.raw_hash for k, _, _ in seen]
    await connection.execute(UPDATE_TASKS, pages, outcomes, ids, hashes, ages)
    await connection.execute(RETURN, pages, ids, ages)
