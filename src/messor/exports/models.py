"""Tables: exports, each with the position it has reached, and those that are made on a schedule."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    check,
    column,
    index,
    json,
    utc,
    utc_now,
    uuid_key,
    xid8,
)


class StandingExportTable(Base):
    """An export that is made on a schedule and delivered to a place that the settings name."""

    __tablename__ = "standing_exports"
    __table_args__ = (index("standing_exports_due", "next_run_at", "is_active"),)

    id: Mapped[uuid_key]
    name: Mapped[str] = column(unique=True, check="name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'")
    noun: Mapped[str]
    format: Mapped[str]
    filters: Mapped[json] = column(default="'{}'")
    options: Mapped[json] = column(default="'{}'")
    cadence: Mapped[str]
    place: Mapped[str]  # by its name in the settings
    is_incremental: Mapped[bool] = column(default="false")
    is_active: Mapped[bool] = column(default="true")
    next_run_at: Mapped[utc]
    problem: Mapped[str | None]  # why the last one could not be started
    created_by: Mapped[str]
    created_at: Mapped[utc_now]


class ExportTable(Base):
    """A file of one noun. `after`, `rows` and `spool_bytes` are its last checkpoint."""

    __tablename__ = "exports"
    __table_args__ = (
        index("exports_newest", "created_at, id"),
        index("exports_standing", "standing_id", "standing_id IS NOT NULL"),
        check("(finished_at IS NOT NULL) = (state IN ('done', 'failed', 'cancelled', 'removed'))"),
        check("delivered_as IS NULL OR place IS NOT NULL"),
    )

    id: Mapped[uuid_key]
    noun: Mapped[str]
    format: Mapped[str]
    filters: Mapped[json] = column(default="'{}'")
    options: Mapped[json] = column(default="'{}'")  # columns, byte order mark
    since: Mapped[str | None]  # as given: an export or a time
    since_tx: Mapped[xid8 | None]
    since_at: Mapped[utc | None]
    position: Mapped[xid8]  # commit position at the start: where the next increment begins
    target: Mapped[str | None]  # a path on the requester's machine; NULL: the data folder
    state: Mapped[str] = column(
        default="'queued'",
        check="state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'removed')",
    )
    after: Mapped[json | None]  # key of the last row written
    is_read: Mapped[bool] = column(default="false")  # all rows are in the working file
    rows: Mapped[bigint] = column(default="0")
    spool_bytes: Mapped[bigint] = column(default="0")  # of the working file
    file_bytes: Mapped[bigint | None]
    file_hash: Mapped[bytes | None]
    error: Mapped[str | None]
    job_id: Mapped[UUID | None]
    requested_by: Mapped[str]
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]
    finished_at: Mapped[utc | None]
    standing_id: Mapped[UUID | None] = column(belongs_to("standing_exports.id", "SET NULL"))
    place: Mapped[str | None]  # where the finished file is delivered
    delivered_as: Mapped[str | None]  # its name there
    held: Mapped[bigint] = column(default="0")  # pages whose rows may not leave
