"""Queries of batches and their rejected lines: the lists for every interface, and single batches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.errors import NotFoundError
from messor.frontier.batch_lines import BadLine
from messor.store.listing import Filters, Listing, Order, Source, where

COUNTED = 500  # pages of a batch that are counted exactly
PROBES = 200  # sample size for a larger one


def fetched_since(counted: int = COUNTED, probes: int = PROBES) -> str:
    """Joins how many pages of a batch `k` were fetched since it was submitted, as `f`.

    For a large batch that is estimated from a sample.
    """
    return f"""CROSS JOIN LATERAL (
   SELECT count(*) AS looked, count(*) FILTER (WHERE t.last_fetched_at >= k.created_at) AS fetched,
          k.accepted > {counted} AS is_reckoned
     FROM (SELECT b.page_id FROM messor.batch_pages b
            WHERE b.batch_id = k.id AND k.accepted <= {counted}
           UNION ALL
           SELECT n.page_id FROM (
             SELECT min(b.page_id) AS least, max(b.page_id) AS most
               FROM messor.batch_pages b WHERE b.batch_id = k.id AND k.accepted > {counted}) e
            CROSS JOIN generate_series(0, {probes} - 1) i
            CROSS JOIN LATERAL (SELECT b.page_id FROM messor.batch_pages b
                   WHERE b.batch_id = k.id
                     AND b.page_id >= e.least + (e.most - e.least) * i / ({probes} - 1)
                   ORDER BY b.page_id LIMIT 1) n) p
    CROSS JOIN LATERAL (
      SELECT c.last_fetched_at FROM messor.crawl_tasks c WHERE c.page_id = p.page_id LIMIT 1) t) f"""


class BatchFilter(Filters):
    """Filters of batches."""

    q: str | None = where(
        "strpos(lower(k.name), lower({})) > 0", "Part of the name", max_length=200
    )


class BatchErrorFilter(Filters):
    """Filters of rejected lines."""

    batch_id: UUID | None = where("e.batch_id = {}", "Batch")


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """A batch and its results."""

    id: UUID
    name: str
    submitted_by: str
    source: str
    format: str
    lines: int
    accepted: int
    fresh: int
    duplicates: int
    rejected: int
    created_at: datetime
    finished_at: datetime | None
    fetched: int
    is_reckoned: bool  # estimated from a sample


_COLUMNS = """k.id, k.name, k.submitted_by, k.source, k.format, k.lines, k.accepted, k.fresh,
       k.duplicates, k.rejected, k.created_at, k.finished_at, f.is_reckoned,
       CASE WHEN f.is_reckoned THEN round(k.accepted * f.fetched / greatest(f.looked, 1)::numeric)::bigint
            ELSE f.fetched END AS fetched"""
BATCH = f"SELECT {_COLUMNS} FROM messor.task_batches k {{joins}} WHERE k.id = $1"

BATCHES = Listing(
    name="batches",
    item=TaskBatch,
    filters=BatchFilter,
    table="messor.task_batches",
    alias="k",
    columns=_COLUMNS,
    joins=fetched_since(),
    key_type="uuid",
    orders={"-created_at": Order("k.created_at", "timestamptz", "Newest first", descending=True)},
)

BATCH_ERRORS = Listing(
    name="batch errors",
    item=BadLine,
    filters=BatchErrorFilter,
    table="messor.batch_errors",
    alias="e",
    columns="e.line, e.text, e.reason",
    key="line",
    key_type="integer",
    orders={"line": Order("e.line", "integer", "In the order of lines")},
)


async def batch(source: Source, batch_id: UUID, joins: str = BATCHES.joins) -> TaskBatch:
    row = await source.fetchrow(BATCH.format(joins=joins), batch_id)
    if row is None:
        raise NotFoundError(f"There is no batch {batch_id}: messor tasks batches")
    return TaskBatch(**row)
