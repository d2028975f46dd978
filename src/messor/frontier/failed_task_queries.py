"""The dead letters of crawling: tasks that failed for good, with the reason.

A page of a site comes back at its usual cadence for a few rounds and then rests, until a person or a
changed sitemap asks for it; see `frontier.cadence`. Retrying is left to `frontier.control`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from messor.core.masking import mask_text
from messor.ledger.errors import Category
from messor.store.listing import Age, DomainText, Filters, Listing, both_ways, where

_HOSTS = """ARRAY(SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
              WHERE d.domain = {}::text)"""


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A task that failed for good."""

    page_id: int
    domain: str
    url: str
    kind: str
    category: str | None
    outcome: str | None
    http_status: int | None
    reason: str | None
    tries: int
    rounds: int  # consecutive, that failed for good
    failed_at: datetime
    next_crawl_at: datetime | None  # None: it rests


class FailedTaskFilter(Filters):
    """Filters of failed tasks."""

    domain: DomainText | None = where(f"t.host_id = ANY ({_HOSTS})", "Domain")
    category: Category | None = where("t.error_category = {}", "Error category")
    pattern: str | None = where(
        "strpos(messor.error_pattern(t.error_message), messor.error_pattern({})) > 0",
        "Part of an error pattern or message",
        min_length=1,
        max_length=1_000,
    )
    resting: bool | None = where("(t.due_at IS NULL) = {}", "Rests until somebody asks for it")
    older_than: Age | None = where(
        "t.last_fetched_at <= (SELECT messor.clock()) - {}::interval", "Minimum age: 90m, 12h, 7d"
    )


def _failed_task(row: Mapping[str, Any]) -> FailedTask:
    reason = row["reason"]
    return FailedTask(**{**row, "reason": reason and mask_text(reason)})


FAILED_TASKS = Listing(
    name="failed tasks",
    item=FailedTask,
    filters=FailedTaskFilter,
    table="messor.crawl_tasks",
    alias="t",
    only="t.status = 'failed' AND t.last_fetched_at IS NOT NULL",
    key="page_id",
    columns="""t.page_id, d.domain, p.url, t.kind, t.error_category AS category, t.outcome,
               t.last_status AS http_status, t.error_message AS reason, t.retry_count AS tries,
               t.rounds, t.last_fetched_at AS failed_at, t.due_at AS next_crawl_at""",
    joins="""JOIN messor.pages p ON p.id = t.page_id JOIN messor.hosts h ON h.id = t.host_id
             JOIN messor.domains d ON d.id = h.domain_id""",
    orders=both_ways(
        "-failed_at", "t.last_fetched_at", "timestamptz", "Newest first", "Oldest first"
    ),
    make=_failed_task,
)
