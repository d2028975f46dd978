"""Queries of pages: the list for every interface, single pages, and a domain's pages as folders.

Only the first pages of a domain are counted: counting more takes too long for a web page.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from messor.errors import NotFoundError
from messor.frontier import scans
from messor.frontier.categories import CATEGORIES
from messor.frontier.depth import KNOWN_DEPTH_SQL
from messor.frontier.scans import FOUND_ORDER, FrontierFilter
from messor.frontier.task_queries import TaskStatus
from messor.store.listing import Listing, Position, Source, where
from messor.web.urls import Url, url_hash

MAX_FOLDERS = 300
MOST_COUNTED = 4_000  # pages counted: the first that were found

# `provider` delivered the current content, `gate` is what the last fetch failed. The state comes
# from the view, whose clock prevents the planner from inlining it.
BY_ID = f"""
SELECT p.id, d.domain, h.host, p.url, encode(p.url_hash, 'hex') AS url_hash, p.found_by,
       p.found_on, {KNOWN_DEPTH_SQL} AS depth, p.category, p.found_at, p.sitemap_lastmod, t.kind, t.status, t.outcome,
       t.last_http_status, t.last_crawled_at, t.next_crawl_at, t.refusal, t.error_message,
       k.snapshot_id, s.title, coalesce(messor.count_words(x.markdown), s.text_words) AS word_count,
       f.quality_gate_failed AS gate, coalesce(s.provider, f.fetch_provider) AS provider
  FROM messor.crawl_task_status t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.crawl_tasks k ON k.page_id = p.id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.page_snapshots s ON s.id = k.snapshot_id
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = k.snapshot_id
  LEFT JOIN LATERAL (SELECT f.quality_gate_failed, f.fetch_provider FROM messor.http_fetches f
                      WHERE f.page_id = t.page_id ORDER BY f.fetched_at DESC, f.id DESC LIMIT 1) f
         ON true
 WHERE t.page_id = ANY ($1::bigint[]) ORDER BY t.page_id
"""
FIND = """
SELECT p.id FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
 WHERE h.host = $1 AND p.url_hash = $2
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


class PageFilter(FrontierFilter):
    """Filters of pages."""

    category: Literal[CATEGORIES] | None = where("p.category = {}", "Category")  # type: ignore[valid-type]
    kept: bool | None = where("(k.snapshot_id IS NOT NULL) = {}", "With a snapshot")


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page and its state."""

    id: int
    domain: str
    host: str
    url: str
    url_hash: str
    found_by: str
    found_on: int | None
    depth: int | None
    category: str | None
    found_at: datetime
    sitemap_lastmod: datetime | None
    kind: str
    status: TaskStatus
    outcome: str | None
    last_http_status: int | None
    last_crawled_at: datetime | None
    next_crawl_at: datetime | None
    refusal: str | None
    error_message: str | None
    snapshot_id: int | None
    title: str | None
    word_count: int | None
    gate: str | None
    provider: str | None


@dataclass(frozen=True, slots=True)
class UrlFolder:
    """An entry of a folder: a page, or a folder of pages."""

    name: str
    is_folder: bool
    pages: int
    page_id: int  # of one of them
    kept: int  # with content


async def _read(
    source: Source, wanted: PageFilter, _: str, after: Position | None, limit: int
) -> tuple[list[KnownPage], Position | None]:
    found = await scans.scan(source, wanted, after, limit)
    rows = await source.fetch(BY_ID, found.ids) if found.ids else []
    return [KnownPage(**row) for row in rows], found.reached


PAGES = Listing(name="pages", item=KnownPage, filters=PageFilter, orders=FOUND_ORDER, reader=_read)


async def page(source: Source, page_id: int) -> KnownPage:
    rows = await source.fetch(BY_ID, [page_id])
    if not rows:
        raise NotFoundError(f"There is no page {page_id}.")
    return KnownPage(**rows[0])


async def find(source: Source, url: Url) -> int:
    """The page of a URL."""
    page_id: int | None = await source.fetchval(FIND, url.authority, url_hash(url))
    if page_id is None:
        raise NotFoundError(f"{url.href} is unknown.")
    return page_id


async def folders(source: Source, domain: str, within: str = "") -> list[UrlFolder]:
    """The entries of a folder such as `shop.example/blog/`; hosts if none is given."""
    rows = await source.fetch(FOLDERS, domain, MOST_COUNTED, within, MAX_FOLDERS)
    return [UrlFolder(*row) for row in rows]


async def outcomes(source: Source, domain: str) -> dict[str, int]:
    """Number of a domain's pages by last outcome."""
    rows = await source.fetch(OUTCOMES, domain, MOST_COUNTED)
    return {row["outcome"]: row["pages"] for row in rows}
