"""Tables: orchestrators: who leads, when each runs next, how it went."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    Keyless,
    bigint,
    by_month,
    check,
    column,
    ctext,
    index,
    json,
    stored,
    utc,
    utc_now,
)


class LeaderTable(Base):
    """Leadership as a lease row; its token grows with each leader, and every run must show it."""

    __tablename__ = "leaders"
    __table_args__ = stored(fillfactor=50)

    name: Mapped[ctext] = column(key=True)
    holder: Mapped[str]
    token: Mapped[bigint] = column(default="1")
    taken_at: Mapped[utc_now]
    expires_at: Mapped[utc]


class ScheduleTable(Base):
    """An orchestrator: what a person set instead of its default, next run, last outcome."""

    __tablename__ = "schedules"
    __table_args__ = (
        check("cadence IS NULL OR (overridden_by IS NOT NULL AND overridden_at IS NOT NULL)"),
        stored(fillfactor=50),
    )

    name: Mapped[ctext] = column(key=True)
    cadence: Mapped[str | None]  # NULL: the usual one
    enabled: Mapped[bool] = column(default="true")
    planned_from: Mapped[str | None]  # the cadence next_run_at was reckoned from
    next_run_at: Mapped[utc | None]
    last_run_at: Mapped[utc | None]
    last_finished_at: Mapped[utc | None]
    last_outcome: Mapped[str | None] = column(
        check="last_outcome IN ('ok', 'failed', 'interrupted')"
    )
    last_detail: Mapped[json | None]
    overridden_by: Mapped[str | None]
    overridden_at: Mapped[utc | None]


class ScheduleRunTable(Keyless):
    """A run of an orchestrator."""

    __tablename__ = "schedule_runs"
    __table_args__ = (index("schedule_runs_name", "name, started_at DESC"), by_month("started_at"))

    name: Mapped[ctext]
    due_at: Mapped[utc | None]  # the time it answers; NULL when run by hand
    started_at: Mapped[utc]
    finished_at: Mapped[utc | None]  # NULL when its process died
    outcome: Mapped[str] = column(check="outcome IN ('ok', 'failed', 'interrupted')")
    started_by: Mapped[str]
    token: Mapped[bigint | None]  # of the leader; NULL when run by hand
    detail: Mapped[json] = column(default="'{}'")


class AlertTable(Base):
    """What operators were told is wrong; it stands until it ends."""

    __tablename__ = "alerts"

    name: Mapped[ctext] = column(key=True)
    message: Mapped[str]
    raised_at: Mapped[utc_now]
    ended_at: Mapped[utc | None]
