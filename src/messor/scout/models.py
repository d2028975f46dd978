"""Tables: keywords, searches, result pages, discovery sessions and candidates."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
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
    smallint,
    unique,
    utc,
    utc_now,
    uuid_key,
)


class KeywordTable(Base):
    """A keyword."""

    __tablename__ = "keywords"
    __table_args__ = (
        unique("keyword_text, serp_profile_id"),
        # Case and spaces make no other keyword.
        index("keywords_same", "messor.keyword_key(keyword_text), serp_profile_id", unique=True),
        check("seed_keyword_id IS NULL OR seed_keyword_id <> id", "keywords_check"),
        check("active OR pruned_reason IS NOT NULL", "keywords_check1"),
        index("keywords_due", "vertical_id, tier, last_snapshot_at NULLS FIRST", "active"),
        index("keywords_profile", "serp_profile_id"),
        index("keywords_seed", "seed_keyword_id", "seed_keyword_id IS NOT NULL"),
    )

    id: Mapped[uuid_key] = column(default="gen_random_uuid()")
    keyword_text: Mapped[ctext] = column(
        check="btrim(keyword_text) <> '' AND length(keyword_text) <= 200"
    )
    serp_profile_id: Mapped[UUID] = column(belongs_to("serp_profiles.id"))
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    tier: Mapped[str] = column(default="'C'", check="tier IN ('A', 'B', 'C')")
    tier_reason: Mapped[str | None]
    source: Mapped[str] = column(
        default="'manual'",
        check="source IN ('manual', 'template', 'related', 'people_also_ask', 'suggestion')",
    )
    service_name: Mapped[str | None]
    seed_keyword_id: Mapped[UUID | None] = column(belongs_to("keywords.id", "SET NULL"))
    seed_depth: Mapped[smallint] = column(default="0", check="seed_depth BETWEEN 0 AND 10")
    value: Mapped[float | None] = column(check="value >= 0")  # measured; NULL: not measured
    active: Mapped[bool] = column(default="true")
    pruned_reason: Mapped[str | None]
    last_snapshot_at: Mapped[utc | None]
    created_at: Mapped[utc_now]
    tier_set_by: Mapped[str | None]  # who set the tier by hand; NULL: it is rated


class SearchRequestTable(Base):
    """One result page wanted: reserved before any engine is asked; a gap has no answer."""

    __tablename__ = "search_requests"
    __table_args__ = (
        unique("keyword_id, serp_profile_id, window_key, page"),
        check("state <> 'gap' OR btrim(coalesce(message, '')) <> ''"),
        index("search_requests_open", "held_until", "state IN ('open', 'asking')"),
    )

    id: Mapped[uuid_key]
    keyword_id: Mapped[UUID] = column(belongs_to("keywords.id"))
    serp_profile_id: Mapped[UUID] = column(belongs_to("serp_profiles.id"))
    window_key: Mapped[ctext] = column(check="window_key <> ''")
    page: Mapped[smallint] = column(default="1", check="page BETWEEN 1 AND 100")
    state: Mapped[str] = column(
        default="'open'", check="state IN ('open', 'asking', 'answered', 'gap')"
    )
    message: Mapped[str | None]  # why it is a gap, or why it is still open
    held_by: Mapped[UUID | None]  # the holding that may change it
    held_until: Mapped[utc] = column(default="'-infinity'")
    created_at: Mapped[utc_now]
    finished_at: Mapped[utc | None]


class SearchSpendTable(Base):
    """One call of an engine, written before it is made."""

    __tablename__ = "search_spend"
    __table_args__ = (
        check("state <> 'refused' OR cost = 0"),
        index("search_spend_request", "request_id"),
        index("search_spend_engine", "engine, asked_at"),
        # Only one answer or one loss that may have been paid for, whatever the program does.
        index(
            "search_spend_once",
            "request_id",
            "cost > 0 AND state IN ('asked', 'answered', 'lost')",
            unique=True,
        ),
    )

    id: Mapped[uuid_key]
    request_id: Mapped[UUID] = column(belongs_to("search_requests.id"))
    engine: Mapped[ctext]
    month: Mapped[date]
    state: Mapped[str] = column(
        default="'asked'", check="state IN ('asked', 'answered', 'refused', 'lost')"
    )
    cost: Mapped[Decimal] = column(check="cost >= 0")  # set aside at first, then what it was
    message: Mapped[str | None]
    asked_at: Mapped[utc_now]
    settled_at: Mapped[utc | None]


class SearchAnswerTable(Base):
    """An engine's whole response, stored before it is parsed."""

    __tablename__ = "search_answers"
    __table_args__ = (
        check("raw_hash = sha256(body)"),
        index("search_answers_waiting", "received_at", "processed_at IS NULL"),
    )

    request_id: Mapped[UUID] = column(belongs_to("search_requests.id"), key=True)
    engine: Mapped[ctext]
    status: Mapped[smallint]
    body: Mapped[bytes]
    raw_hash: Mapped[bytes] = column(check="length(raw_hash) = 32")
    is_json: Mapped[bool]
    received_at: Mapped[utc_now]
    processed_at: Mapped[utc | None]


class DiscoverySessionTable(Base):
    """A discovery session."""

    __tablename__ = "discovery_sessions"
    __table_args__ = (
        check("(state = 'running') = (finished_at IS NULL)", "discovery_sessions_check"),
        check(
            "state <> 'failed' OR btrim(coalesce(message, '')) <> ''", "discovery_sessions_check1"
        ),
        index("discovery_sessions_vertical", "vertical_id, started_at DESC"),
    )

    id: Mapped[uuid_key]
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    vertical_version: Mapped[int] = column(check="vertical_version > 0")
    state: Mapped[str] = column(
        default="'running'", check="state IN ('running', 'finished', 'failed', 'cancelled')"
    )
    started_by: Mapped[str]
    started_at: Mapped[utc_now]
    finished_at: Mapped[utc | None]
    message: Mapped[str | None]
    statistics: Mapped[json | None]  # when it is over


class SerpSnapshotTable(Base):
    """A result page; a failed one is a gap, says why and has no results."""

    __tablename__ = "serp_snapshots"
    __table_args__ = (
        unique("keyword_id, serp_profile_id, captured_at"),
        check("outcome <> 'failed' OR (result_count = 0 AND btrim(coalesce(message, '')) <> '')"),
        index("serp_snapshots_captured", "captured_at", "outcome <> 'failed'"),
        index(
            "serp_snapshots_unjudged", "captured_at", "judged_in IS NULL AND outcome <> 'failed'"
        ),
        index("serp_snapshots_judged", "judged_in", "judged_in IS NOT NULL"),
        index("serp_snapshots_keyword", "keyword_id, captured_at DESC"),
    )

    id: Mapped[uuid_key]
    keyword_id: Mapped[UUID] = column(belongs_to("keywords.id"))
    serp_profile_id: Mapped[UUID] = column(belongs_to("serp_profiles.id"))
    request_id: Mapped[UUID] = column(belongs_to("search_requests.id"), unique=True)
    window_key: Mapped[ctext]
    engine: Mapped[ctext]
    outcome: Mapped[str] = column(check="outcome IN ('ok', 'partial', 'failed')")
    message: Mapped[str | None]  # what is missing, or why it failed
    raw_hash: Mapped[bytes | None]
    result_count: Mapped[int] = column(default="0", check="result_count >= 0")
    extras: Mapped[json] = column(default="'{}'")  # questions, related searches, an overview
    captured_at: Mapped[utc_now]
    # The session that judged its results.
    judged_in: Mapped[UUID | None] = column(belongs_to("discovery_sessions.id", "SET NULL"))


class SerpResultTable(Base):
    """A result; `domain` is that of its URL, in the registry or not."""

    __tablename__ = "serp_results"
    __table_args__ = (
        unique("snapshot_id, rank_position, block_type"),
        index("serp_results_domain", "domain, block_type"),
        index("serp_results_domain_id", "domain_id", "domain_id IS NOT NULL"),
    )

    id: Mapped[bigint_key]
    snapshot_id: Mapped[UUID] = column(belongs_to("serp_snapshots.id"))
    rank_position: Mapped[int] = column(check="rank_position > 0")
    block_type: Mapped[str] = column(
        check="block_type IN ('organic', 'local_pack', 'featured', 'ad', 'people_also_ask', "
        "'related', 'ai_overview', 'knowledge', 'news', 'other')"
    )
    domain_id: Mapped[UUID | None] = column(belongs_to("domains.id", "SET NULL"))
    domain: Mapped[ctext | None]
    url: Mapped[ctext | None]
    title: Mapped[str | None]
    snippet: Mapped[str | None]
    published_at: Mapped[utc | None]
    # Its domain's best place on the page, among organic and local results.
    is_best: Mapped[bool] = column(default="true")


class CandidateTable(Base):
    """A judged result on its way to review."""

    __tablename__ = "candidates"
    __table_args__ = (
        unique("session_id, url_hash"),
        # Only what reached the threshold is ever crawled, and so reviewed.
        check(
            "(status = 'SKIPPED_LOW_CONFIDENCE') = (confidence_score < 0.6)", "candidates_threshold"
        ),
        check("status <> 'IN_REVIEW' OR assigned_to IS NOT NULL", "candidates_assigned"),
        check(
            "(status IN ('APPROVED', 'REJECTED')) = (reviewed_at IS NOT NULL)",
            "candidates_reviewed",
        ),
        check(
            "status <> 'REJECTED' OR btrim(coalesce(review_reason, '')) <> ''",
            "candidates_rejected",
        ),
        check("retry_after IS NULL OR btrim(coalesce(crawl_note, '')) <> ''", "candidates_note"),
        index("candidates_status", "status, created_at, id"),
        index("candidates_domain", "domain_id, vertical_id"),
        index("candidates_vertical", "vertical_id, status"),
        index("candidates_url", "vertical_id, url_hash"),
        index(
            "candidates_crawling",
            "submitted_at",
            "status = 'PENDING_CRAWL' AND page_id IS NOT NULL",
        ),
        index("candidates_name", "domain, vertical_id"),
        index("candidates_trusted", "status, confidence_score DESC, id"),
    )

    id: Mapped[uuid_key]
    session_id: Mapped[UUID] = column(belongs_to("discovery_sessions.id"))
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    domain_id: Mapped[UUID | None] = column(belongs_to("domains.id", "SET NULL"))
    domain: Mapped[ctext] = column(
        check=r"domain = lower(domain) AND domain ~ '^[^./:@?#\s]+(\.[^./:@?#\s]+)+$'"
    )
    url: Mapped[ctext]
    url_hash: Mapped[bytes] = column(check="length(url_hash) = 32")
    title: Mapped[str] = column(default="''")
    snippet: Mapped[str] = column(default="''")
    search_engine: Mapped[ctext]
    search_query: Mapped[str]
    position: Mapped[int] = column(check="position > 0")
    confidence_score: Mapped[float] = column(check="confidence_score BETWEEN 0 AND 1")
    status: Mapped[str] = column(
        check="status IN ('PENDING_CRAWL', 'PENDING_REVIEW', 'IN_REVIEW', 'APPROVED', 'REJECTED', "
        "'SKIPPED_LOW_CONFIDENCE')"
    )
    organisation_name: Mapped[str | None]
    program_name: Mapped[str | None]
    validation_notes: Mapped[json]  # the judgement, whole
    assigned_to: Mapped[str | None]
    reviewed_by: Mapped[str | None]
    reviewed_at: Mapped[utc | None]
    review_reason: Mapped[str | None]
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]
    page_id: Mapped[bigint | None]  # where it is crawled; a page may be forgotten
    submitted_at: Mapped[utc | None]  # when its crawl was asked for last
    crawled_at: Mapped[utc | None]  # when its page was harvested and extracted
    crawl_note: Mapped[str | None]  # what stood in the way of its crawl last
    crawl_failures: Mapped[int] = column(default="0", check="crawl_failures >= 0")
    retry_after: Mapped[utc | None]  # when its crawl is asked for again


class JudgementTable(Base):
    """One judge's score of a candidate."""

    __tablename__ = "judgements"

    candidate_id: Mapped[UUID] = column(belongs_to("candidates.id"), key=True)
    judge: Mapped[ctext] = column(key=True)
    score: Mapped[float] = column(check="score BETWEEN 0 AND 1")
    weight: Mapped[float] = column(default="1", check="weight >= 0")
    explanation: Mapped[str]
