"""Tables: what happened: events, refusals, errors, alarms."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    Keyless,
    bigint,
    bigint_id,
    by_month,
    column,
    index,
    json,
    utc_now,
    xid8,
)


class EventTable(Keyless):
    """A fact about governance. Read in commit order: see `ledger.events`."""

    __tablename__ = "events"
    __table_args__ = (
        index("events_order", "tx, id"),
        index("events_domain", "domain_id, occurred_at DESC"),
        by_month("occurred_at"),
    )

    id: Mapped[bigint_id]
    tx: Mapped[xid8] = column(default="messor.commit_position()")
    occurred_at: Mapped[utc_now]
    type: Mapped[str]
    actor: Mapped[str]
    domain_id: Mapped[UUID | None]
    page_id: Mapped[bigint | None]
    data: Mapped[json] = column(default="'{}'")


class DecisionTable(Keyless):
    """A refusal that changed."""

    __tablename__ = "decisions"
    __table_args__ = (index("decisions_page", "page_id, decided_at DESC"), by_month("decided_at"))

    decided_at: Mapped[utc_now]
    page_id: Mapped[bigint]
    verdict: Mapped[str] = column(check="verdict IN ('denied', 'deferred')")
    rule: Mapped[str]
    reason: Mapped[str]
    policy_version: Mapped[int]
    robots_id: Mapped[bigint | None]


class ErrorLogTable(Keyless):
    """An error."""

    __tablename__ = "error_logs"
    __table_args__ = (
        index("error_logs_job", "job_id, occurred_at", "job_id IS NOT NULL"),
        by_month("occurred_at"),
    )

    occurred_at: Mapped[utc_now]
    crawl_task_id: Mapped[bigint | None]
    job_id: Mapped[UUID | None]
    category: Mapped[str]
    error_type: Mapped[str]
    error_message: Mapped[str]
    stack_trace: Mapped[str | None]
    detail: Mapped[json | None]


class AlarmTable(Base):
    """What is wrong with a running process now; it repeats its own while they last."""

    __tablename__ = "alarms"

    place: Mapped[str] = column(key=True)  # machine and process
    name: Mapped[str] = column(key=True)  # disk, clock, or a component
    message: Mapped[str]
    raised_at: Mapped[utc_now]
    seen_at: Mapped[utc_now]


class CommitOrderTable(Base):
    """Which cluster the positions of commits are counted in: see `migrations/functions/follow_cluster`."""

    __tablename__ = "commit_order"

    one: Mapped[bool] = column(key=True, default="true", check="one")
    cluster: Mapped[str]  # its identifier and timeline
    since: Mapped[bigint] = column(default="0")  # the first position given out there
    followed_at: Mapped[utc_now]
