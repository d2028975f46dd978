"""The known pages of a site, as a list of URLs with titles."""

from __future__ import annotations

from dataclasses import dataclass

from messor.store.database import Database
from messor.web.urls import Url

MOST = 100_000

PAGES = """
SELECT p.id AS page_id, p.url, s.title, s.description
  FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
  JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
 WHERE d.domain = $1 AND ($2::text IS NULL OR h.host = $2)
   AND ($3::text IS NULL OR strpos(lower(p.url || ' ' || coalesce(s.title, '') || ' '
                                         || coalesce(s.description, '')), lower($3)) > 0)
   AND ($4::bool IS NOT TRUE OR strpos(p.url, '?') = 0)
   AND ($5::bool IS NOT TRUE OR p.found_by = 'sitemap' OR p.sitemap_lastmod IS NOT NULL)
   AND ($6::bool IS NOT TRUE OR p.found_by <> 'sitemap')
   AND coalesce(t.outcome, '') NOT IN ('not_found', 'redirected', 'redirected_out')
 ORDER BY p.id LIMIT $7
"""


@dataclass(frozen=True, slots=True)
class MapWish:
    """Which pages of a site are wanted."""

    search: str | None = None
    subdomains: bool = True
    ignores_queries: bool = False
    sitemap: str = "include"  # include, skip or only
    limit: int = 5_000


@dataclass(frozen=True, slots=True)
class MappedPage:
    """A known page."""

    page_id: int
    url: str
    title: str | None
    description: str | None


async def known_pages(database: Database, domain: str, url: Url, wish: MapWish) -> list[MappedPage]:
    """The known pages of a domain or, without subdomains, of a host."""
    rows = await database.fetch(
        PAGES,
        domain,
        None if wish.subdomains else url.authority,
        wish.search,
        wish.ignores_queries,
        wish.sitemap == "only",
        wish.sitemap == "skip",
        min(wish.limit, MOST),
    )
    return [MappedPage(*row) for row in rows]
