"""Tables: jobs, their history, and hints for a broker."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Column, Table, text
from sqlalchemy.dialects.postgresql import TIMESTAMP
from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    Keyless,
    bigint,
    bigint_key,
    by_month,
    column,
    ctext,
    index,
    json,
    smallint,
    stored,
    utc,
    utc_now,
    uuid_key,
)


class JobTable(Base):
    """A leased unit of background work."""

    __tablename__ = "jobs"
    __table_args__ = (
        # Waiting and abandoned jobs alike: while a job runs, available_at is when its lease ends.
        index(
            "idx_jobs_claim", "job_type, priority, available_at", "state IN ('queued', 'running')"
        ),
        index("jobs_retiring", "window_ends_at", "state IN ('done', 'cancelled')"),
        index("jobs_dead", "job_type, finished_at", "state = 'dead'"),
        index("jobs_deliveries", "target_id, created_at DESC", "job_type = 'webhook'"),
        # Dead letters, the newest first.
        index("jobs_died", "finished_at DESC, id DESC", "state = 'dead'"),
        stored(
            fillfactor=70,
            autovacuum_vacuum_threshold=5000,
            autovacuum_vacuum_scale_factor=0.05,
            autovacuum_analyze_threshold=5000,
            autovacuum_analyze_scale_factor=0.05,
            autovacuum_vacuum_cost_delay=0,
        ),
    )

    id: Mapped[uuid_key]
    job_type: Mapped[str]
    target_kind: Mapped[str]
    target_id: Mapped[UUID | None]
    target_url: Mapped[str | None]
    input_hash: Mapped[str | None]
    prompt_version: Mapped[str | None]
    model: Mapped[str | None]
    dedupe_key: Mapped[ctext] = column(unique=True)
    state: Mapped[str] = column(
        default="'queued'", check="state IN ('queued', 'running', 'done', 'dead', 'cancelled')"
    )
    payload: Mapped[json] = column(default="'{}'")
    result_json: Mapped[json | None]
    priority: Mapped[smallint] = column(default="5", check="priority BETWEEN 1 AND 10")
    available_at: Mapped[utc_now]
    locked_at: Mapped[utc | None]
    lock_expires_at: Mapped[utc | None]
    locked_by: Mapped[str | None]
    token: Mapped[bigint] = column(default="0")
    attempts: Mapped[smallint] = column(default="0")
    max_attempts: Mapped[smallint] = column(default="3")
    created_at: Mapped[utc_now]
    started_at: Mapped[utc | None]
    finished_at: Mapped[utc | None]
    # Until then a finished job's key blocks the same work.
    window_ends_at: Mapped[utc] = column(default="(messor.clock() + '31 days'::interval)")
    dead_category: Mapped[str | None]
    dead_type: Mapped[str | None]
    dead_reason: Mapped[str | None]


class JobHistoryTable(Keyless):
    """A job whose key is free again, as it ended: the columns of `jobs`, without defaults."""

    __table__ = Table(
        "jobs_history",
        Base.metadata,
        *(Column(one.name, one.type, nullable=one.nullable) for one in JobTable.__table__.columns),
        Column(
            "retired_at",
            TIMESTAMP(timezone=True),
            nullable=False,
            server_default=text("messor.clock()"),
        ),
        index("jobs_history_id", "id"),
        **by_month("finished_at"),
    )


class JobOutboxTable(Base):
    """A hint that the broker has not confirmed yet."""

    __tablename__ = "job_outbox"
    __table_args__ = (
        index("job_outbox_due", "due_at, id"),
        stored(
            autovacuum_vacuum_threshold=1000,
            autovacuum_vacuum_scale_factor=0,
            autovacuum_vacuum_cost_delay=0,
        ),
    )

    id: Mapped[bigint_key]
    job_id: Mapped[UUID]
    job_type: Mapped[str]
    due_at: Mapped[utc]


class OutboxRelayTable(Base):
    """Which process relays hints, until when: one row."""

    __tablename__ = "outbox_relay"
    __table_args__ = stored(fillfactor=50)

    is_the_one: Mapped[bool] = column(key=True, default="true", check="is_the_one")
    holder: Mapped[str] = column(default="''")
    expires_at: Mapped[utc] = column(default="'-infinity'")
