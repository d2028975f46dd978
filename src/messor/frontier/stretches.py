"""Bounded scans of the frontier: which pages or tasks match a filter, and where to continue.

The hot tables have no index by status or outcome, as every fetch would pay for it. So a scan reads
a slice of pages in the order they were found, of all, of a domain or of a batch, and reports how
far it got.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from messor.store.database import Connection, Database

OF_ALL = 20_000  # pages per scan if they are adjacent
OF_SOME = 4_000  # if each is looked up

# All adjacent pages are read as one range.
_RANGE = """
WITH edge AS MATERIALIZED (
  SELECT count(*) AS looked, max(s.page_id) AS last FROM (
    SELECT t.page_id FROM messor.crawl_tasks t WHERE t.page_id > $1 ORDER BY t.page_id LIMIT $2) s
){beside}, fitting AS (
  SELECT k.page_id FROM messor.crawl_tasks k {joined}
   WHERE k.page_id > $1 AND k.page_id <= (SELECT last FROM edge) AND {fits}
   ORDER BY k.page_id LIMIT $3
)
"""
_ONE_BY_ONE = """
WITH stretch AS MATERIALIZED ({pages} LIMIT $2), edge AS (
  SELECT count(*) AS looked, max(page_id) AS last FROM stretch
){beside}, fitting AS (
  SELECT k.page_id FROM (SELECT page_id FROM stretch ORDER BY page_id) s CROSS JOIN LATERAL (
    SELECT * FROM messor.crawl_tasks t WHERE t.page_id = s.page_id LIMIT 1) k {joined}
   WHERE {fits} ORDER BY s.page_id LIMIT $3
)
"""
_ANSWER = """
SELECT e.looked, e.last, coalesce((SELECT array_agg(page_id ORDER BY page_id) FROM fitting), '{{}}') AS ids
  FROM edge e
"""
_HOSTS = """(SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
              WHERE d.domain = $4::text)"""
_OF_DOMAIN = f"""
SELECT p.id AS page_id FROM messor.pages p
 WHERE p.host_id = ANY (ARRAY{_HOSTS}) AND p.id > $1 ORDER BY p.id"""
_OF_BATCH = """
SELECT b.page_id FROM messor.batch_pages b
 WHERE b.batch_id = $5::uuid AND b.page_id > $1 ORDER BY b.page_id"""


@dataclass(frozen=True, slots=True)
class PageSlice:
    """Matching pages, and how far the scan got; None at the frontier's end."""

    ids: list[int]
    reached: int | None


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """A condition on each page or task: SQL over its task `k`, with parameters from $6 on."""

    fits: str
    values: tuple[Any, ...] = ()
    joined: str = ""
    beside: str = ""  # further parts of the WITH


EVERY = TaskFilter("true")


async def look(
    source: Connection | Database,
    wanted: TaskFilter,
    *,
    after: int,
    limit: int,
    domain: str | None = None,
    batch_id: UUID | None = None,
    stretch: int | None = None,
) -> PageSlice:
    """The next matching pages, at most `limit`; of a domain, a batch, both or all."""
    if stretch is None:
        stretch = OF_SOME if domain is not None or batch_id is not None else OF_ALL
    if wanted is EVERY and (domain is None or batch_id is None):
        stretch = limit + 1
    sql = _statement(wanted, domain, batch_id)
    row = await source.fetchrow(sql, after, stretch, limit + 1, domain, batch_id, *wanted.values)
    assert row is not None
    ids: list[int] = row["ids"]
    if len(ids) > limit:
        return PageSlice(ids[:limit], ids[limit - 1])
    return PageSlice(ids, row["last"] if row["looked"] == stretch else None)


def _statement(wanted: TaskFilter, domain: str | None, batch_id: UUID | None) -> str:
    # Every statement takes the same parameters, used or not.
    fits = f"({wanted.fits}) AND ($4::text IS NULL OR true) AND ($5::uuid IS NULL OR true)"
    if batch_id is not None:
        form, pages = _ONE_BY_ONE, _OF_BATCH
        if domain is not None:
            fits += f" AND k.host_id IN {_HOSTS}"
    elif domain is not None:
        form, pages = _ONE_BY_ONE, _OF_DOMAIN
    else:
        form, pages = _RANGE, ""
    given = {"pages": pages, "fits": fits, "joined": wanted.joined, "beside": wanted.beside}
    return (form + _ANSWER).format(**given)
