"""History of one page: its state, changes and requests, and the text of its snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.archive import texts
from messor.errors import NotFoundError
from messor.frontier.depth import KNOWN_DEPTH_SQL
from messor.store.database import Connection, Database

LARGEST = 2**63 - 1

PAGE = f"""
SELECT p.id, p.url, d.domain, h.host, p.found_by, o.id AS found_on_id, o.url AS found_on, {KNOWN_DEPTH_SQL} AS depth,
       p.category, p.found_at, t.kind, t.status, t.outcome, t.priority, t.due_at, t.last_fetched_at,
       t.last_status, t.snapshot_id, t.refusal, t.error_message
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.pages o ON o.id = p.found_on
 WHERE p.id = $1
"""

HAS = "SELECT EXISTS (SELECT FROM messor.page_snapshots WHERE page_id = $1 AND id = $2)"

MOMENTS = """
SELECT * FROM (
  (SELECT c.seen_at AS at, 'change' AS kind, c.state AS what, NULL::int AS status_code, NULL AS detail,
          c.snapshot_id FROM messor.page_changes c WHERE c.page_id = $1
    ORDER BY c.seen_at DESC LIMIT $2)
  UNION ALL
  (SELECT f.fetched_at, 'fetch', f.outcome, f.status_code,
          coalesce(f.error_json ->> 'message', f.quality_gate_failed, f.final_url), NULL
     FROM messor.http_fetches f WHERE f.page_id = $1 ORDER BY f.fetched_at DESC LIMIT $2)
  UNION ALL
  (SELECT d.decided_at, 'decision', d.verdict, NULL, d.rule || ': ' || d.reason, NULL
     FROM messor.decisions d WHERE d.page_id = $1 ORDER BY d.decided_at DESC LIMIT $2)
) m ORDER BY m.at DESC LIMIT $2
"""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """A page's state and last result."""

    id: int
    url: str
    domain: str
    host: str
    found_by: str
    found_on_id: int | None
    found_on: str | None
    depth: int | None  # links from the homepage
    category: str | None
    found_at: datetime
    kind: str | None
    status: str | None
    outcome: str | None
    priority: int | None
    due_at: datetime | None
    last_fetched_at: datetime | None
    last_status: int | None
    snapshot_id: int | None
    refusal: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class TextBeginning:
    """The beginning of a snapshot's markdown."""

    markdown: str
    length: int  # of all of it

    @property
    def is_cut(self) -> bool:
        return self.length > len(self.markdown)


@dataclass(frozen=True, slots=True)
class PageEvent:
    """An event of a page: a change, a fetch or a refusal."""

    at: datetime
    kind: str
    what: str
    status_code: int | None
    detail: str | None
    snapshot_id: int | None


async def page(source: Connection | Database, page_id: int) -> PageFacts:
    row = await source.fetchrow(PAGE, page_id) if 0 < page_id <= LARGEST else None
    if row is None:
        raise NotFoundError("Unknown page; it may have been purged.")
    return PageFacts(**row)


async def text(
    source: Connection | Database, page_id: int, snapshot_id: int, most: int
) -> TextBeginning:
    """The first `most` characters of a snapshot of this page."""
    is_known = 0 < snapshot_id <= LARGEST and await source.fetchval(HAS, page_id, snapshot_id)
    if not is_known:
        raise NotFoundError("This page has no such snapshot.")
    whole = await texts.markdown(source, snapshot_id)
    return TextBeginning(whole[:most], len(whole))  # hostile pages are long


async def moments(source: Connection | Database, page_id: int, limit: int = 60) -> list[PageEvent]:
    """Events of a page, newest first."""
    return [PageEvent(**row) for row in await source.fetch(MOMENTS, page_id, limit)]
