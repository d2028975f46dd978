"""Tables: watches, their alerts, how far the change feed was evaluated, and monitors."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    bigint_key,
    check,
    column,
    index,
    json,
    smallint,
    unique,
    utc,
    utc_now,
    uuid_key,
    xid8,
)


class WatchTable(Base):
    """What somebody wants to be told, when and how."""

    __tablename__ = "watches"
    __table_args__ = (
        check("(channel = 'mail') = (recipient IS NOT NULL)"),
        check("(channel IN ('webhook', 'slack')) = (webhook_id IS NOT NULL)"),
        check("(quiet_from IS NULL) = (quiet_to IS NULL)"),
        index("watches_sweep", "swept_at", "is_active"),
    )

    id: Mapped[uuid_key]
    name: Mapped[str] = column(check="length(name) BETWEEN 1 AND 200")
    noun: Mapped[str] = column(
        check="noun IN ('records', 'products', 'pages', 'programs', 'ranks', 'domains')"
    )
    filters: Mapped[json] = column(default="'{}'")
    condition: Mapped[json]
    channel: Mapped[str] = column(check="channel IN ('mail', 'webhook', 'slack', 'feed')")
    recipient: Mapped[str | None]
    webhook_id: Mapped[UUID | None] = column(belongs_to("webhooks.id"))
    token_hash: Mapped[bytes] = column(unique=True)  # of its feed
    digest: Mapped[str] = column(
        default="'at_once'", check="digest IN ('at_once', 'daily', 'weekly')"
    )
    zone: Mapped[str] = column(default="'UTC'")
    hour: Mapped[smallint] = column(default="8", check="hour BETWEEN 0 AND 23")  # of digests
    quiet_from: Mapped[smallint | None] = column(check="quiet_from BETWEEN 0 AND 23")
    quiet_to: Mapped[smallint | None] = column(check="quiet_to BETWEEN 0 AND 23")
    is_active: Mapped[bool] = column(default="false")
    active_since: Mapped[utc | None]  # what changed before is not told
    swept_at: Mapped[utc | None]
    created_by: Mapped[str]
    created_at: Mapped[utc_now]


class WatchAlertTable(Base):
    """What a watch tells. It goes with its page when that is purged."""

    __tablename__ = "watch_alerts"
    __table_args__ = (
        unique("watch_id, key"),
        index("watch_alerts_due", "due_at", "state = 'due'"),
        index("watch_alerts_held", "id", "state = 'held'"),
        index("watch_alerts_page", "page_id", "page_id IS NOT NULL"),
        index("watch_alerts_watch", "watch_id, id"),
    )

    id: Mapped[bigint_key]
    watch_id: Mapped[UUID] = column(belongs_to("watches.id"))
    key: Mapped[str]  # the change, or the condition's episode: told once
    subject: Mapped[str]
    page_id: Mapped[bigint | None]
    record_id: Mapped[bigint | None]
    message: Mapped[str]
    url: Mapped[str | None]
    details: Mapped[json]
    # held ones wait for a second look; dropped ones were not confirmed
    state: Mapped[str] = column(check="state IN ('due', 'held', 'dropped', 'sent')")
    due_at: Mapped[utc]
    created_at: Mapped[utc_now]
    asked_at: Mapped[utc | None]  # when a second look was asked for
    sent_at: Mapped[utc | None]


class WatchPositionTable(Base):
    """How far the feed was evaluated for all watches; one row."""

    __tablename__ = "watch_position"

    is_only: Mapped[bool] = column(key=True, default="true", check="is_only")
    tx: Mapped[xid8]
    change_id: Mapped[bigint]


class MonitorTable(Base):
    """Pages that a program has looked at again on a schedule."""

    __tablename__ = "monitors"
    __table_args__ = (
        index("monitors_due", "next_at", "is_active"),
        index("monitors_key", "key_id"),
    )

    id: Mapped[uuid_key]
    key_id: Mapped[UUID] = column(belongs_to("api_keys.id"))
    name: Mapped[str]
    is_active: Mapped[bool] = column(default="true")
    cron: Mapped[str]
    zone: Mapped[str]
    targets: Mapped[json]
    hook: Mapped[bytes | None]  # sealed: who is told
    goal: Mapped[str | None]  # as the caller says; nothing judges by it
    next_at: Mapped[utc | None]
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]


class MonitorCheckTable(Base):
    """One look of a monitor, with the scrape jobs that do it."""

    __tablename__ = "monitor_checks"
    __table_args__ = (
        index("monitor_checks_monitor", "monitor_id, started_at"),
        index("monitor_checks_running", "started_at", "finished_at IS NULL"),
    )

    id: Mapped[uuid_key]
    monitor_id: Mapped[UUID] = column(belongs_to("monitors.id"))
    is_manual: Mapped[bool]
    jobs: Mapped[list[UUID]] = column(default="'{}'")
    status: Mapped[str] = column(
        default="'running'",
        check="status IN ('running', 'completed', 'partial', 'failed')",
    )
    error: Mapped[str | None]
    counts: Mapped[json] = column(default="'{}'")  # pages by what became of them
    started_at: Mapped[utc_now]
    finished_at: Mapped[utc | None]
