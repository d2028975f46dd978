"""Tables: domains: governance, terms, quality; and what people submitted."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    check,
    column,
    ctext,
    index,
    int_number,
    real,
    smallint,
    utc,
    utc_now,
    uuid_key,
)


class DomainTable(Base):
    """A domain: governance, terms, quality."""

    __tablename__ = "domains"
    __table_args__ = (
        check(
            "status NOT IN ('rejected', 'blacklisted') OR coalesce(rejection_reason, '') <> ''",
            "domains_check",
        ),
        check(
            "status IN ('pending_review', 'blacklisted') OR reviewed_at IS NOT NULL",
            "domains_check1",
        ),
        check(
            r"length(domain) BETWEEN 3 AND 253 AND domain ~ '^[^./:@?#\s]+(\.[^./:@?#\s]+)+$'",
            "domains_name",
        ),
        check(
            r"status NOT IN ('rejected', 'blacklisted') OR btrim(rejection_reason, E' \t\r\n') <> ''",
            "domains_reason",
        ),
        check("NOT is_trusted_domain OR status IN ('approved', 'suspended')", "domains_trust"),
        check(
            r"processing <> 'processing_failed' OR (btrim(coalesce(failure_reason, ''), E' \t\r\n')"
            " <> '' AND retry_after IS NOT NULL AND failure_count > 0)",
            "domains_failed",
        ),
        check(
            "processing <> 'no_funds_this_year' OR no_funds_year IS NOT NULL", "domains_no_funds"
        ),
        check(
            "processing <> 'processed_high_quality' OR high_quality_candidate_count > 0",
            "domains_high",
        ),
        check(
            "processing <> 'processed_low_quality' OR "
            "(low_quality_candidate_count >= 3 AND high_quality_candidate_count = 0)",
            "domains_low",
        ),
        index("domains_status", "status, created_at"),
        index(
            "domains_waiting",
            "created_at, id",
            "status = 'pending_review' OR review_reason IS NOT NULL",
        ),
        index("idx_domain_status", "processing"),
        index("idx_domain_discovered_at", "created_at"),
        index("idx_domain_last_processed", "last_processed_at"),
        index("idx_domain_retry", "processing, retry_after", "processing = 'processing_failed'"),
        index("domains_first_label", "split_part(domain, '.', 1)"),
        index("domains_session", "discovery_session_id", "discovery_session_id IS NOT NULL"),
        index("domains_priority", "priority", "priority <> 5"),
    )

    id: Mapped[uuid_key]
    domain: Mapped[ctext] = column(unique=True, check="domain <> '' AND domain = lower(domain)")
    base_url: Mapped[str]
    status: Mapped[str] = column(
        default="'pending_review'",
        check="status IN ('pending_review', 'approved', 'rejected', 'suspended', 'blacklisted')",
    )
    processing: Mapped[str] = column(
        default="'discovered'",
        check="processing IN ('discovered', 'processing', 'processed_high_quality', "
        "'processed_low_quality', 'no_funds_this_year', 'processing_failed')",
    )
    submitted_by: Mapped[str]
    submitter_type: Mapped[str] = column(
        check="submitter_type IN ('admin', 'public_user', 'system')"
    )
    submission_context: Mapped[str | None]
    reviewed_by: Mapped[str | None]
    reviewed_at: Mapped[utc | None]
    rejection_reason: Mapped[str | None]
    max_crawl_depth: Mapped[smallint] = column(
        default="3", check="max_crawl_depth BETWEEN 0 AND 100"
    )
    page_budget: Mapped[int] = column(default="10000", check="page_budget > 0")
    crawl_delay_seconds: Mapped[real | None] = column(check="crawl_delay_seconds >= 0")
    max_concurrent_requests: Mapped[smallint] = column(
        default="5", check="max_concurrent_requests BETWEEN 1 AND 1000"
    )
    scrape_frequency_hours: Mapped[int | None] = column(check="scrape_frequency_hours > 0")
    track_level: Mapped[str | None] = column(check="track_level IN ('A', 'B', 'C', 'D')")
    is_trusted_domain: Mapped[bool] = column(default="false")
    domain_class: Mapped[str] = column(default="'unknown'")
    active: Mapped[bool] = column(default="true")
    policy_version: Mapped[int] = column(default="1")
    pages_known: Mapped[int] = column(default="0")
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]
    main_host_id: Mapped[bigint | None]  # where its base URL ends after redirects
    # all, or only pages asked for
    harvest: Mapped[str] = column(default="'site'", check="harvest IN ('site', 'asked')")
    on_block: Mapped[str] = column(default="'respect'", check="on_block IN ('respect', 'failover')")
    # other providers than HTTP
    render: Mapped[str] = column(default="'auto'", check="render IN ('auto', 'never')")
    # noindex, nofollow
    directives: Mapped[str] = column(
        default="'respect'", check="directives IN ('respect', 'ignore')"
    )
    # TDM, Content-Signal
    reservations: Mapped[str] = column(
        default="'record'", check="reservations IN ('record', 'respect')"
    )
    # 401, 403
    robots_forbidden: Mapped[str] = column(
        default="'allow'", check="robots_forbidden IN ('allow', 'deny')"
    )
    proxies: Mapped[str] = column(default="'none'", check="proxies IN ('none', 'pool')")
    verify_tls: Mapped[bool] = column(default="true")
    # `active` is what claims and flushes read: false while the domain or everything is paused.
    # This says which, so that one can be resumed without the other.
    paused: Mapped[bool] = column(default="false")
    review_reason: Mapped[str | None]  # why a reviewer should look again; NULL: no reason
    # the session that found it first
    discovery_session_id: Mapped[UUID | None] = column(
        belongs_to("discovery_sessions.id", "SET NULL", name="domains_discovery_session")
    )
    last_processed_at: Mapped[utc | None]
    processing_count: Mapped[int] = column(default="0", check="processing_count >= 0")
    best_confidence_score: Mapped[float | None] = column(
        check="best_confidence_score BETWEEN 0 AND 1"
    )
    high_quality_candidate_count: Mapped[int] = column(
        default="0", check="high_quality_candidate_count >= 0"
    )
    low_quality_candidate_count: Mapped[int] = column(
        default="0", check="low_quality_candidate_count >= 0"
    )
    no_funds_year: Mapped[int | None] = column(check="no_funds_year BETWEEN 2020 AND 2100")
    failure_reason: Mapped[str | None]
    failure_count: Mapped[int] = column(default="0", check="failure_count >= 0")  # in a row
    retry_after: Mapped[utc | None]
    # `on_block` as the domain's verticals last set it; if the two differ, a person set `on_block`.
    vertical_on_block: Mapped[str | None] = column(
        check="vertical_on_block IN ('respect', 'failover')"
    )
    # What its verticals say for its track level; NULL: the level's usual interval.
    track_interval: Mapped[timedelta | None] = column(check="track_interval > interval '0'")
    vertical: Mapped[ctext | None]  # as submitted or set by a reviewer; a name of `verticals`
    # By which the Forager specification knows it.
    number: Mapped[int_number]
    priority: Mapped[smallint] = column(default="5", check="priority BETWEEN 1 AND 10")
    # '22-6': from 22 h to 6 h in its time zone; NULL: at any time
    crawl_hours: Mapped[ctext | None] = column(
        check=r"crawl_hours ~ '^(\d|1\d|2[0-3])-(\d|1\d|2[0-4])$'"
    )
    time_zone: Mapped[str] = column(default="'UTC'")
    megabytes_per_day: Mapped[int | None] = column(check="megabytes_per_day > 0")


class DomainSubmissionTable(Base):
    """A submission of a domain, the first included."""

    __tablename__ = "domain_submissions"
    __table_args__ = (
        index("domain_submissions_domain", "domain_id, created_at"),
        index("domain_submissions_untold", "domain_id", "live_told_at IS NULL"),
    )

    id: Mapped[uuid_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    submitted_by: Mapped[str]
    submitter_type: Mapped[str] = column(
        check="submitter_type IN ('admin', 'public_user', 'system')"
    )
    # where a notice may be sent; never in an event
    contact: Mapped[str | None] = column(check="length(contact) <= 320")
    context: Mapped[str | None]
    max_crawl_depth: Mapped[smallint] = column(check="max_crawl_depth BETWEEN 0 AND 100")
    created_at: Mapped[utc_now]
    crawl_delay_seconds: Mapped[real | None] = column(check="crawl_delay_seconds >= 0")
    vertical: Mapped[ctext | None]  # as its submitter sees it
    token: Mapped[ctext | None] = column(unique=True)  # of its public status page
    live_told_at: Mapped[utc | None]  # when its submitter was told of the first pages


class SubmittedUrlTable(Base):
    """A URL that waits for the decision on its domain."""

    __tablename__ = "submitted_urls"
    __table_args__ = (
        index("submitted_urls_waiting", "domain_id, submitted_at", "taken_at IS NULL"),
    )

    domain_id: Mapped[UUID] = column(belongs_to("domains.id"), key=True)
    url_hash: Mapped[bytes] = column(key=True)
    url: Mapped[ctext]
    submitted_by: Mapped[str]
    submitter_type: Mapped[str] = column(
        check="submitter_type IN ('admin', 'public_user', 'system')"
    )
    submitted_at: Mapped[utc_now]
    taken_at: Mapped[utc | None]


class DomainNoteTable(Base):
    """A note on a domain."""

    __tablename__ = "domain_notes"
    __table_args__ = (index("domain_notes_domain", "domain_id, created_at"),)

    id: Mapped[uuid_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    author: Mapped[str]
    body: Mapped[str] = column(check=r"btrim(body, E' \t\r\n') <> '' AND length(body) <= 10000")
    created_at: Mapped[utc_now]
