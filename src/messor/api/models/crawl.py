"""Tasks, batches, pages, snapshots and fetches in the API."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from messor.api.models.base import Address, In, Out, text

TaskAct = Literal["pause", "resume", "stop", "retry", "recrawl"]
TaskStatus = Literal["pending", "completed", "failed", "paused", "cancelled", "queued", "crawling"]
Every = Annotated[str, text(30, 1)]


class TaskOut(Out):
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
    last_http_status: int | None
    refusal: str | None
    error_message: str | None


class ActIn(In):
    """An action on tasks."""

    act: TaskAct


class ScopedActIn(ActIn):
    """Exactly one of url, batch, domain and everything."""

    url: Address | None = None
    batch: UUID | None = None
    domain: Address | None = None
    everything: bool = False


class DoneOut(Out):
    act: TaskAct
    scope: Literal["url", "batch", "domain", "all"]
    name: str
    tasks: int = Field(description="Number of changed tasks")


class BatchUrlIn(In):
    url: Address
    priority: int | None = Field(None, ge=1, le=10)
    every: Every | None = None


class BatchIn(In):
    """A batch of URLs to crawl."""

    name: Annotated[str, text(200, 1)]
    priority: int = Field(5, ge=1, le=10, description="1 is the highest")
    every: Every | None = Field(None, description="Crawl frequency: 12h, 7d, weekly …")
    urls: list[Address | BatchUrlIn] = Field(min_length=1, max_length=5_000)


class BadLineOut(Out):
    line: int
    text: str
    reason: str


class BatchOut(Out):
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
    fetched: int = Field(
        description="Fetched pages among the accepted; an estimate for large batches"
    )
    is_reckoned: bool = Field(description="Whether `fetched` is an estimate from a sample")


class BatchTakenOut(Out):
    """The result of a batch, with the first hundred rejected lines."""

    id: UUID
    name: str
    created_at: datetime
    lines: int
    accepted: int
    fresh: int
    duplicates: int
    rejected: int
    errors: list[BadLineOut]


class PageOut(Out):
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


class SnapshotOut(Out):
    id: int
    page_id: int
    url: str
    content_hash: str
    data_hash: str
    raw_hash: str
    size: int
    status_code: int
    provider: str
    content_type: str | None
    title: str | None
    description: str | None
    language: str | None
    verdict: str | None
    reader_version: int
    crawled_at: datetime


class DiffOut(Out):
    """How a page's text changed from one snapshot to another."""

    before: SnapshotOut
    after: SnapshotOut
    added: int
    removed: int
    diff: str = Field(description="Unified diff with three lines of context")
    is_cut: bool = Field(description="Whether a text was truncated before comparison")


class FetchOut(Out):
    id: int
    fetched_at: datetime
    page_id: int
    url: str | None
    outcome: str
    status_code: int | None
    size: int | None
    duration_ms: int
    waited_ms: int
    delay_ms: int | None
    fetch_provider: str
    provider_cost: float | None
    quality_gate_failed: str | None
    rule: str
    policy_version: int
    robots_id: int | None
    final_url: str | None
    proxy_id: int | None
    error: dict[str, Any] | None
    detail: dict[str, Any] | None
