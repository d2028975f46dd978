"""Tables: search, classes, scores and relevance."""

from __future__ import annotations

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
    real,
    stored,
    tsvector,
    unique,
    utc,
    utc_now,
    xid8,
)


class SearchDocumentTable(Base):
    """A searchable page or record; its text is read where it is stored."""

    __tablename__ = "search_documents"
    __table_args__ = (
        index("search_documents_page", "page_id", "record_id IS NULL", unique=True),
        index("search_documents_record", "record_id", "record_id IS NOT NULL", unique=True),
        index("search_documents_of_page", "page_id"),
        index("search_documents_snapshot", "snapshot_id"),
        index("search_documents_config", "config"),
        index("search_documents_words", "words", postgresql_using="gin"),
    )

    id: Mapped[bigint_key]
    page_id: Mapped[bigint]
    snapshot_id: Mapped[bigint]
    record_id: Mapped[bigint | None]  # NULL: the page itself
    domain_id: Mapped[UUID]
    kind: Mapped[ctext]  # page, or the record's
    title: Mapped[str | None]
    config: Mapped[ctext]
    brand: Mapped[str | None]
    category: Mapped[str | None]
    price: Mapped[Decimal | None]
    currency: Mapped[str | None]
    rating: Mapped[Decimal | None]
    availability: Mapped[str | None]
    indexed_at: Mapped[utc_now]
    words: Mapped[tsvector]


class SearchDueTable(Base):
    """A page to be indexed; not unique, so one that changes meanwhile is indexed again."""

    __tablename__ = "search_due"
    __table_args__ = (
        index("search_due_page", "page_id"),
        stored(autovacuum_vacuum_threshold=500, autovacuum_vacuum_scale_factor=0.02),
    )

    id: Mapped[bigint_key]
    page_id: Mapped[bigint]


class SearchIndexTable(Base):
    """An index at a search server, and how far it follows the outbox."""

    __tablename__ = "search_indexes"
    __table_args__ = (index("search_indexes_state", "state", unique=True),)

    name: Mapped[ctext] = column(key=True, check="length(name) BETWEEN 1 AND 200")
    state: Mapped[str] = column(check="state IN ('filling', 'live')")
    tx: Mapped[xid8] = column(default="'0'")
    outbox_id: Mapped[bigint] = column(default="0")
    filled_to: Mapped[bigint] = column(default="0")  # search_documents.id
    refused: Mapped[bigint] = column(default="0")  # documents that the server did not take
    last_refusal: Mapped[str | None]
    trouble: Mapped[str | None]  # why the last attempt to send failed
    started_at: Mapped[utc_now]
    live_at: Mapped[utc | None]
    sent_at: Mapped[utc | None]


class SearchOutboxTable(Base):
    """A document that was written or deleted; the order of commits is (tx, id)."""

    __tablename__ = "search_outbox"
    __table_args__ = (
        index("search_outbox_order", "tx, id"),
        index("search_outbox_document", "page, record"),
        stored(autovacuum_vacuum_threshold=500, autovacuum_vacuum_scale_factor=0.02),
    )

    id: Mapped[bigint_key]
    tx: Mapped[xid8] = column(default="messor.commit_position()")
    # Not `page_id`: what is noted of an erased page must reach the index.
    page: Mapped[bigint]
    record: Mapped[bigint | None]  # NULL: the page itself


class DomainClassTable(Base):
    """What kind of site a domain is, whether or not it is in the registry."""

    __tablename__ = "domain_classes"
    __table_args__ = (
        check("decided_by IS NULL OR confidence = 1"),
        index("domain_classes_stale", "classified_at", "decided_by IS NULL"),
    )

    domain: Mapped[ctext] = column(key=True, check="domain <> '' AND domain = lower(domain)")
    class_: Mapped[ctext] = column(name="class")
    confidence: Mapped[float] = column(check="confidence BETWEEN 0 AND 1")
    reasons: Mapped[json] = column(default="'[]'")
    features: Mapped[list[str]] = column(default="'{}'")
    decided_by: Mapped[str | None]  # a reviewer; NULL: nobody, it was reckoned
    decided_reason: Mapped[str | None]
    reckoned: Mapped[ctext | None]  # what was reckoned when a reviewer decided
    classified_at: Mapped[utc_now]


class ClassLessonTable(Base):
    """How often reviewers gave a class to domains that show a feature."""

    __tablename__ = "class_lessons"

    feature: Mapped[ctext] = column(key=True)
    class_: Mapped[ctext] = column(name="class", key=True)
    domains: Mapped[int] = column(check="domains >= 0")


class ScoreTable(Base):
    """A score with its parts: value, weight, contribution and a sentence."""

    __tablename__ = "scores"
    __table_args__ = (
        check("window_from < window_to"),
        index("scores_subject", "subject_id, vertical_id, scored_at DESC"),
        index("scores_vertical", "vertical_id, subject, scored_at DESC"),
    )

    id: Mapped[bigint_key]
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    subject: Mapped[str] = column(check="subject IN ('domain', 'organisation')")
    subject_id: Mapped[UUID]
    score: Mapped[float] = column(check="score BETWEEN 0 AND 1")
    track_level: Mapped[str] = column(check="track_level IN ('A', 'B', 'C', 'D')")
    parts: Mapped[json]
    vertical_version: Mapped[int]
    window_from: Mapped[utc]
    window_to: Mapped[utc]
    scored_at: Mapped[utc_now]


class PageFlagTable(Base):
    """Whether a page is about a vertical's topic, as last judged."""

    __tablename__ = "page_flags"
    __table_args__ = (
        index("page_flags_borderline", "vertical, abs(score - 0.5), page_id"),
        index("page_flags_snapshot", "snapshot_id"),
    )

    page_id: Mapped[bigint] = column(key=True)
    vertical: Mapped[ctext] = column(key=True)
    snapshot_id: Mapped[bigint | None]
    relevant: Mapped[bool | None]  # NULL: nobody can tell yet
    score: Mapped[real] = column(check="score BETWEEN 0 AND 1")
    reasons: Mapped[json] = column(default="'[]'")
    model_version: Mapped[str]
    flagged_at: Mapped[utc_now]


class FlagDecisionTable(Base):
    """A reviewer's decision on a flag; keeps the words, so that training needs no archive."""

    __tablename__ = "flag_decisions"
    __table_args__ = (
        index("flag_decisions_page", "page_id, vertical, id DESC"),
        index("flag_decisions_vertical", "vertical, id"),
    )

    id: Mapped[bigint_key]
    page_id: Mapped[bigint]
    vertical: Mapped[ctext]
    domain: Mapped[ctext]
    relevant: Mapped[bool]
    flagged: Mapped[bool | None]  # what the flag had said
    overturned: Mapped[bool]
    model_version: Mapped[str]
    reason: Mapped[str] = column(default="''")
    lexical: Mapped[real]  # the score by rules at that time
    title: Mapped[str]
    sample: Mapped[str]  # of the page's text
    decided_by: Mapped[str]
    decided_at: Mapped[utc_now]


class RelevanceModelTable(Base):
    """A classifier trained on decisions; at most one per vertical is on."""

    __tablename__ = "relevance_models"
    __table_args__ = (
        unique("vertical, version"),
        index("relevance_models_on", "vertical", "state = 'on'", unique=True),
    )

    id: Mapped[bigint_key]
    vertical: Mapped[ctext]
    version: Mapped[int] = column(check="version > 0")
    state: Mapped[str] = column(check="state IN ('on', 'refused', 'off')")
    reason: Mapped[str]  # why it judges, or does not
    decisions: Mapped[int]
    measured: Mapped[json]  # by cross-validation, against the rules
    weights: Mapped[json]
    trained_by: Mapped[str]
    trained_at: Mapped[utc_now]


class BarrenPageTable(Base):
    """An unproductive page; until then no track level makes it due."""

    __tablename__ = "barren_pages"
    __table_args__ = (index("barren_pages_until", "until"),)

    page_id: Mapped[bigint] = column(key=True)
    until: Mapped[utc]
    put_off_at: Mapped[utc_now]
