"""Browsing a domain's pages: as a searchable list, and as folders of their URLs.

Only the first pages of a domain are counted: counting more takes too long for a web page.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.frontier import stretches
from messor.frontier.depth import KNOWN_DEPTH_SQL
from messor.frontier.page_stretches import PageFilter
from messor.store.database import Connection, Database

MAX_FOLDERS = 300
MOST_COUNTED = 4_000  # pages counted: the first that were found

LIST = f"""
SELECT p.id, p.url, t.status, t.outcome, t.last_status, t.last_fetched_at, t.due_at,
       {KNOWN_DEPTH_SQL} AS depth, p.found_by, p.category, t.refusal, t.error_message, s.title, s.crawled_at
  FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
 WHERE p.id = ANY ($1::bigint[]) ORDER BY p.id
"""

# $1 a domain's name, $2 the limit.
FIRST = """
WITH first AS MATERIALIZED (
  SELECT p.id FROM messor.pages p
   WHERE p.host_id = ANY (ARRAY(SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
                                 WHERE d.domain = $1))
   ORDER BY p.id LIMIT $2
)"""

# URLs without their scheme, cut at the slash after the current folder.
FOLDERS = f"""{FIRST}
SELECT n.name, n.is_folder, count(*)::int AS pages, min(n.id) AS page_id,
       count(*) FILTER (WHERE n.is_kept)::int AS kept
  FROM (SELECT a.id, a.is_kept, split_part(substr(a.rest, length($3) + 1), '/', 1) AS name,
               strpos(substr(a.rest, length($3) + 1), '/') > 0 AS is_folder
          FROM (SELECT p.id, split_part(split_part(substr(p.url, strpos(p.url, '://') + 3), '?', 1), '#', 1)
                         AS rest, t.is_kept
                  FROM first f JOIN messor.pages p ON p.id = f.id
                 CROSS JOIN LATERAL (SELECT k.kind, k.snapshot_id IS NOT NULL AS is_kept
                                       FROM messor.crawl_tasks k WHERE k.page_id = f.id LIMIT 1) t
                 WHERE t.kind = 'page') a
         WHERE starts_with(a.rest, $3)) n
 GROUP BY 1, 2 ORDER BY 2 DESC, 3 DESC, 1 LIMIT $4
"""

OUTCOMES = f"""{FIRST}
SELECT coalesce(t.outcome, 'waiting') AS outcome, count(*)::int AS pages
  FROM first f CROSS JOIN LATERAL (
    SELECT k.kind, k.outcome FROM messor.crawl_tasks k WHERE k.page_id = f.id LIMIT 1) t
 WHERE t.kind = 'page' GROUP BY 1 ORDER BY 2 DESC, 1
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
    depth: int | None
    found_by: str
    category: str | None
    refusal: str | None
    error_message: str | None
    title: str | None
    crawled_at: datetime | None


@dataclass(frozen=True, slots=True)
class UrlFolder:
    """An entry of a folder: a page, or a folder of pages."""

    name: str
    is_folder: bool
    pages: int
    page_id: int  # of one of them
    kept: int  # with content


@dataclass(frozen=True, slots=True)
class PageListSlice:
    """Matching pages, and where the next slice begins; None at the domain's end."""

    pages: list[ListedPage]
    reached: int | None


async def pages(
    source: Connection | Database,
    domain: str,
    *,
    after: int = 0,
    containing: str | None = None,
    outcome: str | None = None,
    kept: bool = False,
    limit: int = 50,
) -> PageListSlice:
    """Pages in the order they were found; `after` is the last one seen."""
    wanted = PageFilter(outcome, None, "page", containing, kept)
    look = await stretches.look(source, wanted.as_filter(), after=after, limit=limit, domain=domain)
    rows = await source.fetch(LIST, look.ids) if look.ids else []
    return PageListSlice([ListedPage(*row) for row in rows], look.reached)


async def folders(source: Connection | Database, domain: str, within: str = "") -> list[UrlFolder]:
    """The entries of a folder such as `shop.example/blog/`; hosts if none is given."""
    rows = await source.fetch(FOLDERS, domain, MOST_COUNTED, within, MAX_FOLDERS)
    return [UrlFolder(*row) for row in rows]


async def outcomes(source: Connection | Database, domain: str) -> dict[str, int]:
    """Number of a domain's pages by last outcome."""
    rows = await source.fetch(OUTCOMES, domain, MOST_COUNTED)
    return {row["outcome"]: row["pages"] for row in rows}
