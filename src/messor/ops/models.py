"""Tables: webhooks, and backups that were made."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from messor.store.base import Base, bigint, column, ctext, utc, utc_now, uuid_key, xid8


class WebhookTable(Base):
    """Who is told of events; each has its own place in the ledger, in commit order."""

    __tablename__ = "webhooks"

    id: Mapped[uuid_key]
    url: Mapped[str] = column(check="length(url) <= 2000")
    types: Mapped[list[str]] = column(default="'{}'")  # empty: every type
    secret: Mapped[bytes]  # sealed
    is_active: Mapped[bool] = column(default="true")
    tx: Mapped[xid8]  # everything up to here was handed on
    event_id: Mapped[bigint]
    successes: Mapped[bigint] = column(default="0")
    failures: Mapped[bigint] = column(default="0")
    failure_count: Mapped[int] = column(default="0")  # in a row
    last_success_at: Mapped[utc | None]
    last_failure_at: Mapped[utc | None]
    last_error: Mapped[str | None]
    created_by: Mapped[str]
    created_at: Mapped[utc_now]


class BackupTable(Base):
    """A backup that was made, wherever it is."""

    __tablename__ = "backups"

    name: Mapped[ctext] = column(key=True)
    place: Mapped[str]
    method: Mapped[str] = column(check="method IN ('dump', 'base')")
    started_at: Mapped[utc_now]
    finished_at: Mapped[utc | None]
    bytes: Mapped[bigint | None]
    error: Mapped[str | None]  # why it failed
    removed_at: Mapped[utc | None]
