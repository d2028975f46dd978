"""Tables: jobs of programs that wait for pages, the pages of each, and what signs their webhooks."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    bigint_key,
    column,
    index,
    json,
    smallint,
    utc,
    utc_now,
    uuid_key,
)


class ScrapeJobTable(Base):
    """Pages that a program asked for: one that it waits for, a crawl or a batch."""

    __tablename__ = "scrape_jobs"
    __table_args__ = (
        index("scrape_jobs_open", "kept_until", "ended_at IS NULL"),
        index("scrape_jobs_asked", "actor, fingerprint, created_at"),
        index("scrape_jobs_expired", "expires_at"),
    )

    id: Mapped[uuid_key]
    kind: Mapped[str] = column(check="kind IN ('scrape', 'crawl', 'batch', 'extract')")
    actor: Mapped[str]
    key_id: Mapped[UUID | None]
    url: Mapped[str]
    domain_id: Mapped[UUID | None]
    run_id: Mapped[UUID | None]  # of a crawl
    fingerprint: Mapped[bytes | None]  # of the request, by which a repeated one is recognised
    options: Mapped[json] = column(default="'{}'")  # how the interface shows its documents
    status: Mapped[str] = column(
        default="'scraping'",
        check="status IN ('scraping', 'completed', 'failed', 'cancelled')",
    )
    code: Mapped[str | None]  # why it failed
    error: Mapped[str | None]
    reserved: Mapped[int] = column(default="0", check="reserved >= 0")  # pages of the key's day
    audit: Mapped[str | None]  # on whose behalf, as the caller says
    created_at: Mapped[utc_now]
    ended_at: Mapped[utc | None]
    expires_at: Mapped[utc]
    kept_until: Mapped[utc_now]  # a keeper looks after it until then
    hook: Mapped[bytes | None]  # sealed: where the caller wants to be told, and how
    result: Mapped[json | None]  # of an extraction


class ScrapeJobPageTable(Base):
    """A page of a job; it has a place once it has a snapshot, and a code if it was refused."""

    __tablename__ = "scrape_job_pages"
    __table_args__ = (
        index("scrape_job_pages_place", "job_id, place", unique=True),
        index("scrape_job_pages_page", "page_id"),
    )

    id: Mapped[bigint_key]
    job_id: Mapped[UUID] = column(belongs_to("scrape_jobs.id"))
    url: Mapped[str]
    page_id: Mapped[bigint | None] = column(belongs_to("pages.id"))
    hops: Mapped[smallint] = column(default="0")  # redirects followed
    place: Mapped[int | None]  # the order in which pages were done
    snapshot_id: Mapped[bigint | None]
    code: Mapped[str | None]
    error: Mapped[str | None]
    done_at: Mapped[utc | None]
    is_told: Mapped[bool] = column(default="false")  # its webhook has a job


class HookSecretTable(Base):
    """What signs the webhooks of a key's jobs."""

    __tablename__ = "hook_secrets"

    key_id: Mapped[UUID] = column(belongs_to("api_keys.id"), key=True)
    secret: Mapped[bytes]  # sealed
    made_at: Mapped[utc_now]
