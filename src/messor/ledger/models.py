"""Tables: what happened: events, refusals, errors, alarms; and the seals that show nobody changed it."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    Keyless,
    bigint,
    bigint_id,
    bigint_key,
    by_month,
    column,
    index,
    json,
    smallint,
    utc_now,
    xid8,
)


class EventTable(Keyless):
    """A fact about governance. Read in commit order: see `ledger.events`."""

    __tablename__ = "events"
    __table_args__ = (
        index("events_order", "tx, id"),
        index("events_domain", "domain_id, occurred_at DESC"),
        # Rows come in the order of their ids: a few kilobytes find any range of them.
        index(
            "events_ids",
            "id",
            postgresql_using="brin",
            postgresql_with={"autosummarize": "on"},
        ),
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


class SealTable(Base):
    """A block of sealed rows of one log; each block contains the hash of the one before."""

    __tablename__ = "seals"
    __table_args__ = (index("seals_rows", "log, last_id"),)

    seq: Mapped[bigint] = column(key=True)
    log: Mapped[str]
    form: Mapped[smallint]  # which columns are sealed, and how: see `ledger.sealed_rows`
    month: Mapped[date]  # of its rows: they go together when retention drops the month
    first_id: Mapped[bigint]
    last_id: Mapped[bigint]
    ids: Mapped[list[int]]
    salts: Mapped[bytes]  # 16 bytes for each row; zeros once the row was erased
    commitments: Mapped[bytes]  # 32 bytes for each row
    previous: Mapped[bytes]
    head: Mapped[bytes]
    sealed_at: Mapped[str]  # as it is hashed
    key_id: Mapped[str]
    signature: Mapped[bytes]


class SealMarkTable(Base):
    """How far a log is sealed, and up to where its rows are known to be complete."""

    __tablename__ = "seal_marks"

    log: Mapped[str] = column(key=True)
    sealed_to: Mapped[bigint] = column(default="0")
    mark_id: Mapped[bigint | None]
    mark_tx: Mapped[
        bigint | None
    ]  # when it is the oldest that may write, rows up to the mark are final


class SealRemovalTable(Base):
    """A row, or a month of rows, of a log that was erased, cut or dropped, and why."""

    __tablename__ = "seal_removals"
    __table_args__ = (index("seal_removals_row", "log, row_id"),)

    id: Mapped[bigint_key]
    log: Mapped[str]
    row_id: Mapped[bigint | None]
    month: Mapped[date | None]
    cause: Mapped[str]  # erasure, retention; empty where nobody said
    removed_at: Mapped[utc_now]
