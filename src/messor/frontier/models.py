"""Tables: pages, their crawl tasks, sitemaps, batches and runs."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    bigint_key,
    check,
    column,
    ctext,
    index,
    json,
    real,
    smallint,
    stored,
    unique,
    utc,
    utc_now,
    uuid_key,
)


class PageTable(Base):
    """What is known of a URL and does not change with each fetch. Triggers keep the key to its host."""

    __tablename__ = "pages"
    __table_args__ = (
        unique("host_id, url_hash", name="pages_host_id_url_hash_key", postgresql_include=["id"]),
    )

    id: Mapped[bigint_key]
    host_id: Mapped[bigint]
    url_hash: Mapped[bytes]  # SHA-256 of the canonical form
    url: Mapped[ctext]
    found_by: Mapped[str] = column(
        check="found_by IN ('seed', 'robots', 'sitemap', 'link', 'redirect', 'manual')"
    )
    found_on: Mapped[bigint | None]  # the page that led here
    depth: Mapped[smallint] = column(default="0")
    hops: Mapped[smallint] = column(default="0")  # redirects in a row that led here
    category: Mapped[str | None]
    found_at: Mapped[utc_now]
    sitemap_lastmod: Mapped[utc | None]


class CrawlTaskTable(Base):
    """What is to be done about a page, and how it went last. Triggers keep the key to its page."""

    __tablename__ = "crawl_tasks"
    __table_args__ = (
        check("status NOT IN ('paused', 'cancelled') OR due_at IS NULL", "crawl_tasks_held"),
        index("crawl_tasks_due", "host_id, priority, due_at", "due_at IS NOT NULL"),
        index("crawl_tasks_failed", "last_fetched_at, page_id", "status = 'failed'"),
        stored(fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0),
    )

    page_id: Mapped[bigint] = column(key=True)
    host_id: Mapped[bigint]
    kind: Mapped[str] = column(
        default="'page'",
        check="kind IN ('page', 'robots', 'sitemap', 'image', 'preflight', 'render', 'proof')",
    )
    # 0 is for robots
    priority: Mapped[smallint] = column(default="5", check="priority BETWEEN 0 AND 10")
    due_at: Mapped[utc | None]  # NULL: not scheduled
    status: Mapped[str] = column(
        default="'pending'",
        check="status IN ('pending', 'completed', 'failed', 'skipped', 'paused', 'cancelled')",
    )
    outcome: Mapped[str | None]  # of the last fetch
    retry_count: Mapped[smallint] = column(default="0")
    max_retries: Mapped[smallint] = column(default="3")
    crawl_frequency: Mapped[timedelta | None]
    last_fetched_at: Mapped[utc | None]
    completed_at: Mapped[utc | None]
    last_status: Mapped[smallint | None]
    snapshot_id: Mapped[bigint | None]  # the newest good one
    raw_hash: Mapped[bytes | None]
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    refusal: Mapped[str | None]  # rule and reason of the standing "no"
    error_message: Mapped[str | None]
    provider: Mapped[str | None]  # who brought the newest good content; NULL: HTTP
    deaths: Mapped[smallint] = column(default="0")  # processes it killed
    held_due_at: Mapped[utc | None]  # of a paused task: when it would be due
    # The last sixteen crawls of a known page, newest last: 1 where it had changed. The highest bit
    # only marks how many there are.
    history: Mapped[int] = column(default="1", check="history BETWEEN 1 AND 131071")
    wire_tag: Mapped[
        bigint | None
    ]  # hash of the last response as sent: equal bytes are not decoded
    waits: Mapped[smallint] = column(default="0")  # consecutive, for a provider
    next_provider: Mapped[str | None]  # tried first next time, in place of HTTP
    shell_hash: Mapped[bytes | None]  # of the site's own response that `provider` was needed for
    rounds: Mapped[smallint] = column(default="0")  # consecutive, that failed for good
    error_category: Mapped[str | None]  # of the last error


class RefusedLinkTable(Base):
    """Links that never became pages, counted by the rule that refused them."""

    __tablename__ = "refused_links"
    __table_args__ = stored(fillfactor=50)

    host_id: Mapped[bigint] = column(belongs_to("hosts.id"), key=True)
    rule: Mapped[ctext] = column(key=True)
    links: Mapped[bigint]


class SitemapTable(Base):
    """A sitemap, beside its page and task."""

    __tablename__ = "sitemaps"
    __table_args__ = (index("sitemaps_host", "host_id"),)

    page_id: Mapped[bigint] = column(belongs_to("pages.id"), key=True)
    host_id: Mapped[bigint]
    parent_id: Mapped[bigint | None]  # the sitemap that names it
    depth: Mapped[smallint] = column(default="0")
    kind: Mapped[str | None]
    urls: Mapped[int] = column(default="0")
    sitemaps: Mapped[int] = column(default="0")
    attempts: Mapped[int] = column(default="0")
    error_json: Mapped[json | None]
    warnings: Mapped[json | None]
    read_at: Mapped[utc | None]


class UrlPatternTable(Base):
    """Pages of an unbounded pattern (calendars, facets), counted against its budget."""

    __tablename__ = "url_patterns"
    __table_args__ = stored(fillfactor=70)

    host_id: Mapped[bigint] = column(belongs_to("hosts.id"), key=True)
    pattern: Mapped[ctext] = column(key=True)
    pages: Mapped[int] = column(default="0")


class TaskBatchTable(Base):
    """Pages submitted together; its counts are exact after every chunk of lines."""

    __tablename__ = "task_batches"
    __table_args__ = (index("task_batches_created", "created_at DESC"),)

    id: Mapped[uuid_key]
    name: Mapped[str]
    submitted_by: Mapped[str]
    source: Mapped[str]  # a file's name, stdin, api …
    format: Mapped[str]
    lines: Mapped[int] = column(default="0")  # that say something
    accepted: Mapped[int] = column(default="0")
    fresh: Mapped[int] = column(default="0")  # of the accepted: pages that were not known
    duplicates: Mapped[int] = column(default="0")
    rejected: Mapped[int] = column(default="0")
    created_at: Mapped[utc_now]
    finished_at: Mapped[utc | None]  # NULL: it is being read, or was broken off


class BatchPageTable(Base):
    """A page of a batch."""

    __tablename__ = "batch_pages"

    batch_id: Mapped[UUID] = column(belongs_to("task_batches.id"), key=True)
    page_id: Mapped[bigint] = column(key=True)
    line: Mapped[int]


class BatchErrorTable(Base):
    """A rejected line of a batch."""

    __tablename__ = "batch_errors"

    batch_id: Mapped[UUID] = column(belongs_to("task_batches.id"), key=True)
    line: Mapped[int] = column(key=True)
    text: Mapped[str]  # the beginning of it
    reason: Mapped[str]


class StandstillTable(Base):
    """One row while all tasks are paused."""

    __tablename__ = "standstill"

    is_on: Mapped[bool] = column(key=True, default="true", check="is_on")
    actor: Mapped[str]
    since: Mapped[utc_now]


class CrawlRunTable(Base):
    """One crawl of a domain from a named URL, with limits of its own."""

    __tablename__ = "crawl_runs"
    __table_args__ = (
        index("crawl_runs_domain", "domain_id, started_at DESC"),
        index("crawl_runs_open", "domain_id", "ended_at IS NULL"),
        index("crawl_runs_page_id", "page_id"),
    )

    id: Mapped[uuid_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    url: Mapped[str]  # the named URL, which is always fetched
    page_id: Mapped[bigint] = column(belongs_to("pages.id", name="crawl_runs_page"))
    started_by: Mapped[str]
    bounded: Mapped[bool]  # only pages of `crawl_run_pages` are fetched for it
    # what sitemaps list belongs to it, one step away
    sitemaps: Mapped[bool] = column(default="false")
    max_depth: Mapped[smallint | None]  # links away from the named URL
    max_pages: Mapped[int | None]
    delay: Mapped[real | None]
    refetch: Mapped[bool] = column(default="false")
    status: Mapped[str] = column(
        default="'running'", check="status IN ('running', 'done', 'interrupted')"
    )
    started_at: Mapped[utc_now]
    seen_at: Mapped[utc_now]  # its command was alive then
    ended_at: Mapped[utc | None]
    left_out: Mapped[int] = column(default="0")  # links over `max_pages`
    scope: Mapped[json | None]  # what else it leaves out: see messor.run_takes


class CrawlRunPageTable(Base):
    """A page of a run."""

    __tablename__ = "crawl_run_pages"
    __table_args__ = (index("crawl_run_pages_page", "page_id"),)

    run_id: Mapped[UUID] = column(belongs_to("crawl_runs.id"), key=True)
    page_id: Mapped[bigint] = column(belongs_to("pages.id", name="crawl_run_pages_known"), key=True)
    depth: Mapped[smallint]  # links away from the named URL
    fetched: Mapped[bool]  # for this run; else it was fresh enough
    # the links of a fresh page were taken from the archive
    expanded: Mapped[bool] = column(default="false")
    due_before: Mapped[utc | None]


class MovedPictureTable(Base):
    """A redirect of an image that was not followed yet."""

    __tablename__ = "moved_pictures"

    page_id: Mapped[bigint] = column(belongs_to("pages.id"), key=True)
    url: Mapped[str]
