"""A past or current run, reconstructed from stored data.

Each page of its plan with its result and, for a run that did not succeed, the guidance in the words
of `guidance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from messor.ingest.guidance import guidance_of, unreachable
from messor.ingest.queries import IngestionRun
from messor.ingest.result import Circumstances, IngestedPage, PlannedPageResult, result_of
from messor.store.database import Connection, Database

# The result of each page at the run's end; a later fetch does not change it.
PLAN = """
SELECT i.page_id, p.url, i.reason, i.cached, t.refusal, t.error_message, t.snapshot_id,
       f.outcome, f.status_code, f.error_json ->> 'message' AS error, f.fetched_at,
       t.outcome AS task_outcome
  FROM messor.ingestion_pages i JOIN messor.ingestion_runs r ON r.id = i.run_id
  LEFT JOIN messor.pages p ON p.id = i.page_id
  LEFT JOIN messor.crawl_tasks t ON t.page_id = i.page_id
  LEFT JOIN LATERAL (
    SELECT * FROM messor.http_fetches f
     WHERE f.page_id = i.page_id AND f.fetched_at >= r.started_at
       AND f.fetched_at <= coalesce(r.completed_at, 'infinity')
     ORDER BY f.fetched_at DESC, f.id DESC LIMIT 1) f ON true
 WHERE i.run_id = $1 ORDER BY i.position LIMIT 100
"""
HOSTS = """
SELECT h.host, h.cooldown_until > messor.clock() AS silent, h.cooldown_reason,
       r.verdict = 'deny_all' AS refused, r.reason, r.status_code,
       (SELECT f.error_json ->> 'message' FROM messor.http_fetches f WHERE f.host_id = h.id
         ORDER BY f.fetched_at DESC LIMIT 1) AS error,
       EXISTS (SELECT FROM messor.worker_leases
                WHERE ended_at IS NULL AND expires_at > messor.clock()) AS has_worker
  FROM messor.ingestion_runs g JOIN messor.hosts h ON h.domain_id = g.domain_id
  LEFT JOIN messor.robots_files r ON r.id = h.robots_id
 WHERE g.id = $1 ORDER BY h.id LIMIT 20
"""


@dataclass(frozen=True, slots=True)
class ReviewedPage:
    """A page of the plan for display; an erased page has no address."""

    page_id: int
    url: str | None
    reason: str
    cached: bool
    result: PlannedPageResult
    outcome: str | None
    status: int | None
    message: str | None


async def plan(source: Connection | Database, run: IngestionRun) -> list[ReviewedPage]:
    """The pages that the run planned, in its order."""
    return [_page(row) for row in await source.fetch(PLAN, run.id)]


async def guidance(
    source: Connection | Database, run: IngestionRun, pages: list[ReviewedPage]
) -> list[str]:
    """What prevented success, and the current state of its hosts.

    Empty for a run that succeeded.
    """
    if run.outcome in (None, "success"):
        return []
    if error := (run.evidence or {}).get("error"):
        return list(error["guidance"])
    rows = await source.fetch(HOSTS, run.id)
    marks: dict[str, Any] = (run.evidence or {}).get("nm_ingest", {})
    met = Circumstances(
        list(marks.get("frictionSignals", [])),
        int(marks.get("domainRiskScore", 0)),
        [
            f"{row['host']} is not contacted for now: {row['cooldown_reason']}"
            for row in rows
            if row["silent"] and not row["refused"]
        ],
        [row["reason"] for row in rows if row["refused"] and row["status_code"] is not None],
        [
            unreachable(row["host"], row["reason"], row["error"])
            for row in rows
            if row["refused"] and row["status_code"] is None
        ],
        has_worker=all(row["has_worker"] for row in rows),
    )
    return guidance_of([_ingested(page) for page in pages], met, out_of_time=False)


def _page(row: Any) -> ReviewedPage:
    refused = row["fetched_at"] is None and row["refusal"] is not None and not row["cached"]
    outcome = row["outcome"] or (row["task_outcome"] if row["cached"] or refused else None)
    answered = row["cached"] or row["fetched_at"] is not None
    result = result_of(
        outcome, answered=answered, refused=refused, good=row["snapshot_id"] is not None
    )
    message = row["refusal"] if refused else row["error"] or row["error_message"]
    if result in (PlannedPageResult.USED, PlannedPageResult.REDIRECTED):
        message = None
    return ReviewedPage(
        row["page_id"], row["url"], row["reason"], row["cached"], result, outcome,
        row["status_code"], message,
    )  # fmt: skip


def _ingested(page: ReviewedPage) -> IngestedPage:
    return IngestedPage(
        page.url or "", page.result, page.outcome, page.status, page.reason, page.cached,
        not page.cached, page.message,
    )  # fmt: skip
