"""Looking through a domain's pages: as a list that is searched, and as folders of their addresses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.store.database import Connection, Database

MOST_FOLDERS = 300

LIST = """
SELECT p.id, p.url, t.status, t.outcome, t.last_status, t.last_fetched_at, t.due_at, p.depth,
       p.found_by, p.category, t.refusal, t.error_message, s.title, s.crawled_at
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
 WHERE h.domain_id = $1 AND t.kind = 'page' AND p.id > $2
   AND ($3::text IS NULL OR strpos(p.url, $3) > 0)
   AND ($4::text IS NULL OR coalesce(t.outcome, 'waiting') = $4)
   AND (NOT $5 OR t.snapshot_id IS NOT NULL)
 ORDER BY p.id LIMIT $6
"""

# Addresses without their scheme, cut at the slash after the folder that is looked into.
FOLDERS = """
SELECT n.name, n.is_folder, count(*)::int AS pages, min(n.id) AS page_id,
       count(*) FILTER (WHERE n.is_kept)::int AS kept
  FROM (SELECT a.id, a.is_kept, split_part(substr(a.rest, length($2) + 1), '/', 1) AS name,
               strpos(substr(a.rest, length($2) + 1), '/') > 0 AS is_folder
          FROM (SELECT p.id, split_part(split_part(substring(p.url FROM '://(.*)$'), '?', 1), '#', 1)
                         AS rest, t.snapshot_id IS NOT NULL AS is_kept
                  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
                  JOIN messor.crawl_tasks t ON t.page_id = p.id
                 WHERE h.domain_id = $1 AND t.kind = 'page') a
         WHERE starts_with(a.rest, $2)) n
 GROUP BY 1, 2 ORDER BY 2 DESC, 3 DESC, 1 LIMIT $3
"""

OUTCOMES = """
SELECT coalesce(t.outcome, 'waiting') AS outcome, count(*)::int AS pages
  FROM messor.hosts h JOIN messor.crawl_tasks t ON t.host_id = h.id
 WHERE h.domain_id = $1 AND t.kind = 'page' GROUP BY 1 ORDER BY 2 DESC, 1
"""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """One row of the list."""

    id: int
    url: str
    status: str
    outcome: str | None
    last_status: int | None
    last_fetched_at: datetime | None
    due_at: datetime | None
    depth: int
    found_by: str
    category: str | None
    refusal: str | None
    error_message: str | None
    title: str | None
    crawled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Folder:
    """What lies at one place of a site: a page, or a folder of many."""

    name: str
    is_folder: bool
    pages: int
    page_id: int  # of one of them
    kept: int  # with content


async def pages(
    source: Connection | Database,
    domain_id: UUID,
    *,
    after: int = 0,
    containing: str | None = None,
    outcome: str | None = None,
    kept: bool = False,
    limit: int = 50,
) -> list[ListedPage]:
    """Pages in the order they were found; `after` is the last one seen."""
    rows = await source.fetch(LIST, domain_id, after, containing, outcome, kept, limit)
    return [ListedPage(*row) for row in rows]


async def folders(source: Connection | Database, domain_id: UUID, within: str = "") -> list[Folder]:
    """What lies in a folder such as `shop.example/blog/`; hosts when none is named."""
    return [Folder(*row) for row in await source.fetch(FOLDERS, domain_id, within, MOST_FOLDERS)]


async def outcomes(source: Connection | Database, domain_id: UUID) -> dict[str, int]:
    """A domain's pages by what came of their last fetch."""
    return {row["outcome"]: row["pages"] for row in await source.fetch(OUTCOMES, domain_id)}
