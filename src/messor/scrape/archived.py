"""What the archive holds of a URL: one statement for the page and its snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.store.database import Connection, Database
from messor.web.urls import Url, http_twin, parse, url_hash

_COLUMNS = """p.id AS page_id, p.url, d.domain, d.status AS domain_status, s.id AS snapshot_id, s.status_code, s.content_type,
       s.title, s.description, s.language, s.provider, s.crawled_at, g.name AS segment, s.segment_offset, s.segment_length, s.misfiled_at"""
_JOINS = """
  LEFT JOIN messor.segments g ON g.id = s.segment_id"""

# The URL as given comes first, then the http twin of a host that has no https.
NEWEST = f"""
SELECT {_COLUMNS}, t.outcome, t.last_fetched_at AS seen_at,
       extract(epoch FROM messor.clock() - t.last_fetched_at)::float8 AS age
  FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS w (host, url_hash, place)
  JOIN messor.hosts h ON h.host = w.host
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = w.url_hash
  JOIN messor.domains d ON d.id = h.domain_id
  JOIN messor.crawl_tasks t ON t.page_id = p.id
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id AND s.verdict IS NULL
{_JOINS}
 ORDER BY w.place LIMIT 1
"""
# The newest one that was taken before a moment: what the page said then.
BEFORE = f"""
SELECT {_COLUMNS}, NULL AS outcome, s.crawled_at AS seen_at,
       extract(epoch FROM messor.clock() - s.crawled_at)::float8 AS age
  FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS w (host, url_hash, place)
  JOIN messor.hosts h ON h.host = w.host
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = w.url_hash
  JOIN messor.domains d ON d.id = h.domain_id
  JOIN messor.page_snapshots s ON s.page_id = p.id AND s.verdict IS NULL
{_JOINS}
 WHERE s.crawled_at <= messor.clock() - make_interval(secs => $3)
 ORDER BY w.place, s.crawled_at DESC LIMIT 1
"""
BY_ID = f"""
SELECT {_COLUMNS}, t.outcome, coalesce(t.last_fetched_at, s.crawled_at) AS seen_at,
       extract(epoch FROM messor.clock() - coalesce(t.last_fetched_at, s.crawled_at))::float8 AS age
  FROM unnest($1::bigint[]) WITH ORDINALITY AS w (id, place)
  JOIN messor.page_snapshots s ON s.id = w.id JOIN messor.pages p ON p.id = s.page_id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.snapshot_id = s.id
{_JOINS}
 ORDER BY w.place
"""
# How the page stood before this snapshot.
HISTORY = """
SELECT c.seen_at, c.snapshot_id FROM messor.page_changes c
 WHERE c.page_id = $1 ORDER BY c.seen_at DESC LIMIT 2
"""


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    """A page's snapshot, with where its bytes are."""

    page_id: int
    url: str
    domain: str
    domain_status: str
    snapshot_id: int
    status_code: int
    content_type: str | None
    title: str | None
    description: str | None
    language: str | None
    provider: str
    crawled_at: datetime
    segment: str | None
    segment_offset: int
    segment_length: int
    misfiled_at: datetime | None
    outcome: str | None  # of the last fetch, if this is still the newest
    seen_at: datetime  # when the site last confirmed it
    age: float  # seconds since then


def _keys(url: Url) -> tuple[list[str], list[bytes]]:
    twin = http_twin(url.href) if url.scheme == "https" else None
    urls = [url, twin] if twin is not None else [url]
    return [each.authority for each in urls], [url_hash(each) for each in urls]


async def newest(source: Connection | Database, url: Url) -> SnapshotPage | None:
    """The newest good snapshot of a URL."""
    row = await source.fetchrow(NEWEST, *_keys(url))
    return None if row is None else SnapshotPage(*row)


async def before(source: Connection | Database, url: Url, seconds: float) -> SnapshotPage | None:
    """The newest good snapshot of a URL that is at least so old."""
    row = await source.fetchrow(BEFORE, *_keys(url), seconds)
    return None if row is None else SnapshotPage(*row)


async def by_ids(source: Connection | Database, ids: list[int]) -> list[SnapshotPage]:
    """Snapshots by id, in that order; erased ones are missing."""
    return [SnapshotPage(*row) for row in await source.fetch(BY_ID, ids)]


def understand(text: str) -> Url | None:
    """A URL as programs write it; a bare name gets https."""
    text = text.strip()
    return parse(text if "://" in text else f"https://{text}")
