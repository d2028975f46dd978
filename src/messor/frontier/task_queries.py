"""Queries of crawl tasks: the list for every interface, and single tasks.

A task's status also depends on its lane and domain: the scan skips what cannot match, and the view
then decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from messor.errors import NotFoundError
from messor.frontier import cadence, scans
from messor.frontier.cadence import CrawlFrequency
from messor.frontier.scans import FOUND_ORDER, FrontierFilter
from messor.frontier.tasks import seconds_of
from messor.store.listing import Listing, Position, Source, where

SPARE = 200  # tasks read in full beyond those wanted, as the view may exclude some

TaskStatus = Literal[
    "pending", "queued", "crawling", "downloaded", "parsing", "completed", "failed", "skipped",
    "paused", "cancelled",
]  # fmt: skip

# The state of selected rows comes from the view, whose clock prevents the planner from inlining
# it.
BY_ID = """
SELECT t.page_id, d.domain, t.url, t.kind, t.status, t.outcome, t.priority, t.retry_count,
       t.max_retries, t.scheduled_at, t.next_crawl_at, t.last_crawled_at, t.completed_at,
       t.crawl_frequency, t.track_level, d.track_interval, t.scrape_frequency_hours, t.history, t.last_http_status,
       t.refusal, t.error_message, k.next_provider, t.error_category, t.rounds
  FROM messor.crawl_task_status t JOIN messor.domains d ON d.id = t.domain_id
  JOIN messor.crawl_tasks k ON k.page_id = t.page_id
 WHERE t.page_id = ANY ($1::bigint[]) ORDER BY t.page_id
"""
_DUE = "k.due_at <= (SELECT messor.clock())"
_UNREAD = "(ARRAY(SELECT q.page_id FROM messor.extraction_due q WHERE q.cause = 'page'))"
_LEASED = "(ARRAY(SELECT l.host_id FROM messor.lanes l WHERE l.worker_id IS NOT NULL))"
_HALTED = """(ARRAY(SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
                     WHERE NOT d.active))"""


class TaskFilter(FrontierFilter):
    """Filters of crawl tasks."""

    # What each status of the view can be derived from.
    status: TaskStatus | None = where(
        {
            "queued": f"{_DUE} AND k.host_id <> ALL {_LEASED}",
            "crawling": f"{_DUE} AND k.host_id = ANY {_LEASED}",
            "paused": f"k.status = 'paused' OR k.host_id = ANY {_HALTED}",
            "pending": "k.status = 'pending'",
            "downloaded": f"k.status = 'completed' AND k.page_id = ANY {_UNREAD}",
            "parsing": f"k.status = 'completed' AND k.page_id = ANY {_UNREAD}",
            "completed": "k.status = 'completed'",
            "failed": "k.status = 'failed'",
            "skipped": "k.status = 'skipped'",
            "cancelled": "k.status = 'cancelled'",
        },
        "Status",
    )


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A crawl task and its state."""

    page_id: int
    domain: str
    url: str
    kind: str
    status: TaskStatus
    outcome: str | None
    priority: int
    retry_count: int
    max_retries: int
    scheduled_at: datetime | None
    next_crawl_at: datetime | None
    last_crawled_at: datetime | None
    completed_at: datetime | None
    crawl_frequency: timedelta | None
    track_level: str | None
    track_interval: timedelta | None
    scrape_frequency_hours: int | None
    history: int  # one bit per check, set where it found a change
    last_http_status: int | None
    refusal: str | None
    error_message: str | None
    next_provider: str | None  # tried first next time, in place of HTTP
    error_category: str | None
    rounds: int  # consecutive, that failed for good
    rhythm: str  # how often it is crawled, and why
    skip: dict[str, Any] | None  # why it was skipped: the rule, and what robots.txt decided

    @property
    def frequency(self) -> CrawlFrequency:
        return _frequency(
            self.crawl_frequency,
            self.track_level,
            self.scrape_frequency_hours,
            self.history,
            self.track_interval,
        )


def _frequency(
    own: timedelta | None,
    track_level: str | None,
    hours: int | None,
    history: int,
    track_interval: timedelta | None,
) -> CrawlFrequency:
    return CrawlFrequency(
        seconds_of(own),
        track_level,
        hours * cadence.HOUR if hours else None,
        history,
        seconds_of(track_interval),
    )


def _task(row: Mapping[str, Any]) -> KnownTask:
    names = (
        "crawl_frequency",
        "track_level",
        "scrape_frequency_hours",
        "history",
        "track_interval",
    )
    rhythm = cadence.explain(_frequency(*(row[name] for name in names)))
    return KnownTask(**row, rhythm=rhythm, skip=_skip(row["status"], row["refusal"]))


def _skip(status: str, refusal: str | None) -> dict[str, Any] | None:
    """The refusal of a skipped task as JSON, in the shape of the AMI specification, section 3.2."""
    if status != "skipped" or refusal is None:
        return None
    rule, _, reason = refusal.partition(": ")
    if rule == "robots":
        return {"skip_reason": rule, "robots_decision": {"allowed": False, "reason": reason}}
    return {"skip_reason": rule, "reason": reason}


async def _read(
    source: Source, wanted: TaskFilter, _: str, after: Position | None, limit: int
) -> tuple[list[KnownTask], Position | None]:
    is_exact = wanted.status is None
    found = await scans.scan(source, wanted, after, limit if is_exact else limit + SPARE)
    rows = await source.fetch(BY_ID, found.ids) if found.ids else []
    tasks = [_task(row) for row in rows if is_exact or row["status"] == wanted.status]
    if len(tasks) > limit:
        return tasks[:limit], scans.place_of(tasks[limit - 1].page_id)
    return tasks, found.reached


TASKS = Listing(name="tasks", item=KnownTask, filters=TaskFilter, orders=FOUND_ORDER, reader=_read)


async def task(source: Source, page_id: int) -> KnownTask:
    rows = await source.fetch(BY_ID, [page_id])
    if not rows:
        raise NotFoundError(f"There is no task of a page {page_id}.")
    return _task(rows[0])
