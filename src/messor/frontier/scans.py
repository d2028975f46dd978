"""Bounded scans of the frontier: which pages or tasks match filters, and where to continue.

The hot tables have no index by status or outcome, as every fetch would pay for it. So a scan reads
a slice of pages in the order they were found, of all, of a domain or of a batch, and reports how
far it got.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from messor.store.listing import DomainText, Filters, Order, Position, Source, Values, all_of, where

OF_ALL = 20_000  # pages per scan if they are adjacent
OF_SOME = 4_000  # if each is looked up

# All adjacent pages are read as one range.
_RANGE = """
WITH edge AS MATERIALIZED (
  SELECT count(*) AS looked, max(s.page_id) AS last FROM (
    SELECT t.page_id FROM messor.crawl_tasks t WHERE t.page_id > {after} ORDER BY t.page_id
     LIMIT {stretch}) s
), fitting AS (
  SELECT k.page_id FROM messor.crawl_tasks k {joined}
   WHERE k.page_id > {after} AND k.page_id <= (SELECT last FROM edge) AND {fits}
   ORDER BY k.page_id LIMIT {limit}
)
"""
_ONE_BY_ONE = """
WITH stretch AS MATERIALIZED ({pages} LIMIT {stretch}), edge AS (
  SELECT count(*) AS looked, max(page_id) AS last FROM stretch
), fitting AS (
  SELECT k.page_id FROM (SELECT page_id FROM stretch ORDER BY page_id) s CROSS JOIN LATERAL (
    SELECT * FROM messor.crawl_tasks t WHERE t.page_id = s.page_id LIMIT 1) k {joined}
   WHERE {fits} ORDER BY s.page_id LIMIT {limit}
)
"""
_ANSWER = """
SELECT e.looked, e.last, coalesce((SELECT array_agg(page_id ORDER BY page_id) FROM fitting), '{{}}') AS ids
  FROM edge e
"""
_HOSTS = """(SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
              WHERE d.domain = {domain}::text)"""
_OF_DOMAIN = f"""
SELECT p.id AS page_id FROM messor.pages p
 WHERE p.host_id = ANY (ARRAY{_HOSTS}) AND p.id > {{after}} ORDER BY p.id"""
_OF_BATCH = """
SELECT b.page_id FROM messor.batch_pages b
 WHERE b.batch_id = {batch}::uuid AND b.page_id > {after} ORDER BY b.page_id"""

FOUND_ORDER = {"id": Order("k.page_id", "bigint", "In the order found")}


class FrontierFilter(Filters):
    """Filters that pages and tasks share: `k` is a page's task, `p` the page."""

    q: str | None = where("strpos(p.url, {}) > 0", "Part of the URL", max_length=500)
    domain: DomainText | None = where("", "Domain")
    outcome: str | None = where(
        "coalesce(k.outcome, 'waiting') = {}", "Last outcome; waiting before the first",
        min_length=1, max_length=100,
    )  # fmt: skip
    kind: str | None = where("k.kind = {}", "Kind of task", min_length=1, max_length=100)
    batch: UUID | None = where("", "Batch")


@dataclass(frozen=True, slots=True)
class PageSlice:
    """Matching pages, and how far the scan got; None at the frontier's end."""

    ids: list[int]
    reached: Position | None


def place_of(page_id: int) -> Position:
    return Position(str(page_id), str(page_id))


async def scan(
    source: Source, wanted: FrontierFilter, after: Position | None, limit: int
) -> PageSlice:
    """The next matching pages, at most `limit`; of a domain, a batch, both or all."""
    values = Values()
    given = {"after": f"{values.add(after.key if after else '0')}::text::bigint"}
    conditions = values.conditions(wanted, without=("domain", "batch"))
    of_some = wanted.domain is not None or wanted.batch is not None
    stretch = OF_SOME if of_some else OF_ALL
    if not conditions and (wanted.domain is None or wanted.batch is None):
        stretch = limit + 1
    form, pages = (_ONE_BY_ONE, _OF_DOMAIN) if of_some else (_RANGE, "")
    if wanted.domain is not None:
        given["domain"] = values.add(wanted.domain)
    if wanted.batch is not None:
        given["batch"] = values.add(wanted.batch)
        pages = _OF_BATCH
        if wanted.domain is not None:
            conditions.append(f"k.host_id IN {_HOSTS.format(**given)}")
    sql = (form + _ANSWER).format(
        **given,
        stretch=stretch,
        limit=limit + 1,
        pages=pages.format(**given),
        fits=all_of(conditions),
        joined="JOIN messor.pages p ON p.id = k.page_id" if _reads_page(wanted) else "",
    )
    row = await source.fetchrow(sql, *values)
    assert row is not None
    ids: list[int] = row["ids"]
    if len(ids) > limit:
        return PageSlice(ids[:limit], place_of(ids[limit - 1]))
    return PageSlice(ids, place_of(row["last"]) if row["looked"] == stretch else None)


def _reads_page(wanted: FrontierFilter) -> bool:
    """Whether a condition refers to the page itself, which its task does not hold."""
    return wanted.q is not None or getattr(wanted, "category", None) is not None
